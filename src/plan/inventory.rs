//! What each side has.

use std::collections::BTreeMap;

use crate::harness::{Failure, Harness};
use crate::model::{PerSide, Side, TargetName};

/// What one side's executable of a target has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inventory {
    /// These benchmarks, in the order in which they run.
    Benchmarks(Vec<String>),
    /// Benchmarks of a harness that cannot be measured.
    NotUnderstood(Harness),
    /// It could not say.
    Failed(Failure),
}

/// One side's inventory, and whose code its executable is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What its benchmarks are made with, if that is known.
    pub harness: Option<Harness>,
    /// What it has.
    pub inventory: Inventory,
    /// The first side that has the same code, if that is an earlier one.
    pub same_code: Option<Side>,
}

/// What each side has, by target. A side without a target has no entry for it.
pub type Inventories = PerSide<BTreeMap<TargetName, Listed>>;
