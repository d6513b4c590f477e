//! Where checkouts and build artifacts live between and during runs.
//!
//! Every repository has a directory in the cache, with *slots*: a run locks one, so that two runs at
//! once never share a path, and the same slot is used again by the next run, so that paths stay the
//! same and cargo finds its artifacts. Build artifacts stay; worktrees do not: a worktree found in a
//! slot that nobody holds was left over by a killed run and is removed.

use std::fs::{File, TryLockError};
use std::path::PathBuf;

use fs_err as fs;

use crate::model::Side;
use crate::system::{Error, Result};

use super::cache::{CACHE_VARIABLE, Cache};
use super::checkout::forget_worktrees;
use super::git::Repository;

/// A directory that this run alone uses, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    directory: PathBuf,
    _lock: File,
}

impl Slot {
    /// Takes the first free slot of the repository, and clears away what killed runs left in any.
    pub fn acquire(repository: &Repository, cache: &Cache) -> Result<Self> {
        let cache = cache.of_repository(repository);
        if cache.starts_with(repository.root()) && !repository.is_bare() {
            return Err(Error::usage(format!(
                "the cache directory {} lies inside the repository",
                cache.display()
            ))
            .because(
                "a worktree in there would inherit cargo's configuration of the checked-out tree",
            )
            .help(format!("set {CACHE_VARIABLE} to a directory elsewhere")));
        }
        fs::create_dir_all(&cache)?;
        let mut taken = None;
        for number in 0.. {
            let slot = cache.join(format!("slot-{number}"));
            let exists = slot.exists();
            if !exists && taken.is_some() {
                break;
            }
            if let Some(slot) = Self::try_lock(slot)? {
                slot.remove_left_overs(repository)?;
                taken.get_or_insert(slot);
            }
        }
        Ok(taken.expect("the loop ends with a slot"))
    }

    pub(super) fn try_lock(directory: PathBuf) -> Result<Option<Self>> {
        fs::create_dir_all(&directory)?;
        let file = fs::File::create(directory.join("lock"))?.into_file();
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { directory, _lock: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(Error::comparison(format!("cannot lock {}", directory.display()))
                    .because(error)
                    .help(format!("set {CACHE_VARIABLE} to a directory on a local disk")))
            }
        }
    }

    pub(super) fn remove_left_overs(&self, repository: &Repository) -> Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let tree = entry?.path().join("tree");
            if tree.exists() {
                fs::remove_dir_all(&tree)?;
            }
        }
        forget_worktrees(repository, &self.directory)?;
        Ok(())
    }

    /// The directory of everything that belongs to one side. The paths of all sides have equal lengths.
    pub fn side_directory(&self, side: Side) -> PathBuf {
        self.directory.join(side.directory_name())
    }

    /// The parent of one side's checkout; removed with it.
    pub(super) fn tree_directory(&self, side: Side) -> PathBuf {
        self.side_directory(side).join("tree")
    }
}
