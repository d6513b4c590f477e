//! Tables of results that nobody would think of.

use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::model::{Environment, Percent};
use crate::results::{
    Accuracy, Comparison, Gate, Method, Results, Revision, SCHEMA_VERSION, SideTime,
};
use crate::stats::{Confidence, Verdict};

fn results(comparisons: Vec<Comparison>) -> Results {
    let revision = |label: &str| Revision {
        label: label.to_owned(),
        commit: "größer als neun".to_owned(),
        dirty: false,
        rustc: String::new(),
        program: None,
        sources: None,
    };
    Results {
        schema_version: SCHEMA_VERSION,
        generator: String::new(),
        command: String::new(),
        complete: true,
        seed: 0,
        runs: None,
        time_limit_seconds: None,
        measuring_seconds: None,
        gate: Gate::None,
        margin_percent: Percent::new(2.0),
        revisions: vec![revision("main"), revision("HEAD")],
        benches_from: None,
        shard: None,
        parts: Vec::new(),
        environment: Environment { load: Some(f64::NAN), ..Environment::default() },
        comparisons,
        added: Vec::new(),
        removed: Vec::new(),
        failed: Vec::new(),
        set_aside: Vec::new(),
        notes: Vec::new(),
        measured: Vec::new(),
    }
}

fn any_percent() -> impl Strategy<Value = Option<Percent>> {
    proptest::option::of(any::<f64>().prop_map(Percent::new))
}

fn any_verdict() -> impl Strategy<Value = Verdict> {
    use Verdict::{Equivalent, IdenticalCode, Improved, Inconclusive, Regressed};
    proptest::sample::select(vec![Improved, Regressed, Equivalent, Inconclusive, IdenticalCode])
}

fn any_confidence() -> impl Strategy<Value = Confidence> {
    use Confidence::{None, One, Three, Two};
    proptest::sample::select(vec![None, One, Two, Three])
}

prop_compose! {
    fn any_comparison()(
        names in [".{0,20}", ".{0,20}", ".{0,200}", ".{0,8}"],
        times in [proptest::option::of(any::<f64>()), proptest::option::of(any::<f64>())],
        improvement_percent in any_percent(),
        accuracies in [any_percent(), any_percent(), any_percent()],
        verdict in any_verdict(),
        confidence in any_confidence(),
        (pairs, pairs_to_decide, p_value) in
            (any::<usize>(), any::<Option<u64>>(), any::<Option<f64>>()),
        (within_margin, is_measured) in any::<(bool, bool)>(),
        log_ratios in proptest::collection::vec(any::<f64>(), 0..5),
    ) -> Comparison {
        let [package, target, benchmark, unit] = names;
        let [base, head] = times.map(|nanoseconds| SideTime { label: String::new(), nanoseconds });
        let [at_95, at_99, at_999] = accuracies;
        Comparison {
        throughput: None,
            package, target, benchmark, base, head, unit, improvement_percent,
            accuracy_percent: Accuracy { at_95, at_99, at_999 },
            confidence, p_value, verdict, within_margin, pairs_to_decide, pairs, log_ratios,
            method: if is_measured { Method::Process } else { Method::None },
            ..comparison(0.0, None)
        }
    }
}

/// A comparison that came to this improvement and interval, in percent.
pub fn comparison(improvement: f64, interval: Option<[f64; 2]>) -> Comparison {
    let side = |label: &str| SideTime { label: label.to_owned(), nanoseconds: Some(1000.0) };
    Comparison {
        throughput: None,
        package: "p".to_owned(),
        target: "t".to_owned(),
        benchmark: "b".to_owned(),
        base: side("main"),
        head: side("HEAD"),
        unit: "ns".to_owned(),
        improvement_percent: Some(Percent::new(improvement)),
        accuracy_percent: Accuracy { at_95: None, at_99: None, at_999: None },
        interval_percent: interval,
        confidence: Confidence::None,
        p_value: Some(0.5),
        q_value: None,
        adjusted_p_value: None,
        trips_gate: false,
        stopped_by: None,
        verdict: Verdict::Inconclusive,
        margin_percent: Percent::new(2.0),
        within_margin: false,
        pairs_to_decide: None,
        pairs: 12,
        method: Method::Process,
        notes: Vec::new(),
        log_ratios: Vec::new(),
        strata: Vec::new(),
    }
}

proptest! {
    #[test]
    fn whatever_is_compared_all_columns_are_aligned(
        comparisons in proptest::collection::vec(any_comparison(), 1..6),
    ) {
        let rows = comparisons.len();
        let text = table(&results(comparisons), Table::default());
        let lines: Vec<&str> = text.lines().skip(2).take(1 + rows).collect();
        let numbers_end = lines[0].width();
        let verdicts = ["improved", "regressed", "equivalent", "inconclusive", "identical code"];
        for line in &lines[1..] {
            let verdict = verdicts.iter().filter_map(|verdict| line.rfind(&format!("  {verdict}"))).max();
            let numbers = &line[..verdict.expect("every row has a verdict")];
            prop_assert_eq!(numbers.width(), numbers_end, "{}", text);
        }
    }
}
