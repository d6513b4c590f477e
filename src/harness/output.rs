//! What a bench process prints: kept in a file, and its end shown when something goes wrong.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::process::{Command, Stdio};

/// How much of the end is looked at, and how many lines of it, of what length, are shown.
const TAIL_BYTES: u64 = 64 * 1024;
const TAIL_LINES: usize = 12;
const LINE_CHARS: usize = 400;

/// The output of one process. A file, because nobody reads it while the process runs, and a full pipe
/// would stop it.
#[derive(Debug)]
pub struct Output(File);

impl Output {
    /// Sends the output of a command here, both streams in their order, and gives it no input.
    pub fn capture(command: &mut Command) -> std::io::Result<Self> {
        let file = tempfile::tempfile()?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file.try_clone()?);
        Ok(Self(file))
    }

    /// Sends the two streams of a command to two places, standard output first, and gives it no input. For
    /// harnesses whose standard output is read: what a benchmark complains of must not stand in its lines.
    pub fn capture_apart(command: &mut Command) -> std::io::Result<(Self, Self)> {
        let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
        Ok((Self(stdout), Self(stderr)))
    }

    /// How much there is, in bytes.
    pub fn length(&self) -> u64 {
        self.0.metadata().map_or(0, |metadata| metadata.len())
    }

    /// All of it.
    pub fn text(&mut self) -> String {
        self.text_from(0)
    }

    /// The last lines of it, after a text that introduces them; nothing if nothing was printed.
    pub fn tail(&mut self) -> String {
        last_lines(&self.text_from(self.length().saturating_sub(TAIL_BYTES)))
    }

    fn text_from(&mut self, position: u64) -> String {
        // The position is shared with the process; by the time this is called it has ended.
        let mut bytes = Vec::new();
        let read =
            self.0.seek(SeekFrom::Start(position)).and_then(|_| self.0.read_to_end(&mut bytes));
        if read.is_err() {
            bytes.clear();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The last lines of a text, after words that introduce them; nothing if there are none. A backtrace after a
/// panic's message would hide that message.
pub fn last_lines(text: &str) -> String {
    // As panics and as errors of anyhow head theirs.
    let backtrace = text.rfind("\nstack backtrace:\n").or(text.rfind("\nStack backtrace:\n"));
    let text = backtrace.map_or(text, |end| &text[..end]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return String::new();
    }
    let tail: Vec<String> = lines[lines.len().saturating_sub(TAIL_LINES)..]
        .iter()
        .map(|line| match line.char_indices().nth(LINE_CHARS) {
            Some((end, _)) => format!("{}...", &line[..end]),
            None => (*line).to_owned(),
        })
        .collect();
    format!("; it printed:\n{}", tail.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown_without_a_backtrace() {
        assert_eq!(last_lines(" \n\n"), "");
        let many: String = (0..30).map(|number| format!("{number}\n\n")).collect();
        assert!(last_lines(&many).starts_with("; it printed:\n18\n19\n"));
        let flood = last_lines(&"x".repeat(TAIL_BYTES as usize));
        assert!(flood.ends_with("xxx...") && flood.len() < 500, "{flood}");
        let backtrace: String = (0..30).map(|number| format!("  {number}: function\n")).collect();
        let panic = format!("thread panicked:\nno luck\nstack backtrace:\n{backtrace}note: more\n");
        assert_eq!(last_lines(&panic), "; it printed:\nthread panicked:\nno luck");
        let error = format!("Error: no luck\n\nStack backtrace:\n{backtrace}");
        assert_eq!(last_lines(&error), "; it printed:\nError: no luck");
    }
}
