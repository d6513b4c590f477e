//! One benchmark of every side, in step.

use std::time::Duration;

use crate::harness::{Session, Step};
use crate::lockstep::Baton;
use crate::model::Side;
use crate::system::Result;

/// How often the runner looks at the processes. It must be rare, because it takes processor time too, but it
/// is also what it costs when a side is done and another waits for its turn.
const LOOK: Duration = Duration::from_micros(200);

/// Lets all sides run their next benchmark in step, the first of them first.
///
/// One after the other they come to their first clock reading, and wait there: what a benchmark prepares
/// before must not run beside what others measure. Whatever a side does, no other waits for it forever: a
/// side that is done, or gone, or silent for too long, is set free.
pub fn step_together(
    sessions: &mut [(Side, Box<dyn Session>)],
    baton: &Baton,
) -> Result<Vec<(Side, Step)>> {
    let mut steps: Vec<(Side, Step)> = Vec::new();
    for (side, session) in sessions.iter_mut() {
        baton.expect(*side);
        session.resume();
        while !baton.has_arrived(*side) {
            if let Some(step) = session.poll(Duration::ZERO, true)? {
                baton.set_free(*side);
                steps.push((*side, step));
                break;
            }
            std::thread::sleep(LOOK);
        }
    }
    let sides: Vec<Side> = sessions.iter().map(|(side, _)| *side).collect();
    baton.begin(&sides);
    while steps.len() < sessions.len() {
        for (side, session) in sessions.iter_mut() {
            if steps.iter().any(|(done, _)| done == side) {
                continue;
            }
            if let Some(step) = session.poll(Duration::ZERO, baton.can_run(*side))? {
                baton.set_free(*side);
                steps.push((*side, step));
            }
        }
        baton.mend();
        std::thread::sleep(LOOK);
    }
    Ok(steps)
}
