//! Properties of floats that Vulkan leaves to a device: whether it flushes denormals,
//! and the error of quotients and roots.

use crate::{Argument, Data, Expect, Input, data, execute, generate, load, waves};
use std::sync::LazyLock;

const THREADS: usize = 128;

/// What is made of a denormal, or makes one.
const RESULTS: [(&str, &str); 5] = [
    ("arith.addf", "%x, %zero"),
    ("arith.mulf", "%x, %one"),
    ("arith.divf", "%x, %one"),
    ("math.sqrt", "%x"),
    ("arith.mulf", "%least, %half"),
];

/// How far a quotient may be off on a device of Vulkan, in units in the last place:
/// by 2½ ("Precision and Operation of SPIR-V Instructions" in Vulkan's specification),
/// and half of one by which the interpreter's is rounded. For divisors beyond 2¹²⁶ or
/// below 2⁻¹²⁶ nothing is promised; they are held to the same.
const QUOTIENT: u32 = 3;

/// What a unit of an operand is at most in units of its quotient.
const OF_OPERAND: u32 = 2;

/// A root: by the same source what `1 / inversesqrt(x)` is, and that inverse may be
/// off by two.
const ROOT: u32 = QUOTIENT + OF_OPERAND * 2;

/// What `math.rsqrt` becomes: a quotient by a root.
const INVERSE_ROOT: u32 = QUOTIENT + OF_OPERAND * ROOT;

/// Whether arithmetic keeps denormals and rounds correctly, so that all of it is
/// compared bit for bit: on every target but a device of Vulkan, and there if
/// `QD_FLOATS=exact` says so.
pub fn are_exact() -> bool {
    let promised = match std::env::var("QD_FLOATS") {
        Ok(value) if value == "exact" => true,
        Ok(value) => panic!("QD_FLOATS={value}: 'exact' is all that it may be"),
        Err(_) => false,
    };
    promised || !waves::is_vulkan()
}

/// Whether the target's code for an operation can be held to numbers: PTX has
/// inverse roots of its own, which are approximations.
pub fn is_comparable(operation: &str) -> bool {
    !(operation == "math.rsqrt" && waves::is_nvptx())
}

/// How many units in the last place an operation may be off on the target.
pub fn units_off(operation: &str) -> u32 {
    match operation {
        _ if are_exact() => 0,
        "arith.divf" => QUOTIENT,
        "math.sqrt" => ROOT,
        "math.rsqrt" => INVERSE_ROOT,
        _ => 0,
    }
}

/// Whether arithmetic of a float type keeps denormals on the target, which is
/// found out by trying.
pub fn denormals_are_kept(element: &str) -> bool {
    static F32: LazyLock<bool> = LazyLock::new(|| tried("f32"));
    static F64: LazyLock<bool> = LazyLock::new(|| tried("f64"));
    match element {
        "f32" => *F32,
        _ => *F64,
    }
}

/// From numbers in memory: of constants the compiler would make results.
fn tried(element: &str) -> bool {
    // A power of 2 with a root.
    let numbers = match element {
        "f32" => Data::F32(vec![
            f32::from_bits(1 << 9),
            0.0,
            1.0,
            f32::MIN_POSITIVE,
            0.5,
        ]),
        _ => Data::F64(vec![
            f64::from_bits(1 << 14),
            0.0,
            1.0,
            f64::MIN_POSITIVE,
            0.5,
        ]),
    };
    let target = waves::target_with(waves::own_wave()).expect("a size that the target has");
    let given = |data| Argument {
        data,
        expect: Expect::Same,
    };
    let mut arguments = vec![given(numbers)];
    arguments.extend(RESULTS.map(|_| given(generate(element, Input::AllEqual, THREADS, 0))));
    let main = load(&kernel(element), &target, None);
    let results = main
        .and_then(|main| execute(&main, &arguments))
        .unwrap_or_else(|error| panic!("denormals: {target}: {error}"));
    // What is off by something else is for the tests to find.
    results[1..]
        .iter()
        .all(|result| data::float_at(result, 0) != 0.0)
}

fn kernel(element: &str) -> String {
    let number = |(i, name)| {
        format!(
            "    %at{i} = arith.constant {i} : index
    %{name} = memref.load %numbers[%at{i}] : memref<?x{element}>\n"
        )
    };
    let numbers = (0..).zip(["x", "zero", "one", "least", "half"]);
    let numbers: String = numbers.map(number).collect();
    let result = |(i, (name, operands)): (usize, &(&str, &str))| {
        format!(
            "    %r{i} = {name} {operands} : {element}
    memref.store %r{i}, %o{i}[%thread] : memref<?x{element}>\n"
        )
    };
    let results: String = RESULTS.iter().enumerate().map(result).collect();
    let outputs: String = (0..RESULTS.len())
        .map(|i| format!(", %o{i}: memref<?x{element}>"))
        .collect();
    format!(
        "qd.grid.kernel @main(%numbers: memref<?x{element}>{outputs}) {{
  %blocks = arith.constant 1 : index
  qd.grid.phase blocks(%blocks) threads({THREADS}) {{
    %thread = qd.simt.block.thread_id
{numbers}{results}  }}
}}"
    )
}
