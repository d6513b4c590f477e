//! Compiled dependencies of one target directory, taken over into another.
//!
//! Only what cannot differ between revisions is taken: libraries, build script outputs and cargo's
//! records of crates that come from a registry or a git repository. Cargo's own fingerprints decide
//! whether they fit. What path crates compile to is left out, whatever its age: a target directory whose
//! sources are known must never get a path crate's artifact from elsewhere, for cargo would take it as
//! fresh.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fs_err as fs;
use walkdir::WalkDir;

use crate::system::Result;

use super::Selection;

/// Tells artifacts that cannot differ between revisions from those of path crates.
#[derive(Debug, Default)]
pub struct Origins {
    /// The names, as files begin with them, of everything that path crates compile to.
    pub path_crates: BTreeSet<String>,
    /// The hashes of artifacts that this run has seen to come from a registry or a git repository. They
    /// may have the name of a path crate: many crates use an older release of themselves, by way of their
    /// bench harness.
    pub foreign_hashes: BTreeSet<String>,
}

impl Origins {
    fn may_take(&self, unit: &Unit) -> bool {
        self.foreign_hashes.contains(unit.hash)
            || !(self.path_crates.contains(unit.name)
                || self.path_crates.contains(&unit.name.replace('-', "_")))
    }
}

/// The hash in the name of an artifact's file, or of the directory that it lies in.
pub fn hash_of_artifact(file: &Path) -> Option<String> {
    let mut names = [Some(file), file.parent()].into_iter().flatten().filter_map(Path::file_name);
    names.find_map(|name| Some(Unit::of_file(name.to_str()?)?.hash.to_owned()))
}

/// Adds to a target directory what it lacks and any of the others has.
pub fn seed(
    target_directory: &Path,
    others: &[PathBuf],
    selection: &Selection,
    origins: &Origins,
) -> Result<()> {
    for other in others.iter().filter(|other| *other != target_directory) {
        for directory in profile_directories(other, selection.profile_directory()) {
            for part in [".fingerprint", "build", "deps"] {
                let from = other.join(&directory).join(part);
                let to = target_directory.join(&directory).join(part);
                if from.is_dir() {
                    copy_units(&from, &to, origins)?;
                }
            }
        }
    }
    Ok(())
}

/// `release`, and `x86_64-unknown-linux-gnu/release` for every target triple, whoever asked for it.
fn profile_directories(target_directory: &Path, profile: &str) -> Vec<PathBuf> {
    let triples = std::fs::read_dir(target_directory).into_iter().flatten().flatten();
    let of_triples = triples
        .map(|entry| Path::new(&entry.file_name()).join(profile))
        .filter(|directory| target_directory.join(directory).join(".fingerprint").is_dir());
    std::iter::once(PathBuf::from(profile)).chain(of_triples).collect()
}

/// The names, as file names begin with them, of the libraries of every package in a checkout: a path crate
/// need not be a member of the workspace.
pub fn names_of_packages(checkout: &Path) -> Vec<String> {
    let not_git = |entry: &walkdir::DirEntry| entry.file_name() != OsStr::new(".git");
    let manifests = WalkDir::new(checkout).into_iter().filter_entry(not_git).flatten();
    let manifests = manifests.filter(|entry| entry.file_name() == OsStr::new("Cargo.toml"));
    let mut names = Vec::new();
    for manifest in manifests {
        let text = std::fs::read_to_string(manifest.path()).unwrap_or_default();
        // A manifest that cannot be read is cargo's to complain about, if it is used at all.
        let document = text.parse::<toml::Table>().unwrap_or_default();
        for table in ["package", "lib"] {
            let name = document.get(table).and_then(|table| table.get("name"));
            names.extend(name.and_then(|name| name.as_str()).map(|name| name.replace('-', "_")));
        }
    }
    names
}

/// A unit is a file or directory named `name-hash`, or `libname-hash.extension`. Those that exist are
/// left alone.
fn copy_units(from: &Path, to: &Path, origins: &Origins) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(unit) = name.to_str().and_then(Unit::of_file) else { continue };
        if !origins.may_take(&unit) {
            continue;
        }
        let target = to.join(&name);
        if target.exists() {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else if is_library_part(&name.to_string_lossy()) {
            link_or_copy(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// `serde_json` and `0123456789abcdef` of `libserde_json-0123456789abcdef.rlib`.
#[derive(Debug, PartialEq, Eq)]
struct Unit<'a> {
    name: &'a str,
    hash: &'a str,
}

impl<'a> Unit<'a> {
    fn of_file(file_name: &'a str) -> Option<Self> {
        let stem = file_name.split('.').next()?;
        let (name, hash) = stem.rsplit_once('-')?;
        let is_hash = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_library = file_name.contains('.') && !file_name.ends_with(".d");
        let name = if is_library { name.strip_prefix("lib").unwrap_or(name) } else { name };
        is_hash.then_some(Self { name, hash })
    }
}

fn is_library_part(file_name: &str) -> bool {
    let extension = file_name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "rlib" | "rmeta" | "so" | "dylib" | "dll" | "lib" | "d")
}

fn copy_directory(from: &Path, to: &Path) -> Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry.map_err(std::io::Error::from)?;
        let target = to.join(entry.path().strip_prefix(from).unwrap_or(entry.path()));
        if entry.file_type().is_dir() {
            fs::create_dir_all(&target)?;
        } else if entry.file_type().is_file() {
            copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// rustc replaces libraries and their metadata, it never writes into them, so that these can be shared.
/// Everything else is small or may be written in place, and is copied.
fn link_or_copy(from: &Path, to: &Path) -> Result<()> {
    let shareable = matches!(from.extension().and_then(|e| e.to_str()), Some("rlib" | "rmeta"));
    if shareable && std::fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    copy(from, to)
}

/// Cargo judges by time stamps, so they are kept.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)?;
    filetime::set_file_mtime(to, fs::metadata(from)?.modified()?.into())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_recognised_by_their_names() {
        let name = |file| Unit::of_file(file).map(|unit| unit.name);
        assert_eq!(name("libserde_json-0123456789abcdef.rlib"), Some("serde_json"));
        assert_eq!(name("serde_json-0123456789abcdef.d"), Some("serde_json"));
        assert_eq!(name("lib-extra-0123456789abcdef"), Some("lib-extra"));
        assert_eq!(name("libc-0123456789abcdef"), Some("libc"));
        assert_eq!(name("liblibc-0123456789abcdef.rmeta"), Some("libc"));
        assert_eq!(name("demo.rcgu.o"), None);
        assert_eq!(name("name-nothex"), None);
        let hash = |file| hash_of_artifact(Path::new(file));
        assert_eq!(hash("deps/libitoa-0123456789abcdef.rlib").unwrap(), "0123456789abcdef");
        assert_eq!(
            hash("build/libc-0123456789abcdef/build-script-build").unwrap(),
            "0123456789abcdef"
        );
        assert_eq!(hash("release/program"), None);
    }

    #[test]
    fn path_crates_and_executables_are_left_out_and_the_rest_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("a"), directory.path().join("b"));
        let (hash, released) = ("0123456789abcdef", "fedcba9876543210");
        for file in [
            format!("deps/libdependency-{hash}.rlib"),
            format!("deps/libours-{hash}.rlib"),
            format!("deps/libours-{released}.rlib"),
            format!("deps/our_bench-{hash}"),
            format!(".fingerprint/dependency-{hash}/lib-dependency"),
            format!(".fingerprint/our-package-{hash}/lib-ours"),
        ] {
            let path = from.join("release").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let ours = ["ours", "our_package", "our_bench"].map(str::to_owned).into_iter().collect();
        let origins = Origins {
            path_crates: ours,
            foreign_hashes: [released.to_owned()].into_iter().collect(),
        };
        seed(&to, std::slice::from_ref(&from), &Selection::default(), &origins).unwrap();
        let there = |path: String| to.join("release").join(path).exists();
        assert!(there(format!("deps/libdependency-{hash}.rlib")));
        assert!(there(format!(".fingerprint/dependency-{hash}/lib-dependency")));
        assert!(!there(format!("deps/libours-{hash}.rlib")));
        assert!(there(format!("deps/libours-{released}.rlib")));
        assert!(!there(format!("deps/our_bench-{hash}")));
        assert!(!there(format!(".fingerprint/our-package-{hash}")));
    }
}
