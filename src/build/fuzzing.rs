//! A door to what this module reads of compilers and linkers, for `fuzz/`; there only when it is compiled for that.

use std::ffi::OsString;

use super::relink::response_file;
use super::relink::{bench_executable, read_response_file};

/// Reads a text as a file of arguments, and takes them for rustc's.
pub fn arguments(text: &str) {
    let words: Vec<OsString> = read_response_file(text);
    bench_executable(&words);
    let written = String::from_utf8(response_file(&words)).expect("text stays text");
    assert_eq!(read_response_file(&written), words);
}
