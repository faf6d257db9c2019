//! Atomics: exchanges, compare-and-swaps and updates, in buffers and in shared arrays.

use super::{BLOCKS, N, NARROW, THREADS, is_float, kernel, kinds, small};
use qd_conformance::{
    Argument, Data, Expect, Input, Subject, any_wave, generate, given, output, report,
};
use std::fmt::Write;

/// Ops on `%x` and `%y`, with what they yield.
fn ops<'t>(all: &[(&str, &'t str)]) -> Vec<(String, &'t str)> {
    all.iter().map(|(op, r)| (op.to_string(), *r)).collect()
}

/// Exchanges, and compare-and-swaps by bits.
#[test]
fn atomics() {
    let wave = any_wave();
    for element in ["i32", "f32", "i64", "f64", "i8", "i16", "f16", "bf16", "i1"] {
        let body = ops(&[(
            &format!(
                "%t0 = qd.grid.atomic.exchange %y, %a[%i] device relaxed : memref<?x{element}>
    %t1 = qd.grid.atomic.cas %y, %t0, %a[%i] device acq_rel : memref<?x{element}>
    %t2 = qd.grid.atomic.cas %x, %y, %a[%i] device relaxed : memref<?x{element}>
    %t3 = qd.grid.atomic.load %a[%i] device relaxed : memref<?x{element}>
    qd.grid.atomic.store %t3, %b[%i] device relaxed : memref<?x{element}>
    %r = qd.grid.atomic.exchange %t1, %a[%i] device relaxed : memref<?x{element}>"
            ),
            element,
        )]);
        let of = |seed| match element {
            // Zeros of both signs, and NaNs.
            "f32" | "f64" => generate(element, Input::Extreme, N, seed),
            _ => generate(element, Input::Random, N, seed),
        };
        let arguments = [
            given(of(1)),
            given(of(2)),
            output(element, N, Expect::Written),
        ];
        let about = format!("atomics on {element}");
        kernel(element, element, &body).check(wave, &arguments, &about);
    }
    report("atomics");
}

/// The same on shared arrays: each thread has its own element, of which those of less than a word share one. Where another
/// thread reads it there is a barrier.
#[test]
fn shared_atomics() {
    // What is exchanged, and what succeeds; what fails where the two differ; and what is there then.
    const STEPS: [&str; 5] = [
        "exchange %y, %own[%at] block relaxed",
        "cas %y, %v0, %own[%at] block acq_rel",
        "cas %y, %x, %own[%at] block relaxed",
        "cas %x, %y, %own[%at] block acquire",
        "load %own[%at] block relaxed",
    ];
    const COLUMNS: usize = STEPS.len() + 1;
    for element in ["i32", "f32", "i64", "f64", "i8", "i16", "f16", "bf16", "i1"] {
        let shared = format!("memref<{THREADS}x{element}, #gpu.address_space<workgroup>>");
        let mut body = String::new();
        for (k, step) in STEPS.into_iter().enumerate() {
            writeln!(
                body,
                "    %v{k} = qd.grid.atomic.{step} : {shared}
    qd.simt.block.sync
    %column{k} = arith.constant {k} : index
    %place{k} = arith.addi %row, %column{k} : index
    memref.store %v{k}, %o[%place{k}] : memref<?x{element}>"
            )
            .expect("a string");
        }
        let subject = Subject::new(format!(
            "qd.grid.kernel @main(%a: memref<?x{element}>, %b: memref<?x{element}>, %o: memref<?x{element}>) {{
  %blocks = arith.constant {BLOCKS} : index
  qd.grid.phase blocks(%blocks) threads({THREADS}) {{
    %own = qd.simt.block.shared : {shared}
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %at = qd.simt.block.thread_id
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %at : index
    %columns = arith.constant {COLUMNS} : index
    %row = arith.muli %i, %columns : index
    %x = memref.load %a[%i] : memref<?x{element}>
    %y = memref.load %b[%i] : memref<?x{element}>
    qd.grid.atomic.store %x, %own[%at] block relaxed : {shared}
    qd.simt.block.sync
{body}    qd.grid.atomic.store %x, %own[%at] block release : {shared}
    qd.simt.block.sync
    %five = arith.constant 5 : index
    %behind = arith.addi %at, %five : index
    %other = arith.remui %behind, %dim : index
    %last = qd.grid.atomic.load %own[%other] block acquire : {shared}
    %place = arith.addi %row, %five : index
    memref.store %last, %o[%place] : memref<?x{element}>
  }}
}}"
        ));
        let of = |seed| match element {
            "f32" | "f64" => generate(element, Input::Extreme, N, seed),
            _ => generate(element, Input::Random, N, seed),
        };
        let arguments = [
            given(of(1)),
            given(of(2)),
            output(element, N * COLUMNS, Expect::Written),
        ];
        subject.check(
            any_wave(),
            &arguments,
            &format!("shared atomics on {element}"),
        );
    }
    report("shared atomics");
}

fn zeros(element: &str) -> Data {
    match element {
        "i1" => Data::Bool(vec![false; 5]),
        "i8" => Data::I8(vec![0; 5]),
        "i16" => Data::I16(vec![0; 5]),
        "f16" => Data::F16(vec![0; 5]),
        _ => Data::BF16(vec![0; 5]),
    }
}

/// All threads combine into few elements, of a buffer and of a shared array.
#[test]
fn atomic_updates() {
    for element in NARROW {
        let shared = format!("memref<5x{element}, #gpu.address_space<workgroup>>");
        for kind in kinds(element) {
            let source = format!(
                "qd.grid.kernel @main(%a: memref<?x{element}>, %o: memref<?x{element}>, %p: memref<?x{element}>) {{
  %blocks = arith.constant {BLOCKS} : index
  qd.grid.phase blocks(%blocks) threads({THREADS}) {{
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %thread : index
    %five = arith.constant 5 : index
    %to = arith.remui %i, %five : index
    %x = memref.load %a[%i] : memref<?x{element}>
    %old = qd.grid.atomic.rmw {kind} %x, %o[%to] device relaxed : memref<?x{element}>
    %own = qd.simt.block.shared : {shared}
    %place = arith.remui %thread, %five : index
    %is_first = arith.cmpi ult, %thread, %five : index
    scf.if %is_first {{
      memref.store %x, %own[%thread] : {shared}
    }}
    qd.simt.block.sync
    %before = qd.grid.atomic.rmw {kind} %x, %own[%place] block relaxed : {shared}
    qd.simt.block.sync
    %after = memref.load %own[%place] : {shared}
    memref.store %after, %p[%i] : memref<?x{element}>
  }}
}}"
            );
            let outputs = [given(zeros(element)), output(element, N, Expect::Written)];
            let mut arguments = vec![given(small(element, 9))];
            arguments.extend(outputs);
            let about = format!("atomic {kind} {element}");
            Subject::new(source).check(any_wave(), &arguments, &about);
        }
    }
    report("atomic updates");
}

/// Numbers of whose sums and products, of a few dozen of them, none is rounded in any order.
fn powers(element: &str) -> Data {
    let Data::I32(random) = generate("i32", Input::Random, N, 9) else {
        unreachable!("integers were asked for")
    };
    let power = |r: &i32| [1.0, -1.0, 2.0, 0.5][(r & 3) as usize];
    match element {
        "f32" => Data::F32(random.iter().map(|r| power(r) as f32).collect()),
        "f64" => Data::F64(random.iter().map(power).collect()),
        // Odd: products of even ones become 0.
        "i64" => Data::I64(random.iter().map(|r| i64::from(r | 1) << 20 | 1).collect()),
        _ => Data::I32(random.iter().map(|r| r | 1).collect()),
    }
}

/// All threads combine into few elements by each kind, in a buffer and in a shared array; and each into its own, whose
/// former value it gets.
#[test]
fn wide_atomic_updates() {
    const FEW: usize = 5;
    for element in ["i32", "i64", "f32", "f64"] {
        let kinds: &[&str] = match is_float(element) {
            true => &["add", "mul", "minnumf", "maxnumf"],
            false => kinds(element),
        };
        let (columns, few) = (kinds.len(), kinds.len() * FEW);
        let shared = format!("memref<{few}x{element}, #gpu.address_space<workgroup>>");
        let memory = format!("memref<?x{element}>");
        let (mut before, mut after) = (String::new(), String::new());
        for (k, kind) in kinds.iter().enumerate() {
            // What rounds nothing, and what may be anything.
            let value = if matches!(*kind, "add" | "mul") {
                "%x"
            } else {
                "%y"
            };
            writeln!(
                before,
                "    %first{k} = arith.constant {} : index
    %to{k} = arith.addi %to, %first{k} : index
    %own{k} = arith.addi %row, %column{k} : index
    %all{k} = qd.grid.atomic.rmw {kind} {value}, %few[%to{k}] device relaxed : {memory}
    %old{k} = qd.grid.atomic.rmw {kind} {value}, %each[%own{k}] device relaxed : {memory}
    memref.store %old{k}, %o[%own{k}] : {memory}",
                k * FEW
            )
            .expect("a string");
            writeln!(
                before,
                "    %in{k} = qd.grid.atomic.rmw {kind} {value}, %shared[%to{k}] block relaxed : {shared}"
            )
            .expect("a string");
            writeln!(
                after,
                "    %now{k} = memref.load %shared[%to{k}] : {shared}
    memref.store %now{k}, %p[%own{k}] : {memory}"
            )
            .expect("a string");
        }
        let numbers: String = (0..columns)
            .map(|k| format!("    %column{k} = arith.constant {k} : index\n"))
            .collect();
        let subject = Subject::new(format!(
            "qd.grid.kernel @main(%a: {memory}, %b: {memory}, %few: {memory}, %each: {memory}, %o: {memory}, %p: {memory}) {{
  %blocks = arith.constant {BLOCKS} : index
  qd.grid.phase blocks(%blocks) threads({THREADS}) {{
    %shared = qd.simt.block.shared : {shared}
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %thread : index
    %five = arith.constant {FEW} : index
    %elements = arith.constant {few} : index
    %columns = arith.constant {columns} : index
    %to = arith.remui %i, %five : index
    %row = arith.muli %i, %columns : index
{numbers}    %x = memref.load %a[%i] : {memory}
    %y = memref.load %b[%i] : {memory}
    %is_first = arith.cmpi ult, %thread, %elements : index
    scf.if %is_first {{
      memref.store %x, %shared[%thread] : {shared}
    }}
    qd.simt.block.sync
{before}    qd.simt.block.sync
{after}  }}
}}"
        ));
        let (any, _) = match is_float(element) {
            true => generate(element, Input::Extreme, N, 3).without_denormals(),
            false => (generate(element, Input::Random, N, 3), 0),
        };
        let part = |n: usize| match powers(element) {
            Data::I32(v) => Data::I32(v.into_iter().cycle().take(n).collect()),
            Data::I64(v) => Data::I64(v.into_iter().cycle().take(n).collect()),
            Data::F32(v) => Data::F32(v.into_iter().cycle().take(n).collect()),
            Data::F64(v) => Data::F64(v.into_iter().cycle().take(n).collect()),
            _ => unreachable!("one of these"),
        };
        let arguments = [
            given(powers(element)),
            given(any),
            given(part(few)),
            given(part(N * columns)),
            output(element, N * columns, Expect::Written),
            output(element, N * columns, Expect::Written),
        ];
        subject.check(
            any_wave(),
            &arguments,
            &format!("atomic updates of {element}"),
        );
    }
    report("wide atomic updates");
}

/// Elements side by side in a word, of buffers that begin and end within one: no update is lost, and what is around them
/// stays.
#[test]
fn atomics_within_words() {
    const ATOMICS: &str =
        "qd.grid.kernel @main(%all: memref<?xT> {qd.may_alias}, %o: memref<?xT> {qd.may_alias}) {
  %blocks = arith.constant 3 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %c0 = arith.constant 0 : index
    %thread = qd.simt.block.thread_id
    %few = memref.dim %o, %c0 : memref<?xT>
    %to = arith.remui %thread, %few : index
    %one = arith.constant 1 : T
    %old = qd.grid.atomic.rmw add %one, %o[%to] device acq_rel : memref<?xT>
  }
}";
    for (element, data) in [
        ("i8", Data::I8((0..12).map(|i| 7 - 9 * i).collect())),
        ("i16", Data::I16((0..12).map(|i| 7 - 999 * i).collect())),
    ] {
        let subject = Subject::new(ATOMICS.replace('T', element));
        for first in 0..5 {
            for length in [1, 2, 3, 6] {
                let part = Argument {
                    data: match &data {
                        Data::I8(v) => Data::I8(v[first..first + length].to_vec()),
                        Data::I16(v) => Data::I16(v[first..first + length].to_vec()),
                        _ => unreachable!("one of these"),
                    },
                    expect: Expect::Part { of: 0, first },
                };
                let about = format!("{length} of {element} from {first}");
                subject.check(any_wave(), &[given(data.clone()), part], &about);
            }
        }
    }
    report("atomics within words");
}
