//! The environment variables by which git finds a repository.

use std::process::Command;

/// Variables by which git hooks and aliases tie a git command to one repository. They must not reach
/// commands for other worktrees. (`git rev-parse --local-env-vars`, without those that carry the user's
/// configuration, such as `safe.directory` in a container.)
const REPOSITORY_VARIABLES: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Makes a command find the repository by the directory that it runs in. Within a git hook it would be told
/// another one.
pub fn untie(command: &mut Command) {
    for variable in REPOSITORY_VARIABLES {
        command.env_remove(variable);
    }
}
