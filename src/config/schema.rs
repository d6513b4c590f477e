//! The JSON Schema of `bench-compare.toml`, for editors that complete and check while one types.

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::commands::Quantity;
use crate::model::CustomHarness;

use super::options::{CARGO, OptionKey, OptionKind, REVISIONS};

/// The schema of a file that may set these options.
pub fn json_schema(keys: &[OptionKey]) -> Value {
    let mut properties = Map::new();
    let mut cargo = Map::new();
    for key in keys {
        let table = if key.is_cargos { &mut cargo } else { &mut properties };
        table.insert(key.name.clone(), option(key));
    }
    properties.insert(CARGO.to_owned(), object("What to build: cargo's own options.", cargo, &[]));
    let list = |entry: Value| json!({"type": "array", "items": entry});
    properties.insert("benchmark".to_owned(), list(benchmark()));
    properties.insert("set-aside".to_owned(), list(set_aside()));
    properties.insert("command".to_owned(), list(command()));
    properties.insert(
        "target".to_owned(),
        json!({
            "description": "Bench targets with a harness of their own: what the executables print.",
            "type": "object",
            "additionalProperties": object("", fields([
                ("harness", choice::<CustomHarness>("What the executable prints.")),
                ("package", text("The package of the target, if several have one of this name.")),
            ]), &["harness"]),
        }),
    );
    let mut schema = object("Settings of cargo bench-compare.", properties, &[]);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("bench-compare.toml");
    schema
}

fn option(key: &OptionKey) -> Value {
    let value = if key.choices.is_empty() {
        json!({"type": ["string", "number"]})
    } else {
        json!({"enum": key.choices})
    };
    let mut schema = match key.kind {
        OptionKind::Flag => json!({"type": "boolean"}),
        OptionKind::One => value,
        OptionKind::Many => json!({"anyOf": [value, {"type": "array", "items": value}]}),
    };
    let help =
        if key.name == REVISIONS { "What to compare, if nothing is said." } else { &key.help };
    schema["description"] = json!(help);
    schema
}

fn benchmark() -> Value {
    let mut properties = subject();
    properties.extend(fields([
        ("margin", scalar("Changes smaller than this do not matter.")),
        ("timeout", scalar("How long it may go on without any sign of progress.")),
        (
            "lockstep",
            json!({"enum": ["auto", "off"], "description": "Whether it may be measured in step."}),
        ),
    ]));
    object(
        "What is different for some benchmarks. The first entry that says something counts.",
        properties,
        &[],
    )
}

fn set_aside() -> Value {
    let mut properties = subject();
    properties.extend(fields([("reason", text("Why; shown in the report."))]));
    object("Benchmarks that are not measured.", properties, &["reason"])
}

fn subject() -> Map<String, Value> {
    fields([
        ("id", text("The benchmark with this id.")),
        ("match", text("Benchmarks in whose ids this regular expression matches.")),
        ("package", text("Benchmarks of this package.")),
        ("target", text("Benchmarks of this bench target or command.")),
    ])
}

fn command() -> Value {
    let line = |description: &str| {
        json!({"description": description, "anyOf": [
            {"type": "string"}, {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1},
        ]})
    };
    let scalar_or_list = json!({"anyOf": [
        {"type": ["string", "number", "boolean"]},
        {"type": "array", "items": {"type": ["string", "number", "boolean"]}, "minItems": 1},
    ]});
    let properties = fields([
        ("name", text("What its benchmarks are called, before their parameters.")),
        (
            "run",
            line(
                "The command line, with {worktree}, {bin}, {revision}, {label}, {params} and the parameters' names.",
            ),
        ),
        (
            "params",
            json!({
                "description": "Parameters and their values: every combination is a benchmark.",
                "type": "object", "additionalProperties": scalar_or_list,
            }),
        ),
        ("measure", choice::<Quantity>("What is measured.")),
        ("build", line("Makes the program on each side, before anything is measured.")),
        ("bin", text("What {bin} stands for: a path relative to the worktree.")),
        (
            "env",
            json!({
                "description": "Environment variables.", "type": "object",
                "additionalProperties": {"type": ["string", "number", "boolean"]},
            }),
        ),
        ("timeout", scalar("How long one run may take.")),
    ]);
    object("A whole command as a benchmark.", properties, &["name", "run"])
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

fn object(description: &str, properties: Map<String, Value>, required: &[&str]) -> Value {
    let mut object = json!({"type": "object", "additionalProperties": false});
    object["properties"] = Value::Object(properties);
    if !description.is_empty() {
        object["description"] = json!(description);
    }
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn scalar(description: &str) -> Value {
    json!({"type": ["string", "number"], "description": description})
}

fn choice<T: ValueEnum>(description: &str) -> Value {
    let names: Vec<String> = T::value_variants()
        .iter()
        .filter_map(|variant| Some(variant.to_possible_value()?.get_name().to_owned()))
        .collect();
    json!({"enum": names, "description": description})
}
