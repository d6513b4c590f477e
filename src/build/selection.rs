//! Cargo's own options for what is built, passed on to it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};

use crate::model::PerSide;
use crate::revision::{Checkout, Repository};
use crate::system::{Error, Result};

/// The heading of these options in the help.
pub const CARGO_HEADING: &str = "What to build (cargo's own options)";

/// What to build, in cargo's own words.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = CARGO_HEADING)]
pub struct Selection {
    /// Benchmark only this package (repeatable)
    #[arg(short, long = "package", value_name = "SPEC")]
    pub packages: Vec<String>,
    /// Benchmark all packages of the workspace
    #[arg(long)]
    pub workspace: bool,
    /// Leave out this package of the workspace (repeatable)
    #[arg(long, value_name = "SPEC", requires = "workspace")]
    pub exclude: Vec<String>,
    /// Build only this bench target (repeatable)
    #[arg(long = "bench", value_name = "NAME")]
    pub bench_targets: Vec<String>,
    /// Build all targets that have `bench = true`
    #[arg(long)]
    pub benches: bool,
    /// Features to activate, separated by spaces or commas
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub all_features: bool,
    /// Do not activate the `default` feature
    #[arg(long)]
    pub no_default_features: bool,
    /// Build with this profile [default: bench]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Build for this target triple
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// Fail if Cargo.lock would have to change
    #[arg(long)]
    pub locked: bool,
    /// Do not use the network
    #[arg(long)]
    pub offline: bool,
    /// Path to Cargo.toml, in the user's own checkout
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
}

impl Selection {
    /// The arguments for `cargo bench`, without the manifest path, which differs from side to side.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let mut flag = |given: bool, name: &str| {
            if given {
                arguments.push(OsString::from(name));
            }
        };
        flag(self.workspace, "--workspace");
        flag(self.benches, "--benches");
        flag(self.all_features, "--all-features");
        flag(self.no_default_features, "--no-default-features");
        flag(self.locked, "--locked");
        flag(self.offline, "--offline");
        let valued = [
            ("--package", &self.packages[..]),
            ("--exclude", &self.exclude),
            ("--bench", &self.bench_targets),
            ("--features", &self.features),
            ("--profile", self.profile.as_slice()),
            ("--target", self.target.as_slice()),
        ];
        for (name, values) in valued {
            for value in values {
                arguments.extend([OsString::from(name), OsString::from(value)]);
            }
        }
        arguments
    }

    /// The part of the selection that exists on each side, `None` where nothing of it does: a bench
    /// target that head adds is no reason for base to fail. A name that no side has is an error.
    pub fn for_each(&self, sides: &PerSide<&Metadata>) -> Result<PerSide<Option<Self>>> {
        let packages = sides.map(|_, metadata| names(&metadata.packages));
        let benches = sides.map(|_, metadata| bench_names(&metadata.packages));
        refuse_unknown("package", &self.packages, &packages)?;
        refuse_unknown("bench target", &self.bench_targets, &benches)?;
        // A name that only other packages have, on every side, is cargo's to complain about.
        let benches = sides.map(|_, metadata| bench_names(self.packages_in(metadata)));
        let unselected = |name: &String| !benches.values().any(|names| names.contains(name));
        Ok(sides.map(|side, _| {
            let there = |wanted: &[String], exists: &dyn Fn(&String) -> bool| -> Vec<String> {
                wanted.iter().filter(|name| is_pattern(name) || exists(name)).cloned().collect()
            };
            let packages = there(&self.packages, &|name| packages[side].contains(name));
            let bench_targets = there(&self.bench_targets, &|name| {
                benches[side].contains(name) || unselected(name)
            });
            let nothing_left = (packages.is_empty() && !self.packages.is_empty())
                || (bench_targets.is_empty() && !self.bench_targets.is_empty());
            (!nothing_left).then(|| Self { packages, bench_targets, ..self.clone() })
        }))
    }

    /// The packages whose targets cargo takes; all if only cargo can tell.
    fn packages_in<'a>(&self, metadata: &'a Metadata) -> Vec<&'a Package> {
        let mut packages: Vec<&Package> = metadata.packages.iter().collect();
        if self.packages.iter().chain(&self.exclude).any(|name| is_pattern(name)) {
            return packages;
        }
        if !self.packages.is_empty() {
            packages.retain(|package| self.packages.contains(&package.name));
        } else if self.workspace {
            packages.retain(|package| !self.exclude.contains(&package.name));
        } else if metadata.workspace_default_members.is_available() {
            packages.retain(|package| metadata.workspace_default_members.contains(&package.id));
        }
        packages
    }

    /// The directory of the profile below the target directory.
    pub fn profile_directory(&self) -> &str {
        match self.profile.as_deref() {
            None | Some("bench" | "release") => "release",
            Some("dev" | "test") => "debug",
            Some(profile) => profile,
        }
    }

    /// The `--manifest-path` in one side's checkout.
    pub(super) fn manifest_in(
        &self,
        repository: &Repository,
        checkout: &Checkout,
    ) -> Result<Option<PathBuf>> {
        let Some(path) = &self.manifest_path else { return Ok(None) };
        let absolute = std::path::absolute(path)?;
        // The file itself need not exist in the user's checkout, but its directory is resolved as git
        // resolves the repository's.
        let directory = absolute.parent().unwrap_or(Path::new("/"));
        let directory = fs_err::canonicalize(directory)?;
        let Ok(relative) = directory.strip_prefix(repository.root()) else {
            return Err(Error::usage(format!(
                "--manifest-path {} lies outside the repository {}",
                path.display(),
                repository.root().display()
            )));
        };
        let name = absolute.file_name().unwrap_or("Cargo.toml".as_ref());
        Ok(Some(checkout.root().join(relative).join(name)))
    }
}

fn names<'a>(packages: impl IntoIterator<Item = &'a Package>) -> Vec<String> {
    packages.into_iter().map(|package| package.name.to_string()).collect()
}

fn bench_names<'a>(packages: impl IntoIterator<Item = &'a Package>) -> Vec<String> {
    let targets = packages.into_iter().flat_map(|package| &package.targets);
    targets.filter(|target| target.is_bench()).map(|target| target.name.clone()).collect()
}

/// Cargo's package specs may be globs, URLs or carry a version; those are left to cargo.
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '@', ':', '#', '/'])
}

fn refuse_unknown(what: &str, wanted: &[String], existing: &PerSide<Vec<String>>) -> Result<()> {
    for name in wanted.iter().filter(|name| !is_pattern(name)) {
        if existing.values().any(|names| names.contains(name)) {
            continue;
        }
        let mut all: Vec<&str> = existing.values().flatten().map(String::as_str).collect();
        all.sort_unstable();
        all.dedup();
        let error = Error::usage(format!("no revision has a {what} `{name}`"));
        let nearest = all
            .iter()
            .map(|other| (strsim::jaro_winkler(name, other), other))
            .filter(|(similarity, _)| *similarity > 0.75)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        return Err(match nearest {
            Some((_, near)) => error.help(format!("did you mean `{near}`?")),
            None if all.is_empty() => error.because(format!("there is no {what} at all")),
            None => error.help(format!("there are: {}", all.join(", "))),
        });
    }
    Ok(())
}
