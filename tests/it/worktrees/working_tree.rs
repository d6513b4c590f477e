//! The user's working tree as a side: the checkout has what is there, and what is not is not.

#![cfg(unix)]

use std::os::unix::fs::symlink;

use crate::support::Fixture;

use super::{CheckedOut, files, make_executable, plain, read, touch};

/// The head's checkout is what the user has, with its empty directories, but without `ignored` files.
#[track_caller]
fn assert_is_copied(fixture: &Fixture, ignored: &[&str]) -> CheckedOut {
    let both = CheckedOut::in_fixture(fixture, "HEAD");
    let mut expected = files(&fixture.root(), false);
    for path in ignored {
        assert!(expected.remove(std::path::Path::new(path)).is_some(), "{path}");
    }
    assert_eq!(files(both.head().root(), false), expected);
    both
}

#[test]
fn changes_of_every_kind_are_in_the_checkout() {
    let fixture = plain();
    let root = fixture.root();
    let path = |name: &str| root.join(name);
    for name in ["modified", "staged", "both", "gone", "gone-staged", "moved", "bits", "no-bits"] {
        fixture.write(name, format!("{name} at HEAD\n"));
    }
    make_executable(&path("no-bits"), true);
    fixture.write("all-gone/deep/er", "");
    fixture.write("some-gone/a", "");
    fixture.write("some-gone/b", "");
    symlink("modified", path("link")).unwrap();
    symlink("modified", path("link-to-file")).unwrap();
    fixture.write("file-to-link", "file\n");
    fixture.write(".gitignore", "*.ignored\n/target\n");
    fixture.commit("everything");

    fixture.write("modified", "modified\n");
    fixture.write("staged", "staged\n");
    fixture.write("both", "staged\n");
    fixture.git(&["add", "staged", "both"]);
    fixture.write("both", "staged, then modified\n");
    std::fs::remove_file(path("gone")).unwrap();
    fixture.git(&["rm", "--quiet", "gone-staged", "all-gone/deep/er"]);
    std::fs::remove_file(path("some-gone/a")).unwrap();
    fixture.git(&["mv", "moved", "elsewhere"]);
    make_executable(&path("bits"), true);
    make_executable(&path("no-bits"), false);
    for (name, target) in [("link", "staged"), ("file-to-link", "/nowhere/at/all")] {
        std::fs::remove_file(path(name)).unwrap();
        symlink(target, path(name)).unwrap();
    }
    std::fs::remove_file(path("link-to-file")).unwrap();
    fixture.write("link-to-file", "file\n");
    symlink("not there", path("new-link")).unwrap();
    fixture.write("new/file with spaces", "1\n");
    fixture.write("new/größer 日本", "2\n");
    fixture.write("new/two\nlines", "3\n");
    fixture.write("new/\"quoted\" back\\slash\tand tab", "4\n");
    fixture.write("new.ignored", "not to be copied");
    fixture.write("target/debug/x", "not to be copied");

    let ignored = ["new.ignored", "target", "target/debug", "target/debug/x"];
    let both = assert_is_copied(&fixture, &ignored);
    assert!(both.head().dirty);
    assert_eq!(read(both.base(), "both"), "both at HEAD\n");
}

#[test]
fn git_configuration_of_names_and_untracked_files_changes_nothing() {
    let fixture = plain();
    fixture.write("größer", "1\n");
    fixture.commit("a name");
    fixture.git(&["config", "core.quotePath", "true"]);
    fixture.git(&["config", "status.showUntrackedFiles", "no"]);
    fixture.git(&["config", "diff.renames", "copies"]);
    fixture.git(&["config", "core.untrackedCache", "true"]);
    fixture.write("größer", "2\n");
    fixture.write("neu größer", "3\n");
    fixture.git(&["mv", "README", "READ ME"]);
    assert_is_copied(&fixture, &[]);
}

#[test]
fn line_ends_are_those_of_the_working_tree() {
    let fixture = plain();
    fixture.git(&["config", "core.autocrlf", "true"]);
    for name in ["src/code", "README"] {
        std::fs::remove_file(fixture.root().join(name)).unwrap();
    }
    fixture.git(&["checkout", "--", "."]);
    assert_eq!(std::fs::read(fixture.root().join("README")).unwrap(), b"read me\r\n");
    let both = assert_is_copied(&fixture, &[]);
    assert!(!both.head().dirty);
    drop(both);

    fixture.write("src/code", "three\r\n");
    fixture.write("new", "with\nnewlines\n");
    let both = assert_is_copied(&fixture, &[]);
    assert!(both.head().dirty);
}

#[test]
fn a_file_that_was_only_touched_is_no_change() {
    let fixture = plain();
    touch(&fixture.root().join("src/code"));
    assert_ne!(fixture.git(&["diff-index", "HEAD"]), "");
    let both = CheckedOut::in_fixture(&fixture, "HEAD");
    assert!(!both.head().dirty);
}

#[test]
fn a_file_becomes_a_directory_and_a_directory_a_file() {
    let fixture = plain();
    let root = fixture.root();
    fixture.write("a", "file\n");
    fixture.write("b/c", "file\n");
    fixture.write("b/d/e", "file\n");
    fixture.commit("files and directories");
    std::fs::remove_file(root.join("a")).unwrap();
    std::fs::remove_dir_all(root.join("b")).unwrap();
    fixture.write("a/x", "below\n");
    fixture.write("b", "no directory\n");
    assert_is_copied(&fixture, &[]);
    fixture.git(&["add", "--all"]);
    assert_is_copied(&fixture, &[]);
}

#[test]
fn nothing_is_written_through_a_link_that_became_a_directory_or_was_one() {
    let fixture = plain();
    let root = fixture.root();
    let outside = fixture.outside().join("precious");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("x"), "precious\n").unwrap();
    std::fs::write(outside.join("same"), "same\n").unwrap();
    symlink(&outside, root.join("link")).unwrap();
    fixture.write("real/x", "real\n");
    fixture.write("real/same", "same\n");
    fixture.commit("a link and a directory");
    std::fs::remove_file(root.join("link")).unwrap();
    fixture.write("link/x", "in the repository now\n");
    std::fs::remove_dir_all(root.join("real")).unwrap();
    symlink(&outside, root.join("real")).unwrap();
    let precious = files(&outside, true);
    drop(assert_is_copied(&fixture, &[]));
    assert_eq!(files(&outside, true), precious);
    fixture.git(&["add", "--all"]);
    drop(assert_is_copied(&fixture, &[]));
    assert_eq!(files(&outside, true), precious);
}
