//! Whether several runs have measured the same.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// The p-value of "the log-ratios of all runs have the same mean", however much each spreads. `None` with fewer
/// than two runs of two pairs.
///
/// It is Cochran's Q, the sum of the squared distances of the runs' means from their common one in units of their
/// standard errors, with what it costs to estimate these taken into account; for two runs it is Welch's t-test.
/// Sources: W. Cochran, "Problems arising in the analysis of a series of similar experiments", J. R. Stat. Soc. Suppl. 4
/// (1937); B. Welch, "On the comparison of several mean values: an alternative approach", Biometrika 38 (1951). The
/// values are those of R's `oneway.test`.
pub fn heterogeneity(runs: &[&[f64]]) -> Option<f64> {
    let runs: Vec<&&[f64]> = runs.iter().filter(|run| run.len() > 1).collect();
    if runs.len() < 2 {
        return None;
    }
    let k = runs.len() as f64;
    let mean = |run: &[f64]| run.iter().sum::<f64>() / run.len() as f64;
    let means: Vec<f64> = runs.iter().map(|run| mean(run)).collect();
    // Runs without any spread are as exact as numbers are.
    let weights: Vec<f64> = runs
        .iter()
        .zip(&means)
        .map(|(run, mean)| {
            let squares: f64 = run.iter().map(|d| (d - mean).powi(2)).sum();
            let variance = squares / (run.len() - 1) as f64;
            run.len() as f64 / variance.max(1e-24)
        })
        .collect();
    let total: f64 = weights.iter().sum();
    let common = weights.iter().zip(&means).map(|(w, mean)| w * mean).sum::<f64>() / total;
    let q: f64 = weights.iter().zip(&means).map(|(w, mean)| w * (mean - common).powi(2)).sum();
    let lambda: f64 = weights
        .iter()
        .zip(&runs)
        .map(|(w, run)| (1.0 - w / total).powi(2) / (run.len() - 1) as f64)
        .sum();
    let f = q / (k - 1.0) / (1.0 + 2.0 * (k - 2.0) / (k * k - 1.0) * lambda);
    let freedom = (k * k - 1.0) / (3.0 * lambda);
    Some(FisherSnedecor::new(k - 1.0, freedom).ok()?.sf(f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_two_runs_it_is_welchs_t_test() {
        // R: t.test(c(.01, .02, .015, .03), c(.02, .05, .04, .06, .03))$p.value
        let p =
            heterogeneity(&[&[0.01, 0.02, 0.015, 0.03], &[0.02, 0.05, 0.04, 0.06, 0.03]]).unwrap();
        let t =
            crate::stats::welch_test(&[0.01, 0.02, 0.015, 0.03], &[0.02, 0.05, 0.04, 0.06, 0.03]);
        assert!((p - t.unwrap().p_value).abs() < 1e-9, "{p}");
    }

    #[test]
    fn runs_of_one_kind_differ_as_often_as_chance_says_whatever_their_noise() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let rejected = (0..2000).filter(|_| {
            let mut run = |noise: f64, n: usize| -> Vec<f64> {
                (0..n).map(|_| 0.01 + noise * normal()).collect()
            };
            let runs = [run(0.01, 12), run(0.05, 18), run(0.002, 12)];
            heterogeneity(&[&runs[0], &runs[1], &runs[2]]).unwrap() <= 0.05
        });
        let rejected = rejected.count();
        // 99.9 % of what chance does.
        assert!((70..=135).contains(&rejected), "{rejected} of 2000");
    }

    #[test]
    fn without_spread_equal_runs_are_equal_and_others_are_not() {
        assert_eq!(heterogeneity(&[&[0.1; 6], &[0.1; 6]]), Some(1.0));
        assert!(heterogeneity(&[&[0.1; 6], &[0.2; 6]]).unwrap() < 1e-6);
        assert_eq!(heterogeneity(&[&[0.1; 6], &[0.2]]), None);
    }
}
