//! Submodules of a checkout, which `git worktree add` leaves empty.
//!
//! They are cloned from the user's own copies, sharing objects: no network, and unlike `git submodule
//! update --init` no change to the user's configuration.

use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::error::{Error, Result};

use super::git::{Repository, git, nul_separated, try_git};
use super::resolve::Source;
use super::working_tree;

/// Fills the submodules of a checkout, nested ones too. Those that the user has not got are left empty,
/// as they are in the user's own working tree; a note says so.
pub fn populate(repository: &Repository, checkout: &Path, source: Source) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let modules = repository.common_directory().join("modules");
    populate_below(repository.root(), &modules, checkout, source, &mut notes)?;
    Ok(notes)
}

fn populate_below(
    user_directory: &Path,
    modules: &Path,
    checkout: &Path,
    source: Source,
    notes: &mut Vec<String>,
) -> Result<()> {
    let tree = git(checkout, ["ls-tree", "-r", "-z", "HEAD"])?;
    for entry in nul_separated(&tree) {
        // <mode> SP <type> SP <object> TAB <path>
        let Some((description, path)) = entry.split_once('\t') else { continue };
        let Some(recorded) = description.strip_prefix("160000 commit ") else { continue };
        let user_copy = user_directory.join(path);
        let Some(origin) = git_directory(&user_copy, modules, checkout, path)? else {
            notes.push(format!(
                "submodule `{path}` is not checked out in the repository and was left empty \
                 (`git submodule update --init` fetches it)"
            ));
            continue;
        };
        let in_working_tree = source == Source::WorkingTree && user_copy.join(".git").exists();
        let commit = if in_working_tree {
            git(&user_copy, ["rev-parse", "HEAD"])?
        } else {
            recorded.to_owned()
        };
        let target = checkout.join(path);
        clone(&origin, &commit, &target, path)?;
        if in_working_tree {
            working_tree::copy_changes(&user_copy, &target)?;
        }
        populate_below(&user_copy, &origin.join("modules"), &target, source, notes)?;
    }
    Ok(())
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
        (value == path).then(|| key.trim_start_matches("submodule.").trim_end_matches(".path"))
    });
    Ok(name.map(|name| modules.join(name)).filter(|directory| directory.exists()))
}

fn clone(origin: &Path, commit: &str, target: &Path, path: &str) -> Result<()> {
    fs::create_dir_all(target)?;
    let arguments =
        ["clone", "--quiet", "--no-checkout", "--shared"].map(std::ffi::OsStr::new).into_iter();
    git(target, arguments.chain([origin.as_os_str(), ".".as_ref()]))?;
    let wanted = format!("{commit}^{{commit}}");
    if try_git(target, ["cat-file", "-e", &wanted])?.is_err() {
        let url = try_git(origin, ["config", "remote.origin.url"])?.unwrap_or_default();
        try_git(target, ["fetch", "--quiet", &url, commit])?.map_err(|failure| {
            Error::comparison(format!("submodule `{path}` has no commit {commit} here"))
                .because(failure.0)
                .help(format!("fetch it: git -C {path} fetch origin {commit}"))
        })?;
    }
    git(target, ["checkout", "--quiet", "--detach", commit])?;
    Ok(())
}
