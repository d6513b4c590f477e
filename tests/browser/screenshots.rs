//! The pictures in the documentation.

use std::path::Path;

use cargo_bench_compare::report::html;

use super::chromium::{Chromium, DESKTOP, PHONE, View};
use super::sample;

/// Larger pictures make the repository heavy.
const LARGEST: usize = 150_000;

#[test]
#[ignore = "needs Chromium"]
fn the_pictures_of_the_documentation_can_be_made_anew() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = root.join("docs/screenshots");
    let documentation = std::fs::read_to_string(root.join("docs/reports.md")).unwrap();
    let overwrite = std::env::var("SCREENSHOTS").is_ok_and(|value| value == "overwrite");
    let open =
        |number: usize| format!("document.querySelectorAll('tbody summary')[{number}].click()");
    let scroll = |to: &str| {
        format!("document.querySelector('{to}').scrollIntoView({{ behavior: 'instant' }})")
    };
    let view = |width, height, dark| View { width, height, dark, ..DESKTOP };
    let (two, three) = (html(&sample::two_revisions()), html(&sample::three_variants()));
    let mut browser = Chromium::start();
    for (name, page, view, steps) in [
        ("desktop", &two, view(1240, 690, false), vec![open(0), scroll("#comparisons")]),
        ("dark", &two, view(1240, 620, true), vec![open(8), scroll("#b6")]),
        (
            "phone",
            &two,
            View { width: 390, height: 900, ..PHONE },
            vec![open(0), scroll("#toolbar")],
        ),
        ("sweep", &two, view(960, 600, false), vec![scroll("#sweeps")]),
        ("variants", &three, view(1240, 720, false), vec![open(0)]),
    ] {
        browser.open(page, view);
        for step in steps {
            browser.evaluate(&step);
        }
        let picture = browser.screenshot();
        assert!(picture.len() < LARGEST, "{name} has {} bytes", picture.len());
        let file = directory.join(name).with_extension("png");
        if overwrite {
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(&file, picture).unwrap();
        }
        assert!(file.exists(), "{}: make it with SCREENSHOTS=overwrite", file.display());
        assert!(documentation.contains(&format!("(screenshots/{name}.png)")), "{name}");
        assert_eq!(browser.complaints(), [""; 0]);
    }
}
