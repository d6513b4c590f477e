//! Which benchmarks the user wants.

use regex::Regex;

/// Which benchmarks the user wants, by regular expressions on their ids.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// At least one of these matches, if there are any.
    pub only: Vec<Regex>,
    /// None of these matches.
    pub skip: Vec<Regex>,
}

impl Filter {
    /// Whether a benchmark is wanted.
    pub fn accepts(&self, id: &str) -> bool {
        (self.only.is_empty() || self.only.iter().any(|regex| regex.is_match(id)))
            && !self.skip.iter().any(|regex| regex.is_match(id))
    }
}
