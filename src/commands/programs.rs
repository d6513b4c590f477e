//! Prebuilt programs that are compared with each other: two builds of Node.js, an old release and a new one.

use std::path::{Path, PathBuf};

use crate::system::{Error, Result, nearest_or_all};

/// One program, which is one side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrebuiltProgram {
    /// What it is called in the report.
    pub label: String,
    /// Its path as the user gave it.
    pub given: String,
    /// Where it lies.
    pub path: PathBuf,
}

impl PrebuiltProgram {
    /// The program that a user means: a path, or the name of something on the PATH.
    pub fn find(label: &str, given: &Path, directory: &Path) -> Result<Self> {
        let path = directory.join(given);
        let is_name = given.components().count() == 1 && !given.starts_with(".");
        let found = if path.is_file() {
            Some(path)
        } else if is_name {
            on_path(given)
        } else {
            None
        };
        let Some(path) = found else {
            let error = Error::usage(format!("there is no program {}", given.display()));
            let what = if path_is_directory(directory, given) {
                "it is a directory"
            } else {
                "no such file"
            };
            return Err(error
                .because(what)
                .help(format!("name the file of the program called `{label}`")));
        };
        if !is_executable(&path) {
            return Err(Error::usage(format!("{} cannot be run", given.display()))
                .because("it has no permission to be executed")
                .help(format!("chmod +x {}", given.display())));
        }
        let path = path.canonicalize()?;
        Ok(Self { label: label.to_owned(), given: given.display().to_string(), path })
    }
}

fn path_is_directory(directory: &Path, given: &Path) -> bool {
    directory.join(given).is_dir()
}

fn on_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|file| file.is_file() && is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// `LABEL=PATH`
pub fn labelled(text: &str) -> std::result::Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((label, path)) if !label.trim().is_empty() && !path.is_empty() => {
            Ok((label.trim().to_owned(), PathBuf::from(path)))
        }
        _ => Err("write it like `v2=./program`".to_owned()),
    }
}

/// The sides of a comparison of programs, the reference first: the one that is called `against`, else the first.
pub fn in_order(
    mut programs: Vec<PrebuiltProgram>,
    against: Option<&str>,
) -> Result<Vec<PrebuiltProgram>> {
    if programs.is_empty() {
        return Ok(programs);
    }
    for (position, program) in programs.iter().enumerate() {
        if programs[..position].iter().any(|earlier| earlier.label == program.label) {
            return Err(Error::usage(format!("two programs are called `{}`", program.label))
                .help("give each a label of its own: --program label=path"));
        }
    }
    if let [only] = &programs[..] {
        return Err(Error::usage(format!("there is nothing to compare {} with", only.given))
            .help("name another program with --old, --new or --program label=path"));
    }
    if let Some(label) = against {
        let labels: Vec<&str> = programs.iter().map(|program| program.label.as_str()).collect();
        let position = labels.iter().position(|other| *other == label).ok_or_else(|| {
            Error::usage(format!("no program is called `{label}`"))
                .help(nearest_or_all(label, labels.iter().copied()))
        })?;
        programs[..=position].rotate_right(1);
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(label: &str) -> PrebuiltProgram {
        PrebuiltProgram {
            label: label.to_owned(),
            given: label.to_owned(),
            path: PathBuf::from(label),
        }
    }

    fn labels(against: Option<&str>) -> Result<Vec<String>> {
        let programs = ["a", "b", "c"].map(program).to_vec();
        Ok(in_order(programs, against)?.into_iter().map(|program| program.label).collect())
    }

    #[test]
    fn the_reference_comes_first_and_the_others_stay_in_order() {
        assert_eq!(labels(None).unwrap(), ["a", "b", "c"]);
        assert_eq!(labels(Some("c")).unwrap(), ["c", "a", "b"]);
        assert!(labels(Some("d")).unwrap_err().to_string().contains("no program is called `d`"));
    }

    #[test]
    fn one_program_or_two_of_a_name_cannot_be_compared() {
        let one = in_order(vec![program("a")], None).unwrap_err().to_string();
        assert!(one.contains("nothing to compare a with"), "{one}");
        let two = in_order(vec![program("a"), program("a")], None).unwrap_err().to_string();
        assert!(two.contains("two programs are called `a`"), "{two}");
    }

    #[test]
    fn labels_and_paths_are_told_apart() {
        let path = |text: &str| labelled(text).unwrap().1;
        assert_eq!(path("v2=./a=b"), PathBuf::from("./a=b"));
        assert!(labelled("a").is_err() && labelled("=a").is_err() && labelled("a=").is_err());
    }
}
