//! Doors to the parsers of this module for `fuzz/`; there only when it is compiled for that.

use super::criterion::protocol::Decoder;
use super::divan::tree;
use super::lines;

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
        while greeted {
            match decoder.message() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

/// Reads a text as the output of every harness that prints.
pub fn output(text: &str) {
    for leaf in tree::leaves(text) {
        leaf.variant();
    }
    tree::rows(text);
    lines::libtest(text);
    lines::json(text);
    for line in text.lines() {
        lines::begun(line);
    }
}
