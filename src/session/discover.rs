//! From bench executables to the benchmarks that they have.
//!
//! In: the builds of all sides. Out: what each side has, for the plan, and the programs themselves, ready to be
//! started. Decides nothing about what is measured.

use super::executor::{BenchProgram, Built, Programs};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::build::{BenchExecutable, CodeComparison, FailedTarget, SideBuild, compare_code};
use crate::commands::TakenCommands;
use crate::harness::{Failure, Harness};
use crate::model::{PerSide, Rules, Side, TargetName};
use crate::plan::{Inventories, Inventory, Listed, Skipped};
use crate::system::Result;

/// What all sides have.
pub struct Taken {
    /// By side and target.
    pub inventories: Inventories,
    /// What can be measured of it.
    pub programs: Programs,
    /// Targets that the rules set aside.
    pub skipped: Vec<Skipped>,
    /// On code that is identical although it is measured, and on counts of two releases.
    pub notes: Vec<String>,
}

/// Asks every bench executable for its benchmarks. One that is an earlier side's code is not asked again, and one
/// that is set aside not at all.
///
/// `timeout` is how long a process may go on without any sign of progress, unless the rules say otherwise.
pub fn discover(builds: &PerSide<SideBuild>, timeout: Duration, rules: &Rules) -> Result<Taken> {
    let mut taking = Taking {
        builds,
        timeout,
        rules,
        programs: Programs::default(),
        libraries: HashMap::new(),
        notes: Vec::new(),
    };
    let mut skipped: BTreeMap<TargetName, String> = BTreeMap::new();
    let mut inventories: Vec<BTreeMap<TargetName, Listed>> = Vec::new();
    for (side, build) in builds.iter() {
        let mut targets: BTreeMap<TargetName, Listed> = build.failed.iter().map(failed).collect();
        for executable in &build.executables {
            let name = TargetName {
                package: executable.package.clone(),
                target: executable.target.clone(),
            };
            if let Some(reason) = rules.reason_to_set_target_aside(&name) {
                if executable.is_bench_target {
                    skipped.insert(name, reason.to_owned());
                }
                continue;
            }
            let earlier: Vec<(Side, &Listed)> = Side::first(inventories.len())
                .zip(&inventories)
                .filter_map(|(side, targets)| Some((side, targets.get(&name)?)))
                .filter(|(_, listed)| listed.same_code.is_none())
                .collect();
            if let Some(listed) = taking.list(side, executable, &name, &earlier)? {
                targets.insert(name, listed);
            }
        }
        inventories.push(targets);
    }
    Ok(Taken {
        inventories: inventories.into_iter().collect(),
        programs: taking.programs,
        skipped: skipped
            .into_iter()
            .map(|(target, reason)| Skipped { target, benchmark: None, reason })
            .collect(),
        notes: taking.notes,
    })
}

fn failed(failed: &FailedTarget) -> (TargetName, Listed) {
    let name = TargetName { package: failed.package.clone(), target: failed.target.clone() };
    let failure = Failure { benchmark: None, reason: failed.reason.clone() };
    (name, Listed { harness: None, inventory: Inventory::Failed(failure), same_code: None })
}

struct Taking<'a> {
    builds: &'a PerSide<SideBuild>,
    timeout: Duration,
    rules: &'a Rules,
    programs: Programs,
    /// What counts on the first side that has a target, if it is counted.
    libraries: HashMap<TargetName, (Side, String)>,
    notes: Vec<String>,
}

impl Taking<'_> {
    /// `earlier` is what earlier sides have that are not each other's code. `None` if the executable is not worth
    /// a word: every library with tests has one.
    fn list(
        &mut self,
        side: Side,
        executable: &BenchExecutable,
        name: &TargetName,
        earlier: &[(Side, &Listed)],
    ) -> Result<Option<Listed>> {
        let harness = match (Harness::detect(&executable.path)?, self.rules.custom_harness(name)) {
            (Harness::Unknown, Some(prints)) => Harness::Custom(prints),
            (harness, _) => harness,
        };
        let limits = self.rules.time_limits(name, self.timeout);
        let Some(mut benchmarks) = harness.open(&executable.launch, &limits) else {
            let inventory = Inventory::NotUnderstood(harness);
            let listed = Listed { harness: Some(harness), inventory, same_code: None };
            return Ok(executable.is_bench_target.then_some(listed));
        };
        let notes_before = self.notes.len();
        for (other, listed) in earlier {
            if self.is_identical(*other, side, executable, name)? {
                return Ok(Some(Listed { same_code: Some(*other), ..(*listed).clone() }));
            }
        }
        let inventory = match benchmarks.list()? {
            Err(failure) => Inventory::Failed(failure),
            Ok(ids) => {
                // Nothing is measured of it, whatever changed.
                if ids.is_empty() {
                    self.notes.truncate(notes_before);
                } else if let Some(library) = benchmarks.library() {
                    self.compare_libraries(side, name, library);
                }
                let program = BenchProgram {
                    benchmarks,
                    ids: ids.clone(),
                    // What is counted is to be the same every time, and caches are simulated.
                    timed: (!harness.counts()).then(|| Built {
                        executable: executable.path.clone(),
                        link: executable.link.clone(),
                    }),
                };
                self.programs.insert(name.clone(), side, program);
                Inventory::Benchmarks(ids)
            }
        };
        Ok(Some(Listed { harness: Some(harness), inventory, same_code: None }))
    }

    /// Says where counts may differ because they are counted with another release.
    fn compare_libraries(&mut self, side: Side, name: &TargetName, library: String) {
        let Some((first, before)) = self.libraries.get(name) else {
            self.libraries.insert(name.clone(), (side, library));
            return;
        };
        if *before != library {
            self.notes.push(format!(
                "`{name}` uses {before} at {first} and {library} at {side}: counts of the same code may differ by \
                 a few instructions"
            ));
        }
    }

    /// Whether it is the other side's code and would do the same.
    fn is_identical(
        &mut self,
        other: Side,
        side: Side,
        executable: &BenchExecutable,
        name: &TargetName,
    ) -> Result<bool> {
        let earlier = &self.builds[other];
        let counterpart = earlier.executables.iter().find(|other| {
            (&other.package, &other.target, other.is_bench_target)
                == (&executable.package, &executable.target, executable.is_bench_target)
        });
        let Some(counterpart) = counterpart else { return Ok(false) };
        match compare_code((earlier, counterpart), (&self.builds[side], executable))? {
            CodeComparison::Identical => Ok(true),
            CodeComparison::Different => Ok(false),
            CodeComparison::IdenticalBut(what) => {
                let note = format!("`{name}` is identical code, but was measured because {what}");
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                Ok(false)
            }
        }
    }
}

impl Taken {
    /// Of sides that have no bench executables.
    pub fn nothing(sides: usize) -> Self {
        Self {
            inventories: Side::first(sides).map(|_| BTreeMap::new()).collect(),
            programs: Programs::default(),
            skipped: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// With commands beside them.
    #[must_use]
    pub fn with_commands(mut self, commands: TakenCommands) -> Self {
        for (side, targets) in commands.inventories.iter() {
            self.inventories[side].extend(targets.clone());
        }
        for ((name, side), benchmarks) in commands.programs {
            let ids = match &self.inventories[side][&name].inventory {
                Inventory::Benchmarks(ids) => ids.clone(),
                _ => Vec::new(),
            };
            let program = BenchProgram { benchmarks, ids, timed: None };
            self.programs.insert(name, side, program);
        }
        self.skipped.extend(commands.skipped);
        self
    }
}
