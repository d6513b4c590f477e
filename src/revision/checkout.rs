//! One side's sources on disk: a detached git worktree that goes away with its value.

use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::model::{PerSide, Side};
use crate::system::Result;

use super::git::Repository;
use super::resolve::{Revision, Source};
use super::slot::Slot;
use super::{mirror, submodules, working_tree};

/// A checked-out revision. Dropping it removes the worktree.
#[derive(Debug)]
pub struct Checkout {
    repository: Repository,
    root: PathBuf,
    tree_directory: PathBuf,
    /// Whether files differ from the commit because the user has not committed them.
    pub dirty: bool,
    /// What the user should know about this checkout.
    pub notes: Vec<String>,
}

/// Checks out every revision, each in the slot's directory for its side.
pub fn check_out(
    repository: &Repository,
    slot: &Slot,
    revisions: &PerSide<Revision>,
) -> Result<PerSide<Checkout>> {
    revisions
        .iter()
        .map(|(side, revision)| Checkout::new(repository, slot, side, revision))
        .collect()
}

impl Checkout {
    fn new(repository: &Repository, slot: &Slot, side: Side, revision: &Revision) -> Result<Self> {
        let tree_directory = slot.tree_directory(side);
        let root = mirror::place_for(repository.root(), &tree_directory);
        fs::create_dir_all(root.parent().unwrap_or(&tree_directory))?;
        // From here on there is something to remove, whatever happens.
        let mut checkout = Self {
            repository: repository.clone(),
            root,
            tree_directory,
            dirty: false,
            notes: Vec::new(),
        };
        let path = checkout.root.as_os_str();
        repository.git([
            "worktree".as_ref(),
            "add".as_ref(),
            "--quiet".as_ref(),
            "--force".as_ref(),
            "--detach".as_ref(),
            path,
            revision.commit.as_ref(),
        ])?;
        if revision.source == Source::WorkingTree {
            let changed = working_tree::copy_changes(repository.root(), &checkout.root)?;
            checkout.dirty = !changed.is_empty();
        }
        let submodules = submodules::populate(repository, &checkout.root, revision.source)?;
        checkout.dirty |= submodules.dirty;
        checkout.notes = submodules.notes;
        checkout.link_surroundings()?;
        Ok(checkout)
    }

    /// Links what its manifests need from outside the repository. To be called again when they have changed.
    pub fn link_surroundings(&self) -> Result<()> {
        mirror::link_surroundings(self.repository.root(), &self.root, &self.tree_directory)
    }

    /// The top directory of the checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of everything that belongs to this side; it stays when the checkout goes.
    pub fn side_directory(&self) -> &Path {
        self.tree_directory.parent().unwrap_or(&self.tree_directory)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // What cannot be removed is left to the next run.
        let _ = std::fs::remove_dir_all(&self.tree_directory);
        let _ = forget_worktrees(&self.repository, &self.tree_directory);
    }
}

/// Removes the repository's records of the worktrees below a directory, and of no others.
///
/// Git is not asked: an interrupt may be the reason for being here, and of a worktree that has lost some
/// of its files `git worktree remove` wants to know nothing.
pub(super) fn forget_worktrees(repository: &Repository, directory: &Path) -> std::io::Result<()> {
    let records = repository.common_directory().join("worktrees");
    if !records.exists() {
        return Ok(());
    }
    let mut removed = false;
    for entry in fs::read_dir(&records)? {
        let record = entry?.path();
        let worktree = std::fs::read_to_string(record.join("gitdir")).unwrap_or_default();
        if Path::new(&worktree).starts_with(directory) {
            fs::remove_dir_all(&record)?;
            removed = true;
        }
    }
    // It is only there while there are worktrees; one that is not empty stays.
    if removed {
        let _ = std::fs::remove_dir(&records);
    }
    Ok(())
}
