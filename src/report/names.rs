//! Names of benchmarks: their order, and how much of them is shown.

use std::cmp::Ordering;

use crate::results::{Missing, Results};

use super::text::one_line;

/// Compares texts as people sort them: numbers within them by their value, so that `len=4` comes before
/// `len=16`.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut rest_a, mut rest_b) = (a, b);
    loop {
        let (part_a, part_b) = (next_part(&mut rest_a), next_part(&mut rest_b));
        let order = match (part_a, part_b) {
            (None, None) => break,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) if is_number(a) && is_number(b) => {
                let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
                a.len().cmp(&b.len()).then(a.cmp(b))
            }
            (Some(a), Some(b)) => a.cmp(b),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    // `a01` and `a1` are told apart, or the order would not be total.
    a.cmp(b)
}

/// Takes a run of digits or a single other character off the front.
fn next_part<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let first = rest.chars().next()?;
    let end = if first.is_ascii_digit() {
        rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    } else {
        first.len_utf8()
    };
    let (part, after) = rest.split_at(end);
    *rest = after;
    Some(part)
}

fn is_number(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_digit())
}

/// How benchmarks are named in one report: with as much before their id as it takes to tell them apart.
#[derive(Debug, Clone, Copy)]
pub struct Naming {
    package: bool,
    target: bool,
}

impl Naming {
    /// The naming that fits all benchmarks of a results file.
    pub fn for_results(results: &Results) -> Self {
        let comparisons =
            results.comparisons.iter().map(|c| (c.package.as_str(), c.target.as_str()));
        let missing = results
            .added
            .iter()
            .chain(&results.removed)
            .map(|m| (m.package.as_str(), m.target.as_str()));
        let failed = results.failed.iter().map(|f| (f.package.as_str(), f.target.as_str()));
        let set_aside = results.set_aside.iter().map(|s| (s.package.as_str(), s.target.as_str()));
        let mut all: Vec<(&str, &str)> =
            comparisons.chain(missing).chain(failed).chain(set_aside).collect();
        all.sort_unstable();
        all.dedup();
        let first_package = all.first().map(|(package, _)| *package);
        Self {
            package: all.iter().any(|(package, _)| Some(*package) != first_package),
            target: all.len() > 1,
        }
    }

    /// `package::target::benchmark`, without what all have in common.
    pub fn name(self, package: &str, target: &str, benchmark: &str) -> String {
        let parts = [(self.package, package), (self.target, target), (true, benchmark)];
        let shown: Vec<&str> =
            parts.into_iter().filter(|(shown, _)| *shown).map(|(_, part)| part).collect();
        one_line(&shown.join("::"))
    }

    /// The name of a benchmark, or of a target with all that it has: `all of package::target`.
    pub fn part(self, package: &str, target: &str, benchmark: Option<&str>) -> String {
        match benchmark {
            Some(benchmark) => self.name(package, target, benchmark),
            None => one_line(&format!("all of {package}::{target}")),
        }
    }

    /// What revisions have not, in order; with several revisions, each with the one that it concerns.
    pub fn missing(self, list: &[Missing], results: &Results) -> Vec<String> {
        let several = results.revisions.len() > 2;
        let mut names: Vec<String> = list
            .iter()
            .map(|missing| {
                let name = self.name(&missing.package, &missing.target, &missing.benchmark);
                if several { format!("{name} ({})", one_line(&missing.revision)) } else { name }
            })
            .collect();
        names.sort_by(|a, b| natural_order(a, b));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_ordered_by_value() {
        let mut names = ["len=16", "len=4", "len=4 n=2", "a10b2", "a10b10", "a9b99", "len=04"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["a9b99", "a10b2", "a10b10", "len=04", "len=4", "len=4 n=2", "len=16"]);
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in "[ab01 ]{0,6}", b in "[ab01 ]{0,6}", c in "[ab01 ]{0,6}") {
            prop_assert_eq!(natural_order(&a, &b), natural_order(&b, &a).reverse());
            prop_assert_eq!(natural_order(&a, &b) == Ordering::Equal, a == b);
            if natural_order(&a, &b).is_le() && natural_order(&b, &c).is_le() {
                prop_assert!(natural_order(&a, &c).is_le());
            }
        }

        #[test]
        fn any_text_can_be_compared(a in ".*", b in ".*") {
            natural_order(&a, &b);
        }
    }
}
