//! A link that can be done again: the same objects and arguments, in another order of functions.
//!
//! In: what `capture` wrote down while cargo built. Out: executables that differ from cargo's own in
//! their code layout alone. Knows nothing of benchmarks.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use fs_err as fs;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use serde::{Deserialize, Serialize};

use crate::system::process::Stderr;
use crate::system::{Result, process};

use super::super::sections;
use super::capture;
use crate::model::LayoutSeed;

/// What stands in a file name in place of cargo's hash. Cargo's own are hexadecimal.
const LAYOUT_MARK: &str = "layout";

/// From this length on arguments go into a file: a system's limit is near.
const MOST_ARGUMENT_BYTES: usize = 100_000;

/// Where a link takes longer, as it may where it optimises the whole program, layouts are not varied.
const LONGEST: Duration = Duration::from_secs(10);

/// How the linker was called for one executable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The linker, or what calls it: a compiler, or a wrapper that the user configured.
    pub program: OsString,
    /// Its arguments; what does not outlive the build has been put elsewhere.
    pub arguments: Vec<OsString>,
    /// Which of them is the path of the executable.
    pub output: usize,
    /// Its working directory.
    pub directory: PathBuf,
    /// What of its environment the build had made.
    pub environment: Vec<(OsString, OsString)>,
    /// The executable that came of it.
    pub result: Identity,
}

/// Tells a file from one that was written in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    length: u64,
    modified: SystemTime,
}

impl Identity {
    /// Of the file that is there now.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        Ok(Self { length: metadata.len(), modified: metadata.modified()? })
    }
}

/// The option by which a linker shuffles sections; rustc gives every function a section of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    /// As lld has it: sections are chosen by a pattern.
    Lld,
    /// As mold has it: all sections.
    Mold,
}

impl Shuffle {
    fn option(self, seed: LayoutSeed) -> String {
        match self {
            Self::Lld => format!("--shuffle-sections=.text*={}", seed.value()),
            Self::Mold => format!("--shuffle-sections={}", seed.value()),
        }
    }
}

/// Why an executable's layout cannot be varied, in words to be put after "because".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fixed {
    /// The link was not seen.
    NotSeen,
    /// The same link gives other code.
    NotRepeatable,
    /// The linker refuses the option; what it says.
    Refused(String),
    /// The linker takes the option, but everything stays where it was.
    NothingMoves,
    /// Linking takes so long that it would be most of what is done.
    Slow(Duration),
}

impl std::fmt::Display for Fixed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotSeen if !capture::IS_SUPPORTED => {
                f.write_str("that is possible on Linux only")
            }
            Self::NotSeen => {
                f.write_str("rustc does not link through a C compiler or a configured linker here")
            }
            Self::NotRepeatable => f.write_str("linking again does not give the same code"),
            Self::Refused(why) => write!(
                f,
                "the linker cannot shuffle functions ({why}); lld and mold can, and `-C link-arg=-fuse-ld=lld` in \
                 rustflags chooses one"
            ),
            Self::Slow(time) => write!(f, "linking takes {:.0} s each time", time.as_secs_f64()),
            Self::NothingMoves => {
                f.write_str("the linker moves no functions, although it is told to")
            }
        }
    }
}

/// What comes of running a linker: nothing, or what it says against it.
pub type LinkResult = std::result::Result<(), String>;

impl Link {
    /// Links the executable for the first time, and finds out how the linker shuffles by trying. What comes of
    /// it must be the same code in another order; else it is removed.
    pub fn probe(
        &self,
        executable: &Path,
        seed: LayoutSeed,
        output: &Path,
    ) -> Result<std::result::Result<Shuffle, Fixed>> {
        let mut refused = None;
        let began = Instant::now();
        for shuffle in [Shuffle::Lld, Shuffle::Mold] {
            if let Err(why) = self.run(shuffle, seed, output)? {
                // What the first says: the second option is known to fewer linkers.
                refused.get_or_insert(why);
                continue;
            }
            let why = match rearrangement(&fs::read(executable)?, &fs::read(output)?) {
                Rearrangement::Shuffled if began.elapsed() > LONGEST => {
                    Fixed::Slow(began.elapsed())
                }
                Rearrangement::Shuffled => return Ok(Ok(shuffle)),
                Rearrangement::Same => Fixed::NothingMoves,
                Rearrangement::OtherCode => Fixed::NotRepeatable,
            };
            fs::remove_file(output)?;
            return Ok(Err(why));
        }
        Ok(Err(Fixed::Refused(refused.unwrap_or_default())))
    }

    /// Links the executable to another path. An error is an interrupt.
    pub fn relink(&self, shuffle: Shuffle, seed: LayoutSeed, output: &Path) -> Result<LinkResult> {
        self.run(shuffle, seed, output)
    }

    fn run(&self, shuffle: Shuffle, seed: LayoutSeed, output: &Path) -> Result<LinkResult> {
        let mut arguments = self.arguments.clone();
        arguments[self.output] = output.into();
        // rustc hands options to the linker by way of a compiler, or it calls the linker itself.
        let through_compiler = arguments.iter().any(|a| a.as_encoded_bytes().starts_with(b"-Wl,"));
        let prefix = if through_compiler { "-Wl," } else { "" };
        arguments.push(format!("{prefix}{}", shuffle.option(seed)).into());
        let mut command = Command::new(&self.program);
        let mut _file = None;
        if arguments.iter().map(|argument| argument.len() + 1).sum::<usize>() > MOST_ARGUMENT_BYTES
        {
            let file = tempfile::NamedTempFile::new()?;
            fs::write(file.path(), response_file(&arguments))?;
            let mut argument = OsString::from("@");
            argument.push(file.path());
            command.arg(argument);
            _file = Some(file);
        } else {
            command.args(arguments);
        }
        command.current_dir(&self.directory).envs(self.environment.iter().cloned());
        let finished = match process::run(command, Stderr::Captured) {
            Ok(finished) => finished,
            Err(error) => {
                crate::system::interrupt::check()?;
                return Ok(Err(error.to_string()));
            }
        };
        if finished.status.success() && output.is_file() {
            return Ok(Ok(()));
        }
        Ok(Err(complaint(&finished.stderr)
            .unwrap_or_else(|| format!("it {}", process::describe_exit(finished.status)))))
    }
}

/// What linking again has made of an executable.
#[derive(Debug, PartialEq, Eq)]
enum Rearrangement {
    /// The same code in another order.
    Shuffled,
    /// The same code in the same order.
    Same,
    /// Other code: something else went into the link.
    OtherCode,
}

/// Compares two executables: by their functions, as far as symbols tell them, and by the sizes of what is loaded.
fn rearrangement(original: &[u8], other: &[u8]) -> Rearrangement {
    let (Ok(original), Ok(other)) = (object::File::parse(original), object::File::parse(other))
    else {
        return Rearrangement::OtherCode;
    };
    if functions(&original) != functions(&other) || !have_like_sections(&original, &other) {
        return Rearrangement::OtherCode;
    }
    let code = |file: &object::File| {
        let section = file.section_by_name(".text")?;
        Some(section.data().ok()?.to_vec())
    };
    if code(&original) == code(&other) { Rearrangement::Same } else { Rearrangement::Shuffled }
}

/// Names and sizes of all functions, wherever they lie. Nothing if symbols were stripped.
fn functions(file: &object::File) -> Vec<(Vec<u8>, u64)> {
    let is_function =
        |symbol: &object::Symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0;
    let mut functions: Vec<_> = file
        .symbols()
        .filter(is_function)
        .map(|symbol| (symbol.name_bytes().unwrap_or_default().to_vec(), symbol.size()))
        .collect();
    functions.sort_unstable();
    functions
}

/// Whether what is loaded has the same sections, with about the same sizes: alignment makes gaps of other sizes.
fn have_like_sections(original: &object::File, other: &object::File) -> bool {
    let sections = |file: &object::File| -> BTreeMap<Vec<u8>, u64> {
        let loaded = file.sections().filter(sections::is_loaded);
        // What a linker fills up to the next page.
        let loaded = loaded.filter(|section| section.name() != Ok(".relro_padding"));
        loaded
            .map(|section| (section.name_bytes().unwrap_or_default().to_vec(), section.size()))
            .collect()
    };
    let (original, other) = (sections(original), sections(other));
    let is_like = |a: u64, b: u64| a.abs_diff(b) <= a / 16 + 64;
    original.len() == other.len()
        && original
            .iter()
            .zip(&other)
            .all(|((a, size), (b, other))| a == b && is_like(*size, *other))
}

/// The line of what a linker printed that says most: the first that speaks of an error.
fn complaint(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| {
        ["error", "unrecognized", "unknown", "invalid"].iter().any(|word| line.contains(word))
    };
    let line = lines.clone().find(is_error).or_else(|| lines.next())?;
    Some(line.chars().take(200).collect())
}

/// A file of arguments as GNU programs read it.
pub fn response_file(arguments: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for argument in arguments {
        text.push(b'"');
        for byte in argument.as_encoded_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(*byte);
        }
        text.extend_from_slice(b"\"\n");
    }
    text
}

/// The path of the n-th layout of an executable: in the same directory, because it may look beside itself, and where
/// cargo's hash stands in the name, as long as the name itself.
pub fn layout_path(executable: &Path, number: u64) -> PathBuf {
    let name = executable.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_hash =
        |hash: &str| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let stem = match name.rsplit_once('-') {
        Some((stem, hash)) if is_hash(hash) => stem,
        _ => name.as_str(),
    };
    executable.with_file_name(format!("{stem}-{LAYOUT_MARK}{:010}", number % 10_000_000_000))
}

fn is_layout(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let number = name.rsplit_once('-').and_then(|(_, end)| end.strip_prefix(LAYOUT_MARK));
    number.is_some_and(|number| {
        number.len() == 10 && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Removes what a killed run left beside these executables.
pub fn remove_left_overs<'a>(executables: impl Iterator<Item = &'a Path>) {
    let mut directories: Vec<&Path> = executables.filter_map(Path::parent).collect();
    directories.sort_unstable();
    directories.dedup();
    for directory in directories {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            if is_layout(&entry.file_name()) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_is_neither_a_rearrangement_of_itself_nor_of_another() {
        let this = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(rearrangement(&this, &this), Rearrangement::Same);
        assert_eq!(rearrangement(&this, b"no executable"), Rearrangement::OtherCode);
        let system = fs::read("/bin/sh").unwrap_or_default();
        assert_eq!(rearrangement(&this, &system), Rearrangement::OtherCode);
    }

    #[test]
    fn layouts_have_names_as_long_as_the_executable_and_are_told_from_what_cargo_makes() {
        let executable = Path::new("/t/deps/my-bench-0123456789abcdef");
        let layout = layout_path(executable, 7);
        assert_eq!(layout, Path::new("/t/deps/my-bench-layout0000000007"));
        assert_eq!(layout.as_os_str().len(), executable.as_os_str().len());
        assert!(is_layout(layout.file_name().unwrap()));
        assert!(is_layout(layout_path(Path::new("/t/bench"), 1).file_name().unwrap()));
        for other in
            ["my-bench-0123456789abcdef", "my-layout", "layout-0123456789abcdef.d", "my-layout12"]
        {
            assert!(!is_layout(OsStr::new(other)), "{other}");
        }
    }

    #[test]
    fn of_what_a_linker_prints_the_error_is_told() {
        let text = "/usr/bin/ld: warning: something\n/usr/bin/ld: unrecognized option '--shuffle-sections=1'\ncollect2: error\n";
        assert_eq!(
            complaint(text).unwrap(),
            "/usr/bin/ld: unrecognized option '--shuffle-sections=1'"
        );
        assert_eq!(complaint("no luck\n").unwrap(), "no luck");
        assert_eq!(complaint(" \n"), None);
    }
}
