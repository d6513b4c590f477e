//! What is compiled once and taken over, and what never is.

use std::process::Command;

use crate::support::{Fixture, host_triple};

/// A package without benchmarks, with these additions to its manifest.
fn package(additions: &str) -> Fixture {
    let fixture = Fixture::new();
    let manifest = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fixture.write("Cargo.toml", manifest.to_owned() + additions);
    fixture.write("src/lib.rs", "");
    fixture.write(".gitignore", "Cargo.lock\n/own-target\n/own-build\n");
    fixture
}

/// Builds in the user's checkout, with this build directory there.
fn build_in_checkout(fixture: &Fixture, build_directory: &str, arguments: &[&str]) {
    let mut command = Command::new("cargo");
    command.args(["bench", "--no-run", "--quiet"]).args(arguments).current_dir(fixture.root());
    command.env("CARGO_TARGET_DIR", fixture.root().join("own-target"));
    command.env("CARGO_BUILD_BUILD_DIR", fixture.root().join(build_directory));
    command.env_remove("RUSTFLAGS");
    assert!(command.status().unwrap().success());
}

/// Builds both sides; gives the crates that were compiled for each.
#[track_caller]
fn compiled(fixture: &Fixture, build_directory: &str, arguments: &[&str]) -> Vec<Vec<String>> {
    let mut command = fixture.command(&[&["list"], arguments].concat());
    command.env("CARGO_TARGET_DIR", fixture.root().join("own-target"));
    command.env("CARGO_BUILD_BUILD_DIR", fixture.root().join(build_directory));
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("there are no benchmarks to compare"), "{stderr}");
    let crates = |part: &str| {
        let lines = part.lines().filter_map(|line| line.trim().strip_prefix("Compiling "));
        lines.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    stderr.split("Building ").skip(1).map(crates).collect()
}

#[test]
fn a_path_crate_outside_the_workspace_is_never_taken_from_the_users_own_build() {
    let fixture = package(
        "[features]\nmore = [\"dep:extra\"]\n\
         [build-dependencies]\nextra = { path = \"extra\", optional = true }\n\
         [workspace]\nexclude = [\"extra\"]\n",
    );
    let extra = "[package]\nname = \"extra\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fixture.write("extra/Cargo.toml", extra);
    fixture.write("extra/src/lib.rs", "pub const STATE: &str = \"committed\";\n");
    fixture.write(
        "build.rs",
        "fn main() {\n#[cfg(feature = \"more\")]\nassert_eq!(extra::STATE, \"committed\"); }\n",
    );
    fixture.commit("base");
    // Makes the lockfile. Then both sides are built without the crate.
    build_in_checkout(&fixture, "own-target", &[]);
    assert_eq!(compiled(&fixture, "own-target", &["HEAD..HEAD"]), [["sample"], ["sample"]]);
    // The user tries something else, and builds that.
    fixture.write("extra/src/lib.rs", "pub const STATE: &str = \"uncommitted\";\n");
    fixture.write("build.rs", "fn main() {}\n");
    build_in_checkout(&fixture, "own-target", &["--features", "more"]);
    let both = [["extra", "sample"], ["extra", "sample"]];
    assert_eq!(compiled(&fixture, "own-target", &["HEAD..HEAD", "--features", "more"]), both);
    fixture.assert_nothing_left_behind();
}

#[test]
fn compiled_dependencies_are_taken_over_whatever_the_target_and_wherever_the_user_builds() {
    let fixture = package("[dependencies]\nitoa = \"1\"\n");
    fixture.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"itoa\"\nversion = \"1.0.19\"\n\
         source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\
         checksum = \"3bd1574e617a9a6c1f8f8181bd7e841e1f20e4277607ef28945765188d6284d4\"\n\n\
         [[package]]\nname = \"sample\"\nversion = \"0.1.0\"\ndependencies = [\n \"itoa\",\n]\n",
    );
    fixture.commit("base");
    let host = host_triple();
    fixture.write(".cargo/config.toml", format!("[build]\ntarget = \"{host}\"\n"));
    fixture.commit("target");
    // Base has no target, so that head is the first to compile for one.
    let seen = compiled(&fixture, "own-build", &["HEAD~1..HEAD"]);
    assert_eq!(seen, [["itoa", "sample"], ["itoa", "sample"]]);
    assert_eq!(compiled(&fixture, "own-build", &["HEAD..HEAD~1"]), [["sample"], ["sample"]]);

    fixture.run(&["clean"]).exits_with(0);
    build_in_checkout(&fixture, "own-build", &[]);
    let seen = compiled(&fixture, "own-build", &["HEAD..HEAD"]);
    assert_eq!(seen, [["sample"], ["sample"]], "the user's build directory has it");
}

/// Cargo takes a vendored package for fresh as long as its version is the same.
#[test]
fn a_vendored_package_that_was_patched_is_built_for_each_side() {
    let fixture = package("[build-dependencies]\ndependency = \"1\"\n");
    let checksum = "0".repeat(64);
    fixture.write(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"vendor\"\n",
    );
    let manifest = "[package]\nname = \"dependency\"\nversion = \"1.0.0\"\nedition = \"2021\"\n";
    fixture.write("vendor/dependency/Cargo.toml", manifest);
    let checksums = format!("{{\"files\":{{}},\"package\":\"{checksum}\"}}");
    fixture.write("vendor/dependency/.cargo-checksum.json", checksums);
    fixture.write(
        "Cargo.lock",
        format!(
            "version = 4\n\n[[package]]\nname = \"dependency\"\nversion = \"1.0.0\"\n\
             source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\
             checksum = \"{checksum}\"\n\n\
             [[package]]\nname = \"sample\"\nversion = \"0.1.0\"\ndependencies = [\n \"dependency\",\n]\n"
        ),
    );
    for state in ["one", "two", "three"] {
        let source = format!("pub const STATE: &str = {state:?};\n");
        fixture.write("vendor/dependency/src/lib.rs", source);
        let script = format!("fn main() {{ assert_eq!(dependency::STATE, {state:?}); }}\n");
        fixture.write("build.rs", script);
        fixture.commit(state);
    }
    build_in_checkout(&fixture, "own-target", &[]);
    let both = [["dependency", "sample"], ["dependency", "sample"]];
    for range in ["HEAD~2..HEAD~1", "HEAD~1..HEAD~2", "HEAD~1..HEAD"] {
        assert_eq!(compiled(&fixture, "own-target", &[range])[1], both[1], "{range}");
    }
    assert_eq!(compiled(&fixture, "own-target", &["HEAD~1..HEAD"]), [vec![""; 0], vec![]]);
}
