//! Standard error: steps, warnings, errors, and how long it will still take.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use crate::report::printable;
use crate::system::{Error, Observer, Progress};

const VERB: Style = AnsiColor::Green.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Without a terminal, progress is a line now and then.
const LINE_INTERVAL: Duration = Duration::from_secs(20);

/// Prints an error as it is said everywhere: what, why, and what to do.
pub fn print_error(error: &Error) {
    print_line(&format!("{ERROR}error:{ERROR:#} {}", printable(&error.to_string())));
}

/// Prints a line on standard error. That nobody reads it is no reason to stop.
pub fn print_line(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Shows a run to the user.
pub struct Terminal {
    bar: Option<ProgressBar>,
    measuring: RefCell<Option<Measuring>>,
}

struct Measuring {
    began: Instant,
    last_line: Instant,
}

impl Terminal {
    /// A progress bar on a terminal, plain lines elsewhere and in CI.
    pub fn new() -> Self {
        let interactive = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        let bar = interactive.then(|| {
            let style = ProgressStyle::with_template("{prefix:>12} [{bar:24}] {msg}");
            let bar = ProgressBar::hidden();
            bar.set_style(style.expect("the template is right").progress_chars("=> "));
            bar.set_prefix("Measuring");
            bar
        });
        Self { bar, measuring: RefCell::new(None) }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| print_line(text)),
            None => print_line(text),
        }
    }
}

/// Takes the progress bar away, however the run ended.
impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Terminal {
    fn status(&self, verb: &str, text: &str) {
        self.line(&format!("{VERB}{verb:>12}{VERB:#} {}", printable(text)));
    }

    fn show(&self, text: &str) {
        self.line(text.trim_end());
    }

    fn warn(&self, text: &str) {
        self.line(&format!("{WARNING}warning:{WARNING:#} {}", printable(text)));
    }

    fn progress(&self, progress: &Progress) {
        let now = Instant::now();
        let mut measuring = self.measuring.borrow_mut();
        let measuring = measuring.get_or_insert(Measuring { began: now, last_line: now });
        if let Some(bar) = &self.bar {
            if bar.is_hidden() {
                bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            }
            bar.set_length(LENGTH);
            // What is left may turn out to be more than it seemed.
            bar.set_position(position(now - measuring.began, progress.left).max(bar.position()));
            bar.set_message(bar_message(progress));
        } else if now - measuring.last_line >= LINE_INTERVAL && progress.left.is_some() {
            measuring.last_line = now;
            self.status("Measured", &line_message(progress));
        }
    }
}

/// The steps of the progress bar.
const LENGTH: u64 = 1000;

fn position(elapsed: Duration, left: Option<Duration>) -> u64 {
    let Some(left) = left else { return 0 };
    (LENGTH as f64 * elapsed.div_duration_f64((elapsed + left).max(Duration::from_nanos(1)))) as u64
}

fn bar_message(progress: &Progress) -> String {
    let Progress { decided, benchmarks, left, target, .. } = progress;
    let left = left.map_or_else(String::new, |left| format!(", {} left", HumanDuration(left)));
    format!("{decided} of {benchmarks} decided{left}  {}", printable(target))
}

fn line_message(progress: &Progress) -> String {
    let Progress { decided, benchmarks, groups, left, .. } = progress;
    let left =
        left.map_or_else(String::new, |left| format!(", about {} left", HumanDuration(left)));
    let pairs = if *groups == 1 { "pair" } else { "pairs" };
    format!("{groups} launch {pairs}, {decided} of {benchmarks} benchmarks decided{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_stands_where_time_stands_and_the_rest_is_said() {
        let seconds = Duration::from_secs;
        assert_eq!(position(seconds(10), None), 0);
        assert_eq!(position(seconds(10), Some(seconds(30))), 250);
        assert_eq!(position(seconds(10), Some(seconds(0))), 1000);
        assert_eq!(position(seconds(0), Some(seconds(0))), 0);
        let progress = Progress {
            decided: 3,
            benchmarks: 30,
            groups: 14,
            left: Some(seconds(90)),
            target: "p::t\u{1b}[2J".to_owned(),
        };
        assert_eq!(bar_message(&progress), "3 of 30 decided, 2 minutes left  p::t");
        let line = "14 launch pairs, 3 of 30 benchmarks decided, about 2 minutes left";
        assert_eq!(line_message(&progress), line);
        let first = Progress { left: None, groups: 1, ..progress };
        assert_eq!(line_message(&first), "1 launch pair, 3 of 30 benchmarks decided");
        assert_eq!(bar_message(&first), "3 of 30 decided  p::t");
    }
}
