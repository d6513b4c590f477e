//! Which files a package's benchmarks are made of, and laying them over another checkout.
//!
//! Benchmarks are the directories in which the sources of bench targets lie (`benches/`), whole, and what these sources
//! name: every text in them that is the path of a file or a directory, seen from the source, the package or the
//! top of the checkout (`include_bytes!("../data/words.txt")`, `File::open("testdata/a.json")`). The code that is
//! measured is none of that: nothing below a `src` directory, and no manifest, is ever laid over another one.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use fs_err as fs;
use regex::Regex;
use walkdir::{DirEntry, WalkDir};

use crate::system::{Result, normalize};

/// Where cargo looks for bench targets by itself.
pub const BENCHES: &str = "benches";

/// The directories of a package that are benchmarks, and single sources elsewhere; all relative to the
/// package. `sources` are the main files of its bench targets.
pub fn bench_places(package: &Path, sources: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut places: BTreeSet<PathBuf> = sources.iter().map(|source| place_of(source)).collect();
    places.insert(PathBuf::from(BENCHES));
    // The benchmarks of another package that lies within this one are not this one's.
    places.retain(|place| !package.join(place).join("Cargo.toml").exists());
    places
}

/// `benches` for `benches/parse/main.rs`, but the source alone if it lies beside the library or the manifest.
fn place_of(source: &Path) -> PathBuf {
    let directory = source.parent().unwrap_or(Path::new(""));
    let mut parts = directory.components();
    match parts.next() {
        None | Some(Component::ParentDir) => source.to_owned(),
        Some(first) if first.as_os_str() != "src" => PathBuf::from(first.as_os_str()),
        Some(_) if parts.next().is_none() => source.to_owned(),
        Some(_) => directory.to_owned(),
    }
}

/// The files and directories of a checkout, by their absolute paths, that the Rust sources in these places name,
/// directly or through other sources outside them. `places` are absolute.
pub fn named_places(checkout: &Path, package: &Path, places: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut named = BTreeSet::new();
    let mut left: Vec<PathBuf> = places.iter().flat_map(|place| rust_sources(place)).collect();
    let mut seen: BTreeSet<PathBuf> = left.iter().cloned().collect();
    while let Some(source) = left.pop() {
        let text = std::fs::read_to_string(&source).unwrap_or_default();
        for path in texts(&text) {
            let from = [source.parent().unwrap_or(package), package, checkout];
            // `concat!(env!("CARGO_MANIFEST_DIR"), "/data")`
            let path = path.trim_start_matches('/');
            let place = from
                .iter()
                .map(|directory| normalize(&directory.join(path)))
                .find(|place| place.starts_with(checkout) && place.exists());
            let Some(place) = place.filter(|place| may_be_laid_over(place, checkout, package))
            else {
                continue;
            };
            for source in rust_sources(&place) {
                if seen.insert(source.clone()) {
                    left.push(source);
                }
            }
            named.insert(place);
        }
    }
    named
}

static TEXT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""([^"\\\n]{1,200})""#).expect("the pattern is right"));

fn texts(source: &str) -> impl Iterator<Item = &str> {
    let texts = TEXT.captures_iter(source).filter_map(|captures| captures.get(1));
    texts.filter_map(|text| match text.as_str().split_once('{') {
        // `format!("data/{name}.json")`
        Some((before, _)) => before.rsplit_once('/').map(|(directory, _)| directory),
        None => Some(text.as_str()),
    })
}

/// Whether a place that a benchmark names is data or code of benchmarks.
fn may_be_laid_over(place: &Path, checkout: &Path, package: &Path) -> bool {
    let Ok(relative) = place.strip_prefix(checkout) else { return false };
    let parts = || relative.components().map(Component::as_os_str);
    let is_measured_code = parts().any(|part| part == "src");
    let is_about_packages = parts().any(|part| part == "Cargo.toml" || part == "Cargo.lock");
    let is_hidden = parts().any(|part| part.to_string_lossy().starts_with('.'));
    let has_a_package = package.starts_with(place)
        || (place.is_dir()
            && files(place).any(|file| {
                file.file_name() == "Cargo.toml"
                    || file.path().components().any(|p| p.as_os_str() == "src")
            }));
    !(is_measured_code || is_about_packages || is_hidden || has_a_package)
}

fn rust_sources(place: &Path) -> Vec<PathBuf> {
    let is_rust = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
    files(place).map(DirEntry::into_path).filter(|path| is_rust(path)).collect()
}

fn files(place: &Path) -> impl Iterator<Item = DirEntry> {
    let not_git = |entry: &DirEntry| entry.file_name() != ".git";
    let entries = WalkDir::new(place).sort_by_file_name().into_iter().filter_entry(not_git);
    entries.flatten().filter(|entry| !entry.file_type().is_dir())
}

/// Makes a place of a checkout what it is in another: what was there goes, unless it has a package of its own
/// in it.
pub fn replace(from: &Path, to: &Path) -> Result<()> {
    if to.join("Cargo.toml").exists() {
        return lay_over(from, to);
    }
    match fs::symlink_metadata(to) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(to)?,
        Ok(_) => fs::remove_file(to)?,
        Err(_) => {}
    }
    lay_over(from, to)
}

/// Copies a file or everything in a directory. What is in the way goes, everything else stays.
pub fn lay_over(from: &Path, to: &Path) -> Result<()> {
    for file in files(from) {
        let relative = file.path().strip_prefix(from).unwrap_or(file.path());
        let target =
            if relative.as_os_str().is_empty() { to.to_owned() } else { to.join(relative) };
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        if let Ok(there) = fs::symlink_metadata(&target) {
            if there.is_dir() { fs::remove_dir_all(&target)? } else { fs::remove_file(&target)? }
        }
        copy(file.path(), &target)?;
    }
    Ok(())
}

#[cfg(unix)]
fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_symlink() {
        return Ok(fs::os::unix::fs::symlink(fs::read_link(from)?, to)?);
    }
    fs::copy(from, to)?;
    Ok(())
}

#[cfg(not(unix))]
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_source_is_its_top_directory_unless_that_has_the_measured_code() {
        for (source, place) in [
            ("benches/a.rs", "benches"),
            ("benches/a/main.rs", "benches"),
            ("perf/deep/a.rs", "perf"),
            ("bench.rs", "bench.rs"),
            ("src/bench.rs", "src/bench.rs"),
            ("src/benches/a.rs", "src/benches"),
            ("../shared/a.rs", "../shared/a.rs"),
        ] {
            assert_eq!(place_of(Path::new(source)), Path::new(place), "{source}");
        }
    }

    #[test]
    fn data_that_sources_name_is_found_and_measured_code_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let write = |path: &str, text: &str| {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        };
        write("Cargo.toml", "");
        write("README.md", "");
        write("data/words.txt", "");
        write("testdata/deep/a.json", "");
        write("top.bin", "");
        write("inputs/4/1.txt", "");
        write("src/lib.rs", "");
        write("sub/Cargo.toml", "");
        write("tests/common/mod.rs", r#"const A: &[u8] = include_bytes!("../../top.bin");"#);
        write(
            "benches/a.rs",
            r##"include_str!("../data/words.txt"); open(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata"));
            #[path = "../tests/common/mod.rs"] mod common; "inputs/{size}/{n}.txt"; "src"; "src/lib.rs"; "../src/lib.rs"; "Cargo.toml"; ".";
            "sub"; "benches"; "nothing"; "../../../etc/hostname"; "/etc/hostname"; r#"README.md"#; """##,
        );
        let named = named_places(root, root, &[root.join("benches")]);
        let relative: Vec<_> =
            named.iter().map(|place| place.strip_prefix(root).unwrap()).collect();
        let expected = [
            "README.md",
            "benches",
            "data/words.txt",
            "inputs",
            "testdata",
            "tests/common/mod.rs",
            "top.bin",
        ];
        assert_eq!(relative, expected.map(Path::new));
    }

    #[test]
    fn a_place_is_replaced_whole_and_laying_over_leaves_the_rest() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        for (path, text) in [("from/a", "new"), ("to/a/in_the_way", ""), ("to/b", "old")] {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        lay_over(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "new");
        assert!(to.join("b").exists());
        replace(&from, &to).unwrap();
        assert!(to.join("a").exists() && !to.join("b").exists());
    }
}
