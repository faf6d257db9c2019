//! What a dispatcher adds to a call whose winner is known, in ns:
//! `cargo bench -p qd-runtime --bench dispatch`.

use qd_runtime::dispatch::{Call, Dispatcher, Environment, Error, Policy, Settings, Variant};
use std::{
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

/// Calls of a batch, and batches, of which the median counts.
const CALLS: u32 = 100_000;
const BATCHES: usize = 51;

/// Of two variants that do nothing.
struct Nothing;

impl Call for Nothing {
    type Output = usize;
    type Error = Error;

    fn synchronize(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn run(&mut self, variant: usize) -> Result<usize, Error> {
        Ok(black_box(variant))
    }
}

type Shape = [u64; 4];

fn dispatcher(policy: Policy, geometries: u64) -> Dispatcher<Shape> {
    let variants = vec![Variant::new("a"), Variant::new("b")];
    let settings = Settings {
        policy,
        environment: Some(Environment::default()),
        ..Settings::default()
    };
    let made = Dispatcher::new("nothing", variants, settings).expect("has variants");
    for length in 0..geometries {
        while made.winner(&[length; 4]).is_none() {
            made.call(&[length; 4], &mut Nothing).expect("runs");
        }
    }
    made
}

/// Nanoseconds of a call, at a geometry of so many.
fn time(geometries: u64, mut call: impl FnMut(&Shape)) -> f64 {
    let shapes: Vec<Shape> = (0..geometries).map(|length| [length; 4]).collect();
    let mut times: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let begin = Instant::now();
            for shape in shapes.iter().cycle().take(CALLS as usize) {
                call(black_box(shape));
            }
            begin.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[BATCHES / 2]
}

fn measure(name: &str, policy: Policy, geometries: u64) {
    let made = dispatcher(policy, geometries);
    let direct = time(geometries, |_| {
        let _ = black_box(Nothing.run(0));
    });
    let ours = time(geometries, |shape| {
        let _ = black_box(made.call(shape, &mut Nothing));
    });
    println!("{name:<44} {:>8.1} ns", ours - direct);
}

fn main() {
    let never = Policy::default().repeating(Some(0), None);
    // Too late to happen: what counting costs, and not what trials do.
    let counted = Policy::default().repeating(Some(u64::MAX), None);
    let timed = Policy::default().repeating(None, Some(Duration::from_secs(1 << 30)));
    measure("one geometry, never measured again", never, 1);
    measure("one geometry, calls counted", counted, 1);
    measure("one geometry, time watched", timed, 1);
    measure("1000 geometries, calls counted", counted, 1000);

    let made = dispatcher(counted, 1);
    let each = thread::scope(|scope| {
        let run = || time(1, |shape| drop(black_box(made.call(shape, &mut Nothing))));
        let others: Vec<_> = (0..2).map(|_| scope.spawn(run)).collect();
        let times = others.into_iter().map(|one| one.join().expect("runs"));
        times.fold(0.0, f64::max)
    });
    println!(
        "{:<44} {each:>8.1} ns",
        "one geometry, two threads, calls counted"
    );
}
