//! Lines that benchmark programs print: those of libtest, and JSON lines. Pure.

use super::libtest::throughput;
use super::{Measurement, Throughput};

/// The measurements in libtest's text, `test NAME ... bench:  1,349.76 ns/iter (+/- 1,108.01) = 7 MB/s`, in their
/// order. Whatever else is printed is passed over, also between a name and its figures.
pub fn libtest(text: &str) -> Vec<Measurement> {
    let mut measurements = Vec::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(begun) = begun(line) {
            name = Some(begun);
        }
        if let Some((nanoseconds, throughput)) = timed(line)
            && let Some(name) = name.take()
        {
            let measurement = Measurement::median(name, nanoseconds);
            measurements.push(Measurement { throughput, ..measurement });
        }
    }
    measurements
}

/// The benchmark that a line of libtest's text says has begun.
pub fn begun(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("test ")?.split_once(" ... ")?;
    // Names are padded to a column.
    Some(name.trim_end())
}

fn timed(line: &str) -> Option<(f64, Option<Throughput>)> {
    let (_, figures) = line.rsplit_once("bench:")?;
    let (time, rest) = figures.split_once(" ns/iter (+/- ")?;
    let nanoseconds: f64 = time.trim().replace(',', "").parse().ok()?;
    let rate = rest.split_once(" = ").and_then(|(_, rate)| rate.strip_suffix(" MB/s"));
    let rate = rate.and_then(|rate| rate.trim().replace(',', "").parse().ok());
    Some((nanoseconds, rate.and_then(|rate| throughput(rate, nanoseconds))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn libtest_lines_are_read_among_others() {
        let text = "\nrunning 8 tests\ntest t ... ignored\ntest bad            ... FAILED\n\
            test größe::ünï ... bench:           0.55 ns/iter (+/- 1.53)\n\
            test plain          ... bench:         312.86 ns/iter (+/- 121.63) = 3205 MB/s\n\
            test old ... bench:   1,234,567 ns/iter (+/- 1,2)\n\
            test prints ... hello\nand more\nbench:          12 ns/iter (+/- 1)\n\
            test dynamic name with ... dots ... bench: 7 ns/iter (+/- 0)\n";
        let found: Vec<(String, f64)> =
            libtest(text).into_iter().map(|m| (m.benchmark, m.samples[0].total)).collect();
        let expected = [
            ("größe::ünï", 0.55),
            ("plain", 312.86),
            ("old", 1_234_567.0),
            ("prints", 12.0),
            ("dynamic name with", 7.0),
        ];
        assert_eq!(found, expected.map(|(name, time)| (name.to_owned(), time)));
        assert_eq!(libtest(text)[1].throughput.as_ref().unwrap().amount, 1003.0);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "(\\PC|\n|test |bench:| ns/iter \\(\\+/- ){0,60}") {
            libtest(&text);
        }

        #[test]
        fn what_is_printed_is_read_again(name in "[a-z:_0-9]{1,130}", time in 0u32..4_000_000) {
            let text = format!("test {name} ... bench: {:>11}.25 ns/iter (+/- 3)\n", time);
            let found = libtest(&text);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].benchmark, &name);
            prop_assert_eq!(found[0].samples[0].total, f64::from(time) + 0.25);
        }
    }
}
