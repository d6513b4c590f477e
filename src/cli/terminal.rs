//! Standard error: steps, warnings, errors, and how long it will still take.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use crate::error::Error;
use crate::observer::{Observer, Progress};
use crate::report::printable;

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
            let style = ProgressStyle::with_template("{prefix:>12} [{bar:24}] {pos}/{len} {msg}");
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
        let left = time_left(now - measuring.began, progress);
        if let Some(bar) = &self.bar {
            if bar.is_hidden() {
                bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            }
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(match left {
                Some(left) => format!("{}, {} left", progress.target, HumanDuration(left)),
                None => progress.target.clone(),
            });
        } else if now - measuring.last_line >= LINE_INTERVAL
            && let Some(left) = left
        {
            measuring.last_line = now;
            let Progress { done, total, .. } = progress;
            let text =
                format!("{done} of {total} launch pairs, about {} left", HumanDuration(left));
            self.status("Measured", &text);
        }
    }
}

fn time_left(elapsed: Duration, progress: &Progress) -> Option<Duration> {
    if progress.done == 0 || progress.done >= progress.total {
        return None;
    }
    Some(elapsed.mul_f64((progress.total - progress.done) as f64 / progress.done as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_in_proportion_to_what_is_left() {
        let progress = |done| Progress { done, total: 12, target: String::new() };
        let minute = Duration::from_secs(60);
        assert_eq!(time_left(minute, &progress(3)), Some(3 * minute));
        assert_eq!(time_left(minute, &progress(0)), None);
        assert_eq!(time_left(minute, &progress(12)), None);
    }
}
