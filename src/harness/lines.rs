//! Lines that benchmark programs print: those of libtest, and JSON lines. Pure.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::libtest::throughput;
use crate::model::{Count, Measurement, Sample, Throughput};

/// The measurements in libtest's text, `test NAME ... bench:  1,349.76 ns/iter (+/- 1,108.01) = 7 MB/s`, in their
/// order. Whatever else is printed is passed over, also between a name and its figures.
pub fn libtest(text: &str) -> Vec<Measurement> {
    let mut measurements = Vec::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(begun) = begun(line) {
            name = Some(begun);
        }
        if let Some((nanoseconds, throughput)) = timed(line)
            && let Some(name) = name.take()
        {
            let measurement = Measurement::median(name, nanoseconds);
            measurements.push(Measurement { throughput, ..measurement });
        }
    }
    measurements
}

/// The benchmark that a line of libtest's text says has begun.
pub fn begun(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("test ")?.split_once(" ... ")?;
    // Names are padded to a column.
    Some(name.trim_end())
}

fn timed(line: &str) -> Option<(f64, Option<Throughput>)> {
    let (_, figures) = line.rsplit_once("bench:")?;
    let (time, rest) = figures.split_once(" ns/iter (+/- ")?;
    let nanoseconds: f64 = time.trim().replace(',', "").parse().ok()?;
    let rate = rest.split_once(" = ").and_then(|(_, rate)| rate.strip_suffix(" MB/s"));
    let rate = rate.and_then(|rate| rate.trim().replace(',', "").parse().ok());
    Some((nanoseconds, rate.and_then(|rate| throughput(rate, nanoseconds))))
}

/// A JSON line (docs/harnesses.md): a sample of a benchmark, or its name alone.
#[derive(Debug, Deserialize)]
struct Line {
    benchmark: String,
    /// How often the benchmarked code ran.
    #[serde(default = "once")]
    iterations: f64,
    /// What that took.
    nanoseconds: Option<f64>,
    /// How often it runs a second, instead.
    rate: Option<f64>,
    /// What it took of something else than time, instead.
    value: Option<f64>,
    unit: Option<String>,
    throughput: Option<Throughput>,
    /// Per iteration.
    #[serde(default)]
    counts: BTreeMap<String, f64>,
}

fn once() -> f64 {
    1.0
}

/// The measurements in JSON lines, in the order of their first samples. Lines that are something else are passed
/// over; a benchmark's further lines are further samples. A benchmark that is only named has none.
pub fn json(text: &str) -> Vec<Measurement> {
    let mut measurements: Vec<Measurement> = Vec::new();
    let lines = text.lines().filter(|line| line.trim_start().starts_with('{'));
    for line in lines.filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        let (total, unit) = match (line.nanoseconds, line.rate, line.value) {
            (Some(nanoseconds), _, _) => (Some(nanoseconds), "ns".to_owned()),
            (None, Some(rate), _) => (Some(1e9 * line.iterations / rate), "ns".to_owned()),
            (None, None, value) => (value, line.unit.unwrap_or_else(|| "ns".to_owned())),
        };
        let position = measurements.iter().position(|m| m.benchmark == line.benchmark);
        let position = position.unwrap_or_else(|| {
            measurements.push(Measurement::new(line.benchmark, unit, Vec::new()));
            measurements.len() - 1
        });
        let measurement = &mut measurements[position];
        let iterations = line.iterations;
        measurement.samples.extend(total.map(|total| Sample { iterations, total }));
        measurement.throughput = measurement.throughput.take().or(line.throughput);
        let counts = line.counts.into_iter().map(|(metric, value)| Count { metric, value });
        measurement.counts.extend(counts);
    }
    measurements
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn json_lines_are_samples_of_benchmarks() {
        let text = "warming up\n{\"benchmark\": \"a\", \"nanoseconds\": 200, \"iterations\": 2}\n\
            {\"benchmark\": \"only named\"}\n{\"broken\n{\"another\": \"object\"}\n\
            {\"benchmark\": \"a\", \"nanoseconds\": 90, \"counts\": {\"allocations\": 3}}\n\
            {\"benchmark\": \"rate\", \"rate\": 4e6}\n\
            {\"benchmark\": \"memory\", \"value\": 12, \"unit\": \"MB\", \
             \"throughput\": {\"amount\": 5, \"unit\": \"files\"}}\n";
        let found = json(text);
        let each = |m: &Measurement| -> Vec<f64> {
            m.samples.iter().map(|sample| sample.total / sample.iterations).collect()
        };
        let summary: Vec<_> =
            found.iter().map(|m| (m.benchmark.as_str(), m.unit.as_str(), each(m))).collect();
        assert_eq!(
            summary,
            [
                ("a", "ns", vec![100.0, 90.0]),
                ("only named", "ns", vec![]),
                ("rate", "ns", vec![250.0]),
                ("memory", "MB", vec![12.0]),
            ]
        );
        assert_eq!(found[0].counts, [Count { metric: "allocations".to_owned(), value: 3.0 }]);
        assert_eq!(found[3].throughput.as_ref().unwrap().unit, "files");
    }

    #[test]
    fn libtest_lines_are_read_among_others() {
        let text = "\nrunning 8 tests\ntest t ... ignored\ntest bad            ... FAILED\n\
            test größe::ünï ... bench:           0.55 ns/iter (+/- 1.53)\n\
            test plain          ... bench:         312.86 ns/iter (+/- 121.63) = 3205 MB/s\n\
            test old ... bench:   1,234,567 ns/iter (+/- 1,2)\n\
            test prints ... hello\nand more\nbench:          12 ns/iter (+/- 1)\n\
            test dynamic name with ... dots ... bench: 7 ns/iter (+/- 0)\n";
        let found: Vec<(String, f64)> =
            libtest(text).into_iter().map(|m| (m.benchmark, m.samples[0].total)).collect();
        let expected = [
            ("größe::ünï", 0.55),
            ("plain", 312.86),
            ("old", 1_234_567.0),
            ("prints", 12.0),
            ("dynamic name with", 7.0),
        ];
        assert_eq!(found, expected.map(|(name, time)| (name.to_owned(), time)));
        assert_eq!(libtest(text)[1].throughput.as_ref().unwrap().amount, 1003.0);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "(\\PC|\n|test |bench:| ns/iter \\(\\+/- ){0,60}") {
            libtest(&text);
            json(&text);
        }

        #[test]
        fn what_is_printed_is_read_again(name in "[a-z:_0-9]{1,130}", time in 0u32..4_000_000) {
            let text = format!("test {name} ... bench: {time:>11}.25 ns/iter (+/- 3)\n");
            let found = libtest(&text);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].benchmark, &name);
            prop_assert_eq!(found[0].samples[0].total, f64::from(time) + 0.25);
        }
    }
}
