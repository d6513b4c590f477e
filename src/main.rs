//! The program: everything is in the library.

fn main() -> std::process::ExitCode {
    cargo_bench_compare::cli::main()
}
