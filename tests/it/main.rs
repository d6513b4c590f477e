//! Tests of the whole program: real repositories, real cargo builds, real processes.

mod comparison;
mod signed_rank_oracle;
mod support;
