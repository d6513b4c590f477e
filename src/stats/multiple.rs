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

/// Holm's adjusted p-values of a family, in the order given.
///
/// max over j <= i of (m - j + 1) p_(j) for the ordered p-values, at most 1: declaring everything at or below
/// alpha a difference is wrong about anything at all with a probability of at most alpha.
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6 (1979); the same as
/// R's `p.adjust(p, "holm")`.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0f64;
    for (position, &index) in order.iter().enumerate() {
        let left = (p_values.len() - position) as f64;
        largest = largest.max(left * p_values[index]).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_p_values_are_those_of_r() {
        // R: p.adjust(c(.01, .04, .03, .5, .005), "holm")
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.5, 0.005]);
        for (got, expected) in adjusted.iter().zip([0.04, 0.09, 0.09, 0.5, 0.025]) {
            assert!((got - expected).abs() < 1e-15, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

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
