//! Where everything is kept that outlives a run.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use fs_err as fs;

use crate::system::{Error, Result};

use super::git::Repository;
use super::slot::Slot;

/// Names the cache directory, instead of the platform's usual one.
pub const CACHE_VARIABLE: &str = "CARGO_BENCH_COMPARE_CACHE";

/// The cache directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache(PathBuf);

impl Cache {
    /// The one that the environment names (`CARGO_BENCH_COMPARE_CACHE`), else the platform's usual one.
    pub fn from_environment() -> Result<Self> {
        if let Some(directory) = std::env::var_os(CACHE_VARIABLE).filter(|name| !name.is_empty()) {
            return Self::at(Path::new(&directory));
        }
        let strategy = etcetera::choose_base_strategy().map_err(|error| {
            Error::comparison("cannot find the user's cache directory")
                .because(error)
                .help(format!("set {CACHE_VARIABLE} to a directory"))
        })?;
        Self::at(&strategy.cache_dir().join("cargo-bench-compare"))
    }

    /// A directory, which is made if it is not there.
    pub fn at(directory: &Path) -> Result<Self> {
        fs::create_dir_all(directory)?;
        // Git and cargo resolve links; so must we, to recognise our own paths in what they print.
        Ok(Self(fs::canonicalize(directory)?))
    }

    /// The part that belongs to one repository: its name, and a hash of its path.
    pub fn of_repository(&self, repository: &Repository) -> PathBuf {
        self.named(repository.root(), repository.common_directory())
    }

    /// A directory with the name of one, told apart from others by the hash of a path.
    fn named(&self, directory: &Path, path: &Path) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        // Build artifacts go there, and not every linker can write to every name.
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().map(plain).collect();
        self.0.join(format!("{name}-{:08x}", hasher.finish() as u32))
    }

    /// The part that belongs to a directory in which programs are compared, outside of any repository.
    pub fn of_directory(&self, directory: &Path) -> PathBuf {
        let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        self.named(&directory, &directory)
    }

    /// Where one version of a tool is looked for, whatever versions are installed elsewhere.
    pub fn of_tool(&self, name: &str, version: &str) -> PathBuf {
        self.0.join("tools").join(format!("{name}-{version}"))
    }

    /// Removes what comparisons of programs kept for a directory, and returns what was removed.
    pub fn clean_directory(&self, directory: &Path) -> Result<Option<PathBuf>> {
        let kept = self.of_directory(directory);
        if !kept.exists() {
            return Ok(None);
        }
        fs::remove_dir_all(&kept)?;
        Ok(Some(kept))
    }

    /// Removes everything that earlier runs kept for a repository. Fails if one is still running.
    ///
    /// Returns the directory that was removed, or `None` if there was nothing.
    pub fn clean(&self, repository: &Repository) -> Result<Option<PathBuf>> {
        let directory = self.of_repository(repository);
        if !directory.exists() {
            return Ok(None);
        }
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("slot-")) {
                continue;
            }
            let slot = Slot::try_lock(path)?.ok_or_else(|| {
                Error::comparison("a comparison of this repository is still running")
                    .help("wait for its end, or stop it, then clean again")
            })?;
            slot.remove_left_overs(repository)?;
        }
        fs::remove_dir_all(&directory)?;
        Ok(Some(directory))
    }
}
