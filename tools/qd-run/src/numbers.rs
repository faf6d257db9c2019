//! Numbers as they are written, as elements of a type, and the other way round.

use crate::{
    array::{Array, POISON},
    value::{Generator, Number},
};
use qd_artifact::Dtype;

/// The bits of a number as an element of a type, zero-extended.
pub fn bits(number: &Number, dtype: Dtype) -> Result<u64, String> {
    let text = &number.text;
    match dtype {
        Dtype::F32 => float(text).map(|x| u64::from((x as f32).to_bits())),
        Dtype::F64 => float(text).map(f64::to_bits),
        half if half.is_half() => float(text).map(|x| half.to_half(x).into()),
        _ => {
            let value = integer(text).ok_or_else(|| format!("{text} is no {dtype}"))?;
            let (min, max) = range(dtype);
            if !(min..=max).contains(&value) {
                return Err(format!("{text} is no {dtype}: it holds {min} to {max}"));
            }
            Ok(value as u64 & mask(dtype))
        }
    }
}

fn float(text: &str) -> Result<f64, String> {
    match integer(text) {
        // Rust reads no hexadecimal floats.
        Some(value) if text.contains("0x") => Ok(value as f64),
        _ => text.parse().map_err(|_| format!("{text} is no float")),
    }
}

/// An integer in decimal or hexadecimal; `1e6` is one, too.
fn integer(text: &str) -> Option<i128> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = match magnitude.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => match magnitude.parse() {
            Ok(value) => value,
            Err(_) => {
                let value: f64 = magnitude.parse().ok()?;
                // Beyond this a float does not tell integers apart.
                (value.fract() == 0.0 && value < 2f64.powi(53)).then_some(value as i128)?
            }
        },
    };
    Some(if negative { -value } else { value })
}

fn range(dtype: Dtype) -> (i128, i128) {
    if dtype == Dtype::Bool {
        return (0, 1);
    }
    let width = 8 * dtype.size() as u32;
    if is_signed(dtype) {
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    }
}

fn is_signed(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64)
}

fn mask(dtype: Dtype) -> u64 {
    u64::MAX >> (64 - 8 * dtype.size())
}

/// An integer element's value; `None` for a float.
pub fn integer_of(bits: u64, dtype: Dtype) -> Option<i128> {
    if dtype.is_float() {
        return None;
    }
    let unused = 64 - 8 * dtype.size() as u32;
    Some(if is_signed(dtype) {
        i128::from(((bits << unused) as i64) >> unused)
    } else {
        i128::from(bits & mask(dtype))
    })
}

/// An element as text: floats as short as they can be read back.
pub fn text(bits: u64, dtype: Dtype) -> String {
    match dtype {
        Dtype::F32 => f32::from_bits(bits as u32).to_string(),
        Dtype::F64 => f64::from_bits(bits).to_string(),
        // An f32 holds it, and takes fewer digits to tell from the next.
        half if half.is_half() => (half.of_half(bits as u16) as f32).to_string(),
        _ => integer_of(bits, dtype).unwrap_or_default().to_string(),
    }
}

/// Fills an array by a rule.
pub fn generate(array: &mut Array, generator: &Generator) -> Result<(), String> {
    let dtype = array.dtype();
    let of = |number: &Option<Number>| number.as_ref().map(|n| bits(n, dtype)).transpose();
    let is_made = match generator {
        Generator::Iota { .. } => dtype != Dtype::Bool,
        Generator::Random { .. } => !dtype.is_half(),
        _ => true,
    };
    if !is_made {
        return Err(format!("there is no such sequence of {dtype}: give a file"));
    }
    match generator {
        Generator::Zeros => array.fill(0),
        Generator::Poison => array.fill(POISON),
        Generator::Constant(number) => {
            let value = bits(number, dtype)?;
            array.set_elements(|_| value);
        }
        Generator::Iota { start, step } => iota(array, of(start)?, of(step)?),
        Generator::Random { seed, min, max } => {
            let seed = seed.as_ref().map_or(Ok(0), |n| bits(n, Dtype::U64))?;
            random(array, seed, of(min)?, of(max)?)?;
        }
    }
    Ok(())
}

fn iota(array: &mut Array, start: Option<u64>, step: Option<u64>) {
    match array.dtype() {
        // Products, not sums: errors do not add up.
        Dtype::F32 => {
            let start = start.map_or(0.0, |b| f32::from_bits(b as u32));
            let step = step.map_or(1.0, |b| f32::from_bits(b as u32));
            array.set_elements(|i| u64::from((start + step * i as f32).to_bits()));
        }
        Dtype::F64 => {
            let start = start.map_or(0.0, f64::from_bits);
            let step = step.map_or(1.0, f64::from_bits);
            array.set_elements(|i| (start + step * i as f64).to_bits());
        }
        half if half.is_half() => {
            let value = |bits: u64| half.of_half(bits as u16);
            let (start, step) = (start.map_or(0.0, value), step.map_or(1.0, value));
            array.set_elements(|i| half.to_half(start + step * i as f64).into());
        }
        _ => {
            let (start, step) = (start.unwrap_or(0), step.unwrap_or(1));
            array.set_elements(|i| start.wrapping_add(step.wrapping_mul(i)));
        }
    }
}

fn random(array: &mut Array, seed: u64, min: Option<u64>, max: Option<u64>) -> Result<(), String> {
    let dtype = array.dtype();
    let mut state = SplitMix(seed);
    if dtype.is_float() {
        let value = |bits: u64| match dtype {
            Dtype::F32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        let (min, max) = (min.map_or(0.0, value), max.map_or(1.0, value));
        if !(min < max && (max - min).is_finite()) {
            return Err(format!("random has min={min} and max={max}"));
        }
        array.set_elements(|_| {
            let x = min + (max - min) * state.fraction();
            match dtype {
                // Rounding up must not reach the maximum.
                Dtype::F32 => {
                    let rounded = x as f32;
                    let below = (max as f32).next_down();
                    u64::from(
                        if f64::from(rounded) < max {
                            rounded
                        } else {
                            below
                        }
                        .to_bits(),
                    )
                }
                _ => if x < max { x } else { max.next_down() }.to_bits(),
            }
        });
        return Ok(());
    }
    let (lowest, highest) = range(dtype);
    let value = |bits: Option<u64>, or| bits.and_then(|b| integer_of(b, dtype)).unwrap_or(or);
    let (min, max) = (value(min, lowest), value(max, highest));
    if min > max {
        return Err(format!("random has min={min} and max={max}"));
    }
    let span = (max - min) as u128 + 1;
    array.set_elements(|_| {
        let offset = (u128::from(state.next()) * span) >> 64;
        (min + offset as i128) as u64
    });
    Ok(())
}

/// Steele, Lea & Flood's SplitMix64 (OOPSLA 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In [0, 1), by 53 bits.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{self, Value};

    fn number(text: &str) -> Number {
        Number { text: text.into() }
    }

    #[test]
    fn halves_are_shown_and_truth_values_are_0_or_1() {
        for (bits, shown) in [
            (0, "0"),
            (0x8000, "-0"),
            (0x3C00, "1"),
            (0xC100, "-2.5"),
            (0x7BFF, "65504"),
            (0x0001, "0.000000059604645"),
            (0x7C00, "inf"),
            (0x7E00, "NaN"),
        ] {
            assert_eq!(text(bits, Dtype::F16), shown, "{bits:#x}");
        }
        assert_eq!(text(0xC020, Dtype::BF16), "-2.5");
        assert_eq!(bits(&number("1"), Dtype::Bool), Ok(1));
        let error = |text, dtype| bits(&number(text), dtype).expect_err(text);
        assert_eq!(error("2", Dtype::Bool), "2 is no bool: it holds 0 to 1");
        assert_eq!(bits(&number("-2.5"), Dtype::BF16), Ok(0xC020));
        for (generator, dtype) in [("iota", Dtype::Bool), ("random", Dtype::BF16)] {
            let error = generated(generator, dtype, 4).expect_err(generator);
            assert_eq!(
                error,
                format!("there is no such sequence of {dtype}: give a file")
            );
        }
        let dice = generated("random(seed=3)", Dtype::Bool, 1000).expect("generated");
        let dice = elements(&dice);
        assert!(dice.contains(&0) && dice.contains(&1));
        assert!(dice.iter().all(|bit| *bit <= 1));
    }

    #[test]
    fn numbers_fit_their_type_or_are_errors() {
        assert_eq!(bits(&number("-1"), Dtype::I32), Ok(0xFFFF_FFFF));
        assert_eq!(bits(&number("0xFFFFFFFF"), Dtype::U32), Ok(0xFFFF_FFFF));
        assert_eq!(bits(&number("1e6"), Dtype::I32), Ok(1_000_000));
        assert_eq!(
            bits(&number("-9223372036854775808"), Dtype::I64),
            Ok(1 << 63)
        );
        assert_eq!(
            bits(&number("1"), Dtype::F32),
            Ok(u64::from(1f32.to_bits()))
        );
        assert_eq!(
            bits(&number("-inf"), Dtype::F64),
            Ok(f64::NEG_INFINITY.to_bits())
        );
        let error = |text, dtype| bits(&number(text), dtype).expect_err(text);
        assert_eq!(
            error("-1", Dtype::U32),
            "-1 is no u32: it holds 0 to 4294967295"
        );
        assert_eq!(
            error("128", Dtype::I8),
            "128 is no i8: it holds -128 to 127"
        );
        assert_eq!(error("1.5", Dtype::I32), "1.5 is no i32");
        assert_eq!(error("nan", Dtype::I32), "nan is no i32");
    }

    fn generated(text: &str, dtype: Dtype, n: u64) -> Result<Array, String> {
        let Ok(Value::Generated(generator, _)) = value::parse(text) else {
            panic!("{text} is no generator");
        };
        let mut array = Array::filled(dtype, &[n], 0).expect("memory");
        generate(&mut array, &generator).map(|()| array)
    }

    fn elements(array: &Array) -> Vec<u64> {
        (0..array.count())
            .filter_map(|i| array.element(i))
            .collect()
    }

    #[test]
    fn generators_keep_within_their_bounds() {
        let dice = generated("random(seed=3,min=-1,max=1)", Dtype::I32, 1000).expect("generated");
        let mut seen: Vec<_> = elements(&dice).iter().map(|bits| *bits as i32).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [-1, 0, 1]);
        let full = generated("random", Dtype::U64, 100).expect("generated");
        assert!(elements(&full).iter().any(|x| *x > 1 << 63));
        let unit = generated("random(seed=1)", Dtype::F32, 100_000).expect("generated");
        let mut unit = elements(&unit)
            .into_iter()
            .map(|x| f32::from_bits(x as u32));
        assert!(unit.all(|x| (0.0..1.0).contains(&x)));
        let steps = generated("iota(start=5,step=-2)", Dtype::I64, 3).expect("generated");
        assert_eq!(elements(&steps), [5, 3, 1]);
        let halves = generated("iota(step=0.5)", Dtype::F64, 3).expect("generated");
        assert_eq!(elements(&halves), [0.0, 0.5, 1.0].map(f64::to_bits));
        assert_eq!(
            generated("random(min=2,max=1)", Dtype::I32, 1).expect_err("empty range"),
            "random has min=2 and max=1"
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |text| elements(&generated(text, Dtype::U32, 100).expect("generated"));
        assert_eq!(draw("random(seed=1)"), draw("random(seed=1)"));
        assert_ne!(draw("random(seed=1)"), draw("random(seed=2)"));
    }
}
