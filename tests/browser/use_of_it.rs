//! Searching, sorting, opening: with a mouse, with the keyboard, and without scripts.

use cargo_bench_compare::report::html;
use serde_json::json;

use super::chromium::{Chromium, DESKTOP, PHONE, View};
use super::sample;

/// The names of the benchmarks that are to be seen, in their order.
fn shown(browser: &mut Chromium) -> Vec<String> {
    let names = browser.evaluate(
        "[...document.querySelectorAll('tbody')].filter(body => body.offsetParent || body.offsetHeight) \
         .map(body => body.querySelector('summary').textContent)",
    );
    serde_json::from_value(names).unwrap()
}

fn search(browser: &mut Chromium, text: &str, found: usize) {
    browser.evaluate("document.getElementById('search').focus()");
    browser.evaluate("document.getElementById('search').value = ''");
    browser.type_text(text);
    browser.wait_until(&format!(
        "document.getElementById('shown').textContent.startsWith('{found} ')"
    ));
}

#[test]
#[ignore = "needs Chromium"]
fn search_leaves_what_has_all_words_in_its_name() {
    let mut browser = Chromium::start();
    browser.open(&html(&sample::two_revisions()), DESKTOP);
    let all = shown(&mut browser);
    assert_eq!(all.len(), 22);

    search(&mut browser, "LEN=32 parser", 2);
    let names = shown(&mut browser);
    assert_eq!(names.len(), 2);
    assert!(names.iter().all(|name| name.ends_with("len=32")), "{names:?}");
    assert_eq!(
        browser.evaluate("document.getElementById('shown').textContent"),
        "2 of 22 benchmarks"
    );

    search(&mut browser, "nothing is called so", 0);
    assert_eq!(shown(&mut browser), [""; 0]);
    assert_eq!(browser.evaluate("document.getElementById('nothing-found').offsetHeight > 0"), true);

    search(&mut browser, "parse/", 4);
    browser.evaluate(
        "const verdict = document.getElementById('verdict'); verdict.value = 'regressed'; \
         verdict.dispatchEvent(new Event('change'))",
    );
    browser.wait_until("document.getElementById('shown').textContent.startsWith('2 of')");
    assert_eq!(shown(&mut browser), ["speed::parse/100000", "speed::parse/10000"]);
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
#[ignore = "needs Chromium"]
fn columns_sort_by_mouse_and_by_keyboard() {
    let mut browser = Chromium::start();
    browser.open(&html(&sample::two_revisions()), DESKTOP);
    // As the page comes, what matters most is first.
    assert_eq!(shown(&mut browser)[0], "speed::checksum");

    browser.evaluate("document.querySelector('th[data-sort=name] button').click()");
    let names = shown(&mut browser);
    assert_eq!(names[..2], ["docs::render", "docs::search"]);
    let parse: Vec<&String> = names.iter().filter(|name| name.contains("::parse/")).collect();
    assert_eq!(
        parse,
        ["speed::parse/100", "speed::parse/1000", "speed::parse/10000", "speed::parse/100000"]
    );

    browser.evaluate("document.querySelector('th[data-sort=improvement] button').focus()");
    browser.press("Enter");
    let sorted = "document.querySelector('th[data-sort=improvement]').getAttribute('aria-sort')";
    assert_eq!(browser.evaluate(sorted), "ascending");
    assert_eq!(shown(&mut browser)[0], "speed::checksum");
    // What was not measured stands last either way.
    assert!(shown(&mut browser).last().unwrap().starts_with("docs::"));
    browser.press(" ");
    assert_eq!(browser.evaluate(sorted), "descending");
    assert_eq!(shown(&mut browser)[0], "speed::find");
    assert!(shown(&mut browser).last().unwrap().starts_with("docs::"));
    assert_eq!(browser.evaluate("document.querySelectorAll('th[aria-sort]').length"), 1);
    assert_eq!(browser.complaints(), [""; 0]);

    // Of several revisions the best counts downwards.
    browser.open(&html(&sample::three_variants()), DESKTOP);
    for _ in 0..2 {
        browser.evaluate("document.querySelector('th[data-sort=improvement] button').click()");
    }
    assert_eq!(shown(&mut browser)[0], "create type=vec len=10000");
    assert_eq!(browser.complaints(), [""; 0]);
}

const DETAILS_ARE_SHOWN: &str =
    "[...document.querySelectorAll('tr.details')].map(row => row.offsetHeight > 0)";

#[test]
#[ignore = "needs Chromium"]
fn without_scripts_everything_but_search_and_sorting_works() {
    let mut browser = Chromium::start();
    for view in [DESKTOP, PHONE] {
        browser.open(&html(&sample::two_revisions()), View { scripts: false, ..view });
        assert_eq!(shown(&mut browser).len(), 22);
        let hidden = "document.getElementById('toolbar').offsetHeight === 0 && \
                      !document.querySelector('th button')";
        assert_eq!(browser.evaluate(hidden), true);
        let folded = browser.evaluate(DETAILS_ARE_SHOWN);
        assert!(folded.as_array().unwrap().iter().all(|shown| shown == false), "{folded}");

        browser.evaluate("document.querySelectorAll('tbody summary')[0].focus()");
        browser.press("Enter");
        browser.wait_until("document.querySelector('tr.details').offsetHeight > 100");
        let opened = browser.evaluate(DETAILS_ARE_SHOWN);
        let opened: Vec<bool> = serde_json::from_value(opened).unwrap();
        assert_eq!(opened.iter().filter(|shown| **shown).count(), 1);
        assert_eq!(browser.complaints(), [""; 0]);
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_link_to_a_benchmark_opens_it() {
    let mut browser = Chromium::start();
    browser.open(&html(&sample::two_revisions()), DESKTOP);
    browser.evaluate("location.hash = '#b3'");
    browser.wait_until("document.querySelector('#b3 .details').offsetHeight > 100");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
#[ignore = "needs Chromium"]
fn thousands_of_benchmarks_stay_usable() {
    let mut browser = Chromium::start();
    browser.open(&html(&sample::large(2000)), DESKTOP);
    search(&mut browser, "group-7/", 40);
    browser.evaluate("document.querySelector('th[data-sort=name] button').click()");
    assert_eq!(shown(&mut browser)[0], "group-7/case 70/1");
    browser.evaluate("document.querySelector('tbody:not([hidden]) summary').click()");
    browser.wait_until(
        "document.querySelector('tbody:not([hidden]) > tr.details').offsetHeight > 100",
    );
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
#[ignore = "needs Chromium"]
fn what_names_contain_is_never_run() {
    let attack = "<script>document.title = 'run'</script><img src=x onerror=\"document.title='run'\">\
                  </style></script><svg onload=document.title='run'>'\"-->";
    let mut file = serde_json::to_value(sample::two_revisions()).unwrap();
    for benchmark in file["measured"].as_array_mut().unwrap() {
        let name = format!("{attack}{}", benchmark["benchmark"].as_str().unwrap());
        benchmark["benchmark"] = json!(name);
        benchmark["unit"] = json!(attack);
        benchmark["notes"] = json!([attack]);
    }
    for part in ["label", "commit", "rustc"] {
        file["revisions"][1][part] = json!(attack);
    }
    file["command"] = json!(attack);
    file["failed"][0]["error"] = json!(attack);
    let results = cargo_bench_compare::results::Results::from_json(&file.to_string()).unwrap();
    let mut browser = Chromium::start();
    browser.open(&html(&results), DESKTOP);
    browser
        .evaluate("document.querySelectorAll('details').forEach(details => details.open = true)");
    assert_eq!(browser.evaluate("document.querySelectorAll('img').length"), 0);
    assert_eq!(browser.evaluate("document.querySelectorAll('script').length"), 1);
    assert_eq!(browser.complaints(), [""; 0]);
    assert_ne!(browser.evaluate("document.title"), "run");

    // And if one came through, the page's policy would keep it from running.
    browser.evaluate(
        "const script = document.createElement('script'); script.textContent = \"document.title = 'run'\"; \
         document.body.append(script)",
    );
    assert_ne!(browser.evaluate("document.title"), "run");
    assert!(
        browser.complaints()[0].contains("Content Security Policy"),
        "{:?}",
        browser.complaints()
    );
}
