//! The CSV of Node.js's `benchmark/compare.js`: one line for each launch, so that its `compare.R` and
//! `cargo bench-compare analyze` can judge it in their way.

use std::collections::HashSet;

use crate::report::names::Naming;
use crate::report::parameters::split_parameters;
use crate::report::text::one_line;
use crate::results::{Measured, Results};

use super::{Series, series};

/// Renders every launch as a line of `"binary","filename","configuration","rate","time"`.
///
/// `binary` is `old` for the reference and `new` for the other revision, as `compare.R` wants it; with several
/// revisions it is their label. `configuration` are the parameters in the benchmark's id, `filename` is the rest of
/// its name. `rate` is in operations a second and `time` in seconds for one operation; for benchmarks that measure
/// something else than time, `time` is the measured value and `rate` one divided by it.
pub fn csv(results: &Results) -> String {
    let all = series(results);
    let names = Names::of(results, &all);
    let mut writer =
        csv::WriterBuilder::new().quote_style(csv::QuoteStyle::NonNumeric).from_writer(Vec::new());
    let header = ["binary", "filename", "configuration", "rate", "time"];
    // Writing to memory cannot fail.
    let mut write =
        |record: [String; 5]| writer.write_record(&record).expect("memory takes records");
    write(header.map(str::to_owned));
    for series in &all {
        let binary = binary(results, series.revision);
        let (filename, configuration) = names.split(series.measured);
        let seconds = if series.measured.unit == "ns" { 1e9 } else { 1.0 };
        for value in &series.values {
            let (rate, time) = (number(seconds / value), number(value / seconds));
            write([binary.clone(), filename.clone(), configuration.clone(), rate, time]);
        }
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn binary(results: &Results, revision: usize) -> String {
    match (results.revisions.len(), revision) {
        (2, 0) => "old".to_owned(),
        (2, _) => "new".to_owned(),
        _ => one_line(&results.revisions[revision].label),
    }
}

/// With all its digits, and not too many zeros.
fn number(value: f64) -> String {
    if (1e-6..1e21).contains(&value) { value.to_string() } else { format!("{value:e}") }
}

/// File names and configurations of all benchmarks, which tell them apart.
struct Names {
    naming: Naming,
    splits: bool,
}

impl Names {
    /// Parameters are told from names unless two benchmarks would then be called the same.
    fn of(results: &Results, all: &[Series]) -> Self {
        let naming = Naming::for_results(results);
        let mut names = Self { naming, splits: true };
        let mut seen = HashSet::new();
        names.splits = all.iter().filter(|series| series.revision == 0).all(|series| {
            let (filename, configuration) = names.split(series.measured);
            seen.insert(format!("{filename} {configuration}").trim_end().to_owned())
        });
        names
    }

    fn split(&self, measured: &Measured) -> (String, String) {
        let Measured { package, target, benchmark, .. } = measured;
        let (name, parameters) = if self.splits {
            split_parameters(benchmark)
        } else {
            (benchmark.as_str(), String::new())
        };
        let filename = self.naming.name(package, target, name);
        // A file has a name.
        let filename = if filename.is_empty() { one_line(target) } else { filename };
        (filename, one_line(&parameters))
    }
}
