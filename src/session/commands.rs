//! The part that commands and prebuilt programs have in a comparison.

use crate::commands::{CommandEntry, CommandSide, CommandTaker, Only, TakenCommands};
use crate::model::PerSide;
use crate::revision::{Checkout, Repository};
use crate::system::{Error, Observer, Result};

use super::What;

/// Whether cargo's benchmarks are built: not where commands are all that there is.
pub fn wants_benches(what: &What, repository: &Repository, checkouts: &PerSide<Checkout>) -> bool {
    match what.commands.only {
        Some(only) => only == Only::Benches,
        None if what.commands.entries.is_empty() => true,
        None => {
            let has_manifest = |checkout: &Checkout| {
                let directory = checkout.root().join(repository.prefix());
                let mut above = directory.ancestors();
                above
                    .by_ref()
                    .take_while(|ancestor| ancestor.starts_with(checkout.root()))
                    .any(|ancestor| ancestor.join("Cargo.toml").is_file())
            };
            what.selection.manifest_path.is_some() || checkouts.values().any(has_manifest)
        }
    }
}

/// The commands in which programs have a part.
pub fn of_programs(entries: &[CommandEntry], observer: &dyn Observer) -> Result<Vec<CommandEntry>> {
    let (with, without): (Vec<CommandEntry>, Vec<CommandEntry>) =
        entries.iter().cloned().partition(|entry| entry.uses("bin"));
    if with.is_empty() {
        let why = match without.len() {
            0 => "no command is given or configured",
            _ => "`{bin}` occurs in none of the commands that are configured",
        };
        return Err(Error::usage("it is not known what to do with the programs")
            .because(why)
            .help(
                "write the command after `--`, with `{bin}` for the program: -- {bin} script.js",
            ));
    }
    for entry in without {
        observer
            .warn(&format!("`{}` is left out, because `{{bin}}` does not occur in it", entry.name));
    }
    Ok(with)
}

/// Makes commands ready on all sides, unless only cargo's benchmarks are wanted.
pub fn take_commands(
    what: &What,
    entries: &[CommandEntry],
    sides: &PerSide<CommandSide>,
    observer: &dyn Observer,
) -> Result<TakenCommands> {
    let taker = CommandTaker {
        sides,
        settings: &what.commands.settings,
        rules: &what.rules,
        timeout: what.timeout,
        observer,
    };
    match what.commands.only {
        Some(Only::Benches) => taker.take(&[]),
        _ => taker.take(entries),
    }
}
