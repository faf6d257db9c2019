//! Expanded functions against the interpreter's: specials exactly, the rest
//! within units of the last place.

use crate::support::{Numbers, buffer, context, room};
use qd_dialects::{melior::ir::Module, pass::run_pipeline};
use qd_interp::{Argument, Options, interpret};

const COUNT: usize = 4096;

/// Functions of one operand, and how many numbers an `f64` may be apart.
const UNARY: [(&str, u64); 21] = [
    ("acos", 4),
    // Rust's own are off by more than the expansion is.
    ("acosh", 1 << 12),
    ("asin", 4),
    ("asinh", 1 << 12),
    ("atan", 2),
    ("atanh", 1 << 12),
    ("cbrt", 2),
    ("cos", 2),
    ("cosh", 3),
    ("exp", 2),
    ("exp2", 2),
    ("expm1", 4),
    ("log", 2),
    ("log10", 2),
    ("log1p", 3),
    ("log2", 3),
    ("sin", 2),
    ("sinh", 5),
    ("tan", 4),
    ("tanh", 5),
    ("roundeven", 0),
];

/// Those whose own intermediate results overflow in Rust's library.
const OVERFLOWS: [&str; 2] = ["asinh", "acosh"];

const BINARY: [(&str, u64); 3] = [("math.atan2", 3), ("math.powf", 6), ("arith.remf", 0)];

/// Numbers at which something happens.
const SPECIAL: [f64; 34] = [
    0.0,
    1.0,
    2.0,
    3.0,
    0.5,
    8.0,
    1000.0,
    1e-300,
    5e-324,
    2.2250738585072014e-308,
    1e-20,
    1e-9,
    0.3465735902799727,
    std::f64::consts::FRAC_1_SQRT_2,
    std::f64::consts::SQRT_2,
    0.41421356237309503,
    std::f64::consts::FRAC_PI_4,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::PI,
    1e5,
    1048575.9,
    1048576.0,
    1e16,
    1e22,
    6381956970095103.0 * 1.4821969375237396e284,
    709.0,
    709.78,
    710.5,
    745.1,
    746.0,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
];

fn inputs(seed: u64) -> Vec<f64> {
    let mut numbers = Numbers::new(seed);
    let mut all: Vec<f64> = SPECIAL.iter().flat_map(|x| [*x, -*x]).collect();
    while all.len() < COUNT {
        let unit = (numbers.next() >> 11) as f64 / (1u64 << 53) as f64;
        all.push(match numbers.below(5) {
            0 => f64::from_bits(numbers.next()),
            1 => 2.0 * unit - 1.0,
            2 => 40.0 * unit - 20.0,
            3 => 1.0 + (unit - 0.5) * 1e-3,
            _ => 1500.0 * unit - 750.0,
        });
    }
    all
}

fn kernel(element: &str, op: &str) -> String {
    format!(
        "qd.grid.kernel @k(%a: memref<?x{element}>, %b: memref<?x{element}>, %o: memref<?x{element}>) {{
  %blocks = arith.constant {} : index
  qd.grid.phase blocks(%blocks) threads(64) {{
    %block = qd.simt.block.id
    %thread = qd.simt.block.thread_id
    %c64 = arith.constant 64 : index
    %first = arith.muli %block, %c64 : index
    %i = arith.addi %first, %thread : index
    %x = memref.load %a[%i] : memref<?x{element}>
    %y = memref.load %b[%i] : memref<?x{element}>
    %r = {op} : {element}
    memref.store %r, %o[%i] : memref<?x{element}>
  }}
}}",
        COUNT / 64
    )
}

/// What a kernel computes, as it is and expanded.
fn both(text: &str, arguments: &[Argument]) -> [Argument; 2] {
    let context = context();
    ["", "test-expand-math"].map(|pipeline| {
        let mut module = Module::parse(&context, text).expect("a valid kernel");
        run_pipeline(&context, &mut module, pipeline).expect("an expansion");
        let mut arguments = arguments.to_vec();
        interpret(&module, "k", &mut arguments, &Options::default())
            .unwrap_or_else(|fault| panic!("'{pipeline}': {fault}\n{text}"));
        arguments.swap_remove(2)
    })
}

/// How many numbers lie between two; none if they are the same, or both NaN.
fn apart(meant: i64, found: i64, is_nan: [bool; 2]) -> u64 {
    match is_nan {
        [true, true] => 0,
        [false, false] => {
            let ordered = |bits: i64| if bits < 0 { i64::MIN - bits } else { bits };
            ordered(meant).abs_diff(ordered(found))
        }
        _ => u64::MAX,
    }
}

fn words(argument: &Argument) -> Vec<u64> {
    let buffer = argument.buffer().expect("a buffer");
    let chunks = buffer.data.chunks(buffer.element.bytes());
    chunks
        .map(|bytes| {
            bytes
                .iter()
                .rev()
                .fold(0, |word, b| word << 8 | u64::from(*b))
        })
        .collect()
}

fn check(op: &str, most: u64, x: &[f64], y: &[f64]) {
    let text = kernel("f64", op);
    let [meant, found] = both(&text, &[buffer(x), buffer(y), room(COUNT, 0f64)]);
    for (i, (a, b)) in words(&meant).into_iter().zip(words(&found)).enumerate() {
        let (fa, fb) = (f64::from_bits(a), f64::from_bits(b));
        let distance = apart(a as i64, b as i64, [fa.is_nan(), fb.is_nan()]);
        // Where Rust's is infinite too soon.
        if OVERFLOWS.iter().any(|name| op.contains(name)) && fb.is_finite() && fa.is_infinite() {
            assert!(x[i].abs() > 1e300, "{op} of {:?}", x[i]);
            continue;
        }
        let sign = fa.is_nan() || fa != 0.0 || fa.is_sign_negative() == fb.is_sign_negative();
        assert!(
            distance <= most && sign,
            "{op} of {:?} and {:?}: {fa:?} is meant, {fb:?} comes out, {distance} apart",
            x[i],
            y[i]
        );
    }
    check_narrow(op, x, y);
}

/// The `f32` that is nearest to the function's `f64`, which libraries' own miss.
fn check_narrow(op: &str, x: &[f64], y: &[f64]) {
    let narrow = |x: &[f64]| -> Vec<f32> { x.iter().map(|x| *x as f32).collect() };
    let wide = |x: &[f32]| -> Vec<f64> { x.iter().map(|x| f64::from(*x)).collect() };
    let (x, y) = (narrow(x), narrow(y));
    let arguments = [buffer(&wide(&x)), buffer(&wide(&y)), room(COUNT, 0f64)];
    let [meant, _] = both(&kernel("f64", op), &arguments);
    let arguments = [buffer(&x), buffer(&y), room(COUNT, 0f32)];
    let [_, found] = both(&kernel("f32", op), &arguments);
    for (i, (a, b)) in words(&meant).into_iter().zip(words(&found)).enumerate() {
        let (fa, fb) = (f64::from_bits(a) as f32, f32::from_bits(b as u32));
        let bits = [fa, fb].map(|x| i64::from(x.to_bits() as i32) << 32);
        let distance = apart(bits[0], bits[1], [fa.is_nan(), fb.is_nan()]) >> 32;
        assert!(
            distance <= 1,
            "{op} of {:?} and {:?}: {fa:?} is meant, {fb:?} comes out",
            x[i],
            y[i]
        );
    }
}

#[test]
fn functions_of_one_operand() {
    let x = inputs(1);
    for (name, most) in UNARY {
        check(&format!("math.{name} %x"), most, &x, &x);
    }
}

#[test]
fn functions_of_two_operands() {
    for (name, most) in BINARY {
        // Every special with every other first.
        let specials: Vec<_> = SPECIAL.iter().flat_map(|x| [*x, -*x]).collect();
        let pairs: Vec<(f64, f64)> = specials
            .iter()
            .flat_map(|x| specials.iter().map(|y| (*x, *y)))
            .take(COUNT)
            .collect();
        let (mut x, mut y): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        x.resize(COUNT, 1.0);
        y.resize(COUNT, 1.0);
        check(&format!("{name} %x, %y"), most, &x, &y);
        check(&format!("{name} %x, %y"), most, &inputs(2), &inputs(3));
    }
}
