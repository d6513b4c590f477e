//! Whether files can be written, asked before the work whose results they are to hold.

use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::path::Path;

use crate::system::{Error, Result};

/// Fails if the results cannot be saved in the one, or shown in the other.
pub fn check(save: Option<&Path>, output: Option<&Path>) -> Result<()> {
    let checks =
        [("--save", save, can_be_replaced as fn(&Path) -> _), ("--output", output, can_be_written)];
    for (option, file, check) in checks {
        if let Some(file) = file {
            check(file).map_err(|error| {
                Error::usage(format!("cannot write {}", file.display()))
                    .because(error)
                    .help(format!("name a file in a directory that exists with {option}"))
            })?;
        }
    }
    Ok(())
}

/// Results are saved as a new file that takes the old one's place.
fn can_be_replaced(file: &Path) -> IoResult<()> {
    match std::fs::metadata(file) {
        Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // A device would be replaced by a file.
        Ok(metadata) if !metadata.is_file() => Err(IoError::other("it is no regular file")),
        _ => can_be_created(file),
    }
}

/// Output may go anywhere, to a pipe or a device too; those are not opened twice.
fn can_be_written(file: &Path) -> IoResult<()> {
    match std::fs::metadata(file) {
        Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => Ok(()),
        Ok(_) => std::fs::OpenOptions::new().append(true).open(file).map(drop),
        Err(_) => can_be_created(file),
    }
}

fn can_be_created(file: &Path) -> IoResult<()> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    tempfile::tempfile_in(parent.unwrap_or(Path::new("."))).map(drop)
}
