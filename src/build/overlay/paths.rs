//! Paths of one checkout seen from another. Pure: no file is looked at.

use std::path::{Component, Path, PathBuf};

/// The way from one directory to another place; both absolute and without `..`.
pub fn from_to(from: &Path, to: &Path) -> PathBuf {
    let (mut from, mut to) = (from.components().peekable(), to.components().peekable());
    while let (Some(a), Some(b)) = (from.peek(), to.peek())
        && a == b
    {
        _ = (from.next(), to.next());
    }
    let way: PathBuf = from.map(|_| Component::ParentDir).chain(to).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

/// As manifests write paths, on every system.
pub fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_up_and_down() {
        let way = |from: &str, to: &str| slashes(&from_to(Path::new(from), Path::new(to)));
        assert_eq!(way("/a/b", "/a/b/c/d"), "c/d");
        assert_eq!(way("/a/b/c", "/a/x"), "../../x");
        assert_eq!(way("/a", "/a"), ".");
    }
}
