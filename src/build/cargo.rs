//! The `cargo` program, called as the user would call it in a checkout.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use cargo_config2::{ResolveOptions, TargetTripleRef};
use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{CompilerMessage, Message, Metadata, PackageId, Target};

use crate::revision::Repository;
use crate::system::process::{Finished, Stderr};
use crate::system::{Error, Result, process};

use super::launch::{self, Launch};
use super::{Selection, Workspace};

/// Set by rustup's proxies: why `RUSTUP_TOOLCHAIN` is what it is.
const TOOLCHAIN_SOURCE: &str = "RUSTUP_TOOLCHAIN_SOURCE";

/// What came of a build.
pub struct Built {
    /// Cargo's messages, and those of the compiler.
    pub messages: Vec<Message>,
    /// How cargo ended.
    pub status: ExitStatus,
}

/// An error of the compiler.
pub struct CompilerError<'a> {
    /// The package's id.
    pub package: &'a PackageId,
    /// The target that does not compile.
    pub target: &'a Target,
    /// What the compiler says, coloured.
    pub rendered: &'a str,
    /// Whether a stable compiler refuses an unstable feature, as for every `#[bench]`.
    pub is_unstable_feature: bool,
}

/// rustc's code for "`#![feature]` may not be used on the stable release channel".
const FEATURE_ON_STABLE: &str = "E0554";

impl Built {
    /// What does not compile and why. The warnings of several revisions are not what anybody asked for.
    pub fn errors(&self) -> impl Iterator<Item = CompilerError<'_>> {
        self.messages.iter().filter_map(|message| match message {
            Message::CompilerMessage(CompilerMessage { message, package_id, target, .. })
                if matches!(message.level, DiagnosticLevel::Error | DiagnosticLevel::Ice) =>
            {
                let rendered = message.rendered.as_deref()?;
                let code = message.code.as_ref();
                let is_unstable_feature = code.is_some_and(|code| code.code == FEATURE_ON_STABLE);
                Some(CompilerError { package: package_id, target, rendered, is_unstable_feature })
            }
            _ => None,
        })
    }
}

/// How cargo is called.
pub struct Cargo {
    program: OsString,
    /// A toolchain that the user forced with `cargo +toolchain` or `RUSTUP_TOOLCHAIN`.
    forced_toolchain: Option<OsString>,
}

impl Cargo {
    /// Finds the cargo to call.
    ///
    /// Under rustup that is the proxy on the PATH, so that every revision's own toolchain file counts.
    /// rustup tells the programs that it starts which toolchain it chose; that must not be mistaken for
    /// the user's wish, or the revisions' toolchain files would be ignored.
    pub fn find(repository: &Repository) -> Result<Self> {
        let Some(toolchain) = std::env::var_os("RUSTUP_TOOLCHAIN") else {
            let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            return Ok(Self { program, forced_toolchain: None });
        };
        let mut command = Command::new("rustup");
        command
            .args(["show", "active-toolchain"])
            .env_remove("RUSTUP_TOOLCHAIN")
            .current_dir(repository.root());
        let own_choice = process::run(command, Stderr::Captured);
        crate::system::interrupt::check()?;
        // Since 1.29 rustup tells why it chose; else it is what rustup would choose by itself.
        let source = std::env::var_os(TOOLCHAIN_SOURCE).unwrap_or_default();
        let chosen_by_user = source == "cli" || source == "env";
        let chosen_by_rustup = own_choice.is_ok_and(|finished| {
            let answer = String::from_utf8_lossy(&finished.stdout).into_owned();
            !chosen_by_user && answer.split_whitespace().next() == toolchain.to_str()
        });
        Ok(Self {
            program: "cargo".into(),
            forced_toolchain: (!chosen_by_rustup).then_some(toolchain),
        })
    }

    /// Describes the workspace without resolving its dependencies.
    pub fn metadata(&self, directory: &Path, manifest: Option<&Path>) -> Result<Metadata> {
        let mut command = self.command(directory);
        command.args(["metadata", "--no-deps", "--format-version=1", "--quiet"]);
        add_manifest(&mut command, manifest);
        let finished = process::run(command, Stderr::Captured)?;
        if !finished.status.success() {
            return Err(Error::comparison("has no manifest that cargo can read")
                .because(finished.stderr.trim().trim_start_matches("error: ")));
        }
        let text = String::from_utf8_lossy(&finished.stdout);
        serde_json::from_str(text.trim()).map_err(|error| {
            Error::comparison("cargo metadata printed something unexpected").because(error)
        })
    }

    /// Builds what `cargo bench` would run. Cargo's progress goes to standard error as it comes. How bench executables
    /// are linked is captured, if that is wanted.
    pub(super) fn build(&self, workspace: &Workspace, selection: &Selection) -> Result<Built> {
        let mut command = self.bench(workspace, selection);
        if let Some(capture) = &workspace.capture {
            capture.watch(&mut command)?;
        }
        command.args(["--no-run", "--message-format=json-diagnostic-rendered-ansi"]);
        let finished = process::run(command, Stderr::Shown)?;
        // Programs that cargo calls may print to standard output too; such lines are no messages.
        let messages = Message::parse_stream(finished.stdout.as_slice())
            .filter_map(std::result::Result::ok)
            .collect();
        Ok(Built { messages, status: finished.status })
    }

    /// Writes down the resolution of the dependencies as they are in the manifests now: what is in Cargo.lock
    /// already stays as it is there.
    pub(super) fn resolve(&self, workspace: &Workspace, offline: bool) -> Result<()> {
        let mut command = self.command(&workspace.directory);
        command.args(["metadata", "--format-version=1", "--quiet"]);
        run_on_lockfile(command, workspace, offline)
    }

    /// Puts another release of a package into Cargo.lock.
    pub(super) fn update(
        &self,
        workspace: &Workspace,
        package: &str,
        version: &str,
        offline: bool,
    ) -> Result<()> {
        let mut command = self.command(&workspace.directory);
        command.args(["update", "--quiet", "--package", package, "--precise", version]);
        run_on_lockfile(command, workspace, offline)
    }

    /// Asks cargo how it would start each executable: it is made to start this program instead, as the
    /// target's *runner*, which writes down what it was given. A runner that the user has configured is
    /// put back in its place.
    pub(super) fn record_launches(
        &self,
        workspace: &Workspace,
        selection: &Selection,
    ) -> Result<Vec<Launch>> {
        let records = tempfile::tempdir()?;
        let mut command = self.bench(workspace, selection);
        command.arg("--quiet");
        let mut runners = Vec::new();
        for triple in self.target_triples(workspace, selection)? {
            let variable = runner_variable(&triple);
            runners.push(launch::UserRunner {
                configured: self.configured_runner(workspace, &triple)?,
                original: std::env::var_os(&variable),
                variable,
            });
        }
        let on_path = launch::make_recorder(&mut command, records.path(), &runners)?;
        let finished = process::run(command, Stderr::Captured)?;
        if !finished.status.success() {
            return Err(Error::comparison("does not tell how its benchmarks are started")
                .because(format!("`cargo bench` {}", process::describe_exit(finished.status)))
                .because(finished.stderr.trim()));
        }
        launch::read_records(records.path(), on_path.as_deref(), &runners)
    }

    /// `rustc 1.95.0 (59807616e 2026-04-14)`, of the toolchain that this directory chooses.
    pub fn rustc_version(&self, directory: &Path) -> Result<String> {
        let finished = self.rustc(directory, &["--version"])?;
        Ok(String::from_utf8_lossy(&finished.stdout).trim().to_owned())
    }

    fn rustc(&self, directory: &Path, arguments: &[&str]) -> Result<Finished> {
        let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = self.in_directory(program, directory);
        command.args(arguments);
        let finished = process::run(command, Stderr::Captured)?;
        if finished.status.success() {
            return Ok(finished);
        }
        Err(Error::comparison("has no working rustc").because(finished.stderr.trim()))
    }

    fn target_triples(&self, workspace: &Workspace, selection: &Selection) -> Result<Vec<String>> {
        if let Some(triple) = &selection.target {
            return Ok(vec![triple.clone()]);
        }
        let triples = self
            .configuration(&workspace.directory)?
            .build_target_for_config(std::iter::empty::<TargetTripleRef<'_>>())
            .map_err(configuration_error)?;
        Ok(triples.iter().map(|triple| triple.triple().to_owned()).collect())
    }

    fn configured_runner(
        &self,
        workspace: &Workspace,
        triple: &str,
    ) -> Result<Option<Vec<OsString>>> {
        let runner = self
            .configuration(&workspace.directory)?
            .runner(triple)
            .map_err(configuration_error)?;
        Ok(runner.map(|runner| {
            std::iter::once(runner.path.into_os_string()).chain(runner.args).collect()
        }))
    }

    /// The wrapper of rustc that the configuration in a directory names.
    pub fn configured_wrapper(&self, directory: &Path) -> Result<Option<PathBuf>> {
        Ok(self.configuration(directory)?.build.rustc_wrapper.filter(|path| path != Path::new("")))
    }

    fn configuration(&self, directory: &Path) -> Result<cargo_config2::Config> {
        let verbose = self.rustc(directory, &["--version", "--verbose"])?;
        let verbose = String::from_utf8_lossy(&verbose.stdout).into_owned();
        let host = verbose.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        let environment = std::env::vars_os().filter(|(name, _)| name != "RUSTUP_TOOLCHAIN");
        let options = ResolveOptions::default().host_triple(host).env(environment);
        cargo_config2::Config::load_with_options(directory, options).map_err(configuration_error)
    }

    fn bench(&self, workspace: &Workspace, selection: &Selection) -> Command {
        let mut command = self.command(&workspace.directory);
        command.arg("bench").args(selection.arguments());
        command.arg("--target-dir").arg(&workspace.target_directory);
        add_manifest(&mut command, workspace.manifest.as_deref());
        // A build directory that all worktrees share would be shared by base and head. (An environment
        // variable would do too, but benchmarks would see it.)
        let directory = toml::Value::from(&*workspace.target_directory.to_string_lossy());
        command.arg("--config").arg(format!("build.build-dir={directory}"));
        command
    }

    fn command(&self, directory: &Path) -> Command {
        self.in_directory(self.program.clone(), directory)
    }

    fn in_directory(&self, program: OsString, directory: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(directory).env_remove("CARGO");
        command.env_remove("RUSTUP_TOOLCHAIN").env_remove(TOOLCHAIN_SOURCE);
        // Build scripts ask git about the revision that they build.
        crate::system::untie(&mut command);
        if let Some(toolchain) = &self.forced_toolchain {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        command
    }
}

fn run_on_lockfile(mut command: Command, workspace: &Workspace, offline: bool) -> Result<()> {
    if offline {
        command.arg("--offline");
    }
    add_manifest(&mut command, workspace.manifest.as_deref());
    let finished = process::run(command, Stderr::Captured)?;
    if finished.status.success() {
        return Ok(());
    }
    Err(Error::comparison("has dependencies that cannot be resolved")
        .because(finished.stderr.trim().trim_start_matches("error: ")))
}

fn add_manifest(command: &mut Command, manifest: Option<&Path>) {
    if let Some(manifest) = manifest {
        command.arg("--manifest-path").arg(PathBuf::from(manifest));
    }
}

/// `CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER`. The triple may be a path to a target description.
fn runner_variable(triple: &str) -> String {
    let stem = Path::new(triple).file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.strip_suffix(".json").unwrap_or(&stem);
    format!("CARGO_TARGET_{}_RUNNER", stem.to_uppercase().replace(['-', '.'], "_"))
}

fn configuration_error(error: cargo_config2::Error) -> Error {
    Error::comparison("has a cargo configuration that cannot be read").because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runner_variables_are_those_that_cargo_reads() {
        assert_eq!(
            runner_variable("x86_64-unknown-linux-gnu"),
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"
        );
        assert_eq!(
            runner_variable("targets/thumbv8m.main-none-eabi.json"),
            "CARGO_TARGET_THUMBV8M_MAIN_NONE_EABI_RUNNER"
        );
    }
}
