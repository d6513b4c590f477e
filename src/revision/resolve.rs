//! From names to commits, with help for names that mean nothing.

use crate::model::PerSide;
use crate::system::{Error, Result, nearest, nearest_or_all};

use super::git::{GitFailure, GitResult, Repository};
use super::range::{Named, Range, WORKING_TREE};

/// What the user's own files are called where nobody has given them a label.
const WORKING_TREE_LABEL: &str = "working tree";

/// One revision of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// What the user calls it: `main`, `v1.0`, `working tree`.
    pub label: String,
    /// The full commit id; for a working tree that of its HEAD.
    pub commit: String,
    /// Where its files come from.
    pub source: Source,
}

/// Where the files of a revision come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The commit alone.
    Commit,
    /// The user's working tree: the commit with its uncommitted changes.
    WorkingTree,
}

impl Revision {
    /// The commit id as short as people write it.
    pub fn short_commit(&self) -> &str {
        &self.commit[..self.commit.len().min(9)]
    }
}

/// `main, 1a2b3c4d5`
impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}", self.label, self.short_commit())
    }
}

/// Finds the commits that a range names, the reference first: the one that is labelled `against`, else the
/// first.
pub fn resolve(
    repository: &Repository,
    range: &Range,
    against: Option<&str>,
) -> Result<PerSide<Revision>> {
    refuse_unborn_branch(repository)?;
    let named = |name: &str| named_revision(repository, name);
    let labelled = |named: &Named| labelled_revision(repository, named);
    let mut sides = match range {
        Range::Between(base, head) => vec![named(base)?, named(head)?],
        Range::SinceMergeBase(base, head) => {
            let (base, head) = (named(base)?, named(head)?);
            vec![merge_base(repository, &base, &head)?, head]
        }
        Range::AgainstWorkingTree(base) => vec![labelled(base)?, working_tree(repository)?],
        Range::SinceDefaultBranch => {
            let head = named("HEAD")?;
            let base = merge_base(repository, &default_branch(repository)?, &head)?;
            vec![base, working_tree(repository)?]
        }
        Range::Each(list) => {
            let sides = list.iter().map(labelled).collect::<Result<Vec<_>>>()?;
            refuse_equal_labels(&sides)?;
            sides
        }
    };
    if let Some(label) = against {
        let labels: Vec<&str> = sides.iter().map(|side| side.label.as_str()).collect();
        let reference = position_of(label, &labels)?;
        sides[..=reference].rotate_right(1);
    }
    Ok(sides.into_iter().collect())
}

/// Where a label stands among others.
pub fn position_of(label: &str, labels: &[&str]) -> Result<usize> {
    labels.iter().position(|other| *other == label).ok_or_else(|| unknown_label(label, labels))
}

/// A label that no revision has is answered with those that there are.
pub fn unknown_label(label: &str, labels: &[&str]) -> Error {
    Error::usage(format!("no revision is called `{label}`"))
        .help(nearest_or_all(label, labels.iter().copied()))
}

fn labelled_revision(repository: &Repository, named: &Named) -> Result<Revision> {
    let revision = if named.revision == WORKING_TREE {
        working_tree(repository)?
    } else {
        named_revision(repository, &named.revision)?
    };
    let label = named.label.clone().unwrap_or_else(|| revision.label.clone());
    Ok(Revision { label, ..revision })
}

/// In a list, revisions are told apart by their labels alone.
fn refuse_equal_labels(sides: &[Revision]) -> Result<()> {
    for (position, side) in sides.iter().enumerate() {
        if sides[..position].iter().any(|earlier| earlier.label == side.label) {
            return Err(Error::usage(format!("two revisions are called `{}`", side.label))
                .help("give each of them a label of its own: label=revision"));
        }
    }
    Ok(())
}

fn refuse_unborn_branch(repository: &Repository) -> Result<()> {
    if repository.git(["rev-list", "-n1", "--all"])?.is_empty()
        && repository.try_git(["rev-parse", "--verify", "-q", "HEAD"])?.is_err()
    {
        return Err(Error::comparison("the repository has no commit yet")
            .help("commit the base first, then the change that you want to judge"));
    }
    Ok(())
}

fn working_tree(repository: &Repository) -> Result<Revision> {
    if repository.is_bare() {
        return Err(Error::usage("a bare repository has no working tree to compare with")
            .help("name two revisions: main..feature"));
    }
    let commit = commit_of(repository, "HEAD")?.map_err(|_| no_commit_on_branch())?;
    Ok(Revision { label: WORKING_TREE_LABEL.to_owned(), commit, source: Source::WorkingTree })
}

/// A revision by name. A name that only a remote has is taken from there, as `git checkout` does.
fn named_revision(repository: &Repository, name: &str) -> Result<Revision> {
    let revision =
        |label: &str, commit| Revision { label: label.to_owned(), commit, source: Source::Commit };
    let failure = match commit_of(repository, name)? {
        Ok(commit) => return Ok(revision(name, commit)),
        Err(failure) => failure,
    };
    // A remote's HEAD is not what the user calls HEAD.
    if name == "HEAD" {
        return Err(no_commit_on_branch());
    }
    let remote_branches = short_names(repository, &["refs/remotes"])?;
    let on_remotes: Vec<&str> = remote_branches
        .lines()
        .filter(|reference| reference.split_once('/').is_some_and(|(_, branch)| branch == name))
        .collect();
    if let [only] = on_remotes[..]
        && let Ok(commit) = commit_of(repository, only)?
    {
        return Ok(revision(only, commit));
    }
    let others = short_names(repository, &["refs/heads", "refs/tags"])?;
    let known = others.lines().chain(remote_branches.lines());
    Err(unknown_revision(repository, name, failure, known)?)
}

fn short_names(repository: &Repository, kinds: &[&str]) -> Result<String> {
    let query = ["for-each-ref", "--format=%(refname:lstrip=2)"];
    repository.git(query.iter().chain(kinds))
}

fn no_commit_on_branch() -> Error {
    Error::comparison("the current branch has no commit yet")
        .help("commit something on it, or name two revisions: main..feature")
}

/// The commit that a name means. Annotated tags are followed to their commit.
fn commit_of(repository: &Repository, name: &str) -> Result<GitResult<String>> {
    let parse =
        |name: &str| repository.try_git(["rev-parse", "--verify", "--end-of-options", name]);
    // In two steps, because in `:/some text` anything that follows is text too.
    match parse(name)? {
        Ok(object) => parse(&format!("{object}^{{commit}}")),
        Err(failure) => Ok(Err(failure)),
    }
}

fn unknown_revision<'a>(
    repository: &Repository,
    name: &str,
    GitFailure(why): GitFailure,
    references: impl Iterator<Item = &'a str>,
) -> Result<Error> {
    let mut error = Error::usage(format!("unknown revision `{name}`"));
    // git's bare "Needed a single revision" says nothing that the first line has not said.
    if !why.contains("Needed a single revision") {
        error = error.because(why);
    }
    if repository.is_shallow()? {
        return Ok(error
            .because("this is a shallow clone: a part of the history is missing")
            .help("in GitHub Actions, give actions/checkout `fetch-depth: 0`")
            .help("elsewhere, run `git fetch --unshallow --tags`"));
    }
    if let Some((label, revision)) = name.split_once('=')
        && commit_of(repository, revision)?.is_ok()
    {
        return Ok(error
            .because("a label is given to a single revision, not to an end of a range")
            .help(format!("write a list: {label}={revision} HEAD")));
    }
    let near: Vec<String> =
        nearest(name, references).iter().take(3).map(|name| format!("`{name}`")).collect();
    Ok(if near.is_empty() {
        error.help("`git branch --all` and `git tag` list the names there are")
    } else {
        error.help(format!("did you mean {}?", near.join(" or ")))
    })
}

fn merge_base(repository: &Repository, base: &Revision, head: &Revision) -> Result<Revision> {
    let found = repository.try_git(["merge-base", &base.commit, &head.commit])?;
    let commit = match found {
        Ok(commit) if !commit.is_empty() => commit.lines().next().unwrap_or_default().to_owned(),
        _ => {
            let error = Error::comparison(format!(
                "`{}` and `{}` have no common ancestor here",
                base.label, head.label
            ));
            return Err(if repository.is_shallow()? {
                error
                    .because("this is a shallow clone: a part of the history is missing")
                    .help("in GitHub Actions, give actions/checkout `fetch-depth: 0`")
                    .help("elsewhere, run `git fetch --unshallow`")
            } else {
                error.help(format!("compare the two themselves: {}..{}", base.label, head.label))
            });
        }
    };
    let label = if commit == base.commit {
        base.label.clone()
    } else {
        format!("merge base of {} and {}", base.label, head.label)
    };
    Ok(Revision { label, commit, source: Source::Commit })
}

/// The default branch: what the remote says, else the usual names, remote before local.
fn default_branch(repository: &Repository) -> Result<Revision> {
    let remotes = repository.git(["remote"])?;
    let mut candidates = Vec::new();
    for remote in remotes.lines() {
        let head = format!("refs/remotes/{remote}/HEAD");
        if let Ok(branch) = repository.try_git(["symbolic-ref", "--short", "-q", &head])? {
            candidates.push(branch);
        }
    }
    let configured = repository.try_git(["config", "init.defaultBranch"])?.unwrap_or_default();
    for branch in [configured.as_str(), "main", "master", "trunk", "develop"] {
        if !branch.is_empty() {
            candidates.extend(remotes.lines().map(|remote| format!("{remote}/{branch}")));
            candidates.push(branch.to_owned());
        }
    }
    for candidate in candidates {
        if let Ok(commit) = commit_of(repository, &candidate)? {
            return Ok(Revision { label: candidate, commit, source: Source::Commit });
        }
    }
    Err(Error::usage("cannot tell which branch is the default branch")
        .help("say what to compare with: cargo bench-compare main"))
}
