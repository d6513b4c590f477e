// Not a module of its own, but included by two.
// The page that the runner and the measured processes share. This file is a part of both: of the module
// `lockstep`, and of the preload library.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// The most sides that can be in step.
pub const MOST_SIDES: usize = 16;

/// What a side does. Only the side itself changes `ABSENT` and `ARRIVING`, only the runner `WAITING`.
pub mod state {
    /// No process has loaded the preload library yet.
    pub const ABSENT: u32 = 0;
    /// It runs without regard to the baton: between benchmarks, or because it is not fit for lock-step.
    pub const FREE: u32 = 1;
    /// It is to stop at its next clock reading.
    pub const ARRIVING: u32 = 2;
    /// It has stopped there.
    pub const WAITING: u32 = 3;
    /// It runs while it has the baton.
    pub const IN_STEP: u32 = 4;
}

/// Why a side is not fit for lock-step: bits.
pub mod unfit {
    /// It has started a thread.
    pub const THREAD: u32 = 1;
    /// It sleeps, or waits with a time limit.
    pub const SLEEP: u32 = 2;
    /// It has started a copy of itself.
    pub const FORK: u32 = 4;
}

/// What concerns one side.
#[repr(C)]
pub struct SidePage {
    /// One of [`state`].
    pub state: AtomicU32,
    /// Bits of [`unfit`].
    pub unfit: AtomicU32,
    /// How often it has handed the baton on.
    pub handovers: AtomicU32,
    /// How many processes, one after the other, have loaded the preload library.
    pub loaded: AtomicU32,
    /// How long its turns took that are over, from the moment when it was handed the baton, in nanoseconds.
    pub turns: AtomicU64,
    /// For how long other programs had its core meanwhile.
    pub taken: AtomicU64,
    /// Keeps sides on cache lines of their own.
    pub padding: [u32; 8],
}

/// The whole page.
#[repr(C)]
pub struct Page {
    /// The side that has the baton: a futex.
    pub turn: AtomicU32,
    /// How long a side keeps the baton, in nanoseconds: until its first clock reading after that.
    pub quantum: AtomicU32,
    /// When a side handed the baton on, by the monotonic clock in nanoseconds. 0 once it has arrived.
    pub handed_on: AtomicU64,
    /// Keeps the baton on a cache line of its own.
    pub padding: [u32; 12],
    /// By position.
    pub sides: [SidePage; MOST_SIDES],
}

/// `turn` if no side has the baton.
pub const NOBODY: u32 = u32::MAX;

/// Tells the preload library its position and the page's file: `POSITION:PATH`.
pub const PAGE_VARIABLE: &CStr = c"CARGO_BENCH_COMPARE_LOCKSTEP";

/// How many times faster than time itself the clocks of the process go, if they do: a whole number.
pub const SPEED_VARIABLE: &CStr = c"CARGO_BENCH_COMPARE_CLOCK_SPEED";

/// The user's own `LD_PRELOAD`, which the preload library puts back.
pub const USER_PRELOAD_VARIABLE: &CStr = c"CARGO_BENCH_COMPARE_USER_PRELOAD";
