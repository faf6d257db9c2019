//! Many launches, and many conditions between them.

use qd_conformance::{Data, Options, Subject, any_wave, given, report};

/// Conditions of a kernel. Where the host looks at them, each has a graph in front of it
/// and one of what depends on it.
const CONDITIONS: usize = 251;

/// `%a` becomes 3 · `%a` + `what`, by a launch that waits for the one before.
fn step(what: usize) -> String {
    format!(
        "qd.grid.for_each %i to %len {{
    %what = arith.constant {what} : i32
    %three = arith.constant 3 : i32
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.muli %x, %three : i32
    %z = arith.addi %y, %what : i32
    memref.store %z, %a[%i] : memref<?xi32>
  }}\n"
    )
}

/// Sets a word to one less than it is.
fn one_less(word: &str) -> String {
    format!(
        "qd.grid.for_each %i to %c1 {{
    %one = arith.constant 1 : i32
    %x = memref.load {word}[] : memref<i32>
    %y = arith.subi %x, %one : i32
    memref.store %y, {word}[] : memref<i32>
  }}\n"
    )
}

/// Choices and loops by turns. All takes one off `%m`, and a choice for which that is 0 is
/// not taken; the loops go round once.
fn kernel() -> String {
    let condition = |nth: usize| {
        let less = one_less("%m");
        let (front, body) = (step(nth % 7), step(nth % 5 + 1));
        match nth % 2 {
            0 => format!("{front} qd.grid.if %m : memref<i32> {{ {body} {less} }}\n"),
            _ => format!("{front} qd.grid.do_while %stop : memref<i32> {{ {body} {less} }}\n"),
        }
    };
    let conditions: String = (0..CONDITIONS).map(condition).collect();
    format!(
        "qd.grid.kernel @main(%a: memref<?xi32>, %m: memref<i32>, %stop: memref<i32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
{conditions}}}"
    )
}

/// 251 choices and loops with launches in front of each and in it: as the device takes them, with
/// a limit of iterations, and step by step.
#[test]
fn many_segments() {
    let source = kernel();
    let limited = Options {
        max_iterations: Some(3),
        ..Options::default()
    };
    let step_by_step = Options {
        step_by_step: true,
        ..Options::default()
    };
    for options in [Options::default(), limited, step_by_step] {
        let about = format!("{options:?}");
        for m in [4, 1000] {
            let numbers = (0..700).collect();
            let arguments = [Data::I32(numbers), Data::Count(m), Data::Count(0)].map(given);
            let subject = Subject::new(&source).with(options.clone());
            subject.check(any_wave(), &arguments, &about);
        }
    }
    report("many segments");
}
