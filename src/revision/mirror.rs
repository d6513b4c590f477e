//! What lies around a repository and matters to a build: the directories above a checkout look like
//! those above the repository.
//!
//! A path dependency may leave the repository (`path = "../sibling"`), and cargo and rustup read
//! configuration from the directories above. So a checkout of `/home/me/project` is placed in
//! `<tree>/home/me/project`, and such neighbours are linked into `<tree>/home/me`.

use crate::system::normalize;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use fs_err as fs;

use crate::system::{Error, Result};

use super::git::{git, nul_separated};

/// Where in the tree directory the checkout of a repository goes.
pub fn place_for(repository_root: &Path, tree_directory: &Path) -> PathBuf {
    tree_directory.join(below_file_system_root(repository_root))
}

/// Links what the checked-out manifests need from outside, and configuration in the directories above.
pub fn link_surroundings(
    repository_root: &Path,
    checkout: &Path,
    tree_directory: &Path,
) -> Result<()> {
    // Manifests that the user has not committed yet are in the checkout, but in no index.
    let query =
        ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*Cargo.toml"];
    let mut left: Vec<(PathBuf, PathBuf)> = nul_separated(&git(checkout, query)?)
        .map(|manifest| (checkout.join(manifest), repository_root.join(manifest)))
        .collect();
    let mut seen = BTreeSet::new();
    while let Some((manifest, place)) = left.pop() {
        for package in packages_outside(&manifest, &place, repository_root) {
            let workspace = workspace_around(&package, repository_root);
            link(&workspace, &tree_directory.join(below_file_system_root(&workspace)))?;
            for directory in [package, workspace] {
                let manifest = directory.join("Cargo.toml");
                if seen.insert(directory) {
                    left.push((manifest.clone(), manifest));
                }
            }
        }
    }
    for above in repository_root.ancestors().skip(1) {
        // What lies above the cache as well is inherited already.
        if tree_directory.starts_with(above) {
            break;
        }
        for name in [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"]
        {
            let target = above.join(name);
            if target.is_file() && !is_cargo_home(&above.join(".cargo")) {
                link(&target, &tree_directory.join(below_file_system_root(&target)))?;
            }
        }
    }
    Ok(())
}

/// The directories outside the repository on which a manifest depends, if it stands in this `place`.
fn packages_outside(manifest: &Path, place: &Path, repository_root: &Path) -> Vec<PathBuf> {
    // A manifest that cannot be read is cargo's to complain about, if it is used at all.
    let document = std::fs::read_to_string(manifest).ok().and_then(|text| text.parse().ok());
    let directory = place.parent().unwrap_or(place);
    dependency_paths(&document.unwrap_or_default())
        .iter()
        .filter(|path| !Path::new(path).is_absolute())
        .map(|path| normalize(&directory.join(path)))
        .filter(|package| !package.starts_with(repository_root) && package.exists())
        .collect()
}

/// The outermost directory with a manifest around a package: its own, or that of the workspace from which
/// it inherits.
fn workspace_around(package: &Path, repository_root: &Path) -> PathBuf {
    let beside_the_repository =
        package.ancestors().take_while(|directory| !repository_root.starts_with(directory));
    let outermost = beside_the_repository.filter(|above| above.join("Cargo.toml").is_file()).last();
    outermost.unwrap_or(package).to_owned()
}

/// Cargo reads its home's configuration anyway; linked too, its lists would count twice.
fn is_cargo_home(directory: &Path) -> bool {
    let home = match std::env::var_os("CARGO_HOME").filter(|home| !home.is_empty()) {
        Some(home) => Some(PathBuf::from(home)),
        None => etcetera::home_dir().ok().map(|home| home.join(".cargo")),
    };
    home.and_then(|home| home.canonicalize().ok()).is_some_and(|home| home == directory)
}

/// The values of `path` keys anywhere in a manifest: dependencies, patches and targets alike. Paths of
/// targets stay in their package, so they do no harm here.
fn dependency_paths(table: &toml::Table) -> Vec<String> {
    let mut paths = Vec::new();
    for (key, value) in table {
        match value {
            toml::Value::String(path) if key == "path" => paths.push(path.clone()),
            toml::Value::Table(inner) => paths.extend(dependency_paths(inner)),
            _ => {}
        }
    }
    paths
}

fn below_file_system_root(path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

fn link(target: &Path, at: &Path) -> Result<()> {
    if at.exists() {
        return Ok(());
    }
    fs::create_dir_all(at.parent().unwrap_or(at))?;
    #[cfg(unix)]
    let linked = fs::os::unix::fs::symlink(target, at);
    #[cfg(windows)]
    let linked = if target.is_dir() {
        fs::os::windows::fs::symlink_dir(target, at)
    } else {
        fs::os::windows::fs::symlink_file(target, at)
    };
    linked.map_err(|error| {
        Error::comparison(format!("cannot link {}, which a manifest depends on", target.display()))
            .because(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_wherever_a_dependency_can_stand() {
        let manifest: toml::Table = r#"
            [dependencies]
            a = { path = "../a" }
            [target.'cfg(unix)'.dev-dependencies.b]
            path = "../../b"
            [workspace.dependencies]
            c = { version = "1", path = "c" }
            [patch.crates-io]
            d = { path = "../d" }
            [[bench]]
            name = "e"
            path = "benches/e.rs"
        "#
        .parse()
        .unwrap();
        let mut paths = dependency_paths(&manifest);
        paths.sort();
        assert_eq!(paths, ["../../b", "../a", "../d", "c"]);
    }

    #[test]
    fn a_checkout_has_the_same_directories_above_it() {
        let place = place_for(Path::new("/home/me/project"), Path::new("/cache/base/tree"));
        assert_eq!(place, Path::new("/cache/base/tree/home/me/project"));
        assert_eq!(normalize(Path::new("/a/b/../c/./d")), Path::new("/a/c/d"));
    }
}
