//! Both sides of a benchmark in step: that they are, what it hides, and that nothing a side does stops the
//! other.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use cargo_bench_compare::results::{Comparison, Method, Results};
use serde_json::Value;

use crate::support::{Fixture, bench};

/// What the benchmarks below have in common. `spin` takes a time by reading the clock over and over, and
/// `seconds` reads any clock of the system.
const TOOLS: &str = r#"
#[allow(unused)]
pub fn spin(nanoseconds: u64) {
    let start = std::time::Instant::now();
    while start.elapsed().as_nanos() < u128::from(nanoseconds) {}
}

#[allow(unused)]
pub fn seconds(clock: i32) -> f64 {
    #[repr(C)]
    struct Time(i64, i64);
    extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    let mut time = Time(0, 0);
    assert_eq!(unsafe { clock_gettime(clock, &mut time) }, 0);
    time.0 as f64 + time.1 as f64 / 1e9
}

/// What the other clocks are ahead of the monotonic one, read without being interrupted.
#[allow(unused)]
pub fn ahead() -> [f64; 3] {
    loop {
        let own = seconds(1);
        let others = [4, 6, 7].map(seconds);
        if seconds(1) - own < 0.001 {
            return others.map(|other| other - own);
        }
    }
}

/// A copy of this process does it and ends. It is waited for, if it is to be.
#[allow(unused)]
pub fn fork(is_waited_for: bool, what: fn()) {
    extern "C" {
        fn fork() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(code: i32) -> !;
    }
    unsafe {
        match fork() {
            0 => {
                what();
                _exit(0)
            }
            child if is_waited_for => {
                let mut status = 1;
                assert_eq!(waitpid(child, &mut status, 0), child);
                assert_eq!(status, 0);
            }
            child => assert!(child > 0),
        }
    }
}

#[allow(unused)]
pub fn kill_myself() {
    extern "C" {
        fn kill(process: i32, signal: i32) -> i32;
    }
    unsafe { kill(std::process::id() as i32, 9) };
}
"#;

/// A benchmark that takes the time it says, and keeps the processor busy meanwhile.
fn busy(id: &str, nanoseconds: &str) -> String {
    format!(
        "    c.bench_function({id:?}, |b| b.iter_custom(|n| {{\n        \
         sample::spin(n * 2000);\n        Duration::from_nanos(n * {nanoseconds})\n    }}));\n"
    )
}

/// A repository with these benchmarks, whose head differs in `IS_HEAD` alone.
fn fixture(benches: &str) -> Fixture {
    let library = |is_head: bool| format!("pub const IS_HEAD: bool = {is_head};\n{TOOLS}");
    let fixture = Fixture::with_bench(&library(false), &bench(benches));
    fixture.write("src/lib.rs", library(true));
    fixture.commit("head");
    fixture
}

fn comparison<'a>(results: &'a Results, benchmark: &str) -> &'a Comparison {
    let found = results.comparisons.iter().find(|comparison| comparison.benchmark == benchmark);
    found.unwrap_or_else(|| panic!("no {benchmark} in {results:?}"))
}

#[test]
fn sides_are_in_step_where_they_can_be_and_what_cannot_is_said() {
    // The real time that passes while the process believes that a second does, in milliseconds: about two
    // where two sides take turns.
    let real_time = r#"
    c.bench_function("real time", |b| b.iter_custom(|n| {
        let (real, own) = (sample::seconds(0), sample::seconds(1));
        sample::spin(2000 * n.max(2000));
        let ratio = (sample::seconds(0) - real) / (sample::seconds(1) - own);
        Duration::from_nanos((n as f64 * 1000.0 * ratio) as u64)
    }));
"#;
    let clocks = r#"
    static BEGIN: std::sync::OnceLock<[f64; 3]> = std::sync::OnceLock::new();
    c.bench_function("clocks", |b| b.iter_custom(|n| {
        let mut last = 0.0;
        for _ in 0..n * 20 {
            let now = sample::seconds(1);
            assert!(now >= last);
            last = now;
        }
        // What raw, coarse and boot time are ahead of the monotonic clock stays the same, whatever is hidden.
        let ahead = sample::ahead();
        let begin = BEGIN.get_or_init(|| ahead);
        for (now, then) in ahead.iter().zip(begin) {
            assert!((now - then).abs() < 0.02, "{ahead:?} {begin:?}");
        }
        Duration::from_nanos(n * 1000)
    }));
"#;
    let others = r#"
    c.bench_function("threads", |b| b.iter(|| std::thread::spawn(|| 1).join().unwrap()));
    c.bench_function("sleeps", |b| b.iter(|| std::thread::sleep(Duration::from_micros(50))));
    c.bench_function("children", |b| b.iter_custom(|n| {
        let child = std::process::Command::new("env").output().unwrap();
        let text = String::from_utf8(child.stdout).unwrap();
        assert!(!text.contains("LD_PRELOAD") && !text.contains("BENCH_COMPARE_LOCKSTEP"), "{text}");
        sample::spin(n * 2000);
        Duration::from_nanos(n * 1000)
    }));
"#;
    let many = r#"
    let mut group = c.benchmark_group("many");
    group.sample_size(if sample::IS_HEAD { 500 } else { 50 });
    group.bench_function("samples", |b| b.iter_custom(|n| {
        sample::spin(n * 500);
        Duration::from_nanos(n * if sample::IS_HEAD { 1200 } else { 1000 })
    }));
    group.finish();
"#;
    let steady = busy("steady", "if sample::IS_HEAD { 1500 } else { 1000 }");
    let benches = [&steady, real_time, clocks, others, many].concat();
    let fixture = fixture(&benches);

    let arguments = ["base..HEAD", "--runs", "6", "--format", "json"];
    let results = fixture.run(&arguments).exits_with(0).results();
    for (benchmark, improvement) in [("steady", -100.0 / 3.0), ("many/samples", -100.0 / 6.0)] {
        let found = comparison(&results, benchmark);
        assert_eq!((found.method, found.pairs), (Method::Lockstep, 6), "{benchmark}");
        let difference = found.improvement_percent.unwrap().value() - improvement;
        assert!(difference.abs() < 0.01, "{benchmark}: {difference}");
    }
    assert_eq!(comparison(&results, "clocks").method, Method::Lockstep);
    assert_eq!(comparison(&results, "children").method, Method::Lockstep);
    for (benchmark, note) in [
        ("threads", "not measured in step, because it starts threads"),
        ("sleeps", "not measured in step, because it sleeps or waits with a time limit"),
    ] {
        let found = comparison(&results, benchmark);
        assert_eq!(
            (found.method, found.notes.as_slice()),
            (Method::Process, &[note.to_owned()][..])
        );
        assert_eq!(found.pairs, 6);
    }
    let in_step = comparison(&results, "real time").base.nanoseconds.unwrap();
    assert!(in_step > 1500.0, "{in_step}: the sides did not take turns");
    let table = fixture.run(&["report"]).exits_with(0).stdout;
    assert!(table.contains("in step, 2 one side after the other"), "{table}");

    let arguments =
        [&arguments[..], &["--lockstep", "off", "--filter", "real time|steady"]].concat();
    let results = fixture.run(&arguments).exits_with(0).results();
    assert!(results.comparisons.iter().all(|found| found.method == Method::Process));
    let alone = comparison(&results, "real time").base.nanoseconds.unwrap();
    assert!(alone < 1200.0, "{alone}: time is hidden although nobody waits");
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_process_that_copies_itself_is_not_in_step_and_its_copies_leave_the_baton_alone() {
    // What the copy sees of time goes on where its original was: both spin for as long as they say.
    let forks = r#"
    c.bench_function("forks", |b| b.iter_custom(|n| {
        for _ in 0..n.min(3) {
            sample::fork(true, || {
                let start = sample::seconds(1);
                sample::spin(500_000);
                if sample::seconds(1) - start > 10.0 { sample::kill_myself() }
            });
        }
        sample::spin(n * 2000);
        Duration::from_nanos(n * 1000)
    }));
    c.bench_function("leaves a copy", |b| b.iter_custom(|n| {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| sample::fork(false, || sample::spin(2_000_000_000)));
        sample::spin(n * 2000);
        Duration::from_nanos(n * 1000)
    }));
"#;
    let last = busy("last", "if sample::IS_HEAD { 1500 } else { 1000 }");
    let fixture = fixture(&[&busy("first", "1000"), forks, &last].concat());
    let arguments = ["base..HEAD", "--runs", "3", "--format", "json"];
    let results = fixture.run(&arguments).exits_with(0).results();
    for benchmark in ["first", "last"] {
        let found = comparison(&results, benchmark);
        assert_eq!((found.method, found.pairs), (Method::Lockstep, 3), "{benchmark}");
    }
    for benchmark in ["forks", "leaves a copy"] {
        let found = comparison(&results, benchmark);
        let note = "not measured in step, because it forks: it starts copies of its own process";
        assert_eq!((found.method, &found.notes[..]), (Method::Process, &[note.to_owned()][..]));
        assert_eq!(found.pairs, 3);
    }
    fixture.assert_nothing_left_behind();
}

#[test]
fn whatever_a_side_does_the_other_goes_on() {
    let on_head = |id: &str, what: &str| {
        format!(
            "    c.bench_function({id:?}, |b| b.iter_custom(|n| {{\n        sample::spin(n * 2000);\n        \
             if sample::IS_HEAD {{ {what} }}\n        Duration::from_nanos(n * 1000)\n    }}));\n"
        )
    };
    let benches = [
        busy("first", "1000"),
        on_head("exits", "std::process::exit(0)"),
        busy("between", "1000"),
        on_head("panics", "panic!(\"no luck\")"),
        on_head("is killed", "sample::kill_myself()"),
        // Without a clock reading it keeps the baton until it is ended.
        on_head("hangs", "loop { black_box(1); }"),
        on_head("reads the clock for ever", "loop { sample::spin(1000); }"),
        busy("last", "if sample::IS_HEAD { 1500 } else { 1000 }"),
    ]
    .concat();
    let fixture = fixture(&benches);
    let arguments = ["base..HEAD", "--runs", "2", "--timeout", "3s", "--format", "json"];
    let results = fixture.run(&arguments).exits_with(3).results();
    let failed: Vec<(&str, &str)> = results
        .failed
        .iter()
        .map(|failure| (failure.benchmark.as_deref().unwrap(), failure.side.as_str()))
        .collect();
    assert_eq!(
        failed,
        ["exits", "panics", "is killed", "hangs", "reads the clock for ever"]
            .map(|id| (id, "head"))
    );
    for (benchmark, reason) in
        [("panics", "no luck"), ("is killed", "SIGKILL"), ("hangs", "no sign of progress for 3s")]
    {
        let failure = results.failed.iter().find(|f| f.benchmark.as_deref() == Some(benchmark));
        assert!(failure.unwrap().error.contains(reason), "{failure:?}");
    }
    for benchmark in ["first", "between", "last"] {
        let found = comparison(&results, benchmark);
        assert_eq!((found.method, found.pairs), (Method::Lockstep, 2), "{benchmark}");
    }
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_preloaded_library_of_the_users_own_is_left_in_place() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let library = maps.lines().find_map(|line| {
        let path = &line[line.find('/')?..];
        path.contains("/libc.so").then_some(path)
    });
    let library = library.expect("the tests use the C library");
    let check = format!(
        "    assert_eq!(std::env::var(\"LD_PRELOAD\").as_deref(), Ok({library:?}));\n{}",
        busy("steady", "1000 + u64::from(sample::IS_HEAD)")
    );
    let fixture = fixture(&check);
    let mut command = fixture.command(&["base..HEAD", "--runs", "2", "--format", "json"]);
    let run = crate::support::Run::of(command.env("LD_PRELOAD", library).output().unwrap());
    let results = run.exits_with(0).results();
    assert_eq!(comparison(&results, "steady").method, Method::Lockstep);
}

#[test]
fn a_benchmark_that_is_bent_on_its_own_time_takes_no_longer_than_others() {
    let body = r#"
    let first = u64::from(sample::IS_HEAD);
    let work = || (first..2000).fold(1u64, |x, i| black_box(x.wrapping_mul(i | 1)));
    let mut group = c.benchmark_group("own time");
    group.warm_up_time(Duration::from_secs(2)).measurement_time(Duration::from_secs(8));
    group.bench_function("work", |b| b.iter(work));
    group.finish();
    c.bench_function("work", |b| b.iter(work));
"#;
    let fixture = fixture(body);
    let results =
        fixture.run(&["base..HEAD", "--runs", "3", "--format", "json"]).exits_with(0).results();
    let [own, plain] = ["own time/work", "work"].map(|id| comparison(&results, id));
    for comparison in [own, plain] {
        assert_eq!((comparison.method, comparison.pairs), (Method::Lockstep, 3));
        assert!(comparison.notes.is_empty(), "{:?}", comparison.notes);
    }
    let ratio = own.base.nanoseconds.unwrap() / plain.base.nanoseconds.unwrap();
    assert!((0.3..3.0).contains(&ratio), "it is the same work, {ratio} times as long");
    // Of 48 s that it wants.
    let measured = results.measured.iter().find(|m| m.benchmark == "own time/work").unwrap();
    assert!(measured.seconds < 10.0, "{} s", measured.seconds);
}

#[test]
fn what_a_configured_runner_starts_is_not_in_step_and_that_is_said() {
    let fixture = fixture(&busy("steady", "1000 + u64::from(sample::IS_HEAD)"));
    let triple = crate::support::host_triple().to_uppercase().replace('-', "_");
    let mut command = fixture.command(&["base..HEAD", "--runs", "2", "--format", "json"]);
    command.env(format!("CARGO_TARGET_{triple}_RUNNER"), "env");
    let run = crate::support::Run::of(command.output().unwrap()).exits_with(0);
    let found = &run.results().comparisons[0];
    let note = "not measured in step, because it is started by a runner that is configured";
    assert_eq!((found.method, &found.notes[..]), (Method::Process, &[note.to_owned()][..]));
}

#[test]
fn time_that_other_programs_take_is_not_that_of_the_benchmark() {
    // How much time passes on the benchmark's clock while it runs for a millisecond, beside another program on its core.
    let crowded = r#"
    let mut group = c.benchmark_group("crowded");
    group.sample_size(10);
    group.bench_function("core", |b| b.iter_custom(|n| {
        let endless = ["-c", "while :; do :; done"];
        let mut other = std::process::Command::new("sh").args(endless).spawn().unwrap();
        let (own, running) = (sample::seconds(1), sample::seconds(3));
        while sample::seconds(3) - running < 0.02 {
            black_box((0..20_000u64).fold(sample::IS_HEAD as u64, |x, i| black_box(x ^ i)));
            sample::seconds(1);
        }
        let ratio = (sample::seconds(1) - own) / (sample::seconds(3) - running);
        other.kill().unwrap();
        other.wait().unwrap();
        Duration::from_nanos((n as f64 * 1e6 * ratio) as u64)
    }));
    group.finish();
"#;
    let fixture = fixture(crowded);
    let results =
        fixture.run(&["base..HEAD", "--runs", "2", "--format", "json"]).exits_with(0).results();
    let found = comparison(&results, "crowded/core");
    assert_eq!((found.method, found.pairs), (Method::Lockstep, 2));
    for side in [&found.base, &found.head] {
        let milliseconds = side.nanoseconds.unwrap() / 1e6;
        assert!((0.8..1.3).contains(&milliseconds), "{milliseconds} ms");
    }
}

#[test]
fn a_launch_measures_less_where_other_programs_take_the_core() {
    // So many that a launch is cheap for each of them.
    let benches = r#"
    let work = || (sample::IS_HEAD as u64..2000).fold(1u64, |x, i| black_box(x.wrapping_mul(i | 1)));
    for number in 0..16 {
        c.bench_function(&format!("work {number}"), |b| b.iter(work));
    }
"#;
    let fixture = fixture(benches);
    let directory = tempfile::tempdir().unwrap();
    let save = directory.path().join("r.json");
    // Two for each core.
    let cores = std::thread::available_parallelism().unwrap().get();
    let _others: Vec<Endless> = (0..2 * cores).map(|_| Endless::begin()).collect();
    fixture
        .run(&["base..HEAD", "--runs", "3", "--layouts", "off", "--save", save.to_str().unwrap()])
        .exits_with(0);
    let lines = std::fs::read_to_string(save.with_extension("samples.jsonl")).unwrap();
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    let samples = last["sides"][0]["totals"].as_array().unwrap().len();
    assert!((10..45).contains(&samples), "{samples} samples, of 50 if it had its core to itself");
}

/// A program that never rests, for as long as this is there.
struct Endless(std::process::Child);

impl Endless {
    fn begin() -> Self {
        let mut command = std::process::Command::new("sh");
        Self(command.args(["-c", "while :; do :; done"]).spawn().unwrap())
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
