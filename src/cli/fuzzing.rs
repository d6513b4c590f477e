//! A door to the options for `fuzz/`; there only when it is compiled for that.

use std::sync::LazyLock;

use crate::config::{OptionKey, fuzzing};

use super::all_option_keys;

/// Reads a text as `bench-compare.toml`, with all options that can be set in it.
pub fn configuration(text: &str) {
    static KEYS: LazyLock<Vec<OptionKey>> = LazyLock::new(all_option_keys);
    fuzzing::read(text, &KEYS);
}
