//! The page in a real browser.
//!
//! Ignored by a plain `cargo test`, because it needs Chromium: `cargo test --test browser -- --ignored`, as
//! `tests/run` does. `SCREENSHOTS=overwrite` before it makes the pictures in docs/screenshots anew.

mod chromium;
mod reading;
mod sample;
mod screenshots;
mod use_of_it;
