//! The syntax of what is to be compared. Pure: no repository is needed.

use std::str::FromStr;

/// The most revisions that can be compared in one session: as many as can be kept in step.
pub const MOST_REVISIONS: usize = 16;

/// How the working tree is named in a list of revisions.
pub const WORKING_TREE: &str = ".";

/// What the user asked to compare.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Range {
    /// Nothing said: the merge base with the default branch against the working tree.
    #[default]
    SinceDefaultBranch,
    /// `A`: against the working tree with its uncommitted changes.
    AgainstWorkingTree(Named),
    /// `A..B`: the two revisions themselves.
    Between(String, String),
    /// `A...B`: the merge base of the two against B.
    SinceMergeBase(String, String),
    /// `A B C`: two or more, each compared with the first.
    Each(Vec<Named>),
}

/// A revision, and what the user calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What it is called in the report, if that is not its own name.
    pub label: Option<String>,
    /// What git takes for a revision, or [`WORKING_TREE`].
    pub revision: String,
}

impl Range {
    /// Reads what stands on the command line.
    pub fn from_words<S: AsRef<str>>(words: &[S]) -> Result<Self, String> {
        let words: Vec<&str> = words.iter().map(|word| word.as_ref().trim()).collect();
        match words[..] {
            [] => return Ok(Self::SinceDefaultBranch),
            [word] => return word.parse(),
            _ => {}
        }
        if words.len() > MOST_REVISIONS {
            return Err(format!(
                "{} revisions are too many; {MOST_REVISIONS} can be compared in one session",
                words.len()
            ));
        }
        if let Some(range) = words.iter().find(|word| is_range(word)) {
            return Err(format!(
                "`{range}` is a range, and stands alone; write a list of revisions like v1.0 main HEAD"
            ));
        }
        words.iter().map(|word| word.parse()).collect::<Result<_, _>>().map(Self::Each)
    }
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
            (None, None) => Self::AgainstWorkingTree(text.parse()?),
        };
        match &range {
            Self::AgainstWorkingTree(base) if base.revision == WORKING_TREE => Err(
                "`.` alone would compare the working tree with itself; write a list like main ."
                    .to_owned(),
            ),
            Self::Between(_, head) | Self::SinceMergeBase(_, head)
                if head.contains("..") || head.starts_with('.') =>
            {
                Err(format!("`{text}` has more than one `..`; write a range like main..HEAD"))
            }
            _ => Ok(range),
        }
    }
}

/// `label=revision`, or a revision alone. What git alone can read stays a revision: a label has none of
/// the characters `/:^~@{`, which leaves a way to name a branch that has `=` in its name (`refs/heads/a=b`).
impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (label, revision) = match text.split_once('=') {
            Some((label, revision)) if !label.contains(['/', ':', '^', '~', '@', '{']) => {
                (Some(label.trim()), revision.trim())
            }
            _ => (None, text),
        };
        match (label, revision) {
            (_, "") => Err(match label {
                Some(label) => format!("`{label}=` has no revision; write it like {label}=main"),
                None => "an empty revision; write a range like main..HEAD".to_owned(),
            }),
            (Some(""), revision) => {
                Err(format!("`={revision}` has no label; write it like base={revision}"))
            }
            (label, revision) => {
                Ok(Self { label: label.map(str::to_owned), revision: revision.to_owned() })
            }
        }
    }
}

/// Whether it is two revisions in one word. In `:/some text..` anything that follows is text.
fn is_range(word: &str) -> bool {
    word.contains("..") && !word.starts_with(":/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(label: Option<&str>, revision: &str) -> Named {
        Named { label: label.map(str::to_owned), revision: revision.to_owned() }
    }

    #[test]
    fn every_form_is_read() {
        let between = |a: &str, b: &str| Ok(Range::Between(a.to_owned(), b.to_owned()));
        let merge_base = |a: &str, b: &str| Ok(Range::SinceMergeBase(a.to_owned(), b.to_owned()));
        assert_eq!("main..HEAD".parse(), between("main", "HEAD"));
        assert_eq!("v1.0..".parse(), between("v1.0", "HEAD"));
        assert_eq!("..v1.0".parse(), between("HEAD", "v1.0"));
        assert_eq!("origin/main...topic".parse(), merge_base("origin/main", "topic"));
        assert_eq!("main...".parse(), merge_base("main", "HEAD"));
        assert_eq!("HEAD~1".parse(), Ok(Range::AgainstWorkingTree(named(None, "HEAD~1"))));
        assert_eq!("old=v1".parse(), Ok(Range::AgainstWorkingTree(named(Some("old"), "v1"))));
        assert_eq!(Range::from_words::<&str>(&[]), Ok(Range::SinceDefaultBranch));
        assert_eq!(Range::from_words(&["main..HEAD"]), between("main", "HEAD"));
    }

    #[test]
    fn a_list_has_revisions_labels_and_the_working_tree() {
        let list = ["v1.0", "push back=origin/a", "refs/heads/x=y", ":/fix a=b", "x=a=b", "mine=."];
        let expected = vec![
            named(None, "v1.0"),
            named(Some("push back"), "origin/a"),
            named(None, "refs/heads/x=y"),
            named(None, ":/fix a=b"),
            named(Some("x"), "a=b"),
            named(Some("mine"), "."),
        ];
        assert_eq!(Range::from_words(&list), Ok(Range::Each(expected)));
    }

    #[test]
    fn nonsense_is_refused_in_words() {
        for text in ["", "  ", "a..b..c", "a...b..c", "a....b"] {
            let message = text.parse::<Range>().unwrap_err();
            assert!(message.contains("main..HEAD"), "{text:?}: {message}");
        }
        for (words, message) in [
            (&["."][..], "`.` alone would compare the working tree with itself"),
            (&["a", ""], "an empty revision"),
            (&["a", "b="], "`b=` has no revision; write it like b=main"),
            (&["a", "=b"], "`=b` has no label; write it like base=b"),
            (&["a", "b..c"], "`b..c` is a range, and stands alone"),
            (&["a"; 17], "17 revisions are too many; 16 can be compared in one session"),
        ] {
            let refusal = Range::from_words(words).unwrap_err();
            assert!(refusal.contains(message), "{words:?}: {refusal}");
        }
    }

    proptest! {
        #[test]
        fn two_names_and_a_separator_are_read_back(a in "[a-z0-9/@~^-]{1,12}", b in "[a-z0-9/@~^-]{1,12}") {
            prop_assert_eq!(format!("{a}..{b}").parse(), Ok(Range::Between(a.clone(), b.clone())));
            prop_assert_eq!(format!("{a}...{b}").parse(), Ok(Range::SinceMergeBase(a.clone(), b.clone())));
            let list = Range::from_words(&[a.clone(), format!("label={b}")]);
            prop_assert_eq!(list, Ok(Range::Each(vec![named(None, &a), named(Some("label"), &b)])));
        }

        #[test]
        fn any_text_is_read_or_refused(words in proptest::collection::vec(".*", 0..4)) {
            let _ = Range::from_words(&words);
        }
    }
}
