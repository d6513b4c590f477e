//! What lies around the repository is seen from the checkout, and survives it.

use std::path::Path;
use std::process::Command;

use crate::support::Fixture;

use super::{CheckedOut, assert_unchanged, files, read};

/// Writes a file below the directory that holds everything of the test.
fn write(fixture: &Fixture, path: &str, content: &str) {
    let path = fixture.outside().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn package(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
}

/// A package that depends on others by path, in `code/sample`; the cache lies elsewhere.
fn with_dependencies(dependencies: &str) -> Fixture {
    let fixture = Fixture::named("code/sample");
    fixture.write("Cargo.toml", package("sample", &format!("[dependencies]\n{dependencies}")));
    fixture.write("src/lib.rs", "");
    fixture.commit("one");
    fixture
}

/// The packages that cargo finds from a checkout, the dependencies' dependencies included.
#[track_caller]
fn packages(checkout: &Path) -> Vec<String> {
    let output = Command::new("cargo")
        .args(["metadata", "--offline", "--format-version=1", "--quiet"])
        .current_dir(checkout)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let mut names: Vec<_> =
        packages.map(|package| package["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn path_dependencies_outside_are_linked_and_survive() {
    let fixture =
        with_dependencies("sibling = { path = \"../sibling\" }\nfar = { path = \"../../far/x\" }");
    write(&fixture, "code/sibling/Cargo.toml", &package("sibling", ""));
    write(&fixture, "code/sibling/src/lib.rs", "pub fn sibling() {}\n");
    write(&fixture, "far/x/Cargo.toml", &package("far", ""));
    write(&fixture, "far/x/src/lib.rs", "");
    write(&fixture, "far/not-needed", "");
    let before = files(fixture.outside(), true);

    let both = CheckedOut::in_fixture(&fixture, "HEAD..HEAD");
    for checkout in both.sides.values() {
        assert_eq!(read(checkout, "../sibling/src/lib.rs"), "pub fn sibling() {}\n");
        assert_eq!(packages(checkout.root()), ["far", "sample", "sibling"]);
        // Not the neighbours alone, but nothing that no manifest names.
        assert!(!checkout.root().join("../../far/not-needed").exists());
        let lockfile = checkout.root().join("Cargo.lock");
        std::fs::remove_file(lockfile).unwrap();
    }
    drop(both);
    std::fs::remove_dir_all(fixture.cache()).unwrap();
    assert_unchanged(fixture.outside(), &before);
}

#[test]
fn dependencies_of_dependencies_outside_are_found_with_their_workspace() {
    let fixture = with_dependencies("member = { path = \"../other/crates/member\" }");
    let workspace = "[workspace]\nmembers = [\"crates/*\"]\n[workspace.package]\nlicense = \"MIT\"\n\
                     [workspace.dependencies]\nthird = { path = \"../third\" }\n";
    write(&fixture, "code/other/Cargo.toml", workspace);
    let member = "license.workspace = true\n[dependencies]\nthird.workspace = true\n\
                  second = { path = \"../second\" }\n";
    write(&fixture, "code/other/crates/member/Cargo.toml", &package("member", member));
    write(&fixture, "code/other/crates/member/src/lib.rs", "");
    write(&fixture, "code/other/crates/second/Cargo.toml", &package("second", ""));
    write(&fixture, "code/other/crates/second/src/lib.rs", "");
    // Which depends on the repository's own package again: on the one that is checked out.
    let back = "[dev-dependencies]\nsample = { path = \"../sample\" }\n";
    write(&fixture, "code/third/Cargo.toml", &package("third", back));
    write(&fixture, "code/third/src/lib.rs", "");

    let both = CheckedOut::in_fixture(&fixture, "HEAD..HEAD");
    assert_eq!(packages(both.head().root()), ["member", "sample", "second", "third"]);
}

#[test]
fn dependencies_of_the_working_tree_are_linked_although_nothing_is_committed() {
    let fixture = with_dependencies("");
    write(&fixture, "code/sibling/Cargo.toml", &package("sibling", ""));
    write(&fixture, "code/sibling/src/lib.rs", "");
    let dependency = "[dependencies]\nfresh = { path = \"fresh\" }\n";
    fixture.write("Cargo.toml", package("sample", dependency));
    let outside = "[dependencies]\nsibling = { path = \"../../sibling\" }\n";
    fixture.write("fresh/Cargo.toml", package("fresh", outside));
    fixture.write("fresh/src/lib.rs", "");
    let both = CheckedOut::in_fixture(&fixture, "HEAD");
    assert_eq!(packages(both.base().root()), ["sample"]);
    assert_eq!(packages(both.head().root()), ["fresh", "sample", "sibling"]);
}

#[test]
fn a_dependency_that_is_not_there_is_left_to_cargo() {
    let fixture = with_dependencies("gone = { path = \"../gone\" }\nown = { path = \"own\" }");
    // This one is there, but belongs to no revision.
    fixture.write(".gitignore", "/own\n");
    fixture.write("own/Cargo.toml", package("own", ""));
    let both = CheckedOut::in_fixture(&fixture, "HEAD");
    for checkout in both.sides.values() {
        assert!(!checkout.root().join("../gone").exists());
        assert!(!checkout.root().join("own").exists());
    }
}

#[test]
fn configuration_in_the_directories_above_is_seen_from_the_checkout() {
    let fixture = with_dependencies("");
    write(&fixture, "code/.cargo/config.toml", "[env]\nABOVE = \"code\"\n");
    write(&fixture, "code/rust-toolchain.toml", "[toolchain]\nchannel = \"stable\"\n");
    write(&fixture, ".cargo/config.toml", "[env]\nABOVE = \"top\"\n");
    let before = files(fixture.outside(), true);
    let both = CheckedOut::in_fixture(&fixture, "HEAD..HEAD");
    let top = fixture.outside().canonicalize().unwrap();
    for checkout in both.sides.values() {
        // In cargo's order: from the directory itself upwards, here until above the cache.
        let seen = |name: &str| -> Vec<String> {
            let above = checkout.root().ancestors().take_while(|above| above.starts_with(&top));
            above.filter_map(|above| std::fs::read_to_string(above.join(name)).ok()).collect()
        };
        let configurations = ["[env]\nABOVE = \"code\"\n", "[env]\nABOVE = \"top\"\n"];
        assert_eq!(seen(".cargo/config.toml"), configurations);
        assert_eq!(seen("rust-toolchain.toml"), ["[toolchain]\nchannel = \"stable\"\n"]);
    }
    drop(both);
    std::fs::remove_dir_all(fixture.cache()).unwrap();
    assert_unchanged(fixture.outside(), &before);
}

#[cfg(unix)]
#[test]
fn configuration_of_cargos_home_is_not_linked_because_cargo_reads_it_anyway() {
    let fixture = with_dependencies("");
    write(&fixture, "code/.cargo/config.toml", "[env]\nABOVE = \"code\"\n");
    // Says what configuration there is above the checkout.
    write(&fixture, "cargo", "#!/bin/sh\ncat ../.cargo/config.toml >&2\nexit 1\n");
    let cargo = fixture.outside().join("cargo");
    super::make_executable(&cargo, true);
    let home = fixture.outside().join("code");
    let link = fixture.outside().join("link");
    std::os::unix::fs::symlink(&home, &link).unwrap();
    let none = "No such file or directory";
    for (home, cargo_home, expected) in [
        (&home, None, none),
        (&link, None, none),
        (&home, Some(fixture.outside().join("elsewhere")), "ABOVE = \"code\""),
    ] {
        let mut command = fixture.command(&["HEAD..HEAD"]);
        command.env("CARGO", &cargo).env_remove("RUSTUP_TOOLCHAIN");
        command.env("HOME", home).env_remove("CARGO_HOME");
        command.envs(cargo_home.map(|home| ("CARGO_HOME", home)));
        let run = crate::support::Run::of(command.output().unwrap()).exits_with(3);
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
}
