//! Pages, read back.

use html5gum::Token;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::rest::UNFOLDED;
use super::*;

/// An element's start: its name and attributes.
type Start = (String, Vec<(String, String)>);

/// What a browser would see: the starts of all elements in order, and the text of those of a kind.
struct Page {
    starts: Vec<Start>,
    texts: Vec<(String, String)>,
}

impl Page {
    fn of(results: &Results) -> Self {
        Self::read(&html(results))
    }

    fn read(page: &str) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let (mut starts, mut open, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let mut emitter = html5gum::DefaultEmitter::<()>::new_with_span();
        emitter.naively_switch_states(true);
        for token in html5gum::Tokenizer::new_with_emitter(page, emitter) {
            match token.unwrap() {
                Token::StartTag(tag) => {
                    let attributes =
                        tag.attributes.iter().map(|(name, value)| (text(name), text(value)));
                    starts.push((text(&tag.name), attributes.collect()));
                    if !["meta", "link", "input", "wbr"].contains(&&*text(&tag.name)) {
                        open.push((text(&tag.name), String::new()));
                    }
                }
                Token::EndTag(tag) => {
                    let (name, content): (String, String) = open.pop().expect("something is open");
                    assert_eq!(name, text(&tag.name), "elements are nested");
                    if let Some((_, outer)) = open.last_mut() {
                        *outer += &content;
                    }
                    texts.push((name, content));
                }
                Token::String(content) => {
                    if let Some((_, inner)) = open.last_mut() {
                        *inner += &text(&content);
                    }
                }
                Token::Doctype(_) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(open, [], "every element is closed");
        Self { starts, texts }
    }

    fn count(&self, name: &str) -> usize {
        self.starts.iter().filter(|(start, _)| start == name).count()
    }

    fn texts(&self, name: &str) -> Vec<&str> {
        let texts = self.texts.iter().filter(|(element, _)| element == name);
        texts.map(|(_, text)| text.as_str()).collect()
    }

    fn attribute(&self, element: &str, attribute: &str) -> Vec<&str> {
        let of = self.starts.iter().filter(|(start, _)| start == element);
        let values =
            of.flat_map(|(_, attributes)| attributes).filter(|(name, _)| name == attribute);
        values.map(|(_, value)| value.as_str()).collect()
    }
}

fn file(revisions: &[&str]) -> Value {
    let revision =
        |label: &&str| json!({"label": label, "commit": "0123", "dirty": false, "rustc": "r"});
    let revisions: Vec<Value> = revisions.iter().map(revision).collect();
    json!({
        "schema_version": 1, "generator": "g", "command": "c", "complete": true, "seed": 0, "runs": 12,
        "margin_percent": 2.0, "revisions": revisions, "environment": {"system": "s"}, "comparisons": [],
        "added": [], "removed": [], "failed": [], "notes": [], "measured": [],
    })
}

/// A benchmark whose heads take these multiples of base's time.
fn measured(benchmark: &str, pairs: usize, factors: &[f64]) -> Value {
    let launches: Vec<Value> = (0..pairs)
        .map(|pair| {
            let head = |factor: &f64| 100.0 * factor + (pair * 7 % 12) as f64 / 100.0;
            let values: Vec<f64> = std::iter::once(100.0).chain(factors.iter().map(head)).collect();
            json!({"group": pair + 1, "order": [], "values": values})
        })
        .collect();
    json!({"package": "p", "target": "t", "benchmark": benchmark, "unit": "ns", "identical": [],
        "launches": launches})
}

fn results(file: &Value) -> Results {
    Results::from_json(&file.to_string()).unwrap()
}

#[test]
fn what_fails_for_one_reason_is_told_once_with_all_the_names() {
    let mut file = file(&["main", "HEAD"]);
    let failed = |benchmark: String, error: &str| {
        json!({"side": "base", "revision": "main", "package": "p", "target": "t",
            "benchmark": benchmark, "error": error})
    };
    let mut all: Vec<Value> =
        (0..UNFOLDED + 1).map(|n| failed(format!("count {n}"), "no valgrind")).collect();
    all.push(failed("alone".to_owned(), "it panicked"));
    file["failed"] = json!(all);
    let page = Page::of(&results(&file));
    let names: Vec<&str> = page.texts("strong");
    assert_eq!(names, ["22 failed", "21 benchmarks", "alone"]);
    assert_eq!(page.texts("pre")[..2], ["no valgrind", "it panicked"]);
    assert!(page.texts("li").contains(&"count 20"));
}

#[test]
fn what_matters_most_comes_first() {
    let mut file = file(&["main", "HEAD"]);
    let mut same = measured("same", 0, &[1.0]);
    same["identical"] = json!([1]);
    file["measured"] = json!([
        same,
        measured("equivalent", 12, &[0.9995]),
        measured("open", 3, &[1.1]),
        measured("slightly slower", 12, &[1.01]),
        measured("faster", 12, &[0.9]),
        measured("much faster", 12, &[0.5]),
        measured("slower", 12, &[1.1]),
        measured("much slower", 12, &[2.0]),
    ]);
    let page = Page::of(&results(&file));
    let names: Vec<&str> =
        page.texts("summary").into_iter().filter(|name| *name != "Raw numbers").collect();
    assert_eq!(
        names,
        [
            "much slower",
            "slower",
            "much faster",
            "faster",
            "slightly slower",
            "open",
            "equivalent",
            "same"
        ]
    );
    let answer =
        "3 regressed, 2 improved, 1 equivalent within 2 %, 1 inconclusive, 1 identical code";
    assert!(page.texts("p").contains(&answer), "{:?}", page.texts("p"));
    assert_eq!(page.texts("h1"), ["HEAD against main"]);
    assert_eq!(page.count("tbody"), 8);
    assert_eq!(page.attribute("tbody", "data-verdict")[0], "regressed");
    // Of each benchmark that was measured a plot of its pairs and one of its times; no sweep.
    assert_eq!(page.attribute("svg", "role").len(), 2 * 7);
    let raw = page.texts("pre")[0];
    assert!(
        raw.starts_with("launch\tmain\tHEAD\n1\t100.000\t200.000\n2\t100.000\t200.070\n"),
        "{raw}"
    );
    assert_eq!(raw.lines().count(), 13);
}

#[test]
fn everything_that_is_no_comparison_is_told_too() {
    let mut file = file(&["main", "HEAD", "topic"]);
    let name = |benchmark| json!({"package": "p", "target": "t", "benchmark": benchmark, "revision": "topic"});
    file["added"] = json!([name("new")]);
    file["removed"] = json!([name("old 10"), name("old 9")]);
    file["failed"] = json!([{"side": "head", "revision": "HEAD", "package": "p", "target": "t",
        "benchmark": null, "error": "it\npanicked"}]);
    file["set_aside"] =
        json!([{"package": "p", "target": "t", "benchmark": "slow", "reason": "too slow"}]);
    file["notes"] = json!(["left out"]);
    file["complete"] = json!(false);
    let page = Page::of(&results(&file));
    let items = page.texts("li");
    for item in [
        "new (topic)",
        "old 9 (topic)",
        "slow: too slow",
        "all of p::t, on head (HEAD)it\npanicked",
    ] {
        assert!(items.contains(&item), "{item}: {items:?}");
    }
    assert!(page.texts("dd").contains(&"left out"));
    assert!(page.texts("p").iter().any(|text| text.starts_with("Incomplete")));
    assert_eq!(page.count("table"), 0);
    // Every section is linked, and every link leads somewhere.
    let sections = page.attribute("section", "id");
    let links: Vec<String> = sections.iter().map(|id| format!("#{id}")).collect();
    assert_eq!(page.attribute("a", "href"), links);
    assert_eq!(sections, ["failed", "added", "removed", "set-aside", "circumstances"]);
}

#[test]
fn what_trips_the_gate_is_named_and_linked() {
    let mut file = file(&["main", "HEAD"]);
    file["measured"] = json!([
        measured("slower", 12, &[1.2]),
        measured("the same", 12, &[0.9995]),
        measured("much slower", 12, &[2.0]),
    ]);
    let trips = |page: &Page| page.texts("p").iter().any(|text| text.contains("gate"));
    assert!(!trips(&Page::of(&results(&file))), "there is none");
    file["gate"] = json!("regression");
    let page = Page::of(&results(&file));
    let named = "The gate is tripped by much slower, slower.";
    assert!(page.texts("p").contains(&named), "{:?}", page.texts("p"));
    let links = page.attribute("a", "href");
    assert_eq!(links[..2], ["#b1", "#b2"]);
    assert!(page.attribute("tbody", "id").contains(&"b1"));

    file["measured"] = json!([measured("the same", 12, &[0.9995])]);
    assert!(!trips(&Page::of(&results(&file))), "nothing trips it");
}

#[test]
fn a_margin_of_its_own_is_drawn_and_told() {
    let mut file = file(&["main", "HEAD"]);
    let mut other = measured("other", 12, &[1.2]);
    other["margin_percent"] = json!(5.0);
    file["measured"] = json!([measured("usual", 12, &[1.2]), other]);
    let page = Page::of(&results(&file));
    let bands = page.attribute("rect", "class");
    assert_eq!(bands.iter().filter(|class| **class == "own-band").count(), 1);
    assert!(page.texts("dd").contains(&"±5 %"), "{:?}", page.texts("dd"));
}

#[test]
fn several_revisions_stand_side_by_side() {
    let mut file = file(&["main", "first", "second"]);
    file["measured"] = json!([measured("n=1", 12, &[1.2, 0.8]), measured("n=10", 12, &[1.3, 0.7])]);
    let page = Page::of(&results(&file));
    assert_eq!((page.count("tbody"), page.attribute("th", "rowspan")), (2, vec!["2", "2"]));
    assert_eq!(page.attribute("tbody", "data-verdict"), ["regressed improved"; 2]);
    let improvements = page.attribute("tbody", "data-improvement");
    assert_eq!(improvements[0].split(' ').count(), 2);
    // A curve for each revision in the plot of the times, and for all but the reference in the other.
    let curves = page.attribute("path", "class").iter().filter(|class| **class == "curve").count();
    assert_eq!(curves, 3 + 2);
    assert!(
        page.texts("summary").iter().any(|text| text.starts_with("n=n ")),
        "{:?}",
        page.texts("summary")
    );
}

/// Two runs of the same benchmark, and a benchmark that only the second has.
fn merged() -> Value {
    let mut file = file(&["main", "HEAD"]);
    let part = |cpu: &str| json!({"environment": {"system": "s", "cpu": cpu, "cores": 8}, "command": "c", "seed": 1});
    file["parts"] = json!([part("Slow <b>"), part("Fast")]);
    let mut both = measured("both", 30, &[1.2]);
    for (index, launch) in both["launches"].as_array_mut().unwrap().iter_mut().enumerate() {
        launch["part"] = json!(usize::from(index >= 12));
        launch["group"] = json!(if index < 12 { index + 1 } else { index - 11 });
    }
    let mut one = measured("one", 12, &[1.0]);
    for launch in one["launches"].as_array_mut().unwrap() {
        launch["part"] = json!(1);
    }
    file["measured"] = json!([both, one]);
    file
}

#[test]
fn machines_are_told_apart_in_the_launch_pairs_of_merged_results() {
    let page = Page::of(&results(&merged()));
    // One line between two runs, in the plot of the benchmark that both have.
    let between = page.starts.iter().filter(|(name, attributes)| {
        name == "path" && attributes.contains(&("class".to_owned(), "between".to_owned()))
    });
    assert_eq!(between.count(), 1);
    let labels: Vec<&str> =
        page.texts("text").into_iter().filter(|text| text.starts_with("run ")).collect();
    assert_eq!(labels, ["run 1", "run 2"]);
    // Their numbers lead to the machines.
    let machines = page.texts("li").into_iter().filter(|text| text.ends_with("8 cores"));
    let items: Vec<(&str, &str)> =
        page.attribute("li", "value").into_iter().zip(machines).collect();
    assert_eq!(items, [("1", "s, Slow <b>, 8 cores"), ("2", "s, Fast, 8 cores")]);
    assert!(page.texts("dd").contains(&"2 of 2: s, Fast, 8 cores"), "{:?}", page.texts("dd"));
    let captions = page.texts("figcaption");
    let within = captions.iter().filter(|text| text.ends_with("in time order within each run"));
    assert_eq!(within.count(), 1, "{captions:?}");
    assert!(
        page.attribute("svg", "aria-label")
            .iter()
            .any(|label| label.starts_with("30 launch pairs of 2 runs"))
    );
    // The raw numbers say it, too.
    let raw = page.texts("pre").concat();
    assert!(raw.contains("run\tlaunch\tmain\tHEAD\n1\t1\t") && raw.contains("\n2\t18\t"), "{raw}");
}

#[test]
fn one_run_has_no_number() {
    let mut file = file(&["main", "HEAD"]);
    file["measured"] = json!([measured("a", 12, &[1.2])]);
    let page = html(&results(&file));
    for word in ["class=\"between\"", "<ol", "<dt>run</dt>", "run\tlaunch", "within each run"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn the_policy_names_the_styles_and_the_script_that_are_there() {
    let mut file = file(&["main", "HEAD"]);
    file["measured"] = json!([measured("a", 12, &[1.2])]);
    let page = Page::of(&results(&file));
    let policy = page.attribute("meta", "content")[0];
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for element in ["style", "script"] {
        let [content] = page.texts(element)[..] else { panic!("one {element}") };
        let hash = STANDARD.encode(Sha256::digest(content));
        assert!(policy.contains(&format!("{element}-src 'sha256-{hash}';")), "{element}: {policy}");
    }
    // What the policy forbids is not there.
    let attributes = page.starts.iter().flat_map(|(_, attributes)| attributes);
    let inline: Vec<_> =
        attributes.filter(|(name, _)| name == "style" || name.starts_with("on")).collect();
    assert!(inline.is_empty(), "{inline:?}");
}

/// Names that would like to be more than names.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("<script>alert(1)</script>".to_owned()),
        Just("</script></style></title></summary></td></table>".to_owned()),
        Just("<img src=x onerror=alert(1)>".to_owned()),
        Just("\" onmouseover=\"alert(1)".to_owned()),
        Just("' autofocus onfocus=alert(1) x='".to_owned()),
        Just("<!--".to_owned()),
        Just("-->".to_owned()),
        Just("]]>".to_owned()),
        Just("&lt;b&gt;&#60;i&#62;&amp".to_owned()),
        Just("<svg onload=alert(1)>".to_owned()),
        Just("\u{0}\u{1b}[2J\u{202e}".to_owned()),
        ".{0,12}",
    ];
    proptest::collection::vec(part, 1..4).prop_map(|parts| parts.concat())
}

/// The page of results in which every name and message is this one. No element depends on it: names are long
/// and alike in the places at which long names may be broken, which are not counted.
fn named(name: &str) -> Page {
    // So long that it may be broken in any case; no number that would make a sweep.
    let name = &format!("{name}{}", "x".repeat(30));
    let mut file = file(&["main", name]);
    let mut benchmark = measured(name, 7, &[1.5]);
    for part in ["package", "target", "unit"] {
        benchmark[part] = json!(name);
    }
    benchmark["notes"] = json!([name]);
    file["measured"] = json!([benchmark]);
    let missing = json!({"package": name, "target": name, "benchmark": name, "revision": name});
    file["added"] = json!([missing]);
    file["removed"] = json!([missing]);
    file["failed"] = json!([{"side": name, "revision": name, "package": name, "target": name,
        "benchmark": "another", "error": name}]);
    file["set_aside"] =
        json!([{"package": name, "target": name, "benchmark": name, "reason": name}]);
    file["notes"] = json!([name]);
    for part in ["command", "generator"] {
        file[part] = json!(name);
    }
    for part in ["commit", "rustc"] {
        file["revisions"][1][part] = json!(name);
    }
    for part in ["system", "kernel", "cpu"] {
        file["environment"][part] = json!(name);
    }
    Page::of(&results(&file))
}

/// The elements and the names of their attributes.
fn skeleton(page: &Page) -> Vec<(&str, Vec<&str>)> {
    let counted = page.starts.iter().filter(|(name, _)| name != "wbr");
    counted
        .map(|(name, attributes)| {
            (name.as_str(), attributes.iter().map(|(name, _)| name.as_str()).collect())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_element_and_no_attribute_comes_from_a_name(name in hostile()) {
        let page = named(&name);
        let harmless = named("harmless");
        prop_assert_eq!(skeleton(&page), skeleton(&harmless));
        let shown = one_line(&format!("{name}{}", "x".repeat(30)));
        prop_assert!(page.texts("summary").contains(&shown.as_str()), "{:?}", page.texts("summary"));
        prop_assert!(page.texts("li").iter().filter(|item| **item == shown).count() == 2);
    }

    #[test]
    fn whatever_was_measured_there_is_a_page(
        benchmarks in proptest::collection::vec(
            (0..4usize, proptest::collection::vec(
                proptest::array::uniform3(proptest::option::of(prop_oneof![1e-30..1e-20f64, 1.0..2.0, 1e20..1e30])),
                0..14)),
            0..6),
    ) {
        let mut file = file(&["main", "first", "second"]);
        let measured = benchmarks.into_iter().enumerate().map(|(index, (same, launches))| {
            let launches: Vec<Value> =
                launches.iter().map(|values| json!({"group": 1, "order": [], "values": values})).collect();
            let identical: &[usize] = [&[][..], &[], &[1], &[1, 2]][same];
            json!({"package": "p", "target": "t", "benchmark": format!("a/{index}"), "unit": "ns",
                "identical": identical, "launches": launches})
        });
        file["measured"] = measured.collect();
        let page = html(&results(&file));
        prop_assert!(!page.contains("NaN") && !page.contains("\"inf") && !page.contains(" inf"));
        Page::read(&page);
    }
}
