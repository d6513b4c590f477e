//! Worktrees come, are complete, and go, and the user's checkout stays as it is.

mod left_overs;
mod signals;
mod submodules;
mod surroundings;
mod working_tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cargo_bench_compare::model::{PerSide, Side};
use cargo_bench_compare::revision;
use cargo_bench_compare::revision::{Cache, Checkout, Range, Repository, Slot};
use cargo_bench_compare::system::Result;

use crate::support::{Fixture, git};

/// Checkouts of a range, with the slot that they lie in.
struct CheckedOut {
    sides: PerSide<Checkout>,
    _slot: Slot,
}

impl CheckedOut {
    fn of(directory: &Path, cache: &Path, range: &str) -> Result<Self> {
        let range: Range = range.parse().unwrap();
        let repository = Repository::discover(directory)?;
        let revisions = revision::resolve(&repository, &range, None)?;
        let slot = Slot::acquire(&repository, &Cache::at(cache)?)?;
        let sides = revision::check_out(&repository, &slot, &revisions)?;
        Ok(Self { sides, _slot: slot })
    }

    #[track_caller]
    fn in_fixture(fixture: &Fixture, range: &str) -> Self {
        Self::of(&fixture.root(), &fixture.cache(), range).unwrap_or_else(|e| panic!("{e}"))
    }

    fn base(&self) -> &Checkout {
        &self.sides[Side::REFERENCE]
    }

    fn head(&self) -> &Checkout {
        self.sides.others().next().expect("there is a head").1
    }
}

/// Every file and link below a directory with its content, git's own directory included or not.
fn files(directory: &Path, with_git: bool) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let content = if path.file_name().unwrap() == ".git" && !with_git {
                continue;
            } else if metadata.is_symlink() {
                format!("-> {}", std::fs::read_link(&path).unwrap().display())
            } else if metadata.is_dir() {
                directories.push(path.clone());
                "directory".to_owned()
            } else {
                let content = std::fs::read(&path).unwrap();
                let content = content.escape_ascii();
                format!("{}{content}", if is_executable(&metadata) { "executable " } else { "" })
            };
            found.insert(path.strip_prefix(directory).unwrap().to_owned(), content);
        }
    }
    found
}

/// Every byte below a directory is as it was, those of git's own files too.
#[track_caller]
fn assert_unchanged(directory: &Path, before: &BTreeMap<PathBuf, String>) {
    let after = files(directory, true);
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let changed: Vec<_> =
        paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(changed.is_empty(), "changed: {changed:?}");
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn make_executable(path: &Path, executable: bool) {
    use std::os::unix::fs::PermissionsExt;
    let mode = if executable { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Gives a file another time stamp than git remembers.
fn touch(path: &Path) {
    filetime::set_file_mtime(path, filetime::FileTime::from_unix_time(1_000_000_000, 0)).unwrap();
}

/// Two commits, `one` (tag `v1`) and `two`, of a few files without cargo.
fn two_commits(fixture: &Fixture) {
    fixture.write("src/code", "one\n");
    fixture.write("README", "read me\n");
    fixture.commit("one");
    fixture.git(&["tag", "v1"]);
    fixture.write("src/code", "two\n");
    fixture.commit("two");
}

fn plain() -> Fixture {
    let fixture = Fixture::new();
    two_commits(&fixture);
    fixture
}

fn read(checkout: &Checkout, path: &str) -> String {
    std::fs::read_to_string(checkout.root().join(path)).unwrap()
}

#[test]
fn checkouts_lie_outside_the_repository_are_complete_and_vanish() {
    let fixture = plain();
    let both = CheckedOut::in_fixture(&fixture, "v1..main");
    let root = fixture.root().canonicalize().unwrap();
    for checkout in both.sides.values() {
        assert!(!checkout.root().starts_with(&root), "{}", checkout.root().display());
        assert!(!checkout.dirty);
        assert_eq!(checkout.notes, [""; 0]);
    }
    assert_eq!(both.base().root().as_os_str().len(), both.head().root().as_os_str().len());
    assert_eq!(read(both.base(), "src/code"), "one\n");
    assert_eq!(files(both.head().root(), false), files(&root, false));
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 3);
    // What a build script asks git is answered as in any checkout.
    assert_eq!(git(both.base().root(), &["describe", "--tags", "--dirty"]), "v1");
    drop(both);
    fixture.assert_nothing_left_behind();
}

#[test]
fn checkouts_vanish_after_a_panic() {
    let fixture = plain();
    let result = std::panic::catch_unwind(|| {
        let both = CheckedOut::in_fixture(&fixture, "v1..main");
        assert!(both.base().root().join("README").exists());
        std::panic::resume_unwind(Box::new("a panic"));
    });
    assert!(result.is_err());
    fixture.assert_nothing_left_behind();
}

#[test]
fn nothing_is_left_of_a_checkout_that_fails() {
    let fixture = plain();
    // A blob of the head is lost, so that base can be checked out, but head cannot.
    let blob = fixture.git(&["rev-parse", "main:src/code"]);
    let object = fixture.root().join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    std::fs::remove_file(object).unwrap();
    let error = CheckedOut::of(&fixture.root(), &fixture.cache(), "v1..main").err().unwrap();
    assert!(error.to_string().contains(&blob), "{error}");
    fixture.assert_nothing_left_behind();
}

#[cfg(unix)]
#[test]
fn the_users_checkout_is_untouched_and_no_hook_runs() {
    let fixture = plain();
    fixture.write("stashed", "1\n");
    fixture.git(&["add", "stashed"]);
    fixture.git(&["stash", "--quiet"]);
    // A merge that stopped half-way.
    fixture.git(&["checkout", "--quiet", "-b", "topic", "v1"]);
    fixture.write("src/code", "three\n");
    fixture.write("touched", "as it was\n");
    fixture.commit("three");
    let merge = std::process::Command::new("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@example.org", "merge", "main"])
        .current_dir(fixture.root())
        .output();
    assert!(!merge.unwrap().status.success());
    fixture.write("README", "changed\n");
    // Git would like to note in the index that this one is the same.
    touch(&fixture.root().join("touched"));
    fixture.write("staged", "staged\n");
    fixture.git(&["add", "staged"]);
    fixture.write("announced", "announced\n");
    fixture.git(&["add", "--intent-to-add", "announced"]);
    fixture.write("untracked", "untracked\n");
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watch"] {
        let path = fixture.root().join(".git/hooks").join(hook);
        let ran = fixture.outside().join("hook-ran");
        std::fs::write(&path, format!("#!/bin/sh\necho {hook} >> '{}'\n", ran.display())).unwrap();
        make_executable(&path, true);
    }
    fixture.git(&["config", "core.fsmonitor", ".git/hooks/fsmonitor-watch"]);
    let before = files(&fixture.root(), true);

    let both = CheckedOut::in_fixture(&fixture, "HEAD");
    let code = read(both.head(), "src/code");
    assert!(code.starts_with("<<<<<<< HEAD\nthree\n=======\ntwo\n>>>>>>>"), "{code}");
    assert_eq!(files(both.head().root(), false), files(&fixture.root(), false));
    assert!(both.head().dirty);
    assert_eq!(read(both.base(), "src/code"), "three\n");
    assert!(!both.base().root().join("staged").exists());
    drop(both);

    assert_unchanged(&fixture.root(), &before);
    let ran = std::fs::read_to_string(fixture.outside().join("hook-ran")).unwrap_or_default();
    assert_eq!(ran, "", "hooks ran");
}

#[test]
fn two_comparisons_at_once_have_places_of_their_own() {
    let fixture = plain();
    let first = CheckedOut::in_fixture(&fixture, "v1..main");
    let second = CheckedOut::in_fixture(&fixture, "v1..main");
    assert_ne!(first.base().root(), second.base().root());
    let slot_of_second = second.base().side_directory().to_owned();
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 5);
    drop(second);
    assert_eq!(read(first.base(), "src/code"), "one\n");
    assert_eq!(git(first.head().root(), &["status", "--porcelain"]), "");
    // The next one takes the same place again, and so finds what was built there.
    let third = CheckedOut::in_fixture(&fixture, "v1..main");
    assert_eq!(third.base().side_directory(), slot_of_second);
    drop((first, third));
    fixture.assert_nothing_left_behind();
}

#[test]
fn any_name_of_the_repository_and_of_the_cache_will_do() {
    let name = "it's 100% 'größer' 日本 $HOME";
    let fixture = Fixture::named(name);
    two_commits(&fixture);
    fixture.write("src/code", "three\n");
    let cache = fixture.outside().join(format!("cache of {name}"));
    for _ in 0..2 {
        let both = CheckedOut::of(&fixture.root(), &cache, "v1").unwrap();
        assert_eq!(read(both.base(), "src/code"), "one\n");
        assert_eq!(files(both.head().root(), false), files(&fixture.root(), false));
        // The second time there are left-overs.
        std::mem::forget(both.sides);
    }
    drop(CheckedOut::of(&fixture.root(), &cache, "v1").unwrap());
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_cache_inside_the_repository_is_refused() {
    let fixture = plain();
    let cache = fixture.root().canonicalize().unwrap().join("target/cache");
    let error = CheckedOut::of(&fixture.root(), &cache, "v1..main").err().unwrap().to_string();
    snapbox::assert_data_eq!(
        error.replace(cache.to_str().unwrap(), "<cache>"),
        snapbox::str![[r#"
the cache directory <cache>/sample-[..] lies inside the repository
  because: a worktree in there would inherit cargo's configuration of the checked-out tree
  help: set CARGO_BENCH_COMPARE_CACHE to a directory elsewhere
"#]]
    );
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_worktree_of_the_users_is_a_repository_like_any_other() {
    let fixture = plain();
    fixture.git(&["worktree", "add", "--quiet", "../linked", "-b", "topic", "v1"]);
    let linked = &fixture.outside().join("linked");
    std::fs::write(linked.join("src/code"), "changed\n").unwrap();
    let before = files(&fixture.root(), true);
    let both = CheckedOut::of(linked, &fixture.cache(), "main").unwrap();
    assert_eq!(read(both.base(), "src/code"), "two\n");
    assert_eq!(read(both.head(), "src/code"), "changed\n");
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 4);
    drop(both);
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 2);
    assert_unchanged(&fixture.root(), &before);
    assert_eq!(git(linked, &["status", "--porcelain"]), " M src/code");
}

#[test]
fn commits_of_a_bare_repository_are_checked_out() {
    let fixture = plain();
    git(fixture.outside(), &["clone", "--quiet", "--bare", "sample", "bare.git"]);
    let bare = &fixture.outside().join("bare.git");
    let both = CheckedOut::of(bare, &fixture.cache(), "v1..main").unwrap();
    assert_eq!(read(both.base(), "src/code"), "one\n");
    assert_eq!(read(both.head(), "src/code"), "two\n");
    drop(both);
    assert!(!bare.join("worktrees").exists());
}
