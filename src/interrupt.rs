//! Ctrl-C and requests to terminate.
//!
//! The first one sets a flag that everything which waits looks at: processes are ended, worktrees
//! removed, partial results kept. A second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler for SIGINT, SIGTERM and SIGHUP (Ctrl-C and Ctrl-Break on Windows).
pub fn install_handler() -> Result<()> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Error::comparison("cannot listen for Ctrl-C").because(error))
}

/// Fails with [`Error::interrupted`] once the user has asked to stop.
pub fn check() -> Result<()> {
    if REQUESTED.load(Ordering::SeqCst) { Err(Error::interrupted()) } else { Ok(()) }
}
