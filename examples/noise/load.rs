//! What else the machine does meanwhile.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Result;
use crate::repository::Repository;

/// Begins, for as long as this process lives: busy loops, which never rest, and compilers, which come and go.
pub fn begin(loops: usize, compilers: usize, repository: &Repository) -> Result<()> {
    for _ in 0..loops {
        std::thread::spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        });
    }
    for number in 0..compilers {
        let directory = repository.scratch(&format!("compiler-{number}"))?;
        std::fs::copy(repository.source(), directory.join("lib.rs"))?;
        // It is known to work before anything is measured beside it.
        compile(&directory)?;
        std::thread::spawn(move || {
            let mut random = fastrand::Rng::with_seed(number as u64);
            while compile(&directory).is_ok() {
                std::thread::sleep(Duration::from_millis(random.u64(0..1000)));
            }
        });
    }
    Ok(())
}

fn compile(directory: &Path) -> Result<()> {
    let status = Command::new("rustc")
        .args(["--edition=2021", "--crate-type=lib", "-Copt-level=3", "lib.rs"])
        .current_dir(directory)
        .stderr(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("rustc: {status}").into()) }
}
