//! Adversarial inputs.

use crate::Data;

/// A shape of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Input {
    Random,
    AllEqual,
    Sorted,
    Reversed,
    OneOutlier,
    FewDistinct,
    Grouped,
    /// Extreme integers; NaN, infinities, zeros of both signs and denormals.
    Extreme,
    /// Zeros of both signs and NaNs, or NaNs alone; integers as of `FewDistinct`.
    Degenerate,
}

impl Input {
    /// All shapes.
    pub const ALL: [Input; 8] = [
        Input::Random,
        Input::AllEqual,
        Input::Sorted,
        Input::Reversed,
        Input::OneOutlier,
        Input::FewDistinct,
        Input::Grouped,
        Input::Extreme,
    ];
}

/// Element types of the algorithms.
pub fn element_types() -> [&'static str; 4] {
    ["i32", "i64", "f32", "f64"]
}

/// Numbers that look random, the same in every run (splitmix64).
pub(crate) fn word(seed: u64, i: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0xD1B5_4A32_D192_ED03)
        .wrapping_add((i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn integers(input: Input, n: usize, seed: u64) -> Vec<i64> {
    let extremes = [
        i64::MIN,
        i64::MAX,
        -1,
        0,
        1,
        i64::from(i32::MIN),
        i64::from(i32::MAX),
        255,
    ];
    (0..n)
        .map(|i| {
            let random = word(seed, i as u64) as i64;
            match input {
                Input::Random => random,
                Input::AllEqual => 42,
                Input::Sorted => i as i64 - n as i64 / 2,
                Input::Reversed => n as i64 / 2 - i as i64,
                Input::OneOutlier if i == n / 3 => -1_000_000,
                Input::OneOutlier => 7,
                Input::FewDistinct | Input::Degenerate => random.rem_euclid(5) - 2,
                Input::Grouped => (i / 37) as i64 % 11 - 5,
                Input::Extreme => extremes[random.rem_euclid(8) as usize],
            }
        })
        .collect()
}

/// `denormal`: one of the type that they are for.
fn floats(input: Input, n: usize, seed: u64, denormal: f64) -> Vec<f64> {
    let extremes = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        denormal,
        -denormal,
        -f64::NAN,
        3.4e38,
        -1.5,
    ];
    let plain = integers(input, n, seed);
    (0..n)
        .map(|i| {
            let random = word(seed, i as u64);
            match input {
                Input::Random => (random >> 40) as f64 / 4096.0 - 2048.0,
                Input::Extreme => extremes[(random % 10) as usize],
                Input::Degenerate if seed.is_multiple_of(2) => {
                    [f64::NAN, 0.0, -0.0][(random % 3) as usize]
                }
                Input::Degenerate => f64::NAN,
                _ => plain[i] as f64 / 4.0,
            }
        })
        .collect()
}

/// Bits of 16-bit floats with this infinity: at random any, NaNs and denormals among them.
fn halves(input: Input, n: usize, seed: u64, infinity: u16) -> Vec<u16> {
    let sign = 0x8000;
    let extremes = [
        infinity | 1,
        infinity,
        sign | infinity,
        0,
        sign,
        sign | 0x7FFF,
        infinity - 1,
        0x3C00,
    ];
    let of = |x: i64| match input {
        Input::Extreme | Input::Degenerate => extremes[x as usize % extremes.len()],
        _ => x as u16,
    };
    integers(input, n, seed).into_iter().map(of).collect()
}

/// `n` elements of a type.
pub fn generate(element: &str, input: Input, n: usize, seed: u64) -> Data {
    let whole = || integers(input, n, seed).into_iter();
    match element {
        "i1" => Data::Bool(whole().map(|x| x & 1 != 0).collect()),
        "f16" => Data::F16(halves(input, n, seed, 0x7C00)),
        "bf16" => Data::BF16(halves(input, n, seed, 0x7F80)),
        "i8" => Data::I8(whole().map(|x| x as i8).collect()),
        "i16" => Data::I16(whole().map(|x| x as i16).collect()),
        "i64" => Data::I64(whole().collect()),
        "f32" => Data::F32(
            floats(input, n, seed, 1e-42)
                .into_iter()
                .map(|x| x as f32)
                .collect(),
        ),
        "f64" => Data::F64(floats(input, n, seed, 1e-310)),
        _ => Data::I32(whole().map(|x| x as i32).collect()),
    }
}
