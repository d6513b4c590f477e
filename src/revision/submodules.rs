//! Submodules of a checkout, which `git worktree add` leaves empty.
//!
//! They are cloned from the user's own copies, sharing objects: no network, and unlike `git submodule
//! update --init` no change to the user's configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::system::{Error, Result};

use super::git::{Repository, git, nul_separated, try_git};
use super::resolve::Source;
use super::working_tree;

/// What came of filling submodules.
#[derive(Debug, Default)]
pub struct Filled {
    /// What the user should know.
    pub notes: Vec<String>,
    /// Whether they are not all as the checked-out commit has them.
    pub dirty: bool,
}

/// Fills the submodules of a checkout, nested ones too. Those that the user has not got are left empty,
/// as they are in the user's own working tree; a note says so.
pub fn populate(repository: &Repository, checkout: &Path, source: Source) -> Result<Filled> {
    let mut filled = Filled::default();
    let modules = repository.common_directory().join("modules");
    populate_below(repository.root(), &modules, checkout, source, &mut filled)?;
    Ok(filled)
}

fn populate_below(
    user_directory: &Path,
    modules: &Path,
    checkout: &Path,
    source: Source,
    filled: &mut Filled,
) -> Result<()> {
    let committed = committed_submodules(checkout)?;
    let wanted = match source {
        Source::Commit => committed.clone(),
        Source::WorkingTree => submodules_in_index(user_directory)?,
    };
    filled.dirty |= !wanted.keys().eq(committed.keys());
    for (path, recorded) in wanted {
        let user_copy = user_directory.join(&path);
        let Some(origin) = git_directory(&user_copy, modules, checkout, &path)? else {
            filled.notes.push(format!(
                "submodule `{path}` is not checked out in the repository and was left empty \
                 (`git submodule update --init` fetches it)"
            ));
            continue;
        };
        let target = checkout.join(&path);
        let in_working_tree = source == Source::WorkingTree && user_copy.join(".git").exists();
        if in_working_tree {
            let commit = git(&user_copy, ["rev-parse", "HEAD"])?;
            clone(&origin, &commit, &target, &path)?;
            filled.dirty |= committed.get(&path) != Some(&commit);
            filled.dirty |= !working_tree::copy_changes(&user_copy, &target)?.is_empty();
        } else {
            clone(&origin, &recorded, &target, &path)?;
        }
        let source = if in_working_tree { source } else { Source::Commit };
        populate_below(&user_copy, &origin.join("modules"), &target, source, filled)?;
    }
    Ok(())
}

/// Path and commit of each submodule in a checkout's commit.
fn committed_submodules(checkout: &Path) -> Result<BTreeMap<String, String>> {
    let tree = git(checkout, ["ls-tree", "-r", "-z", "HEAD"])?;
    // <mode> SP <type> SP <object> TAB <path>
    let entries = nul_separated(&tree).filter_map(|entry| entry.split_once('\t'));
    let commit = |description: &str| Some(description.strip_prefix("160000 commit ")?.to_owned());
    Ok(entries.filter_map(|(entry, path)| Some((path.to_owned(), commit(entry)?))).collect())
}

/// Path and commit of each submodule in a working tree, whether it is committed yet or not.
fn submodules_in_index(directory: &Path) -> Result<BTreeMap<String, String>> {
    let index = git(directory, ["ls-files", "--stage", "-z"])?;
    // <mode> SP <object> SP <stage> TAB <path>
    let entries = nul_separated(&index).filter_map(|entry| entry.split_once('\t'));
    let commit = |description: &str| {
        Some(description.strip_prefix("160000 ")?.split(' ').next()?.to_owned())
    };
    Ok(entries.filter_map(|(entry, path)| Some((path.to_owned(), commit(entry)?))).collect())
}

/// The git directory of the user's copy of a submodule: of its working tree, or, where another revision
/// is checked out that has no such submodule, the one that git keeps in `.git/modules`.
fn git_directory(
    user_copy: &Path,
    modules: &Path,
    checkout: &Path,
    path: &str,
) -> Result<Option<PathBuf>> {
    if user_copy.join(".git").exists() {
        return Ok(Some(PathBuf::from(git(user_copy, ["rev-parse", "--absolute-git-dir"])?)));
    }
    let query = ["config", "-z", "-f", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$"];
    let names = try_git(checkout, query)?.unwrap_or_default();
    let name = nul_separated(&names).find_map(|entry| {
        let (key, value) = entry.split_once('\n')?;
        if value == path { key.strip_prefix("submodule.")?.strip_suffix(".path") } else { None }
    });
    Ok(name.map(|name| modules.join(name)).filter(|directory| directory.exists()))
}

fn clone(origin: &Path, commit: &str, target: &Path, path: &str) -> Result<()> {
    fs::create_dir_all(target)?;
    let arguments = ["clone", "--quiet", "--no-checkout", "--no-reject-shallow", "--shared"];
    let arguments = arguments.map(std::ffi::OsStr::new).into_iter();
    git(target, arguments.chain([origin.as_os_str(), ".".as_ref()]))?;
    if origin.join("shallow").exists() {
        share_shallow_objects(origin, &target.join(".git"))?;
    }
    let wanted = format!("{commit}^{{commit}}");
    if try_git(target, ["cat-file", "-e", &wanted])?.is_err() {
        let url = try_git(origin, ["config", "remote.origin.url"])?.unwrap_or_default();
        try_git(target, ["fetch", "--quiet", &url, commit])?.map_err(|failure| {
            let directory = shlex::try_quote(path).unwrap_or(path.into());
            Error::comparison(format!("submodule `{path}` has no commit {commit} here"))
                .because(failure.0)
                .help(format!("fetch it: git -C {directory} fetch origin {commit}"))
        })?;
    }
    git(target, ["checkout", "--quiet", "--detach", commit])?;
    Ok(())
}

/// Git copies a shallow repository instead of sharing its objects, and only what its references reach:
/// not every commit that was fetched for some revision.
fn share_shallow_objects(origin: &Path, clone: &Path) -> Result<()> {
    fs::copy(origin.join("shallow"), clone.join("shallow"))?;
    let mut objects = origin.join("objects").into_os_string().into_encoded_bytes();
    objects.push(b'\n');
    fs::write(clone.join("objects/info/alternates"), objects)?;
    Ok(())
}
