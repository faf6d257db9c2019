//! Steps around launches, on a target, compared with the interpreter: nested loops,
//! algorithms in them, fills of every width, and dispatch.

use qd_conformance::{Data, Expect, Subject, affordable, all, any_wave, report};

/// One less in a word.
fn one_less(word: &str) -> String {
    format!(
        "qd.grid.for_each %i to %c1 {{
           %one = arith.constant 1 : i32
           %x = memref.load {word}[] : memref<i32>
           %y = arith.subi %x, %one : i32
           memref.store %y, {word}[] : memref<i32>
         }}"
    )
}

/// Adds to all of `%a`.
fn add(what: i32) -> String {
    format!(
        "qd.grid.for_each %i to %len {{
           %what = arith.constant {what} : i32
           %x = memref.load %a[%i] : memref<?xi32>
           %y = arith.addi %x, %what : i32
           memref.store %y, %a[%i] : memref<?xi32>
         }}"
    )
}

/// Adds 1 to all of `%a` as often as `%m` says.
fn count() -> String {
    let (one, less) = (add(1), one_less("%m"));
    format!("qd.grid.do_while %m : memref<i32> {{ {one} {less} }}")
}

/// The outer loop goes round `%n` times, and the inner one as often as the outer
/// one has left; `%a` counts what each thread does.
fn nested() -> String {
    let (count, less) = (count(), one_less("%n"));
    format!(
        "qd.grid.kernel @main(%n: memref<i32>, %m: memref<i32>, %a: memref<?xi32>) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %len = memref.dim %a, %c0 : memref<?xi32>
           qd.grid.do_while %n : memref<i32> {{
             qd.grid.for_each %i to %c1 {{
               %left = memref.load %n[] : memref<i32>
               memref.store %left, %m[] : memref<i32>
             }}
             {count}
             {less}
           }}
         }}"
    )
}

#[test]
fn loops_in_loops() {
    for n in [1, 2, 5] {
        let data = [Data::Count(n), Data::Count(0), Data::I32(vec![0; 1000])];
        Subject::new(nested()).check(any_wave(), &all(data), &format!("nested loops, n = {n}"));
    }
    report("loops in loops");
}

/// Of the rounds, those of an odd number add to `%a`, by a condition that the round
/// makes, and all of them if `%all` is set; the loop in the choice goes round as often
/// as is left.
fn choices() -> String {
    let (count, less, hundred) = (count(), one_less("%n"), add(100));
    format!(
        "qd.grid.kernel @main(%n: memref<i32>, %m: memref<i32>, %all: memref<i32>, %a: memref<?xi32>) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %len = memref.dim %a, %c0 : memref<?xi32>
           qd.grid.do_while %n : memref<i32> {{
             %odd = qd.grid.control : memref<1xi32>
             qd.grid.for_each %i to %c1 {{
               %one = arith.constant 1 : i32
               %left = memref.load %n[] : memref<i32>
               memref.store %left, %m[] : memref<i32>
               %bit = arith.andi %left, %one : i32
               memref.store %bit, %odd[%i] : memref<1xi32>
             }}
             qd.grid.if %odd : memref<1xi32> {{
               {count}
               qd.grid.for_each %i to %c1 {{
                 %zero = arith.constant 0 : i32
                 memref.store %zero, %odd[%i] : memref<1xi32>
               }}
             }}
             {less}
           }}
           qd.grid.if %all : memref<i32> {{ {hundred} }}
         }}"
    )
}

#[test]
fn choices_and_loops() {
    for (n, chosen) in [(1, 0), (2, 7), (5, -1), (4, 0)] {
        let data = [
            Data::Count(n),
            Data::Count(0),
            Data::Count(chosen),
            Data::I32(vec![0; 1000]),
        ];
        let about = format!("choices in {n} rounds, and {chosen}");
        Subject::new(choices()).check(any_wave(), &all(data), &about);
    }
    report("choices and loops");
}

/// Each thread goes round as often as it says, and on from what it was given.
const ROUNDS: &str = "
qd.grid.kernel @main(%rounds: memref<?xi32>, %a: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %len {
    %from = arith.constant 0 : index
    %step = arith.constant 1 : index
    %n = memref.load %rounds[%i] : memref<?xi32>
    %to = arith.index_cast %n : i32 to index
    %given = memref.load %a[%i] : memref<?xi32>
    %three = arith.constant 3 : i32
    %sum = scf.for %r = %from to %to step %step iter_args(%x = %given) -> (i32) {
      %y = arith.muli %x, %three : i32
      scf.yield %y : i32
    }
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}";

#[test]
fn loops_of_no_round() {
    for rounds in [vec![0; 300], (0..300).map(|i| i % 3 - 1).collect()] {
        let data = [Data::I32(rounds), Data::I32((7..307).collect())];
        Subject::new(ROUNDS).check(any_wave(), &all(data), "loops of few rounds");
    }
    report("loops of no round");
}

/// Blocks count themselves, and the last of them adds what the others wrote: round
/// after round, and the count goes on from 0 each time.
const LAST_BLOCK: &str = "
qd.grid.kernel @main(%n: memref<i32>, %parts: memref<?xi32>, %sum: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %blocks = memref.dim %parts, %c0 : memref<?xi32>
  qd.grid.do_while %n : memref<i32> {
    %other = qd.grid.control : memref<3xi32>
    %finished = qd.grid.control : memref<1xi32>
    qd.grid.phase blocks(%blocks) threads(64) {
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %t = qd.simt.block.thread_id
      %b = qd.simt.block.id
      %number = qd.simt.grid.dim
      %leads = arith.cmpi eq, %t, %i0 : index
      scf.if %leads {
        %round = memref.load %n[] : memref<i32>
        %id = arith.index_cast %b : index to i32
        %part = arith.addi %id, %round : i32
        memref.store %part, %parts[%b] : memref<?xi32>
        %before = qd.grid.atomic.rmw add %one, %finished[%i0] device acq_rel : memref<1xi32>
        %after = arith.addi %before, %one : i32
        %all = arith.index_cast %after : i32 to index
        %last = arith.cmpi eq, %all, %number : index
        scf.if %last {
          %known = memref.load %sum[] : memref<i32>
          %new = scf.for %k = %i0 to %number step %i1 iter_args(%x = %known) -> (i32) {
            %p = memref.load %parts[%k] : memref<?xi32>
            %y = arith.addi %x, %p : i32
            scf.yield %y : i32
          }
          memref.store %new, %sum[] : memref<i32>
          qd.grid.atomic.store %zero, %finished[%i0] device relaxed : memref<1xi32>
        }
      }
    }
    qd.grid.for_each %i to %c1 {
      %one = arith.constant 1 : i32
      %x = memref.load %n[] : memref<i32>
      %y = arith.subi %x, %one : i32
      memref.store %y, %n[] : memref<i32>
    }
  }
}";

#[test]
fn the_last_block() {
    for (rounds, blocks) in [(1, 1), (3, 2), (5, 700)] {
        let data = [
            Data::Count(rounds),
            Data::I32(vec![-1; blocks]),
            Data::Count(0),
        ];
        let label = format!("the last of {blocks} blocks, {rounds} rounds");
        Subject::new(LAST_BLOCK).check(any_wave(), &all(data), &label);
    }
    report("the last block");
}

/// Sums what is live and halves that, until nothing is.
const ALGORITHMS: &str = "
qd.grid.kernel @main(%a: memref<?xi32>, %o: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  %c1 = arith.constant 1 : index
  qd.grid.do_while %n : memref<i32> {
    qd.algo.inclusive_scan add ins(%a : memref<?xi32>) outs(%o : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
    %c0 = arith.constant 0 : index
    %len = memref.dim %a, %c0 : memref<?xi32>
    qd.grid.for_each %i to %len count(%n : memref<i32>) {
      %v = memref.load %o[%i] : memref<?xi32>
      memref.store %v, %a[%i] : memref<?xi32>
    }
    qd.grid.for_each %i to %c1 {
      %two = arith.constant 2 : i32
      %x = memref.load %n[] : memref<i32>
      %y = arith.divui %x, %two : i32
      memref.store %y, %n[] : memref<i32>
    }
  }
}";

#[test]
fn algorithms_in_loops() {
    let sizes = affordable([5001, 70_000]);
    let n = *sizes.last().expect("the first") as u64;
    let slots = qd_lowering::algorithms::scratch::scan_scratch_slots(n, Some(3));
    let mut arguments = all([
        Data::I32(vec![1; n as usize]),
        Data::I32(vec![0; n as usize]),
        Data::I32(vec![0; slots.expect("a depth from 1 to 4") as usize]),
        Data::Count(n as i32),
    ]);
    arguments[2].expect = Expect::Scratch;
    Subject::new(ALGORITHMS).check(any_wave(), &arguments, "algorithms in a loop");
    report("algorithms in loops");
}

#[test]
fn fills_of_every_width() {
    for (element, value) in [
        ("i1", "1"),
        ("i8", "-2"),
        ("i16", "0x0102"),
        ("f16", "-1.5"),
        ("bf16", "-1.5"),
        ("i32", "0x01020304"),
        ("f32", "-1.5"),
        ("i64", "0x0102030405060708"),
        ("i64", "-1"),
        ("f64", "-1.5"),
    ] {
        let source = format!(
            "qd.grid.kernel @main(%a: memref<?x{element}>) {{
               %v = arith.constant {value} : {element}
               %c3 = arith.constant 3 : index
               %c0 = arith.constant 0 : index
               %len = memref.dim %a, %c0 : memref<?x{element}>
               qd.grid.fill %a[%c3 to %len] = %v : memref<?x{element}>
             }}"
        );
        for n in [3, 4, 1001] {
            let data = match element {
                "i1" => Data::Bool(vec![false; n]),
                "i8" => Data::I8(vec![7; n]),
                "i16" => Data::I16(vec![7; n]),
                "f16" => Data::F16(vec![7; n]),
                "bf16" => Data::BF16(vec![7; n]),
                "i32" => Data::I32(vec![7; n]),
                "f32" => Data::F32(vec![7.0; n]),
                "i64" => Data::I64(vec![7; n]),
                _ => Data::F64(vec![7.0; n]),
            };
            Subject::new(source.clone()).check(
                any_wave(),
                &all([data]),
                &format!("fill of {n} {element} with {value}"),
            );
        }
    }
    report("fills");
}

const DISPATCH: &str = "
qd.grid.kernel @main(%a: memref<?xi32>, %o: memref<?xi32>) {
  qd.grid.dispatch(%a, %o : memref<?xi32>, memref<?xi32>) {
    qd.grid.variant @twice when {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %len = memref.dim %a, %c0 : memref<?xi32>
      %long = arith.cmpi uge, %len, %c4 : index
      qd.yield %long : i1
    }
    qd.grid.variant @same
  }
}";

#[test]
fn dispatch_by_length() {
    let variant = |name: &str, times: i32| {
        format!(
            "qd.grid.kernel @{name}(%a: memref<?xi32>, %o: memref<?xi32>) {{
               %c0 = arith.constant 0 : index
               %len = memref.dim %a, %c0 : memref<?xi32>
               qd.grid.for_each %i to %len {{
                 %t = arith.constant {times} : i32
                 %x = memref.load %a[%i] : memref<?xi32>
                 %y = arith.muli %x, %t : i32
                 memref.store %y, %o[%i] : memref<?xi32>
               }}
             }}"
        )
    };
    let source = format!(
        "{DISPATCH}\n{}\n{}",
        variant("twice", 2),
        variant("same", 1)
    );
    for n in [1, 3, 4, 300] {
        let data = [Data::I32((0..n).collect()), Data::I32(vec![0; n as usize])];
        Subject::new(source.clone()).check(any_wave(), &all(data), &format!("dispatch, n = {n}"));
    }
    report("dispatch");
}
