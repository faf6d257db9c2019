//! Where barriers are needed: before an action that depends on one since the
//! last barrier.

use std::collections::HashSet;

/// Actions since the last barrier, by their numbers. A barrier is for everything
/// before it.
#[derive(Default)]
pub(super) struct Hazards {
    since: HashSet<usize>,
}

impl Hazards {
    /// The next action, and whether a barrier has to stand before it.
    pub fn add(&mut self, number: usize, after: impl IntoIterator<Item = usize>) -> bool {
        let waits = self.waits(after);
        if waits {
            self.since.clear();
        }
        self.since.insert(number);
        waits
    }

    /// The next action, which does nothing: its dependents depend on its
    /// dependencies.
    pub fn join(&mut self, number: usize, after: impl IntoIterator<Item = usize>) {
        if self.waits(after) {
            self.since.insert(number);
        }
    }

    fn waits(&self, after: impl IntoIterator<Item = usize>) -> bool {
        after.into_iter().any(|number| self.since.contains(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_barrier_is_for_all_before_it() {
        let mut hazards = Hazards::default();
        assert!(!hazards.add(0, []));
        assert!(!hazards.add(1, []));
        assert!(hazards.add(2, [0]));
        assert!(!hazards.add(3, [1]), "before the same barrier");
        assert!(hazards.add(4, [1, 3]));
        assert!(!hazards.add(5, [2]));
    }

    #[test]
    fn who_waits_for_nothing_waits_for_what_that_waits_for() {
        let mut hazards = Hazards::default();
        hazards.add(0, []);
        hazards.join(1, [0]);
        hazards.join(2, [1]);
        assert!(hazards.add(3, [2]));
        hazards.join(4, [0, 1, 2]);
        assert!(!hazards.add(5, [4]));
    }
}
