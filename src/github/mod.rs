//! Publishing on GitHub: the review or comment of a pull request, the job's summary, the step's outputs, the check.
//!
//! In: a results file that is not trusted, and what GitHub Actions says of the run. Out: requests to GitHub. Which
//! pull request is published to is never taken from the results. Knows nothing of how they were made.

mod actions;
mod body;
mod check;
mod client;
mod event;
mod failure;
mod names;
mod post;
mod proxy;
mod publish;
mod pull_request;
mod report;
mod untrusted;

pub use client::Patience;
pub use names::{Key, Repository};
pub use post::Mode;
pub use publish::{Settings, Variables, publish};
