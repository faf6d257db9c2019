//! Dispatchers of functions that take as long as a fake clock says.

mod environment;
mod files;
mod kernels;
mod states;
mod threads;

use super::{Call, Clock, Dispatcher, Environment, Error, Policy, Settings, Variant};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// A clock that tests set forward.
#[derive(Debug, Default)]
pub struct FakeClock(AtomicU64);

impl FakeClock {
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_nanos() as u64, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }
}

pub fn us(time: u64) -> Duration {
    Duration::from_micros(time)
}

/// Lines that were printed.
#[derive(Clone, Default)]
pub struct Printed(Arc<Mutex<Vec<String>>>);

impl Printed {
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Settings of tests: nothing is read of the process.
pub fn settings(policy: Policy, clock: &Arc<FakeClock>) -> (Settings, Printed) {
    let printed = Printed::default();
    let to = printed.clone();
    let settings = Settings {
        policy,
        clock: clock.clone(),
        environment: Some(Environment::default()),
        print: Arc::new(move |line| to.0.lock().unwrap().push(line.into())),
    };
    (settings, printed)
}

pub fn variants(names: &str) -> Vec<Variant> {
    names.split(' ').map(Variant::new).collect()
}

/// A dispatcher whose variants cost so many microseconds, and what its calls did.
pub struct Bench {
    pub clock: Arc<FakeClock>,
    pub dispatcher: Dispatcher<u32>,
    pub call: Fake,
}

/// Calls of it: each run by its variant's name, and each wait as `|`, in order.
#[derive(Default)]
pub struct Fake {
    pub clock: Arc<FakeClock>,
    /// By variant.
    pub costs: Vec<Duration>,
    pub log: String,
    /// Of the variants that fail.
    pub fails: Vec<usize>,
    /// Of the variants whose conditions do not hold.
    pub refused: Vec<usize>,
    pub is_captured: bool,
}

impl Call for Fake {
    type Output = usize;
    type Error = Error;

    fn is_eligible(&self, variant: usize) -> bool {
        !self.refused.contains(&variant)
    }

    fn may_measure(&self) -> bool {
        !self.is_captured
    }

    fn synchronize(&mut self) -> Result<(), Error> {
        assert!(!self.is_captured, "no capture waits");
        self.log.push('|');
        Ok(())
    }

    fn run(&mut self, variant: usize) -> Result<usize, Error> {
        self.log.push(char::from(b'a' + variant as u8));
        self.clock.advance(self.costs[variant]);
        match self.fails.contains(&variant) {
            true => Err(failure()),
            false => Ok(variant),
        }
    }
}

/// Any error that is a variant's own.
pub fn failure() -> Error {
    Error::Malformed {
        from: "a variant".into(),
        reason: "it failed".into(),
    }
}

impl Bench {
    /// With variants `a`, `b`, … of these costs.
    pub fn new(policy: Policy, costs: &[u64]) -> Self {
        Self::with(policy, costs, |_| {}).0
    }

    pub fn with(
        policy: Policy,
        costs: &[u64],
        change: impl FnOnce(&mut Settings),
    ) -> (Self, Printed) {
        let clock = Arc::<FakeClock>::default();
        let (mut settings, printed) = settings(policy, &clock);
        change(&mut settings);
        let names: Vec<_> = (b'a'..)
            .take(costs.len())
            .map(|c| char::from(c).to_string())
            .collect();
        let dispatcher = Dispatcher::new("sum", variants(&names.join(" ")), settings);
        let bench = Self {
            dispatcher: dispatcher.expect("is well-formed"),
            call: Fake {
                clock: clock.clone(),
                costs: costs.iter().map(|cost| us(*cost)).collect(),
                ..Fake::default()
            },
            clock,
        };
        (bench, printed)
    }

    pub fn call_at(&mut self, geometry: u32) -> Result<usize, Error> {
        self.dispatcher.call(&geometry, &mut self.call)
    }

    /// What so many calls do.
    pub fn calls(&mut self, calls: usize) -> String {
        self.calls_at(0, calls)
    }

    pub fn calls_at(&mut self, geometry: u32, calls: usize) -> String {
        self.call.log.clear();
        for _ in 0..calls {
            let _ = self.call_at(geometry);
        }
        self.call.log.clone()
    }
}
