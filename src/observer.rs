//! What the stages tell whoever watches a run. The terminal's side of it is in `cli`.

/// How far the measuring has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Launch groups done.
    pub done: usize,
    /// Launch groups that the run will have.
    pub total: usize,
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
