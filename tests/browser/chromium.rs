//! A headless Chromium, driven over two pipes with its DevTools protocol: no port, no other program, no library.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The names under which it is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one tab.
pub struct Chromium {
    process: Child,
    commands: ChildStdin,
    messages: mpsc::Receiver<Value>,
    session: String,
    last_id: u64,
    /// What came while an answer was waited for.
    events: Vec<Value>,
    /// Its profile, and the pages that it is shown.
    directory: TempDir,
}

/// How the page is looked at.
#[derive(Debug, Clone, Copy)]
pub struct View {
    pub width: u32,
    pub height: u32,
    pub dark: bool,
    pub scripts: bool,
}

pub const DESKTOP: View = View { width: 1280, height: 900, dark: false, scripts: true };
pub const PHONE: View = View { width: 375, height: 740, dark: false, scripts: true };

impl Chromium {
    /// Starts the browser.
    pub fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut process = Command::new("sh")
            // The browser reads from descriptor 3 and writes to 4.
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>&2",
                &find().expect("Chromium is installed"),
            ])
            .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .args([
                "--disable-sync",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            ])
            .args(["--font-render-hinting=none", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", directory.path().join("profile").display()))
            // What it leaves in there goes with the directory.
            .env("TMPDIR", directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = process.stdin.take().unwrap();
        let messages = read_messages(process.stdout.take().unwrap());
        let mut browser = Self {
            process,
            commands,
            messages,
            session: String::new(),
            last_id: 0,
            events: Vec::new(),
            directory,
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a page in this view.
    pub fn open(&mut self, html: &str, view: View) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({
                "width": view.width, "height": view.height, "mobile": view.width < 500,
                "deviceScaleFactor": 1,
            }),
        );
        let scheme = if view.dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
        let disabled = json!({"value": !view.scripts});
        self.call("Emulation.setScriptExecutionDisabled", &disabled);
        let file = self.directory.path().join("page.html");
        std::fs::write(&file, html).unwrap();
        self.events.clear();
        self.call("Page.navigate", &json!({"url": format!("file://{}", file.display())}));
        self.wait_for("Page.loadEventFired");
    }

    /// The value of a JavaScript expression.
    #[track_caller]
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let arguments =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", &arguments);
        assert_eq!(result.get("exceptionDetails"), None, "{expression}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait_until(&mut self, expression: &str) {
        let start = Instant::now();
        while self.evaluate(expression) != true {
            assert!(start.elapsed() < Duration::from_secs(20), "never so: {expression}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Types a text where the focus is.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Presses a key: `Enter`, `Tab`.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            " " => (32, " "),
            other => panic!("no key {other:?}"),
        };
        let event = |kind: &str| json!({"type": kind, "key": key, "windowsVirtualKeyCode": code, "text": text});
        self.call(
            "Input.dispatchKeyEvent",
            &event(if text.is_empty() { "rawKeyDown" } else { "keyDown" }),
        );
        self.call("Input.dispatchKeyEvent", &event("keyUp"));
    }

    /// Everything that went wrong, and everything that was loaded besides the page, since it was opened.
    pub fn complaints(&mut self) -> Vec<String> {
        // What has happened is reported before the answer to this.
        self.evaluate("1");
        let page = format!("file://{}", self.directory.path().join("page.html").display());
        let complaint = |event: &Value| match event["method"].as_str()? {
            "Log.entryAdded" | "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" => {
                Some(event.to_string())
            }
            "Network.requestWillBeSent" => {
                let url = event["params"]["request"]["url"].as_str()?;
                // Data within the page are no request.
                (url != page && !url.starts_with("data:")).then(|| format!("requested {url}"))
            }
            _ => None,
        };
        self.events.iter().filter_map(complaint).collect()
    }

    /// The accessible names of all elements of this role.
    pub fn accessible_names(&mut self, role: &str) -> Vec<String> {
        let tree = self.call("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree["nodes"].as_array().unwrap().iter();
        nodes
            .filter(|node| node["ignored"] != true && node["role"]["value"] == role)
            .map(|node| node["name"]["value"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// A picture of what is in view: PNG.
    pub fn screenshot(&mut self) -> Vec<u8> {
        let picture = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        base64::engine::general_purpose::STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()
    }

    #[track_caller]
    fn call(&mut self, method: &str, arguments: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut command = json!({"id": id, "method": method, "params": arguments});
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        write!(self.commands, "{command}\0").unwrap();
        self.commands.flush().unwrap();
        let answer = self.wait(|message| message["id"] == id);
        assert_eq!(answer.get("error"), None, "{method}");
        answer["result"].clone()
    }

    fn wait_for(&mut self, event: &str) {
        if !self.events.iter().any(|e| e["method"] == event) {
            let event = self.wait(|message| message["method"] == event);
            self.events.push(event);
        }
    }

    #[track_caller]
    fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(60));
            let message = message.expect("the browser answers");
            if wanted(&message) {
                return message;
            }
            self.events.push(message);
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its end of the pipe is how the browser is told; killing would leave its helpers behind.
        _ = write!(self.commands, "{}\0", json!({"id": 0, "method": "Browser.close"}));
        _ = self.commands.flush();
        for _ in 0..500 {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Messages end with a zero byte.
fn read_messages(output: ChildStdout) -> mpsc::Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for message in BufReader::new(output).split(0).map_while(Result::ok) {
            let Ok(message) = serde_json::from_slice(&message) else { continue };
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}

fn find() -> Option<String> {
    let paths: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let installed = |name: &&str| paths.iter().any(|path| Path::new(path).join(name).is_file());
    NAMES.iter().find(|name| installed(name)).map(|name| (*name).to_owned())
}
