//! The runner, without which a gungraun executable does nothing, and what to do where it or valgrind is missing.
//!
//! It must be of exactly the library's version, and two revisions may have two. So there is a place in the cache
//! directory for each version, where it is found whatever else is installed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

use crate::revision::Cache;

use super::super::run::Ended;

/// The runner that one executable needs.
#[derive(Debug, Clone)]
pub struct Runner {
    library: &'static Library,
    /// Unless the executable does not tell.
    version: Option<String>,
    /// Its place in the cache directory, as cargo takes it for `--root`.
    root: Option<PathBuf>,
}

#[derive(Debug)]
struct Library {
    name: &'static str,
    runner: &'static str,
    /// The environment variable that names the runner, when the library is compiled.
    variable: &'static str,
}

const GUNGRAUN: Library =
    Library { name: "gungraun", runner: "gungraun-runner", variable: "GUNGRAUN_RUNNER" };
/// As it was called before 0.17.
const IAI_CALLGRIND: Library = Library {
    name: "iai-callgrind",
    runner: "iai-callgrind-runner",
    variable: "IAI_CALLGRIND_RUNNER",
};

impl Runner {
    /// What an executable needs.
    pub fn of(executable: &Path) -> Self {
        let (library, version) = needed(&fs_err::read(executable).unwrap_or_default());
        let cache = Cache::from_environment().ok();
        let root = version.as_ref().zip(cache);
        let root = root.map(|(version, cache)| cache.of_tool(library.runner, version));
        Self { library, version, root }
    }

    /// The name and the version of the library that it belongs to.
    pub fn library(&self) -> Option<String> {
        Some(format!("{} {}", self.library.name, self.version.as_ref()?))
    }

    /// Makes a command find it, if it is in its place.
    pub fn lend_to(&self, command: &mut Command) {
        let Some(programs) = self.root.as_ref().map(|root| root.join("bin")) else { return };
        let program = format!("{}{}", self.library.runner, std::env::consts::EXE_SUFFIX);
        if !programs.join(program).is_file() {
            return;
        }
        let path = variable(command, "PATH").unwrap_or_default();
        let all = std::iter::once(programs).chain(std::env::split_paths(&path));
        // A directory with the separator in its name cannot stand there.
        if let Ok(path) = std::env::join_paths(all) {
            command.env("PATH", path);
        }
    }

    /// Whether a command's environment names a runner, which counts whatever is installed.
    pub fn is_named_by(&self, command: &Command) -> bool {
        variable(command, self.library.variable).is_some_and(|name| !name.is_empty())
    }

    /// What went wrong, and how to get what is missing.
    pub fn explain(&self, ended: &Ended, what: &str, is_named: bool) -> String {
        let reason = ended.explain(what);
        match self.help(&ended.all(), is_named) {
            Some(help) => format!("{reason}\n{help}"),
            None => reason,
        }
    }

    fn help(&self, text: &str, is_named: bool) -> Option<String> {
        let Library { runner, variable, .. } = self.library;
        let problem = if OTHER_VERSION.is_match(text) {
            format!("this needs another version of `{runner}` than the one that was found")
        } else if text.contains("-runner installed") {
            format!("this needs `{runner}`, of exactly the library's version")
        } else if NO_VALGRIND.is_match(text) {
            return Some(
                "this needs valgrind, which is in most systems' packages: `apt install valgrind`"
                    .to_owned(),
            );
        } else if text.contains("unexpected argument '--list'") {
            return Some(
                "iai-callgrind before 0.14 cannot list its benchmarks, so they are not compared"
                    .to_owned(),
            );
        } else {
            return None;
        };
        let unset = if is_named { format!("unset {variable}, and ") } else { String::new() };
        Some(format!("{problem}: {unset}`{}`", self.installation()))
    }

    /// The command that installs it in its place.
    fn installation(&self) -> String {
        let version = self.version.as_deref().unwrap_or("VERSION");
        let command = format!("cargo install {} --version {version}", self.library.runner);
        let Some(root) = &self.root else { return command };
        let root = root.to_string_lossy();
        format!("{command} --root {}", shlex::try_quote(&root).unwrap_or((&*root).into()))
    }
}

/// The value of a variable for a command that inherits none.
fn variable(command: &Command, name: &str) -> Option<OsString> {
    command.get_envs().find(|(key, _)| *key == name)?.1.map(Into::into)
}

/// The library in an executable, and its version: that stands beside the runner's name, or in the path of the
/// library's source where it can panic.
fn needed(executable: &[u8]) -> (&'static Library, Option<String>) {
    static VERSION: LazyLock<regex::bytes::Regex> = LazyLock::new(|| {
        regex::bytes::Regex::new(
            r"(?:gungraun|iai-callgrind)-(?:runner([0-9]+\.[0-9]+\.[0-9]+)|([0-9]+\.[0-9]+\.[0-9]+)[/\\]src)",
        )
        .expect("a valid pattern")
    });
    let is_gungraun = memmem::find(executable, GUNGRAUN.variable.as_bytes()).is_some();
    let library = if is_gungraun { &GUNGRAUN } else { &IAI_CALLGRIND };
    let found = VERSION.captures(executable);
    let version = found.and_then(|found| found.get(1).or_else(|| found.get(2)));
    (library, version.map(|version| String::from_utf8_lossy(version.as_bytes()).into_owned()))
}

/// How a runner says that it does not fit the library: by its version, or by what it is told.
static OTHER_VERSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(gungraun|iai-callgrind)-runner \([0-9.]+\) is (older|newer) than|No version information found for|Detected version of (gungraun|iai-callgrind)-runner is",
    )
    .expect("a valid pattern")
});

/// How a runner says that there is no valgrind: it starts that by way of `setarch`, or itself.
static NO_VALGRIND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"failed to execute valgrind|Error launching '(\w*grind|dhat|memcheck|drd|massif|(exp-)?bbv)': .*\(os error 2\)",
    )
    .expect("a valid pattern")
});

#[cfg(test)]
mod tests {
    use super::*;

    fn runner(executable: &str) -> Runner {
        let (library, version) = needed(executable.as_bytes());
        Runner { library, version, root: Some("/cache dir/tools/x".into()) }
    }

    #[test]
    fn the_version_is_read_from_the_executable() {
        let found = |text: &str| {
            let runner = runner(text);
            (runner.library.runner, runner.version)
        };
        let told = |runner, version: &str| (runner, Some(version.to_owned()));
        assert_eq!(
            found("set GUNGRAUN_RUNNER..gungraun-runner0.19.4--bin-bench"),
            told("gungraun-runner", "0.19.4")
        );
        assert_eq!(
            found("IAI_CALLGRIND_RUNNER../registry/src/x/iai-callgrind-0.14.2/src/lib.rs"),
            told("iai-callgrind-runner", "0.14.2")
        );
        // gungraun knows the former variable too.
        assert_eq!(
            found("IAI_CALLGRIND_RUNNER GUNGRAUN_RUNNER/gungraun-0.20.0\\src\\x"),
            told("gungraun-runner", "0.20.0")
        );
        assert_eq!(found("IAI_CALLGRIND_RUNNER"), ("iai-callgrind-runner", None));
    }

    #[test]
    fn what_is_missing_is_said_with_how_to_get_it() {
        let runner = runner("GUNGRAUN_RUNNER gungraun-runner0.19.4");
        let help = |text: &str| runner.help(text, false).unwrap_or_default();
        let install =
            "`cargo install gungraun-runner --version 0.19.4 --root '/cache dir/tools/x'`";
        let missing = "Is gungraun-runner installed and gungraun-runner in your $PATH?.";
        assert_eq!(
            help(missing),
            format!("this needs `gungraun-runner`, of exactly the library's version: {install}")
        );
        for text in [
            "gungraun-runner (0.20.0) is newer than gungraun (0.19.4). Please",
            "No version information found for gungraun but gungraun-runner (0.20.0) is",
            "Detected version of gungraun-runner is 0.20.0.",
        ] {
            assert!(help(text).starts_with("this needs another version"), "{text}");
            assert!(help(text).ends_with(install), "{}", help(text));
        }
        let named = runner.help(missing, true).unwrap();
        assert!(named.ends_with(&format!("unset GUNGRAUN_RUNNER, and {install}")), "{named}");
        for tool in ["valgrind", "callgrind", "dhat"] {
            let text = format!("Error launching '{tool}': No such file or directory (os error 2)");
            assert!(help(&text).contains("`apt install valgrind`"), "{text}");
        }
        let text = "setarch: failed to execute valgrind: No such file or directory\n\
                    gungraun_runner: Error: Error in task: Error running 'callgrind': Exit code was: '127'";
        assert!(help(text).contains("`apt install valgrind`"));
        assert_eq!(help("Error launching '/x/callgrind': what (os error 2)"), "");
        assert!(help("error: unexpected argument '--list' found").contains("before 0.14"));
    }
}
