//! Paths as texts. Pure.

use std::path::{Component, Path, PathBuf};

/// Resolves `.` and `..` in the text of a path, as cargo does.
pub fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = normal.pop(),
            other => normal.push(other),
        }
    }
    normal
}
