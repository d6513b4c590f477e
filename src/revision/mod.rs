//! From a revision range to directories with sources.
//!
//! In: what the user asked to compare, and the repository in which it was asked. Out: one
//! [`Checkout`] per side, a git worktree outside the repository that is removed when it is dropped.
//! Knows nothing of cargo. Never touches the user's working tree, index, stash or branches.

mod cache;
mod checkout;
mod git;
mod mirror;
mod range;
mod resolve;
mod slot;
mod submodules;
mod working_tree;

pub use cache::Cache;
pub use checkout::{Checkout, check_out};
pub use git::{Repository, git};
pub use range::{MOST_REVISIONS, Named, Range, WORKING_TREE};
pub use resolve::{Revision, Source, position_of, resolve, unknown_label};
pub use slot::Slot;
