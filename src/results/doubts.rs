//! What speaks against trusting the results of a machine, in words and with the figure. Pure.

use crate::stats::{Percent, median, robust_standard_deviation};

use super::schema::Results;

/// Above that, other guests of the host have disturbed the measuring.
const MUCH_STEAL: f64 = 1.0;

impl Results {
    /// How much one launch pair differs from the next: the robust standard deviation, of the typical benchmark. `None` if
    /// there are too few.
    pub fn noise(&self) -> Option<Percent> {
        let tested = self.comparisons.iter().filter(|c| c.p_value.is_some());
        let spreads: Vec<f64> =
            tested.filter_map(|c| robust_standard_deviation(&c.log_ratios)).collect();
        median(&spreads).map(|spread| Percent::new(100.0 * spread))
    }

    /// Whether the machine was too noisy to trust, each reason in a sentence. Nothing if nothing was measured.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        let environment = &self.environment;
        if self.comparisons.iter().all(|c| c.p_value.is_none()) {
            return doubts;
        }
        if let Some(steal) = environment.steal_percent.filter(|steal| *steal >= MUCH_STEAL) {
            doubts.push(format!(
                "the host gave {steal:.1} % of the processors' time to other guests while it was measured: \
                 expect more noise than usual"
            ));
        }
        // At the end this program itself is a part of the load.
        let at_the_end = environment.load_at_the_end.map(|load| load - 1.0);
        let load = [environment.load, at_the_end].into_iter().flatten().fold(0.0, f64::max);
        if let Some(cores) = environment.cores.filter(|cores| load >= *cores as f64) {
            doubts.push(format!(
                "other programs kept the machine busy (a load of {load:.1} on {cores} cores): expect more noise than usual"
            ));
        }
        let too_much = |noise: &Percent| noise.value() > self.margin_percent.value();
        if let Some(noise) = self.noise().filter(too_much) {
            doubts.push(format!(
                "launch pairs differ by {:.1} % from one to the next, more than the margin of {}: \
                 small changes are not found here; a quieter machine or a higher --margin would help",
                noise.value(),
                self.margin_percent
            ));
        }
        doubts
    }
}
