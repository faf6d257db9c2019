//! How often variants are tried.

use super::Error;
use std::time::Duration;

/// How often each variant is tried, and when all are tried again.
///
/// A round is a call of each eligible variant, in the order in which they were given, one per
/// call of the dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Untimed rounds of the first evaluation of a geometry. Default: 1, in which code is loaded.
    pub first_warmup: u32,
    /// Untimed rounds of each later evaluation. Default: 0.
    pub warmup: u32,
    /// Timed rounds of each evaluation, at least 1: the variant of the least mean wins. Default: 1.
    pub active: u32,
    /// Calls of a geometry, after which the next evaluation begins: its first trial is the last of
    /// these calls. 0 and none: never. Default: 300.
    pub repeat_after_calls: Option<u64>,
    /// Time since the winner was chosen, after which the next call begins another evaluation. 0 and
    /// none: never. Default: never.
    pub repeat_after: Option<Duration>,
}

impl Policy {
    /// The number of calls after which variants are tried again by default.
    pub const REPEAT_AFTER_CALLS: u64 = 300;

    /// With these triggers of later evaluations, as the decorator `perf_dispatch` takes them: if
    /// one alone is given, the other is off, and if none is, both have their defaults. 0 is off.
    #[must_use]
    pub fn repeating(self, calls: Option<u64>, after: Option<Duration>) -> Self {
        let default = Policy::default();
        let (calls, after) = match (calls, after) {
            (None, None) => (default.repeat_after_calls, default.repeat_after),
            given => given,
        };
        Self {
            repeat_after_calls: calls,
            repeat_after: after,
            ..self
        }
    }

    pub(super) fn check(&self, dispatcher: &str) -> Result<(), Error> {
        match self.active {
            0 => Err(Error::NoActiveRounds {
                dispatcher: dispatcher.into(),
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn most_calls(&self) -> Option<u64> {
        self.repeat_after_calls.filter(|calls| *calls > 0)
    }

    pub(super) fn longest(&self) -> Option<Duration> {
        self.repeat_after.filter(|time| !time.is_zero())
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            first_warmup: 1,
            warmup: 0,
            active: 1,
            repeat_after_calls: Some(Self::REPEAT_AFTER_CALLS),
            repeat_after: None,
        }
    }
}
