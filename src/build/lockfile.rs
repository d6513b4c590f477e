//! One resolution of dependencies for all sides where Cargo.lock is not committed.
//!
//! Without it, base and head could be built with different versions of their dependencies, and the
//! difference would be reported as theirs.

use std::collections::BTreeMap;
use std::path::Path;

use fs_err as fs;

use crate::model::PerSide;
use crate::system::{ErrorKind, Result};

use super::Workspace;
use super::cargo::Cargo;

/// Gives the user's own, uncommitted Cargo.lock to every side that has none. Where the user has none
/// either, a later side gets the first one's, see [`copy_if_missing`].
pub(super) fn share(user_root: Option<&Path>, workspaces: &PerSide<Workspace>) -> Result<()> {
    for workspace in workspaces.values() {
        if let Some(root) = user_root {
            copy_if_missing(root, &workspace.root)?;
        }
    }
    Ok(())
}

/// Brings the Cargo.lock of a workspace over which other benchmarks were laid up to date, also where that of the
/// commit is not to change (`--locked`): with their dev-dependencies in it, where possible as they are locked where the
/// benchmarks come from. Everything else in it stays.
pub(super) fn settle(
    cargo: &Cargo,
    workspace: &Workspace,
    source: &Workspace,
    dev_dependencies: &[String],
    offline: bool,
) -> Result<()> {
    // Without one, all sides get the same.
    if !workspace.root.join("Cargo.lock").is_file() {
        return Ok(());
    }
    cargo.resolve(workspace, offline)?;
    let (wanted, here) = (versions(&source.root), versions(&workspace.root));
    for package in dev_dependencies {
        if let (Some([wanted]), Some([here])) =
            (wanted.get(package).map(Vec::as_slice), here.get(package).map(Vec::as_slice))
            && wanted != here
        {
            // The revision's own dependencies may need the one it has.
            match cargo.update(workspace, package, wanted, offline) {
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The versions of each package in a workspace's Cargo.lock.
fn versions(root: &Path) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    let document: toml::Table = text.parse().unwrap_or_default();
    let packages = document.get("package").and_then(toml::Value::as_array);
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages.into_iter().flatten() {
        let text = |key| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        if let (Some(name), Some(version)) = (text("name"), text("version")) {
            versions.entry(name).or_default().push(version);
        }
    }
    versions
}

/// Copies the Cargo.lock of one workspace root to another that has none.
pub fn copy_if_missing(from: &Path, to: &Path) -> Result<()> {
    let (from, to) = (from.join("Cargo.lock"), to.join("Cargo.lock"));
    if from.is_file() && !to.exists() {
        fs::copy(from, to)?;
    }
    Ok(())
}
