//! A whole comparison: every stage, in order.
//!
//! In: [`Settings`]. Out: results, or the lists of benchmarks. This is the only module that knows all stages;
//! it decides nothing that a stage could decide.

use super::places::find_places;
use std::path::{Path, PathBuf};

use super::discover::{Taken, discover};
use super::executor::Programs;
use super::{How, ResultsRecorder, Settings, What};
use crate::build::{Builder, SideBuild};
use crate::commands::{CommandSide, PrebuiltProgram, Worktree};
use crate::lockstep::Preload;
use crate::measure::{Design, Spent, Stopwatch, Tools, measure};
use crate::model::{Environment, PerSide, Side};
use crate::plan::{Costs, Plan, PlannedTarget, keep_shard};
use crate::results::{self, Results, SCHEMA_VERSION};
use crate::revision::{self, Cache, Checkout, Repository, Revision, Slot};
use crate::stats::{BUDGET, LOOKS};
use crate::system::machine::Machine;
use crate::system::{Error, ErrorKind, Observer, Result, machine};

use super::commands::{of_programs, take_commands, wants_benches};

/// What came of a comparison.
pub struct Outcome {
    /// The results, complete or not.
    pub results: Results,
    /// Why they are not complete.
    pub stopped: Option<Error>,
    /// What the measuring took.
    pub spent: Spent,
}

/// What `list` shows.
pub struct Listing {
    /// The labels of what is compared, reference first.
    pub labels: Vec<String>,
    /// Their benchmarks, matched.
    pub plan: Plan,
}

/// Where the results of the last comparison in a directory are kept: that of its repository, if it lies in one.
pub fn results_in(cache: &Cache, directory: &Path) -> PathBuf {
    match Repository::discover(directory) {
        Ok(repository) => last_results(cache, &repository),
        Err(_) => cache.of_directory(directory).join("last").join("results.json"),
    }
}

/// Where the results of a repository's last comparison are kept.
pub fn last_results(cache: &Cache, repository: &Repository) -> PathBuf {
    cache.of_repository(repository).join("last").join("results.json")
}

/// Makes the comparison.
pub fn compare(settings: &Settings, observer: &dyn Observer) -> Result<Outcome> {
    let mut prepared = Prepared::new(&settings.what, settings.how.layouts, observer)?;
    let machine = Machine::this();
    let mut results = Results {
        schema_version: SCHEMA_VERSION,
        generator: concat!("cargo-bench-compare ", env!("CARGO_PKG_VERSION")).to_owned(),
        command: settings.command.clone(),
        complete: false,
        seed: settings.how.seed,
        runs: settings.how.runs,
        time_limit_seconds: settings.how.time_limit.map(|limit| limit.as_secs_f64()),
        measuring_seconds: None,
        gate: settings.how.gate,
        margin_percent: settings.how.margin,
        revisions: prepared.revisions.clone(),
        benches_from: prepared.benches_from.clone(),
        environment: Environment {
            rustflags: machine::rustflags(|name| std::env::var(name).ok()),
            profile: Some(
                settings.what.selection.profile.clone().unwrap_or_else(|| "bench".to_owned()),
            ),
            ..machine.environment()
        },
        shard: prepared.shard.clone(),
        parts: Vec::new(),
        comparisons: Vec::new(),
        added: Vec::new(),
        removed: Vec::new(),
        failed: Vec::new(),
        set_aside: Vec::new(),
        notes: prepared.notes.clone(),
        measured: Vec::new(),
    };
    let work = prepared.plan.work();
    let preload = preload(&settings.how, &work);
    if let Err(why) = &preload {
        observer.warn(why);
        results.notes.push(why.clone());
    }
    let preload = preload.unwrap_or_default();
    if settings.how.layouts && prepared.programs.have_layouts(&work) {
        observer.status(
            "Linking",
            "what will be measured, to try whether its code layout can be varied",
        );
        for note in prepared.programs.vary_layouts(&work, settings.how.seed)? {
            observer.warn(&note);
            results.notes.push(note);
        }
    }
    let mut files = vec![prepared.results_file.clone()];
    files.extend(settings.save.clone());
    let clock = Stopwatch::start();
    let mut recorder = ResultsRecorder::new(results, &prepared.plan, files, &clock)?;
    observer.status("Measuring", &prepared.describe(&work, &settings.how));
    let design = Design {
        fewest_groups: settings.how.runs.unwrap_or(LOOKS[0].pairs as u32),
        time_limit: settings.how.time_limit,
        seed: settings.how.seed,
    };
    let tools = Tools { preload: preload.as_ref(), clock: &clock, observer };
    let mut programs = prepared.programs;
    // What was measured before it stopped is kept, and so is the reason for its being all there is.
    let mut spent = Spent::default();
    let before = machine.processor_times();
    let stopped = measure(&work, design, tools, &mut programs, &mut recorder, &mut spent).err();
    recorder.environment().ended(&machine, before);
    if let Some(error) = stopped.as_ref().filter(|error| error.kind() != ErrorKind::Interrupted) {
        let results = recorder.into_results();
        return Ok(Outcome { results, stopped: Some(error.clone()), spent });
    }
    let results = recorder.finish(stopped.is_none())?;
    Ok(Outcome { results, stopped, spent })
}

/// What keeps processes in step, unless it is not wanted or there is nothing to measure. The error says why
/// there is none although it is wanted.
fn preload(how: &How, work: &[PlannedTarget]) -> Result<Option<Preload>, String> {
    if !how.lockstep || work.is_empty() {
        return Ok(None);
    }
    Preload::install().map(Some).map_err(|why| {
        format!("processes cannot be kept in step, so that noise is not cancelled: {why}")
    })
}

/// Builds all sides and lists their benchmarks.
pub fn list(what: &What, observer: &dyn Observer) -> Result<Listing> {
    // Listing builds what comparing will use.
    let prepared = Prepared::new(what, true, observer)?;
    let labels = prepared.revisions.iter().map(|revision| revision.label.clone()).collect();
    Ok(Listing { labels, plan: prepared.plan })
}

/// Everything up to the first measurement. The worktrees live as long as this does.
struct Prepared {
    /// Where the results of this comparison are found by `report`.
    results_file: PathBuf,
    revisions: Vec<results::Revision>,
    /// The label of the revision whose bench targets all have.
    benches_from: Option<String>,
    /// Which part of the benchmarks is in the plan, if not all are.
    shard: Option<crate::model::Shard>,
    plan: Plan,
    programs: Programs,
    notes: Vec<String>,
    /// The slot is given back when the checkouts are gone.
    _held: Option<(PerSide<Checkout>, Slot)>,
}

/// How long the benchmarks of an earlier run took.
fn costs(results: &Results) -> Costs {
    Costs::new(results.measured.iter().map(|measured| (measured.name(), measured.seconds)))
}

impl Prepared {
    fn new(what: &What, captures_links: bool, observer: &dyn Observer) -> Result<Self> {
        let costs = match &what.shard_by {
            Some(file) => costs(&Results::load(file)?),
            None => Costs::default(),
        };
        let mut prepared = if what.commands.programs.is_empty() {
            Self::of_revisions(what, captures_links, observer)?
        } else {
            Self::of_programs(what, observer)?
        };
        let plan = &mut prepared.plan;
        prepared.shard = what.shard.map(|wanted| keep_shard(plan, wanted, &costs));
        Ok(prepared)
    }

    fn of_revisions(what: &What, captures_links: bool, observer: &dyn Observer) -> Result<Self> {
        let repository = Repository::discover(&what.directory)?;
        let revisions = revision::resolve(&repository, &what.range, what.against.as_deref())?;
        let benches_from = match &what.benches_from {
            Some(name) => Some(side_named(name, &revisions)?),
            None => None,
        };
        let slot = Slot::acquire(&repository, &what.cache)?;
        let named: Vec<String> =
            revisions.values().map(|revision| format!("({revision})")).collect();
        observer.status("Comparing", &named.join(" with "));
        let checkouts = revision::check_out(&repository, &slot, &revisions)?;
        let mut notes = checkout_notes(&revisions, &checkouts);
        notes.extend(benches_from.map(|side| {
            let label = &revisions[side].label;
            format!("the benchmarks of {label} were measured on all revisions (--benches-from)")
        }));
        for note in &notes {
            observer.warn(note);
        }
        let builds = if wants_benches(what, &repository, &checkouts) {
            let selection = &what.selection;
            let builder = Builder {
                repository: &repository,
                slot: &slot,
                selection,
                benches_from,
                captures_links,
                observer,
            };
            let builds = builder.build(&revisions, &checkouts)?;
            for (side, build) in builds.iter() {
                for failed in &build.failed {
                    observer.warn(&format!(
                        "{side}: `{}` is left out there: {}",
                        failed.target, failed.reason
                    ));
                }
            }
            Some(builds)
        } else {
            None
        };
        let taken = match &builds {
            Some(builds) => discover(builds, what.timeout, &what.rules)?,
            None => Taken::nothing(revisions.count()),
        };
        let sides = revisions.map(|side, revision| CommandSide {
            label: revision.label.clone(),
            revision: revision.commit.clone(),
            worktree: Some(Worktree {
                root: checkouts[side].root().to_owned(),
                counterpart: repository.root().to_owned(),
                target_directory: checkouts[side].side_directory().join("target"),
            }),
            program: None,
        });
        let taken =
            taken.with_commands(take_commands(what, &what.commands.entries, &sides, observer)?);
        let described = revisions
            .iter()
            .map(|(side, revision)| results::Revision {
                label: revision.label.clone(),
                commit: revision.commit.clone(),
                dirty: checkouts[side].dirty,
                rustc: builds.as_ref().map(|b| b[side].rustc.clone()).unwrap_or_default(),
                program: None,
                sources: builds.as_ref().map(|builds| builds[side].sources.digest()),
            })
            .collect();
        notes.extend(taken.notes.iter().cloned());
        let (mut plan, programs) = planned(what, taken, builds.as_ref(), observer)?;
        // Of what the user has now, which is the last.
        if let Some((side, build)) = builds.as_ref().and_then(|builds| builds.iter().last()) {
            find_places(&mut plan, build, checkouts[side].root());
        }
        let results_file = last_results(&what.cache, &repository);
        let held = Some((checkouts, slot));
        let benches_from = benches_from.map(|side| revisions[side].label.clone());
        Ok(Self {
            results_file,
            revisions: described,
            benches_from,
            shard: None,
            plan,
            programs,
            notes,
            _held: held,
        })
    }

    /// Prebuilt programs need neither git nor cargo.
    fn of_programs(what: &What, observer: &dyn Observer) -> Result<Self> {
        let programs = &what.commands.programs;
        let named: Vec<String> =
            programs.iter().map(|p| format!("{} ({})", p.label, p.given)).collect();
        observer.status("Comparing", &named.join(" with "));
        let side = |program: &PrebuiltProgram| CommandSide {
            label: program.label.clone(),
            revision: program.label.clone(),
            worktree: None,
            program: Some(program.path.clone()),
        };
        let sides: PerSide<CommandSide> = programs.iter().map(side).collect();
        let entries = of_programs(&what.commands.entries, observer)?;
        let taken = Taken::nothing(sides.count());
        let mut taken = taken.with_commands(take_commands(what, &entries, &sides, observer)?);
        let notes = std::mem::take(&mut taken.notes);
        let (plan, started) = planned(what, taken, None, observer)?;
        let described = programs
            .iter()
            .map(|program| results::Revision {
                label: program.label.clone(),
                commit: String::new(),
                dirty: false,
                rustc: String::new(),
                program: Some(program.given.clone()),
                sources: None,
            })
            .collect();
        let results_file = results_in(&what.cache, &what.directory);
        Ok(Self {
            results_file,
            revisions: described,
            benches_from: None,
            shard: None,
            plan,
            programs: started,
            notes,
            _held: None,
        })
    }

    fn describe(&self, work: &[PlannedTarget], how: &How) -> String {
        let measured: usize = work.iter().map(|target| target.benchmarks.len()).sum();
        let same_code = self.plan.benchmarks().flat_map(|(_, benchmark)| benchmark.same_code());
        let identical = match same_code.filter(|(_, other)| *other == Side::REFERENCE).count() {
            0 => String::new(),
            count => format!("; {count} not, because their code is identical"),
        };
        let shard = self.shard.as_ref().map_or_else(String::new, |s| format!(" (shard {s})"));
        if measured == 0 {
            return format!("nothing{shard}{identical}");
        }
        let groups = if self.revisions.len() > 2 { "groups" } else { "pairs" };
        let number = match how.runs {
            Some(runs) => runs.to_string(),
            None => format!("{} to {BUDGET}", LOOKS[0].pairs),
        };
        let limit = how.time_limit.map_or_else(String::new, |limit| {
            format!(", for at most {}", humantime::format_duration(limit))
        });
        let benchmarks = if measured == 1 { "benchmark" } else { "benchmarks" };
        format!("{measured} {benchmarks}{shard} in {number} launch {groups} each{limit}{identical}")
    }
}

/// The side that is called so: by its label, or by what it is in the comparison.
fn side_named(name: &str, revisions: &PerSide<Revision>) -> Result<Side> {
    let labels: Vec<&str> = revisions.values().map(|revision| revision.label.as_str()).collect();
    let by_label = |side: &Side| revisions[*side].label == name;
    let by_role = |side: &Side| side.to_string() == name;
    let found = revisions.sides().find(by_label).or_else(|| revisions.sides().find(by_role));
    found.ok_or_else(|| revision::unknown_label(name, &labels))
}

/// Matches the benchmarks of all sides.
fn planned(
    what: &What,
    taken: Taken,
    builds: Option<&PerSide<SideBuild>>,
    observer: &dyn Observer,
) -> Result<(Plan, Programs)> {
    let mut plan = Plan::new(&taken.inventories, &what.filter);
    plan.skipped = taken.skipped;
    plan.apply(&what.rules);
    if plan.is_empty() {
        return Err(no_benchmarks(&plan, builds, what));
    }
    for note in &plan.notes {
        observer.warn(note);
    }
    Ok((plan, taken.programs))
}

fn checkout_notes(revisions: &PerSide<Revision>, checkouts: &PerSide<Checkout>) -> Vec<String> {
    let mut notes = Vec::new();
    let reference = &revisions[Side::REFERENCE];
    for (side, revision) in revisions.others() {
        if revision.commit == reference.commit && !checkouts[side].dirty {
            notes.push(format!(
                "base and {side} are the same commit: this compares the code with itself"
            ));
        }
    }
    for (side, checkout) in checkouts.iter() {
        notes.extend(checkout.notes.iter().map(|note| format!("{side}: {note}")));
    }
    notes
}

fn no_benchmarks(plan: &Plan, builds: Option<&PerSide<SideBuild>>, what: &What) -> Error {
    let error = Error::comparison("there are no benchmarks to compare");
    if !plan.notes.is_empty() {
        return plan.notes.iter().fold(error, Error::because);
    }
    let has_bench_target =
        |build: &SideBuild| build.executables.iter().any(|executable| executable.is_bench_target);
    if builds.is_some_and(|builds| !builds.values().any(has_bench_target)) {
        return error.because("cargo bench runs no bench target with these options").help(
            "name the packages or targets with -p, --workspace or --bench, and check `cargo bench` itself",
        );
    }
    if what.filter.only.is_empty() && what.filter.skip.is_empty() {
        return match builds {
            Some(_) => error.help("`cargo bench` itself shows what there is"),
            None => error
                .because("no command is configured")
                .help("write it after `--`, or into bench-compare.toml as a [[command]]"),
        };
    }
    error
        .because("--filter and --skip leave none over")
        .help("`cargo bench-compare list` shows their ids")
}
