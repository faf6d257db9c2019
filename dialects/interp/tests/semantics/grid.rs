//! Kernels: phases, loops over them, launches, buffers, atomics, dispatch.

use crate::support::*;
use qd_interp::{Argument, Buffer, Element, Options, Part, Scalar};

#[test]
fn for_each_stops_at_the_count() {
    let text = "
      qd.grid.kernel @k(%a: memref<?xi32>, %n: memref<i32>, %m: memref<?xi32>) {
        %c0 = arith.constant 0 : index
        %len = memref.dim %a, %c0 : memref<?xi32>
        qd.grid.for_each \"scale\" %i to %len count(%n : memref<i32>) {
          %x = memref.load %a[%i] : memref<?xi32>
          %y = arith.addi %x, %x : i32
          memref.store %y, %a[%i] : memref<?xi32>
        }
        qd.grid.for_each %i to %len {
          %v = arith.index_cast %i : index to i32
          memref.store %v, %m[%i] : memref<?xi32>
        }
      }";
    for n in [0, 1, 63, 64, 65, 100, 1000] {
        let out = run(
            text,
            vec![buffer(&[3i32; 100]), count(n), buffer(&[0i32; 100])],
            8,
        );
        let expected: Vec<i32> = (0..100).map(|i| if i < n { 6 } else { 3 }).collect();
        assert_eq!(values::<i32>(&out[0]), expected);
        assert_eq!(values::<i32>(&out[2]), (0..100).collect::<Vec<_>>());
    }
    faults(
        text,
        vec![
            buffer(&[3i32; 100]),
            Buffer::scalar(-1i32).into(),
            buffer(&[0i32; 100]),
        ],
        8,
        &["qd.grid.for_each", "negative count"],
    );
}

#[test]
fn do_while_repeats() {
    // Halves until zero; the body runs at least once.
    let text = "
      qd.grid.kernel @k(%x: memref<i32>, %turns: memref<i32>, %flag: memref<i32>) {
        %c1 = arith.constant 1 : index
        qd.grid.do_while %flag : memref<i32> {
          qd.grid.phase blocks(%c1) threads(64) {
            %t = qd.simt.block.thread_id
            %c0 = arith.constant 0 : index
            %first = arith.cmpi eq, %t, %c0 : index
            scf.if %first {
              %one = arith.constant 1 : i32
              %v = memref.load %x[] : memref<i32>
              %h = arith.shrui %v, %one : i32
              memref.store %h, %x[] : memref<i32>
              memref.store %h, %flag[] : memref<i32>
              %n = memref.load %turns[] : memref<i32>
              %m = arith.addi %n, %one : i32
              memref.store %m, %turns[] : memref<i32>
            }
          }
        }
      }";
    for (x, turns) in [(0, 1), (1, 1), (2, 2), (1000, 10)] {
        let scalar = |v: i32| Argument::from(Buffer::scalar(v));
        let flag = Buffer::uninitialised(Element::I32, &[]).into();
        let (out, report) =
            run_with(text, vec![scalar(x), scalar(0), flag], options(32)).expect("no fault");
        assert_eq!(values::<i32>(&out[1]), [turns]);
        assert_eq!(report.phases, turns as u64);
    }
}

#[test]
fn if_runs_once_or_not_at_all() {
    // The body clears its own condition, which is read before it.
    let text = "
      qd.grid.kernel @k(%x: memref<i32>, %turns: memref<i32>) {
        %c1 = arith.constant 1 : index
        %word = qd.grid.control : memref<1xi32>
        qd.grid.for_each %i to %c1 {
          %v = memref.load %x[] : memref<i32>
          memref.store %v, %word[%i] : memref<1xi32>
        }
        qd.grid.if %word : memref<1xi32> {
          qd.grid.for_each %i to %c1 {
            %zero = arith.constant 0 : i32
            memref.store %zero, %word[%i] : memref<1xi32>
          }
          qd.grid.if %x : memref<i32> {
            qd.grid.for_each %i to %c1 {
              %one = arith.constant 1 : i32
              %n = memref.load %turns[] : memref<i32>
              %m = arith.addi %n, %one : i32
              memref.store %m, %turns[] : memref<i32>
            }
          }
        }
      }";
    for (x, turns) in [(0, 0), (1, 1), (-3, 1)] {
        let scalar = |v: i32| Argument::from(Buffer::scalar(v));
        let (out, report) =
            run_with(text, vec![scalar(x), scalar(0)], options(32)).expect("no fault");
        assert_eq!(values::<i32>(&out[1]), [turns]);
        assert_eq!(report.phases, 1 + 2 * turns as u64);
    }
    let unknown = Buffer::uninitialised(Element::I32, &[]).into();
    let text = "
      qd.grid.kernel @k(%x: memref<i32>) {
        qd.grid.if %x : memref<i32> {
        }
      }";
    faults(text, vec![unknown], 32, &["qd.grid.if", "condition"]);
}

#[test]
fn fills_and_views() {
    let text = "
      qd.grid.kernel @k(%s: memref<?xi32>, %out: memref<4xf32>, %wide: memref<2xi64>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c4 = arith.constant 4 : index
        %c6 = arith.constant 6 : index
        %zero = arith.constant 0 : i32
        qd.grid.fill %s[%c2 to %c6] = %zero : memref<?xi32>
        %f = qd.grid.view %s[%c2] [%c4] : memref<?xi32> to memref<?xf32>
        %w = qd.grid.view %s[%c2] [%c2] : memref<?xi32> to memref<?xi64>
        qd.grid.for_each %i to %c1 {
          %one = arith.constant 1.0 : f32
          memref.store %one, %f[%c1] : memref<?xf32>
        }
        qd.grid.for_each %i to %c4 {
          %x = memref.load %f[%i] : memref<?xf32>
          memref.store %x, %out[%i] : memref<4xf32>
        }
        qd.grid.for_each %i to %c2 {
          %x = memref.load %w[%i] : memref<?xi64>
          memref.store %x, %wide[%i] : memref<2xi64>
        }
      }";
    let arguments = vec![scratch(6), buffer(&[9f32; 4]), buffer(&[9i64; 2])];
    let out = run(text, arguments, 32);
    assert_eq!(values::<f32>(&out[1]), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(values::<u64>(&out[2]), [0x3F80_0000_0000_0000, 0]);
    let left = out[0].buffer().expect("a buffer");
    assert!(!left.is_initialised(1) && left.is_initialised(2) && left.is_initialised(5));

    let short = vec![scratch(5), buffer(&[9f32; 4]), buffer(&[9i64; 2])];
    faults(text, short, 32, &["qd.grid.fill", "out of bounds"]);
}

#[test]
fn views_stay_within_their_source() {
    let text = "
      qd.grid.kernel @k(%s: memref<?xi32>) {
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %w = qd.grid.view %s[%c1] [%c2] : memref<?xi32> to memref<?xi64>
      }";
    run(text, vec![scratch(5)], 4);
    faults(
        text,
        vec![scratch(4)],
        4,
        &["qd.grid.view", "out of bounds"],
    );
    let text = "
      qd.grid.kernel @k(%s: memref<?xi32>) {
        %c1 = arith.constant 1 : index
        %w = qd.grid.view %s[%c1] [%c1] : memref<?xi32> to memref<?xi64>
        qd.grid.for_each %i to %c1 {
          %c0 = arith.constant 0 : i64
          memref.store %c0, %w[%i] : memref<?xi64>
        }
      }";
    faults(text, vec![scratch(4)], 4, &["memref.store", "misaligned"]);
}

#[test]
fn subviews_and_casts() {
    let text = "
      qd.grid.kernel @k(%a: memref<?x3xi32>, %out: memref<?xi32>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %row = memref.subview %a[%c1, 0] [1, 3] [1, 1] : memref<?x3xi32> to memref<3xi32, strided<[1], offset: ?>>
        %column = memref.subview %a[0, 2] [%c4, 1] [1, 1] : memref<?x3xi32> to memref<?xi32, strided<[3], offset: 2>>
        %spaced = memref.memory_space_cast %out : memref<?xi32> to memref<?xi32, 1>
        %back = memref.memory_space_cast %spaced : memref<?xi32, 1> to memref<?xi32>
        %static = memref.cast %back : memref<?xi32> to memref<7xi32>
        %c3 = arith.constant 3 : index
        qd.grid.for_each %i to %c3 {
          %x = memref.load %row[%i] : memref<3xi32, strided<[1], offset: ?>>
          memref.store %x, %static[%i] : memref<7xi32>
        }
        qd.grid.for_each %i to %c4 {
          %x = memref.load %column[%i] : memref<?xi32, strided<[3], offset: 2>>
          %o = arith.addi %i, %c3 : index
          memref.store %x, %static[%o] : memref<7xi32>
        }
      }";
    let rows: Vec<i32> = (0..12).collect();
    let a = || {
        Argument::from(
            Buffer::from_slice(&rows)
                .reshaped(&[4, 3])
                .expect("12 elements"),
        )
    };
    let out = run(text, vec![a(), buffer(&[0i32; 7])], 32);
    assert_eq!(values::<i32>(&out[1]), [3, 4, 5, 2, 5, 8, 11]);
    faults(
        text,
        vec![a(), buffer(&[0i32; 8])],
        32,
        &["memref.cast", "size 8 to size 7"],
    );
}

#[test]
fn atomics() {
    let text = phase(
        "%sum: memref<1xi32>, %max: memref<1xf32>, %slots: memref<128xi32>, %cas: memref<1xi64>, %up: memref<1xi32>",
        2,
        64,
        "%c0 = arith.constant 0 : index
         %b = qd.simt.block.id
         %d = qd.simt.block.dim
         %t = qd.simt.block.thread_id
         %o = arith.muli %b, %d : index
         %i = arith.addi %o, %t : index
         %one = arith.constant 1 : i32
         %place = qd.grid.atomic.rmw add %one, %sum[%c0] device relaxed : memref<1xi32>
         %at = arith.index_cast %place : i32 to index
         %v = arith.index_cast %i : index to i32
         memref.store %v, %slots[%at] : memref<128xi32>
         %f = arith.sitofp %v : i32 to f32
         %old = qd.grid.atomic.rmw maxnumf %f, %max[%c0] device relaxed : memref<1xf32>
         %e = arith.constant 5 : i64
         %w = arith.index_cast %i : index to i64
         %was = qd.grid.atomic.cas %e, %w, %cas[%c0] device acq_rel : memref<1xi64>
         %m = memref.atomic_rmw maxs %v, %up[%c0] : (i32, memref<1xi32>) -> i32",
    );
    for seed in 0..4 {
        let arguments = vec![
            buffer(&[0i32]),
            buffer(&[-1f32]),
            scratch(128),
            buffer(&[5i64]),
            buffer(&[0i32]),
        ];
        let (out, _) = run_with(&text, arguments, hostile(8, seed)).expect("no fault");
        assert_eq!(values::<i32>(&out[0]), [128]);
        assert_eq!(values::<f32>(&out[1]), [127.0]);
        let mut slots = values::<i32>(&out[2]);
        assert!(
            slots.windows(2).any(|pair| pair[0] > pair[1]),
            "a random order"
        );
        slots.sort();
        assert_eq!(slots, (0..128).collect::<Vec<_>>(), "each place once");
        assert!((0..128).contains(&values::<i64>(&out[3])[0]));
        assert_eq!(values::<i32>(&out[4]), [127]);
    }
}

#[test]
fn exchanges_and_swaps_are_of_bits() {
    let text = phase(
        "%a: memref<64xf32>, %out: memref<64xf32>",
        1,
        64,
        "%t = qd.simt.block.thread_id
         %minus = arith.constant -0.0 : f32
         %plus = arith.constant 0.0 : f32
         %one = arith.constant 1.0 : f32
         %old = qd.grid.atomic.exchange %minus, %a[%t] device relaxed : memref<64xf32>
         memref.store %old, %out[%t] : memref<64xf32>
         %was = qd.grid.atomic.cas %plus, %one, %a[%t] device relaxed : memref<64xf32>",
    );
    let out = run(&text, vec![buffer(&[2.5f32; 64]), buffer(&[0f32; 64])], 16);
    let bits = |x: &f32| x.to_bits();
    let kept: Vec<_> = values::<f32>(&out[0]).iter().map(bits).collect();
    assert_eq!(kept, [(-0f32).to_bits(); 64], "-0 is not +0");
    assert_eq!(values::<f32>(&out[1]), [2.5; 64]);
}

const LAUNCHES: &str = "
  func.func private @fill(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
    %b = qd.simt.block.id
    %d = qd.simt.block.dim
    %t = qd.simt.block.thread_id
    %o = arith.muli %b, %d : index
    %i = arith.addi %o, %t : index
    memref.store %v, %a[%i] : memref<?xi32>
    return
  }
  func.func private @double(%a: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 128 : i64} {
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %out[%t] : memref<?xi32>
    return
  }";

#[test]
fn launches_run_outlined_bodies() {
    let text = |after: &str| {
        format!(
            "{LAUNCHES}
             qd.grid.kernel @k(%a: memref<?xi32>, %b: memref<?xi32>, %out: memref<?xi32>, %v: i32) {{
               %c2 = arith.constant 2 : index
               %c1 = arith.constant 1 : index
               %c9 = arith.constant 9 : i32
               qd.grid.launch 0 @fill blocks(%c2) args(%a, %v : memref<?xi32>, i32)
               qd.grid.launch 1 @fill blocks(%c2) args(%b, %c9 : memref<?xi32>, i32)
               qd.grid.launch 2 @double blocks(%c1) args(%a, %out : memref<?xi32>, memref<?xi32>) {after}
             }}"
        )
    };
    let arguments = || {
        let clear = || buffer(&[0i32; 128]);
        vec![clear(), clear(), clear(), Scalar::from(21i32).into()]
    };
    let out = run(&text("after [0]"), arguments(), 16);
    assert_eq!(values::<i32>(&out[2]), [42; 128]);
    assert_eq!(values::<i32>(&out[1]), [9; 128]);
    // What it reads, launch 0 writes: waiting for launch 1 is not enough.
    faults(
        &text("after [1]"),
        arguments(),
        16,
        &["memref.load", "data race", "'after'", "memref.store"],
    );
    faults(&text(""), arguments(), 16, &["data race", "'after'"]);
}

#[test]
fn launches_wait_for_what_others_wait_for() {
    let text = format!(
        "{LAUNCHES}
         qd.grid.kernel @k(%a: memref<?xi32>, %b: memref<?xi32>) {{
           %c2 = arith.constant 2 : index
           %c1 = arith.constant 1 : index
           %c9 = arith.constant 9 : i32
           qd.grid.launch 0 @fill blocks(%c2) args(%a, %c9 : memref<?xi32>, i32)
           qd.grid.launch 1 @double blocks(%c1) args(%a, %b : memref<?xi32>, memref<?xi32>) after [0]
           qd.grid.launch 2 @fill blocks(%c2) args(%a, %c9 : memref<?xi32>, i32) after [1]
         }}"
    );
    run(&text, vec![buffer(&[0i32; 128]), buffer(&[0i32; 128])], 64);
    let apart = text.replace("after [1]", "after [0]");
    // The second reads what the third overwrites.
    faults(
        &apart,
        vec![buffer(&[0i32; 128]), buffer(&[0i32; 128])],
        64,
        &["memref.store", "memref.load"],
    );
}

/// Two readers that may run at the same time; the writer waits for both.
#[test]
fn every_reader_counts() {
    let text = |after: &str| {
        format!(
            "{LAUNCHES}
             qd.grid.kernel @k(%a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>) {{
               %c2 = arith.constant 2 : index
               %c1 = arith.constant 1 : index
               %c9 = arith.constant 9 : i32
               qd.grid.launch 0 @double blocks(%c1) args(%a, %b : memref<?xi32>, memref<?xi32>)
               qd.grid.launch 1 @double blocks(%c1) args(%a, %c : memref<?xi32>, memref<?xi32>)
               qd.grid.launch 2 @fill blocks(%c2) args(%a, %c9 : memref<?xi32>, i32) after {after}
             }}"
        )
    };
    let arguments = || {
        vec![
            buffer(&[1i32; 128]),
            buffer(&[0i32; 128]),
            buffer(&[0i32; 128]),
        ]
    };
    let out = run(&text("[0, 1]"), arguments(), 32);
    assert_eq!(values::<i32>(&out[2]), [2; 128]);
    faults(&text("[1]"), arguments(), 32, &["data race", "'after'"]);
    faults(&text("[0]"), arguments(), 32, &["data race", "'after'"]);
}

#[test]
fn dispatch_takes_the_first_eligible() {
    let text = |last: &str| {
        format!(
            "qd.grid.kernel @one(%a: memref<?xi32>) {{
               %c1 = arith.constant 1 : index
               qd.grid.for_each %i to %c1 {{
                 %v = arith.constant 1 : i32
                 memref.store %v, %a[%i] : memref<?xi32>
               }}
             }}
             qd.grid.kernel @two(%a: memref<?xi32>) {{
               %c1 = arith.constant 1 : index
               qd.grid.for_each %i to %c1 {{
                 %v = arith.constant 2 : i32
                 memref.store %v, %a[%i] : memref<?xi32>
               }}
             }}
             qd.grid.kernel @k(%a: memref<?xi32>) {{
               %c0 = arith.constant 0 : index
               %c10 = arith.constant 10 : index
               qd.grid.dispatch(%a : memref<?xi32>) {{
                 qd.grid.variant @one when {{
                   %d = memref.dim %a, %c0 : memref<?xi32>
                   %p = arith.cmpi uge, %d, %c10 : index
                   qd.yield %p : i1
                 }}
                 {last}
               }}
             }}"
        )
    };
    let both = text("qd.grid.variant @two");
    assert_eq!(
        values::<i32>(&run(&both, vec![buffer(&[0i32; 10])], 4)[0])[0],
        1
    );
    assert_eq!(
        values::<i32>(&run(&both, vec![buffer(&[0i32; 9])], 4)[0])[0],
        2
    );
    faults(
        &text(""),
        vec![buffer(&[0i32; 9])],
        4,
        &["qd.grid.dispatch", "no eligible variant"],
    );
}

#[test]
fn addresses_of_buffers_are_as_far_apart_as_their_elements() {
    let text = "
      qd.grid.kernel @k(%a: memref<8xi32>, %b: memref<8xi32>, %out: memref<2xindex>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %part = memref.subview %a[3] [5] [1] : memref<8xi32> to memref<5xi32, strided<[1], offset: 3>>
        %begin = memref.extract_aligned_pointer_as_index %a : memref<8xi32> -> index
        %of_part = memref.extract_aligned_pointer_as_index %part : memref<5xi32, strided<[1], offset: 3>> -> index
        %of_b = memref.extract_aligned_pointer_as_index %b : memref<8xi32> -> index
        %within = arith.subi %of_part, %begin : index
        %c32 = arith.constant 32 : index
        %end = arith.addi %begin, %c32 : index
        %end_b = arith.addi %of_b, %c32 : index
        %before = arith.cmpi ule, %end, %of_b : index
        %behind = arith.cmpi ule, %end_b, %begin : index
        %apart = arith.ori %before, %behind : i1
        %is_apart = arith.index_castui %apart : i1 to index
        qd.grid.for_each %i to %c1 {
          memref.store %within, %out[%c0] : memref<2xindex>
          memref.store %is_apart, %out[%c1] : memref<2xindex>
        }
      }";
    let arguments = vec![buffer(&[0i32; 8]), buffer(&[0i32; 8]), buffer(&[9usize; 2])];
    assert_eq!(values::<usize>(&run(text, arguments, 4)[2]), [12, 1]);
}

#[test]
fn scratch_slots_of_the_contract() {
    let slots = |algorithm: &str, n: usize, depth: u32| {
        let text = format!(
            "qd.grid.kernel @k(%out: memref<1xindex>, %n: index) {{
               %s = qd.algo.scratch_slots {algorithm} %n, {depth}
               %c1 = arith.constant 1 : index
               qd.grid.for_each %i to %c1 {{
                 memref.store %s, %out[%i] : memref<1xindex>
               }}
             }}"
        );
        let out = run(&text, vec![buffer(&[0usize]), Scalar::from(n).into()], 4);
        values::<usize>(&out[0])[0]
    };
    type Row = (usize, [usize; 4], [usize; 4], usize, usize);
    let rows: [Row; 6] = [
        (0, [1, 1, 1, 1], [1, 1, 1, 1], 1, 1),
        (1, [1, 1, 2, 3], [256, 257, 258, 259], 2, 1),
        (257, [1, 2, 3, 4], [512, 514, 515, 516], 259, 259),
        (
            65_536,
            [1, 256, 257, 258],
            [65_536, 65_792, 65_793, 65_794],
            65_792,
            65_792,
        ),
        (
            65_537,
            [1, 257, 259, 260],
            [65_792, 66_049, 66_051, 66_052],
            65_796,
            65_796,
        ),
        (
            1_000_000,
            [1, 3907, 3923, 3924],
            [1_000_192, 1_004_099, 1_004_115, 1_004_116],
            1_003_923,
            1_003_923,
        ),
    ];
    for (n, hierarchical, sort, select, by_key) in rows {
        for depth in 1..=4 {
            let at = depth as usize - 1;
            for algorithm in ["reduce", "exclusive_scan", "inclusive_scan"] {
                assert_eq!(
                    slots(algorithm, n, depth),
                    hierarchical[at],
                    "{algorithm} {n} {depth}"
                );
            }
            // The contract's table gives sort of nothing as 1.
            assert_eq!(
                slots("sort", n, depth),
                if n == 0 { 1 } else { sort[at] },
                "sort {n} {depth}"
            );
            assert_eq!(slots("select", n, depth), select);
            assert_eq!(slots("partition", n, depth), select);
            assert_eq!(slots("reduce_by_key", n, depth), by_key);
        }
    }
}

#[test]
fn entries_and_arguments_are_checked() {
    let text = "qd.grid.kernel @k(%a: memref<4xi32>, %s: f32) { }";
    let a = || buffer(&[0i32; 4]);
    let s = || Argument::from(Scalar::from(1f32));
    run(text, vec![a(), s()], 32);
    faults(text, vec![a()], 32, &["takes 2 arguments, but is given 1"]);
    faults(
        text,
        vec![s(), s()],
        32,
        &["argument 0", "scalar where the kernel takes a buffer"],
    );
    faults(
        text,
        vec![a(), a()],
        32,
        &["argument 1", "buffer where the kernel takes a scalar"],
    );
    faults(
        text,
        vec![buffer(&[0f32; 4]), s()],
        32,
        &["argument 0", "holds f32", "i32"],
    );
    faults(
        text,
        vec![buffer(&[0i32; 5]), s()],
        32,
        &["argument 0", "shape"],
    );
    faults(
        text,
        vec![a(), Scalar::from(1i32).into()],
        32,
        &["argument 1", "i32", "f32"],
    );
    faults(
        "qd.grid.kernel @other() { }",
        vec![],
        32,
        &["no kernel @k", "@other"],
    );
    let odd = Options {
        wave: 12,
        ..Options::default()
    };
    let fault = run_with(text, vec![a(), s()], odd).expect_err("a wave of 12");
    assert!(fault.to_string().contains("not 12"), "{fault}");
}

/// The known answer of Salmon et al. for a counter and a key of zeros, kept from one phase to the next.
#[test]
fn scratch_outlives_a_phase_and_views_are_of_the_same_elements() {
    let text = "
      qd.grid.kernel @k(%a: memref<?xi32>) {
        %c2 = arith.constant 2 : index
        %kept = qd.grid.scratch : memref<4xi32>
        %table = memref.reinterpret_cast %a to offset: [0], sizes: [%c2, 2], strides: [2, 1]
          : memref<?xi32> to memref<?x2xi32, strided<[2, 1]>>
        %flat = memref.collapse_shape %table [[0, 1]]
          : memref<?x2xi32, strided<[2, 1]>> into memref<?xi32, strided<[1]>>
        %one = arith.constant 1 : index
        qd.grid.phase blocks(%one) threads(1) {
          %zero = arith.constant 0 : i32
          %r:4 = qd.math.philox %zero, %zero, %zero, %zero key %zero, %zero
          %c0 = arith.constant 0 : index
          %c3 = arith.constant 3 : index
          memref.store %r#0, %kept[%c0] : memref<4xi32>
          memref.store %r#3, %kept[%c3] : memref<4xi32>
        }
        qd.grid.phase blocks(%one) threads(1) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c3 = arith.constant 3 : index
          %x = memref.load %kept[%c0] : memref<4xi32>
          %y = memref.load %kept[%c3] : memref<4xi32>
          memref.store %x, %table[%c1, %c1] : memref<?x2xi32, strided<[2, 1]>>
          memref.store %y, %flat[%c0] : memref<?xi32, strided<[1]>>
        }
      }";
    let out = run(text, vec![buffer(&[7i32; 4])], 8);
    let expected = [0x9b00_dbd8_u32 as i32, 7, 7, 0x6627_e8d5];
    assert_eq!(values::<i32>(&out[0]), expected);
}

/// `%to` is a part of `%from`, which it may overlap: what is written to one is read from the other.
#[test]
fn arguments_that_are_parts_of_others() {
    let text = "qd.grid.kernel @k(%to: memref<?xi32> {qd.may_alias}, %from: memref<?xi32> {qd.may_alias}) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %to, %c0 : memref<?xi32>
      qd.grid.for_each %i to %n {
        %v = arith.index_cast %i : index to i32
        memref.store %v, %to[%i] : memref<?xi32>
      }
      qd.grid.for_each %i to %n {
        %v = memref.load %from[%i] : memref<?xi32>
        memref.store %v, %to[%i] : memref<?xi32>
      }
    }";
    let part = |of, first, count: usize| {
        Argument::from(Part {
            of,
            first,
            shape: vec![count],
        })
    };
    let whole = || buffer(&[9i32; 6]);
    // The second `for_each` reads elements that other threads of it write.
    faults(text, vec![part(1, 1, 4), whole()], 4, &["race"]);
    let out = run(text, vec![part(1, 0, 4), whole()], 4);
    assert_eq!(values::<i32>(&out[1]), [0, 1, 2, 3, 9, 9]);
    let out = run(text, vec![part(1, 3, 3), whole()], 4);
    assert_eq!(values::<i32>(&out[1]), [9, 9, 9, 9, 9, 9]);

    // Without the attribute only what is not written may be shared.
    let one_may = text.replacen(" {qd.may_alias}", "", 1);
    let not_both = [
        "argument 1 overlaps argument 0",
        "not both have qd.may_alias",
    ];
    faults(&one_may, vec![part(1, 0, 4), whole()], 4, &not_both);
    let read = "qd.grid.kernel @k(%to: memref<?xi32>, %a: memref<?xi32>, %b: memref<?xi32>) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %to, %c0 : memref<?xi32>
      qd.grid.for_each %i to %n {
        %x = memref.load %a[%i] : memref<?xi32>
        %y = memref.load %b[%i] : memref<?xi32>
        %z = arith.addi %x, %y : i32
        memref.store %z, %to[%i] : memref<?xi32>
      }
    }";
    let out = run(read, vec![whole(), buffer(&[4i32; 6]), part(1, 0, 6)], 4);
    assert_eq!(values::<i32>(&out[0]), [8; 6]);

    let four_of_six = [
        "argument 0",
        "4 elements from element 3 on of argument 1, which has 6",
    ];
    faults(text, vec![part(1, 3, 4), whole()], 4, &four_of_six);
    faults(
        text,
        vec![whole(), part(1, 0, 4)],
        4,
        &["argument 1, which is no buffer"],
    );
    let of_bytes = vec![part(1, 0, 4), buffer(&[9i8; 6])];
    faults(
        text,
        of_bytes,
        4,
        &["argument 0: holds i8 where the kernel takes i32"],
    );
}
