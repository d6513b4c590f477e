//! Doors to the parsers of this module for `fuzz/`; there only when it is compiled for that.

use super::criterion::protocol::Decoder;
use super::divan::tree;
use super::{gungraun, libtest, lines};

/// Decodes what arrives in pieces of this size.
pub fn criterion(bytes: &[u8], piece: usize) {
    let mut decoder = Decoder::default();
    let mut greeted = false;
    for piece in bytes.chunks(piece.max(1)) {
        decoder.feed(piece);
        if !greeted {
            match decoder.hello() {
                Ok(version) => greeted = version.is_some(),
                Err(_) => return,
            }
        }
        if !greeted {
            continue;
        }
        loop {
            match decoder.message() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

/// Reads a text as the output of every harness that prints. The first line is the id of a benchmark.
pub fn output(text: &str) {
    let (id, text) = text.split_once('\n').unwrap_or_default();
    let leaves = tree::leaves(text);
    tree::threads_of(&leaves, id);
    for leaf in leaves {
        leaf.variant();
    }
    for row in tree::rows(text) {
        row.is_named(id);
    }
    lines::libtest(text);
    lines::json(text);
    libtest::reported(text, id);
    gungraun::summary::measurements(text, id);
    for line in text.lines() {
        lines::begun(line);
    }
}
