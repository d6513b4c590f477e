//! Command lines with placeholders, rates that commands print, and the arguments of compilers and linkers.
#![no_main]

use cargo_bench_compare::build::fuzzing;
use cargo_bench_compare::commands::{Template, Value, rates};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    fuzzing::arguments(text);
    rates(text);
    let Ok(words) = Template::parse_line(text) else { return };
    for word in words {
        let again = Template::parse(&word.to_string());
        assert_eq!(again.as_ref(), Ok(&word));
        // Whatever stands for a placeholder stays within its word.
        let value = |_: &str| Some(Value::Text("a b\n{c}".to_owned()));
        assert_eq!(word.expand(&value).len(), 1);
    }
});
