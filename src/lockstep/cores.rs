//! Which core the sides share: one that other programs use little.
//!
//! In: the kernel's account of its processors. Out: the number of a core.

use std::collections::HashMap;

/// The cores that may be chosen, and how long each had been idle when one was chosen last.
#[derive(Debug)]
pub struct Cores {
    allowed: Vec<usize>,
    /// By position, in ticks. `None` if the kernel did not say.
    idle: Option<Vec<u64>>,
}

impl Cores {
    /// Of these numbers.
    pub fn new(allowed: Vec<usize>) -> Self {
        Self { allowed, idle: None }
    }

    /// One of those that were idle for longest since the last time, by chance; of all where nobody can tell.
    ///
    /// `stat` is what `/proc/stat` says now. What was measured since the last time counts as use, so that the cores take turns
    /// where nothing else runs.
    pub fn choose(&mut self, stat: &str, random: &mut fastrand::Rng) -> usize {
        let idle = idle_by_core(stat);
        let now = self.allowed.iter().map(|core| idle.get(core).copied()).collect();
        let before = std::mem::replace(&mut self.idle, now);
        let since: Vec<u64> = match (before, &self.idle) {
            (Some(before), Some(now)) => {
                now.iter().zip(before).map(|(now, before)| now.saturating_sub(before)).collect()
            }
            _ => vec![0; self.allowed.len()],
        };
        let longest = since.iter().copied().max().unwrap_or(0);
        // A tick more or less says nothing.
        let is_idle = |idle: u64| idle + 1 >= longest - longest / 8;
        let candidates = self.allowed.iter().zip(since).filter(|(_, idle)| is_idle(*idle));
        let candidates: Vec<usize> = candidates.map(|(core, _)| *core).collect();
        random.choice(candidates).unwrap_or(0)
    }
}

/// How long each core has been idle since the machine was started, in ticks.
fn idle_by_core(stat: &str) -> HashMap<usize, u64> {
    let idle = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let core: usize = words.next()?.parse().ok()?;
        // user, nice, system, idle, iowait
        let idle: u64 = words.nth(3)?.parse().ok()?;
        let waiting: u64 = words.next()?.parse().ok()?;
        Some((core, idle + waiting))
    };
    stat.lines().filter_map(idle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel says of cores that were idle for so long.
    fn stat(idle: &[u64]) -> String {
        let line = |(core, idle): (usize, &u64)| format!("cpu{core} 10 0 10 {idle} 5 0 0 0 0 0\n");
        let cores: String = idle.iter().enumerate().map(line).collect();
        format!("cpu  20 0 20 200 10 0 0 0 0 0\n{cores}intr 123 0 0\n")
    }

    /// All that are chosen of these, after the kernel has said the one and then the other.
    fn chosen(allowed: &[usize], before: &str, now: &str) -> Vec<usize> {
        let choose = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut cores = Cores::new(allowed.to_owned());
            cores.choose(before, &mut random);
            cores.choose(now, &mut random)
        };
        let mut all: Vec<usize> = (0..100).map(choose).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn a_core_is_chosen_that_was_idle_for_longest() {
        let (before, now) = (stat(&[500, 0, 100, 7]), stat(&[520, 400, 510, 8]));
        assert_eq!(chosen(&[0, 1, 2, 3], &before, &now), [1, 2]);
        assert_eq!(chosen(&[0, 3], &before, &now), [0]);
        assert_eq!(chosen(&[3], &before, &now), [3]);
    }

    #[test]
    fn where_nobody_can_tell_all_are_chosen() {
        let busy = stat(&[7, 8, 9]);
        assert_eq!(chosen(&[0, 1, 2], &busy, &busy), [0, 1, 2]);
        for unknown in ["", "cpu0 1 2\ncpu1 1 2 3 x 5\n"] {
            assert_eq!(chosen(&[0, 1], unknown, &busy), [0, 1]);
            assert_eq!(chosen(&[0, 1], &busy, unknown), [0, 1]);
        }
        // A core that is gone, and counters that went back.
        assert_eq!(chosen(&[0, 5], &busy, &stat(&[700, 800])), [0, 5]);
        assert_eq!(chosen(&[0, 1], &stat(&[700, 800]), &busy), [0, 1]);
        assert_eq!(chosen(&[], &busy, &busy), [0]);
    }
}
