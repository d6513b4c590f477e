//! What killed runs left goes with the next run; what belongs to the user stays.

use std::path::{Path, PathBuf};

use cargo_bench_compare::revision::{Cache, Repository};

use crate::support::{Fixture, walk};

use super::{CheckedOut, plain};

/// Checkouts of a run that came to no end, and the directory of the head's.
fn killed_run(fixture: &Fixture) -> PathBuf {
    let both = CheckedOut::in_fixture(fixture, "v1..main");
    let head = both.head().root().to_owned();
    std::mem::forget(both.sides);
    head
}

/// The next run, which must find a clean place.
#[track_caller]
fn assert_next_run_clears_up(fixture: &Fixture) {
    let both = CheckedOut::in_fixture(fixture, "v1..main");
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 3);
    drop(both);
    fixture.assert_nothing_left_behind();
}

#[test]
fn worktrees_of_a_killed_run_are_removed_whatever_became_of_them() {
    let remove = |path: &Path| std::fs::remove_dir_all(path).unwrap();
    let fixture = plain();
    let administration = fixture.root().join(".git/worktrees");
    type Accident<'a> = &'a dyn Fn(&Path);
    let accidents: [(&str, Accident); 6] = [
        ("none", &|_| {}),
        ("its file `.git` is gone", &|head| std::fs::remove_file(head.join(".git")).unwrap()),
        ("its directory is gone", &|head| remove(head)),
        ("the cache is gone", &|_| remove(&fixture.cache())),
        ("the repository has forgotten it", &|_| remove(&administration)),
        ("it is locked, as while it comes into being", &|head| {
            fixture.git(&["worktree", "lock", head.to_str().unwrap()]);
        }),
    ];
    for (name, accident) in accidents {
        eprintln!("{name}");
        accident(&killed_run(&fixture));
        assert_next_run_clears_up(&fixture);
    }
}

#[test]
fn left_overs_in_any_free_place_are_removed() {
    let fixture = plain();
    let other = CheckedOut::in_fixture(&fixture, "v1..main");
    killed_run(&fixture);
    drop(other);
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 3);
    assert_next_run_clears_up(&fixture);
}

#[test]
fn worktrees_of_a_run_that_is_going_on_are_no_left_overs() {
    let fixture = plain();
    let going_on = CheckedOut::in_fixture(&fixture, "v1..main");
    drop(CheckedOut::in_fixture(&fixture, "v1..main"));
    assert_eq!(super::read(going_on.head(), "src/code"), "two\n");
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 3);

    let cache = Cache::at(&fixture.cache()).unwrap();
    let repository = Repository::discover(&fixture.root()).unwrap();
    let error = cache.clean(&repository).unwrap_err().to_string();
    snapbox::assert_data_eq!(
        error,
        snapbox::str![[r#"
a comparison of this repository is still running
  help: wait for its end, or stop it, then clean again
"#]]
    );
    assert_eq!(super::read(going_on.head(), "src/code"), "two\n");
}

#[test]
fn cleaning_removes_left_overs_too() {
    let fixture = plain();
    killed_run(&fixture);
    let run = fixture.run(&["clean"]).exits_with(0);
    assert!(run.stdout.starts_with("removed "), "{}", run.stdout);
    fixture.assert_nothing_left_behind();
    assert!(walk(&fixture.cache(), 1).is_empty());
    let run = fixture.run(&["clean"]).exits_with(0);
    assert_eq!(run.stdout, "there was nothing to remove\n");
}

#[test]
fn a_worktree_of_the_users_that_is_not_there_at_the_moment_is_kept() {
    let fixture = plain();
    fixture.git(&["worktree", "add", "--quiet", "--detach", "../on-a-stick", "v1"]);
    let linked = fixture.outside().join("on-a-stick");
    std::fs::rename(&linked, fixture.outside().join("unplugged")).unwrap();
    let killed = killed_run(&fixture);
    std::fs::remove_dir_all(killed).unwrap();
    drop(CheckedOut::in_fixture(&fixture, "v1..main"));
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 2);
    std::fs::rename(fixture.outside().join("unplugged"), &linked).unwrap();
    assert_eq!(crate::support::git(&linked, &["status", "--porcelain"]), "");
}
