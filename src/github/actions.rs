//! What a workflow's step gives to its job: the summary page and the outputs.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use crate::system::{Error, Result};

/// The most bytes that GitHub takes of the summary of one step.
const MOST_OF_A_SUMMARY: u64 = 1 << 20;

/// How many bytes may still be added to the summary.
pub fn room_in_summary(file: &Path) -> usize {
    let used = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    usize::try_from(MOST_OF_A_SUMMARY.saturating_sub(used + 1)).unwrap_or(0)
}

/// Adds Markdown to the summary.
pub fn add_summary(file: &Path, markdown: &str) -> Result<()> {
    append(file, &format!("{}\n", markdown.trim_end()), "the job's summary")
}

/// Sets outputs of the step. A value may be any text.
pub fn set_outputs(file: &Path, outputs: &[(&str, String)]) -> Result<()> {
    let mut text = String::new();
    for (name, value) in outputs {
        // No value can end itself early and go on as another output.
        let mut end = delimiter();
        while value.contains(&end) {
            end = delimiter();
        }
        _ = write!(text, "{name}<<{end}\n{value}\n{end}\n");
    }
    append(file, &text, "the step's outputs")
}

fn delimiter() -> String {
    format!("end_{:032x}", fastrand::u128(..))
}

fn append(file: &Path, text: &str, what: &str) -> Result<()> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| {
            Error::publishing(format!("cannot write {what}, {}", file.display())).because(error)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads outputs as the runner does.
    fn read(text: &str) -> Vec<(String, String)> {
        let mut lines = text.split('\n');
        let mut found = Vec::new();
        while let Some((name, end)) = lines.next().and_then(|line| line.split_once("<<")) {
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
            found.push((name.to_owned(), value.join("\n")));
        }
        found
    }

    #[test]
    fn any_value_comes_out_as_it_went_in() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("outputs");
        let hostile = "1\nEOF\nend_\nregressed=0\nimproved<<x\n9\nx\n";
        set_outputs(&file, &[("regressed", hostile.to_owned())]).unwrap();
        set_outputs(&file, &[("improved", String::new()), ("summary", "ok".to_owned())]).unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        let expected = [("regressed", hostile), ("improved", ""), ("summary", "ok")];
        assert_eq!(
            read(&written),
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn a_summary_is_added_to_what_other_steps_wrote() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("summary");
        assert_eq!(room_in_summary(&file), (1 << 20) - 1);
        add_summary(&file, "one").unwrap();
        add_summary(&file, "two\n\n").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
        assert_eq!(room_in_summary(&file), (1 << 20) - 9);
        std::fs::write(&file, vec![b'x'; 2 << 20]).unwrap();
        assert_eq!(room_in_summary(&file), 0);
        assert!(add_summary(directory.path(), "x").unwrap_err().to_string().contains("summary"));
    }
}
