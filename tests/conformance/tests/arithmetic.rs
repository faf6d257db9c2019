//! Arithmetic of floats on a target against the interpreter: rounded as it is
//! there, and with its infinities, denormals and NaNs.

use qd_conformance::{Argument, Data, Expect, Input, Subject, any_wave, generate};

const THREADS: usize = 128;
const BLOCKS: usize = 8;

/// Operations of floats alone, by how many they take.
const OPERATIONS: [(&str, usize); 18] = [
    ("arith.addf", 2),
    ("arith.subf", 2),
    ("arith.mulf", 2),
    ("arith.divf", 2),
    ("arith.remf", 2),
    ("arith.negf", 1),
    ("arith.minnumf", 2),
    ("arith.maxnumf", 2),
    ("arith.minimumf", 2),
    ("arith.maximumf", 2),
    ("math.absf", 1),
    ("math.sqrt", 1),
    ("math.fma", 3),
    ("math.floor", 1),
    ("math.ceil", 1),
    ("math.trunc", 1),
    ("math.roundeven", 1),
    ("math.copysign", 2),
];

/// A kernel whose every thread computes `%r` of `%x`, `%y` and `%z`.
fn kernel(element: &str, result: &str, body: &str) -> Subject {
    Subject::new(format!(
        "qd.grid.kernel @main(%a: memref<?x{element}>, %b: memref<?x{element}>, %c: memref<?x{element}>, %o: memref<?x{result}>) {{
  %blocks = arith.constant {BLOCKS} : index
  qd.grid.phase blocks(%blocks) threads({THREADS}) {{
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %thread : index
    %x = memref.load %a[%i] : memref<?x{element}>
    %y = memref.load %b[%i] : memref<?x{element}>
    %z = memref.load %c[%i] : memref<?x{element}>
    {body}
    memref.store %r, %o[%i] : memref<?x{result}>
  }}
}}"
    ))
}

/// Numbers of every size, with those that break things among them.
fn operand(element: &str, seed: u64) -> Data {
    let values = |input| generate(element, input, THREADS * BLOCKS, seed);
    // Neighbours at different steps, so that every pair comes up.
    macro_rules! mixed {
        ($kind:ident, $plain:expr, $extreme:expr) => {{
            let step = 2 * seed as usize + 1;
            let pick = |i: usize| match i / step % 3 {
                0 => $extreme[i * step % $extreme.len()],
                _ => $plain[i],
            };
            Data::$kind((0..$plain.len()).map(pick).collect())
        }};
    }
    match (values(Input::Random), values(Input::Extreme)) {
        (Data::F32(plain), Data::F32(extreme)) => mixed!(F32, plain, extreme),
        (Data::F64(plain), Data::F64(extreme)) => mixed!(F64, plain, extreme),
        _ => unreachable!("floats were asked for"),
    }
}

fn check(element: &str, result: &str, body: &str) {
    let mut arguments: Vec<_> = (1..=3)
        .map(|seed| Argument {
            data: operand(element, seed),
            expect: Expect::Same,
        })
        .collect();
    arguments.push(Argument {
        data: generate(result, Input::AllEqual, THREADS * BLOCKS, 0),
        expect: Expect::Same,
    });
    kernel(element, result, body).check(any_wave(), &arguments, body);
}

#[test]
fn operations() {
    for element in ["f32", "f64"] {
        for (name, count) in OPERATIONS {
            let operands = &["%x", "%y", "%z"][..count];
            let body = format!("%r = {name} {} : {element}", operands.join(", "));
            check(element, element, &body);
        }
    }
}

/// Away from ties and with them.
#[test]
fn rounding_of_halves() {
    for element in ["f32", "f64"] {
        for name in ["math.roundeven", "math.round", "math.floor", "math.trunc"] {
            let body = format!(
                "%n = arith.fptosi %k : {element} to i32
    %whole = arith.sitofp %n : i32 to {element}
    %half = arith.constant 0.5 : {element}
    %v = arith.addf %whole, %half : {element}
    %r = {name} %v : {element}"
            );
            // Small enough for an i32 and for a half.
            let bounded = format!(
                "%limit = arith.constant 1000.0 : {element}
    %least = arith.constant -1000.0 : {element}
    %low = arith.maximumf %x, %least : {element}
    %bounded = arith.minimumf %low, %limit : {element}
    %is_nan = arith.cmpf uno, %x, %x : {element}
    %k = arith.select %is_nan, %limit, %bounded : {element}
    {body}"
            );
            check(element, element, &bounded);
        }
    }
}

#[test]
fn comparisons_and_classes() {
    let predicates = [
        "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
        "uno",
    ];
    for element in ["f32", "f64"] {
        let comparisons = predicates.map(|p| format!("arith.cmpf {p}, %x, %y"));
        let classes = ["isnan", "isinf", "isfinite", "isnormal"].map(|c| format!("math.{c} %x"));
        for truth in comparisons.iter().chain(&classes) {
            let body = format!(
                "%p = {truth} : {element}
    %r = arith.extui %p : i1 to i32"
            );
            check(element, "i32", &body);
        }
    }
}

/// Every width to every other; sums that are rounded twice would show.
#[test]
fn conversions() {
    check("f32", "f64", "%r = arith.extf %x : f32 to f64");
    check("f64", "f32", "%r = arith.truncf %x : f64 to f32");
    for element in ["f32", "f64"] {
        let bits = if element == "f32" { "i32" } else { "i64" };
        for integer in ["i32", "i64"] {
            let cast = match (bits, integer) {
                ("i32", "i64") => "arith.extsi %w : i32 to i64",
                ("i64", "i32") => "arith.trunci %w : i64 to i32",
                _ => "arith.bitcast %x",
            };
            for name in ["sitofp", "uitofp"] {
                let widened = match bits == integer {
                    true => format!("%n = {cast} : {element} to {integer}"),
                    false => {
                        format!("%w = arith.bitcast %x : {element} to {bits}\n    %n = {cast}")
                    }
                };
                let body = format!(
                    "{widened}
    %r = arith.{name} %n : {integer} to {element}"
                );
                check(element, element, &body);
            }
        }
    }
}
