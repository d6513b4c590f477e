//! The adapter for gungraun, formerly iai-callgrind: instructions counted by valgrind.
//!
//! Its executables do nothing without a runner of their own version, and that nothing without valgrind. The same
//! code gives the same counts, so they run once, and there is nothing to test.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use crate::build::Launch;
use crate::error::Result;
use crate::lockstep::{Attachment, Unfit};

use super::run::{Ended, Run};
use super::whole::Whole;
use super::{
    Benchmarks, Count, Effort, Failure, Measurement, Sample, Session, TimeLimits, Wanted,
    crate_name,
};

/// A gungraun executable.
#[derive(Debug, Clone)]
pub struct GungraunBenchmarks {
    launch: Launch,
    limits: TimeLimits,
}

impl GungraunBenchmarks {
    /// The executable that a launch starts.
    pub fn new(launch: Launch, limits: TimeLimits) -> Self {
        Self { launch, limits }
    }

    /// The version of the runner that it needs: it stands beside the runner's name in the executable.
    fn version(&self) -> Option<String> {
        static RUNNER: LazyLock<regex::bytes::Regex> = LazyLock::new(|| {
            regex::bytes::Regex::new(r"(?:gungraun|iai-callgrind)-runner([0-9]+\.[0-9]+\.[0-9]+)")
                .expect("a valid pattern")
        });
        let bytes = fs_err::read(self.launch.executable()).ok()?;
        let version = RUNNER.captures(&bytes)?.get(1)?.as_bytes();
        Some(String::from_utf8_lossy(version).into_owned())
    }
}

/// Stands for a version that is not known.
const VERSION: &str = "VERSION";

impl Benchmarks for GungraunBenchmarks {
    fn list(&mut self) -> Result<std::result::Result<Vec<String>, Failure>> {
        let ended = match Run::to_end(self.launch.command(["--list"]), self.limits.longest())? {
            Ok(ended) => ended,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Some(problem) = &ended.problem {
            let reason = explain(&ended, problem);
            let reason = match self.version() {
                Some(version) => reason.replace(VERSION, &version),
                None => reason,
            };
            return Ok(Err(Failure::outside_benchmarks(reason)));
        }
        let crate_name = crate_name(&self.launch);
        let paths = ended.stdout.lines().filter_map(|line| line.strip_suffix(": benchmark"));
        Ok(Ok(paths.map(|path| without_crate(path, &crate_name)).collect()))
    }

    /// Counts do not depend on who else runs.
    fn unfit(&self) -> Option<Unfit> {
        Some(Unfit::Whole)
    }

    fn start(
        &self,
        wanted: Wanted<'_>,
        _effort: Effort,
        _attachment: Option<&Attachment>,
        executable: Option<&Path>,
    ) -> Result<std::result::Result<Box<dyn Session>, Failure>> {
        // Where it writes what it compares with on its own.
        let home = tempfile::tempdir()?;
        let crate_name = crate_name(&self.launch);
        let mut arguments =
            vec!["--output-format=json".to_owned(), format!("--home={}", home.path().display())];
        // It takes a single pattern.
        if let Wanted::Only([id]) = wanted {
            arguments.push(format!("{crate_name}::{}", escape(id)));
        }
        let command = self.launch.of(executable).command(arguments);
        let read = move |ended: &Ended| {
            // The directory lives as long as this.
            let _ = &home;
            summaries(&ended.stdout, &crate_name)
        };
        let whole = Whole::new(command, wanted.ids(), self.limits.longest(), read);
        Ok(Ok(Box::new(whole.explained_by(explain))))
    }
}

/// What is special in its patterns stands for any character.
fn escape(id: &str) -> String {
    id.replace(['*', '?', '[', ']'], "?")
}

fn without_crate(path: &str, crate_name: &str) -> String {
    let rest = path.strip_prefix(crate_name).and_then(|rest| rest.strip_prefix("::"));
    rest.unwrap_or(path).to_owned()
}

/// What went wrong, and how to get what is missing.
fn explain(ended: &Ended, what: &str) -> String {
    let reason = ended.explain(what);
    let help = if ended.says("-runner installed") {
        let former = "iai-callgrind-runner";
        let name = if ended.says(former) { former } else { "gungraun-runner" };
        format!(
            "it needs `{name}`, of exactly the version that the library has in Cargo.lock: \
             `cargo install {name} --version {VERSION}`"
        )
    } else if let Some(wanted) = wanted_version(ended) {
        format!(
            "the runner that is installed is of another version: `cargo install {} --version {}`; where \
             revisions need two, install one with `--root` and name it in GUNGRAUN_RUNNER",
            wanted.0, wanted.1
        )
    } else if ended.says("valgrind") && ended.says("No such file") {
        "it needs valgrind, which is in most systems' packages: `apt install valgrind`".to_owned()
    } else {
        return reason;
    };
    format!("{reason}\n{help}")
}

/// The runner and the version that a message about versions asks for.
fn wanted_version(ended: &Ended) -> Option<(String, String)> {
    static MISMATCH: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(gungraun|iai-callgrind)-runner \([0-9.]+\) is (?:older|newer) than (?:gungraun|iai-callgrind) \(([0-9.]+)\)",
        )
        .expect("a valid pattern")
    });
    let text = ended.all();
    let found = MISMATCH.captures(&text)?;
    Some((format!("{}-runner", &found[1]), found[2].to_owned()))
}

/// A line of `--output-format=json`, of schema 6 or 7.
#[derive(Debug, Deserialize)]
struct Summary {
    module_path: String,
    id: Option<String>,
    profiles: Vec<Value>,
}

/// The benchmarks in its output.
fn summaries(text: &str, crate_name: &str) -> Vec<Measurement> {
    let summaries = text.lines().filter_map(|line| serde_json::from_str::<Summary>(line).ok());
    summaries.filter_map(|summary| summary.measurement(crate_name)).collect()
}

impl Summary {
    fn measurement(&self, crate_name: &str) -> Option<Measurement> {
        let path = match &self.id {
            Some(id) => format!("{}::{id}", self.module_path),
            None => self.module_path.clone(),
        };
        let instructions = self.total("Ir")?;
        let sample = Sample { iterations: 1.0, total: instructions };
        let beside = [
            ("estimated cycles", "EstimatedCycles"),
            ("allocations", "TotalBlocks"),
            ("allocated bytes", "TotalBytes"),
            ("most bytes at once", "AtTGmaxBytes"),
        ];
        let count = |(metric, key): (&str, &str)| {
            Some(Count { metric: metric.to_owned(), value: self.total(key)? })
        };
        Some(Measurement {
            is_counted: true,
            counts: beside.into_iter().filter_map(count).collect(),
            ..Measurement::new(without_crate(&path, crate_name), "instructions", vec![sample])
        })
    }

    /// The total of a metric that one of the tools has counted.
    fn total(&self, key: &str) -> Option<f64> {
        self.profiles.iter().find_map(|profile| {
            let seven = profile.pointer("/data/total/metrics").and_then(|metrics| metrics.get(key));
            let six = || {
                let summary = profile.pointer("/summaries/total/summary")?;
                summary.as_object()?.values().find_map(|tool| tool.get(key))
            };
            new_value(seven.or_else(six)?)
        })
    }
}

/// The value of this run: `{"values": {"new": 12}}` in schema 7, `{"metrics": {"Left": {"Int": 12}}}` in schema 6, where
/// there may be `Both` it and an earlier run's.
fn new_value(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Array(values) => new_value(values.first()?),
        Value::Object(object) => {
            let keys = ["values", "metrics", "new", "Left", "Both", "Int", "Float"];
            new_value(keys.iter().find_map(|key| object.get(*key))?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What gungraun 0.20 printed, shortened.
    const SEVEN: &str = r#"{"baselines":[null,null],"function_name":"bench_fib","group":"g","id":"short","kind":"LibraryBenchmark","module_path":"counts::g::bench_fib","profiles":[{"data":{"parts":[{"metrics":{"Ir":{"values":{"new":9}}}}],"total":{"metrics":{"Dr":{"values":{"new":270}},"EstimatedCycles":{"values":{"new":2430}},"Ir":{"values":{"new":1734}},"L1HitRate":{"values":{"new":99.9}}},"regressions":[]}},"tool":"Callgrind"}],"version":"7"}"#;

    /// As gungraun 0.17 and iai-callgrind 0.16 print it, with a second tool.
    const SIX: &str = r#"{"function_name":"bench_fib","id":null,"kind":"LibraryBenchmark","module_path":"counts::g::bench_fib","profiles":[{"summaries":{"parts":[],"total":{"regressions":[],"summary":{"Callgrind":{"Ir":{"diffs":null,"metrics":{"Left":{"Int":17}}},"EstimatedCycles":{"diffs":null,"metrics":{"Both":[{"Int":30},{"Int":29}]}}}}}},"tool":"Callgrind"},{"summaries":{"parts":[],"total":{"regressions":[],"summary":{"Dhat":{"TotalBytes":{"diffs":null,"metrics":{"Left":{"Int":512}}},"TotalBlocks":{"diffs":null,"metrics":{"Left":{"Int":4}}}}}}},"tool":"DHAT"}],"version":"6"}"#;

    #[test]
    fn both_schemas_are_read() {
        let found = summaries(&format!("noise\n{SEVEN}\n{SIX}\n{{}}\n"), "counts");
        let counts = |m: &Measurement| -> Vec<(String, f64)> {
            m.counts.iter().map(|count| (count.metric.clone(), count.value)).collect()
        };
        assert_eq!(found[0].benchmark, "g::bench_fib::short");
        assert_eq!((found[0].unit.as_str(), found[0].samples[0].total), ("instructions", 1734.0));
        assert_eq!(counts(&found[0]), [("estimated cycles".to_owned(), 2430.0)]);
        assert_eq!(
            (found[1].benchmark.as_str(), found[1].samples[0].total),
            ("g::bench_fib", 17.0)
        );
        assert_eq!(
            counts(&found[1]),
            [("estimated cycles", 30.0), ("allocations", 4.0), ("allocated bytes", 512.0)]
                .map(|(metric, value)| (metric.to_owned(), value))
        );
        assert!(found.iter().all(|m| m.is_counted) && found.len() == 2);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(cut in 0usize..600, text in "\\PC{0,20}") {
            summaries(&text, "counts");
            summaries(&SIX[..cut.min(SIX.len())], "counts");
        }
    }
}
