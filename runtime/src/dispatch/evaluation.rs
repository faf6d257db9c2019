//! What is known of one geometry, and what its next call is: a state machine without locks, clocks
//! and kernels.
//!
//! Without a winner, each call is a trial of the eligible variant that was tried least. The first
//! trials of each are untimed, the next ones timed. When all eligible variants have had theirs, the
//! one of the least mean time is the winner, until enough calls or enough time have passed.

use super::Policy;
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Runs a variant.
    Run(usize),
    /// Tries a variant, timed or not, and says so [when it has ended](Evaluation::end).
    Try {
        /// The variant.
        variant: usize,
        /// Whether its time counts.
        is_timed: bool,
    },
    /// A variant would have to be tried where that is not possible.
    NotMeasured,
}

/// What may happen in a call.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The variants whose conditions hold, in ascending order; at least one.
    pub eligible: &'a [usize],
    /// Whether times can be taken.
    pub may_measure: bool,
    /// Whether another call is a trial just now.
    pub is_busy: bool,
    /// Whether nothing is measured from now on.
    pub is_frozen: bool,
    /// Time since some moment, the same for all calls.
    pub now: Duration,
}

/// The trials of a variant in the evaluation that is in progress, or that was the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trials {
    /// All of them.
    pub begun: u32,
    /// Those that have a time.
    pub timed: u32,
    /// The sum of their times.
    pub total: Duration,
}

impl Trials {
    /// The mean time, if there is any.
    pub fn mean(&self) -> Option<Duration> {
        (self.timed > 0).then(|| self.total / self.timed)
    }
}

/// What is known of a geometry.
///
/// [`Dispatcher`](super::Dispatcher) has one for each. A dispatcher of another language, which calls what it likes by
/// itself, asks its own: [`steady`](Self::steady) in each call, [`next`](Self::next) where that knows no winner, and
/// [`end`](Self::end) after a trial.
#[derive(Debug, Default)]
pub struct Evaluation {
    winner: Option<usize>,
    /// The winner before the evaluation that is in progress.
    last: Option<usize>,
    /// When the winner was chosen.
    chosen: Duration,
    /// Calls of the winner since then. Counted by calls that share the evaluation.
    calls: AtomicU64,
    /// Whether an evaluation has ended.
    was_evaluated: bool,
    /// By variant; of none before the first trial.
    trials: Vec<Trials>,
}

impl Evaluation {
    /// One whose winner is known.
    pub fn of(winner: usize, now: Duration) -> Self {
        Self {
            winner: Some(winner),
            chosen: now,
            ..Self::default()
        }
    }

    /// The winner, if it is known.
    pub fn winner(&self) -> Option<usize> {
        self.winner
    }

    /// The winner, or what it was before the evaluation in progress.
    pub fn best(&self) -> Option<usize> {
        self.winner.or(self.last)
    }

    /// By variant.
    pub fn trials(&self) -> &[Trials] {
        &self.trials
    }

    /// Counts a call, and yields the winner if it is known and stays.
    pub fn steady(&self, policy: &Policy, now: impl FnOnce() -> Duration) -> Option<usize> {
        let winner = self.winner?;
        if let Some(most) = policy.most_calls() {
            let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
            if calls >= most {
                return None;
            }
        }
        match policy.longest() {
            Some(longest) if self.is_old(longest, now()) => None,
            _ => Some(winner),
        }
    }

    fn is_old(&self, longest: Duration, now: Duration) -> bool {
        now.saturating_sub(self.chosen) >= longest
    }

    /// Whether the winner has to be chosen anew.
    fn is_due(&self, policy: &Policy, now: Duration) -> bool {
        let calls = self.calls.load(Ordering::Relaxed);
        policy.most_calls().is_some_and(|most| calls >= most)
            || policy
                .longest()
                .is_some_and(|longest| self.is_old(longest, now))
    }

    /// What a call does that has been counted by [`steady`](Self::steady).
    pub fn next(&mut self, policy: &Policy, call: Situation<'_>, variants: usize) -> Next {
        let may_try = call.may_measure && !call.is_busy && !call.is_frozen;
        if let Some(winner) = self.winner {
            if !(may_try && self.is_due(policy, call.now)) {
                // A condition that does not follow from the geometry.
                let is_eligible = call.eligible.contains(&winner);
                return Next::Run(if is_eligible {
                    winner
                } else {
                    call.eligible[0]
                });
            }
            self.last = self.winner.take();
            self.trials.clear();
        }
        if let [only] = *call.eligible {
            self.choose(only, call.now);
            return Next::Run(only);
        }
        if !may_try {
            let last = self.last.filter(|last| call.eligible.contains(last));
            return match last {
                Some(last) => Next::Run(last),
                None if call.may_measure || call.is_frozen => Next::Run(call.eligible[0]),
                None => Next::NotMeasured,
            };
        }
        self.trials.resize(variants, Trials::default());
        let least = call.eligible.iter().copied();
        let variant = least.min_by_key(|variant| self.trials[*variant].begun);
        let variant = variant.unwrap_or_default();
        let trials = &mut self.trials[variant];
        let is_timed = trials.begun >= self.warmup(policy);
        let trials = &mut self.trials[variant];
        trials.begun += 1;
        Next::Try { variant, is_timed }
    }

    fn warmup(&self, policy: &Policy) -> u32 {
        match self.was_evaluated {
            false => policy.first_warmup,
            true => policy.warmup,
        }
    }

    /// Ends a trial, which has a time if it was timed and did not fail. Yields the winner, if that
    /// is known now. If no trial had a time, an evaluation begins anew.
    pub fn end(
        &mut self,
        policy: &Policy,
        eligible: &[usize],
        variant: usize,
        time: Option<Duration>,
        now: Duration,
    ) -> Option<usize> {
        // What was known before was replaced meanwhile.
        if self.winner.is_some() || self.trials.len() <= variant {
            return None;
        }
        if let Some(time) = time {
            self.trials[variant].timed += 1;
            self.trials[variant].total += time;
        }
        let most = self.warmup(policy).saturating_add(policy.active);
        if eligible.iter().any(|one| self.trials[*one].begun < most) {
            return None;
        }
        let timed = eligible.iter().copied();
        let timed = timed.filter_map(|one| Some((one, self.trials[one].mean()?)));
        let Some((winner, _)) = timed.min_by_key(|(_, mean)| *mean) else {
            self.trials.clear();
            return None;
        };
        self.choose(winner, now);
        self.was_evaluated = true;
        Some(winner)
    }

    fn choose(&mut self, winner: usize, now: Duration) {
        self.winner = Some(winner);
        self.chosen = now;
        *self.calls.get_mut() = 0;
    }
}
