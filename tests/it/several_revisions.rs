//! More than two revisions in one session, labels, and any of them as the reference.

use cargo_bench_compare::results::{Method, Results};
use cargo_bench_compare::stats::Verdict;
use snapbox::{assert_data_eq, str};

use crate::support::{Fixture, Run, bench, steady};

/// Tags `v1` (1000 ns), `v2` (800 ns), `v3` (the code of `v2`), a branch `main` (1250 ns, and a benchmark
/// more), and uncommitted changes (500 ns).
fn history() -> Fixture {
    let fixture = Fixture::with_bench(
        "pub const TIME: u64 = 1000;\n",
        &bench(&steady("work", "sample::TIME")),
    );
    fixture.git(&["tag", "v1"]);
    fixture.write("src/lib.rs", "pub const TIME: u64 = 800;\n");
    fixture.commit("faster");
    fixture.git(&["tag", "v2"]);
    fixture.write("README.md", "More about it.\n");
    fixture.commit("documented");
    fixture.git(&["tag", "v3"]);
    fixture.write("src/lib.rs", "pub const TIME: u64 = 1250;\n");
    let body = steady("work", "sample::TIME") + &steady("new", "7");
    fixture.write("benches/timing.rs", bench(&body));
    fixture.commit("slower");
    fixture.write("src/lib.rs", "pub const TIME: u64 = 500;\n");
    fixture
}

/// `label: verdict, base time, head time`, for every comparison of `work`.
fn compared(results: &Results) -> Vec<String> {
    let of_work = results.comparisons.iter().filter(|c| c.benchmark == "work");
    of_work
        .map(|c| {
            let verdict = match c.verdict {
                Verdict::Improved => "improved",
                Verdict::Regressed => "regressed",
                Verdict::IdenticalCode => "identical code",
                other => panic!("{other:?}"),
            };
            let time = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.0}"));
            let (base, head) = (time(c.base.nanoseconds), time(c.head.nanoseconds));
            format!("{} against {}: {verdict}, {base}, {head}", c.head.label, c.base.label)
        })
        .collect()
}

#[test]
fn a_list_is_measured_in_one_session_and_any_revision_can_be_the_reference_afterwards() {
    let fixture = history();
    let arguments = ["v1", "v2", "third=v3", "main", ".", "--runs", "6", "--format", "json"];
    let run = fixture.run(&[&arguments[..], &["--save", "saved.json"]].concat()).exits_with(0);
    let results = run.results();
    assert_eq!(
        compared(&results),
        [
            "v2 against v1: improved, 1000, 800",
            "third against v1: improved, 1000, 800",
            "main against v1: regressed, 1000, 1250",
            "working tree against v1: improved, 1000, 500",
        ]
    );
    let labels: Vec<&str> = results.revisions.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels, ["v1", "v2", "third", "main", "working tree"]);
    assert!(results.revisions[4].dirty);
    // What has the code of v2 was not measured: all others were, in the same launches.
    let work = &results.measured.iter().find(|m| m.benchmark == "work").unwrap();
    assert_eq!(work.measured_as(2), 1);
    assert!(work.launches.iter().all(|launch| launch.order.len() == 4), "{work:?}");
    // What v1 has not got is compared with the first that has it.
    let new: Vec<_> = results.comparisons.iter().filter(|c| c.benchmark == "new").collect();
    let [only] = new[..] else { panic!("{new:?}") };
    assert_eq!((&*only.base.label, &*only.head.label), ("main", "working tree"));
    assert_eq!((only.base.nanoseconds, only.verdict), (Some(7.0), Verdict::Equivalent));
    assert_eq!(results.added.len(), 1, "{:?}", results.added);
    let table = fixture.run(&["report", "saved.json"]).exits_with(0).stdout;
    let says =
        "reference    what v1 has not got is compared with the first that has it: `new` with main";
    assert!(table.contains(says), "{table}");

    let report = |label: &str| -> Results {
        let arguments = ["report", "saved.json", "--against", label, "--format", "json"];
        fixture.run(&arguments).exits_with(0).results()
    };
    assert_eq!(
        compared(&report("third")),
        [
            "v1 against third: regressed, 800, 1000",
            "v2 against third: identical code, -, -",
            "main against third: regressed, 800, 1250",
            "working tree against third: improved, 800, 500",
        ]
    );
    let against_main = report("main");
    assert_eq!(against_main.removed.len(), 3);
    assert!(against_main.added.is_empty() && against_main.notes == results.notes);
    assert_eq!(against_main.comparisons.iter().filter(|c| c.benchmark == "new").count(), 1);
    assert_data_eq!(
        fixture.run(&["report", "saved.json", "--against", "mian"]).exits_with(2).stderr,
        str![[r#"
error: saved.json: no revision is called `mian`
  help: did you mean `main`?

"#]]
    );
    // Another margin, without measuring.
    let arguments = ["report", "saved.json", "--margin", "60%", "--format", "json"];
    let wide = fixture.run(&arguments).exits_with(0).results();
    assert!(wide.comparisons[0].within_margin && !results.comparisons[0].within_margin);
    let both = fixture.run(&["report", "saved.json", "saved.json"]).exits_with(0);
    assert_eq!(both.stdout.matches("== saved.json\n").count(), 2, "{}", both.stdout);
    fixture.assert_nothing_left_behind();
}

#[test]
fn the_reference_of_a_session_can_be_chosen_and_the_sides_are_in_step() {
    let body = "    c.bench_function(\"work\", |b| b.iter(|| sample::work(black_box(7))));\n";
    let library = |rounds: u32| {
        format!(
            "pub fn work(x: u64) -> u64 {{ (0..{rounds}u64).fold(x, |x, i| (x ^ i).wrapping_mul(0x100_0000_01b3)) }}\n"
        )
    };
    let fixture = Fixture::with_bench(&library(1000), &bench(body));
    for (tag, rounds) in [("double", 2000), ("triple", 3000)] {
        fixture.write("src/lib.rs", library(rounds));
        fixture.commit(tag);
        fixture.git(&["tag", tag]);
    }
    let arguments =
        ["base", "double", "triple", "--against", "double", "--runs", "6", "--format", "json"];
    let results = fixture.run(&arguments).exits_with(0).results();
    let ratios: Vec<(&str, f64)> = results
        .comparisons
        .iter()
        .map(|c| (c.head.label.as_str(), c.improvement_percent.unwrap().to_log_ratio().exp()))
        .collect();
    let [("base", half), ("triple", more)] = ratios[..] else { panic!("{ratios:?}") };
    assert!((0.4..0.65).contains(&half) && (1.35..1.7).contains(&more), "{ratios:?}");
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    assert!(results.comparisons.iter().all(|c| c.method == Method::Lockstep), "{results:?}");
    fixture.assert_nothing_left_behind();
}

#[test]
fn what_cannot_be_told_apart_or_is_not_there_is_wrong_usage() {
    let fixture = history();
    let refusal = |arguments: &[&str]| {
        let Run { stderr, .. } = fixture.run(&[&["list"], arguments].concat()).exits_with(2);
        fixture.assert_nothing_left_behind();
        stderr
    };
    assert_data_eq!(
        refusal(&["v1", "main", "v1"]),
        str![[r#"
error: two revisions are called `v1`
  help: give each of them a label of its own: label=revision

"#]]
    );
    assert_data_eq!(
        refusal(&["a=v1", "b=v2", "--against", "v1"]),
        str![[r#"
error: no revision is called `v1`
  help: there are: `a`, `b`

"#]]
    );
    assert_data_eq!(
        refusal(&["v1..main", "--against", "man"]),
        str![[r#"
error: no revision is called `man`
  help: did you mean `main`?

"#]]
    );
    assert_data_eq!(
        refusal(&["old=v1..main"]),
        str![[r#"
error: unknown revision `old=v1`
  because: a label is given to a single revision, not to an end of a range
  help: write a list: old=v1 HEAD

"#]]
    );
    assert_data_eq!(
        refusal(&["v1", "v2..main"]),
        str![[r#"
error: `v2..main` is a range, and stands alone; write a list of revisions like v1.0 main HEAD

"#]]
    );
    assert_data_eq!(
        refusal(&["."]),
        str![[r#"
error: `.` alone would compare the working tree with itself; write a list like main .

"#]]
    );
}
