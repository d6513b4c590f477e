//! What speaks against trusting the results of a machine, in words and with the figure. Pure.

use crate::model::Percent;
use crate::stats::{median, robust_standard_deviation};

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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Results of one benchmark, whose pairs differ by about so many percent, on such a machine.
    fn doubts(environment: &Value, percent: f64, launches: usize) -> Vec<String> {
        let revision = |label| json!({"label": label, "commit": "c", "dirty": false, "rustc": "r"});
        let value = |i: usize| 100.0 + percent * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let launch = |i| json!({"group": i, "order": [0, 1], "values": [100.0, value(i)]});
        let launches: Vec<Value> = (0..launches).map(launch).collect();
        let file = json!({
            "schema_version": 1, "generator": "", "command": "", "complete": true, "seed": 0,
            "margin_percent": 2.0, "revisions": [revision("a"), revision("b")],
            "environment": environment, "comparisons": [], "added": [], "removed": [], "failed": [],
            "notes": [], "measured": [{"package": "p", "target": "t", "benchmark": "b", "unit": "ns",
                "identical": [], "launches": launches}],
        });
        Results::from_json(&file.to_string()).unwrap().doubts()
    }

    #[test]
    fn a_quiet_machine_is_not_doubted_and_neither_is_one_that_says_nothing() {
        let quiet = json!({"system": "", "cores": 4, "load": 1.5, "load_at_the_end": 2.5,
            "steal_percent": 0.9});
        assert!(doubts(&quiet, 0.5, 12).is_empty());
        assert!(doubts(&json!({"system": ""}), 0.5, 12).is_empty());
    }

    #[test]
    fn what_disturbs_is_told_with_its_figure() {
        let told = |environment: Value, percent| doubts(&environment, percent, 12).join("\n");
        let stolen = told(json!({"system": "", "steal_percent": 7.25}), 0.5);
        assert!(stolen.contains("the host gave 7.2 % of the processors' time"), "{stolen}");
        let busy = told(json!({"system": "", "cores": 2, "load": 2.0}), 0.5);
        assert!(busy.contains("a load of 2.0 on 2 cores"), "{busy}");
        // This program itself is one of those that run at the end.
        let at_the_end = |load| json!({"system": "", "cores": 2, "load_at_the_end": load});
        assert_eq!(told(at_the_end(2.9), 0.5), "");
        assert!(told(at_the_end(3.0), 0.5).contains("a load of 2.0 on 2 cores"));
        let noisy = told(json!({"system": ""}), 3.0);
        assert!(noisy.contains("more than the margin of 2 %"), "{noisy}");
    }

    #[test]
    fn where_nothing_was_measured_there_is_nothing_to_doubt() {
        assert!(doubts(&json!({"system": "", "cores": 1, "load": 9.0}), 0.5, 0).is_empty());
    }
}
