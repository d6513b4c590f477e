//! The runner's end of the shared page.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::{CpuSet, futex, sched_getaffinity, sched_setaffinity};
use tempfile::TempDir;

use crate::model::Side;

use super::cores::Cores;
use super::{Turns, Unfit};

#[allow(dead_code)]
mod layout {
    include!("layout.rs");
}
use layout::{
    MOST_SIDES, NOBODY, PAGE_VARIABLE, Page, SPEED_VARIABLE, USER_PRELOAD_VARIABLE, state, unfit,
};

/// The compiled library; empty where it could not be compiled.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/preload.so"));

/// How long a side keeps the baton. Shorter than the samples of most benchmarks, so that the sides take turns
/// sample by sample.
const QUANTUM_NANOSECONDS: u32 = 300_000;

/// The preload library, written to a private directory.
#[derive(Debug)]
pub struct Preload {
    directory: TempDir,
    cores: RefCell<Cores>,
}

impl Preload {
    /// Writes the library. The error says why there can be no lock-step here.
    pub fn install() -> Result<Self, String> {
        if LIBRARY.is_empty() {
            return Err("this program was built without it".to_owned());
        }
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        // The dynamic linker splits its list of libraries there, and knows no quoting.
        if directory.path().as_os_str().as_bytes().iter().any(|byte| b" :".contains(byte)) {
            return Err(
                "the directory for temporary files has a space or colon in its name".to_owned()
            );
        }
        std::fs::write(library(directory.path()), LIBRARY).map_err(|error| error.to_string())?;
        let set = sched_getaffinity(None).map_err(|error| error.to_string())?;
        let allowed = (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect();
        Ok(Self { directory, cores: RefCell::new(Cores::new(allowed)) })
    }

    /// A baton for one launch group, on a core that other programs use little.
    pub fn baton(&self, random: &mut fastrand::Rng) -> std::io::Result<Baton> {
        let mut file = tempfile::NamedTempFile::new_in(shared_memory_directory(&self.directory))?;
        file.write_all(&[0; size_of::<Page>()])?;
        let page = Mapping::new(file.as_file())?;
        page.get().turn.store(NOBODY, Release);
        page.get().quantum.store(QUANTUM_NANOSECONDS, Release);
        // Without it any core will do.
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let core = self.cores.borrow_mut().choose(&stat, random);
        let attached = Arc::default();
        Ok(Baton { page, file, core, library: library(self.directory.path()), attached })
    }
}

fn library(directory: &Path) -> PathBuf {
    directory.join("bench_compare_preload.so")
}

/// A file on a real disk would be written back now and then.
fn shared_memory_directory(otherwise: &TempDir) -> &Path {
    let memory = Path::new("/dev/shm");
    if tempfile::tempfile_in(memory).is_ok() { memory } else { otherwise.path() }
}

/// What the sides of one launch group pass on among themselves.
#[derive(Debug)]
pub struct Baton {
    page: Mapping,
    file: tempfile::NamedTempFile,
    core: usize,
    library: PathBuf,
    /// How many processes were made a side, by position.
    attached: Arc<[AtomicU32; MOST_SIDES]>,
}

impl Baton {
    /// What makes a process one of the sides, or several processes one after the other.
    pub fn attachment(&self, side: Side) -> Attachment {
        let mut page = OsString::from(format!("{}:", side.position()));
        page.push(self.file.path());
        Attachment {
            page,
            library: self.library.clone(),
            core: self.core,
            position: side.position(),
            attached: Arc::clone(&self.attached),
        }
    }

    /// Makes a side stop at its next clock reading.
    pub fn expect(&self, side: Side) {
        self.side(side).state.store(state::ARRIVING, Release);
    }

    /// Whether it has stopped there.
    pub fn has_arrived(&self, side: Side) -> bool {
        self.side(side).state.load(Acquire) == state::WAITING
    }

    /// Lets those sides run that have arrived, the first of them first.
    pub fn begin(&self, sides: &[Side]) {
        let arrived = sides.iter().copied().filter(|side| self.has_arrived(*side));
        let arrived: Vec<Side> = arrived.collect();
        for side in &arrived {
            self.side(*side).state.store(state::IN_STEP, Release);
        }
        let first = arrived.first().map_or(NOBODY, |side| side.position() as u32);
        self.give_to(first);
    }

    /// Whether the side runs at present: it has the baton, or does not need it.
    pub fn can_run(&self, side: Side) -> bool {
        self.page.get().turn.load(Acquire) == side.position() as u32
            || self.side(side).state.load(Acquire) != state::IN_STEP
    }

    /// Takes a side out of the step, and the baton from it.
    pub fn set_free(&self, side: Side) {
        self.side(side).state.store(state::FREE, Release);
        self.mend();
        // It may be waiting for a turn that it does not need any more.
        wake(&self.page.get().turn);
    }

    /// Gives the baton on if the side that has it does not take part any more. A side may hand it to one
    /// that was set free at that very moment, so this is to be called now and then.
    pub fn mend(&self) {
        let page = self.page.get();
        let holder = page.turn.load(Acquire);
        let in_step = |side: usize| page.sides[side].state.load(Acquire) == state::IN_STEP;
        if (holder as usize) < MOST_SIDES && in_step(holder as usize) {
            return;
        }
        let next = (0..MOST_SIDES).find(|side| in_step(*side));
        let next = next.map_or(NOBODY, |side| side as u32);
        if next != holder && page.turn.compare_exchange(holder, next, AcqRel, Relaxed).is_ok() {
            wake(&page.turn);
        }
    }

    /// How long the sides' turns took so far, and for how long of that other programs had the core.
    pub fn turns(&self) -> Turns {
        let sides = &self.page.get().sides;
        let sum = |time: fn(&layout::SidePage) -> &AtomicU64| {
            Duration::from_nanos(sides.iter().map(|side| time(side).load(Relaxed)).sum())
        };
        Turns { total: sum(|side| &side.turns), taken: sum(|side| &side.taken) }
    }

    /// Why the side should not be measured in step. Its process, if it has one, must have begun to run.
    pub fn unfit(&self, side: Side) -> Option<Unfit> {
        let attached = self.attached[side.position()].load(Acquire);
        let side = self.side(side);
        if side.loaded.load(Acquire) < attached {
            return Some(Unfit::NotLoaded);
        }
        match side.unfit.load(Acquire) {
            0 => None,
            reasons if reasons & unfit::THREAD != 0 => Some(Unfit::Threads),
            reasons if reasons & unfit::FORK != 0 => Some(Unfit::Forks),
            _ => Some(Unfit::Sleeps),
        }
    }

    fn give_to(&self, side: u32) {
        self.page.get().turn.store(side, Release);
        wake(&self.page.get().turn);
    }

    fn side(&self, side: Side) -> &layout::SidePage {
        &self.page.get().sides[side.position()]
    }
}

fn wake(futex_word: &AtomicU32) {
    // There is nothing to be done about a wake-up that fails; waiters look by themselves too.
    let _ = futex::wake(futex_word, futex::Flags::empty(), i32::MAX as u32);
}

/// Environment and core of a process that is to be kept in step.
#[derive(Debug, Clone)]
pub struct Attachment {
    page: OsString,
    library: PathBuf,
    core: usize,
    position: usize,
    attached: Arc<[AtomicU32; MOST_SIDES]>,
}

impl Attachment {
    /// Makes the command's process a side of the baton that this belongs to.
    pub fn attach(&self, command: &mut Command) {
        self.attach_with_speed(command, 1);
    }

    /// The same, with clocks that go so many times faster than time itself: for harnesses that cannot be told
    /// to measure for a shorter time. What it measures is as many times longer than it was.
    #[allow(unsafe_code)]
    pub fn attach_with_speed(&self, command: &mut Command, speed: u32) {
        self.attached[self.position].fetch_add(1, AcqRel);
        let name = |name: &std::ffi::CStr| OsStr::from_bytes(name.to_bytes()).to_owned();
        let mut libraries = self.library.clone().into_os_string();
        // Given by the launch's environment, not by this program's.
        let user = command.get_envs().find(|(name, _)| *name == "LD_PRELOAD");
        if let Some(user) = user.and_then(|(_, value)| value).map(OsStr::to_owned) {
            libraries.push(" ");
            libraries.push(&user);
            command.env(name(USER_PRELOAD_VARIABLE), user);
        }
        command.env("LD_PRELOAD", libraries).env(name(PAGE_VARIABLE), &self.page);
        // Always there: the size of the environment can shift the stack.
        command.env(name(SPEED_VARIABLE), speed.to_string());
        let core = self.core;
        let pin = move || {
            let mut cores = CpuSet::new();
            cores.set(core);
            // A core that has gone offline meanwhile is no reason to fail.
            let _ = sched_setaffinity(None, &cores);
            Ok(())
        };
        // SAFETY: between fork and exec one system call is made, and nothing is allocated.
        unsafe { command.pre_exec(pin) };
    }
}

/// The shared page in this process.
#[derive(Debug)]
struct Mapping(NonNull<Page>);

#[allow(unsafe_code)]
impl Mapping {
    fn new(file: &File) -> std::io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours. The file is
        // as long as the page.
        let address = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                size_of::<Page>(),
                access,
                MapFlags::SHARED,
                file,
                0,
            )?
        };
        NonNull::new(address.cast())
            .map(Self)
            .ok_or_else(|| std::io::Error::other("mmap gave null"))
    }

    fn get(&self) -> &Page {
        // SAFETY: the mapping lives as long as `self`, is aligned to a memory page, and consists of atomics,
        // and of padding that nobody reads, so that other processes may write to it at any time.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Mapping {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.0.as_ptr().cast(), size_of::<Page>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baton() -> (Preload, Baton) {
        let preload = Preload::install().expect("the library was compiled for this system");
        let baton = preload.baton(&mut fastrand::Rng::with_seed(1)).unwrap();
        (preload, baton)
    }

    fn sides(count: usize) -> Vec<Side> {
        Side::first(count).collect()
    }

    /// As the library in a process does at its first clock reading.
    fn arrive(baton: &Baton, side: Side) {
        baton.expect(side);
        assert!(!baton.has_arrived(side));
        baton.side(side).state.store(state::WAITING, Release);
        assert!(baton.has_arrived(side));
    }

    fn holder(baton: &Baton) -> u32 {
        baton.page.get().turn.load(Acquire)
    }

    #[test]
    fn the_first_side_begins_and_only_it_can_run() {
        let (_preload, baton) = baton();
        let sides = sides(3);
        sides.iter().for_each(|side| arrive(&baton, *side));
        baton.begin(&[sides[1], sides[0], sides[2]]);
        assert_eq!(holder(&baton), 1);
        assert_eq!(
            sides.iter().map(|side| baton.can_run(*side)).collect::<Vec<_>>(),
            [false, true, false]
        );
    }

    #[test]
    fn a_side_that_is_set_free_gives_the_baton_on_and_runs() {
        let (_preload, baton) = baton();
        let sides = sides(2);
        sides.iter().for_each(|side| arrive(&baton, *side));
        baton.begin(&sides);
        baton.set_free(sides[0]);
        assert_eq!(holder(&baton), 1);
        assert!(baton.can_run(sides[0]) && baton.can_run(sides[1]));
        baton.set_free(sides[1]);
        assert_eq!(holder(&baton), NOBODY);
    }

    #[test]
    fn a_baton_that_was_handed_to_a_side_that_left_is_taken_back() {
        let (_preload, baton) = baton();
        let sides = sides(2);
        sides.iter().for_each(|side| arrive(&baton, *side));
        baton.begin(&sides);
        baton.set_free(sides[1]);
        // The first side had not seen that yet.
        baton.page.get().turn.store(1, Release);
        baton.mend();
        assert_eq!(holder(&baton), 0);
    }

    #[test]
    fn sides_that_did_not_arrive_take_no_part() {
        let (_preload, baton) = baton();
        let sides = sides(2);
        arrive(&baton, sides[1]);
        baton.begin(&sides);
        assert_eq!(holder(&baton), 1);
        assert!(baton.can_run(sides[0]), "nothing holds it back");
    }

    #[test]
    fn what_makes_a_side_unfit_is_told() {
        let (_preload, baton) = baton();
        let side = Side::REFERENCE;
        assert_eq!(baton.unfit(side), None, "no process was started");
        baton.attachment(side).attach(&mut Command::new("true"));
        assert_eq!(baton.unfit(side), Some(Unfit::NotLoaded));
        baton.side(side).loaded.store(1, Release);
        assert_eq!(baton.unfit(side), None);
        // One of its later processes does not load it.
        baton.attachment(side).attach(&mut Command::new("true"));
        assert_eq!(baton.unfit(side), Some(Unfit::NotLoaded));
        baton.side(side).loaded.store(2, Release);
        baton.side(side).unfit.store(unfit::SLEEP, Release);
        assert_eq!(baton.unfit(side), Some(Unfit::Sleeps));
        baton.side(side).unfit.store(unfit::SLEEP | unfit::FORK, Release);
        assert_eq!(baton.unfit(side), Some(Unfit::Forks));
        baton.side(side).unfit.store(unfit::SLEEP | unfit::THREAD, Release);
        assert_eq!(baton.unfit(side), Some(Unfit::Threads));
    }
}
