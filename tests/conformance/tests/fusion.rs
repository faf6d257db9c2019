//! Elementwise phases in front of algorithms, fused into these, on a target against
//! the interpreter of both as they are written. Nothing is written between them.

use qd_conformance::{
    Argument, Data, Expect, Input, Subject, affordable, generate, given, report, waves,
};
use qd_lowering::algorithms::scratch as sizing;

const SIZES: [usize; 9] = [0, 1, 255, 256, 257, 4095, 4096, 4097, 20_000];

/// Elements after the live ones.
const ROOM: usize = 37;

/// Scratch of the phases: nothing may write it.
fn unused(element: &str, n: usize) -> Argument {
    Argument {
        data: generate(element, Input::AllEqual, n, 0),
        expect: Expect::Unused,
    }
}

fn scratch(slots: u64) -> Argument {
    Argument {
        data: Data::I32(vec![0; slots as usize]),
        expect: Expect::Scratch,
    }
}

/// Runs `check` over sizes, inputs and waves, which take turns.
fn cover(mut check: impl FnMut(usize, u32, Input)) {
    let inputs = &Input::ALL[..7];
    for (i, n) in affordable(SIZES).into_iter().enumerate() {
        let wave = waves()[i % waves().len()];
        check(n, wave, inputs[i % inputs.len()]);
    }
}

/// A kernel whose phase \"map\" makes `%y` of `%x`, both of `element`, in front of an algorithm.
fn source(element: &str, map: &str, arguments: &str, algorithm: &str) -> String {
    format!(
        "qd.grid.kernel @main(%x: memref<?x{element}>, %y: memref<?x{element}> {{qd.scratch}}, \
         %s: memref<?xi32>, %n: memref<i32>, {arguments}) {{
           %c0 = arith.constant 0 : index
           %len = memref.dim %x, %c0 : memref<?x{element}>
           qd.grid.for_each \"map\" %i to %len count(%n : memref<i32>) {{
             %v = memref.load %x[%i] : memref<?x{element}>
             {map}
             memref.store %w, %y[%i] : memref<?x{element}>
           }}
           {algorithm} scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
         }}"
    )
}

#[test]
fn sum_of_squares() {
    for (element, multiply) in [("i32", "arith.muli"), ("f32", "arith.mulf")] {
        let source = source(
            element,
            &format!("%w = {multiply} %v, %v : {element}"),
            &format!("%o: memref<1x{element}>"),
            &format!(
                "qd.algo.reduce add ins(%y : memref<?x{element}>) outs(%o : memref<1x{element}>)"
            ),
        );
        cover(|n, wave, input| {
            let x = generate(element, input, n + ROOM, 1);
            let squares = match &x {
                Data::F32(x) => Data::F32(x.iter().map(|x| x * x).collect()),
                _ => Data::I32(Vec::new()),
            };
            // The bound of any order of summation, n·ε·Σ|x|.
            let within = n as f64 * f64::from(f32::EPSILON) * squares.magnitude();
            let slots = sizing::reduce_scratch_slots((n + ROOM) as u64, Some(2)).expect("a depth");
            let arguments = [
                given(x),
                unused(element, n + ROOM),
                scratch(slots),
                given(Data::Count(n as i32)),
                Argument {
                    data: generate(element, Input::AllEqual, 1, 0),
                    expect: Expect::Close(within),
                },
            ];
            let about = format!("sum of squares, {n} {element}, {input:?}, wave {wave}");
            Subject::new(&source).check(wave, &arguments, &about);
        });
    }
    report("sum of squares");
}

#[test]
fn select_by_a_predicate() {
    let source = source(
        "i32",
        "%t = arith.constant 3 : i32
         %p = arith.cmpi sgt, %v, %t : i32
         %w = arith.extui %p : i1 to i32",
        "%o: memref<?xi32>, %num: memref<i32>",
        "qd.algo.select ins(%x, %y : memref<?xi32>, memref<?xi32>) \
         outs(%o, %num : memref<?xi32>, memref<i32>)",
    );
    cover(|n, wave, input| {
        let arguments = [
            given(generate("i32", input, n + ROOM, 2)),
            unused("i32", n + ROOM),
            scratch(sizing::select_scratch_slots((n + ROOM) as u64)),
            given(Data::Count(n as i32)),
            given(Data::I32(vec![7; n + ROOM])),
            given(Data::Count(-1)),
        ];
        let about = format!("select by a predicate, {n}, {input:?}, wave {wave}");
        Subject::new(&source).check(wave, &arguments, &about);
    });
    report("select by a predicate");
}

#[test]
fn scan_of_a_map() {
    let source = source(
        "i32",
        "%t = arith.constant 5 : i32
         %w = arith.andi %v, %t : i32",
        "%o: memref<?xi32>",
        "qd.algo.exclusive_scan add ins(%y : memref<?xi32>) outs(%o : memref<?xi32>)",
    );
    cover(|n, wave, input| {
        let slots = sizing::scan_scratch_slots((n + ROOM) as u64, Some(2)).expect("a depth");
        let arguments = [
            given(generate("i32", input, n + ROOM, 3)),
            unused("i32", n + ROOM),
            scratch(slots),
            given(Data::Count(n as i32)),
            given(Data::I32(vec![7; n + ROOM])),
        ];
        let about = format!("scan of a map, {n}, {input:?}, wave {wave}");
        Subject::new(&source).check(wave, &arguments, &about);
    });
    report("scan of a map");
}

#[test]
fn reduce_by_key_of_mapped_values() {
    let source = source(
        "i32",
        "%w = arith.muli %v, %v : i32",
        "%k: memref<?xi32>, %keys: memref<?xi32>, %sums: memref<?xi32>, %num: memref<i32>",
        "qd.algo.reduce_by_key add ins(%k, %y : memref<?xi32>, memref<?xi32>) \
         outs(%keys, %sums, %num : memref<?xi32>, memref<?xi32>, memref<i32>)",
    );
    cover(|n, wave, input| {
        let arguments = [
            given(generate("i32", input, n + ROOM, 4)),
            unused("i32", n + ROOM),
            scratch(sizing::reduce_by_key_scratch_slots((n + ROOM) as u64)),
            given(Data::Count(n as i32)),
            given(generate("i32", Input::Grouped, n + ROOM, 5)),
            given(Data::I32(vec![7; n + ROOM])),
            given(Data::I32(vec![7; n + ROOM])),
            given(Data::Count(-1)),
        ];
        let about = format!("reduce by key of squares, {n}, {input:?}, wave {wave}");
        Subject::new(&source).check(wave, &arguments, &about);
    });
    report("reduce by key of squares");
}

/// Two maps and a constant, in a loop that goes round `%turns` times and changes what
/// the maps read after their reader.
const LOOP: &str = "
qd.grid.kernel @main(%x: memref<?xi32>, %y: memref<?xi32> {qd.scratch}, %z: memref<?xi32> {qd.scratch}, \
    %ones: memref<?xi32> {qd.scratch}, %s: memref<?xi32>, %n: memref<i32>, %o: memref<?xi32>, %turns: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.fill %ones[%c0 to %len] = %one : memref<?xi32>
  qd.grid.do_while %turns : memref<i32> {
    qd.grid.for_each \"square\" %i to %len {
      %v = memref.load %x[%i] : memref<?xi32>
      %w = arith.muli %v, %v : i32
      memref.store %w, %y[%i] : memref<?xi32>
    }
    qd.grid.for_each \"add one\" %i to %len count(%n : memref<i32>) {
      %v = memref.load %y[%i] : memref<?xi32>
      %u = memref.load %ones[%i] : memref<?xi32>
      %w = arith.addi %v, %u : i32
      memref.store %w, %z[%i] : memref<?xi32>
    }
    qd.algo.inclusive_scan add ins(%z : memref<?xi32>) outs(%o : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
    qd.grid.for_each \"next\" %i to %len count(%n : memref<i32>) {
      %v = memref.load %o[%i] : memref<?xi32>
      memref.store %v, %x[%i] : memref<?xi32>
    }
    qd.grid.for_each \"count\" %i to %c1 {
      %t = memref.load %turns[] : memref<i32>
      %left = arith.subi %t, %one : i32
      memref.store %left, %turns[] : memref<i32>
    }
  }
}";

#[test]
fn in_a_loop() {
    cover(|n, wave, input| {
        let slots = sizing::scan_scratch_slots((n + ROOM) as u64, Some(2)).expect("a depth");
        let arguments = [
            given(generate("i32", input, n + ROOM, 6)),
            unused("i32", n + ROOM),
            unused("i32", n + ROOM),
            unused("i32", n + ROOM),
            scratch(slots),
            given(Data::Count(n as i32)),
            given(Data::I32(vec![7; n + ROOM])),
            given(Data::Count(3)),
        ];
        let about = format!("maps in a loop, {n}, {input:?}, wave {wave}");
        Subject::new(LOOP).check(wave, &arguments, &about);
    });
    report("maps in a loop");
}
