//! The bench targets of one revision, laid over the checkouts of the others: so that a benchmark that a change
//! adds can be measured on its base too.
//!
//! In: the workspaces of two sides. Out: the one's worktree with the other's bench targets: sources, data,
//! `[[bench]]` sections and dev-dependencies. Only worktrees are written to. Builds nothing.
//!
//! For each package that both have, all bench targets are replaced. What is measured stays each revision's own: `src`,
//! dependencies, features, profiles. A dev-dependency by path is the package of that name in the revision itself,
//! if it has it, or else is laid over too. A package that has nothing but benchmarks is laid over whole where there is
//! none of its name.

mod apply;
mod files;
mod manifest;
mod paths;
mod whole;

pub use apply::{Laid, Overlay, remove_target};
