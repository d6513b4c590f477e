//! Numbers as people read them.

/// A time in nanoseconds, in the unit that suits it, with four significant digits: `1.234 µs`.
pub fn format_time(nanoseconds: f64) -> String {
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    // Half a unit in the last digit below the next unit would round to 1000 of this one.
    let fits = |scale: &f64| nanoseconds / scale < 999.95;
    let (unit, scale) = units.into_iter().find(|(_, scale)| fits(scale)).unwrap_or(("s", 1e9));
    format!("{} {unit}", four_digits(nanoseconds / scale))
}

/// A value in a benchmark's own unit, as a time if that is `ns`.
pub fn format_quantity(value: f64, unit: &str) -> String {
    match unit {
        "ns" => format_time(value),
        "bytes" => format_bytes(value),
        // A count is a whole number.
        _ if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value} {unit}"),
        _ => format!("{} {unit}", four_digits(value)),
    }
}

/// An amount of memory: `41.41 MB`, decimal as all units here.
fn format_bytes(bytes: f64) -> String {
    let units = [("bytes", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)];
    let fits = |scale: &f64| bytes / scale < 999.95;
    match units.into_iter().find(|(_, scale)| fits(scale)).unwrap_or(("GB", 1e9)) {
        ("bytes", _) if bytes.fract() == 0.0 => format!("{bytes} bytes"),
        (unit, scale) => format!("{} {unit}", four_digits(bytes / scale)),
    }
}

fn four_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.95 => 0,
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_have_four_digits_and_a_fitting_unit() {
        for (nanoseconds, text) in [
            (0.5, "0.500 ns"),
            (1.0, "1.000 ns"),
            (12.345, "12.35 ns"),
            (999.94, "999.9 ns"),
            (999.96, "1.000 µs"),
            (1234.5, "1.234 µs"),
            (9_999_960.0, "10.00 ms"),
            (3.2e9, "3.200 s"),
            (7.2e12, "7200 s"),
        ] {
            assert_eq!(format_time(nanoseconds), text);
        }
        assert_eq!(format_quantity(1234.5, "cycles"), "1234 cycles");
        assert_eq!(format_quantity(64.0, "bytes"), "64 bytes");
        assert_eq!(format_quantity(1.5, "bytes"), "1.500 bytes");
        assert_eq!(format_quantity(41_408_512.0, "bytes"), "41.41 MB");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_right_to_a_thousandth(nanoseconds in 1.0..1e12f64) {
            let text = format_time(nanoseconds);
            let (number, unit) = text.split_once(' ').unwrap();
            let scale = match unit { "ns" => 1.0, "µs" => 1e3, "ms" => 1e6, _ => 1e9 };
            let read = number.parse::<f64>().unwrap() * scale;
            prop_assert!((read / nanoseconds - 1.0).abs() < 1e-3, "{}", text);
        }
    }
}
