//! The statistics against values that R computed (`wilcox.test` and exact enumeration).

use cargo_bench_compare::stats::{LEVELS, WalshAverages, signed_rank_test};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    d: Vec<f64>,
    v: f64,
    p: f64,
}

#[derive(Deserialize)]
struct ExactCase {
    #[serde(flatten)]
    case: Case,
    hodges_lehmann: f64,
    ci95: [Option<f64>; 2],
    ci99: [Option<f64>; 2],
    ci999: [Option<f64>; 2],
}

fn relative_difference(a: f64, b: f64) -> f64 {
    (a - b).abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
}

fn check_test(case: &Case) {
    let test = signed_rank_test(&case.d);
    assert_eq!(test.statistic, case.v, "{:?}", case.d);
    assert!((test.p_value - case.p).abs() < 1e-9, "{} is not {}", test.p_value, case.p);
}

#[test]
fn p_values_estimates_and_intervals_are_those_of_r() {
    let cases: Vec<ExactCase> =
        serde_json::from_str(include_str!("../data/signed-rank/exact.json")).unwrap();
    assert_eq!(cases.len(), 60);
    let mut intervals = 0;
    for exact in &cases {
        check_test(&exact.case);
        let walsh = WalshAverages::of(&exact.case.d);
        let estimate = walsh.hodges_lehmann().unwrap();
        assert!(relative_difference(estimate, exact.hodges_lehmann) < 1e-12, "{estimate}");
        for (level, ends) in LEVELS.into_iter().zip([exact.ci95, exact.ci99, exact.ci999]) {
            let Some(interval) = walsh.interval(level) else {
                assert_eq!(ends, [None, None], "{level} of {} values", exact.case.d.len());
                continue;
            };
            let [low, high] = ends.map(|end| end.expect("R has an interval too"));
            assert!(relative_difference(interval.low, low) < 1e-12, "{level}: {interval:?} {low}");
            assert!(
                relative_difference(interval.high, high) < 1e-12,
                "{level}: {interval:?} {high}"
            );
            intervals += 1;
        }
    }
    assert!(intervals > 100, "only {intervals} intervals were compared");
}

#[test]
fn ties_and_zeros_are_treated_exactly() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../data/signed-rank/ties-and-zeros.json")).unwrap();
    assert_eq!(cases.len(), 25);
    cases.iter().for_each(check_test);
}
