//! Starts the programs of all sides, as the schedule asks for it.
//!
//! In: the programs that were discovered, and what is planned. Out: sessions of a harness, each of a process or more.
//! Decides nothing about what is measured.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use crate::build::{Layouts, Link, Relinkable};
use crate::harness::{Benchmarks, Effort, ProcessResult, Session, Wanted};
use crate::lockstep::{Attachment, Unfit};
use crate::measure::{Executor, LayoutSeeds};
use crate::model::{Side, TargetName};
use crate::plan::PlannedTarget;
use crate::system::{Result, interrupt};

/// The programs of all sides that can be measured.
#[derive(Default)]
pub struct Programs {
    programs: HashMap<(TargetName, Side), BenchProgram>,
    layouts: Option<Layouts>,
    notes: Vec<String>,
}

/// A program that has benchmarks.
pub struct BenchProgram {
    /// How they are listed and run.
    pub benchmarks: Box<dyn Benchmarks>,
    /// The ids of all of them.
    pub ids: Vec<String>,
    /// What cargo built and has a time that depends on its layout; `None` for a command.
    pub timed: Option<Built>,
}

/// An executable as cargo built it.
pub struct Built {
    /// Where it lies.
    pub executable: PathBuf,
    /// How it was linked, if that was seen.
    pub link: Option<Link>,
}

impl Programs {
    /// Adds the program of a target on one side.
    pub fn insert(&mut self, target: TargetName, side: Side, program: BenchProgram) {
        self.programs.insert((target, side), program);
    }

    /// Whether the layout of any of the work matters: cargo built it, and it is timed.
    pub fn have_layouts(&self, work: &[PlannedTarget]) -> bool {
        let has_layout = |name: &TargetName| {
            let mut programs = self.programs.iter().filter(|((target, _), _)| target == name);
            programs.any(|(_, program)| program.timed.is_some())
        };
        work.iter().any(|target| has_layout(&target.name))
    }

    /// Gives every launch of the work a code layout of its own from now on. Gives notes on what has none.
    ///
    /// `seed` is the seed of all layouts.
    pub fn vary_layouts(&mut self, work: &[PlannedTarget], seed: u64) -> Result<Vec<String>> {
        let mut linked = Vec::new();
        for target in work {
            let sides: BTreeSet<Side> = target
                .benchmarks
                .iter()
                .flat_map(|planned| planned.sides.iter().copied())
                .collect();
            for side in sides {
                let program = &self.programs[&(target.name.clone(), side)];
                linked.extend(program.timed.as_ref().map(|built| Relinkable {
                    target: target.name.clone(),
                    side,
                    executable: built.executable.clone(),
                    link: built.link.clone(),
                }));
            }
        }
        let (layouts, notes) = Layouts::new(linked, seed)?;
        self.layouts = Some(layouts);
        Ok(notes)
    }
}

impl Executor for Programs {
    fn prepare(&mut self, target: &PlannedTarget, number: u32) -> Result<LayoutSeeds> {
        let Some(layouts) = &mut self.layouts else { return Ok(LayoutSeeds::new()) };
        let (seeds, note) = layouts.prepare(&target.name, number)?;
        self.notes.extend(note);
        Ok(seeds)
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn unfit(&self, target: &PlannedTarget) -> Option<Unfit> {
        let mut programs = self.programs.iter().filter(|((name, _), _)| *name == target.name);
        programs.find_map(|(_, program)| program.benchmarks.unfit())
    }

    fn start(
        &mut self,
        target: &PlannedTarget,
        side: Side,
        wanted: &[String],
        effort: Effort,
        attachment: Option<&Attachment>,
    ) -> Result<ProcessResult<Box<dyn Session>>> {
        interrupt::check()?;
        let program = &self.programs[&(target.name.clone(), side)];
        let all = program.ids.iter().all(|id| wanted.contains(id));
        let wanted = if all { Wanted::All(wanted) } else { Wanted::Only(wanted) };
        let layouts = self.layouts.as_ref();
        let executable = layouts.and_then(|layouts| layouts.executable(&target.name, side));
        program.benchmarks.start(wanted, effort, attachment, executable)
    }
}
