//! Single numbers that stand for a sample.

/// The q-quantile (0 <= q <= 1) by linear interpolation between order statistics, R's type 7.
///
/// `None` if there are no values.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let position = q * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (position - below as f64) * (sorted[above] - sorted[below]))
}

/// The mean of what is left after a share of the values (0 <= share < 0.5) is taken off at each end, rounded
/// down to whole values. `None` if there are no values.
pub fn trimmed_mean(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = (share * sorted.len() as f64) as usize;
    let middle = sorted.get(cut..sorted.len() - cut)?;
    (!middle.is_empty()).then(|| middle.iter().sum::<f64>() / middle.len() as f64)
}

/// The median; `None` if there are no values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The median absolute deviation from the median, times 1.4826, so that it estimates the standard
/// deviation of normal data while outliers hardly move it. `None` for fewer than two values.
pub fn robust_standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let center = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|x| (x - center).abs()).collect();
    Some(1.4826 * median(&deviations)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_r() {
        // R: quantile(c(3, 1, 10, 4), c(0, .25, .5, 1))
        let x = [3.0, 1.0, 10.0, 4.0];
        assert_eq!(quantile(&x, 0.0), Some(1.0));
        assert_eq!(quantile(&x, 0.25), Some(2.5));
        assert_eq!(quantile(&x, 0.5), Some(3.5));
        assert_eq!(quantile(&x, 1.0), Some(10.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn a_trimmed_mean_is_the_mean_of_the_middle() {
        assert_eq!(trimmed_mean(&[9.0, 1.0, 2.0, 4.0, 100.0], 0.2), Some(5.0));
        assert_eq!(trimmed_mean(&[9.0, 1.0, 2.0, 4.0, 100.0], 0.4), Some(4.0));
        assert_eq!(trimmed_mean(&[1.0, 3.0], 0.4), Some(2.0));
        assert_eq!(trimmed_mean(&[], 0.4), None);
    }

    #[test]
    fn one_outlier_does_not_move_the_robust_deviation() {
        // R: mad(c(1, 2, 3, 4, 1000)) = 1.4826
        assert_eq!(robust_standard_deviation(&[1.0, 2.0, 3.0, 4.0, 1000.0]), Some(1.4826));
        assert_eq!(robust_standard_deviation(&[1.0]), None);
    }
}
