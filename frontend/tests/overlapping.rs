//! Arguments that may overlap, in calls in which they do and in which they do not. `QD_DEVICE` names the device.

mod common;

use common::{load, open};
use qd_frontend::{
    args,
    objects::{Buffer, Detail, Kernel, Profiler, Stream, step_totals},
};

/// Writes one of two buffers that may overlap, and copies the other behind it.
const NUMBERED: &str = r#"
qd.grid.kernel @numbered(%to: memref<?xi32> {qd.may_alias, qd.name = "to"},
                         %from: memref<?xi32> {qd.may_alias, qd.name = "from"},
                         %copy: memref<?xi32> {qd.name = "copy"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %copy, %c0 : memref<?xi32>
  qd.grid.for_each %i to %n {
    %v = arith.index_cast %i : index to i32
    memref.store %v, %to[%i] : memref<?xi32>
  }
  qd.grid.for_each %i to %n {
    %v = memref.load %from[%i] : memref<?xi32>
    memref.store %v, %copy[%i] : memref<?xi32>
  }
}"#;

/// How many elements each argument has, of buffers with three times as many.
const PART: u64 = 5000;
const FAR: u64 = 2 * PART;

/// What is copied, and the kernels whose steps ran.
fn run(kernel: &Kernel, stream: &Stream, to: &Buffer, from: &Buffer) -> (Vec<i32>, Vec<String>) {
    let copy = Buffer::from_slice(stream, &[-1; PART as usize]).expect("memory");
    let profiler = Profiler::new(stream.device(), Detail::Steps).expect("events");
    let attached = profiler.attach(stream).expect("its stream");
    kernel
        .launch(stream, &args![to, from, &copy])
        .expect("runs");
    drop(attached);
    let copied = copy.to_vec::<i32>(stream).expect("read");
    stream.synchronize().expect("done");
    let spans = profiler.take().expect("times");
    let steps = step_totals(&spans)
        .into_iter()
        .filter(|of| of.step.is_launch);
    (copied, steps.map(|of| of.step.kernel.to_string()).collect())
}

#[test]
fn what_may_overlap_is_right_wherever_it_lies() {
    let (device, stream) = open(None);
    let kernel = load(&device, NUMBERED).kernel("numbered").expect("there");
    let fresh = || Buffer::from_slice(&stream, &[9; 3 * PART as usize]).expect("memory");
    let numbers = 0..PART as i32;
    // Where what is read begins, beside what is written; as many as are in both are numbers.
    for begin in [0, 1, PART / 2, PART - 1, PART, FAR] {
        for from in [begin, FAR - begin] {
            let whole = fresh();
            let to = whole.rows(PART..2 * PART).expect("there");
            let read = whole.rows(from..from + PART).expect("there");
            let (copied, kernels) = run(&kernel, &stream, &to, &read);
            let at = |i: u64| (from + i).checked_sub(PART).filter(|at| *at < PART);
            let expected: Vec<i32> = (0..PART).map(|i| at(i).map_or(9, |at| at as i32)).collect();
            assert_eq!(copied, expected, "from {from}");
            let which = match from {
                0 | FAR => "numbered_disjoint",
                _ => "numbered_overlapping",
            };
            assert!(kernels.iter().all(|name| name == which), "{kernels:?}");
            assert!(!kernels.is_empty());
        }
    }
    let (to, from) = (fresh(), fresh());
    let (copied, kernels) = run(&kernel, &stream, &to, &from);
    assert_eq!(copied, [9; PART as usize]);
    assert_eq!(kernels[0], "numbered_disjoint");
    let (copied, kernels) = run(&kernel, &stream, &to, &to);
    assert_eq!(copied, numbers.collect::<Vec<_>>());
    assert_eq!(kernels, ["numbered_overlapping"; 2]);
}

/// As [`NUMBERED`], of tables of which no extent is known.
const TABLES: &str = r#"
qd.grid.kernel @numbered(%to: memref<?x?xi32> {qd.may_alias, qd.name = "to"},
                         %from: memref<?x?xi32> {qd.may_alias, qd.name = "from"},
                         %copy: memref<?xi32> {qd.name = "copy"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %copy, %c0 : memref<?xi32>
  %columns = memref.dim %to, %c1 : memref<?x?xi32>
  qd.grid.for_each %i to %n {
    %row = arith.divui %i, %columns : index
    %column = arith.remui %i, %columns : index
    %v = arith.index_cast %i : index to i32
    memref.store %v, %to[%row, %column] : memref<?x?xi32>
  }
  qd.grid.for_each %i to %n {
    %row = arith.divui %i, %columns : index
    %column = arith.remui %i, %columns : index
    %v = memref.load %from[%row, %column] : memref<?x?xi32>
    memref.store %v, %copy[%i] : memref<?xi32>
  }
}"#;

#[test]
fn tables_of_any_extents_may_overlap() {
    let (device, stream) = open(None);
    let kernel = load(&device, TABLES).kernel("numbered").expect("there");
    let table = || {
        let elements = Buffer::from_slice(&stream, &[9; PART as usize]).expect("memory");
        elements
            .cast(elements.dtype(), &[PART / 50, 50])
            .expect("as many")
    };
    let (to, from) = (table(), table());
    let (copied, kernels) = run(&kernel, &stream, &to, &from);
    assert_eq!(copied, [9; PART as usize]);
    assert_eq!(kernels[0], "numbered_disjoint");
    let (copied, kernels) = run(&kernel, &stream, &to, &to);
    assert_eq!(copied, (0..PART as i32).collect::<Vec<_>>());
    assert_eq!(kernels, ["numbered_overlapping"; 2]);
}
