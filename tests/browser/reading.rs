//! Whether it can be read: on small screens, in the dark, by those who listen to it.

use cargo_bench_compare::report::html;

use super::chromium::{Chromium, DESKTOP, PHONE, View};
use super::sample;

const OPEN_ALL: &str =
    "document.querySelectorAll('details').forEach(details => details.open = true)";

/// Texts of plots that overlap each other, or are cut at the plot's edge.
const BAD_LABELS: &str = r#"[...document.querySelectorAll('svg')].flatMap(plot => {
    const edge = plot.getBoundingClientRect();
    const labels = [...plot.querySelectorAll('text')].map(label =>
        ({ text: label.textContent, box: label.getBoundingClientRect() }));
    const cut = labels.filter(({ box }) => !plot.matches('.axis')
        && (box.left < edge.left - 1 || box.right > edge.right + 1 || box.bottom > edge.bottom + 1));
    const overlapping = labels.filter(({ box: a }, i) => labels.slice(i + 1).some(({ box: b }) =>
        a.left < b.right - .5 && b.left < a.right - .5 && a.top < b.bottom - 3 && b.top < a.bottom - 3));
    return [...cut, ...overlapping].map(({ text }) => `${text} in ${plot.ariaLabel}`);
})"#;

/// Elements that stick out of the window, unless they can be scrolled to.
const STICKING_OUT: &str = r#"[...document.querySelectorAll('body *')].filter(element => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && (box.right > innerWidth + .5 || box.left < -.5) && !element.closest('pre, .sr, svg svg');
}).map(element => element.outerHTML.slice(0, 200)).slice(0, 5)"#;

#[test]
#[ignore = "needs Chromium"]
fn nothing_is_cut_or_overlaps_at_any_width() {
    let mut browser = Chromium::start();
    for (name, results) in [("two", sample::two_revisions()), ("three", sample::three_variants())] {
        let page = html(&results);
        for width in [320, 375, 700, 1100, 1217, 1600] {
            browser.open(&page, View { width, ..if width < 500 { PHONE } else { DESKTOP } });
            browser.evaluate(OPEN_ALL);
            let at = format!("{name} at {width}");
            let scrolls = "document.documentElement.scrollWidth > innerWidth";
            assert_eq!(
                browser.evaluate(scrolls),
                false,
                "{at}: {}",
                browser.evaluate(STICKING_OUT)
            );
            assert_eq!(browser.evaluate(STICKING_OUT), serde_json::json!([]), "{at}");
            assert_eq!(browser.evaluate(BAD_LABELS), serde_json::json!([]), "{at}");
            assert_eq!(browser.complaints(), [""; 0], "{at}");
        }
    }
}

/// The smallest contrast of a text with what is behind it, by the WCAG's formula, and that text.
const CONTRAST: &str = r#"(() => {
    const parse = (color) => color.match(/[\d.]+/g).map(Number);
    const channel = (c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
    const luminance = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
    const behind = (element) => {
        for (; element; element = element.parentElement) {
            const color = parse(getComputedStyle(element).backgroundColor);
            if (color.length === 3 || color[3] === 1) return color;
        }
        return [255, 255, 255];
    };
    let worst = [99, ''];
    for (const element of document.querySelectorAll('body *')) {
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!own || element.closest('script')) continue;
        const style = getComputedStyle(element);
        const [a, b] = [parse(element.closest('svg') ? style.fill : style.color), behind(element)].map(luminance);
        const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (contrast < worst[0]) worst = [contrast, element.outerHTML.slice(0, 200)];
    }
    return worst;
})()"#;

#[test]
#[ignore = "needs Chromium"]
fn texts_stand_out_in_the_light_and_in_the_dark() {
    let mut browser = Chromium::start();
    let mut backgrounds = Vec::new();
    for dark in [false, true] {
        browser.open(&html(&sample::two_revisions()), View { dark, ..DESKTOP });
        browser.evaluate(OPEN_ALL);
        let worst = browser.evaluate(CONTRAST);
        assert!(worst[0].as_f64().unwrap() >= 4.5, "dark: {dark}: {worst}");
        backgrounds.push(browser.evaluate("getComputedStyle(document.body).backgroundColor"));
        assert_eq!(browser.complaints(), [""; 0]);
    }
    assert_eq!(backgrounds, ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]);
}

#[test]
#[ignore = "needs Chromium"]
fn who_listens_to_it_is_told_what_is_there() {
    let mut browser = Chromium::start();
    for view in [DESKTOP, PHONE] {
        browser.open(&html(&sample::two_revisions()), view);
        browser.evaluate("document.querySelector('tbody summary').click()");
        let table = &browser.accessible_names("table");
        assert!(table[0].starts_with("Improvement is base time / head time"), "{table:?}");
        assert_eq!(browser.accessible_names("navigation"), ["Sections"]);
        assert_eq!(browser.accessible_names("searchbox"), ["Search"]);
        assert_eq!(browser.accessible_names("combobox"), ["Verdict"]);
        let regions = browser.accessible_names("region");
        assert!(regions.contains(&"Comparisons".to_owned()), "{regions:?}");
        // Plots are told in words, and the forest plot is said by the cells beside it.
        let images = browser.accessible_names("image");
        assert!(
            images.iter().any(|name| name.starts_with("27 launch pairs from −1")),
            "{images:?}"
        );
        assert!(images.iter().any(|name| name.starts_with("main: from 1")), "{images:?}");
        assert!(images.iter().all(|name| name.len() > 10), "{images:?}");
    }
    browser.open(&html(&sample::two_revisions()), DESKTOP);
    let headers = browser.accessible_names("columnheader");
    assert_eq!(headers[..4], ["Benchmark", "Interval", "Improvement", "Confidence"]);
    let rows = browser.accessible_names("rowheader");
    assert!(rows.iter().any(|name| name.contains("speed::checksum")), "{rows:?}");
}
