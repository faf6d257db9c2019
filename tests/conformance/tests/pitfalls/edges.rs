//! Few elements, and the memory after the last one.

use crate::kernel::{ALGORITHMS, Combiner, Kernel, turn};
use qd_conformance::{Data, Input, Subject, generate, report, waves};

/// Tiny n: no element, one, two, and those about a subgroup, of every algorithm and at
/// every subgroup size; in buffers that end there, and in longer ones. Code that takes
/// part of a subgroup for the whole, or no elements for some, is wrong here.
#[test]
fn tiny_counts() {
    for &wave in waves() {
        for algorithm in ALGORITHMS {
            for (element, depth) in [("i32", 1), ("f32", 3)] {
                let kernel = Kernel::new(algorithm, element, depth);
                let subject = Subject::new(kernel.text());
                let wave_size = wave as usize;
                for n in [0, 1, 2, wave_size - 1, wave_size, wave_size + 1] {
                    for room in [0, 3] {
                        let elements = generate(element, Input::FewDistinct, n + room, 1);
                        let arguments = kernel.arguments(elements, n);
                        let about =
                            format!("{algorithm} {element}, n = {n}, {room} behind, wave {wave}");
                        subject.check(wave, &arguments, &about);
                    }
                }
            }
        }
    }
    report("tiny counts");
}

/// What no element before the last one is.
const POISON: i32 = i32::MIN;

/// The right one unless it is 0: associative, and it does not commute. What is combined
/// with poison is poison, and 0 is the identity of all else.
const LAST_BUT_ZERO: Combiner = Combiner::Region(
    "identity [0 : i32] combiner {
    ^bb0(%l: i32, %r: i32):
      %zero = arith.constant 0 : i32
      %poison = arith.constant -2147483648 : i32
      %left = arith.cmpi eq, %l, %poison : i32
      %right = arith.cmpi eq, %r, %poison : i32
      %either = arith.ori %left, %right : i1
      %none = arith.cmpi eq, %r, %zero : i32
      %last = arith.select %none, %l, %r : i32
      %all = arith.select %either, %poison, %last : i32
      qd.yield %all : i32
    }",
);

/// Custom combiners must not see elements past the end: everything after the last
/// one is poison, which one look at it would spread to the result. Kinds, and
/// algorithms that only move, have it after the last one as well.
#[test]
fn elements_past_the_end() {
    const SMALL: &str = "{qd.tuning = {threads = 64, items = 20}}";
    // More than a tile is, of any target.
    const ROOM: usize = 12_000;
    let sizes = [0, 1, 257, 5000];
    for (nth, algorithm) in ALGORITHMS.into_iter().enumerate() {
        let wave = turn(nth);
        for (combiner, choices, depth) in [
            (LAST_BUT_ZERO, "", 2),
            (LAST_BUT_ZERO, "", 1),
            (LAST_BUT_ZERO, SMALL, 2),
            (Combiner::Kind("minsi"), "", 3),
        ] {
            // GPUs' sorts have tiles that are no smaller.
            if algorithm == "sort" && choices == SMALL {
                continue;
            }
            let kernel = Kernel {
                combiner,
                choices,
                ..Kernel::new(algorithm, "i32", depth)
            };
            let subject = Subject::new(kernel.text());
            for n in sizes.into_iter().filter(|n| *n <= 256usize.pow(depth)) {
                let Data::I32(mut elements) = generate("i32", Input::FewDistinct, n, 2) else {
                    unreachable!("numbers of this type");
                };
                elements.resize(n + ROOM, POISON);
                let arguments = kernel.arguments(Data::I32(elements), n);
                let about = format!("{algorithm}, n = {n}, poison behind, wave {wave}");
                subject.check(wave, &arguments, &about);
            }
        }
    }
    report("elements past the end");
}
