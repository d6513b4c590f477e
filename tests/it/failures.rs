//! Benchmarks that panic, hang, end or send rubbish, and runs that are interrupted.
