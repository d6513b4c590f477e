//! Child processes in groups of their own: what is started is ended, with all that it started.
//!
//! In: a command. Out: its output or its exit, and never a process left behind: dropping a [`Process`]
//! kills its whole group, an interrupt ends every wait, and on Linux a child dies with this program.

use std::fmt::Write as _;
use std::io::{Read, Seek, SeekFrom};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use process_wrap::std::{ChildWrapper, CommandWrap};

use crate::system::{Error, Result, interrupt};

/// How often a waiting loop looks at the clock, the child and the interrupt flag.
const POLL: Duration = Duration::from_millis(5);

/// A running child process, leader of its own process group.
#[derive(Debug)]
pub struct Process {
    child: Box<dyn ChildWrapper>,
    exit: Option<ExitStatus>,
}

impl Process {
    /// Starts a command in a process group (a job object on Windows) of its own.
    pub fn spawn(mut command: Command) -> std::io::Result<Self> {
        die_with_parent(&mut command);
        let mut command = CommandWrap::from(command);
        #[cfg(unix)]
        command.wrap(process_wrap::std::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::std::JobObject);
        Ok(Self { child: command.spawn()?, exit: None })
    }

    /// The exit status if the process has ended.
    pub fn exit_status(&mut self) -> std::io::Result<Option<ExitStatus>> {
        if self.exit.is_none() {
            self.exit = self.child.inner_mut().try_wait()?;
        }
        Ok(self.exit)
    }

    /// Waits for the end until the deadline: `None` if it still runs then.
    pub fn wait_until(&mut self, deadline: Option<Instant>) -> Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = self.exit_status()? {
                return Ok(Some(status));
            }
            interrupt::check()?;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
            std::thread::sleep(POLL);
        }
    }

    /// Kills the whole group and waits for its end.
    pub fn kill(&mut self) {
        // The leader may be gone while others of its group live on; an empty group is no error here.
        let _ = self.child.start_kill();
        let _ = self.child.wait();
    }

    /// Asks a well-behaved program to stop (SIGINT), and kills its group if it has not within `grace`.
    fn stop(&mut self, grace: Duration) {
        #[cfg(unix)]
        {
            // 2 is SIGINT everywhere.
            let _ = self.child.signal(2);
            let deadline = Instant::now() + grace;
            while matches!(self.exit_status(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(POLL);
            }
        }
        #[cfg(not(unix))]
        let _ = grace;
        self.kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a finished command left.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error, if that was captured.
    pub stderr: String,
}

/// Where a command's standard error goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stderr {
    /// To this program's own standard error, as it comes: the user watches.
    Shown,
    /// Into [`Finished::stderr`].
    Captured,
}

/// Runs a command to its end and takes its output. An interrupt stops it.
pub fn run(mut command: Command, stderr: Stderr) -> Result<Finished> {
    let mut stdout_file = tempfile::tempfile()?;
    let mut stderr_file = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(stdout_file.try_clone()?);
    if stderr == Stderr::Captured {
        command.stderr(stderr_file.try_clone()?);
    }
    let program = command.get_program().to_owned();
    let mut process = Process::spawn(command).map_err(|error| {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        let error = Error::comparison(format!("cannot run `{}`", program.display())).because(error);
        if missing { error.help("it must be installed, in a directory on the PATH") } else { error }
    })?;
    let status = match process.wait_until(None) {
        Ok(status) => status.expect("waiting without a deadline ends with the process"),
        Err(error) => {
            process.stop(Duration::from_secs(5));
            return Err(error);
        }
    };
    Ok(Finished {
        status,
        stdout: read_from_start(&mut stdout_file)?,
        stderr: String::from_utf8_lossy(&read_from_start(&mut stderr_file)?).into_owned(),
    })
}

fn read_from_start(file: &mut std::fs::File) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut content)?;
    Ok(content)
}

/// How a process ended, in words: `exited with code 101`, `was killed by signal 9 (SIGKILL)`.
pub fn describe_exit(status: ExitStatus) -> String {
    let mut text = String::new();
    match status.code() {
        Some(code) => _ = write!(text, "exited with code {code}"),
        None => {
            #[cfg(unix)]
            {
                use std::os::unix::process::ExitStatusExt;
                let number = status.signal().unwrap_or_default();
                _ = write!(text, "was killed by signal {number}");
                let name = match number {
                    4 => " (SIGILL)",
                    6 => " (SIGABRT)",
                    8 => " (SIGFPE)",
                    9 => " (SIGKILL; out of memory?)",
                    11 => " (SIGSEGV)",
                    15 => " (SIGTERM)",
                    _ => "",
                };
                text.push_str(name);
            }
            #[cfg(not(unix))]
            text.push_str("was ended");
        }
    }
    text
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub(crate) fn die_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let parent = rustix::process::getpid();
    let set = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The parent may have died before the signal was set.
        if rustix::process::getppid() == Some(parent) {
            Ok(())
        } else {
            Err(std::io::Error::other("the parent process is gone"))
        }
    };
    // SAFETY: between fork and exec only two system calls are made and nothing is allocated, unless
    // the parent is gone, when this process ends anyway.
    unsafe { command.pre_exec(set) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn die_with_parent(_command: &mut Command) {}
