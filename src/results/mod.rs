//! The results file: what a comparison measured and what follows from it.
//!
//! In: groups of samples as they come. Out: a versioned JSON file from which every report is made, now or
//! later. Knows nothing of how results are shown.

mod agreement;
mod counted;
mod derive;
mod doubts;
mod file;
mod journal;
mod merge;
mod reference;
mod schema;

pub use agreement::{Agreement, AgreementOn, Answer, Estimate, agreement};
pub(crate) use journal::Journal;
pub use merge::{NamedResults, merge};
pub use schema::{
    Accuracy, Comparison, Failure, Gate, LaunchValues, Measured, Method, Missing, Results,
    Revision, SCHEMA_VERSION, SameCode, SetAside, SideTime, json_schema,
};
