//! Parameters of a command, and every combination of their values.
//!
//! In: the parameters, and what `--set` narrows them to. Out: the combinations, the last parameter varying fastest.
//! Pure.

use std::fmt;
use std::str::FromStr;

/// A parameter and the values that it takes, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// At least one.
    pub values: Vec<String>,
}

/// `NAME=VALUE`: one value that a parameter is to have. Several for one parameter are all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                Ok(Self { name: name.to_owned(), value: value.to_owned() })
            }
            _ => Err("write it like `n=100`".to_owned()),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

/// One combination of values, in the order of the parameters.
pub type Combination = Vec<Setting>;

/// Gives the parameters that are set the values that they are set to, whether they were among theirs or not.
pub fn narrow(parameters: &[Parameter], settings: &[Setting]) -> Vec<Parameter> {
    let narrowed = |parameter: &Parameter| {
        let of_it = settings.iter().filter(|setting| setting.name == parameter.name);
        let values: Vec<String> = of_it.map(|setting| setting.value.clone()).collect();
        let values = if values.is_empty() { parameter.values.clone() } else { values };
        Parameter { name: parameter.name.clone(), values }
    };
    parameters.iter().map(narrowed).collect()
}

/// All combinations; one without values if there are no parameters.
pub fn combinations(parameters: &[Parameter]) -> Vec<Combination> {
    let mut all: Vec<Combination> = vec![Vec::new()];
    for parameter in parameters {
        let extended = |begin: &Combination| {
            let setting =
                |value: &String| Setting { name: parameter.name.clone(), value: value.clone() };
            let combination =
                |value: &String| begin.iter().cloned().chain([setting(value)]).collect();
            parameter.values.iter().map(combination).collect::<Vec<Combination>>()
        };
        all = all.iter().flat_map(extended).collect();
    }
    all
}

/// How many combinations there are, as far as numbers go.
pub fn count(parameters: &[Parameter]) -> usize {
    parameters.iter().fold(1, |count: usize, p| count.saturating_mul(p.values.len()))
}

/// `n=100 len=4`
pub fn text(combination: &[Setting]) -> String {
    combination.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parameter(name: &str, values: &[&str]) -> Parameter {
        Parameter {
            name: name.to_owned(),
            values: values.iter().map(|v| (*v).to_owned()).collect(),
        }
    }

    fn texts(parameters: &[Parameter]) -> Vec<String> {
        combinations(parameters).iter().map(|combination| text(combination)).collect()
    }

    #[test]
    fn the_last_parameter_varies_fastest() {
        let both = [parameter("n", &["100", "100000"]), parameter("len", &["4", "16"])];
        assert_eq!(
            texts(&both),
            ["n=100 len=4", "n=100 len=16", "n=100000 len=4", "n=100000 len=16"]
        );
        assert_eq!(texts(&[]), [""]);
    }

    #[test]
    fn settings_narrow_a_parameter_or_give_it_other_values() {
        let both = [parameter("n", &["1", "2"]), parameter("len", &["4", "16"])];
        let set = |texts: &[&str]| {
            let settings: Vec<Setting> = texts.iter().map(|text| text.parse().unwrap()).collect();
            narrow(&both, &settings)
        };
        assert_eq!(texts(&set(&["n=2"])), ["n=2 len=4", "n=2 len=16"]);
        assert_eq!(texts(&set(&["len=x=y", "n=1"])), ["n=1 len=x=y"]);
        assert_eq!(texts(&set(&["n=7", "n=8", "len=4"])), ["n=7 len=4", "n=8 len=4"]);
        assert!("n".parse::<Setting>().is_err() && "=1".parse::<Setting>().is_err());
    }

    proptest! {
        #[test]
        fn every_combination_is_there_once(sizes in proptest::collection::vec(1usize..4, 0..5)) {
            let parameters: Vec<Parameter> = sizes.iter().enumerate().map(|(i, size)| Parameter {
                name: format!("p{i}"),
                values: (0..*size).map(|value| value.to_string()).collect(),
            }).collect();
            let mut all = texts(&parameters);
            prop_assert_eq!(all.len(), count(&parameters));
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(all.len(), count(&parameters));
        }
    }
}
