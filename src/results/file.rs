//! Reading and writing the results file.

use std::io::Write;
use std::path::Path;

use crate::model::{MOST_LAUNCHES, is_quantity};
use crate::system::{Error, Result};

use super::schema::{Measured, Method, Results, SCHEMA_VERSION};
use crate::model::is_margin;

/// The most runs that can be merged.
pub const MOST_PARTS: usize = 1000;

impl Results {
    /// Writes the file in one step: a crash leaves the old one or the new one.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.try_save(path).map_err(|error| {
            let full = error.kind() == std::io::ErrorKind::StorageFull;
            let error =
                Error::comparison(format!("cannot write {}", path.display())).because(error);
            if full { error.help("the disk is full; free some space") } else { error }
        })
    }

    fn try_save(&self, path: &Path) -> std::io::Result<()> {
        // A symbolic link stays one: what it points at is replaced.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut file = tempfile::Builder::new()
            .prefix(".cargo-bench-compare-")
            .permissions_of_a_new_file()
            .tempfile_in(directory.unwrap_or(Path::new(".")))?;
        file.write_all(self.to_json().as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// The file's content.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("results can be written as JSON");
        json.push('\n');
        json
    }

    /// Reads a file that [`save`](Self::save) has written, by whatever version of this program that
    /// writes the same format. If the run did not come to its end, what its journal has beyond the file is taken in.
    pub fn load(path: &Path) -> Result<Self> {
        let text = fs_err::read_to_string(path)
            .map_err(|error| Error::usage("cannot read the results").because(error))?;
        let read = || {
            let mut results = Self::parse(&text)?;
            if !results.complete {
                results.take_in_journal(path);
            }
            results.checked_and_derived()
        };
        read().map_err(|error| error.on_side(path.display()))
    }

    /// Reads the content of a results file.
    pub fn from_json(text: &str) -> Result<Self> {
        Self::parse(text)?.checked_and_derived()
    }

    fn parse(text: &str) -> Result<Self> {
        #[derive(serde::Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let not_ours = |error: serde_json::Error| {
            Error::usage("not a results file of cargo-bench-compare")
                .because(error)
                .help("`cargo bench-compare main..HEAD --save results.json` writes one")
        };
        let Version { schema_version } = serde_json::from_str(text).map_err(not_ours)?;
        if schema_version != SCHEMA_VERSION {
            return Err(Error::usage(format!(
                "the format has version {schema_version}, and this program reads {SCHEMA_VERSION}"
            ))
            .help("use the version of cargo-bench-compare that wrote it"));
        }
        serde_json::from_str(text).map_err(not_ours)
    }

    fn checked_and_derived(mut self) -> Result<Self> {
        self.check().map_err(|what| {
            Error::usage("the results contradict themselves")
                .because(what)
                .help("make the comparison again")
        })?;
        // Whatever the file says of them, and with what this version knows.
        self.derive_comparisons();
        Ok(self)
    }

    /// Whether comparisons can be derived from it: what is wrong, in words.
    fn check(&self) -> std::result::Result<(), String> {
        let count = self.revisions.len();
        if count < 2 {
            return Err("there are fewer than two revisions".to_owned());
        }
        if self.parts.len() > MOST_PARTS {
            return Err(format!("there are more than {MOST_PARTS} runs"));
        }
        if !is_margin(self.margin_percent) {
            return Err(format!("a margin of {} is none", self.margin_percent));
        }
        self.measured.iter().try_for_each(|measured| {
            let name = format!("{}::{}::{}", measured.package, measured.target, measured.benchmark);
            check_measured(measured, count, self.parts.len())
                .map_err(|what| format!("{name}: {what}"))
        })
    }
}

fn check_measured(
    measured: &Measured,
    revisions: usize,
    parts: usize,
) -> std::result::Result<(), String> {
    if measured.identical.iter().any(|position| !(1..revisions).contains(position)) {
        return Err("a revision with identical code is none of the revisions".to_owned());
    }
    if let Some(margin) = measured.margin_percent.filter(|margin| !is_margin(*margin)) {
        return Err(format!("a margin of {margin} is none"));
    }
    for same in &measured.same_code {
        let are_others = [same.revision, same.measured_as]
            .iter()
            .all(|position| (1..revisions).contains(position));
        let is_measured = measured.measured_as(same.measured_as) == same.measured_as;
        if !are_others || !is_measured || measured.identical.contains(&same.revision) {
            return Err(
                "a revision with the code of another one has none to stand for it".to_owned()
            );
        }
    }
    let mut launches = vec![0u32; parts.max(1)];
    for launch in &measured.launches {
        let Some(count) = launches.get_mut(launch.part) else {
            return Err(format!("launch {} belongs to a run that there is not", launch.group));
        };
        *count += 1;
        if *count > MOST_LAUNCHES {
            return Err(format!("there are more than {MOST_LAUNCHES} launches"));
        }
    }
    for launch in &measured.launches {
        if launch.values.len() != revisions {
            let values = launch.values.len();
            return Err(format!(
                "launch {} has {values} values for {revisions} revisions",
                launch.group
            ));
        }
        let can_be =
            |value: f64| is_quantity(value) || (launch.method == Method::Count && value == 0.0);
        if let Some(value) = launch.values.iter().flatten().find(|value| !can_be(**value)) {
            return Err(format!("launch {} has the value {value}", launch.group));
        }
    }
    Ok(())
}

/// Temporary files are private, but results are as readable as any new file.
trait PermissionsOfANewFile {
    fn permissions_of_a_new_file(&mut self) -> &mut Self;
}

impl PermissionsOfANewFile for tempfile::Builder<'_, '_> {
    #[cfg(unix)]
    fn permissions_of_a_new_file(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        // The process's umask takes away from this, as from every new file.
        self.permissions(std::fs::Permissions::from_mode(0o666))
    }

    #[cfg(not(unix))]
    fn permissions_of_a_new_file(&mut self) -> &mut Self {
        self
    }
}
