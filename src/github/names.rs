//! Names that GitHub gives, checked before they become a part of an address.

use std::fmt;
use std::str::FromStr;

/// The full name of a repository: `owner/name`. No other characters are in it than GitHub allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    owner: String,
    name: String,
}

impl Repository {
    /// The user or organisation.
    pub fn owner(&self) -> &str {
        &self.owner
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl FromStr for Repository {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allowed = |part: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !part.is_empty() && part.chars().all(known) && part.chars().any(|c| c != '.')
        };
        match text.split_once('/') {
            Some((owner, name)) if allowed(owner) && allowed(name) => {
                Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
            }
            _ => Err("that is no name of a repository; write it like owner/name".to_owned()),
        }
    }
}

/// The key of a report: reports with different keys stand side by side and do not touch each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The most characters of a key.
    const LONGEST: usize = 100;

    /// The key of a workflow: its name, with a dash for whatever a key cannot have.
    pub fn of_workflow(name: &str) -> Self {
        let plain = |c: char| if Self::may_have(c) { c } else { '-' };
        let text: String = name.chars().take(Self::LONGEST).map(plain).collect();
        if text.is_empty() { Self("bench-compare".to_owned()) } else { Self(text) }
    }

    fn may_have(c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.is_empty() && text.len() <= Self::LONGEST && text.chars().all(Self::may_have) {
            return Ok(Self(text.to_owned()));
        }
        Err("a key has letters, digits, `-`, `_` and `.`, and 100 of them at most".to_owned())
    }
}

/// Whether this is the full id of a commit.
pub fn is_commit(id: &str) -> bool {
    matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_github_gives_are_repositories() {
        for name in ["me/project", "a-b/c.d_e", "x/.github"] {
            assert_eq!(name.parse::<Repository>().unwrap().to_string(), name);
        }
        for name in
            ["", "me", "me/", "/x", "../..", "me/..", "a/b/c", "a/b?x", "a/b#x", "a b/c", "a/%2e"]
        {
            assert!(name.parse::<Repository>().is_err(), "{name}");
        }
    }

    #[test]
    fn any_workflow_has_a_key_that_can_stand_in_a_comment() {
        assert_eq!(Key::of_workflow("CI --> <b>x").to_string(), "CI------b-x");
        assert_eq!(Key::of_workflow("").to_string(), "bench-compare");
        let long = Key::of_workflow(&"ä".repeat(500));
        assert_eq!(long.to_string().parse(), Ok(long));
        for key in ["", "a b", "a>", "é"] {
            assert!(key.parse::<Key>().is_err(), "{key}");
        }
    }
}
