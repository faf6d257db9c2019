//! Denormals, which a device of Vulkan may take for zeros in its arithmetic.

use crate::{Data, Expect, Input, any_wave, data, generate, load, waves};
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

/// Whether the target may take denormals for zeros: only a device of Vulkan, and
/// none of which `QD_DENORMALS=kept` says that it keeps them.
pub fn may_be_zeros() -> bool {
    let kept = std::env::var("QD_DENORMALS").is_ok_and(|value| value == "kept");
    waves::is_vulkan() && !kept
}

/// Whether arithmetic of a float type keeps denormals on the target, which is
/// found out by trying.
pub fn are_kept(element: &str) -> bool {
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
    let target = waves::target_with(any_wave()).expect("a size that the target has");
    let output = || generate(element, Input::AllEqual, THREADS, 0).for_runtime(Expect::Same);
    let mut arguments = vec![numbers.for_runtime(Expect::Same)];
    arguments.extend(RESULTS.map(|_| output()));
    let mut arguments: Vec<_> = arguments
        .into_iter()
        .map(qd_runtime::Argument::Buffer)
        .collect();
    load(&kernel(element), &target)
        .run("main", &mut arguments, &qd_runtime::Options::default())
        .unwrap_or_else(|error| panic!("denormals: {target}: {error}"));
    let results = arguments[1..]
        .iter()
        .map(|argument| argument.as_buffer().expect("a buffer"));
    // What is off by something else is for the tests to find.
    results
        .into_iter()
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
