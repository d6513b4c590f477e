//! Builds all sides, one after the other.

use super::{Launch, Link, Selection};
use std::path::{Path, PathBuf};

use cargo_metadata::{Message, Metadata, TargetKind};

use crate::model::{PerSide, Side};
use crate::revision::{Checkout, Repository, Revision, Slot};
use crate::system::process::describe_exit;
use crate::system::{Error, Observer, Result};

use super::cargo::Cargo;
use super::overlay::{Laid, Overlay};
use super::relink::Capture;
use super::sources::SourceTree;

/// One side, built.
#[derive(Debug)]
pub struct SideBuild {
    /// Its bench executables, in cargo's order.
    pub executables: Vec<BenchExecutable>,
    /// Bench targets of another revision that it cannot have.
    pub failed: Vec<FailedTarget>,
    /// Plain programs and dynamic libraries of path crates, which a benchmark may run or load.
    pub companions: Vec<PathBuf>,
    /// The first line of `rustc --version --verbose`.
    pub rustc: String,
    /// What the files of the checkout were when it was built.
    pub sources: SourceTree,
    /// The directory that all absolute paths of this side begin with.
    pub directory: PathBuf,
}

/// One executable that `cargo bench` would run.
#[derive(Debug, Clone)]
pub struct BenchExecutable {
    /// The package's name.
    pub package: String,
    /// The target's name.
    pub target: String,
    /// Whether it is a `[[bench]]` target, not a library, program or example with benchmarks inside.
    pub is_bench_target: bool,
    /// Where it lies.
    pub path: PathBuf,
    /// The target's main source file.
    pub source: PathBuf,
    /// How cargo would start it.
    pub launch: Launch,
    /// How it is linked, if that was to be found out and could be.
    pub link: Option<Link>,
}

/// A bench target that was laid over a side and cannot be built there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedTarget {
    /// The package's name.
    pub package: String,
    /// The target's name.
    pub target: String,
    /// Why it cannot.
    pub reason: String,
}

/// What is built, where.
pub struct Builder<'a> {
    /// The user's repository.
    pub repository: &'a Repository,
    /// Where this run works.
    pub slot: &'a Slot,
    /// What to build of each revision.
    pub selection: &'a Selection,
    /// The side whose bench targets are laid over those of the others, if any.
    pub benches_from: Option<Side>,
    /// Whether to find out how executables are linked, so that it can be done again.
    pub captures_links: bool,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

impl Builder<'_> {
    /// Builds every side, reference first.
    pub fn build(
        &self,
        revisions: &PerSide<Revision>,
        checkouts: &PerSide<Checkout>,
    ) -> Result<PerSide<SideBuild>> {
        let cargo = Cargo::find(self.repository)?;
        let mut workspaces: PerSide<Workspace> = checkouts
            .iter()
            .map(|(side, checkout)| {
                self.workspace(&cargo, checkout)
                    .map_err(|error| on_side(error, side, &revisions[side]))
            })
            .collect::<Result<_>>()?;
        let laid = self.lay_benches(&cargo, revisions, checkouts, &mut workspaces)?;
        let selections =
            self.selection.for_each(&workspaces.map(|_, workspace| &workspace.metadata))?;
        let user = self.user_workspace(&cargo);
        super::lockfile::share(
            user.as_ref().map(|user| user.workspace_root.as_std_path()),
            &workspaces,
        )?;
        if let Some(from) = self.benches_from {
            for (side, workspace) in workspaces.iter().filter(|(side, _)| *side != from) {
                let (source, names) = (&workspaces[from], &laid[side].dev_dependencies);
                super::lockfile::settle(&cargo, workspace, source, names, self.selection.offline)
                    .map_err(|error| on_side(error, side, &revisions[side]))?;
            }
        }

        let mut seeds: Vec<PathBuf> = Vec::new();
        if let Some(metadata) = user {
            seeds.push(metadata.target_directory.into_std_path_buf());
            seeds.extend(
                metadata
                    .build_directory
                    .map(cargo_metadata::camino::Utf8PathBuf::into_std_path_buf),
            );
        }
        seeds.extend(workspaces.values().map(|workspace| workspace.target_directory.clone()));
        let mut origins = super::dependencies::Origins {
            path_crates: workspaces.values().flat_map(Workspace::crate_names).collect(),
            ..Default::default()
        };

        let mut builds = Vec::new();
        for (side, workspace) in workspaces.iter() {
            let revision = &revisions[side];
            let Some(selection) = &selections[side] else {
                let text = format!("{side} ({revision}): it has none of the selected targets");
                self.observer.status("Skipping", &text);
                let build =
                    workspace.without_executables(&cargo, self.slot.side_directory(side))?;
                builds.push(SideBuild { failed: laid[side].failed.clone(), ..build });
                continue;
            };
            self.observer.status("Building", &format!("{side} ({revision})"));
            if side != Side::REFERENCE {
                super::lockfile::copy_if_missing(
                    &workspaces[Side::REFERENCE].root,
                    &workspace.root,
                )?;
            }
            super::dependencies::seed(&workspace.target_directory, &seeds, selection, &origins)?;
            let build = self
                .build_side(&cargo, workspace, selection, side, &laid[side], &mut origins)
                .map_err(|error| on_side(error, side, revision))?;
            builds.push(build);
        }
        let mut builds: PerSide<SideBuild> = builds.into_iter().collect();
        if let Some(from) = self.benches_from {
            // What is not built there either, for want of a feature that nobody has activated, is nobody's loss.
            let there = builds[from].executables.clone();
            let is_there = |failed: &FailedTarget| {
                there.iter().any(|e| e.package == failed.package && e.target == failed.target)
            };
            for side in builds.sides() {
                builds[side].failed.retain(is_there);
            }
        }
        Ok(builds)
    }

    /// Lays the bench targets of one side over those of the others, if that is wanted, and reads anew what these
    /// have then.
    fn lay_benches(
        &self,
        cargo: &Cargo,
        revisions: &PerSide<Revision>,
        checkouts: &PerSide<Checkout>,
        workspaces: &mut PerSide<Workspace>,
    ) -> Result<PerSide<Laid>> {
        let mut laid: PerSide<Laid> = workspaces.map(|_, _| Laid::default());
        let Some(from) = self.benches_from else { return Ok(laid) };
        let overlay = Overlay::read(&workspaces[from])
            .map_err(|error| on_side(error, from, &revisions[from]))?;
        for side in laid.sides().filter(|side| *side != from) {
            let lay = || {
                let laid = overlay.lay_over(&workspaces[side])?;
                checkouts[side].link_surroundings()?;
                Ok((laid, self.workspace(cargo, &checkouts[side])?))
            };
            let done: Result<(Laid, Workspace)> = lay();
            let (what, workspace) = done.map_err(|error| {
                on_side(error, side, &revisions[side]).because(format!(
                    "the benchmarks of {} were laid over it",
                    revisions[from].label
                ))
            })?;
            (laid[side], workspaces[side]) = (what, workspace);
        }
        Ok(laid)
    }

    fn workspace(&self, cargo: &Cargo, checkout: &Checkout) -> Result<Workspace> {
        let manifest = self.selection.manifest_in(self.repository, checkout)?;
        let wanted = checkout.root().join(self.repository.prefix());
        let directory = match &manifest {
            Some(_) if !wanted.is_dir() => checkout.root().to_owned(),
            _ => wanted,
        };
        if !directory.is_dir() {
            let prefix = self.repository.prefix().display();
            return Err(Error::comparison(format!("there is no directory `{prefix}`"))
                .help("run cargo bench-compare from a directory that all revisions have"));
        }
        let metadata = cargo.metadata(&directory, manifest.as_deref())?;
        let target_directory = checkout.side_directory().join("target");
        let capture = if self.captures_links && super::relink::IS_SUPPORTED {
            let users_wrapper = cargo.configured_wrapper(&directory)?;
            Some(Capture::new(&target_directory, users_wrapper.as_deref()))
        } else {
            None
        };
        Ok(Workspace {
            root: metadata.workspace_root.clone().into_std_path_buf(),
            checkout: checkout.root().to_owned(),
            target_directory,
            capture,
            directory,
            manifest,
            metadata,
        })
    }

    /// The workspace in the user's own checkout, for its lockfile and its compiled dependencies. Nothing
    /// depends on it: it may be broken, or not there.
    fn user_workspace(&self, cargo: &Cargo) -> Option<Metadata> {
        let directory = self.repository.root().join(self.repository.prefix());
        cargo.metadata(&directory, self.selection.manifest_path.as_deref()).ok()
    }

    fn build_side(
        &self,
        cargo: &Cargo,
        workspace: &Workspace,
        selection: &Selection,
        side: Side,
        laid: &Laid,
        origins: &mut super::dependencies::Origins,
    ) -> Result<SideBuild> {
        let sources = SourceTree::read(&workspace.checkout)?;
        sources.clear_if_vendored_differs(&workspace.target_directory)?;
        let sources_known = sources.renew_time_stamps(&workspace.target_directory)?;
        let mut compiled =
            super::attempt::compile(cargo, workspace, selection, laid, self.observer)?;
        let mut executables = Vec::new();
        let mut companions = Vec::new();
        for message in std::mem::take(&mut compiled.messages) {
            let artifact = match message {
                Message::CompilerArtifact(artifact) => artifact,
                Message::BuildScriptExecuted(script) if !is_path(&script.package_id) => {
                    origins
                        .foreign_hashes
                        .extend(super::dependencies::hash_of_artifact(script.out_dir.as_ref()));
                    continue;
                }
                _ => continue,
            };
            if !is_path(&artifact.package_id) {
                let hashes = artifact
                    .filenames
                    .iter()
                    .filter_map(|f| super::dependencies::hash_of_artifact(f.as_ref()));
                origins.foreign_hashes.extend(hashes);
                continue;
            }
            origins.path_crates.insert(artifact.target.name.replace('-', "_"));
            // Path crates that lie outside the checkout are the same on every side.
            if !artifact.manifest_path.starts_with(&workspace.checkout) {
                continue;
            }
            if compiled.is_fresh(&artifact) && !sources_known {
                return Err(stale(&artifact, side));
            }
            if let Some(path) = artifact.executable.filter(|_| artifact.profile.test) {
                executables.push((
                    artifact.manifest_path,
                    artifact.target,
                    path.into_std_path_buf(),
                ));
            } else {
                let loadable = artifact.filenames.iter().filter(|file| {
                    !matches!(file.extension(), Some("rlib" | "rmeta" | "d" | "pdb" | "dSYM"))
                });
                let runs_at_run_time = artifact.target.kind.iter().any(|kind| {
                    matches!(kind, TargetKind::Bin | TargetKind::DyLib | TargetKind::CDyLib)
                });
                if runs_at_run_time {
                    companions.extend(loadable.map(|file| file.clone().into_std_path_buf()));
                }
            }
        }
        sources.remember(&workspace.target_directory)?;
        let paths = || executables.iter().map(|(_, _, path)| path.as_path());
        super::relink::remove_left_overs(paths());
        let mut launches = match &compiled.selection {
            Some(selection) => {
                make_up_for_missed_links(cargo, workspace, selection, paths)?;
                cargo.record_launches(workspace, selection)?
            }
            None => Vec::new(),
        };
        let executables = executables
            .into_iter()
            .filter_map(|(manifest, target, path)| {
                // What cargo builds but does not run has no benchmarks.
                let position = launches.iter().position(|launch| launch.executable() == path)?;
                Some(BenchExecutable {
                    package: workspace.package_name(&manifest),
                    is_bench_target: target.is_bench(),
                    source: target.src_path.into_std_path_buf(),
                    target: target.name,
                    link: workspace.capture.as_ref().and_then(|capture| capture.link(&path)),
                    path,
                    launch: launches.swap_remove(position),
                })
            })
            .collect();
        Ok(SideBuild {
            executables,
            failed: [laid.failed.clone(), compiled.failed].concat(),
            companions,
            rustc: cargo.rustc_version(&workspace.directory)?,
            sources,
            directory: self.slot.side_directory(side),
        })
    }
}

/// Executables that were there before anybody looked are built once more: they alone, not what they use.
fn make_up_for_missed_links<'a, P: Iterator<Item = &'a Path>>(
    cargo: &Cargo,
    workspace: &Workspace,
    selection: &Selection,
    executables: impl Fn() -> P,
) -> Result<()> {
    let Some(capture) = &workspace.capture else { return Ok(()) };
    let mut missed = executables().filter(|executable| capture.has_missed(executable)).peekable();
    if missed.peek().is_none() {
        return Ok(());
    }
    for executable in missed {
        fs_err::remove_file(executable)?;
    }
    let built = cargo.build(workspace, selection)?;
    if !built.status.success() {
        return Err(Error::comparison("does not build a second time")
            .because(format!("`cargo bench --no-run` {}", describe_exit(built.status))));
    }
    capture.give_up(executables())
}

/// Lets somebody else build a checkout. Its files have the time stamps that keep cargo from taking another revision's
/// artifacts in this target directory for theirs.
pub fn with_time_stamps_of_its_own<T>(
    checkout: &Path,
    target_directory: &Path,
    build: impl FnOnce() -> Result<T>,
) -> Result<T> {
    fs_err::create_dir_all(target_directory)?;
    let sources = SourceTree::read(checkout)?;
    sources.clear_if_vendored_differs(target_directory)?;
    sources.renew_time_stamps(target_directory)?;
    let built = build()?;
    sources.remember(target_directory)?;
    Ok(built)
}

/// Where one side's workspace lies, and where it is built.
pub(super) struct Workspace {
    pub(super) root: PathBuf,
    pub(super) checkout: PathBuf,
    pub(super) directory: PathBuf,
    pub(super) manifest: Option<PathBuf>,
    pub(super) target_directory: PathBuf,
    pub(super) metadata: Metadata,
    /// Looks how executables are linked, if that is wanted.
    pub(super) capture: Option<Capture>,
}

impl Workspace {
    /// The names, as file names begin with them, of everything that path crates compile to.
    fn crate_names(&self) -> impl Iterator<Item = String> {
        let targets = self.metadata.packages.iter().flat_map(|package| &package.targets);
        let targets = targets.map(|target| target.name.replace('-', "_"));
        targets.chain(super::dependencies::names_of_packages(&self.checkout))
    }

    fn package_name(&self, manifest: &cargo_metadata::camino::Utf8Path) -> String {
        let package = self.metadata.packages.iter().find(|p| p.manifest_path == manifest);
        package.map(|package| package.name.to_string()).unwrap_or_default()
    }

    fn without_executables(&self, cargo: &Cargo, directory: PathBuf) -> Result<SideBuild> {
        Ok(SideBuild {
            executables: Vec::new(),
            failed: Vec::new(),
            companions: Vec::new(),
            rustc: cargo.rustc_version(&self.directory)?,
            sources: SourceTree::read(&self.checkout)?,
            directory,
        })
    }
}

/// Whether a package lies in a directory of this machine, as in `path+file:///home/me/crate#0.1.0`.
fn is_path(package: &cargo_metadata::PackageId) -> bool {
    package.repr.contains("path+file:")
}

fn on_side(error: Error, side: Side, revision: &Revision) -> Error {
    error.on_side(format!("{side} ({revision})"))
}

/// The one thing that must never happen silently.
fn stale(artifact: &cargo_metadata::Artifact, side: Side) -> Error {
    Error::comparison(format!("cargo did not rebuild `{}` of {side}", artifact.target.name))
        .because(
            "it takes another revision's artifact for this one's; a comparison would be worthless",
        )
        .help(
            "run `cargo bench-compare clean` and try again; if it happens again, please report it",
        )
}
