//! The page, as `report` writes it. What is in it is tested where it is made, and in a browser.

use super::handmade::one_regression;
use super::run;

#[test]
fn a_page_goes_to_a_file_or_to_standard_output() {
    let directory = tempfile::tempdir().unwrap();
    for file in ["results.json", "again.json"] {
        std::fs::write(directory.path().join(file), one_regression().to_string()).unwrap();
    }
    let report = |arguments: &[&str]| {
        run(
            directory.path(),
            &[&["report", "results.json", "--format", "html"], arguments].concat(),
        )
    };
    let page = report(&[]).exits_with(0).stdout;
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{page}");
    assert!(page.contains("1 regressed"), "{page}");
    assert_eq!(report(&["--output", "page.html"]).exits_with(0).stdout, "");
    assert_eq!(std::fs::read_to_string(directory.path().join("page.html")).unwrap(), page);
    // With the margin that is asked for, not the file's.
    assert!(report(&["--margin", "7%"]).exits_with(0).stdout.contains("the margin of ±7 %"));

    let several = report(&["again.json"]).exits_with(2);
    assert!(several.stderr.contains("a page shows the results of one file"), "{}", several.stderr);
    assert_eq!(several.stdout, "");
}
