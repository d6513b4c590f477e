//! Parameter sweeps: benchmarks whose ids differ in one number only, as `parse/100` and `parse/1000`, or
//! `n=100 len=16` and `n=100 len=64`.
//!
//! In: names. Out: which of them belong together, ordered by the number. Pure; knows nothing of results.

use std::collections::BTreeMap;

/// The full name of a benchmark: package, target and id.
pub type FullName<'a> = (&'a str, &'a str, &'a str);

/// Benchmarks of one target whose ids differ in one number only.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep<'a> {
    /// The cargo package.
    pub package: &'a str,
    /// The cargo target.
    pub target: &'a str,
    /// What all ids have in common before the number.
    pub before: &'a str,
    /// What all ids have in common after it.
    pub after: &'a str,
    /// At least two, by ascending value, no value twice.
    pub points: Vec<Point<'a>>,
}

/// One benchmark of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point<'a> {
    /// The number: at least 0, finite.
    pub value: f64,
    /// The number as it stands in the id: `1000`, `64KiB`.
    pub text: &'a str,
    /// Which of the names it is.
    pub index: usize,
}

impl Sweep<'_> {
    /// What the parameter is called, if the ids say it: `len` in `n=100 len=16`.
    pub fn parameter(&self) -> Option<&str> {
        let rest = self.before.strip_suffix(['=', ':'])?;
        let start = rest.rfind(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
        let first = start.map_or(0, |at| at + rest[at..].chars().next().map_or(0, char::len_utf8));
        Some(&rest[first..]).filter(|name| !name.is_empty())
    }

    /// Whether the values are spread more evenly by their logarithms: 1, 10, 100 are, and 1, 2, 3 are not.
    pub fn is_logarithmic(&self) -> bool {
        let values: Vec<f64> = self.points.iter().map(|point| point.value).collect();
        if values.first().is_none_or(|first| *first <= 0.0) {
            return false;
        }
        if let [low, high] = values[..] {
            return high / low >= 8.0;
        }
        let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        narrowest_gap(&logarithms) > narrowest_gap(&values)
    }
}

/// The smallest distance of two neighbours, as a share of the whole. The values ascend.
fn narrowest_gap(values: &[f64]) -> f64 {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return 0.0 };
    let gaps = values.windows(2).map(|pair| (pair[1] - pair[0]) / (last - first));
    gaps.fold(1.0, f64::min)
}

/// Numbers that are looked at in one id, from its end: more than this many is no name that people chose.
const MOST_NUMBERS: usize = 8;

/// All sweeps among these names, in the order of their first benchmarks. A benchmark whose id has several
/// numbers can be in as many sweeps.
pub fn sweeps<'a>(names: &[FullName<'a>]) -> Vec<Sweep<'a>> {
    let mut families: BTreeMap<[&str; 4], Vec<Point>> = BTreeMap::new();
    for (index, (package, target, id)) in names.iter().enumerate() {
        let numbers = numbers(id);
        for Number { start, end, value } in numbers.into_iter().rev().take(MOST_NUMBERS) {
            let family = [*package, *target, &id[..start], &id[end..]];
            let point = Point { value, text: &id[start..end], index };
            families.entry(family).or_default().push(point);
        }
    }
    let mut sweeps: Vec<(usize, Sweep)> = families
        .into_iter()
        .filter_map(|([package, target, before, after], mut points)| {
            let first = points.iter().map(|point| point.index).min()?;
            points.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.index.cmp(&b.index)));
            points.dedup_by(|later, kept| later.value == kept.value);
            let sweep = Sweep { package, target, before, after, points };
            (sweep.points.len() > 1).then_some((first, sweep))
        })
        .collect();
    sweeps.sort_by_key(|(first, sweep)| (*first, sweep.before.len()));
    sweeps.into_iter().map(|(_, sweep)| sweep).collect()
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Number {
    start: usize,
    end: usize,
    value: f64,
}

/// The numbers of an id that can be parameters: those that stand by themselves, so not the 256 of `sha256`
/// nor the 2 of criterion's ` #2` for an id that is there twice.
fn numbers(id: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let mut before: Option<char> = None;
    let mut at = 0;
    while let Some(c) = id[at..].chars().next() {
        let stands_alone = before.is_none_or(|b| !b.is_alphanumeric() && b != '.' && b != '#');
        let number = if c.is_ascii_digit() && stands_alone { number_at(id, at) } else { None };
        let end = number.map_or(at + c.len_utf8(), |number| number.end);
        before = id[..end].chars().next_back();
        at = end;
        found.extend(number);
    }
    found
}

/// Reads `1000`, `1_000`, `0.5`, `1e-6` and `64KiB`.
fn number_at(id: &str, start: usize) -> Option<Number> {
    let digits = |at: usize| id[at..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = start + digits(start);
    while id[end..].starts_with('_') && digits(end + 1) == 3 {
        end += 4;
    }
    if id[end..].starts_with('.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if id[end..].starts_with('e') {
        let sign = usize::from(id[end + 1..].starts_with('-'));
        let exponent = digits(end + 1 + sign);
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    let plain: f64 = id[start..end].replace('_', "").parse().ok()?;
    let (suffix, factor) = multiple(&id[end..]);
    let value = plain * factor;
    value.is_finite().then_some(Number { start, end: end + suffix, value })
}

/// The length of `k`, `MiB` and the like at the beginning of a text, and what it multiplies by.
fn multiple(text: &str) -> (usize, f64) {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let word = &text[..letters];
    let prefix = word.strip_suffix('B').unwrap_or(word);
    let (binary, power) = match prefix.strip_suffix('i') {
        Some(letter) => (true, letter),
        None => (false, prefix),
    };
    let power = match power {
        "" if !binary => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return (0, 1.0),
    };
    let follows = text[letters..].chars().next();
    if follows.is_some_and(char::is_alphanumeric) {
        return (0, 1.0);
    }
    (letters, if binary { 1024f64.powi(power) } else { 1000f64.powi(power) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sweeps of some ids: what is around the number, and the numbers.
    fn of<'a>(ids: &[&'a str]) -> Vec<(&'a str, &'a str, Vec<f64>)> {
        let names: Vec<FullName> = ids.iter().map(|id| ("p", "t", *id)).collect();
        let values = |sweep: &Sweep| sweep.points.iter().map(|point| point.value).collect();
        sweeps(&names).iter().map(|s| (s.before, s.after, values(s))).collect()
    }

    #[test]
    fn ids_that_differ_in_one_number_are_a_sweep() {
        assert_eq!(
            of(&["parse/1000", "print/7", "parse/20", "parse/100"]),
            [("parse/", "", vec![20.0, 100.0, 1000.0])]
        );
        assert_eq!(of(&["read 4 bytes", "read 8 bytes"]), [("read ", " bytes", vec![4.0, 8.0])]);
        assert_eq!(of(&["a_1_000", "a_50"]), [("a_", "", vec![50.0, 1000.0])]);
        assert_eq!(of(&["x=0.5", "x=1e3", "x=5e-1"]), [("x=", "", vec![0.5, 1000.0])]);
        assert_eq!(of(&["f<4>", "f<16>"]), [("f<", ">", vec![4.0, 16.0])]);
        assert_eq!(of(&["größe/1", "größe/2"]), [("größe/", "", vec![1.0, 2.0])]);
    }

    #[test]
    fn with_several_parameters_each_is_swept_while_the_others_stay() {
        let ids = ["n=100 len=4", "n=100 len=16", "n=100000 len=4", "n=100000 len=16"];
        let n = vec![100.0, 100_000.0];
        let len = vec![4.0, 16.0];
        assert_eq!(
            of(&ids),
            [
                ("n=", " len=4", n.clone()),
                ("n=100 len=", "", len.clone()),
                ("n=", " len=16", n),
                ("n=100000 len=", "", len),
            ]
        );
    }

    #[test]
    fn units_of_thousands_count() {
        assert_eq!(
            of(&["copy/1MiB", "copy/64KiB", "copy/512"]),
            [("copy/", "", vec![512.0, 65536.0, 1_048_576.0])]
        );
        assert_eq!(of(&["1k", "10M"]), [("", "", vec![1e3, 1e7])]);
        // No unit of this kind: a part of the name.
        assert_eq!(of(&["sort/2D", "sort/3D"]), [("sort/", "D", vec![2.0, 3.0])]);
        assert_eq!(of(&["100kilo", "5kilo"]), [("", "kilo", vec![5.0, 100.0])]);
    }

    #[test]
    fn numbers_within_words_and_marks_of_duplicates_are_no_parameters() {
        assert!(of(&["sha1", "sha256", "sha512"]).is_empty());
        assert!(of(&["parse #2", "parse #3"]).is_empty());
        assert!(of(&["parse/100", "parse/100"]).is_empty());
        assert!(of(&["a/1", "b/2"]).is_empty());
        assert!(of(&["a/1/2", "a/2/1"]).is_empty());
        let other_target = [("p", "t", "a/1"), ("p", "u", "a/2")];
        assert!(sweeps(&other_target).is_empty());
    }

    #[test]
    fn parameters_are_named_where_ids_name_them() {
        let name = |ids: &[&str; 2]| {
            let names = ids.map(|id| ("p", "t", id));
            sweeps(&names)[0].parameter().map(str::to_owned)
        };
        assert_eq!(name(&["n=1 len=4", "n=1 len=8"]), Some("len".to_owned()));
        assert_eq!(name(&["größe:1", "größe:2"]), Some("größe".to_owned()));
        assert_eq!(name(&["f(a, é=1)", "f(a, é=2)"]), Some("é".to_owned()));
        assert_eq!(name(&["parse/4", "parse/8"]), None);
        assert_eq!(name(&["=4", "=8"]), None);
    }

    #[test]
    fn powers_are_spread_by_their_logarithms_and_steps_are_not() {
        let logarithmic = |values: &[&str]| {
            let names: Vec<FullName> = values.iter().map(|value| ("p", "t", *value)).collect();
            sweeps(&names)[0].is_logarithmic()
        };
        assert!(logarithmic(&["1", "2", "4", "8"]));
        assert!(logarithmic(&["100", "100000"]));
        assert!(logarithmic(&["64KiB", "1MiB", "512"]));
        assert!(!logarithmic(&["1", "2", "3", "4", "5"]));
        assert!(!logarithmic(&["0", "10", "100"]));
        assert!(!logarithmic(&["10", "12"]));
    }

    proptest! {
        #[test]
        fn points_of_a_sweep_have_everything_but_the_number_in_common(
            ids in proptest::collection::vec("[ab1/=.ekKMiB_ ö]{0,8}", 0..30),
        ) {
            let names: Vec<FullName> = ids.iter().map(|id| ("p", "t", id.as_str())).collect();
            for sweep in sweeps(&names) {
                prop_assert!(sweep.points.len() > 1);
                prop_assert!(sweep.points.is_sorted_by(|a, b| a.value < b.value));
                for Point { text, index, value } in &sweep.points {
                    prop_assert_eq!(format!("{}{text}{}", sweep.before, sweep.after), names[*index].2);
                    prop_assert!(value.is_finite() && *value >= 0.0);
                }
            }
        }

        #[test]
        fn any_text_can_be_an_id(ids in proptest::collection::vec(".{0,20}", 0..6)) {
            let names: Vec<FullName> = ids.iter().map(|id| ("", "", id.as_str())).collect();
            for sweep in sweeps(&names) {
                sweep.parameter();
                sweep.is_logarithmic();
            }
        }
    }
}
