//! Arithmetic of floats on a target, compared with the interpreter: rounding,
//! infinities, denormals and NaNs.
//!
//! Denormals are excluded where the device may flush them and does; quotients and
//! roots may be inexact where the target does not promise otherwise. A test
//! continues after a difference and lists all of them at its end.

use qd_conformance::{Argument, Data, Expect, Input, Subject, any_wave, floats, generate};

const THREADS: usize = 128;
const BLOCKS: usize = 8;

/// Float types of which it is up to a device of Vulkan what an operation makes of
/// denormals.
const NONE: &[&str] = &[];
const F64: &[&str] = &["f64"];
const BOTH: &[&str] = &["f32", "f64"];

/// Operations of floats alone, by how many they take.
const OPERATIONS: [(&str, usize, &[&str]); 19] = [
    ("arith.addf", 2, BOTH),
    ("arith.subf", 2, BOTH),
    ("arith.mulf", 2, BOTH),
    ("arith.divf", 2, BOTH),
    ("arith.remf", 2, NONE),
    ("arith.negf", 1, NONE),
    ("arith.minnumf", 2, NONE),
    ("arith.maxnumf", 2, NONE),
    ("arith.minimumf", 2, NONE),
    ("arith.maximumf", 2, NONE),
    ("math.absf", 1, NONE),
    ("math.sqrt", 1, BOTH),
    ("math.rsqrt", 1, BOTH),
    // Where it is not by way of a wider type.
    ("math.fma", 3, F64),
    ("math.floor", 1, NONE),
    ("math.ceil", 1, NONE),
    ("math.trunc", 1, NONE),
    ("math.roundeven", 1, NONE),
    ("math.copysign", 2, NONE),
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

fn operands(element: &str) -> [Data; 3] {
    [1, 2, 3].map(|seed| operand(element, seed))
}

/// The cases of a test function, all of which are run.
#[derive(Default)]
struct Cases {
    /// A line of each that differs.
    differences: Vec<String>,
    /// The first of those that differ.
    first: Option<String>,
}

impl Cases {
    fn check(&mut self, element: &str, result: &str, body: &str) {
        self.run((element, operands(element)), (result, Expect::Same), body);
    }

    /// How many units in the last place the results are apart, where they may be.
    fn run(
        &mut self,
        (element, operands): (&str, [Data; 3]),
        (result, expect): (&str, Expect),
        body: &str,
    ) -> f64 {
        let argument = |data| Argument {
            data,
            expect: Expect::Same,
        };
        let mut arguments: Vec<_> = operands.into_iter().map(argument).collect();
        arguments.push(Argument {
            data: generate(result, Input::AllEqual, THREADS * BLOCKS, 0),
            expect,
        });
        let subject = kernel(element, result, body);
        subject
            .compare(any_wave(), &arguments)
            .unwrap_or_else(|difference| {
                let lines: Vec<_> = body
                    .lines()
                    .chain(difference.lines())
                    .map(str::trim)
                    .collect();
                self.differences.push(lines.join("; "));
                self.first.get_or_insert_with(|| subject.source().into());
                0.0
            })
    }
}

impl Drop for Cases {
    fn drop(&mut self) {
        let Some(source) = &self.first else {
            return;
        };
        let count = self.differences.len();
        self.differences.truncate(20);
        let lines = self.differences.join("\n");
        let message = format!("{count} cases differ, such as\n{lines}\nThe first:\n{source}");
        match std::thread::panicking() {
            true => eprintln!("{message}"),
            false => panic!("{message}"),
        }
    }
}

/// Operands of what is up to the device, and whether zero will do for a denormal.
fn for_device(element: &str) -> ([Data; 3], bool) {
    if floats::denormals_are_kept(element) {
        return (operands(element), false);
    }
    let mut left_out = 0;
    let operands = operands(element).map(|data| {
        let (data, count) = data.without_denormals();
        left_out += count;
        data
    });
    println!(
        "{element} denormals are taken for zeros by this device: left out of {left_out} operands"
    );
    (operands, true)
}

/// How the results of an operation are compared.
fn expected_of(operation: &str, or_zero: bool) -> Expect {
    match floats::units_off(operation) {
        0 if !or_zero => Expect::Same,
        units => Expect::Device { units, or_zero },
    }
}

#[test]
fn operations() {
    let mut cases = Cases::default();
    let mut inexact = Vec::new();
    for element in ["f32", "f64"] {
        let (reduced, or_zero) = for_device(element);
        for (name, count, of_device) in OPERATIONS {
            if !floats::is_comparable(name) {
                continue;
            }
            let names = &["%x", "%y", "%z"][..count];
            let body = format!("%r = {name} {} : {element}", names.join(", "));
            if !of_device.contains(&element) {
                cases.check(element, element, &body);
                continue;
            }
            let expect = expected_of(name, or_zero);
            let apart = cases.run((element, reduced.clone()), (element, expect), &body);
            if apart > 0.0 {
                let allowed = floats::units_off(name);
                inexact.push(format!("{name} of {element} by up to {apart} of {allowed}"));
            }
        }
    }
    if !inexact.is_empty() {
        println!(
            "off on this device, in units in the last place of which Vulkan allows some: {}",
            inexact.join(", ")
        );
    }
}

/// With constants, which a driver may make something of: every one on either side.
#[test]
fn operations_with_constants() {
    let mut cases = Cases::default();
    for element in ["f32", "f64"] {
        let (operands, or_zero) = for_device(element);
        let infinity = match element {
            "f32" => "0x7F800000",
            _ => "0x7FF0000000000000",
        };
        for name in ["arith.addf", "arith.subf", "arith.mulf", "arith.divf"] {
            for constant in ["0.0", "-0.0", "1.0", "-1.0", infinity] {
                for order in ["%k, %x", "%x, %k"] {
                    let body = format!(
                        "%k = arith.constant {constant} : {element}
    %r = {name} {order} : {element}"
                    );
                    let expect = expected_of(name, or_zero);
                    cases.run((element, operands.clone()), (element, expect), &body);
                }
            }
        }
        for order in ["%x, %k, %k", "%x, %y, %k", "%k, %y, %z"] {
            let body = format!(
                "%k = arith.constant 0.0 : {element}
    %r = math.fma {order} : {element}"
            );
            let expect = expected_of("math.fma", or_zero);
            cases.run((element, operands.clone()), (element, expect), &body);
        }
    }
}

/// Of constants, which upstream would fold into a NaN.
#[test]
fn arc_tangents_of_two_zeros() {
    let mut cases = Cases::default();
    for element in ["f16", "bf16", "f32", "f64"] {
        for (up, right) in [
            ("0.0", "0.0"),
            ("0.0", "-0.0"),
            ("-0.0", "0.0"),
            ("-0.0", "-0.0"),
        ] {
            let wide = if element == "f64" { "f64" } else { "f32" };
            let widened = match element {
                "f16" | "bf16" => format!("%r = arith.extf %angle : {element} to f32"),
                _ => format!("%r = arith.addf %angle, %angle : {element}"),
            };
            let body = format!(
                "%up = arith.constant {up} : {element}
    %right = arith.constant {right} : {element}
    %angle = math.atan2 %up, %right : {element}
    {widened}"
            );
            cases.check(wide, wide, &body);
        }
    }
}

/// Quotients and remainders, of the smallest number among others.
#[test]
fn integer_division() {
    let mut cases = Cases::default();
    for (element, least) in [("i32", i64::from(i32::MIN)), ("i64", i64::MIN)] {
        let inputs = [Input::Extreme, Input::Random, Input::FewDistinct];
        for (seed, input) in (0..).zip(inputs) {
            let operands = || {
                let of = |input, seed| generate(element, input, THREADS * BLOCKS, seed);
                let other = inputs[(seed as usize + 1) % inputs.len()];
                [
                    of(Input::Extreme, seed),
                    of(input, seed + 3),
                    of(other, seed + 6),
                ]
            };
            for name in [
                "remsi",
                "divsi",
                "floordivsi",
                "ceildivsi",
                "remui",
                "divui",
            ] {
                // Neither by 0, nor of the smallest by −1.
                let defined = format!(
                    "%zero = arith.constant 0 : {element}
    %one = arith.constant 1 : {element}
    %minus_one = arith.constant -1 : {element}
    %least = arith.constant {least} : {element}
    %is_zero = arith.cmpi eq, %y, %zero : {element}
    %by = arith.select %is_zero, %one, %y : {element}
    %is_minus_one = arith.cmpi eq, %by, %minus_one : {element}
    %is_least = arith.cmpi eq, %x, %least : {element}
    %overflows = arith.andi %is_minus_one, %is_least : i1
    %d = arith.select %overflows, %one, %by : {element}"
                );
                let body = format!("{defined}\n    %r = arith.{name} %x, %d : {element}");
                let expect = (element, Expect::Same);
                cases.run((element, operands()), expect, &body);
                let of_index = match name {
                    "remsi" => "rems",
                    "divsi" => "divs",
                    _ => continue,
                };
                let body = format!(
                    "{defined}
    %wide = arith.index_cast %x : {element} to index
    %wide_d = arith.index_cast %d : {element} to index
    %q = index.{of_index} %wide, %wide_d
    %r = arith.index_cast %q : index to {element}"
                );
                cases.run((element, operands()), expect, &body);
            }
        }
    }
}

/// Nothing is left out, and nothing may be off, but where it has to be.
#[test]
fn floats_are_exact() {
    if !floats::are_exact() {
        return;
    }
    for element in ["f32", "f64"] {
        assert!(floats::denormals_are_kept(element), "{element}");
    }
    for (name, ..) in OPERATIONS {
        assert_eq!(expected_of(name, false), Expect::Same, "{name}");
    }
}

/// Away from ties and with them.
#[test]
fn rounding_of_halves() {
    let mut cases = Cases::default();
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
            cases.check(element, element, &bounded);
        }
    }
}

#[test]
fn comparisons_and_classes() {
    let mut cases = Cases::default();
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
            cases.check(element, "i32", &body);
            let of_denormals = body.replace("%x", "%dx").replace("%y", "%dy");
            let body = format!("{}{of_denormals}", denormal(element));
            cases.check(element, "i32", &body);
        }
    }
}

/// Makes denormals of `%x` and `%y`, and zeros of a few.
fn denormal(element: &str) -> String {
    let (bits, mask) = match element {
        "f32" => ("i32", i64::from(i32::MIN) | ((1 << 23) - 1)),
        _ => ("i64", i64::MIN | ((1 << 52) - 1)),
    };
    let made = ["x", "y"].map(|name| {
        format!(
            "%bits_{name} = arith.bitcast %{name} : {element} to {bits}
    %small_{name} = arith.andi %bits_{name}, %mask : {bits}
    %d{name} = arith.bitcast %small_{name} : {bits} to {element}\n    "
        )
    });
    format!(
        "%mask = arith.constant {mask} : {bits}\n    {}",
        made.concat()
    )
}

/// Every width to every other; sums that are rounded twice would show.
#[test]
fn conversions() {
    let mut cases = Cases::default();
    cases.check("f32", "f64", "%r = arith.extf %x : f32 to f64");
    cases.check("f64", "f32", "%r = arith.truncf %x : f64 to f32");
    let body = format!("{}%r = arith.extf %dx : f32 to f64", denormal("f32"));
    cases.check("f32", "f64", &body);
    // Rounded to denormals, with ties; and to the least of what is none.
    for scale in [2f64.powi(-140), 2f64.powi(-137), 2f64.powi(-160)] {
        let body = format!(
            "%scale = arith.constant {scale:.20e} : f64
    %small = arith.mulf %x, %scale : f64
    %r = arith.truncf %small : f64 to f32"
        );
        cases.check("f64", "f32", &body);
    }
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
                cases.check(element, element, &body);
            }
        }
    }
}
