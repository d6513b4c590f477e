//! What the stages tell whoever watches a run. The terminal's side of it is in `cli`.

use std::time::Duration;

/// How far the measuring has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Benchmarks that are measured enough, or that failed.
    pub decided: usize,
    /// All benchmarks that are measured.
    pub benchmarks: usize,
    /// Launch groups that each of the others has had, the one that is running included.
    pub groups: u32,
    /// How long it will probably take, if that can be told.
    pub left: Option<Duration>,
    /// What is being measured, `package::target`.
    pub target: String,
}

/// Somebody who watches a run.
pub trait Observer {
    /// A step begins or ended: a verb of its own column, as cargo prints them, and a text.
    fn status(&self, verb: &str, text: &str);

    /// What another program printed and the user must see as it is, such as a compiler's errors.
    fn show(&self, text: &str);

    /// Something the user should know, while the run goes on.
    fn warn(&self, text: &str);

    /// The measuring has come so far.
    fn progress(&self, progress: &Progress);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn status(&self, _verb: &str, _text: &str) {}
    fn show(&self, _text: &str) {}
    fn warn(&self, _text: &str) {}
    fn progress(&self, _progress: &Progress) {}
}
