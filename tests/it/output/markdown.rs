//! Markdown, as GitHub would read it.

use cargo_bench_compare::report::{MarkdownOptions, agreement_markdown, markdown, one_line};
use cargo_bench_compare::results::{Results, agreement};
use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use serde_json::{Value, json};
use snapbox::assert_data_eq;

use super::handmade::{every_verdict, measured, one_reason, results, simple, three_revisions};
use super::run;

const REPOSITORY: &str = "https://github.com/owner/name";
const CI: &str = "https://github.com/owner/name/actions/runs/7/attempts/2";

fn rendered(content: &Value, options: &MarkdownOptions) -> String {
    markdown(&Results::from_json(&content.to_string()).unwrap(), options)
}

fn events(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(text, Options::all()).collect()
}

#[test]
fn everything_there_is_and_the_commits_and_the_run_are_linked() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("results.json"), every_verdict().to_string()).unwrap();
    let arguments =
        ["report", "results.json", "--format", "markdown", "--repository-url", REPOSITORY];
    let printed =
        run(directory.path(), &[&arguments[..], &["--ci-url", CI]].concat()).exits_with(0).stdout;
    assert_data_eq!(printed, snapbox::file!["../../snapshots/every-verdict.md"].raw());
}

#[test]
fn what_fails_for_one_reason_is_told_once() {
    let printed = rendered(&one_reason(), &MarkdownOptions::default());
    assert_data_eq!(printed, snapbox::file!["../../snapshots/one-reason.md"].raw());
}

#[test]
fn three_revisions_stand_side_by_side() {
    let options = MarkdownOptions::default();
    assert_data_eq!(
        rendered(&three_revisions(), &options),
        snapbox::file!["../../snapshots/three-revisions.md"].raw()
    );
}

#[test]
fn links_go_to_web_addresses_and_from_commits_only() {
    let links = |content: &Value, repository: &str, ci: &str| -> Vec<String> {
        let options = MarkdownOptions {
            repository_url: Some(repository.to_owned()),
            ci_url: Some(ci.to_owned()),
            ..MarkdownOptions::default()
        };
        let text = rendered(content, &options);
        let links = events(&text).into_iter().filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.to_string()),
            _ => None,
        });
        links.collect()
    };
    let mut file = results(&["main", "HEAD"]);
    let commit = |position: u8| {
        format!("{REPOSITORY}/commit/{position}0123456789abcdef0123456789abcdef0123456")
    };
    assert_eq!(links(&file, REPOSITORY, CI), [commit(0), commit(1), CI.to_owned()]);
    assert_eq!(links(&file, &format!("{REPOSITORY}/"), CI)[0], commit(0));
    assert!(links(&file, "javascript:alert(1)", "file:///etc/passwd").is_empty());
    let odd = links(&file, "https://x.y/a b)](https://evil", "https://x.y/<b>)");
    assert_eq!(odd.len(), 3, "{odd:?}");
    assert!(odd.iter().all(|url| url.starts_with("https://x.y/")), "{odd:?}");
    for bad in ["", "HEAD", "012345", "../../evil", "0123456)](https://evil.org"] {
        file["revisions"][1]["commit"] = json!(bad);
        assert_eq!(links(&file, REPOSITORY, CI), [commit(0), CI.to_owned()], "{bad}");
    }
}

/// A thousand benchmarks of every kind, and more than that fails.
fn many() -> Value {
    let mut file = results(&["main", "HEAD"]);
    let benchmarks = (0..1000).map(|number| {
        let (factor, spread) = match number % 100 {
            0..4 => (1.2, 0.01),
            4..8 => (0.8, 0.01),
            8..60 => (1.0, 0.004),
            _ => (1.01, 0.3),
        };
        let mut benchmark = simple(&format!("benchmark number {number}"), 12, factor, spread);
        if number % 100 > 90 {
            benchmark["launches"] = json!([]);
            benchmark["identical"] = json!([1]);
        }
        benchmark
    });
    file["measured"] = benchmarks.collect();
    let failure = json!({
        "side": "head", "revision": "HEAD", "package": "p", "target": "t", "benchmark": "bad",
        "error": "panicked ".repeat(1_000),
    });
    file["failed"] = vec![failure; 100].into();
    file["notes"] = json!(["a note ".repeat(2_000)]);
    file["command"] = json!("cargo bench-compare ".repeat(1_000));
    file
}

#[test]
fn whatever_the_length_the_limit_holds_and_the_cut_is_said() {
    let results = Results::from_json(&many().to_string()).unwrap();
    let of =
        |limit: usize| markdown(&results, &MarkdownOptions { limit, ..MarkdownOptions::default() });
    for limit in [0, 1, 100, 500, 5_000, 65_536, 1 << 20] {
        let text = of(limit);
        assert!(text.len() <= limit, "{} > {limit}", text.len());
        // With a mebibyte everything fits.
        let cut = (500..1 << 20).contains(&limit);
        assert_eq!(text.contains("left out here: "), cut, "{limit}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
        // A block that is cut would swallow what follows.
        let blocks =
            events(&text).into_iter().filter(|e| matches!(e, Event::Start(Tag::CodeBlock(_))));
        let fences = text.lines().filter(|line| line.starts_with("```")).count();
        assert_eq!(2 * blocks.count(), fences, "{limit}");
    }
    // What changed is complete long before all that did not is.
    let rows = |text: &str, verdict: &str| text.matches(&format!("| {verdict} |\n")).count();
    let text = of(65_536);
    assert_eq!((rows(&text, "regressed"), rows(&text, "improved")), (40, 40));
    assert!(rows(&text, "equivalent within 2\u{a0}%") < 520, "{text}");
    assert!(text.contains("Machine, method and command"), "{text}");
    // The rest of what is cut is the least important, not the last.
    let text = of(5_000);
    assert!(rows(&text, "regressed") > 5 && rows(&text, "improved") == 0, "{text}");
}

#[test]
fn a_hundred_revisions_have_an_answer_each_as_long_as_there_is_room() {
    let labels: Vec<String> =
        (0..101).map(|n| format!("revision {n} {}", "x".repeat(300))).collect();
    let mut file = results(&labels.iter().map(String::as_str).collect::<Vec<_>>());
    let factors: Vec<f64> = (0..100).map(|n| 1.0 + f64::from(n) / 10.0).collect();
    file["measured"] = json!([measured(["p", "t", "x"], 12, 1000.0, &factors, 0.01)]);
    for limit in [100, 3_000, 65_536] {
        let text = rendered(&file, &MarkdownOptions { limit, ..MarkdownOptions::default() });
        assert!(text.len() <= limit);
        assert_eq!(text.matches("\n- `revision ").count() > 5, limit >= 3_000, "{text}");
    }
}

#[test]
fn what_trips_the_gate_is_said_first() {
    let mut file = every_verdict();
    file["gate"] = json!("regression");
    let text = rendered(&file, &MarkdownOptions::default());
    let gate = "\n\n**The gate is tripped** by regressions beyond the margin, at 5 % for all comparisons together:\n\n\
                - `three stars, slower`\n- `in cycles`\n\n| benchmark |";
    assert!(text.contains(gate), "{text}");
    file["measured"] = json!([simple("faster", 12, 0.5, 0.01)]);
    assert!(!rendered(&file, &MarkdownOptions::default()).contains("gate is tripped"));
}

/// In every piece of a hostile name, so that it can be found wherever it comes out.
const MARK: char = 'ŧ';

/// A name made of what has a meaning in Markdown or on GitHub.
fn hostile() -> impl Strategy<Value = String> {
    const PIECES: [&str; 44] = [
        "@user",
        "@org/team",
        "#1",
        "GH-1",
        "owner/repo#5",
        "owner/repo@deadbeef",
        "0123456789abcdef0123456789abcdef01234567",
        "www.example.com",
        "https://example.com/x",
        "a@b.com",
        "mailto:a@b.com",
        "javascript:alert(1)",
        ":tada:",
        "\u{202e}",
        "\n",
        "\r\n\r\n# x",
        "\n- x",
        "|",
        "\\|",
        "\\",
        "`",
        "``",
        "```",
        "\n```\n",
        "~~~",
        "~~x~~",
        "<b>",
        "<!--",
        "-->",
        "</details>",
        "<details>",
        "<script>",
        "*x*",
        "__y__",
        "[a](http://b)",
        "![i](http://x)",
        "[^1]",
        "$`x`$",
        "$$x$$",
        "&lt;",
        "&#124;",
        "\t",
        " ",
        "- [x] ",
    ];
    let piece = prop_oneof![
        proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    let piece = (piece, any::<bool>()).prop_map(|(piece, first)| {
        if first { format!("{MARK}{piece}") } else { format!("{piece}{MARK}") }
    });
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// A file in which these texts stand wherever there can be a text of others.
fn with_texts(several: bool, name: &str, label: &str, message: &str) -> Value {
    let labels: &[&str] = if several { &["main", label, "other"] } else { &["main", label] };
    let mut file = results(labels);
    let factors: &[&[f64]] = if several {
        &[&[1.2, 1.0], &[1.0, 0.5], &[1.0, 1.01]]
    } else {
        &[&[1.2], &[1.0], &[1.01]]
    };
    let spreads = [0.01, 0.004, 0.3];
    let benchmarks = factors.iter().zip(spreads).enumerate().map(|(number, (factors, spread))| {
        let mut benchmark =
            measured([name, "t", &format!("{number}{name}")], 12, 9.0, factors, spread);
        benchmark["unit"] = json!(if number == 0 { "ns" } else { label });
        benchmark["notes"] = json!([message]);
        benchmark
    });
    file["measured"] = benchmarks.collect();
    let mut identical = simple(&format!("3{name}"), 0, 1.0, 0.0);
    identical["identical"] = json!([1]);
    file["measured"].as_array_mut().unwrap().push(identical);
    let missing = json!([{"package": name, "target": name, "benchmark": name, "revision": label}]);
    file["added"] = missing.clone();
    file["removed"] = missing;
    file["failed"] = json!([
        {"side": label, "revision": label, "package": name, "target": name, "benchmark": name, "error": message},
        {"side": "head", "revision": label, "package": name, "target": "x", "benchmark": null, "error": message},
    ]);
    file["set_aside"] = json!([
        {"package": name, "target": name, "benchmark": name, "reason": message},
        {"package": name, "target": name, "benchmark": null, "reason": message},
    ]);
    file["notes"] = json!([message]);
    file["command"] = json!(message);
    file["gate"] = json!("regression");
    for field in ["system", "kernel", "cpu"] {
        file["environment"][field] = json!(message);
    }
    file["revisions"][1]["commit"] = json!(name);
    file["revisions"][0]["rustc"] = json!(message);
    file
}

/// What a text is made of, without the texts themselves; and that nothing of them is but code.
fn skeleton(text: &str) -> Result<Vec<String>, TestCaseError> {
    let mut skeleton = Vec::new();
    let mut in_block = false;
    for event in events(text) {
        match &event {
            Event::Code(_) => continue,
            Event::Text(_) if in_block => continue,
            Event::Text(words) => {
                prop_assert!(!words.contains(MARK), "{words:?} in {text}");
                continue;
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                prop_assert!(
                    matches!(kind, CodeBlockKind::Fenced(info) if ["text", "sh"].contains(&&**info))
                );
                in_block = true;
            }
            Event::End(TagEnd::CodeBlock) => in_block = false,
            _ => {}
        }
        let event = format!("{event:?}");
        prop_assert!(!event.contains(MARK), "{event} in {text}");
        skeleton.push(event);
    }
    Ok(skeleton)
}

/// Two runs with every answer, in which these texts stand for all names. Each benchmark is in two packages.
fn agreement_with_texts(
    several: bool,
    name: &str,
    label: &str,
    run: &str,
    options: &MarkdownOptions,
) -> String {
    let labels: &[&str] = if several { &["main", label, "other"] } else { &["main", label] };
    let file = |seed: u64, benchmarks: &[(&str, f64, f64)]| {
        let mut file = results(labels);
        file["seed"] = json!(seed);
        let benchmark = |(number, factor, spread): &(&str, f64, f64)| {
            let factors = vec![*factor; labels.len() - 1];
            let id = format!("{number}{name}");
            let package = if *number == "4" { "p" } else { name };
            let one = measured([package, "t", &id], 12, 9.0, &factors, *spread);
            let mut other = one.clone();
            other["package"] = json!(format!("{name}2"));
            [one, other]
        };
        file["measured"] = benchmarks.iter().flat_map(benchmark).collect();
        Results::from_json(&file.to_string()).unwrap()
    };
    let runs = [
        (
            format!("1{run}"),
            file(1, &[("1", 1.2, 0.01), ("2", 1.1, 0.01), ("3", 1.0, 0.1), ("4", 1.0, 0.01)]),
        ),
        (format!("2{run}"), file(2, &[("1", 1.2, 0.012), ("2", 0.9, 0.01), ("3", 1.001, 0.004)])),
    ];
    agreement_markdown(&agreement(&runs).unwrap(), options)
}

#[test]
fn the_limit_holds_for_agreement_too_and_contradictions_are_cut_last() {
    let of = |limit: usize| {
        let options = MarkdownOptions { limit, ..MarkdownOptions::default() };
        agreement_with_texts(false, &"x".repeat(150), "HEAD", "run", &options)
    };
    let whole = of(65_536);
    assert!(
        whole.contains("2 contradict; 2 agree; 2 agree, but one run is noisier; 2 measured"),
        "{whole}"
    );
    for limit in [0, 1, 100, 1_000, 2_000, whole.len() - 1, whole.len()] {
        let text = of(limit);
        assert!(text.len() <= limit, "{} > {limit}", text.len());
        assert_eq!(
            text.contains("left out here: "),
            (1_000..whole.len()).contains(&limit),
            "{limit}"
        );
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
    let text = of(2_000);
    assert!(text.contains("| contradict (p") && !text.contains("in one run only |"), "{text}");
}

/// The cells of the first column of the first table.
fn first_cells(text: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut column = None;
    for event in events(text) {
        match event {
            Event::Start(Tag::TableRow) => column = Some(0),
            Event::Start(Tag::TableCell) if column == Some(0) => cells.push(String::new()),
            Event::End(TagEnd::TableCell) => column = column.map(|column| column + 1),
            Event::End(TagEnd::Table) => break,
            Event::Code(words) | Event::Text(words) if column == Some(0) => {
                cells.last_mut().unwrap().push_str(&words);
            }
            _ => {}
        }
    }
    cells
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn nothing_from_elsewhere_is_anything_but_text(
        name in hostile(), label in hostile(), message in hostile(), several in any::<bool>(),
    ) {
        let (name, label, message) = (format!("{name}{MARK}"), format!("{label}{MARK}"), format!("{message}{MARK}"));
        let options = MarkdownOptions::default();
        let text = rendered(&with_texts(several, &name, &label, &message), &options);
        let harmless = rendered(&with_texts(several, "name", "label", "message"), &options);
        prop_assert_eq!(skeleton(&text)?, skeleton(&harmless)?, "{}", text);
        let harmless = |c| c == '\n' || !char::is_control(c) && c != '\u{202e}';
        prop_assert!(text.chars().all(harmless));
    }

    #[test]
    fn nothing_from_elsewhere_is_anything_but_text_where_runs_agree(
        name in hostile(), label in hostile(), run in hostile(), several in any::<bool>(),
    ) {
        let (name, label, run) = (format!("{name}{MARK}"), format!("{label}{MARK}"), format!("{run}{MARK}"));
        let options = MarkdownOptions::default();
        let text = agreement_with_texts(several, &name, &label, &run, &options);
        let harmless = agreement_with_texts(several, "name", "label", "run", &options);
        prop_assert_eq!(skeleton(&text)?, skeleton(&harmless)?, "{}", text);
        let harmless = |c| c == '\n' || !char::is_control(c) && c != '\u{202e}';
        prop_assert!(text.chars().all(harmless));
        // All four answers are there.
        prop_assert_eq!(text.matches("\n<details><summary>").count(), 3);
        prop_assert!(text.contains("contradict (p"));
    }

    #[test]
    fn names_come_out_as_they_are(name in hostile()) {
        prop_assume!(name.chars().count() <= 160);
        let mut file = results(&["main", "HEAD"]);
        file["measured"] = json!([simple(&name, 12, 1.2, 0.01)]);
        let text = rendered(&file, &MarkdownOptions::default());
        prop_assert_eq!(first_cells(&text), [one_line(&name)], "{}", text);
    }
}
