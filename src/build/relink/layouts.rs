//! A new random code layout for every launch.
//!
//! Where functions lie in memory alone makes a program up to a few percent faster or slower, and any change moves
//! them. If every launch has another layout, that becomes noise that the statistics know of, instead of a
//! difference that looks real.
//!
//! In: the links of all programs that are measured. Out: for each launch group one executable a side, linked before
//! anything of the group is measured and removed after it. Decides nothing about what is measured.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::link::{Fixed, Link, Shuffle, layout_path};
use crate::model::{LayoutSeed, Side, TargetName};
use crate::system::Result;

/// The most that executables for later groups may take on disk: whoever has many large ones links them one group
/// after the other.
const MOST_BYTES_AHEAD: u64 = 256 << 20;

/// What differences it means if layouts are not varied, in words.
const CONSEQUENCE: &str = "differences below about 3 % may come from where the code lies in memory";

/// One program and how it is linked.
#[derive(Debug)]
pub struct Relinkable {
    /// Its target.
    pub target: TargetName,
    /// Its side.
    pub side: Side,
    /// The executable as cargo built it.
    pub executable: PathBuf,
    /// How that was linked; `None` if nobody saw it.
    pub link: Option<Link>,
}

/// A program whose layout can be varied.
#[derive(Debug)]
struct Linkable {
    executable: PathBuf,
    link: Link,
    shuffle: Shuffle,
    bytes: u64,
}

/// An executable with a layout of its own. It is removed when this is dropped.
#[derive(Debug)]
struct Relinked {
    seed: LayoutSeed,
    path: PathBuf,
    bytes: u64,
}

impl Drop for Relinked {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Executables with random layouts, for launch group after launch group.
#[derive(Debug, Default)]
pub struct Layouts {
    seed: u64,
    cores: usize,
    linkable: HashMap<TargetName, BTreeMap<Side, Linkable>>,
    /// Those of the current group of each target, and of later ones.
    ready: HashMap<TargetName, BTreeMap<u32, BTreeMap<Side, Relinked>>>,
    /// How many names were given so far.
    names: u64,
}

impl Layouts {
    /// Tries whether the programs can be linked anew. Gives notes on those that cannot; where a program of one side
    /// cannot, none of its target is.
    ///
    /// `seed` is the seed of all layouts.
    pub fn new(programs: Vec<Relinkable>, seed: u64) -> Result<(Self, Vec<String>)> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut layouts = Self { seed, cores, ..Self::default() };
        // Made first, so that whatever a failed link leaves is removed.
        let mut first: Vec<Relinked> = Vec::new();
        for program in &programs {
            let bytes = fs_err::metadata(&program.executable).map_or(0, |metadata| metadata.len());
            let seed = seed_of_launch(seed, &program.target, program.side, 0);
            first.push(Relinked { seed, path: layouts.new_path(&program.executable), bytes });
        }
        let probed = in_parallel(cores, &programs, |position, program| match &program.link {
            Some(link) => {
                let Relinked { seed, path, .. } = &first[position];
                let probed = link.probe(&program.executable, *seed, path)?;
                // Those of all targets may be too many to be kept until their turn.
                let so_far: u64 = first[..=position].iter().map(|relinked| relinked.bytes).sum();
                if so_far > MOST_BYTES_AHEAD {
                    let _ = std::fs::remove_file(path);
                }
                Ok(probed)
            }
            None => Ok(Err(Fixed::NotSeen)),
        })?;
        let fixed = by_reason(&programs, &probed);
        let is_fixed =
            |target: &TargetName| fixed.iter().any(|(_, targets)| targets.contains(target));
        let all = programs.iter().all(|program| is_fixed(&program.target));
        let notes =
            fixed.iter().map(|(why, targets)| note(why, if all { &[] } else { targets })).collect();
        for ((program, shuffle), relinked) in programs.into_iter().zip(probed).zip(first) {
            let (Some(link), Ok(shuffle)) = (program.link, shuffle) else { continue };
            if is_fixed(&program.target) {
                continue;
            }
            let (target, side) = (program.target, program.side);
            let linkable =
                Linkable { executable: program.executable, link, shuffle, bytes: relinked.bytes };
            layouts.linkable.entry(target.clone()).or_default().insert(side, linkable);
            if relinked.path.is_file() {
                layouts
                    .ready
                    .entry(target)
                    .or_default()
                    .entry(0)
                    .or_default()
                    .insert(side, relinked);
            }
        }
        Ok((layouts, notes))
    }

    /// Makes the executables of a launch group ready, and those of some later groups where that goes on at the same
    /// time. Those of earlier groups are removed. Gives the seeds, and a note if linking fails: from then on
    /// the target is launched as it was built.
    pub fn prepare(
        &mut self,
        target: &TargetName,
        number: u32,
    ) -> Result<(BTreeMap<Side, LayoutSeed>, Option<String>)> {
        let ready = self.ready.entry(target.clone()).or_default();
        *ready = ready.split_off(&number);
        if !self.linkable.contains_key(target) {
            return Ok((BTreeMap::new(), None));
        }
        let is_complete =
            ready.get(&number).is_some_and(|group| group.len() == self.linkable[target].len());
        let problem = if is_complete { None } else { self.link(target, number)? };
        if problem.is_some() {
            self.linkable.remove(target);
            self.ready.remove(target);
        }
        let group = self.ready.get(target).and_then(|ready| ready.get(&number));
        let seeds =
            group.into_iter().flatten().map(|(side, relinked)| (*side, relinked.seed)).collect();
        Ok((seeds, problem))
    }

    /// The executable of the group that was made ready last, if it has another than the one that was built.
    pub fn executable(&self, target: &TargetName, side: Side) -> Option<&Path> {
        let (_, group) = self.ready.get(target)?.first_key_value()?;
        Some(&group.get(&side)?.path)
    }

    /// Links from this group on as many as can be linked at once.
    fn link(&mut self, target: &TargetName, number: u32) -> Result<Option<String>> {
        let sides = &self.linkable[target];
        let bytes: u64 = sides.values().map(|linkable| linkable.bytes).sum();
        let there: u64 = self
            .ready
            .values()
            .flat_map(BTreeMap::values)
            .flat_map(BTreeMap::values)
            .map(|r| r.bytes)
            .sum();
        let affordable = MOST_BYTES_AHEAD.saturating_sub(there) / bytes.max(1);
        let groups = (self.cores / sides.len()).min(affordable as usize).max(1) as u32;
        let mut jobs: Vec<(u32, Side, PathBuf)> = Vec::new();
        for number in number..number.saturating_add(groups) {
            for (side, linkable) in sides {
                jobs.push((number, *side, layout_path(&linkable.executable, self.names)));
                self.names += 1;
            }
        }
        let results = in_parallel(self.cores, &jobs, |_, (number, side, path)| {
            let linkable = &sides[side];
            let seed = seed_of_launch(self.seed, target, *side, *number);
            // Made first, so that whatever a failed link leaves is removed.
            let relinked = Relinked { seed, path: path.clone(), bytes: linkable.bytes };
            Ok(linkable.link.relink(linkable.shuffle, seed, path)?.map(|()| relinked))
        })?;
        let ready = self.ready.entry(target.clone()).or_default();
        for ((number, side, _), result) in jobs.into_iter().zip(results) {
            match result {
                Ok(relinked) => _ = ready.entry(number).or_default().insert(side, relinked),
                Err(why) => {
                    return Ok(Some(format!(
                        "from launch {} on the code layout of `{target}` is not varied, because linking failed \
                         ({why}): {CONSEQUENCE}",
                        number + 1
                    )));
                }
            }
        }
        Ok(None)
    }

    fn new_path(&mut self, executable: &Path) -> PathBuf {
        self.names += 1;
        layout_path(executable, self.names - 1)
    }
}

/// The targets that cannot be linked anew, each once, by reason.
fn by_reason(
    programs: &[Relinkable],
    probed: &[std::result::Result<Shuffle, Fixed>],
) -> Vec<(Fixed, Vec<TargetName>)> {
    let mut reasons: Vec<(Fixed, Vec<TargetName>)> = Vec::new();
    for (program, probed) in programs.iter().zip(probed) {
        let Err(why) = probed else { continue };
        if reasons.iter().any(|(_, targets)| targets.contains(&program.target)) {
            continue;
        }
        // What linkers say has numbers in it.
        let is_like = |other: &Fixed| std::mem::discriminant(other) == std::mem::discriminant(why);
        match reasons.iter_mut().find(|(other, _)| is_like(other)) {
            Some((_, targets)) => targets.push(program.target.clone()),
            None => reasons.push((why.clone(), vec![program.target.clone()])),
        }
    }
    reasons
}

fn note(why: &Fixed, targets: &[TargetName]) -> String {
    let of = match targets {
        [] => String::new(),
        targets => {
            let names: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
            format!(" of {}", names.join(", "))
        }
    };
    format!("code layouts{of} are not varied, because {why}: {CONSEQUENCE}")
}

/// The seed of one launch: whatever else is measured or is not, it stays the same.
fn seed_of_launch(seed: u64, target: &TargetName, side: Side, number: u32) -> LayoutSeed {
    // FNV-1a, which is the same everywhere and for ever.
    let text = format!("{seed}\0{target}\0{}\0{number}", side.position());
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    LayoutSeed::from_number(fastrand::Rng::with_seed(hash).u64(..))
}

/// Does the same with each of several things, on so many threads. The first error is the whole's.
fn in_parallel<T: Sync, R: Send>(
    threads: usize,
    things: &[T],
    action: impl Fn(usize, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<R>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(things.len()) {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    let Some(thing) = things.get(position) else { break };
                    let result = action(position, thing);
                    done.lock().expect("no thread panics with the lock").push((position, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics with the lock");
    done.sort_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> TargetName {
        TargetName { package: "p".to_owned(), target: name.to_owned() }
    }

    #[test]
    fn seeds_differ_from_launch_to_launch_and_do_not_depend_on_what_else_there_is() {
        let mut seeds = Vec::new();
        for name in ["t", "u"] {
            for side in Side::first(3) {
                seeds.extend((0..40).map(|number| seed_of_launch(7, &target(name), side, number)));
            }
        }
        let distinct: std::collections::HashSet<_> = seeds.iter().collect();
        assert_eq!(distinct.len(), seeds.len());
        assert_eq!(seed_of_launch(7, &target("t"), Side::REFERENCE, 0), seeds[0]);
        assert_ne!(seed_of_launch(8, &target("t"), Side::REFERENCE, 0), seeds[0]);
    }

    #[test]
    fn what_was_never_seen_to_be_linked_is_said_once_with_the_consequence() {
        let program = |name: &str, side| Relinkable {
            target: target(name),
            side,
            executable: PathBuf::from("/nowhere/t-0123456789abcdef"),
            link: None,
        };
        let programs: Vec<Relinkable> = ["t", "u"]
            .into_iter()
            .flat_map(|name| Side::first(2).map(move |side| program(name, side)))
            .collect();
        let (mut layouts, notes) = Layouts::new(programs, 1).unwrap();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("code layouts are not varied, because"), "{}", notes[0]);
        assert!(notes[0].contains("3 %"));
        assert_eq!(layouts.prepare(&target("t"), 0).unwrap(), (BTreeMap::new(), None));
        assert_eq!(layouts.executable(&target("t"), Side::REFERENCE), None);
    }

    #[test]
    fn things_done_in_parallel_keep_their_order() {
        let things: Vec<usize> = (0..50).collect();
        assert_eq!(in_parallel(4, &things, |_, thing| Ok(thing * 2)).unwrap()[49], 98);
        let failed = in_parallel(4, &things, |_, thing| match thing {
            7 => Err(crate::system::Error::comparison("seven")),
            _ => Ok(()),
        });
        assert_eq!(failed.unwrap_err().to_string(), "seven");
    }
}
