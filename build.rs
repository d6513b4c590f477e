//! Compiles the preload library for lock-step measuring, with the compiler that compiles everything else.
//! Where that is not possible an empty file stands for it, and the program measures without lock-step.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = "src/lockstep/preload.rs";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed=src/lockstep/layout.rs");
    let library = PathBuf::from(variable("OUT_DIR")).join("preload.so");
    if let Err(why) = compile(&library) {
        println!("cargo::warning=lock-step measuring will not be available: {why}");
        std::fs::write(&library, b"").expect("the output directory can be written");
    }
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_default()
}

fn compile(library: &PathBuf) -> Result<(), String> {
    let supported = variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu"
        && ["x86_64", "aarch64"].iter().any(|arch| variable("CARGO_CFG_TARGET_ARCH") == *arch);
    if !supported {
        // Nothing is missing there: it is not made for these systems, so there is nothing to warn of.
        return std::fs::write(library, b"").map_err(|error| error.to_string());
    }
    let mut command = Command::new(variable("RUSTC"));
    command
        .args([SOURCE, "--crate-name", "bench_compare_preload", "--crate-type", "cdylib"])
        .args(["--edition", "2024", "-C", "panic=abort", "-C", "opt-level=3"])
        // Nothing unwinds here, but parts of the core library would look for this.
        .args(["-C", "strip=symbols", "-C", "link-arg=-Wl,--defsym=rust_eh_personality=0"])
        .arg("--target")
        .arg(variable("TARGET"))
        .arg("-o")
        .arg(library);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = OsString::from("linker=");
        option.push(linker);
        command.arg("-C").arg(option);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).replace('\n', " "))
}
