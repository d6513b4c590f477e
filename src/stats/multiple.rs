//! Many comparisons at once.

/// Benjamini-Hochberg q-values of a family of p-values, in the order given.
///
/// q_(i) = min over j >= i of m p_(j) / j for the ordered p-values, at most 1: declaring everything
/// with q <= Q significant keeps the expected share of false discoveries at Q or below.
/// Source: Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate", J. R. Stat. Soc. B 57
/// (1995); the same as R's `p.adjust(p, "BH")`.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len() as f64;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[b].total_cmp(&p_values[a]));
    let mut q_values = vec![1.0; p_values.len()];
    let mut smallest = 1.0f64;
    for (position, &index) in order.iter().enumerate() {
        let rank = m - position as f64;
        smallest = smallest.min(p_values[index] * m / rank);
        q_values[index] = smallest;
    }
    q_values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_values_are_those_of_r() {
        // R: p.adjust(c(.01, .04, .03, .5, .005), "BH")
        let q = benjamini_hochberg(&[0.01, 0.04, 0.03, 0.5, 0.005]);
        for (got, expected) in q.iter().zip([0.025, 0.05, 0.05, 0.5, 0.025]) {
            assert!((got - expected).abs() < 1e-15, "{q:?}");
        }
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}
