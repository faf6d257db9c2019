//! Workspace: control words (`qd.grid.control`) and `qd.scratch`.

use crate::support::*;
use qd_interp::Buffer;

/// Blocks count themselves, and the last one says how many there were. What is
/// counted in, and how often, the text says.
fn counting(control: &str, steps: &str) -> String {
    format!(
        "qd.grid.kernel @k(%out: memref<2xi32>, %flag: memref<i32>) {{
           %blocks = arith.constant 5 : index
           {control}
           {steps}
         }}"
    )
}

/// A phase that counts in a word, and sets it back to `left`.
fn count_in(words: &str, to: usize, left: &str) -> String {
    format!(
        "qd.grid.phase blocks(%blocks) threads(64) {{
           %t = qd.simt.block.thread_id
           %c0 = arith.constant 0 : index
           %to = arith.constant {to} : index
           %one = arith.constant 1 : i32
           %four = arith.constant 4 : i32
           %left = arith.constant {left} : i32
           %leads = arith.cmpi eq, %t, %c0 : index
           scf.if %leads {{
             %before = qd.grid.atomic.rmw add %one, {words}[%c0] device acq_rel : memref<2xi32>
             %last = arith.cmpi eq, %before, %four : i32
             scf.if %last {{
               %known = memref.load %out[%to] : memref<2xi32>
               %before_them = arith.addi %known, %before : i32
               %all = arith.addi %before_them, %one : i32
               memref.store %all, %out[%to] : memref<2xi32>
               memref.store %left, {words}[%c0] : memref<2xi32>
             }}
           }}
         }}"
    )
}

/// A record of the device's, which a phase writes as `qd-expand-asserts` would have it.
#[test]
fn a_record_that_is_written_is_a_fault() {
    let text = |complete: i32| {
        format!(
            "qd.grid.kernel @k(%out: memref<2xi32>) {{
               %c1 = arith.constant 1 : index
               %record, %first = qd.grid.faults [{{at = \"k.mlir:1:2\", text = \"no\"}}, {{at = \"k.mlir:3:4\", text = \"less\"}}]
                   : memref<16xi32>
               qd.grid.for_each %i to %c1 {{
                 %c0 = arith.constant 0 : index
                 %c2 = arith.constant 2 : index
                 %c3 = arith.constant 3 : index
                 %c4 = arith.constant 4 : index
                 %none = arith.constant 0 : i32
                 %one = arith.constant 1 : i32
                 %complete = arith.constant {complete} : i32
                 %five = arith.constant 5 : i32
                 %second = arith.addi %first, %one : i32
                 %old = qd.grid.atomic.cas %none, %complete, %record[%c0] device relaxed : memref<16xi32>
                 memref.store %old, %out[%c0] : memref<2xi32>
                 %is_noted = arith.cmpi eq, %complete, %one : i32
                 scf.if %is_noted {{
                   memref.store %second, %record[%c2] : memref<16xi32>
                   memref.store %none, %record[%c3] : memref<16xi32>
                   memref.store %five, %record[%c4] : memref<16xi32>
                   qd.grid.atomic.store %one, %record[%c1] device release : memref<16xi32>
                 }}
               }}
             }}"
        )
    };
    let words = [
        "qd.grid.faults",
        "\"less\" at k.mlir:3:4",
        "thread 5 of block 0",
    ];
    faults(&text(1), vec![buffer(&[7i32; 2])], 16, &words);
    assert_eq!(
        values::<i32>(&run(&text(0), vec![buffer(&[7i32; 2])], 16)[0]),
        [0, 7]
    );
}

/// A ring of the device's, which a phase writes as `qd-expand-prints` would have it.
#[test]
fn what_is_in_a_ring_is_printed() {
    let text = "qd.grid.kernel @k() {
           %c1 = arith.constant 1 : index
           %ring, %first = qd.grid.prints [{at = \"k.mlir:1:2\", text = \"no\", types = \"\"}, {at = \"k.mlir:3:4\", text = \"%d, %f\", types = \"i32,f32\"}]
               : memref<65540xi32>
           qd.grid.for_each %i to %c1 {
             %c0 = arith.constant 0 : index
             %c4 = arith.constant 4 : index
             %c5 = arith.constant 5 : index
             %c8 = arith.constant 8 : index
             %c10 = arith.constant 10 : index
             %one = arith.constant 1 : i32
             %minus = arith.constant -1 : i32
             %float = arith.constant 1.5 : f32
             %bits = arith.bitcast %float : f32 to i32
             %second = arith.addi %first, %one : i32
             %old = qd.grid.atomic.rmw add %one, %ring[%c0] device relaxed : memref<65540xi32>
             memref.store %second, %ring[%c5] : memref<65540xi32>
             memref.store %minus, %ring[%c8] : memref<65540xi32>
             memref.store %bits, %ring[%c10] : memref<65540xi32>
             qd.grid.atomic.store %one, %ring[%c4] device release : memref<65540xi32>
           }
         }";
    let (printed, fault) = prints(text, Vec::new(), 16);
    assert_eq!(
        (printed, fault.map(|fault| fault.to_string())),
        (vec!["-1, 1.500000".into()], None)
    );
}

const WORDS: &str = "%w = qd.grid.control : memref<2xi32>";

fn counted(text: &str) -> Vec<i32> {
    let flag = Buffer::scalar(0i32).into();
    let out = run(text, vec![buffer(&[0i32; 2]), flag], 16);
    values(&out[0])
}

#[test]
fn control_begins_at_0() {
    let once = count_in("%w", 0, "0");
    assert_eq!(counted(&counting(WORDS, &once)), [5, 0]);
    // Another op's words are others, and those of a second phase are the same.
    let twice = format!("{once}\n{once}");
    assert_eq!(counted(&counting(WORDS, &twice)), [10, 0]);
    let apart = format!("{once}\n{}", count_in("%v", 1, "0"));
    let both = format!("{WORDS}\n%v = qd.grid.control : memref<2xi32>");
    assert_eq!(counted(&counting(&both, &apart)), [5, 5]);
}

#[test]
fn control_is_the_same_each_time_round() {
    let again = "qd.grid.phase blocks(%blocks) threads(64) {
         %c0 = arith.constant 0 : index
         %t = qd.simt.block.thread_id
         %b = qd.simt.block.id
         %i = arith.addi %t, %b : index
         %leads = arith.cmpi eq, %i, %c0 : index
         scf.if %leads {
           %n = memref.load %out[%c0] : memref<2xi32>
           %most = arith.constant 15 : i32
           %more = arith.cmpi ult, %n, %most : i32
           %flag_is = arith.extui %more : i1 to i32
           memref.store %flag_is, %flag[] : memref<i32>
         }
       }";
    let round = format!("{WORDS}\n{}\n{again}", count_in("%w", 0, "0"));
    let text = counting(
        "",
        &format!("qd.grid.do_while %flag : memref<i32> {{ {round} }}"),
    );
    assert_eq!(counted(&text), [15, 0]);
}

#[test]
fn control_is_left_0() {
    let text = counting(WORDS, &count_in("%w", 0, "-7"));
    let arguments = || vec![buffer(&[0i32; 2]), Buffer::scalar(0i32).into()];
    let words = ["qd.grid.control", "-7 in word 0", "kernel '@k'"];
    faults(&text, arguments(), 16, &words);
    // A kernel that another one dispatches to has words of its own.
    let dispatching = text.replace("@k(", "@counting(").replace("-7", "7")
        + "qd.grid.kernel @k(%out: memref<2xi32>, %flag: memref<i32>) {
             %w = qd.grid.control : memref<2xi32>
             qd.grid.dispatch(%out, %flag : memref<2xi32>, memref<i32>) {
               qd.grid.variant @counting
             }
           }";
    let words = ["qd.grid.control", "7 in word 0", "kernel '@counting'"];
    faults(&dispatching, arguments(), 16, &words);
}

/// Doubles the first `%n` elements by way of scratch, and copies `%m` of them.
const BY_SCRATCH: &str = "
  qd.grid.kernel @k(%a: memref<?xi32>, %y: memref<?xi32> {qd.scratch}, %n: memref<i32>, %m: memref<i32>) {
    %c0 = arith.constant 0 : index
    %len = memref.dim %a, %c0 : memref<?xi32>
    qd.grid.for_each %i to %len count(%n : memref<i32>) {
      %x = memref.load %a[%i] : memref<?xi32>
      %d = arith.addi %x, %x : i32
      memref.store %d, %y[%i] : memref<?xi32>
    }
    qd.grid.for_each %i to %len count(%m : memref<i32>) {
      %x = memref.load %y[%i] : memref<?xi32>
      memref.store %x, %a[%i] : memref<?xi32>
    }
  }";

#[test]
fn scratch_is_the_kernels_own() {
    let arguments = |m| vec![buffer(&[3i32; 10]), buffer(&[7i32; 10]), count(8), count(m)];
    let out = run(BY_SCRATCH, arguments(8), 8);
    assert_eq!(values::<i32>(&out[0]), [6, 6, 6, 6, 6, 6, 6, 6, 3, 3]);
    let left = out[1].buffer().expect("a buffer");
    assert!((0..10).all(|i| !left.is_initialised(i)));
    // What it held before is nothing to load, even if the load is not used.
    faults(
        &BY_SCRATCH
            .replace("memref.store %x, %a", "memref.store %c0_i32, %a")
            .replace(
                "%c0 = arith.constant 0 : index",
                "%c0 = arith.constant 0 : index\n%c0_i32 = arith.constant 0 : i32",
            ),
        arguments(9),
        8,
        &["memref.load", "'qd.scratch' that was never written"],
    );
}

#[test]
fn scratch_of_a_dispatched_kernel_is_its_own() {
    // The dispatching kernel may have written it, and may not read it afterwards.
    let text = |read_after: bool| {
        let last = match read_after {
            true => "%x = memref.load %z[%i] : memref<?xi32>",
            false => "%x = memref.load %a[%i] : memref<?xi32>",
        };
        format!(
            "{}
             qd.grid.kernel @k(%a: memref<?xi32>, %z: memref<?xi32>, %n: memref<i32>, %m: memref<i32>) {{
               %c1 = arith.constant 1 : index
               qd.grid.dispatch(%a, %z, %n, %m : memref<?xi32>, memref<?xi32>, memref<i32>, memref<i32>) {{
                 qd.grid.variant @inner
               }}
               qd.grid.for_each %i to %c1 {{
                 {last}
                 memref.store %x, %a[%i] : memref<?xi32>
               }}
             }}",
            BY_SCRATCH.replace("@k", "@inner")
        )
    };
    let arguments = || vec![buffer(&[3i32; 4]), buffer(&[7i32; 4]), count(4), count(4)];
    let out = run(&text(false), arguments(), 8);
    assert_eq!(values::<i32>(&out[0]), [6, 6, 6, 6]);
    faults(&text(true), arguments(), 8, &["memref.store", "poison"]);
}
