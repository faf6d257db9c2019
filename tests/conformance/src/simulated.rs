//! Runs on a simulated device, one instruction after another: sizes are small, and chips take turns
//! with algorithms, and with what they do alike.

use crate::inputs::word;
use std::{cell::RefCell, collections::HashMap, env, sync::LazyLock, thread};

/// The most elements of a case where blocks are simulated.
const MOST: usize = 6000;

/// Whether blocks are simulated, as `QD_SIMULATED=1` says.
pub fn is_simulated() -> bool {
    static SIMULATED: LazyLock<bool> =
        LazyLock::new(|| env::var("QD_SIMULATED").is_ok_and(|value| value == "1"));
    *SIMULATED
}

/// Those of these sizes that the device runs in a moment; all of them, unless it is simulated.
pub fn affordable(sizes: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let affordable = |n: &usize| !is_simulated() || *n <= MOST;
    sizes.into_iter().filter(affordable).collect()
}

/// This run among those that take turns.
struct Turn {
    number: usize,
    of: usize,
}

/// `QD_TURN=2/5` is the third of five runs.
static TURN: LazyLock<Option<Turn>> = LazyLock::new(|| {
    let text = env::var("QD_TURN").ok()?;
    let turn = text.split_once('/').and_then(|(number, of)| {
        let (number, of) = (number.parse().ok()?, of.parse().ok()?);
        (number < of).then_some(Turn { number, of })
    });
    Some(turn.unwrap_or_else(|| panic!("QD_TURN={text}: it is to be such as 2/5")))
});

/// Whether there are other runs.
pub(crate) fn takes_turns() -> bool {
    TURN.is_some()
}

/// What is done in another way on each chip: what threads do together, and memory that they share.
const BY_CHIP: [&str; 3] = ["qd.simt.", "atomic", "fence"];
/// Where a thread is, which is asked in the same way on all.
const PLACES: [&str; 3] = [
    "qd.simt.block.id",
    "qd.simt.block.dim",
    "qd.simt.block.thread_id",
];

/// Whether chips differ in how they do what a kernel does by itself, without algorithms.
fn is_of_chips(source: &str) -> bool {
    let count = |names: [&str; 3]| {
        let counts = names.map(|name| source.matches(name).count());
        counts.iter().sum::<usize>()
    };
    count(BY_CHIP) > count(PLACES)
}

/// Whether a kernel is this run's to execute. What has an algorithm, or nothing in which chips differ, takes turns;
/// everything else is every run's.
pub(crate) fn is_ours(source: &str) -> bool {
    thread_local! {
        /// The kernels of a test, which has a thread of its own, in the order in which it has them.
        static KERNELS: RefCell<HashMap<String, usize>> = RefCell::default();
    }
    let Some(turn) = &*TURN else { return true };
    if !source.contains("qd.algo.") && is_of_chips(source) {
        return true;
    }
    let ordinal = KERNELS.with_borrow_mut(|kernels| {
        let next = kernels.len();
        *kernels.entry(source.to_owned()).or_insert(next)
    });
    turn_of(of_test() + ordinal, turn.of) == turn.number
}

/// Of the turns that there are, with which a test begins: another one for many tests, the same in every run.
pub(crate) fn of_test() -> usize {
    let thread = thread::current();
    let name = thread.name().unwrap_or_default().bytes();
    name.map(usize::from).sum::<usize>() % TESTS
}

/// How many tests begin in different ways.
const TESTS: usize = 16;

/// Whose turn a kernel is: drawn, but the same in every run. Every fourth kernel may have the same
/// capacity, every third the same type; each such choice is to meet each run.
fn turn_of(ordinal: usize, of: usize) -> usize {
    (word(17, ordinal as u64) % of as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::{TESTS, turn_of};

    #[test]
    fn every_progression_meets_every_turn() {
        for of in 1..=5 {
            for step in 1..=12 {
                for first in 0..step + TESTS {
                    let mut met = vec![false; of];
                    for k in 0..40 {
                        met[turn_of(first + step * k, of)] = true;
                    }
                    assert!(met.iter().all(|met| *met), "{first} + {step}k of {of}");
                }
            }
        }
    }
}
