//! Ctrl-C and requests to terminate.
//!
//! The first one sets a flag that everything which waits looks at: processes are ended, worktrees
//! removed, partial results kept. A second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::system::{Error, Result};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler for SIGINT, SIGTERM and SIGHUP (Ctrl-C and Ctrl-Break on Windows). Under `nohup`,
/// SIGHUP stays ignored.
pub fn install_handler() -> Result<()> {
    #[cfg(unix)]
    let under_nohup = is_ignored(libc::SIGHUP);
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Error::comparison("cannot listen for Ctrl-C").because(error))?;
    #[cfg(unix)]
    if under_nohup {
        ignore(libc::SIGHUP);
    }
    Ok(())
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: all zeros are a valid action, and without a new one it is only filled in.
    unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut present) == 0
            && present.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn ignore(signal: libc::c_int) {
    // SAFETY: no code of ours runs when a signal is ignored.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Fails with [`Error::interrupted`] once the user has asked to stop.
pub fn check() -> Result<()> {
    if REQUESTED.load(Ordering::SeqCst) { Err(Error::interrupted()) } else { Ok(()) }
}
