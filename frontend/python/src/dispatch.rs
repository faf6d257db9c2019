//! Performance dispatch: when which variant runs is decided by the runtime's state machine, and Python calls it.

use pyo3::{exceptions::PyValueError, prelude::*};
use qd_runtime::dispatch::{self, Next, Policy, Situation};
use std::time::Duration;

/// What is known of one geometry of a dispatcher.
#[pyclass]
pub struct Evaluation {
    policy: Policy,
    known: dispatch::Evaluation,
}

fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pymethods]
impl Evaluation {
    /// Of variants that are tried so often, and again after so many calls and seconds; none and 0: never.
    #[new]
    fn new(
        first_warmup: u32,
        warmup: u32,
        active: u32,
        calls: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<Self> {
        let policy = Policy {
            first_warmup,
            warmup,
            active,
            repeat_after_calls: calls,
            repeat_after: seconds.map(duration).transpose()?,
        };
        let known = dispatch::Evaluation::default();
        Ok(Self { policy, known })
    }

    /// Counts a call, at a time in seconds, and gives the winner if it is known and stays.
    fn steady(&self, now: f64) -> PyResult<Option<usize>> {
        let now = duration(now)?;
        Ok(self.known.steady(&self.policy, || now))
    }

    /// What a call does that has been counted: the number of a variant, and, if it is a trial, whether that is timed.
    fn next(
        &mut self,
        eligible: Vec<usize>,
        variants: usize,
        now: f64,
    ) -> PyResult<(usize, Option<bool>)> {
        let call = Situation {
            eligible: &eligible,
            may_measure: true,
            is_busy: false,
            is_frozen: false,
            now: duration(now)?,
        };
        match self.known.next(&self.policy, call, variants) {
            Next::Run(variant) => Ok((variant, None)),
            Next::Try { variant, is_timed } => Ok((variant, Some(is_timed))),
            Next::NotMeasured => Err(PyValueError::new_err("nothing is measured here")),
        }
    }

    /// Ends a trial, which may have a time in seconds; the winner, if it is known now.
    fn end(
        &mut self,
        eligible: Vec<usize>,
        variant: usize,
        time: Option<f64>,
        now: f64,
    ) -> PyResult<Option<usize>> {
        let time = time.map(duration).transpose()?;
        let now = duration(now)?;
        Ok((self.known).end(&self.policy, &eligible, variant, time, now))
    }

    /// How often each variant has been tried, in the evaluation that is in progress or was the last.
    fn trials(&self) -> Vec<u32> {
        let trials = self.known.trials().iter();
        trials.map(|trials| trials.begun).collect()
    }
}

/// By default, the untimed rounds of the first evaluation and of later ones, the timed ones, and the calls after which
/// another begins.
#[pyfunction]
pub fn dispatch_defaults() -> (u32, u32, u32, Option<u64>) {
    let Policy {
        first_warmup,
        warmup,
        active,
        repeat_after_calls,
        ..
    } = Policy::default();
    (first_warmup, warmup, active, repeat_after_calls)
}
