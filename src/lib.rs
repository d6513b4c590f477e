//! Compares the benchmarks of git revisions and says which differences can be believed.
//!
//! Data flows one way through the rooms:
//!
//! [`revision`] -> [`build`] -> [`plan`] -> [`measure`] -> [`stats`] -> [`results`] -> [`report`]
//!
//! [`session`] wires them, [`harness`] and [`lockstep`] run the processes. `ARCHITECTURE.md` shows the map and the
//! invariants, and `tests/it/architecture.rs` holds the rooms to it.
//!
//! [`results`], [`stats`] and [`report`] are for other programs too; the rest may change at any time.

pub mod build;
pub mod cli;
pub mod commands;
pub mod config;
#[cfg(feature = "github")]
pub mod github;
pub mod harness;
pub mod lockstep;
pub mod measure;
pub mod model;
pub mod node_compare;
pub mod plan;
pub mod report;
pub mod results;
pub mod revision;
pub mod session;
pub mod stats;
pub mod system;
