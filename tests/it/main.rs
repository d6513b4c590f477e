//! Tests of the whole program: real repositories, real cargo builds, real processes.

mod architecture;
mod benches_from;
mod build_dependencies;
mod build_environment;
mod builds;
mod commands;
mod comparison;
mod configuration;
mod documentation;
mod failures;
#[cfg(feature = "github")]
mod github;
mod harness_versions;
mod harnesses;
mod layouts;
mod lockstep;
mod node_compare;
mod output;
mod revisions;
mod several_revisions;
mod shards;
mod signed_rank_oracle;
mod support;
mod values_of_r;
mod worktrees;
