//! Which process runs when: the schedule of launch groups.
//!
//! In: a plan, and an [`Executor`] that starts processes. Out: for every benchmark and launch group the
//! samples of all sides, handed to a [`Recorder`] as they come, which says when it has enough. Knows no harness and no
//! statistics, starts no process itself and reads no clock but the one it is given, so that schedules are tested
//! with scripted executors.
//!
//! A *launch group* is one process per side of one target, all alive together and stepped benchmark by
//! benchmark. (With two sides it is called a launch pair.) Where it is possible the sides run each benchmark
//! in step, taking turns of less than a millisecond (`in_step`); else one side's benchmark runs after the
//! other's, in random order. Group k of every target comes before group k + 1 of any, so that a benchmark's
//! groups are spread over the whole run, and so that all have had the same number of them when the time is up.

mod clock;
mod effort;
mod estimate;
mod in_step;
mod launch_group;
mod run;
mod schedule;

pub use clock::{Clock, Stopwatch};
pub use estimate::launch_values;
pub use run::{
    Design, Executor, Group, LayoutSeeds, Method, Next, Recorder, Spent, Tools, measure,
};
