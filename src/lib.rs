//! Compares the benchmarks of git revisions and says which differences can be believed.
//!
//! Data flows one way through the modules:
//!
//! [`revision`] -> [`build`] -> [`inventory`] -> [`plan`] -> [`measure`] -> [`stats`] -> [`results`] ->
//! [`report`]
//!
//! [`compare`] puts them in order, [`harness`] and [`lockstep`] run the processes. `ARCHITECTURE.md` shows the map and the invariants.

pub mod build;
pub mod classic;
pub mod cli;
pub mod commands;
pub mod compare;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod environment;
pub mod error;
#[cfg(feature = "github")]
pub mod github;
pub mod harness;
pub mod interrupt;
pub mod inventory;
pub mod layouts;
pub mod lockstep;
pub mod measure;
pub mod observer;
pub mod plan;
pub mod process;
pub mod report;
pub mod results;
pub mod revision;
pub mod shard;
pub mod side;
pub mod source;
pub mod stats;
pub mod suggestion;
