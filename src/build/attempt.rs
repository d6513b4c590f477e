//! Building one side. Bench targets that were laid over it and do not compile with its code are left out, and the
//! others are built all the same.

use std::collections::HashSet;
use std::path::PathBuf;

use anstream::adapter::strip_str;
use cargo_metadata::{Artifact, Message};

use crate::system::process::describe_exit;
use crate::system::{Error, Observer, Result};

use super::cargo::{Built, Cargo};
use super::overlay::{self, Laid};
use super::{FailedTarget, Selection, Workspace};

/// The most lines of a compiler's error that a report has.
const MOST_LINES: usize = 12;

/// What came of it.
pub struct Compiled {
    /// Cargo's messages about the build that succeeded.
    pub messages: Vec<Message>,
    /// What was built, with the bench targets that are left out taken away; `None` if nothing is left.
    pub selection: Option<Selection>,
    /// The bench targets that were left out.
    pub failed: Vec<FailedTarget>,
    /// What builds that failed in the end have compiled: files of artifacts.
    compiled: HashSet<PathBuf>,
}

impl Compiled {
    /// Whether an artifact was taken as it was, and not compiled in this run.
    pub fn is_fresh(&self, artifact: &Artifact) -> bool {
        let mut files = artifact.filenames.iter();
        artifact.fresh && !files.any(|file| self.compiled.contains(file.as_std_path()))
    }
}

/// Builds what can be built. Fails if anything else than a bench target that was laid over does not compile.
pub fn compile(
    cargo: &Cargo,
    workspace: &Workspace,
    selection: &Selection,
    laid: &Laid,
    observer: &dyn Observer,
) -> Result<Compiled> {
    let mut compiled = Compiled {
        messages: Vec::new(),
        selection: Some(selection.clone()),
        failed: Vec::new(),
        compiled: HashSet::new(),
    };
    while let Some(selection) = compiled.selection.clone() {
        let built = cargo.build(workspace, &selection)?;
        if built.status.success() {
            compiled.messages = built.messages;
            break;
        }
        let Some(broken) = broken_targets(&built, workspace, laid) else {
            for error in built.errors() {
                observer.show(error.rendered);
            }
            let error = Error::comparison("does not build").because(format!(
                "`cargo bench --no-run` {}; its messages are above",
                describe_exit(built.status)
            ));
            let is_unstable = built.errors().any(|error| error.is_unstable_feature);
            return Err(if is_unstable { error.help(ALLOW_FEATURES) } else { error });
        };
        for (manifest, failed) in broken {
            overlay::remove_target(&manifest, &failed.target)?;
            compiled.failed.push(failed);
        }
        let artifacts = built.messages.into_iter().filter_map(|message| match message {
            Message::CompilerArtifact(artifact) if !artifact.fresh => Some(artifact.filenames),
            _ => None,
        });
        compiled.compiled.extend(artifacts.flatten().map(Into::into));
        compiled.selection = without(&selection, workspace, &compiled.failed);
    }
    Ok(compiled)
}

const ALLOW_FEATURES: &str = "`#[bench]` and other features need a nightly compiler: take one with \
    `cargo +nightly bench-compare`, or let the stable one pass for it with RUSTC_BOOTSTRAP=1 in the environment";

/// The targets without which a build might succeed: each with its manifest. `None` if there is more that is wrong.
fn broken_targets(
    built: &Built,
    workspace: &Workspace,
    laid: &Laid,
) -> Option<Vec<(PathBuf, FailedTarget)>> {
    let mut broken: Vec<(PathBuf, FailedTarget)> = Vec::new();
    for error in built.errors() {
        let package = workspace.metadata.packages.iter().find(|p| p.id == *error.package)?;
        let manifest = package.manifest_path.as_std_path();
        if !error.target.is_bench() || !laid.manifests.iter().any(|laid| laid == manifest) {
            return None;
        }
        let name = &error.target.name;
        if broken.iter().any(|(other, failed)| other == manifest && failed.target == *name) {
            continue;
        }
        broken.push((
            manifest.to_owned(),
            FailedTarget {
                package: package.name.to_string(),
                target: name.clone(),
                reason: format!("it does not compile here: {}", beginning(error.rendered)),
            },
        ));
    }
    (!broken.is_empty()).then_some(broken)
}

/// An error as the compiler says it, without colours and not longer than it must be.
fn beginning(rendered: &str) -> String {
    let plain = strip_str(rendered.trim()).to_string();
    let mut lines: Vec<&str> = plain.lines().take(MOST_LINES).collect();
    if plain.lines().count() > MOST_LINES {
        lines.push("...");
    }
    lines.join("\n")
}

/// A selection that no longer names what is not there. `None` if it named nothing else.
fn without(
    selection: &Selection,
    workspace: &Workspace,
    failed: &[FailedTarget],
) -> Option<Selection> {
    let has = |name: &String| {
        workspace.metadata.packages.iter().any(|package| {
            let gone = failed.iter().any(|f| f.target == *name && f.package == *package.name);
            !gone && package.targets.iter().any(|t| t.is_bench() && t.name == *name)
        })
    };
    let failed_one = |name: &String| failed.iter().any(|failed| failed.target == *name);
    let mut left = selection.clone();
    left.bench_targets.retain(|name| !failed_one(name) || has(name));
    (selection.bench_targets.is_empty() || !left.bench_targets.is_empty()).then_some(left)
}
