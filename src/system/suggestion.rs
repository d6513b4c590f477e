//! What somebody may have meant who wrote a name that there is not. Pure.

use super::Error;

/// The names that are much like the one that was written, the nearest first. Of a name with slashes its last
/// part counts too.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| {
            let last = name.rsplit('/').next().unwrap_or(name);
            let similarity =
                strsim::jaro_winkler(written, name).max(strsim::jaro_winkler(written, last));
            (similarity, name)
        })
        .filter(|(similarity, _)| *similarity >= 0.75)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.into_iter().map(|(_, name)| name).collect()
}

/// The nearest of the names, or else all of them, as help for whoever wrote another one.
pub fn nearest_or_all<'a>(
    written: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    match nearest(written, names.clone()).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let all: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
            format!("there are: {}", all.join(", "))
        }
    }
}

/// Adds the known name that is nearest to an unknown one, or all if none is near.
pub fn with_suggestion<'a>(
    error: Error,
    unknown: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Error {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    if known.is_empty() {
        return error;
    }
    error.help(nearest_or_all(unknown, known.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_much_like_another_is_taken_for_a_slip() {
        assert_eq!(nearest("mian", ["main", "topic"]), ["main"]);
        assert_eq!(nearest("topic", ["feature/topic", "main"]), ["feature/topic"]);
        assert_eq!(nearest_or_all("mian", ["main", "topic"]), "did you mean `main`?");
        assert_eq!(nearest_or_all("xyz", ["main", "topic"]), "there are: `main`, `topic`");
    }
}
