//! The machine on which was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a reader needs to know of the machine. What cannot be found out is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Operating system and architecture, as Rust names them: `linux x86_64`.
    pub system: String,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// The processor's model.
    pub cpu: Option<String>,
    /// How many processors this program may use.
    pub cores: Option<usize>,
    /// The load average over one minute when the run began: above the number of cores, benchmarks compete
    /// with other programs.
    pub load: Option<f64>,
}

impl Environment {
    /// Of this machine, now.
    pub fn of_this_machine() -> Self {
        Self {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: kernel(),
            cpu: cpu(),
            cores: std::thread::available_parallelism().ok().map(Into::into),
            load: load(),
        }
    }
}

#[cfg(unix)]
fn kernel() -> Option<String> {
    Some(rustix::system::uname().release().to_string_lossy().into_owned())
}

#[cfg(not(unix))]
fn kernel() -> Option<String> {
    None
}

fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
