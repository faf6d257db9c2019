//! Several threads on one dispatcher, and dispatchers within dispatchers.

use super::*;
use std::{sync::Barrier, thread};

const THREADS: usize = 4;

/// Counts what threads do with it at once.
#[derive(Default)]
struct Shared {
    runs: [AtomicU64; 2],
    waits: AtomicU64,
}

struct Counting<'a>(&'a Shared);

impl Call for Counting<'_> {
    type Output = usize;
    type Error = Error;

    fn synchronize(&mut self) -> Result<(), Error> {
        self.0.waits.fetch_add(1, Ordering::SeqCst);
        thread::yield_now();
        Ok(())
    }

    fn run(&mut self, variant: usize) -> Result<usize, Error> {
        self.0.runs[variant].fetch_add(1, Ordering::SeqCst);
        thread::yield_now();
        Ok(variant)
    }
}

#[test]
fn threads_measure_once() {
    let policy = Policy {
        active: 4,
        ..Policy::default()
    };
    let bench = Bench::new(policy.repeating(Some(0), None), &[1, 1]);
    let (shared, begin) = (Shared::default(), Barrier::new(THREADS));
    let dispatcher = &bench.dispatcher;
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                begin.wait();
                for geometry in (0..3).cycle().take(300) {
                    let ran = dispatcher.call(&geometry, &mut Counting(&shared));
                    ran.expect("runs");
                }
            });
        }
    });
    // Two waits for each timed trial: 4 of each of 2 variants, for 3 geometries.
    assert_eq!(shared.waits.load(Ordering::SeqCst), 2 * 4 * 2 * 3);
    let runs = shared
        .runs
        .each_ref()
        .map(|runs| runs.load(Ordering::SeqCst));
    assert_eq!(runs[0] + runs[1], THREADS as u64 * 300);
    assert_eq!(dispatcher.winners().len(), 3);
}

#[test]
fn threads_evaluate_again_once_for_so_many_calls() {
    let bench = Bench::new(Policy::default().repeating(Some(50), None), &[1, 1]);
    let (shared, begin) = (Shared::default(), Barrier::new(THREADS));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                begin.wait();
                for _ in 0..200 {
                    let ran = bench.dispatcher.call(&0, &mut Counting(&shared));
                    ran.expect("runs");
                }
            });
        }
    });
    // Calls beside a trial are not counted, so there are fewer evaluations than by one thread.
    let waits = shared.waits.load(Ordering::SeqCst);
    let most = 4 * (1 + THREADS as u64 * 200 / 50);
    assert!(waits <= most, "{waits} waits");
}

/// A trial in progress, in which another thread calls.
struct Beside<'a> {
    dispatcher: &'a Dispatcher<u32>,
    seen: &'a Mutex<Vec<usize>>,
}

impl Call for Beside<'_> {
    type Output = ();
    type Error = Error;

    fn synchronize(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, _: usize) -> Result<(), Error> {
        let mut other = Fake {
            costs: vec![us(1); 2],
            ..Fake::default()
        };
        let call = || {
            let mut ran = self.seen.lock().unwrap();
            ran.push(self.dispatcher.call(&0, &mut other).expect("runs"));
            ran.push(self.dispatcher.call(&1, &mut other).expect("runs"));
        };
        thread::scope(|scope| scope.spawn(call).join()).expect("it does not wait for the trial");
        assert!(!other.log.contains('|'), "it is not timed");
        Ok(())
    }
}

#[test]
fn a_call_beside_a_trial_neither_waits_nor_is_one() {
    let bench = Bench::new(Policy::default().repeating(Some(0), None), &[1, 1]);
    let seen = Mutex::default();
    let dispatcher = &bench.dispatcher;
    for _ in 0..4 {
        let mut call = Beside {
            dispatcher,
            seen: &seen,
        };
        dispatcher.call(&0, &mut call).expect("runs");
    }
    // The first eligible one each time.
    assert_eq!(*seen.lock().unwrap(), [0; 8]);
    assert!(dispatcher.winner(&0).is_some());
    assert_eq!(dispatcher.winner(&1), None);
}

/// A variant that calls its own dispatcher for half of the work.
struct Halves<'a>(&'a Dispatcher<u32>, u32);

impl Call for Halves<'_> {
    type Output = u32;
    type Error = Error;

    fn is_eligible(&self, variant: usize) -> bool {
        // Asked without a lock, too.
        let _ = self.0.winner(&self.1);
        variant < 2
    }

    fn synchronize(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, _: usize) -> Result<u32, Error> {
        match self.1 {
            0 => Ok(1),
            length => Ok(2 * self
                .0
                .call(&(length - 1), &mut Halves(self.0, length - 1))?),
        }
    }
}

#[test]
fn a_variant_may_call_its_own_dispatcher() {
    let bench = Bench::new(Policy::default(), &[1, 1]);
    for _ in 0..20 {
        let mut call = Halves(&bench.dispatcher, 5);
        assert_eq!(bench.dispatcher.call(&5, &mut call).expect("runs"), 32);
    }
    // One trial at a time, from the outermost geometry on: 4 calls each.
    let mut winners = bench.dispatcher.winners();
    winners.sort_unstable();
    assert_eq!(winners, [1, 2, 3, 4, 5].map(|length| (length, 0)));
}
