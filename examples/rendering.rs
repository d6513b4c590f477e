//! How long it takes to read and to show large results, and how much memory.
//!
//!     cargo run --release --example rendering [-- BENCHMARKS PAIRS]
//!
//! Makes a results file of 2,000 benchmarks with 40 launch pairs each, and shows it in every form, each in a process
//! of its own. Prints the time of the processor and the most memory that the process had, of which reading the file is
//! a part. The figures are those of Linux.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use cargo_bench_compare::report::{
    MarkdownOptions, Table, bencher, csv, github_action_benchmark, html, markdown, table,
};
use cargo_bench_compare::results::Results;
use serde_json::{Value, json};

type Render = fn(&Results) -> String;

const FORMS: [(&str, Render); 8] = [
    ("reading alone", |_| String::new()),
    ("table", |results| table(results, Table { width: Some(160), all: true, ..Table::default() })),
    ("markdown", |results| markdown(results, &MarkdownOptions::default())),
    ("html", html),
    ("csv", csv),
    ("json", Results::to_json),
    ("bencher", bencher),
    ("github-action-benchmark", github_action_benchmark),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [form, file] = &arguments[..]
        && let Some((name, render)) = FORMS.iter().find(|(name, _)| name == form)
    {
        return show(name, *render, Path::new(file));
    }
    let number = |position: usize, default: usize| match arguments.get(position) {
        Some(text) => text.parse(),
        None => Ok(default),
    };
    let (benchmarks, pairs) = (number(0, 2000)?, number(1, 40)?);
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("results.json");
    std::fs::write(&file, large(benchmarks, pairs).to_string())?;
    let size = std::fs::metadata(&file)?.len();
    println!(
        "{benchmarks} benchmarks with {pairs} launch pairs each, a file of {:.1} MB\n",
        size as f64 / 1e6
    );
    println!("{:24} {:>8} {:>12} {:>12}", "", "CPU", "memory", "output");
    for (form, _) in FORMS {
        let status = Command::new(std::env::current_exe()?).arg(form).arg(&file).status()?;
        assert!(status.success(), "{form} failed");
    }
    Ok(())
}

/// In the process of one form.
fn show(name: &str, render: Render, file: &Path) -> Result<(), Box<dyn Error>> {
    let results = Results::load(file)?;
    let text = render(&results);
    let seconds = proc("/proc/self/schedstat", |text| text.split(' ').next()).map(|ns| ns / 1e9);
    let memory = proc("/proc/self/status", |text| {
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")
    });
    let figure = |value: Option<f64>, unit: &str| match value {
        Some(value) => format!("{value:.2} {unit}"),
        None => "-".to_owned(),
    };
    println!(
        "{name:24} {:>8} {:>12} {:>12}",
        figure(seconds, "s"),
        figure(memory.map(|kilobytes| kilobytes / 1024.0), "MiB"),
        figure(Some(text.len() as f64 / 1e6), "MB"),
    );
    Ok(())
}

fn proc(file: &str, pick: fn(&str) -> Option<&str>) -> Option<f64> {
    let text = std::fs::read_to_string(file).ok()?;
    pick(&text)?.trim().parse().ok()
}

/// Results with differences and noise of all sizes.
fn large(benchmarks: usize, pairs: usize) -> Value {
    let mut random = fastrand::Rng::with_seed(1);
    let revision = |label: &str, digit: &str| json!({"label": label, "commit": digit.repeat(40), "dirty": false, "rustc": "rustc 1.95.0"});
    let measured: Vec<Value> = (0..benchmarks)
        .map(|number| {
            let base = 10f64.powf(random.f64() * 7.0);
            let change = if number % 10 == 0 { 0.8 + 0.4 * random.f64() } else { 1.0 };
            let noise = 10f64.powf(-3.0 + 2.0 * random.f64());
            let launches: Vec<Value> = (0..pairs)
                .map(|pair| {
                    let mut time =
                        |factor: f64| base * factor * (1.0 + noise * (random.f64() - 0.5));
                    json!({"group": pair + 1, "method": "lockstep", "order": [0, 1],
                        "values": [time(1.0), time(change)]})
                })
                .collect();
            json!({"package": "package", "target": format!("target_{}", number % 20),
                "benchmark": format!("group/function_{}/{}", number / 10, number % 10),
                "unit": "ns", "identical": [], "launches": launches})
        })
        .collect();
    json!({
        "schema_version": 1, "generator": "", "command": "cargo bench-compare main..HEAD",
        "complete": true, "seed": 1, "margin_percent": 2.0,
        "revisions": [revision("main", "0"), revision("HEAD", "1")],
        "environment": {"system": "linux x86_64"}, "comparisons": [], "added": [], "removed": [],
        "failed": [], "notes": [], "measured": measured,
    })
}
