//! The rooms of `src/` use one another in one direction only, as ARCHITECTURE.md shows it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each room, and those that it may use. What a room may use stands below it.
const ROOMS: &[(&str, &str)] = &[
    ("cli", "session github report config node_compare commands plan results revision build stats"),
    (
        "session",
        "commands measure plan harness build revision lockstep results report config stats",
    ),
    ("config", "commands"),
    ("github", "report results stats"),
    ("report", "results stats"),
    ("node_compare", "stats"),
    ("commands", "plan harness build lockstep"),
    ("measure", "plan harness lockstep stats"),
    ("plan", "harness stats"),
    ("harness", "build lockstep revision"),
    ("build", "revision"),
    ("revision", ""),
    ("lockstep", ""),
    ("results", "stats"),
    ("stats", ""),
    ("model", ""),
    ("system", ""),
];

/// Every room may use these. They use no other, but each other where a value needs it.
const EVERYWHERE: [&str; 2] = ["model", "system"];

#[test]
fn rooms_use_only_what_stands_below_them() {
    let mut wrong = Vec::new();
    for (position, (room, may_use)) in ROOMS.iter().enumerate() {
        let may_use: BTreeSet<&str> = may_use.split_whitespace().chain(EVERYWHERE).collect();
        for other in may_use.iter().filter(|other| !EVERYWHERE.contains(other)) {
            let other_position = ROOMS.iter().position(|(name, _)| name == other).unwrap();
            assert!(other_position > position, "`{room}` stands below `{other}`");
        }
        for file in files(&source().join(room)) {
            for used in rooms_used(&std::fs::read_to_string(&file).unwrap()) {
                if used != *room && !may_use.contains(used.as_str()) {
                    wrong.push(format!("{} uses `{used}`", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_is_known_and_its_first_lines_say_what_it_owns() {
    for entry in std::fs::read_dir(source()).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            assert!(ROOMS.iter().any(|(room, _)| *room == name), "`{name}` is in no list");
        }
    }
    for file in files(&source()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let is_test = file.to_str().unwrap().ends_with("_tests.rs");
        assert!(text.starts_with("//") || is_test, "{} does not say", file.display());
    }
}

/// `mod.rs` files say what a room is and what it shows; everything else stands in files with names.
#[test]
fn the_files_of_rooms_hold_no_logic() {
    for file in files(&source()).into_iter().filter(|file| file.ends_with("mod.rs")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for word in ["fn ", "struct ", "enum ", "impl "] {
            let has = text.lines().any(|line| !line.starts_with("//") && line.contains(word));
            assert!(!has, "{} has `{word}` in it", file.display());
        }
    }
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The first names of all paths that begin with `crate::`, but for those in comments.
fn rooms_used(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}
