//! One resolution of dependencies for all sides where Cargo.lock is not committed.
//!
//! Without it, base and head could be built with different versions of their dependencies, and the
//! difference would be reported as theirs.

use std::path::Path;

use fs_err as fs;

use crate::error::Result;
use crate::side::PerSide;

use super::Workspace;

/// Gives the user's own, uncommitted Cargo.lock to every side that has none. Where the user has none
/// either, a later side gets the first one's, see [`copy_if_missing`].
pub(super) fn share(user_root: Option<&Path>, workspaces: &PerSide<Workspace>) -> Result<()> {
    for workspace in workspaces.values() {
        if let Some(root) = user_root {
            copy_if_missing(root, &workspace.root)?;
        }
    }
    Ok(())
}

/// Copies the Cargo.lock of one workspace root to another that has none.
pub fn copy_if_missing(from: &Path, to: &Path) -> Result<()> {
    let (from, to) = (from.join("Cargo.lock"), to.join("Cargo.lock"));
    if from.is_file() && !to.exists() {
        fs::copy(from, to)?;
    }
    Ok(())
}
