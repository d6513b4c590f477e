//! The library that is preloaded into bench processes, to keep them in step.
//!
//! It stands between the process and the C library's clock. Sides pass a baton at their clock readings, about
//! every millisecond, so that only one of them runs at any time, and the time that a side has waited is taken
//! off the clocks that it sees. Unmodified benchmarks are interleaved that way, far finer than processes
//! could be.
//!
//! Compiled by `build.rs` into a library of its own, without Rust's standard library: it must not have a
//! runtime inside another program.

#![no_std]
#![allow(clippy::missing_safety_doc)]

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::ptr::{addr_of, addr_of_mut, null, null_mut};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

// Each of the two programs needs another part of it.
#[allow(dead_code)]
mod layout {
    include!("layout.rs");
}
use layout::{
    MOST_SIDES, PAGE_VARIABLE, Page, SPEED_VARIABLE, SidePage, USER_PRELOAD_VARIABLE, state, unfit,
};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}

#[repr(C)]
pub struct Timespec {
    seconds: i64,
    nanoseconds: c_long,
}

/// The C library's `struct rusage`.
#[repr(C)]
pub struct ResourceUsage {
    times: [i64; 4],
    others: [c_long; 12],
    voluntary_switches: c_long,
    involuntary_switches: c_long,
}

pub type Thread = usize;
const NO_THREAD: Thread = 0;
type ClockGettime = unsafe extern "C" fn(c_int, *mut Timespec) -> c_int;
type PthreadCreate =
    unsafe extern "C" fn(*mut Thread, *const c_void, *const c_void, *mut c_void) -> c_int;
type Nanosleep = unsafe extern "C" fn(*const Timespec, *mut Timespec) -> c_int;
type ClockNanosleep = unsafe extern "C" fn(c_int, c_int, *const Timespec, *mut Timespec) -> c_int;
type Poll = unsafe extern "C" fn(*mut c_void, u64, c_int) -> c_int;
type Handler = Option<unsafe extern "C" fn()>;
type TimedWait = unsafe extern "C" fn(*mut c_void, *mut c_void, *const Timespec) -> c_int;

#[link(name = "c")]
unsafe extern "C" {
    fn abort() -> !;
    fn atoi(text: *const c_char) -> c_int;
    fn close(file: c_int) -> c_int;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn getenv(name: *const c_char) -> *const c_char;
    fn getrusage(who: c_int, usage: *mut ResourceUsage) -> c_int;
    fn mmap(
        at: *mut c_void,
        length: usize,
        access: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn pthread_atfork(before: Handler, in_parent: Handler, in_child: Handler) -> c_int;
    fn pthread_self() -> Thread;
    fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int;
    fn strchr(text: *const c_char, character: c_int) -> *const c_char;
    fn syscall(number: c_long, ...) -> c_long;
    fn unsetenv(name: *const c_char) -> c_int;
}

/// Everything the library knows. Written by the main thread alone, before and while it reads the clock.
struct Side {
    page: *const Page,
    position: usize,
    /// The thread that hands the baton on; nobody's in a copy of the process.
    main_thread: Thread,
    /// What the clocks of this process are behind the real ones: the time it has waited, and the time that other
    /// programs had its core.
    hidden: i64,
    /// When it got the baton, by the real clock.
    has_since: i64,
    /// When it last read a clock, and how it had spent its time when that was last looked at.
    last_reading: i64,
    account: Account,
    /// How many times faster than time itself its clocks go, since when.
    speed: i64,
    origin: i64,
}

static mut SIDE: Side = Side {
    page: null(),
    position: 0,
    main_thread: NO_THREAD,
    hidden: 0,
    has_since: 0,
    last_reading: 0,
    account: Account { moment: 0, running: 0, waits: 0, preemptions: 0 },
    speed: 1,
    origin: 0,
};

/// How a thread has spent its time up to a moment.
struct Account {
    /// By the real clock.
    moment: i64,
    /// How long it was running.
    running: i64,
    /// How often it gave its core away, to wait for something.
    waits: c_long,
    /// How often its core was taken away.
    preemptions: c_long,
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: unsafe extern "C" fn() = join;

/// Finds the page. What made this library load is taken out of the environment, so that programs which the
/// benchmark starts are left alone.
unsafe extern "C" fn join() {
    unsafe {
        let description = getenv(PAGE_VARIABLE.as_ptr());
        if description.is_null() {
            return;
        }
        let position = atoi(description) as usize;
        let colon = strchr(description, ':' as c_int);
        if !colon.is_null() && position < MOST_SIDES {
            const READ_WRITE: c_int = 2;
            let file = open(colon.add(1), READ_WRITE);
            if file >= 0 {
                let page = mmap(null_mut(), size_of::<Page>(), 1 | 2, 1, file, 0);
                close(file);
                if page as isize != -1 {
                    let side = addr_of_mut!(SIDE);
                    (*side).position = position;
                    (*side).main_thread = pthread_self();
                    (*side).origin = real_now();
                    let speed = getenv(SPEED_VARIABLE.as_ptr());
                    if !speed.is_null() {
                        (*side).speed = i64::from(atoi(speed)).max(1);
                    }
                    (*side).page = page.cast();
                    pthread_atfork(Some(before_fork), None, Some(after_fork));
                    let mine = &(&(*(*side).page).sides)[position];
                    // It may be expected at its first clock reading already.
                    let _ =
                        mine.state.compare_exchange(state::ABSENT, state::FREE, AcqRel, Relaxed);
                    mine.loaded.fetch_add(1, AcqRel);
                }
            }
        }
        unsetenv(PAGE_VARIABLE.as_ptr());
        unsetenv(SPEED_VARIABLE.as_ptr());
        let user_preload = getenv(USER_PRELOAD_VARIABLE.as_ptr());
        if user_preload.is_null() {
            unsetenv(c"LD_PRELOAD".as_ptr());
        } else {
            setenv(c"LD_PRELOAD".as_ptr(), user_preload, 1);
            unsetenv(USER_PRELOAD_VARIABLE.as_ptr());
        }
    }
}

/// A copy of the process would run while others have the baton. (Programs that are started are not noticed: Rust and
/// the C library start them without `fork`, and whoever starts one usually waits for it.)
unsafe extern "C" fn before_fork() {
    unsafe { not_fit(unfit::FORK) }
}

/// The copy takes no part: the turn that it would take is its original's. Its clocks go on as they were.
unsafe extern "C" fn after_fork() {
    unsafe { (*addr_of_mut!(SIDE)).main_thread = NO_THREAD }
}

/// The next definition of a function after this library's.
unsafe fn next<F: Copy>(name: &CStr) -> F {
    const NEXT: *mut c_void = -1isize as *mut c_void;
    unsafe {
        let function = dlsym(NEXT, name.as_ptr());
        if function.is_null() {
            abort()
        }
        core::mem::transmute_copy(&function)
    }
}

/// The C library's own clock. Looked up once; a race finds the same twice.
unsafe fn real_clock(clock: c_int, time: *mut Timespec) -> c_int {
    static mut REAL: Option<ClockGettime> = None;
    unsafe {
        let real = match *addr_of!(REAL) {
            Some(real) => real,
            None => {
                let real = next::<ClockGettime>(c"clock_gettime");
                *addr_of_mut!(REAL) = Some(real);
                real
            }
        };
        real(clock, time)
    }
}

const MONOTONIC: c_int = 1;
const MONOTONIC_RAW: c_int = 4;
const MONOTONIC_COARSE: c_int = 6;
const BOOTTIME: c_int = 7;

unsafe fn real_now() -> i64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { real_clock(MONOTONIC, &mut time) };
    time.seconds * 1_000_000_000 + time.nanoseconds as i64
}

/// Every clock that does not stand for the time of day lies behind by what was hidden, whoever reads it, and
/// goes faster if it is to.
/// The main thread's readings of the fine ones are where the baton is handed on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int {
    unsafe {
        let result = real_clock(clock, time);
        let page = SIDE.page;
        let is_ours = matches!(clock, MONOTONIC | MONOTONIC_RAW | MONOTONIC_COARSE | BOOTTIME);
        if result != 0 || page.is_null() || !is_ours {
            return result;
        }
        let read = (*time).seconds * 1_000_000_000 + (*time).nanoseconds as i64;
        // All clocks are ahead of time itself by the same.
        let read_at = if clock == MONOTONIC { read } else { real_now() };
        let is_step = clock != MONOTONIC_COARSE && pthread_self() == SIDE.main_thread;
        if is_step && clock == MONOTONIC {
            let taken = taken_by_others(&*page, read);
            SIDE.hidden += taken;
            let mine = &(&(*page).sides)[SIDE.position];
            mine.taken.fetch_add(taken as u64, Relaxed);
        }
        let hidden_at_reading = SIDE.hidden;
        if is_step {
            // What this takes here has no place in what is measured.
            let now = real_now();
            SIDE.hidden += now - read_at;
            SIDE.last_reading = now;
            keep_in_step(&*page);
        }
        let ahead = (SIDE.speed - 1) * (read_at - hidden_at_reading - SIDE.origin);
        let shown = read - hidden_at_reading + ahead;
        (*time).seconds = shown / 1_000_000_000;
        (*time).nanoseconds = (shown % 1_000_000_000) as c_long;
        0
    }
}

/// Hands the baton on if it is time to, and waits until it is back. That wait is hidden from the process:
/// the reading that led here is the one from before it.
unsafe fn keep_in_step(page: &Page) {
    unsafe {
        let me = SIDE.position;
        let mine = &page.sides[me];
        match mine.state.load(Acquire) {
            state::ARRIVING => {
                let arrived = real_now();
                if mine
                    .state
                    .compare_exchange(state::ARRIVING, state::WAITING, AcqRel, Relaxed)
                    .is_ok()
                {
                    wake(&mine.state);
                }
                wait_for_turn(page, me);
                resume(arrived);
            }
            state::IN_STEP => {
                let now = real_now();
                if page.turn.load(Acquire) == me as u32 {
                    if now - SIDE.has_since < i64::from(page.quantum.load(Relaxed)) {
                        return;
                    }
                    let Some(other) = next_in_step(page, me) else {
                        SIDE.has_since = now;
                        return;
                    };
                    mine.handovers.fetch_add(1, Relaxed);
                    mine.turns.fetch_add((now - SIDE.has_since) as u64, Relaxed);
                    page.handed_on.store(now as u64, Relaxed);
                    page.turn.store(other as u32, Release);
                    wake(&page.turn);
                }
                wait_for_turn(page, me);
                resume(now);
                note_delay(page, mine);
            }
            _ => {}
        }
    }
}

unsafe fn resume(waited_since: i64) {
    unsafe {
        SIDE.account = account();
        let now = real_now();
        SIDE.hidden += now - waited_since;
        SIDE.has_since = now;
        SIDE.last_reading = now;
    }
}

/// In nanoseconds. Nobody takes a core for less, and clocks may be read more often than looking is cheap.
const WORTH_A_LOOK: i64 = 20_000;

/// The time between the last reading and this one in which other programs had the core, though this one had work to
/// do. Time in which it waited for something of its own accord is what it takes.
unsafe fn taken_by_others(page: &Page, read: i64) -> i64 {
    unsafe {
        let gap = read - SIDE.last_reading;
        let in_step = page.sides[SIDE.position].state.load(Acquire) == state::IN_STEP;
        if !in_step || gap < WORTH_A_LOOK {
            return 0;
        }
        let now = account();
        let before = core::mem::replace(&mut *addr_of_mut!(SIDE.account), now);
        let now = &*addr_of!(SIDE.account);
        if now.waits != before.waits || now.preemptions == before.preemptions {
            return 0;
        }
        // What was shown already cannot be hidden: clocks do not go back.
        ((read - before.moment) - (now.running - before.running)).clamp(0, gap)
    }
}

/// Notes how long the baton was on its way. That takes some microseconds; where it takes longer, other programs came
/// first.
unsafe fn note_delay(page: &Page, mine: &SidePage) {
    let delay = match page.handed_on.swap(0, Relaxed) {
        // The runner gave it on, from a side that is gone.
        0 => return,
        handed_on => unsafe { SIDE.has_since - handed_on as i64 },
    };
    mine.turns.fetch_add(delay as u64, Relaxed);
    if delay > WORTH_A_LOOK {
        mine.taken.fetch_add(delay as u64, Relaxed);
    }
}

/// How the main thread has spent its time so far.
unsafe fn account() -> Account {
    const THREAD: c_int = 1;
    const THREAD_CPUTIME: c_int = 3;
    let mut usage = ResourceUsage {
        times: [0; 4],
        others: [0; 12],
        voluntary_switches: 0,
        involuntary_switches: 0,
    };
    let mut running = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe {
        getrusage(THREAD, &mut usage);
        real_clock(THREAD_CPUTIME, &mut running);
    }
    Account {
        moment: unsafe { real_now() },
        running: running.seconds * 1_000_000_000 + running.nanoseconds as i64,
        waits: usage.voluntary_switches,
        preemptions: usage.involuntary_switches,
    }
}

fn next_in_step(page: &Page, me: usize) -> Option<usize> {
    (1..MOST_SIDES)
        .map(|distance| (me + distance) % MOST_SIDES)
        .find(|other| page.sides[*other].state.load(Acquire) == state::IN_STEP)
}

/// Returns when this side has the baton, or when the runner has set it free.
unsafe fn wait_for_turn(page: &Page, me: usize) {
    loop {
        let turn = page.turn.load(Acquire);
        let state = page.sides[me].state.load(Acquire);
        if state == state::FREE || (state == state::IN_STEP && turn == me as u32) {
            return;
        }
        // Woken when the baton moves; looks by itself too, for it may have been set free meanwhile.
        let limit = Timespec { seconds: 0, nanoseconds: 20_000_000 };
        const WAIT: c_int = 0;
        unsafe { syscall(FUTEX, addr_of!(page.turn), WAIT, turn, &limit, 0usize, 0u32) };
    }
}

#[cfg(target_arch = "x86_64")]
const FUTEX: c_long = 202;
#[cfg(target_arch = "aarch64")]
const FUTEX: c_long = 98;

unsafe fn wake(futex: *const core::sync::atomic::AtomicU32) {
    const WAKE: c_int = 1;
    unsafe { syscall(FUTEX, futex, WAKE, c_int::MAX, 0usize, 0usize, 0u32) };
}

/// Notes why this process is not fit for lock-step. One with threads or copies is set free at once, for they
/// would run while others have the baton.
unsafe fn not_fit(reason: u32) {
    unsafe {
        let page = SIDE.page;
        if page.is_null() || SIDE.main_thread == NO_THREAD {
            return;
        }
        let me = SIDE.position;
        let mine = &(&(*page).sides)[me];
        mine.unfit.fetch_or(reason, AcqRel);
        if reason != unfit::SLEEP {
            mine.state.store(state::FREE, Release);
            if let Some(other) = next_in_step(&*page, me) {
                let mine_to_give =
                    (*page).turn.compare_exchange(me as u32, other as u32, AcqRel, Relaxed);
                if mine_to_give.is_ok() {
                    wake(addr_of!((*page).turn));
                }
            }
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut Thread,
    attributes: *const c_void,
    start: *const c_void,
    argument: *mut c_void,
) -> c_int {
    unsafe {
        not_fit(unfit::THREAD);
        next::<PthreadCreate>(c"pthread_create")(thread, attributes, start, argument)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(time: *const Timespec, left: *mut Timespec) -> c_int {
    unsafe {
        not_fit(unfit::SLEEP);
        next::<Nanosleep>(c"nanosleep")(time, left)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: *const Timespec,
    left: *mut Timespec,
) -> c_int {
    unsafe {
        not_fit(unfit::SLEEP);
        const ABSOLUTE: c_int = 1;
        let function = next::<ClockNanosleep>(c"clock_nanosleep");
        if flags & ABSOLUTE == 0 || time.is_null() || clock == 0 {
            return function(clock, flags, time, left);
        }
        // A moment on this process's clock, which lies behind the real one, or runs ahead of it.
        let moment = (*time).seconds * 1_000_000_000 + (*time).nanoseconds as i64;
        let moment = SIDE.origin + (moment - SIDE.origin) / SIDE.speed + SIDE.hidden;
        let moment = Timespec {
            seconds: moment / 1_000_000_000,
            nanoseconds: (moment % 1_000_000_000) as c_long,
        };
        function(clock, flags, &moment, left)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn poll(files: *mut c_void, count: u64, milliseconds: c_int) -> c_int {
    unsafe {
        if milliseconds > 0 {
            not_fit(unfit::SLEEP);
        }
        next::<Poll>(c"poll")(files, count, milliseconds)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_timedwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    until: *const Timespec,
) -> c_int {
    unsafe {
        not_fit(unfit::SLEEP);
        next::<TimedWait>(c"pthread_cond_timedwait")(condition, mutex, until)
    }
}
