//! The syntax of revision ranges. Pure: no repository is needed.

use std::str::FromStr;

/// What the user asked to compare.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Range {
    /// Nothing said: the merge base with the default branch against the working tree.
    #[default]
    SinceDefaultBranch,
    /// `A`: against the working tree with its uncommitted changes.
    AgainstWorkingTree(String),
    /// `A..B`: the two revisions themselves.
    Between(String, String),
    /// `A...B`: the merge base of the two against B.
    SinceMergeBase(String, String),
}

/// As git does, an end that is left out means HEAD.
impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let or_head = |end: &str| if end.is_empty() { "HEAD" } else { end }.to_owned();
        let range = match (text.split_once("..."), text.split_once("..")) {
            (Some((base, head)), _) => Self::SinceMergeBase(or_head(base), or_head(head)),
            (None, Some((base, head))) => Self::Between(or_head(base), or_head(head)),
            (None, None) => Self::AgainstWorkingTree(text.to_owned()),
        };
        match &range {
            Self::AgainstWorkingTree(base) if base.is_empty() => {
                Err("an empty revision; write a range like main..HEAD".to_owned())
            }
            Self::Between(_, head) | Self::SinceMergeBase(_, head)
                if head.contains("..") || head.starts_with('.') =>
            {
                Err(format!("`{text}` has more than one `..`; write a range like main..HEAD"))
            }
            _ => Ok(range),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_is_read() {
        let between = |a: &str, b: &str| Ok(Range::Between(a.to_owned(), b.to_owned()));
        let merge_base = |a: &str, b: &str| Ok(Range::SinceMergeBase(a.to_owned(), b.to_owned()));
        assert_eq!("main..HEAD".parse(), between("main", "HEAD"));
        assert_eq!("v1.0..".parse(), between("v1.0", "HEAD"));
        assert_eq!("..v1.0".parse(), between("HEAD", "v1.0"));
        assert_eq!("origin/main...topic".parse(), merge_base("origin/main", "topic"));
        assert_eq!("main...".parse(), merge_base("main", "HEAD"));
        assert_eq!("HEAD~1".parse(), Ok(Range::AgainstWorkingTree("HEAD~1".to_owned())));
    }

    #[test]
    fn nonsense_is_refused_in_words() {
        for text in ["", "  ", "a..b..c", "a...b..c", "a....b"] {
            let message = text.parse::<Range>().unwrap_err();
            assert!(message.contains("main..HEAD"), "{text:?}: {message}");
        }
    }

    proptest! {
        #[test]
        fn two_names_and_a_separator_are_read_back(a in "[a-z0-9/@~^-]{1,12}", b in "[a-z0-9/@~^-]{1,12}") {
            prop_assert_eq!(format!("{a}..{b}").parse(), Ok(Range::Between(a.clone(), b.clone())));
            prop_assert_eq!(format!("{a}...{b}").parse(), Ok(Range::SinceMergeBase(a, b)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = text.parse::<Range>();
        }
    }
}
