//! What holds for some benchmarks only: margins, time limits, how they are measured, and which are set aside.
//!
//! In: the entries of the configuration files, in the order of their precedence. Out: for a benchmark or target the
//! first entry that says something about it. Pure.

use std::time::Duration;

use regex::Regex;

use crate::model::{BenchmarkName, CustomHarness, Percent, TargetName, TimeLimits};

/// Which ids are meant.
#[derive(Debug, Clone)]
pub enum Ids {
    /// This one.
    Exact(String),
    /// Those in which this matches, as with `--filter`.
    Matching(Regex),
}

impl Ids {
    /// Whether a benchmark's id is meant.
    pub fn contains(&self, id: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == id,
            Self::Matching(regex) => regex.is_match(id),
        }
    }
}

/// Which benchmarks an entry is about. What is left out does not matter.
#[derive(Debug, Clone, Default)]
pub struct Subject {
    /// Of this package only.
    pub package: Option<String>,
    /// Of this target only: a bench target, or a command.
    pub target: Option<String>,
    /// With these ids only.
    pub ids: Option<Ids>,
}

impl Subject {
    fn has_target(&self, name: &TargetName) -> bool {
        let is = |wanted: &Option<String>, name: &String| wanted.as_ref().is_none_or(|w| w == name);
        is(&self.package, &name.package) && is(&self.target, &name.target)
    }

    /// Whether a benchmark is meant.
    pub fn has(&self, name: &BenchmarkName) -> bool {
        let target = TargetName { package: name.package.clone(), target: name.target.clone() };
        self.has_target(&target)
            && self.ids.as_ref().is_none_or(|ids| ids.contains(&name.benchmark))
    }

    /// Whether all benchmarks of a target are meant, whatever their ids.
    pub fn has_all_of(&self, name: &TargetName) -> bool {
        self.ids.is_none() && self.has_target(name)
    }
}

/// What is different for some benchmarks.
#[derive(Debug, Clone)]
pub struct BenchmarkRule {
    /// Which.
    pub subject: Subject,
    /// Their margin.
    pub margin: Option<Percent>,
    /// How long they may go on without any sign of progress.
    pub timeout: Option<Duration>,
    /// Whether they may be measured in step.
    pub lockstep: Option<bool>,
}

/// Benchmarks that are not measured, and why.
#[derive(Debug, Clone)]
pub struct SkipRule {
    /// Which.
    pub subject: Subject,
    /// Why, in the user's words.
    pub reason: String,
}

/// What an executable with a harness of its own prints.
#[derive(Debug, Clone)]
pub struct TargetRule {
    /// The package, if it is said.
    pub package: Option<String>,
    /// The target.
    pub target: String,
    /// What it prints.
    pub harness: CustomHarness,
}

/// All entries, in the order of their precedence: the first that says something counts.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// `[[benchmark]]`
    pub benchmarks: Vec<BenchmarkRule>,
    /// `[[set-aside]]`
    pub set_aside: Vec<SkipRule>,
    /// `[target.NAME]`
    pub targets: Vec<TargetRule>,
}

impl Rules {
    /// Adds entries of a lower precedence.
    pub fn extend(&mut self, others: Self) {
        self.benchmarks.extend(others.benchmarks);
        self.set_aside.extend(others.set_aside);
        self.targets.extend(others.targets);
    }

    /// The margin of a benchmark, if it has one of its own.
    pub fn margin(&self, name: &BenchmarkName) -> Option<Percent> {
        self.first(name, |rule| rule.margin)
    }

    /// Whether a benchmark may be measured in step.
    pub fn may_keep_step(&self, name: &BenchmarkName) -> bool {
        self.first(name, |rule| rule.lockstep).unwrap_or(true)
    }

    fn first<T>(
        &self,
        name: &BenchmarkName,
        of: impl Fn(&BenchmarkRule) -> Option<T>,
    ) -> Option<T> {
        self.benchmarks.iter().filter(|rule| rule.subject.has(name)).find_map(of)
    }

    /// Why a benchmark is set aside, if it is.
    pub fn reason_to_set_aside(&self, name: &BenchmarkName) -> Option<&str> {
        let rule = self.set_aside.iter().find(|rule| rule.subject.has(name))?;
        Some(&rule.reason)
    }

    /// Why a whole target is set aside, if it is. Such a target need not even be started.
    pub fn reason_to_set_target_aside(&self, name: &TargetName) -> Option<&str> {
        let rule = self.set_aside.iter().find(|rule| rule.subject.has_all_of(name))?;
        Some(&rule.reason)
    }

    /// What a target with a harness of its own prints, if that is configured.
    pub fn custom_harness(&self, name: &TargetName) -> Option<CustomHarness> {
        let is_meant = |rule: &&TargetRule| {
            rule.target == name.target
                && rule.package.as_ref().is_none_or(|package| *package == name.package)
        };
        self.targets.iter().find(is_meant).map(|rule| rule.harness)
    }

    /// The time limits of a target's benchmarks: `general` unless they have their own.
    pub fn time_limits(&self, name: &TargetName, general: Duration) -> TimeLimits {
        let rules = self.benchmarks.iter().filter(|rule| rule.subject.has_target(name));
        let own = rules.filter_map(|rule| Some((rule.subject.ids.clone(), rule.timeout?)));
        TimeLimits::new(general, own.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(benchmark: &str) -> BenchmarkName {
        target().benchmark(benchmark)
    }

    fn target() -> TargetName {
        TargetName { package: "p".to_owned(), target: "t".to_owned() }
    }

    fn matching(regex: &str) -> Subject {
        let ids = Some(Ids::Matching(Regex::new(regex).unwrap()));
        Subject { ids, ..Subject::default() }
    }

    fn rule(subject: Subject) -> BenchmarkRule {
        BenchmarkRule { subject, margin: None, timeout: None, lockstep: None }
    }

    #[test]
    fn the_first_entry_that_says_something_counts() {
        let five = Some(Percent::new(5.0));
        let rules = Rules {
            benchmarks: vec![
                BenchmarkRule { lockstep: Some(false), ..rule(matching("^parse/slow")) },
                BenchmarkRule { margin: five, ..rule(matching("^parse")) },
                BenchmarkRule { margin: Some(Percent::new(9.0)), ..rule(matching("")) },
            ],
            ..Rules::default()
        };
        assert_eq!(rules.margin(&name("parse/slow")), five);
        assert_eq!(rules.margin(&name("print")), Some(Percent::new(9.0)));
        assert!(!rules.may_keep_step(&name("parse/slow")));
        assert!(rules.may_keep_step(&name("parse")));
    }

    #[test]
    fn an_entry_is_about_the_package_and_target_that_it_names() {
        let of = |package: Option<&str>, target: Option<&str>| Subject {
            package: package.map(str::to_owned),
            target: target.map(str::to_owned),
            ids: None,
        };
        for (subject, meant) in [
            (of(None, None), true),
            (of(Some("p"), None), true),
            (of(Some("q"), Some("t")), false),
            (of(None, Some("u")), false),
        ] {
            assert_eq!(subject.has(&name("x")), meant, "{subject:?}");
            assert_eq!(subject.has_all_of(&target()), meant, "{subject:?}");
        }
        let exact = Subject { ids: Some(Ids::Exact("a.c".to_owned())), ..Subject::default() };
        assert!(exact.has(&name("a.c")) && !exact.has(&name("abc")));
        assert!(!exact.has_all_of(&target()));
    }

    #[test]
    fn time_limits_are_those_of_the_target_and_the_first_that_fits() {
        let seconds = Duration::from_secs;
        let elsewhere = Subject { target: Some("u".to_owned()), ..matching("") };
        let rules = Rules {
            benchmarks: vec![
                BenchmarkRule { timeout: Some(seconds(1)), ..rule(elsewhere) },
                BenchmarkRule { timeout: Some(seconds(2)), ..rule(matching("slow")) },
                BenchmarkRule { timeout: Some(seconds(3)), ..rule(matching("^slow$")) },
            ],
            ..Rules::default()
        };
        let limits = rules.time_limits(&target(), seconds(60));
        assert_eq!(limits.of("slow"), seconds(2));
        assert_eq!(limits.of("quick"), seconds(60));
        assert_eq!(limits.general(), seconds(60));
        assert_eq!(limits.longest(), seconds(60));
    }
}
