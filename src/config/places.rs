//! Where the configuration is looked for: in the user's own checkout, whatever revisions are compared, so that all
//! sides are measured alike.

use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;

/// The name of the file.
pub const FILE_NAME: &str = "bench-compare.toml";

/// The nearest `bench-compare.toml` from a directory upwards to the top of its repository. Outside of a repository only
/// the directory itself counts: whoever may write further up should not decide what runs here.
pub fn find_file(directory: &Path) -> Option<PathBuf> {
    let top = directory.ancestors().find(|ancestor| ancestor.join(".git").exists());
    for ancestor in directory.ancestors() {
        let file = ancestor.join(FILE_NAME);
        if file.is_file() {
            return Some(file);
        }
        if top.is_none_or(|top| top == ancestor) {
            break;
        }
    }
    None
}

/// A Cargo manifest of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Where it lies.
    pub path: PathBuf,
    /// The package in it that is read, or `None` for the workspace in it.
    pub package: Option<String>,
    /// Whether it is the package in whose directory the comparison is asked for.
    pub is_nearest: bool,
}

/// The manifests in which configuration may stand, in the order of their precedence: the package in whose directory the
/// comparison is asked for, the other packages, the workspace. The error is why cargo could not tell.
pub fn manifests(directory: &Path, manifest_path: Option<&Path>) -> Result<Vec<Manifest>, String> {
    let nearest = match manifest_path {
        Some(path) => Some(directory.join(path)),
        None => directory.ancestors().map(|d| d.join("Cargo.toml")).find(|file| file.is_file()),
    };
    let Some(nearest) = nearest.filter(|file| file.is_file()) else { return Ok(Vec::new()) };
    let metadata = MetadataCommand::new()
        .manifest_path(&nearest)
        .current_dir(directory)
        .no_deps()
        .exec()
        .map_err(|error| error.to_string())?;
    let nearest = nearest.canonicalize().unwrap_or(nearest);
    let mut packages: Vec<Manifest> = metadata
        .workspace_packages()
        .into_iter()
        .map(|package| {
            let path = package.manifest_path.clone().into_std_path_buf();
            let is_nearest = path.canonicalize().is_ok_and(|path| path == nearest);
            Manifest { path, package: Some(package.name.to_string()), is_nearest }
        })
        .collect();
    packages.sort_by_key(|manifest| !manifest.is_nearest);
    let root = metadata.workspace_root.join("Cargo.toml").into_std_path_buf();
    packages.push(Manifest { path: root, package: None, is_nearest: false });
    Ok(packages)
}
