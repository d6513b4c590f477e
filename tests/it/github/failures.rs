//! What can go wrong on the way to GitHub: nothing is posted twice, and it is told in words.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, SystemTime};

use cargo_bench_compare::github::Mode;
use cargo_bench_compare::system::ErrorKind;
use serde_json::json;
use wiremock::ResponseTemplate;

use super::fake::{Failing, answer};
use super::{HEAD, NEXT_HEAD, Step, program};

const POST: (&str, &str) = ("POST", "/reviews");

fn fail(step: &Step, (method, path): (&str, &str), failing: Failing) {
    step.fake.fail(method, path, failing);
}

/// Publishing fails, as what could not be published and with the results kept.
#[track_caller]
fn error(step: &Step) -> String {
    let error = step.publish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Publishing);
    assert!(step.summary().contains("1 regressed"), "the summary is there whatever GitHub says");
    assert_eq!(step.output("regressed").as_deref(), Some("1"));
    error.to_string()
}

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn a_review_that_was_made_in_spite_of_a_bad_answer_is_not_made_twice() {
    for bad in [answer(502, "Server Error"), answer(500, ""), ResponseTemplate::new(200)] {
        for mode in [Mode::Review, Mode::Comment, Mode::New] {
            let mut step = Step::new();
            step.settings.mode = mode;
            let path = if mode == Mode::Comment { "/comments" } else { "/reviews" };
            fail(&step, ("POST", path), Failing::DoneBut(bad.clone()));
            step.publish().unwrap();
            assert_eq!(step.fake.requests("POST").len(), 1);
            assert_eq!(step.fake.reviews().len() + step.fake.comments().len(), 1);
            assert!(step.output("url").unwrap().contains("#post-1"));
        }
    }
}

#[test]
fn a_review_whose_answer_comes_late_is_not_made_twice() {
    let mut step = Step::new();
    step.settings.patience.answer = Duration::from_millis(400);
    fail(&step, POST, Failing::Late(Duration::from_secs(30)));
    step.publish().unwrap();
    assert_eq!(step.fake.requests("POST").len(), 1);
    step.fake.review();
}

#[test]
fn a_review_that_nobody_knows_of_is_not_posted_again_but_can_be_published_again() {
    let step = Step::new();
    fail(&step, POST, Failing::Refused(answer(503, "Service Unavailable")));
    let text = error(&step);
    assert_says(&text, &["could not post the review on me/project#7", "503", "no second review"]);
    assert_eq!(step.fake.requests("POST").len(), 1);
    step.publish().unwrap();
    step.fake.review();
}

#[test]
fn what_is_only_read_or_replaced_is_tried_again() {
    let mut step = Step::new();
    for _ in 0..2 {
        fail(&step, ("GET", "/pulls/7"), Failing::Refused(answer(502, "Bad Gateway")));
    }
    step.publish().unwrap();
    step.push(NEXT_HEAD, 101);
    fail(&step, ("PUT", "/reviews/"), Failing::DoneBut(answer(500, "")));
    fail(&step, ("PUT", "/reviews/"), Failing::Refused(answer(500, "")));
    step.publish().unwrap();
    assert_eq!(step.fake.requests("PUT").len(), 3);
    assert!(step.fake.review().body.contains("#### Earlier"));
    for _ in 0..4 {
        fail(&step, ("GET", "/pulls/7"), Failing::Refused(answer(504, "Gateway Timeout")));
    }
    assert_says(&error(&step), &["could not read the pull request me/project#7", "504"]);
}

#[test]
fn a_rate_limit_is_waited_for_if_it_is_short_and_told_if_it_is_long() {
    let step = Step::new();
    let short =
        answer(403, "You have exceeded a secondary rate limit").insert_header("retry-after", "1");
    fail(&step, POST, Failing::Refused(short));
    step.publish().unwrap();
    assert_eq!(step.fake.requests("POST").len(), 2);
    step.fake.review();

    let step = Step::new();
    let hour = SystemTime::now() + Duration::from_secs(3600);
    let reset = hour.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs().to_string();
    let long = answer(403, "API rate limit exceeded")
        .insert_header("x-ratelimit-remaining", "0")
        .insert_header("x-ratelimit-reset", reset.as_str());
    fail(&step, ("GET", "/user"), Failing::Refused(long));
    assert_says(&error(&step), &["no requests left until 20", "Z; publish again then"]);

    let step = Step::new();
    let long = answer(429, "Too many requests").insert_header("retry-after", "900");
    fail(&step, POST, Failing::Refused(long));
    assert_says(&error(&step), &["429", "publish again in some minutes"]);
    assert_eq!(step.fake.requests("POST").len(), 1);
}

#[test]
fn a_missing_permission_is_named() {
    let step = Step::new();
    let forbidden = || answer(403, "Resource not accessible by integration");
    fail(&step, POST, Failing::Refused(forbidden()));
    assert_says(
        &error(&step),
        &["GitHub answered 403", "the token needs `pull-requests: write`", "permissions:\n"],
    );
    assert_eq!(step.fake.requests("POST").len(), 1);

    let step = Step::new();
    let says = "pull_requests=write; contents=write,issues=write";
    let exact = forbidden().insert_header("x-accepted-github-permissions", says);
    fail(&step, POST, Failing::Refused(exact));
    assert_says(
        &error(&step),
        &["one of: pull-requests: write or  contents: write, issues: write"],
    );
}

#[test]
fn a_forks_token_is_explained() {
    let mut step = Step::new();
    step.fake.with_pull_request(8, "you/fork", "topic", HEAD);
    step.event("pull_request", &json!({"pull_request": {"number": 8, "head": {"sha": HEAD}}}));
    let forbidden = answer(403, "Resource not accessible by integration");
    fail(&step, POST, Failing::Refused(forbidden));
    let text = error(&step);
    assert_says(&text, &["comes from a fork", "may only read", "workflow_run", "docs/github.md"]);
    assert!(!text.contains("permissions:\n"), "{text}");
}

#[test]
fn other_refusals_are_told_in_words() {
    for (request, status, message, parts) in [
        (
            ("GET", "/pulls/7"),
            401,
            "Bad credentials",
            &["401: Bad credentials", "GITHUB_TOKEN"][..],
        ),
        (("GET", "/user"), 401, "Bad credentials", &["whose token it is", "GITHUB_TOKEN"]),
        (("GET", "/pulls/7"), 404, "Not Found", &["is the number of the pull request right"]),
        (("GET", "/pulls/7"), 301, "Moved Permanently", &["another name now", "--repo"]),
        (POST, 422, "Validation Failed", &["422: Validation Failed", "--dry-run"]),
    ] {
        let step = Step::new();
        fail(&step, request, Failing::Refused(answer(status, message)));
        assert_says(&error(&step), parts);
        assert!(step.fake.reviews().is_empty());
    }
    let step = Step::new();
    let details = json!({"message": "Unprocessable", "errors": ["too long", {"message": "too\n::set-output"}]});
    let refused = ResponseTemplate::new(422).set_body_json(details);
    fail(&step, POST, Failing::Refused(refused));
    assert_says(&error(&step), &["422: Unprocessable; too long; too ::set-output"]);
}

#[test]
fn an_answer_that_is_no_answer_of_github_is_told() {
    let step = Step::new();
    for _ in 0..4 {
        let page = ResponseTemplate::new(200).set_body_string("<html>a portal</html>");
        fail(&step, ("GET", "/pulls/7"), Failing::Refused(page));
    }
    assert_says(&error(&step), &["the answer is not what GitHub's interface describes"]);
}

#[test]
fn a_connection_that_breaks_is_told_and_a_post_over_it_not_repeated() {
    let mut step = Step::new();
    step.settings.patience.pauses.truncate(1);
    // Everything that is asked goes on to the fake, but what is posted reaches it and nothing comes back.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let behind = step.fake.address();
    let behind = behind.strip_prefix("http://").unwrap().to_owned();
    let relay = std::thread::spawn(move || {
        let mut posts = 0;
        // All that is asked: the pull request, the user, the list, the post, and the list again.
        for connection in listener.incoming().take(5) {
            let mut connection = connection.unwrap();
            let request = read_request(&mut connection);
            let mut onward = std::net::TcpStream::connect(&behind).unwrap();
            onward
                .write_all(request.replacen("\r\n", "\r\nconnection: close\r\n", 1).as_bytes())
                .unwrap();
            let mut answer = Vec::new();
            onward.read_to_end(&mut answer).unwrap();
            if request.starts_with("POST") {
                posts += 1;
            } else {
                connection.write_all(&answer).unwrap();
            }
        }
        posts
    });
    step.set("GITHUB_API_URL", &format!("http://{address}"));
    step.publish().unwrap();
    assert_eq!(relay.join().unwrap(), 1);
    step.fake.review();

    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    step.set("GITHUB_API_URL", &format!("http://{closed}"));
    assert_says(&error(&step), &["onnection refused", "GITHUB_API_URL", "HTTPS_PROXY"]);
}

/// A request with its body, in whatever parts it comes.
fn read_request(connection: &mut std::net::TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let read = connection.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if read == 0 || body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            return text;
        }
    }
}

#[test]
fn github_enterprise_has_its_routes_below_a_path() {
    let mut step = Step::new();
    step.fake.behind("/api/v3");
    step.set("GITHUB_API_URL", &format!("{}/", step.fake.address()));
    step.set("GITHUB_SERVER_URL", "https://ghe.example.org");
    step.publish().unwrap();
    assert!(
        step.fake.review().body.contains("https://ghe.example.org/me/project/actions/runs/100")
    );
    step.set("GITHUB_API_URL", "ghe.example.org/api");
    let error = step.publish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_says(&error.to_string(), &["`ghe.example.org/api` is no address", "/api/v3"]);
}

#[test]
fn a_proxy_is_asked_for_a_tunnel() {
    for accepts in [true, false] {
        let mut step = Step::new();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = listener.local_addr().unwrap();
        let behind = step.fake.address().strip_prefix("http://").unwrap().to_owned();
        step.set("http_proxy", &format!("http://me:pass@{proxy}"));
        // A name that only the proxy can find.
        step.set("GITHUB_API_URL", "http://github.invalid:81");
        step.settings.patience.pauses.clear();
        let asked = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let asked = read_request(&mut connection);
            if !accepts {
                connection
                    .write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
                    .unwrap();
                return asked;
            }
            let onward = std::net::TcpStream::connect(behind).unwrap();
            connection.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
            let mut halves = (connection.try_clone().unwrap(), onward.try_clone().unwrap());
            let there = std::thread::spawn(move || {
                _ = std::io::copy(&mut halves.0, &mut halves.1);
                _ = halves.1.shutdown(std::net::Shutdown::Both);
            });
            let (mut onward, mut connection) = (onward, connection);
            _ = std::io::copy(&mut onward, &mut connection);
            there.join().unwrap();
            asked
        });
        if accepts {
            step.publish().unwrap();
            step.fake.review();
        } else {
            let text = error(&step);
            assert_says(
                &text,
                &["through the proxy http://127.0.0.1", "user's name and password (407)"],
            );
            assert!(!text.contains("pass@"), "{text}");
        }
        let asked = asked.join().unwrap();
        assert!(asked.starts_with("CONNECT github.invalid:81 HTTP/1.1\r\n"), "{asked}");
        assert!(asked.contains("Proxy-Authorization: Basic bWU6cGFzcw==\r\n"), "{asked}");
    }
}

#[test]
fn without_a_token_it_is_said_how_to_give_one() {
    let mut step = Step::new();
    step.variables.remove("GITHUB_TOKEN");
    let error = step.publish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_says(&error.to_string(), &["GITHUB_TOKEN: ${{ github.token }}", "--dry-run"]);
    assert!(step.summary().contains("1 regressed"));
    step.set("GH_TOKEN", "with a line feed\n");
    let error = step.publish().unwrap_err().to_string();
    assert_says(&error, &["characters that no token has"]);
    assert!(!error.contains("with a line"), "{error}");
}

#[test]
fn the_program_exits_with_4_and_says_where_the_results_are() {
    let step = Step::new();
    fail(&step, ("GET", "/pulls/7"), Failing::Refused(answer(404, "Not Found")));
    let run = program(step.directory.path(), &step.variables)
        .args(["publish", "results.json"])
        .output()
        .unwrap();
    let run = crate::support::Run::of(run).exits_with(4);
    assert_says(
        &run.stderr,
        &["error: could not read", "404", "the results are still in results.json"],
    );
    let run = program(step.directory.path(), &step.variables)
        .args(["bench-compare", "publish", "results.json"])
        .output()
        .unwrap();
    let run = crate::support::Run::of(run).exits_with(0);
    assert_says(&run.stderr, &["Posted https://github.com/me/project/pull/7#post-1"]);
    assert_eq!(run.stdout, "");
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_the_waiting_for_an_answer() {
    let step = Step::new();
    fail(&step, ("GET", "/pulls/7"), Failing::Late(Duration::from_secs(60)));
    let child = program(step.directory.path(), &step.variables)
        .args(["publish", "results.json", "--timeout", "1h"])
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // It waits as soon as the request is there.
    while step.fake.requests("GET").is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let run = crate::support::Run::of(child.wait_with_output().unwrap()).exits_with(130);
    assert_says(&run.stderr, &["error: interrupted"]);
}
