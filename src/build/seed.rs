//! Compiled dependencies of one target directory, taken over into another.
//!
//! Only what cannot differ between revisions is taken: libraries, build script outputs and cargo's
//! records of crates that come from a registry or a git repository. Cargo's own fingerprints decide
//! whether they fit. What path crates compile to is left out, whatever its age.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fs_err as fs;
use walkdir::WalkDir;

use crate::error::Result;

use super::Selection;

/// Adds to a target directory what it lacks and any of the others has.
pub fn seed(
    target_directory: &Path,
    others: &[PathBuf],
    selection: &Selection,
    path_crates: &BTreeSet<String>,
) -> Result<()> {
    let profile = PathBuf::from(selection.profile_directory());
    let mut directories = vec![profile.clone()];
    directories.extend(selection.target.iter().map(|triple| Path::new(triple).join(&profile)));
    for other in others.iter().filter(|other| *other != target_directory) {
        for directory in &directories {
            for part in [".fingerprint", "build", "deps"] {
                let from = other.join(directory).join(part);
                let to = target_directory.join(directory).join(part);
                if from.is_dir() {
                    copy_units(&from, &to, path_crates)?;
                }
            }
        }
    }
    Ok(())
}

/// A unit is a file or directory named `name-hash`, or `libname-hash.extension`. Those that exist are
/// left alone.
fn copy_units(from: &Path, to: &Path, path_crates: &BTreeSet<String>) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(unit) = name.to_str().and_then(unit_name) else { continue };
        if path_crates.contains(unit) || path_crates.contains(&unit.replace('-', "_")) {
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

/// `serde_json` of `libserde_json-0123456789abcdef.rlib`.
fn unit_name(file_name: &str) -> Option<&str> {
    let stem = file_name.split('.').next()?;
    let (name, hash) = stem.rsplit_once('-')?;
    let is_hash = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_library = file_name.contains('.') && !file_name.ends_with(".d");
    let name = if is_library { name.strip_prefix("lib").unwrap_or(name) } else { name };
    is_hash.then_some(name)
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
        assert_eq!(unit_name("libserde_json-0123456789abcdef.rlib"), Some("serde_json"));
        assert_eq!(unit_name("serde_json-0123456789abcdef.d"), Some("serde_json"));
        assert_eq!(unit_name("lib-extra-0123456789abcdef"), Some("lib-extra"));
        assert_eq!(unit_name("libc-0123456789abcdef"), Some("libc"));
        assert_eq!(unit_name("liblibc-0123456789abcdef.rmeta"), Some("libc"));
        assert_eq!(unit_name("demo.rcgu.o"), None);
        assert_eq!(unit_name("name-nothex"), None);
    }

    #[test]
    fn path_crates_and_executables_are_left_out_and_the_rest_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("a"), directory.path().join("b"));
        let hash = "0123456789abcdef";
        for file in [
            format!("deps/libdependency-{hash}.rlib"),
            format!("deps/libours-{hash}.rlib"),
            format!("deps/our_bench-{hash}"),
            format!(".fingerprint/dependency-{hash}/lib-dependency"),
            format!(".fingerprint/our-package-{hash}/lib-ours"),
        ] {
            let path = from.join("release").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let ours = ["ours", "our_package", "our_bench"].map(str::to_owned).into_iter().collect();
        seed(&to, std::slice::from_ref(&from), &Selection::default(), &ours).unwrap();
        let there = |path: String| to.join("release").join(path).exists();
        assert!(there(format!("deps/libdependency-{hash}.rlib")));
        assert!(there(format!(".fingerprint/dependency-{hash}/lib-dependency")));
        assert!(!there(format!("deps/libours-{hash}.rlib")));
        assert!(!there(format!("deps/our_bench-{hash}")));
        assert!(!there(format!(".fingerprint/our-package-{hash}")));
    }
}
