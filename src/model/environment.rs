//! The machine and the settings with which was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a reader needs to know of the machine. What cannot be found out is left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Operating system and architecture, as Rust names them: `linux x86_64`.
    pub system: String,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// The processor's model.
    pub cpu: Option<String>,
    /// How many processors this program may use.
    pub cores: Option<usize>,
    /// How the kernel chooses the processors' frequency: `performance`, `powersave`.
    #[serde(default)]
    pub governor: Option<String>,
    /// Whether the processors may be faster than their nominal frequency for a while.
    #[serde(default)]
    pub turbo: Option<bool>,
    /// The load average over one minute when the run began: above the number of cores, benchmarks compete
    /// with other programs.
    pub load: Option<f64>,
    /// The load average over one minute when the measuring ended.
    #[serde(default)]
    pub load_at_the_end: Option<f64>,
    /// The share of the processors' time that other guests of the same host took while it was measured.
    #[serde(default)]
    pub steal_percent: Option<f64>,
    /// The flags for rustc that environment variables give.
    #[serde(default)]
    pub rustflags: Option<String>,
    /// The cargo profile.
    #[serde(default)]
    pub profile: Option<String>,
}

impl Environment {
    /// The machine in one line: `linux x86_64, A Processor, 8 cores, load 0.2 at the start`.
    pub fn in_words(&self) -> String {
        let mut parts = vec![self.system.clone()];
        parts.extend(self.cpu.clone());
        parts.extend(self.cores.map(|cores| format!("{cores} cores")));
        parts.extend(self.governor.as_ref().map(|governor| format!("governor {governor}")));
        let turbo = |turbo| if turbo { "turbo on" } else { "turbo off" };
        parts.extend(self.turbo.map(|on| turbo(on).to_owned()));
        parts.extend(self.kernel.as_ref().map(|kernel| format!("kernel {kernel}")));
        parts.extend(self.load.map(|load| format!("load {load:.1} at the start")));
        parts.extend(self.load_at_the_end.map(|load| format!("{load:.1} at the end")));
        let stolen = self.steal_percent.filter(|steal| *steal >= 0.05);
        parts.extend(stolen.map(|steal| format!("{steal:.1} % stolen by other guests")));
        parts.join(", ")
    }
}
