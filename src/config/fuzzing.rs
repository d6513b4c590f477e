//! A door to the parser of this module for `fuzz/`; there only when it is compiled for that.

use super::reader::Document;
use super::{ConfigTable, FILE_NAME, OptionKey};
use crate::commands::Value;
use std::path::Path;

/// More than that show nothing new, and take time.
const MOST_COMBINATIONS: usize = 50;

/// Reads a text as `bench-compare.toml`, and makes the command lines of all commands in it.
pub fn read(text: &str, keys: &[OptionKey]) {
    let document = Document::new(FILE_NAME, text);
    let Ok(table) = document.parse() else { return };
    let part = ConfigTable { keys, scope: None, takes_options: true, file: Path::new(FILE_NAME) };
    let Ok(config) = part.read(&document, &table) else { return };
    let _ = config.check_names();
    for command in &config.commands {
        for combination in command.combinations(&[]).into_iter().take(MOST_COMBINATIONS) {
            let value = |name: &str| {
                let setting = combination.iter().find(|setting| setting.name == name)?;
                Some(Value::Text(setting.value.clone()))
            };
            for template in command.templates() {
                // What is not a parameter is known under another name, and would be filled in on a side.
                assert_eq!(template.expand(&value).len(), 1);
            }
        }
    }
}
