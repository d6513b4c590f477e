//! From the samples of one launch group to one value for each side.

use crate::model::is_quantity;
use crate::model::{Measurement, Sample, Side};
use crate::stats;

use super::Method;

/// The time per iteration of one launch. `None` unless that [is a quantity](is_quantity).
///
/// In step, whatever disturbs a sample of one side disturbs those of the others too, and the mean of the
/// middle fifth of the samples has the smallest variance. One side after the other, it is the lower quartile:
/// disturbances only ever make a sample longer.
pub fn time_per_iteration(samples: &[Sample], method: Method) -> Option<f64> {
    let each: Vec<f64> = samples.iter().map(|sample| sample.total / sample.iterations).collect();
    let time = match method {
        Method::Lockstep => stats::trimmed_mean(&each, 0.4),
        Method::Process | Method::Count => stats::quantile(&each, 0.25),
    };
    time.filter(|time| is_quantity(*time))
}

/// The value of each side in one launch group: its time per iteration, or whatever else it measures. `None`
/// unless that [is a quantity](is_quantity).
///
/// In step, the n-th samples of two sides are neighbours in time, so that whatever disturbs the one disturbs the
/// other: the ratio to the first side is the median ratio of such neighbours. Its standard
/// deviation is smaller than that of the ratio of trimmed means (docs/performance.md).
pub fn launch_values(sides: &[(Side, Measurement)], method: Method) -> Vec<(Side, Option<f64>)> {
    let Some((_, reference)) = sides.iter().min_by_key(|(side, _)| *side) else {
        return Vec::new();
    };
    // Where one harness gives its median alone, another's lower quartile would be none to compare it with.
    let summarised = sides.iter().any(|(_, measurement)| measurement.is_summary);
    let value = |measurement: &Measurement| {
        if summarised {
            return median_per_iteration(&measurement.samples);
        }
        let own = time_per_iteration(&measurement.samples, method);
        match (method, median_ratio(&reference.samples, &measurement.samples)) {
            (Method::Lockstep, Some(ratio)) => {
                time_per_iteration(&reference.samples, method).map(|time| time * ratio)
            }
            _ => own,
        }
    };
    sides.iter().map(|(side, m)| (*side, value(m).filter(|value| is_quantity(*value)))).collect()
}

fn median_per_iteration(samples: &[Sample]) -> Option<f64> {
    let each: Vec<f64> = samples.iter().map(|sample| sample.total / sample.iterations).collect();
    stats::median(&each)
}

/// `None` if the samples are not neighbours, because there are more of the one than of the other.
fn median_ratio(reference: &[Sample], other: &[Sample]) -> Option<f64> {
    let per_iteration = |sample: &Sample| sample.total / sample.iterations;
    let ratios: Vec<f64> =
        reference.iter().zip(other).map(|(a, b)| per_iteration(b) / per_iteration(a)).collect();
    if reference.len() != other.len() || ratios.iter().any(|ratio| !is_quantity(*ratio)) {
        return None;
    }
    stats::median(&ratios)
}

/// The sides whose values say nothing about the reference's, and why. In the order of the sides, so that
/// the answer does not depend on the order of measurement.
pub fn not_comparable(sides: &[(Side, Measurement)], method: Method) -> Vec<(Side, String)> {
    let mut sides: Vec<&(Side, Measurement)> = sides.iter().collect();
    sides.sort_by_key(|(side, _)| *side);
    let Some((first, reference)) = sides.first() else { return Vec::new() };
    let reason = |measurement: &Measurement| {
        if time_per_iteration(&measurement.samples, method).is_none() {
            return Some("it reported a time that is zero or no number".to_owned());
        }
        let (unit, expected) = (&measurement.unit, &reference.unit);
        (unit != expected).then(|| {
            format!("it measures {unit} here and {expected} at {first}; they cannot be compared")
        })
    };
    sides.iter().filter_map(|(side, m)| Some((*side, reason(m)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(times: &[f64]) -> Vec<Sample> {
        times.iter().map(|total| Sample { iterations: 2.0, total: *total }).collect()
    }

    fn measurement(times: &[f64]) -> Measurement {
        Measurement::new("b", "ns", samples(times))
    }

    fn ratio(base: &[f64], head: &[f64], method: Method) -> f64 {
        let sides: Vec<(Side, Measurement)> =
            Side::first(2).zip([measurement(base), measurement(head)]).collect();
        let values = launch_values(&sides, method);
        values[1].1.unwrap() / values[0].1.unwrap()
    }

    #[test]
    fn one_after_the_other_it_is_the_lower_quartile_over_the_samples() {
        let of = |times: &[f64]| time_per_iteration(&samples(times), Method::Process);
        assert_eq!(of(&[20.0, 22.0, 24.0, 26.0, 900.0]), Some(11.0));
        assert_eq!(of(&[0.0, 0.0]), None);
        assert_eq!(of(&[f64::NAN, f64::NAN]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn in_step_a_disturbance_of_both_sides_cancels() {
        // The machine gets slower all the time; head always takes half as long again as its neighbour.
        let base = [10.0, 12.0, 15.0, 20.0, 40.0];
        let head = base.map(|time| 1.5 * time);
        assert!((ratio(&base, &head, Method::Lockstep) - 1.5).abs() < 1e-12);
        // One neighbour that was disturbed alone does not count.
        let mut disturbed = head;
        disturbed[4] = 4000.0;
        assert!((ratio(&base, &disturbed, Method::Lockstep) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn without_neighbours_the_sides_stand_for_themselves() {
        let ratio = ratio(&[10.0; 5], &[20.0; 7], Method::Lockstep);
        assert!((ratio - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_harness_that_gives_its_median_is_compared_with_the_other_ones_median() {
        let sides: Vec<Side> = Side::first(2).collect();
        let both = [
            (sides[0], measurement(&[2.0, 2.0, 20.0, 40.0, 60.0])),
            (sides[1], Measurement::median("b", 10.0)),
        ];
        for method in [Method::Process, Method::Lockstep] {
            let values: Vec<f64> =
                launch_values(&both, method).into_iter().map(|(_, value)| value.unwrap()).collect();
            assert_eq!(values, [10.0, 10.0], "{method:?}");
        }
    }

    #[test]
    fn sides_without_a_value_or_with_another_unit_are_not_comparable() {
        let [base, head] = [Side::first(2).next().unwrap(), Side::first(2).nth(1).unwrap()];
        let zero = [(base, measurement(&[1.0])), (head, measurement(&[0.0]))];
        assert_eq!(not_comparable(&zero, Method::Lockstep)[0].0, head);
        let mut cycles = measurement(&[1.0]);
        cycles.unit = "cycles".to_owned();
        let units = [(base, measurement(&[1.0])), (head, cycles)];
        assert!(not_comparable(&units, Method::Process)[0].1.contains("cycles"));
    }
}
