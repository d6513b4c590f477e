//! The user's uncommitted changes, copied into a checkout of HEAD. The user's index is only read.

use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::error::Result;

use super::git::{git, nul_separated};

/// Makes the checkout like the user's working tree: changed, deleted and untracked files, but none that
/// git ignores. Returns the paths that differ from HEAD.
pub fn copy_changes(from: &Path, to: &Path) -> Result<Vec<PathBuf>> {
    // Plumbing, because porcelain would refresh the user's index. It may list files whose time stamps
    // alone have changed.
    let tracked = git(from, ["diff-index", "--name-only", "--no-renames", "-z", "HEAD"])?;
    let untracked = git(from, ["ls-files", "--others", "--exclude-standard", "-z"])?;
    let mut changed = Vec::new();
    for path in nul_separated(&tracked).chain(nul_separated(&untracked)) {
        let (source, target) = (from.join(path), to.join(path));
        // Submodules and repositories in the repository are directories here.
        if source.is_dir() && !source.is_symlink() {
            continue;
        }
        if same_content(&source, &target) {
            continue;
        }
        remove_if_there(&target)?;
        copy(&source, &target)?;
        changed.push(PathBuf::from(path));
    }
    Ok(changed)
}

fn same_content(a: &Path, b: &Path) -> bool {
    if a.is_symlink() || b.is_symlink() {
        return false;
    }
    let same_permissions = || {
        let permissions = |path| std::fs::metadata(path).map(|metadata| metadata.permissions());
        matches!((permissions(a), permissions(b)), (Ok(a), Ok(b)) if a == b)
    };
    matches!((std::fs::read(a), std::fs::read(b)), (Ok(a), Ok(b)) if a == b) && same_permissions()
}

fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// Copies a file or a symbolic link, if there is one.
fn copy(source: &Path, target: &Path) -> std::io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(source) else { return Ok(()) };
    fs::create_dir_all(target.parent().unwrap_or(target))?;
    if metadata.is_symlink() {
        let destination = fs::read_link(source)?;
        #[cfg(unix)]
        return fs::os::unix::fs::symlink(destination, target);
        #[cfg(windows)]
        return fs::os::windows::fs::symlink_file(destination, target);
    }
    fs::copy(source, target).map(drop)
}
