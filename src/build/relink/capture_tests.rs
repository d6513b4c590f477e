//! What a compiler and a linker are told, read and kept.

use super::super::link::response_file;
use super::*;
use proptest::prelude::*;

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

#[test]
fn bench_executables_are_told_from_everything_else_that_rustc_compiles() {
    let of = |text: &str| bench_executable(&words(text));
    let bench = "rustc --crate-name b --edition=2021 b.rs --emit=dep-info,link --cfg test -C extra-filename=-12";
    assert_eq!(of(bench).unwrap(), "b-12");
    let unit_tests =
        "rustc --crate-name l l.rs --emit=dep-info,link --test -C metadata=1 -C extra-filename=-3";
    assert_eq!(of(unit_tests).unwrap(), "l-3");
    for other in [
        "rustc -vV",
        "rustc - --crate-name ___ --print=cfg --crate-type bin --crate-type rlib",
        "rustc --crate-name l l.rs --crate-type lib --emit=dep-info,metadata,link",
        "rustc --crate-name p p.rs --crate-type bin --emit=dep-info,link -C extra-filename=-4",
        "rustc --crate-name b b.rs --emit=dep-info,metadata --cfg test",
    ] {
        assert_eq!(of(other), None, "{other}");
    }
}

#[cfg(unix)]
#[test]
fn the_last_linker_that_the_arguments_name_is_the_one_that_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let replaced = |text: &str| {
        let mut words = words(text);
        let shim = watch_linker(&directory.path().join("b"), &mut words).unwrap();
        let linker: Option<PathBuf> =
            read_json(&directory.path().join("b").join(USERS_LINKER)).unwrap();
        let names: Vec<_> =
            std::fs::read_dir(&shim).unwrap().map(|e| e.unwrap().file_name()).collect();
        let shim = shim.to_str().unwrap().to_owned();
        let words: Vec<String> =
            words.iter().map(|word| word.to_str().unwrap().replace(&shim, "SHIM")).collect();
        (words.join(" "), linker, names.len())
    };
    let (words, linker, names) =
        replaced("rustc -C linker=clang -Clinker=/opt/my-cc -C opt-level=3");
    assert_eq!(words, "rustc -C linker=clang -Clinker=SHIM/my-cc -C opt-level=3");
    assert_eq!((linker.unwrap().to_str(), names), (Some("/opt/my-cc"), 1));
    let (words, linker, names) = replaced("rustc --codegen linker=/opt/my-cc -C linker=clang-17");
    assert_eq!(words, "rustc --codegen linker=/opt/my-cc -C linker=clang-17");
    assert_eq!((linker, names), (None, 1));
    let (words, linker, names) = replaced("rustc -C opt-level=3");
    assert_eq!((words.as_str(), linker, names), ("rustc -C opt-level=3", None, 3));
}

#[test]
fn what_the_build_made_is_kept_wherever_it_stands_in_an_argument() {
    let directory = tempfile::tempdir().unwrap();
    let (target, kept) = (directory.path().join("target"), directory.path().join("kept"));
    for made in [&target, &kept] {
        std::fs::create_dir_all(made).unwrap();
    }
    for file in ["target/a.o", "target/list", "system.o"] {
        std::fs::write(directory.path().join(file), file).unwrap();
    }
    let keeper = Keeper { directory: kept.clone(), made: [target.clone(), target.clone()] };
    let keep = |text: &str| {
        let argument = text.replace("DIR", directory.path().to_str().unwrap());
        let argument = keeper.keep(OsStr::new(&argument), 3).unwrap();
        argument.to_str().unwrap().replace(directory.path().to_str().unwrap(), "DIR")
    };
    assert_eq!(keep("DIR/target/a.o"), "DIR/kept/3-a.o");
    assert_eq!(
        keep("-Wl,--version-script=DIR/target/list,-z,now"),
        "-Wl,--version-script=DIR/kept/3002-list,-z,now"
    );
    for same in ["DIR/system.o", "-LDIR/target", "DIR/target/missing.o", "-lm", "-Wl,-z,relro"] {
        assert_eq!(keep(same), same);
    }
    assert_eq!(std::fs::read_to_string(kept.join("3-a.o")).unwrap(), "target/a.o");
}

proptest! {
    #[test]
    fn files_of_arguments_are_read_as_they_are_written(arguments in proptest::collection::vec("\\PC{0,12}", 0..6)) {
        let arguments: Vec<OsString> = arguments.into_iter().map(OsString::from).collect();
        let text = String::from_utf8(response_file(&arguments)).unwrap();
        prop_assert_eq!(read_response_file(&text), arguments);
    }
}

#[test]
fn files_of_arguments_are_read_as_rustc_writes_them() {
    let read = read_response_file("-m64\n/a\\ b/c.o\n-L\n'x y'\n");
    assert_eq!(read, ["-m64", "/a b/c.o", "-L", "x y"]);
}
