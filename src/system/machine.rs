//! The machine on which was measured, before and after.
//!
//! In: the kernel's own files, below a directory that tests can choose. Out: what a reader needs to know of the machine.
//! What cannot be found out is left out. What is worth a warning is for the results to say.

use crate::model::Environment;
use std::path::{Path, PathBuf};

/// Where the kernel tells about the machine.
#[derive(Debug, Clone)]
pub struct Machine {
    root: PathBuf,
}

/// What the processors have spent their time on since the machine was started, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessorTimes {
    total: u64,
    stolen: u64,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        Self { root: PathBuf::from("/") }
    }

    /// A machine whose `proc` and `sys` lie in this directory.
    pub fn below(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    /// What there is to say now, at the beginning.
    pub fn environment(&self) -> Environment {
        Environment {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: self
                .read("proc/sys/kernel/osrelease")
                .map(|text| text.trim().to_owned())
                .or_else(kernel),
            cpu: self.cpu(),
            cores: std::thread::available_parallelism().ok().map(Into::into),
            governor: self.governor(),
            turbo: self.turbo(),
            load: self.load(),
            ..Environment::default()
        }
    }

    fn cpu(&self) -> Option<String> {
        let text = self.read("proc/cpuinfo")?;
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }

    fn governor(&self) -> Option<String> {
        let text = self.read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")?;
        Some(text.trim().to_owned())
    }

    fn turbo(&self) -> Option<bool> {
        // Intel's own driver says the contrary.
        let no_turbo = self.read("sys/devices/system/cpu/intel_pstate/no_turbo");
        let boost = || self.read("sys/devices/system/cpu/cpufreq/boost");
        match no_turbo {
            Some(text) => Some(text.trim() == "0"),
            None => boost().map(|text| text.trim() == "1"),
        }
    }

    /// The load average over one minute.
    pub fn load(&self) -> Option<f64> {
        self.read("proc/loadavg")?.split_whitespace().next()?.parse().ok()
    }

    /// What the processors have spent their time on so far.
    pub fn processor_times(&self) -> Option<ProcessorTimes> {
        let text = self.read("proc/stat")?;
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // user, nice, system, idle, iowait, irq, softirq, steal; what guests take is in `user` already.
        let ticks: Option<Vec<u64>> =
            line.split_whitespace().take(8).map(|word| word.parse().ok()).collect();
        let ticks = ticks.filter(|ticks| ticks.len() == 8)?;
        Some(ProcessorTimes { total: ticks.iter().sum(), stolen: ticks[7] })
    }
}

impl Environment {
    /// Notes what can be said only at the end. `before` are the processors' times at the beginning of the measuring.
    pub fn ended(&mut self, machine: &Machine, before: Option<ProcessorTimes>) {
        self.load_at_the_end = machine.load();
        self.steal_percent = match (before, machine.processor_times()) {
            (Some(before), Some(after)) => stolen_between(before, after),
            _ => None,
        };
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

/// In percent of all the time that passed on all processors; `None` if none passed.
fn stolen_between(before: ProcessorTimes, after: ProcessorTimes) -> Option<f64> {
    let total = after.total.checked_sub(before.total).filter(|total| *total > 0)?;
    // The kernel's counters of stolen time may go back a little.
    let stolen = after.stolen.saturating_sub(before.stolen);
    Some(100.0 * stolen as f64 / total as f64)
}

/// The flags for rustc that environment variables give, as cargo takes them: the first of these variables counts.
pub fn rustflags(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let encoded = variable("CARGO_ENCODED_RUSTFLAGS").map(|flags| flags.replace('\u{1f}', " "));
    let flags =
        encoded.or_else(|| variable("RUSTFLAGS")).or_else(|| variable("CARGO_BUILD_RUSTFLAGS"))?;
    Some(flags.trim().to_owned()).filter(|flags| !flags.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let directory = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let machine = Machine::below(directory.path());
        (directory, machine)
    }

    #[test]
    fn what_the_kernel_says_is_understood_and_the_rest_left_out() {
        let (_directory, full) = machine(&[
            ("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n"),
            ("proc/cpuinfo", "processor\t: 0\nmodel name\t: A Processor @ 3 GHz\n"),
            ("proc/loadavg", "0.52 0.58 0.59 1/389 12345\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
        ]);
        let environment = full.environment();
        assert_eq!(environment.kernel.as_deref(), Some("6.1.0-13-amd64"));
        assert_eq!(environment.cpu.as_deref(), Some("A Processor @ 3 GHz"));
        assert_eq!(environment.governor.as_deref(), Some("powersave"));
        assert_eq!((environment.turbo, environment.load), (Some(false), Some(0.52)));
        let (_directory, amd) = machine(&[("sys/devices/system/cpu/cpufreq/boost", "1\n")]);
        assert_eq!(amd.environment().turbo, Some(true));
        let (_directory, empty) =
            machine(&[("proc/loadavg", "many\n"), ("proc/stat", "cpu 1 2\n")]);
        let environment = empty.environment();
        assert_eq!((environment.load, environment.turbo, environment.cpu), (None, None, None));
        assert_eq!(empty.processor_times(), None);
    }

    #[test]
    fn stolen_time_is_that_between_two_looks() {
        let times = |line: &str| {
            let (_directory, machine) = machine(&[("proc/stat", line)]);
            machine.processor_times().unwrap()
        };
        // The last two columns are a part of the first two.
        let before = times("cpu  100 0 50 800 10 0 10 30 70 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        let after = times("cpu  180 0 60 890 10 0 10 50 90 0\n");
        assert_eq!(stolen_between(before, after), Some(10.0));
        assert_eq!(stolen_between(before, before), None);
        assert_eq!(stolen_between(after, before), None);
        let back = ProcessorTimes { total: after.total, stolen: before.stolen - 1 };
        assert_eq!(stolen_between(before, back), Some(0.0));
    }

    #[test]
    fn flags_are_those_that_cargo_takes() {
        let flags = |set: &[(&str, &str)]| {
            rustflags(|name| {
                let found = set.iter().find(|(other, _)| *other == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let (encoded, plain) =
            (("CARGO_ENCODED_RUSTFLAGS", "-C\u{1f}lto"), ("RUSTFLAGS", "-C opt"));
        assert_eq!(flags(&[plain, encoded]).as_deref(), Some("-C lto"));
        assert_eq!(flags(&[plain, ("CARGO_BUILD_RUSTFLAGS", "no")]).as_deref(), Some("-C opt"));
        assert_eq!(flags(&[("RUSTFLAGS", " ")]), None);
        assert_eq!(flags(&[]), None);
    }
}
