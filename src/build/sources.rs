//! What the files of a checkout are, and time stamps that tell cargo the truth about them.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fs_err as fs;
use walkdir::{DirEntry, WalkDir};

use crate::system::Result;

/// In the target directory: the digest of the sources that were built there last, and the time stamp
/// that they had, in nanoseconds since 1970.
const RECORD: &str = ".cargo-bench-compare-sources";

/// In the target directory: the digest of the vendored packages that it was made with.
const VENDORED_RECORD: &str = ".cargo-bench-compare-vendored";

/// The content of every file of a checkout, by its path in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceTree {
    root: PathBuf,
    files: BTreeMap<PathBuf, u64>,
    read_at: SystemTime,
}

impl SourceTree {
    /// Reads a checkout, git's own files left out.
    pub fn read(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for entry in entries(root) {
            let entry = entry.map_err(std::io::Error::from)?;
            let path = entry.path();
            let content = if entry.file_type().is_symlink() {
                fs::read_link(path)?.into_os_string().into_encoded_bytes()
            } else if entry.file_type().is_file() {
                fs::read(path)?
            } else {
                continue;
            };
            let mut hasher = DefaultHasher::new();
            hasher.write(&content);
            let relative = path.strip_prefix(root).unwrap_or(path).to_owned();
            files.insert(relative, hasher.finish());
        }
        Ok(Self { root: root.to_owned(), files, read_at: SystemTime::now() })
    }

    /// Gives every file and directory one time stamp: that of the last build in this target directory if
    /// that was a build of exactly these files, so that nothing needs to be rebuilt; else the present
    /// time, so that everything is. Returns whether it was the former.
    ///
    /// The record of the last build is taken away; [`remember`](Self::remember) makes a new one once the
    /// build has succeeded.
    pub fn renew_time_stamps(&self, target_directory: &Path) -> Result<bool> {
        let record = target_directory.join(RECORD);
        let last = std::fs::read_to_string(&record).unwrap_or_default();
        let known = last
            .split_once(' ')
            .filter(|(digest, _)| *digest == self.digest())
            .and_then(|(_, nanoseconds)| nanoseconds.trim().parse().ok())
            .map(|nanoseconds| SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds));
        if record.exists() {
            fs::remove_file(&record)?;
        }
        let stamp = known.unwrap_or(self.read_at);
        for entry in entries(&self.root) {
            let entry = entry.map_err(std::io::Error::from)?;
            if !entry.file_type().is_symlink() {
                filetime::set_file_mtime(entry.path(), stamp.into())?;
            }
        }
        if known.is_some() {
            self.write_record(target_directory, stamp)?;
        }
        Ok(known.is_some())
    }

    /// Notes that the target directory now holds a build of these files.
    pub fn remember(&self, target_directory: &Path) -> Result<()> {
        if target_directory.join(RECORD).exists() {
            return Ok(());
        }
        self.write_record(target_directory, self.read_at)
    }

    fn write_record(&self, target_directory: &Path, stamp: SystemTime) -> Result<()> {
        let since = stamp.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let record = format!("{} {}\n", self.digest(), since.as_nanos());
        fs::create_dir_all(target_directory)?;
        fs::write(target_directory.join(RECORD), record)?;
        Ok(())
    }

    /// Empties a target directory that was made with other vendored packages. Cargo takes such a package
    /// for fresh as long as its version is the same, whatever its files and their time stamps are.
    pub fn clear_if_vendored_differs(&self, target_directory: &Path) -> Result<()> {
        let record = target_directory.join(VENDORED_RECORD);
        let present = self.digest_of_vendored().unwrap_or_default();
        if std::fs::read_to_string(&record).unwrap_or_default() == present {
            return Ok(());
        }
        if target_directory.exists() {
            fs::remove_dir_all(target_directory)?;
        }
        fs::create_dir_all(target_directory)?;
        Ok(fs::write(record, present)?)
    }

    fn digest_of_vendored(&self) -> Option<String> {
        let checksums = self.files.keys().filter(|path| path.ends_with(".cargo-checksum.json"));
        let packages: HashSet<&Path> = checksums.filter_map(|path| path.parent()).collect();
        let vendored = |path: &Path| path.ancestors().any(|directory| packages.contains(directory));
        let files = self.files.iter().filter(|(path, _)| vendored(path));
        (!packages.is_empty()).then(|| digest(files))
    }

    /// What tells these files from all others, by their paths and contents.
    pub fn digest(&self) -> String {
        digest(&self.files)
    }

    /// The files that differ between two checkouts and that a benchmark could read while it runs.
    pub fn changed_data<'a>(&'a self, other: &'a Self) -> Vec<&'a Path> {
        let paths = self.files.keys().chain(other.files.keys());
        let mut changed: Vec<&Path> = paths
            .filter(|path| self.files.get(*path) != other.files.get(*path))
            .map(PathBuf::as_path)
            .filter(|path| may_be_read_at_run_time(path))
            .collect();
        changed.sort_unstable();
        changed.dedup();
        changed
    }
}

fn digest<'a>(files: impl IntoIterator<Item = (&'a PathBuf, &'a u64)>) -> String {
    let mut hasher = DefaultHasher::new();
    for (path, content) in files {
        hasher.write(path.as_os_str().as_encoded_bytes());
        hasher.write_u64(*content);
    }
    format!("{:016x}", hasher.finish())
}

fn entries(root: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    WalkDir::new(root).into_iter().filter_entry(|entry| entry.file_name() != OsStr::new(".git"))
}

/// Directories of data, where even a Rust source may be what a benchmark reads: of a parser, say.
const DATA_DIRECTORIES: [&str; 8] =
    ["data", "testdata", "test_data", "fixtures", "inputs", "samples", "corpus", "assets"];

/// Whether a change of this file could change what a benchmark does without changing its code. Sources
/// and manifests act through the code; documentation and configuration of other tools do not act. Every
/// other file may be data.
fn may_be_read_at_run_time(path: &Path) -> bool {
    let parts: Vec<String> =
        path.iter().map(|part| part.to_string_lossy().to_ascii_lowercase()).collect();
    let Some((name, directories)) = parts.split_last() else { return false };
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let stem = name.split('.').next().unwrap_or(name);
    let is_among_data = !directories.iter().any(|part| part == "src")
        && directories.iter().any(|part| DATA_DIRECTORIES.contains(&part.as_str()));
    let is_code = (extension == Some("rs") && !is_among_data)
        || matches!(name.as_str(), "cargo.toml" | "cargo.lock");
    let is_hidden = parts.iter().any(|part| part.starts_with('.'));
    let is_documentation = directories.iter().any(|part| part == "doc" || part == "docs");
    let is_about_the_project = directories.is_empty()
        && (matches!(extension, Some("md" | "rst" | "adoc" | "toml" | "yml" | "yaml" | "nix"))
            || ["license", "licence", "copying", "authors", "changelog", "readme", "notice"]
                .iter()
                .any(|known| stem.starts_with(known)));
    let is_readme = stem == "readme" || stem == "changelog" || stem.starts_with("license");
    !(is_code || is_hidden || is_documentation || is_about_the_project || is_readme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_told_from_documentation_and_code() {
        for path in [
            "src/lib.rs",
            "src/data/mod.rs",
            "Cargo.toml",
            "crates/a/Cargo.toml",
            "README.md",
            "crates/a/README.md",
            "CHANGELOG.md",
            "LICENSE-MIT",
            "docs/guide/book.html",
            ".github/workflows/ci.yml",
            "rustfmt.toml",
        ] {
            assert!(!may_be_read_at_run_time(Path::new(path)), "{path}");
        }
        for path in [
            "benches/input.json",
            "data/words.txt",
            "benches/sample.md",
            "input.bin",
            "benches/data/a.rs",
        ] {
            assert!(may_be_read_at_run_time(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn the_same_sources_keep_their_time_stamp_and_others_get_a_new_one() {
        let directory = tempfile::tempdir().unwrap();
        let (root, target) = (directory.path().join("tree"), directory.path().join("target"));
        fs::create_dir_all(root.join("src")).unwrap();
        let file = root.join("src/lib.rs");
        let stamp = || fs::metadata(&file).unwrap().modified().unwrap();

        fs::write(&file, "one").unwrap();
        let first = SourceTree::read(&root).unwrap();
        assert!(!first.renew_time_stamps(&target).unwrap());
        first.remember(&target).unwrap();
        let built_with = stamp();

        // As a new checkout of the same files at the same place.
        fs::write(&file, "one").unwrap();
        assert!(SourceTree::read(&root).unwrap().renew_time_stamps(&target).unwrap());
        assert_eq!(stamp(), built_with);

        fs::write(&file, "two").unwrap();
        let second = SourceTree::read(&root).unwrap();
        assert!(!second.renew_time_stamps(&target).unwrap());
        assert!(stamp() > built_with);

        // The build of `two` failed, so nothing was remembered; back to `one` is a rebuild too.
        fs::write(&file, "one").unwrap();
        assert!(!SourceTree::read(&root).unwrap().renew_time_stamps(&target).unwrap());
    }
}
