//! `bench-compare.toml` and the metadata of manifests, as a user has them.

use cargo_bench_compare::results::{Method, Results};
use cargo_bench_compare::stats::Verdict;

use crate::support::{Fixture, bench, steady};

const CONFIGURATION: &str = r#"
revisions = "base..HEAD"
runs = 6
skip = ["unwanted"]

[[benchmark]]
id = "noisy"
margin = "30%"
lockstep = "off"

[[set-aside]]
match = "^flaky"
reason = "depends on the weather"
"#;

fn fixture() -> Fixture {
    let ids = ["steady", "noisy", "flaky/1", "flaky/2", "unwanted"];
    let body: String = ids.map(|id| steady(id, "sample::TIME")).concat();
    let fixture = Fixture::with_bench("pub const TIME: u64 = 1000;\n", &bench(&body));
    fixture.write("src/lib.rs", "pub const TIME: u64 = 1250;\n");
    fixture.commit("head");
    fixture
}

fn verdict(results: &Results, id: &str) -> Verdict {
    let found = results.comparisons.iter().find(|comparison| comparison.benchmark == id);
    found.unwrap_or_else(|| panic!("no {id} in {:?}", results.comparisons)).verdict
}

#[test]
fn a_file_says_what_the_command_line_would_and_more() {
    let fixture = fixture();
    fixture.write("bench-compare.toml", CONFIGURATION);
    let run = fixture.run(&["--format", "json"]).exits_with(0);
    let results = run.results();
    assert_eq!(results.comparisons.len(), 2);
    assert!(results.comparisons.iter().all(|comparison| comparison.pairs == 6));
    assert_eq!(results.revisions[0].label, "base");
    assert_eq!(verdict(&results, "steady"), Verdict::Regressed);
    let noisy = results.comparisons.iter().find(|c| c.benchmark == "noisy").unwrap();
    assert_eq!(noisy.margin_percent.value(), 30.0);
    assert!(noisy.within_margin);
    assert_eq!(noisy.method, Method::Process);
    let aside: Vec<_> =
        results.set_aside.iter().map(|s| (s.benchmark.as_deref(), s.reason.as_str())).collect();
    let weather = "depends on the weather";
    assert_eq!(aside, [(Some("flaky/1"), weather), (Some("flaky/2"), weather)]);

    let table = fixture.run(&["report"]).exits_with(0).stdout;
    assert!(table.contains("2 set aside"), "{table}");
    assert!(table.contains("flaky/1: depends on the weather"), "{table}");
    assert!(table.contains("regressed, by less than 30 %"), "{table}");

    // Arguments come first, and the whole file can be left out.
    let list = fixture.run(&["list", "--skip", "steady"]).exits_with(0).stdout;
    assert!(list.contains("unwanted") && !list.contains("steady"), "{list}");
    assert!(list.contains("(set aside: depends on the weather)"), "{list}");
    let list = fixture.run(&["list", "--no-config", "base..HEAD"]).exits_with(0).stdout;
    assert_eq!(list.lines().count(), 5, "{list}");
    assert!(!list.contains("set aside"), "{list}");
    fixture.assert_nothing_left_behind();
}

#[test]
fn a_target_that_is_set_aside_is_not_even_started() {
    // By its bytes it has criterion, and would be asked for its benchmarks.
    let main = |code: u32| {
        format!("fn main() {{ println!(\"CARGO_CRITERION_PORT\"); std::process::exit({code}) }}")
    };
    let fixture = Fixture::with_bench("", &main(3));
    fixture.write("benches/timing.rs", main(4));
    fixture.commit("head");
    let manifest = std::fs::read_to_string(fixture.root().join("Cargo.toml")).unwrap();
    let metadata = "\n[[package.metadata.bench-compare.set-aside]]\n\
                    target = \"timing\"\nreason = \"it never ends\"\n";
    fixture.write("Cargo.toml", manifest + metadata);
    let run = fixture.run(&["base..HEAD", "--format", "json"]).exits_with(0);
    let results = run.results();
    assert!(results.comparisons.is_empty() && results.failed.is_empty(), "{results:#?}");
    let [aside] = &results.set_aside[..] else { panic!("{:?}", results.set_aside) };
    assert_eq!((aside.target.as_str(), &aside.benchmark), ("timing", &None));
}

#[test]
fn what_is_wrong_in_a_file_is_wrong_usage() {
    let fixture = Fixture::new();
    for (content, message) in [
        ("runs = 2\nmargn = '3%'\n", "bench-compare.toml:2: there is no setting `margn` here"),
        (
            "runs = 0\n",
            "bench-compare.toml:1: `0` is no value for `runs`\n  because: 0 is not in 1..=1000",
        ),
        ("margin = 'two'\n", "because: `two` is not a percentage; write it like `2%`"),
        ("lockstep = 'of'\n", "help: did you mean `off`?"),
        ("filter = ['(']\n", "bench-compare.toml:1: `(` is no value for `filter`"),
        ("[cargo]\nexclude = ['x']\n", "--workspace"),
    ] {
        fixture.write("bench-compare.toml", content);
        let run = fixture.run(&["a..b"]).exits_with(2);
        assert!(run.stderr.contains(message), "{content}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
    // Whoever only wants to know something else is not stopped by it.
    fixture.run(&["--help"]).exits_with(0);
    let run = fixture.run(&["a..b", "--config", "none.toml"]).exits_with(2);
    assert!(run.stderr.contains("none.toml"), "{}", run.stderr);
}

#[test]
fn the_published_schema_is_that_of_the_program_and_accepts_what_the_program_does() {
    let schema = cargo_bench_compare::cli::configuration_schema();
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    snapbox::assert_data_eq!(text, snapbox::file!["../../docs/bench-compare.schema.json"].raw());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let json = |text: &str| serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap();
    assert!(validator.is_valid(&json(CONFIGURATION)));
    let documents = [
        include_str!("../../docs/configuration.md"),
        include_str!("../../docs/commands.md"),
        include_str!("../../docs/node.md"),
    ];
    let blocks = documents.iter().flat_map(|document| document.split("```toml\n").skip(1));
    let mut examples: Vec<&str> = blocks.map(|block| block.split("```").next().unwrap()).collect();
    let of_node = include_str!("../../examples/node/bench-compare.toml");
    // What the page shows is what is there.
    assert!(of_node.ends_with(examples.last().unwrap()));
    examples.push(of_node);
    assert!(examples.len() > 5);
    for example in examples {
        if example.contains("metadata.bench-compare") {
            continue;
        }
        let errors: Vec<String> =
            validator.iter_errors(&json(example)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{example}: {errors:?}");
    }
    for wrong in ["margn = 2", "[cargo]\nmargin = 2", "[[set-aside]]\nid = 'x'", "lockstep = 'of'"]
    {
        assert!(!validator.is_valid(&json(wrong)), "{wrong}");
    }
}
