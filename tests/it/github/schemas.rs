//! Whether a request is one that GitHub takes, by GitHub's own description of its interface.

use std::sync::OnceLock;

use regex::Regex;
use serde_json::Value;

/// What may be asked with one method at one kind of path.
struct Operation {
    method: String,
    path: Regex,
    /// Names of the parts of the path, in order, with their schemas.
    parts: Vec<Value>,
    query: Vec<Value>,
    body: Option<Value>,
}

fn operations() -> &'static [Operation] {
    static OPERATIONS: OnceLock<Vec<Operation>> = OnceLock::new();
    OPERATIONS.get_or_init(|| {
        let text = include_str!("../../data/github/openapi.json");
        let description: Value = serde_json::from_str(text).unwrap();
        let paths = description["paths"].as_object().unwrap().iter();
        let all = paths.flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| read(method, path, operation))
        });
        all.collect()
    })
}

fn read(method: &str, path: &str, operation: &Value) -> Operation {
    let name = Regex::new(r"\{(\w+)\}").unwrap();
    let parameters = operation["parameters"].as_array().unwrap();
    let parts = name.captures_iter(path).map(|part| {
        let of_part =
            |parameter: &&Value| parameter["in"] == "path" && parameter["name"] == part[1];
        parameters.iter().find(of_part).unwrap()["schema"].clone()
    });
    Operation {
        method: method.to_uppercase(),
        path: Regex::new(&format!("^{}$", name.replace_all(path, "([^/]+)"))).unwrap(),
        parts: parts.collect(),
        query: parameters.iter().filter(|p| p["in"] == "query").cloned().collect(),
        body: operation
            .get("requestBody")
            .map(|body| body["content"]["application/json"]["schema"].clone()),
    }
}

/// What is wrong with a request, if anything is.
pub fn check(
    method: &str,
    path: &str,
    query: &[(String, String)],
    body: Option<&Value>,
) -> Result<(), String> {
    let fits = |operation: &&Operation| operation.method == method && operation.path.is_match(path);
    let operation = operations()
        .iter()
        .find(fits)
        .ok_or_else(|| format!("there is no operation {method} {path}"))?;
    let captures = operation.path.captures(path).unwrap();
    for (schema, part) in operation.parts.iter().zip(captures.iter().skip(1)) {
        check_text(schema, part.unwrap().as_str(), path)?;
    }
    for (name, value) in query {
        let known = operation.query.iter().find(|parameter| parameter["name"] == name.as_str());
        let parameter = known.ok_or_else(|| format!("{path} has no parameter {name}"))?;
        check_text(&parameter["schema"], value, name)?;
    }
    match (&operation.body, body) {
        (None, None) => Ok(()),
        (None, Some(body)) => Err(format!("{method} {path} takes no body: {body}")),
        (Some(_), None) => Err(format!("{method} {path} has no body")),
        (Some(schema), Some(body)) => {
            check_value(schema, body, path)?;
            only_known_properties(schema, body, path)
        }
    }
}

/// A value in an address.
fn check_text(schema: &Value, text: &str, place: &str) -> Result<(), String> {
    let is_number = schema["type"] == "integer";
    let value =
        text.parse::<i64>().ok().filter(|_| is_number).map_or(Value::from(text), Value::from);
    check_value(schema, &value, place)
}

fn check_value(schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{place}: {error}")).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// GitHub's schemas allow any other property, which it would silently ignore.
fn only_known_properties(schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    match value {
        Value::Object(object) => {
            object.iter().try_for_each(|(name, value)| match schema["properties"].get(name) {
                Some(schema) => only_known_properties(schema, value, name),
                None => Err(format!("{place} has no property {name}")),
            })
        }
        Value::Array(list) => {
            list.iter().try_for_each(|value| only_known_properties(&schema["items"], value, place))
        }
        _ => Ok(()),
    }
}

#[test]
fn a_request_that_github_would_not_take_is_found() {
    use serde_json::json;

    let review = "/repos/me/project/pulls/7/reviews";
    let check = |method, path, body: Value| check(method, path, &[], Some(&body));
    assert_eq!(check("POST", review, json!({"body": "x", "event": "COMMENT"})), Ok(()));
    for (method, path, body) in [
        ("POST", review, json!({"body": "x", "event": "COMMENTED"})),
        ("POST", review, json!({"text": "x"})),
        ("POST", review, json!("x")),
        ("POST", "/repos/me/project/pulls/seven/reviews", json!({"body": "x"})),
        ("PUT", "/repos/me/project/pulls/7/reviews/1", json!("only the text")),
        ("PUT", "/repos/me/project/pulls/7/reviews/1", json!({})),
        ("PATCH", review, json!({"body": "x"})),
    ] {
        assert!(check(method, path, body.clone()).is_err(), "{method} {path} {body}");
    }
    let query = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
    let list = "/repos/me/project/pulls";
    assert_eq!(super::schemas::check("GET", list, &query("state", "open"), None), Ok(()));
    assert!(super::schemas::check("GET", list, &query("state", "any"), None).is_err());
    assert!(super::schemas::check("GET", list, &query("page", "one"), None).is_err());
    assert!(super::schemas::check("GET", list, &query("sha", "0000"), None).is_err());
}
