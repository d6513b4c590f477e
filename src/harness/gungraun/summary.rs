//! What gungraun prints of a benchmark: a line of JSON, whose schema has changed now and then.

use serde::Deserialize;
use serde_json::Value;

use super::without_crate;
use crate::model::{Count, Measurement, Sample};

/// A line of `--output-format=json`, of schema 6 or 7.
#[derive(Debug, Deserialize)]
struct Summary {
    module_path: String,
    id: Option<String>,
    profiles: Vec<Value>,
}

/// The benchmarks in its output.
pub fn measurements(text: &str, crate_name: &str) -> Vec<Measurement> {
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

    /// What three releases printed of the same three benchmarks.
    const SIX: [&str; 2] = [
        include_str!("../../../tests/data/gungraun/iai-callgrind-0.16.1.jsonl"),
        include_str!("../../../tests/data/gungraun/gungraun-0.19.4.jsonl"),
    ];
    const SEVEN: &str = include_str!("../../../tests/data/gungraun/gungraun-0.20.0.jsonl");

    #[test]
    fn both_schemas_are_read() {
        for (text, version) in [(SIX[0], "6"), (SIX[1], "6"), (SEVEN, "7")] {
            assert!(text.contains(&format!(r#""version":"{version}""#)));
            let found = measurements(&format!("noise\n{text}\n{{}}\n"), "counts");
            assert!(found.iter().all(|m| m.is_counted && m.unit == "instructions"));
            let instructions: Vec<(&str, f64)> =
                found.iter().map(|m| (m.benchmark.as_str(), m.samples[0].total)).collect();
            assert_eq!(
                instructions,
                [
                    ("numbers::fib::short", 1836.0),
                    ("numbers::fib::long", 225686.0),
                    ("numbers::squares", 14562.0)
                ]
            );
            // What is simulated depends on where things lie, but not the allocations.
            let counts: Vec<(&str, f64)> =
                found[2].counts.iter().map(|count| (count.metric.as_str(), count.value)).collect();
            assert!(counts[0].0 == "estimated cycles" && counts[0].1 > 25_000.0);
            assert_eq!(
                counts[1..],
                [
                    ("allocations", 9.0),
                    ("allocated bytes", 16352.0),
                    ("most bytes at once", 8192.0)
                ]
            );
            assert!(found[0].counts.len() == 1);
        }
    }

    #[test]
    fn this_run_counts_beside_an_earlier_one() {
        let earlier = r#"{"metrics":{"Both":[{"Int":30},{"Int":29}]}}"#;
        assert_eq!(new_value(&serde_json::from_str(earlier).unwrap()), Some(30.0));
        assert_eq!(
            new_value(&serde_json::from_str(r#"{"values":{"new":3,"old":4}}"#).unwrap()),
            Some(3.0)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(cut in 0usize..9000, text in "\\PC{0,20}") {
            measurements(&text, "counts");
            measurements(&SEVEN[..cut.min(SEVEN.len())], "counts");
        }
    }
}
