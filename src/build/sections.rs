//! Whether two executables are the same code: their loaded sections are compared.
//!
//! What cannot be told is taken for different, and is measured. Two cases are known. Cargo derives the
//! symbol names of a package outside the workspace's root directory from its absolute path, which differs
//! from side to side, and with the names go type ids and the order of functions. So what uses such a
//! package is measured even if nothing in it changed. The same holds where only a package's version did.

use std::path::{Path, PathBuf};

use fs_err as fs;
use object::{Object, ObjectSection, SectionFlags, SectionKind};

use crate::system::{Error, Result};

use super::{BenchExecutable, SideBuild};

/// What comparing the code of two executables says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeComparison {
    /// The same code, and nothing else has changed that it could run, load or read.
    Identical,
    /// The same code, but something changed that it may run, load or read; what, in words.
    IdenticalBut(String),
    /// Different code, or it cannot be told.
    Different,
}

/// Compares the executables of one target on two sides.
///
/// Debug information, symbols and build ids are not loaded and do not count. Absolute paths into the
/// sides' directories count as equal: they have equal lengths.
pub fn compare_code(
    base: (&SideBuild, &BenchExecutable),
    head: (&SideBuild, &BenchExecutable),
) -> Result<CodeComparison> {
    let ((base, base_executable), (head, head_executable)) = (base, head);
    let directories = (base.directory.as_path(), head.directory.as_path());
    if !same_code(&base_executable.path, &head_executable.path, directories)? {
        return Ok(CodeComparison::Different);
    }
    let relative = |build: &SideBuild| -> Vec<PathBuf> {
        let below = |path: &PathBuf| path.strip_prefix(&build.directory).unwrap_or(path).to_owned();
        let mut paths: Vec<PathBuf> = build.companions.iter().map(below).collect();
        paths.sort();
        paths
    };
    let (base_companions, head_companions) = (relative(base), relative(head));
    if base_companions != head_companions {
        return Ok(CodeComparison::Different);
    }
    let changed = |path: &Path| format!("`{}` changed", path.display());
    for path in &base_companions {
        if !same_code(&base.directory.join(path), &head.directory.join(path), directories)? {
            return Ok(CodeComparison::IdenticalBut(changed(path)));
        }
    }
    let data = base.sources.changed_data(&head.sources).first().copied().map(changed);
    let launch = || base_executable.launch.difference(&head_executable.launch, directories);
    Ok(match data.or_else(launch) {
        Some(what) => CodeComparison::IdenticalBut(what),
        None => CodeComparison::Identical,
    })
}

fn same_code(base: &Path, head: &Path, directories: (&Path, &Path)) -> Result<bool> {
    let (base_bytes, head_bytes) = (fs::read(base)?, fs::read(head)?);
    if base_bytes == head_bytes {
        return Ok(true);
    }
    let base = loaded_sections(base, &base_bytes)?;
    let mut head = loaded_sections(head, &head_bytes)?;
    let side = |directory: &Path| directory.as_os_str().as_encoded_bytes().to_vec();
    let (from, to) = (side(directories.1), side(directories.0));
    for section in &mut head {
        replace_all(&mut section.content, &from, &to);
    }
    Ok(base == head)
}

#[derive(Debug, PartialEq, Eq)]
struct Section {
    name: Vec<u8>,
    address: u64,
    size: u64,
    content: Vec<u8>,
}

fn loaded_sections(path: &Path, bytes: &[u8]) -> Result<Vec<Section>> {
    let unreadable = |error: object::Error| {
        Error::comparison(format!("cannot read the executable {}", path.display())).because(error)
    };
    let file = object::File::parse(bytes).map_err(unreadable)?;
    let mut sections = Vec::new();
    for section in file.sections().filter(is_loaded) {
        sections.push(Section {
            name: section.name_bytes().map_err(unreadable)?.to_vec(),
            address: section.address(),
            size: section.size(),
            content: section.data().map_err(unreadable)?.to_vec(),
        });
    }
    Ok(sections)
}

/// Whether a section is loaded into memory, and tells what a program does.
pub fn is_loaded<'data>(section: &impl ObjectSection<'data>) -> bool {
    match section.flags() {
        // Build ids are notes, and are a hash of what is not loaded too.
        SectionFlags::Elf { sh_flags, .. } => {
            sh_flags.contains(object::elf::SHF_ALLOC) && section.kind() != SectionKind::Note
        }
        _ => !matches!(
            section.kind(),
            SectionKind::Debug | SectionKind::DebugString | SectionKind::Metadata
        ),
    }
}

fn replace_all(content: &mut [u8], from: &[u8], to: &[u8]) {
    debug_assert_eq!(from.len(), to.len(), "the sides' directories have equal lengths");
    let found: Vec<usize> = memchr::memmem::find_iter(content, from).collect();
    for position in found {
        content[position..position + to.len()].copy_from_slice(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_sides_are_replaced_wherever_they_stand() {
        let mut content = b"/c/head/x:/c/head/y:/c/heads".to_vec();
        replace_all(&mut content, b"/c/head", b"/c/base");
        assert_eq!(content, b"/c/base/x:/c/base/y:/c/bases");
    }

    #[test]
    fn this_executable_is_the_same_code_as_itself_and_not_as_another() {
        let this = std::env::current_exe().unwrap();
        let nowhere = (Path::new("/base"), Path::new("/head"));
        assert!(same_code(&this, &this, nowhere).unwrap());
        let directory = tempfile::tempdir().unwrap();
        let copy = directory.path().join("copy");
        let mut bytes = fs::read(&this).unwrap();
        // An ELF string that is loaded: change one byte of it.
        let at = memchr::memmem::find(&bytes, b"An ELF string that is loaded").map(|at| at + 3);
        bytes[at.unwrap()] ^= 1;
        fs::write(&copy, bytes).unwrap();
        assert!(!same_code(&this, &copy, nowhere).unwrap());
    }
}
