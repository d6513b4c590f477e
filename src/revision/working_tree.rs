//! The user's uncommitted changes, copied into a checkout of HEAD. The user's index is only read.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::system::Result;

use super::git::{git, nul_separated};

/// Makes the checkout like the user's working tree: changed, deleted and untracked files, but none that
/// git ignores. Returns the paths that differ from HEAD.
pub fn copy_changes(from: &Path, to: &Path) -> Result<Vec<PathBuf>> {
    // Plumbing, because porcelain would refresh the user's index. It may list files whose time stamps
    // alone have changed.
    let tracked = git(from, ["diff-index", "--name-only", "--no-renames", "-z", "HEAD"])?;
    let untracked = git(from, ["ls-files", "--others", "--exclude-standard", "-z"])?;
    let changed: Vec<PathBuf> = nul_separated(&tracked)
        .chain(nul_separated(&untracked))
        .map(PathBuf::from)
        .filter(|path| differs(from, to, path))
        .collect();
    // First everything goes that is in the way: files that became directories, and links, through which
    // one would write elsewhere.
    for path in &changed {
        remove(from, to, path)?;
    }
    for path in &changed {
        copy(from, to, path)?;
    }
    Ok(changed)
}

/// What lies at a path of a tree. Below a link there is nothing: git sees the link alone.
fn metadata(tree: &Path, path: &Path) -> Option<Metadata> {
    let mut parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    if parents.any(|parent| tree.join(parent).is_symlink()) {
        return None;
    }
    std::fs::symlink_metadata(tree.join(path)).ok()
}

fn differs(from: &Path, to: &Path, path: &Path) -> bool {
    let (source, target) = (from.join(path), to.join(path));
    match (metadata(from, path), metadata(to, path)) {
        // Submodules, and repositories in the repository.
        (Some(a), b) if a.is_dir() => b.is_some_and(|b| !b.is_dir()),
        (Some(a), Some(b)) if a.is_symlink() && b.is_symlink() => {
            fs::read_link(source).ok() != fs::read_link(target).ok()
        }
        (Some(a), Some(b)) if a.is_file() && b.is_file() => {
            is_executable(&a) != is_executable(&b)
                || !matches!((std::fs::read(source), std::fs::read(target)), (Ok(a), Ok(b)) if a == b)
        }
        (a, b) => a.is_some() || b.is_some(),
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

/// Removes what the checkout has at a path, and the directories above it that are empty then and that the
/// user has not got.
fn remove(from: &Path, to: &Path, path: &Path) -> std::io::Result<()> {
    match metadata(to, path) {
        Some(there) if there.is_dir() => fs::remove_dir_all(to.join(path))?,
        Some(_) => fs::remove_file(to.join(path))?,
        None => return Ok(()),
    }
    for parent in path.ancestors().skip(1).take_while(|parent| !from.join(parent).is_dir()) {
        if std::fs::remove_dir(to.join(parent)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Copies a file or a symbolic link, if there is one.
fn copy(from: &Path, to: &Path, path: &Path) -> std::io::Result<()> {
    let Some(kind) = metadata(from, path).map(|metadata| metadata.file_type()) else {
        return Ok(());
    };
    if kind.is_dir() {
        return Ok(());
    }
    let (source, target) = (from.join(path), to.join(path));
    fs::create_dir_all(target.parent().unwrap_or(&target))?;
    if kind.is_symlink() {
        let destination = fs::read_link(source)?;
        #[cfg(unix)]
        return fs::os::unix::fs::symlink(destination, target);
        #[cfg(windows)]
        return fs::os::windows::fs::symlink_file(destination, target);
    }
    fs::copy(source, target).map(drop)
}
