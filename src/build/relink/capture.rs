//! How bench executables are linked, written down by standing between cargo, rustc and the linker.
//!
//! In: a target directory, and the compiler wrapper that the user configured. Out: for each bench executable that
//! cargo builds there a [`Link`], kept beside cargo's own artifacts. Changes nothing of what is built.
//!
//! Cargo is given this program as the wrapper of rustc (under another name, by a symbolic link); wrappers are no part of
//! cargo's fingerprints, so that nothing is compiled anew and dependencies stay shared. Where rustc is to link
//! a bench executable, it finds this program once more in place of the linker. The real linker runs with the arguments
//! that it was given. Then, before rustc removes its temporary files, everything that would be lost is kept:
//! as hard links, which take no space.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::system::Result;

use super::link::{Identity, Link};

/// Whether this works here: linkers elsewhere are others.
pub const IS_SUPPORTED: bool = cfg!(target_os = "linux");

/// The name by which this program knows that it is a wrapper of rustc.
const WRAPPER_NAME: &str = "bench-compare-rustc";
/// Makes this program a linker: the directory in which it notes the link.
const LINK_VARIABLE: &str = "CARGO_BENCH_COMPARE_LINK";
const USERS_WRAPPER: &str = "wrapper.json";
const USERS_LINKER: &str = "linker.json";
const RECORD: &str = "link.json";
/// A directory in which this program has the linker's name.
const SHIM: &str = "shim";
/// What cargo reads before its configuration.
const WRAPPER_VARIABLE: &str = "RUSTC_WRAPPER";

/// What is known about the link of one executable.
#[derive(Debug, Serialize, Deserialize)]
enum Record {
    Seen(Link),
    /// The executable was linked while this module looked, but not in a way that it sees.
    NotSeen(Identity),
}

/// The links of one target directory.
#[derive(Debug)]
pub struct Capture {
    directory: PathBuf,
    users_wrapper: Option<OsString>,
}

impl Capture {
    /// The links of a target directory. `users_wrapper` is the wrapper of rustc that the configuration names.
    pub fn new(target_directory: &Path, users_wrapper: Option<&Path>) -> Self {
        let users_wrapper = match std::env::var_os(WRAPPER_VARIABLE) {
            Some(wrapper) => Some(wrapper).filter(|wrapper| !wrapper.is_empty()),
            None => users_wrapper.map(Into::into),
        };
        Self { directory: target_directory.join("links"), users_wrapper }
    }

    /// Makes cargo call this program in place of rustc. By an argument where that is possible: build scripts may
    /// watch the variable.
    pub fn watch(&self, command: &mut Command) -> Result<()> {
        fs::create_dir_all(&self.directory)?;
        write_json(&self.directory.join(USERS_WRAPPER), &self.users_wrapper)?;
        let wrapper = self.wrapper();
        stand_in(&wrapper)?;
        if std::env::var_os(WRAPPER_VARIABLE).is_some() {
            command.env(WRAPPER_VARIABLE, wrapper);
        } else {
            let value = toml::Value::from(&*wrapper.to_string_lossy());
            command.arg("--config").arg(format!("build.rustc-wrapper={value}"));
        }
        Ok(())
    }

    /// The link that made this executable, if it was seen.
    pub fn link(&self, executable: &Path) -> Option<Link> {
        match self.record(executable)? {
            Record::Seen(link) => Some(link),
            Record::NotSeen(_) => None,
        }
    }

    /// Whether building the executable once more would tell how it is linked.
    pub fn has_missed(&self, executable: &Path) -> bool {
        self.record(executable).is_none()
    }

    /// Notes of executables that were linked just now, but not seen, that this is how it is.
    pub fn give_up<'a>(&self, executables: impl Iterator<Item = &'a Path>) -> Result<()> {
        for executable in executables.filter(|executable| self.has_missed(executable)) {
            let record = self.file(executable);
            fs::create_dir_all(record.parent().unwrap_or(&self.directory))?;
            write_json(&record, &Record::NotSeen(Identity::of(executable)?))?;
        }
        Ok(())
    }

    fn record(&self, executable: &Path) -> Option<Record> {
        let record: Record = read_json(&self.file(executable)).ok()?;
        let (Record::Seen(Link { result: identity, .. }) | Record::NotSeen(identity)) = &record;
        (*identity == Identity::of(executable).ok()?).then_some(record)
    }

    fn file(&self, executable: &Path) -> PathBuf {
        self.directory.join(executable.file_name().unwrap_or_default()).join(RECORD)
    }

    fn wrapper(&self) -> PathBuf {
        self.directory.join(WRAPPER_NAME)
    }
}

/// If this process was started in place of rustc or a linker, does what that would do.
pub fn stand_in_for_another() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let program = PathBuf::from(words.next()?);
    let exit = if let Some(directory) = std::env::var_os(LINK_VARIABLE) {
        link(Path::new(&directory), &program, &words.collect::<Vec<_>>())
    } else if program.file_name()? == WRAPPER_NAME {
        compile(program.parent()?, words.collect())
    } else {
        return None;
    };
    Some(exit.unwrap_or_else(|error| {
        eprintln!("cargo-bench-compare, in place of {}: {error}", program.display());
        ExitCode::FAILURE
    }))
}

/// Runs rustc, or the user's wrapper of it.
fn compile(links: &Path, rustc_and_arguments: Vec<OsString>) -> std::io::Result<ExitCode> {
    let users_wrapper: Option<OsString> = read_json(&links.join(USERS_WRAPPER))?;
    let mut words = rustc_and_arguments;
    let mut link = None;
    if let Some(executable) = bench_executable(&words) {
        let directory = links.join(executable);
        // Whatever goes wrong with it, the build goes on as it would have.
        if let Ok(shim) = watch_linker(&directory, &mut words) {
            link = Some((directory, shim));
        }
    }
    let mut words = users_wrapper.into_iter().chain(words);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    if let Some((directory, shim)) = link {
        command.env(LINK_VARIABLE, directory);
        if let Some(path) = path_with(&shim) {
            command.env("PATH", path);
        }
    }
    become_process(command)
}

/// The file name of the executable, if these are rustc's arguments for one that `cargo bench` would run.
pub fn bench_executable(arguments: &[OsString]) -> Option<String> {
    let arguments: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let pairs = || arguments.windows(2).map(|pair| (pair[0], pair[1]));
    let value = |name: &str| pairs().find(|(flag, _)| *flag == name).map(|(_, value)| value);
    let is_tested = arguments.contains(&"--test") || pairs().any(|pair| pair == ("--cfg", "test"));
    let is_program =
        value("--crate-type").is_none_or(|kind| kind == "bin") || arguments.contains(&"--test");
    let is_linked = arguments.iter().any(|a| {
        a.strip_prefix("--emit=").is_some_and(|kinds| kinds.split(',').any(|kind| kind == "link"))
    });
    let name = value("--crate-name")?;
    let suffix = pairs()
        .find_map(|(flag, value)| value.strip_prefix("extra-filename=").filter(|_| flag == "-C"));
    (is_tested && is_program && is_linked).then(|| format!("{name}{}", suffix.unwrap_or_default()))
}

/// Puts this program in the place of the linker: where a path names it, in the arguments; else on the PATH, in the
/// directory that is given. It keeps the linker's name, from which rustc concludes what options it takes.
fn watch_linker(directory: &Path, words: &mut [OsString]) -> std::io::Result<PathBuf> {
    let _ = std::fs::remove_dir_all(directory);
    let shim = directory.join(SHIM);
    std::fs::create_dir_all(&shim)?;
    let mut users_linker: Option<PathBuf> = None;
    let mut position = None;
    for at in 0..words.len() {
        let Some(word) = words[at].to_str() else { continue };
        let separate = at > 0 && (words[at - 1] == "-C" || words[at - 1] == "--codegen");
        let option = word.strip_prefix("-C").or_else(|| word.strip_prefix("--codegen="));
        let option = option.or(separate.then_some(word));
        if let Some(linker) = option.and_then(|option| option.strip_prefix("linker=")) {
            users_linker = Some(linker.into());
            position = Some((at, word.len() - linker.len()));
        }
    }
    let named_by_path = users_linker.as_ref().filter(|linker| linker.components().count() > 1);
    let names: Vec<OsString> = match &users_linker {
        Some(linker) => vec![linker.file_name().unwrap_or_default().to_owned()],
        // What rustc calls by itself on Linux.
        None => ["cc", "gcc", "clang"].map(OsString::from).into(),
    };
    for name in &names {
        stand_in(&shim.join(name))?;
    }
    write_json(&directory.join(USERS_LINKER), &named_by_path)?;
    if let (Some(linker), Some((at, option_length))) = (named_by_path, position) {
        let option = words[at].to_string_lossy()[..option_length].to_owned();
        let mut word = OsString::from(option);
        word.push(shim.join(linker.file_name().unwrap_or_default()));
        words[at] = word;
    }
    Ok(shim)
}

/// Runs the linker, and notes how if that goes well.
fn link(directory: &Path, called: &Path, arguments: &[OsString]) -> std::io::Result<ExitCode> {
    let named_by_path: Option<PathBuf> = read_json(&directory.join(USERS_LINKER))?;
    let program = match named_by_path {
        Some(program) => program.into_os_string(),
        None => called.file_name().unwrap_or_default().to_owned(),
    };
    let path = path_without(&directory.join(SHIM));
    let mut command = Command::new(&program);
    command.args(arguments).env_remove(LINK_VARIABLE).env("PATH", &path);
    let status = command.status()?;
    if status.success() {
        // Without a record it is as if nobody had looked.
        let _ = note(directory, program, arguments, path);
    }
    Ok(code_of(status))
}

fn note(
    directory: &Path,
    program: OsString,
    arguments: &[OsString],
    path: OsString,
) -> std::io::Result<()> {
    let mut arguments = expand_response_files(arguments)?;
    let Some(output) = arguments.iter().position(|argument| argument == "-o").map(|at| at + 1)
    else {
        return Ok(());
    };
    let Some(executable) = arguments.get(output).map(PathBuf::from) else { return Ok(()) };
    let keeper = Keeper {
        directory: directory.join("files"),
        // What the build makes is there, or in a temporary directory.
        made: [directory.ancestors().nth(2).unwrap_or(directory).to_owned(), std::env::temp_dir()],
    };
    let _ = std::fs::remove_dir_all(&keeper.directory);
    std::fs::create_dir_all(&keeper.directory)?;
    for (number, argument) in
        arguments.iter_mut().enumerate().filter(|(number, _)| *number != output)
    {
        *argument = keeper.keep(argument, number)?;
    }
    let mut environment = vec![("PATH".into(), path)];
    environment
        .extend(std::env::vars_os().filter(|(name, _)| is_of_the_build(&name.to_string_lossy())));
    let link = Link {
        program,
        arguments,
        output,
        directory: std::env::current_dir()?,
        environment,
        result: Identity::of(&executable)?,
    };
    write_json(&directory.join(RECORD), &Record::Seen(link))
}

/// Whether rustc or cargo made a variable that a linker or a wrapper of it may read. What the user's own
/// environment has will be there again, and may be secret.
fn is_of_the_build(name: &str) -> bool {
    let known = ["LC_ALL", "VSLANG", "OUT_DIR", "LIBRARY_PATH", "COMPILER_PATH", "LD_LIBRARY_PATH"];
    let of_cargo =
        ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_PRIMARY_", "CARGO_TARGET_TMPDIR"];
    known.contains(&name) || of_cargo.iter().any(|start| name.starts_with(start))
}

/// Keeps what a link needs.
struct Keeper {
    directory: PathBuf,
    /// The directories whose files the build made, and may remove or replace.
    made: [PathBuf; 2],
}

impl Keeper {
    /// The argument with every path of such a file in it replaced by the path of what is kept.
    fn keep(&self, argument: &OsStr, number: usize) -> std::io::Result<OsString> {
        if let Some(kept) = self.keep_file(Path::new(argument), number)? {
            return Ok(kept.into());
        }
        // As in `-Wl,--version-script=/path,-z,now`.
        let Some(text) = argument.to_str().filter(|text| text.starts_with('-')) else {
            return Ok(argument.to_owned());
        };
        let mut result = String::new();
        for (part, piece) in text.split_inclusive([',', '=']).enumerate() {
            let path = piece.trim_end_matches([',', '=']);
            match self.keep_file(Path::new(path), number * 1000 + part)? {
                Some(kept) => {
                    result += &kept.to_string_lossy();
                    result += &piece[path.len()..];
                }
                None => result += piece,
            }
        }
        Ok(result.into())
    }

    fn keep_file(&self, path: &Path, number: usize) -> std::io::Result<Option<PathBuf>> {
        if !self.made.iter().any(|directory| path.starts_with(directory)) || !path.is_file() {
            return Ok(None);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kept = self.directory.join(format!("{number}-{name}"));
        // Libraries are replaced, never written into; other files only if nobody else has them.
        let is_library = path.extension().is_some_and(|extension| extension == "rlib");
        if !((is_library || is_sole_name(path)) && std::fs::hard_link(path, &kept).is_ok()) {
            std::fs::copy(path, &kept)?;
        }
        Ok(Some(kept))
    }
}

#[cfg(unix)]
fn is_sole_name(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.nlink() == 1)
}

#[cfg(not(unix))]
fn is_sole_name(_path: &Path) -> bool {
    false
}

/// Arguments that rustc wrote into a file, because they are too many.
fn expand_response_files(arguments: &[OsString]) -> std::io::Result<Vec<OsString>> {
    let mut expanded = Vec::new();
    for argument in arguments {
        match argument.to_str().and_then(|text| text.strip_prefix('@')) {
            Some(file) => expanded.extend(read_response_file(&std::fs::read_to_string(file)?)),
            None => expanded.push(argument.clone()),
        }
    }
    Ok(expanded)
}

/// Words between spaces; a backslash takes the next character as it is, and so do quotation marks, but for
/// backslashes.
pub fn read_response_file(text: &str) -> Vec<OsString> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut quote) = (None::<String>, None);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', _) => word.get_or_insert_default().extend(characters.next()),
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (_, Some(open)) if character == open => quote = None,
            (_, None) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from).collect()
}

fn path_with(directory: &Path) -> Option<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(directory.to_owned()).chain(std::env::split_paths(&path)))
        .ok()
}

fn path_without(directory: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&path).filter(|entry| entry != directory);
    std::env::join_paths(others).unwrap_or(path)
}

fn write_json(file: &Path, value: &impl Serialize) -> std::io::Result<()> {
    std::fs::write(file, serde_json::to_vec(value)?)
}

fn read_json<T: serde::de::DeserializeOwned>(file: &Path) -> std::io::Result<T> {
    Ok(serde_json::from_slice(&std::fs::read(file)?)?)
}

/// Gives this program another name.
#[cfg(unix)]
fn stand_in(name: &Path) -> std::io::Result<()> {
    let _ = std::fs::remove_file(name);
    std::os::unix::fs::symlink(std::env::current_exe()?, name)
}

#[cfg(not(unix))]
fn stand_in(_name: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn become_process(mut command: Command) -> std::io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

#[cfg(not(unix))]
fn become_process(mut command: Command) -> std::io::Result<ExitCode> {
    Ok(code_of(command.status()?))
}

fn code_of(status: ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
