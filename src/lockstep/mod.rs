//! Lock-step: live processes that take turns of about a millisecond, on one core.
//!
//! In: processes that are started with an [`Attachment`]. Out: a [`Baton`] that tells which of them runs. A
//! library of our own is preloaded into them (`preload.rs`); it shares a page with this module and hands the
//! baton on where the process reads the clock. Knows nothing of harnesses, and decides no schedule.
//!
//! A benchmark is measured in step like this: every side in turn runs until its first clock reading and stops
//! there ([`Baton::expect`], [`Baton::has_arrived`]); then all run, one at a time ([`Baton::begin`]); a side whose
//! benchmark is done is set free ([`Baton::set_free`]). Between benchmarks sides run without regard to the baton.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod cores;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux;
mod unfit;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod unsupported;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use linux::{Attachment, Baton, Preload};
pub use unfit::{Turns, Unfit};
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub use unsupported::{Attachment, Baton, Preload};
