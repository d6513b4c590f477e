//! A comparison split into parts that are measured on several machines, and merged afterwards. Pure.
//!
//! Every machine makes the same plan and the same split of it, and measures its own part. With the results of an
//! earlier run, parts take about the same time; without, benchmarks are dealt out one after the other.

use std::collections::HashMap;
use std::str::FromStr;

use crate::model::{BenchmarkName, Shard};
use crate::plan::Plan;
use crate::stats::median;

/// The most parts of one comparison.
const MOST_SHARDS: u32 = 1000;

/// Which part is wanted: `2/4` is the second of four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedShard {
    number: u32,
    of: u32,
}

impl FromStr for WantedShard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts =
            text.split_once('/').map(|(number, of)| (number.trim().parse(), of.trim().parse()));
        match parts {
            Some((Ok(number), Ok(of))) if (1..=of).contains(&number) && of <= MOST_SHARDS => {
                Ok(Self { number, of })
            }
            Some((Ok(_), Ok(of))) if of <= MOST_SHARDS => {
                Err(format!("`{text}` is none of {of} parts; they are counted from 1"))
            }
            Some((Ok(_), Ok(_))) => Err(format!("there can be at most {MOST_SHARDS} parts")),
            _ => Err(format!("`{text}` is no part; write the first of four as 1/4")),
        }
    }
}

/// How long benchmarks took in an earlier run, in seconds.
#[derive(Debug, Clone, Default)]
pub struct Costs(HashMap<BenchmarkName, f64>);

impl Costs {
    /// Those of these benchmarks. What took no time is not known.
    pub fn new(seconds: impl IntoIterator<Item = (BenchmarkName, f64)>) -> Self {
        Self(seconds.into_iter().filter(|(_, seconds)| *seconds > 0.0).collect())
    }
}

/// Takes out of a plan what would be measured and is not in the shard that is wanted.
///
/// With costs, the benchmark that takes longest goes first, each to the shard that has the least to do so far (what
/// was not measured then counts as the median); without any, the n-th goes to shard n modulo their number. Both depend
/// on nothing but names and costs.
pub fn keep_shard(plan: &mut Plan, wanted: WantedShard, costs: &Costs) -> Shard {
    let measured = plan.benchmarks().filter(|(_, benchmark)| benchmark.work().is_some());
    let names: Vec<BenchmarkName> = measured.map(|(name, _)| name).collect();
    let shards = deal(&names, wanted.of, costs);
    let shard_of: HashMap<&BenchmarkName, u32> = names.iter().zip(shards.iter().copied()).collect();
    for target in &mut plan.targets {
        let name = target.name.clone();
        target.benchmarks.retain(|benchmark| {
            let shard = shard_of.get(&name.benchmark(&benchmark.id));
            shard.is_none_or(|shard| *shard == wanted.number)
        });
    }
    plan.targets.retain(|target| !target.benchmarks.is_empty());
    Shard { number: wanted.number, of: wanted.of, split: digest(&names, &shards) }
}

/// The shard of each benchmark, from 1.
fn deal(names: &[BenchmarkName], of: u32, costs: &Costs) -> Vec<u32> {
    let known: Vec<f64> = names.iter().filter_map(|name| costs.0.get(name).copied()).collect();
    let Some(typical) = median(&known) else {
        return (0..of).cycle().take(names.len()).map(|shard| shard + 1).collect();
    };
    let cost = |index: usize| costs.0.get(&names[index]).copied().unwrap_or(typical);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| cost(*b).total_cmp(&cost(*a)).then_with(|| names[*a].cmp(&names[*b])));
    let mut loads = vec![0.0f64; of as usize];
    let mut shards = vec![0; names.len()];
    for index in order {
        let least = (0..loads.len()).min_by(|a, b| loads[*a].total_cmp(&loads[*b])).unwrap_or(0);
        loads[least] += cost(index);
        shards[index] = least as u32 + 1;
    }
    shards
}

/// Fowler, Noll and Vo's hash (FNV-1a, 64 bits) of all names and their shards: the same on every machine.
fn digest(names: &[BenchmarkName], shards: &[u32]) -> String {
    let mut lines: Vec<String> = names
        .iter()
        .zip(shards)
        .map(|(name, shard)| {
            format!("{shard}\0{}\0{}\0{}\n", name.package, name.target, name.benchmark)
        })
        .collect();
    lines.sort_unstable();
    let hash = lines.concat().bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::TargetName;
    use crate::plan::{Benchmark, Standing, Target};

    fn plan(targets: &[(&str, usize)]) -> Plan {
        let targets = targets.iter().map(|(target, count)| Target {
            name: TargetName { package: "p".to_owned(), target: (*target).to_owned() },
            benchmarks: (0..*count)
                .map(|i| Benchmark {
                    id: format!("b{i}"),
                    sides: [Standing::OwnCode; 2].into_iter().collect(),
                    margin: None,
                    lockstep: true,
                    place: None,
                })
                .collect(),
        });
        Plan { targets: targets.collect(), ..Plan::default() }
    }

    fn names(plan: &Plan) -> Vec<BenchmarkName> {
        plan.benchmarks().map(|(name, _)| name).collect()
    }

    fn shard(number: u32, of: u32) -> WantedShard {
        WantedShard { number, of }
    }

    #[test]
    fn parts_are_written_as_fractions() {
        assert_eq!("2/4".parse(), Ok(shard(2, 4)));
        assert_eq!("1/1".parse(), Ok(shard(1, 1)));
        for (text, message) in [
            ("0/4", "`0/4` is none of 4 parts; they are counted from 1"),
            ("5/4", "`5/4` is none of 4 parts; they are counted from 1"),
            ("1/1001", "there can be at most 1000 parts"),
            ("2", "`2` is no part; write the first of four as 1/4"),
            ("a/b", "`a/b` is no part; write the first of four as 1/4"),
            ("-1/4", "`-1/4` is no part; write the first of four as 1/4"),
        ] {
            assert_eq!(text.parse::<WantedShard>(), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn without_costs_they_are_dealt_out_in_turn() {
        let mut second = plan(&[("t", 3), ("u", 2)]);
        keep_shard(&mut second, shard(2, 2), &Costs::default());
        let ids: Vec<String> =
            names(&second).iter().map(|n| format!("{}:{}", n.target, n.benchmark)).collect();
        assert_eq!(ids, ["t:b1", "u:b0"]);
    }

    #[test]
    fn with_costs_every_shard_takes_about_as_long() {
        let whole = plan(&[("t", 6)]);
        let seconds = [9.0, 5.0, 4.0, 3.0, 3.0];
        let costs = Costs(names(&whole).into_iter().zip(seconds).collect());
        let load = |number| {
            let mut part = whole.clone();
            keep_shard(&mut part, shard(number, 2), &costs);
            // What is not known counts as the median.
            names(&part).iter().map(|n| costs.0.get(n).unwrap_or(&4.0)).sum::<f64>()
        };
        assert_eq!((load(1), load(2)), (13.0, 15.0));
    }

    proptest! {
        #[test]
        fn every_benchmark_is_in_exactly_one_shard_and_all_machines_agree(
            count in 0usize..30, of in 1u32..7, seconds in proptest::collection::vec(0.0..9.0f64, 0..30),
        ) {
            let whole = plan(&[("t", count), ("u", 3)]);
            let costs = Costs(names(&whole).into_iter().zip(seconds).collect());
            let mut all = Vec::new();
            let mut splits = Vec::new();
            for number in 1..=of {
                let mut part = whole.clone();
                splits.push(keep_shard(&mut part, shard(number, of), &costs).split);
                all.extend(names(&part));
            }
            all.sort();
            let mut expected = names(&whole);
            expected.sort();
            prop_assert_eq!(all, expected);
            splits.dedup();
            prop_assert_eq!(splits.len(), 1);
        }
    }
}
