//! Trees as divan printed them.

use proptest::prelude::*;

use super::*;

/// divan 0.1.21, `--test`.
const TESTED: &str = "\
main
├─ a/b c │ d ├─ x
├─ args
│  ├─ x y
│  ╰─ │ 1 ns │ 2
├─ dup
├─ dup
├─ ign             (ignored)
├─ thr
│  ├─ t=1
│  ╰─ t=2
├─ gen
│  ╰─ Vec<u8>
│     ├─ 1
│     ╰─ t=4
╰─ group │ one
   ╰─ ta
      ├─ 1
      │  ├─ t=2
      │  ╰─ t=3
      ╰─ 2
         ├─ t=2
         ╰─ t=3

";

/// divan 0.1.21, some of a run.
const MEASURED: &str = "\
main               fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ a/b c │ d ├─ x  1.351 ns      │ 1.967 µs      │ 1.356 ns      │ 3.652 ns      │ 868     │ 1777664
├─ args                          │               │               │               │         │
│  ╰─ │ 1 ns │ 2   26.69 ns      │ 63.02 µs      │ 27.31 ns      │ 47.81 ns      │ 3096    │ 198144
│                  max alloc:    │               │               │               │         │
│                    1           │ 1             │ 1             │ 1             │         │
│                    42 B        │ 42 B          │ 42 B          │ 42 B          │         │
│                  alloc:        │               │               │               │         │
│                    1           │ 1             │ 1             │ 1             │         │
│                    42 B        │ 42 B          │ 42 B          │ 42 B          │         │
├─ ign             (ignored)     │               │               │               │         │
├─ set             139.4 ns      │ 2.399 µs      │ 1.3 ms        │ 194.5 ns      │ 7170    │ 21510
│                  max alloc:    │               │               │               │         │
│                    1           │ 1             │ 1             │ 1             │         │
│                    128 B       │ 128 B         │ 1.5 KB        │ 128 B         │         │
│                  alloc:        │               │               │               │         │
│                    1           │ 1             │ 1             │ 1             │         │
│                    8 B         │ 8 B           │ 8 B           │ 8 B           │         │
│                  grow:         │               │               │               │         │
│                    4           │ 4             │ 4             │ 4             │         │
│                    120 B       │ 120 B         │ 120 B         │ 120 B         │         │
╰─ group │ one                   │               │               │               │         │
   ├─ bad          
   ├─ items        0.27 ns       │ 0.307 ns      │ 2.73 µs       │ 0.272 ns      │ 486     │ 1990656
   │               7.585 TB/s    │ 6.671 TB/s    │ 7.501 GB/s    │ 7.529 TB/s    │         │
   │               18.51 Gitem/s │ 16.28 Gitem/s │ 18.31 Mitem/s │ 18.38 Gitem/s │         │
   ╰─ ta                         │               │               │               │         │
      ├─ t=2       0.273 ns      │ 0.458 ns      │ 0.302 ns      │ 0.314 ns      │ 68      │ 278528
      ╰─ t=3       0.27 ns       │ 0.542 ns      │ 0.273 ns      │ 0.278 ns      │ 66      │ 270336
";

#[test]
fn benchmarks_and_their_threads_are_read_from_a_tree_whatever_they_are_called() {
    let variants: Vec<(String, Option<String>)> =
        leaves(TESTED).into_iter().map(Leaf::variant).collect();
    let expected = [
        ("main::a/b c │ d ├─ x", None),
        ("main::args::x y", None),
        ("main::args::│ 1 ns │ 2", None),
        ("main::dup", None),
        ("main::dup", None),
        ("main::thr", Some("1")),
        ("main::thr", Some("2")),
        ("main::gen::Vec<u8>::1", None),
        ("main::gen::Vec<u8>", Some("4")),
        ("main::group │ one::ta::1", Some("2")),
        ("main::group │ one::ta::1", Some("3")),
        ("main::group │ one::ta::2", Some("2")),
        ("main::group │ one::ta::2", Some("3")),
    ];
    let expected = expected.map(|(path, threads)| (path.to_owned(), threads.map(str::to_owned)));
    assert_eq!(variants, expected);
}

#[test]
fn an_argument_that_looks_like_threads_is_told_apart_by_its_path() {
    let leaves = leaves(TESTED);
    assert_eq!(threads_of(&leaves, "main::gen::Vec<u8>::t=4"), Some(vec![]));
    assert_eq!(threads_of(&leaves, "main::thr"), Some(vec!["1".to_owned(), "2".to_owned()]));
    assert_eq!(threads_of(&leaves, "main::dup"), Some(vec![]));
    assert_eq!(threads_of(&leaves, "main::ign"), None);
    assert_eq!(threads_of(&leaves, "main::group │ one::ta::2").unwrap().len(), 2);
}

#[test]
fn columns_are_read_from_the_right() {
    let rows = rows(MEASURED);
    let medians: Vec<f64> = rows.iter().map(|row| row.median).collect();
    assert_eq!(medians, [1.356, 27.31, 1.3e6, 2730.0, 0.302, 0.273]);
    assert!(rows[4].is_named("t=2") && !rows[4].is_named("t=3"));
    assert!(rows[1].is_named("│ 1 ns │ 2"));
    let counts = |row: &Row| -> Vec<(String, f64)> {
        row.counts.iter().map(|count| (count.metric.clone(), count.value)).collect()
    };
    assert_eq!(
        counts(&rows[2]),
        [("most bytes at once", 1500.0), ("allocations", 5.0), ("allocated bytes", 128.0)]
            .map(|(metric, value)| (metric.to_owned(), value))
    );
    assert!(counts(&rows[3]).is_empty());
    let throughput = rows[3].throughput.as_ref().unwrap();
    assert_eq!((throughput.amount, throughput.unit.as_str()), (20478.0, "bytes"));
}

#[test]
fn numbers_with_units_are_read() {
    assert_eq!(nanoseconds("1.5 µs"), Some(1500.0));
    assert_eq!(nanoseconds("12 s"), Some(12e9));
    assert_eq!(nanoseconds("12 GB/s"), None);
    assert_eq!(amount("3 KiB"), Some(3072.0));
    assert_eq!(amount("12.5"), Some(12.5));
    assert_eq!(rate("18.31 Kitem/s"), Some((18310.0, "items")));
    assert_eq!(rate("2 GiB/s"), Some((2.0 * 1024f64.powi(3), "bytes")));
    assert_eq!(rate("1 ns"), None);
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "(\\PC|\n| │ |├─ |╰─ |│  |alloc:|1 ns|12){0,80}") {
        rows(&text);
        leaves(&text);
    }

    #[test]
    fn a_row_is_read_whatever_the_name_is(
        name in "[a-z│├─╰ :0-9<>ü]{1,120}",
        depth in 0usize..4,
        median in 1u32..999,
        samples in 1u32..100_000,
    ) {
        let line = format!(
            "{}├─ {name}  1.0 ns │ 2 ns    │ {median} µs     │ 1 ns    │ {samples} │ 77",
            "│  ".repeat(depth)
        );
        let rows = rows(&line);
        prop_assert_eq!(rows.len(), 1);
        prop_assert_eq!(rows[0].median, f64::from(median) * 1000.0);
        prop_assert!(rows[0].is_named(name.trim_end()));
    }

    #[test]
    fn a_tree_gives_back_the_names_it_was_made_of(names in "[a-z│╰─ ü]{1,20}[a-z]") {
        let text = format!("main\n├─ {names}\n│  ╰─ {names}\n╰─ last\n");
        let found: Vec<String> =
            leaves(&text).into_iter().map(|leaf| leaf.variant().0).collect();
        prop_assert_eq!(found, [format!("main::{names}::{names}"), "main::last".to_owned()]);
    }
}
