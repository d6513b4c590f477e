//! A results file of real benchmarks against what R makes of its CSV: `tests/data/r/check.R` has made `values.csv`.

use cargo_bench_compare::node_compare::{compare_rates, parse};
use cargo_bench_compare::report::csv;
use cargo_bench_compare::results::Results;

fn results() -> Results {
    Results::from_json(include_str!("../data/r/results.json")).unwrap()
}

/// A line of R's table, asked by the column's name.
struct Line {
    header: Vec<&'static str>,
    fields: Vec<&'static str>,
}

impl Line {
    fn text(&self, column: &str) -> &'static str {
        self.fields[self.header.iter().position(|name| *name == column).unwrap()]
    }

    /// Whether R has the same number, to nine digits.
    fn has(&self, column: &str, value: f64) {
        let expected: f64 = self.text(column).parse().unwrap();
        assert!(
            (value - expected).abs() <= 1e-9 * expected.abs(),
            "{}: {column} is {expected} in R, not {value}",
            self.text("name")
        );
    }
}

fn lines() -> Vec<Line> {
    let mut lines = include_str!("../data/r/values.csv").lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(|line| Line { header: header.clone(), fields: line.split(',').collect() }).collect()
}

#[test]
fn p_values_estimates_and_intervals_of_launch_pairs_are_those_of_r() {
    let results = results();
    let mut tied = 0;
    for line in lines() {
        // The benchmarks of one target come first, so that the same name in both is told apart.
        let (target, benchmark) = line.text("name").split_once("::").unwrap();
        let found = results.comparisons.iter();
        let comparison =
            found.into_iter().find(|c| c.target == target && c.benchmark.ends_with(benchmark));
        let comparison = comparison.unwrap_or_else(|| panic!("{target} {benchmark}"));
        assert_eq!(line.text("pairs"), comparison.pairs.to_string());
        line.has("p", comparison.p_value.unwrap());
        line.has("estimate", comparison.improvement_percent.unwrap().value());
        let [low, high] = comparison.interval_percent.unwrap();
        line.has("low", low);
        line.has("high", high);
        let accuracy = comparison.accuracy_percent;
        line.has("half_95", accuracy.at_95.unwrap().value());
        line.has("half_99", accuracy.at_99.unwrap().value());
        line.has("half_999", accuracy.at_999.unwrap().value());
        tied += usize::from(line.text("tied") == "TRUE");
    }
    assert_eq!((results.comparisons.len(), lines().len(), tied), (7, 7, 2));
}

#[test]
fn the_rates_in_the_csv_and_their_welch_test_are_those_of_r() {
    let table = parse(&csv(&results())).unwrap();
    let (rows, not_compared) = compare_rates(&table, "old", "new");
    assert!(not_compared.is_empty() && rows.len() == 7);
    for line in lines() {
        let rates = &table.benchmarks[line.text("name")];
        let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
        line.has("old_mean", mean(&rates["old"]));
        line.has("new_mean", mean(&rates["new"]));
        let row = rows.iter().find(|row| row.name == line.text("name")).unwrap();
        let test = row.test.as_ref().unwrap();
        line.has("welch_t", test.t);
        line.has("welch_df", test.degrees_of_freedom);
        line.has("welch_p", test.p_value);
        line.has("welch_accuracy", test.accuracies[0].value());
    }
}
