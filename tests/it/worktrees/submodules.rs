//! Submodules are filled from the user's own copies.

use std::path::Path;

use crate::support::{Fixture, git};

use super::{CheckedOut, assert_unchanged, files, read};

/// `inner` in `middle` in the repository, all cloned; commit `two` of the repository has another commit
/// of `middle` than `one` (tag `v1`). The repositories that they were cloned from are gone.
fn nested() -> Fixture {
    let fixture = Fixture::new();
    let outside = fixture.outside();
    for name in ["inner", "middle"] {
        let module = outside.join(name);
        git(outside, &["init", "--quiet", "--initial-branch=main", name]);
        std::fs::write(module.join("file"), format!("{name} one\n")).unwrap();
        if name == "middle" {
            git(&module, &["submodule", "add", "--quiet", "../inner", "in/ner"]);
        }
        commit(&module, "one");
    }
    let url = outside.join("middle");
    let add = ["submodule", "add", "--quiet", "--name", "a.path", url.to_str().unwrap(), "mid dle"];
    fixture.git(&add);
    fixture.git(&["submodule", "update", "--quiet", "--init", "--recursive"]);
    fixture.commit("one");
    fixture.git(&["tag", "v1"]);
    std::fs::write(outside.join("middle/file"), "middle two\n").unwrap();
    commit(&outside.join("middle"), "two");
    git(&fixture.root().join("mid dle"), &["pull", "--quiet"]);
    fixture.commit("two");
    for name in ["inner", "middle"] {
        std::fs::rename(outside.join(name), outside.join(format!("{name}-gone"))).unwrap();
    }
    fixture
}

fn commit(directory: &Path, message: &str) {
    git(directory, &["add", "--all"]);
    git(directory, &["commit", "--quiet", "-m", message]);
}

#[test]
fn submodules_are_filled_without_network_and_without_a_trace() {
    let fixture = nested();
    let before = files(&fixture.root(), true);
    let both = CheckedOut::in_fixture(&fixture, "v1..main");
    assert_eq!(both.base().notes, [""; 0]);
    assert_eq!(read(both.base(), "mid dle/file"), "middle one\n");
    assert_eq!(read(both.head(), "mid dle/file"), "middle two\n");
    assert_eq!(read(both.base(), "mid dle/in/ner/file"), "inner one\n");
    assert_eq!(files(both.head().root(), false), files(&fixture.root(), false));
    drop(both);
    assert_unchanged(&fixture.root(), &before);
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_submodule_is_a_repository_like_any_other() {
    let fixture = nested();
    let middle = fixture.root().join("mid dle");
    let before = files(&fixture.root(), true);
    let both = CheckedOut::of(&middle, &fixture.cache(), "HEAD~1").unwrap();
    assert_eq!(read(both.base(), "file"), "middle one\n");
    assert_eq!(read(both.base(), "in/ner/file"), "inner one\n");
    assert_eq!(files(both.head().root(), false), files(&middle, false));
    drop(both);
    assert_unchanged(&fixture.root(), &before);
}

#[test]
fn submodules_are_found_where_the_present_commit_has_none() {
    let fixture = nested();
    fixture.git(&["rm", "--quiet", "mid dle"]);
    fixture.commit("without");
    assert!(!fixture.root().join("mid dle").exists());
    let both = CheckedOut::in_fixture(&fixture, "v1..HEAD");
    assert_eq!(read(both.base(), "mid dle/file"), "middle one\n");
    assert_eq!(read(both.base(), "mid dle/in/ner/file"), "inner one\n");
    assert!(!both.head().root().join("mid dle").exists());
}

#[test]
fn the_working_tree_has_submodules_as_the_user_has_them() {
    let fixture = nested();
    let middle = fixture.root().join("mid dle");
    git(&middle, &["checkout", "--quiet", "HEAD~1"]);
    std::fs::write(middle.join("new"), "new\n").unwrap();
    std::fs::write(middle.join("in/ner/file"), "inner changed\n").unwrap();
    let before = files(&fixture.root(), true);
    let both = CheckedOut::in_fixture(&fixture, "HEAD");
    assert_eq!(read(both.base(), "mid dle/file"), "middle two\n");
    assert_eq!(read(both.base(), "mid dle/in/ner/file"), "inner one\n");
    assert_eq!(files(both.head().root(), false), files(&fixture.root(), false));
    assert!(both.head().dirty && !both.base().dirty);
    drop(both);
    assert_unchanged(&fixture.root(), &before);
}

#[test]
fn submodules_that_are_not_committed_yet_belong_to_the_working_tree() {
    let fixture = nested();
    // One goes, another comes, and neither is in a commit.
    fixture.git(&["rm", "--quiet", "mid dle"]);
    let url = fixture.outside().join("inner-gone");
    fixture.git(&["submodule", "add", "--quiet", url.to_str().unwrap(), "fresh"]);
    let both = CheckedOut::in_fixture(&fixture, "HEAD");
    assert_eq!(files(both.head().root(), false), files(&fixture.root(), false));
    assert_eq!(read(both.head(), "fresh/file"), "inner one\n");
}

#[test]
fn submodules_that_the_user_has_not_got_are_left_empty_and_noted() {
    let fixture = nested();
    git(fixture.outside(), &["clone", "--quiet", "sample", "clone"]);
    let clone = fixture.outside().join("clone");
    let both = CheckedOut::of(&clone, &fixture.cache(), "v1").unwrap();
    let note = "submodule `mid dle` is not checked out in the repository and was left empty (`git \
                submodule update --init` fetches it)";
    for checkout in both.sides.values() {
        assert_eq!(checkout.notes, [note]);
        assert!(!checkout.dirty);
        assert_eq!(std::fs::read_dir(checkout.root().join("mid dle")).unwrap().count(), 0);
    }
}

#[test]
fn a_missing_commit_of_a_submodule_is_fetched_and_if_that_fails_it_is_said_how() {
    let fixture = nested();
    let upstream = fixture.outside().join("middle");
    std::fs::rename(fixture.outside().join("middle-gone"), &upstream).unwrap();
    std::fs::write(upstream.join("file"), "middle three\n").unwrap();
    commit(&upstream, "three");
    let three = git(&upstream, &["rev-parse", "HEAD"]);
    fixture.git(&["update-index", "--cacheinfo", &format!("160000,{three},mid dle")]);
    fixture.git(&["commit", "--quiet", "-m", "three"]);
    let before = files(&fixture.root(), true);

    let both = CheckedOut::in_fixture(&fixture, "v1..main");
    assert_eq!(read(both.head(), "mid dle/file"), "middle three\n");
    drop(both);
    assert_unchanged(&fixture.root(), &before);

    std::fs::remove_dir_all(&upstream).unwrap();
    let error = CheckedOut::of(&fixture.root(), &fixture.cache(), "v1..main").err().unwrap();
    let error =
        error.to_string().replace(&three, "<three>").replace(upstream.to_str().unwrap(), "<url>");
    snapbox::assert_data_eq!(
        error,
        snapbox::str![[r#"
submodule `mid dle` has no commit <three> here
  because: '<url>' does not appear to be a git repository
    fatal: Could not read from remote repository.
    
    Please make sure you have the correct access rights
    and the repository exists.
  help: fetch it: git -C 'mid dle' fetch origin <three>
"#]]
    );
    fixture.assert_nothing_left_behind();
}

#[test]
fn shallow_submodules_are_filled_too() {
    let fixture = nested();
    let url = |name: &str| format!("file://{}", fixture.outside().join(name).display());
    std::fs::rename(fixture.outside().join("middle-gone"), fixture.outside().join("middle"))
        .unwrap();
    git(fixture.outside(), &["clone", "--quiet", "sample", "clone"]);
    let clone = fixture.outside().join("clone");
    git(&clone, &["config", "submodule.a.path.url", &url("middle")]);
    let shallow = ["submodule", "update", "--quiet", "--init", "--depth=1"];
    git(&clone, &shallow);
    // As in a checkout of a pull request: first one commit, then the other, neither with its history.
    git(&clone, &["checkout", "--quiet", "v1"]);
    git(&clone, &shallow);
    git(&clone, &["checkout", "--quiet", "main"]);
    git(&clone, &shallow);
    let middle = clone.join("mid dle");
    assert_eq!(git(&middle, &["rev-parse", "--is-shallow-repository"]), "true");
    std::fs::rename(fixture.outside().join("middle"), fixture.outside().join("middle-gone"))
        .unwrap();
    git(&clone, &["config", "clone.rejectShallow", "true"]);

    let both = CheckedOut::of(&clone, &fixture.cache(), "v1..main").unwrap();
    assert_eq!(read(both.base(), "mid dle/file"), "middle one\n");
    assert_eq!(read(both.head(), "mid dle/file"), "middle two\n");
}
