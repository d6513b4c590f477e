//! Parameters in the ids of benchmarks: `parse/100`, `parse n=100 len=16`.

/// Splits an id into a name and the parameters at its end, `n=100 len=16` or `100`.
///
/// Parameters are words that contain `=`, and, behind a slash, numbers. What has no parameters is all name.
pub fn split_parameters(id: &str) -> (&str, String) {
    let mut name = id;
    let mut parameters: Vec<&str> = Vec::new();
    loop {
        let at = name.rfind([' ', '/']);
        let word = &name[at.map_or(0, |at| at + 1)..];
        let behind_slash = at.is_some_and(|at| name[at..].starts_with('/'));
        let is_parameter = is_assignment(word) || behind_slash && is_number(word);
        if !is_parameter {
            break;
        }
        parameters.insert(0, word);
        name = at.map_or("", |at| name[..at].trim_end());
    }
    (name, parameters.join(" "))
}

/// `n=100`, but not `==` or `=x`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        !value.is_empty()
            && name.starts_with(char::is_alphabetic)
            && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
    })
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parameters_are_what_varies() {
        for (id, name, parameters) in [
            ("parse", "parse", ""),
            ("parse/100", "parse", "100"),
            ("sort/random/1000/8", "sort/random", "1000 8"),
            ("http/bench-parser n=100000 len=16", "http/bench-parser", "n=100000 len=16"),
            ("n=100 len=16", "", "n=100 len=16"),
            ("sort/n=100/len=1.5", "sort", "n=100 len=1.5"),
            ("buffer type=fast value=\"x y\"", "buffer type=fast value=\"x y\"", ""),
            ("a == b", "a == b", ""),
            ("100", "100", ""),
            ("version 2", "version 2", ""),
            ("crc/0x10", "crc/0x10", ""),
            ("largest/inf", "largest/inf", ""),
            ("", "", ""),
            ("größe/10", "größe", "10"),
        ] {
            assert_eq!(split_parameters(id), (name, parameters.to_owned()), "{id}");
        }
    }

    proptest! {
        #[test]
        fn any_id_can_be_split(id in "([a-z=/ ]|[0-9]|.){0,20}") {
            let (name, parameters) = split_parameters(&id);
            prop_assert!(id.starts_with(name));
            prop_assert!(parameters.split_whitespace().all(|word| id.contains(word)));
        }
    }
}
