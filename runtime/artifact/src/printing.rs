//! What `gpu.printf` prints: C's formats, each value by itself.

use crate::Dtype;
use std::{ffi::CString, fmt::Write};

/// Digits of a width or a precision at most.
const MOST_DIGITS: usize = 3;

/// A part of a format.
enum Piece {
    Text(String),
    /// A conversion, as C has it for the widest integer or float.
    Value {
        format: CString,
        conversion: char,
    },
}

impl Piece {
    fn takes_floats(conversion: char) -> bool {
        "eEfFgGaA".contains(conversion)
    }
}

/// Whether values of these types can be printed by a format.
///
/// # Errors
///
/// What is wrong, as in "has 1 conversion, but is given 2 values".
pub fn check(format: &str, values: &[Dtype]) -> Result<(), String> {
    let pieces = pieces(format)?;
    let conversions = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(_) => None,
        Piece::Value { conversion, .. } => Some(*conversion),
    });
    let conversions: Vec<char> = conversions.collect();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    if conversions.len() != values.len() {
        let (has, given) = (conversions.len(), values.len());
        return Err(format!(
            "has {has} conversion{}, but is given {given} value{}",
            plural(has),
            plural(given)
        ));
    }
    for (at, (conversion, dtype)) in conversions.into_iter().zip(values).enumerate() {
        if Piece::takes_floats(conversion) != dtype.is_float() {
            let takes = match dtype.is_float() {
                true => "an integer",
                false => "a float",
            };
            return Err(format!(
                "'%{conversion}' takes {takes}, but value {at} is of type {dtype}"
            ));
        }
    }
    Ok(())
}

/// What a format makes of values, of which each has its bits in the low ones of a word; of two-byte floats it is
/// those of an `f32`. What [`check`] refuses gives the format as it is.
pub fn text(format: &str, values: &[(Dtype, u64)]) -> String {
    let types: Vec<Dtype> = values.iter().map(|(dtype, _)| *dtype).collect();
    let Some(pieces) = check(format, &types)
        .ok()
        .and_then(|()| pieces(format).ok())
    else {
        return format.into();
    };
    let mut text = String::new();
    let mut values = values.iter();
    for piece in pieces {
        match piece {
            Piece::Text(plain) => text.push_str(&plain),
            Piece::Value { format, conversion } => {
                if let Some((dtype, bits)) = values.next() {
                    text.push_str(&converted(&format, conversion, *dtype, *bits));
                }
            }
        }
    }
    text
}

/// The parts of a format.
fn pieces(format: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        let (flags, after) = leading(after, |c| "-+ #0".contains(c));
        let (width, after) = leading(after, |c| c.is_ascii_digit());
        let (precision, after) = match after.strip_prefix('.') {
            Some(after) => {
                let (digits, after) = leading(after, |c| c.is_ascii_digit());
                (Some(digits), after)
            }
            None => (None, after),
        };
        // Values have their own sizes.
        let (_, after) = leading(after, |c| "hlLqjzt".contains(c));
        let Some(conversion) = after.chars().next() else {
            return Err("ends in a '%' without a conversion".into());
        };
        let what = &rest[before.len()..rest.len() - after.len() + conversion.len_utf8()];
        if conversion == 's' {
            return Err(format!("has '{what}', but threads have no strings"));
        }
        if conversion == '*' {
            return Err(format!("has '{what}': a width or precision is a number"));
        }
        if !"diuxXocp".contains(conversion) && !Piece::takes_floats(conversion) {
            return Err(format!(
                "has '{what}', which is no conversion of C's printf"
            ));
        }
        if [Some(width), precision]
            .into_iter()
            .flatten()
            .any(|digits| digits.len() > MOST_DIGITS)
        {
            return Err(format!("has '{what}': a width or precision is at most 999"));
        }
        let mut one = format!("%{flags}{width}");
        if let Some(digits) = precision {
            let _ = write!(one, ".{digits}");
        }
        match conversion {
            // Of the numbers themselves, where there are no pointers.
            'p' => one.push_str("#llx"),
            'c' => one.push('c'),
            _ if Piece::takes_floats(conversion) => one.push(conversion),
            _ => {
                one.push_str("ll");
                one.push(conversion);
            }
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(Piece::Value {
            format: CString::new(one).expect("no byte of it is 0"),
            conversion,
        });
        rest = &after[conversion.len_utf8()..];
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// The characters in front that are as asked, and what follows.
fn leading(text: &str, is: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is(c)).unwrap_or(text.len()))
}

/// One value, as C prints it.
fn converted(format: &CString, conversion: char, dtype: Dtype, bits: u64) -> String {
    let unused = 64 - 8 * dtype.size() as u32;
    let zero_extended = bits << unused >> unused;
    let sign_extended = (bits << unused) as i64 >> unused;
    // More than a width or precision, and the digits of the largest float.
    let mut buffer = [0u8; 2048];
    let (at, size) = (buffer.as_mut_ptr().cast(), buffer.len());
    // Safety: the format has one conversion, whose type is that of the value, and the buffer its size.
    let written = unsafe {
        match conversion {
            _ if Piece::takes_floats(conversion) => {
                let value = match dtype {
                    Dtype::F64 => f64::from_bits(bits),
                    _ => f32::from_bits(bits as u32).into(),
                };
                libc::snprintf(at, size, format.as_ptr(), value)
            }
            'c' => libc::snprintf(at, size, format.as_ptr(), zero_extended as libc::c_int),
            'd' | 'i' if dtype != Dtype::Bool => {
                libc::snprintf(at, size, format.as_ptr(), sign_extended)
            }
            _ => libc::snprintf(at, size, format.as_ptr(), zero_extended),
        }
    };
    let length = usize::try_from(written).unwrap_or(0).min(size - 1);
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Dtype::{Bool, F32, F64, I8, I32, I64};

    #[test]
    fn values_are_printed_as_c_does() {
        let minus = |bits: u32| (-7i64) as u64 & (!0 >> (64 - bits));
        for (format, values, expected) in [
            ("plain\n", vec![], "plain\n"),
            ("100 %%, %d%%", vec![(I32, 5)], "100 %, 5%"),
            ("%d %i", vec![(I32, minus(32)), (I8, minus(8))], "-7 -7"),
            (
                "%u %x %X %o",
                vec![(I32, minus(32)), (I8, minus(8)), (I8, 255), (I32, 8)],
                "4294967289 f9 FF 10",
            ),
            (
                "%lld %hhd",
                vec![(I64, minus(64)), (I64, i64::MIN as u64)],
                "-7 -9223372036854775808",
            ),
            (
                "[%5d|%-5d|%05d|%+d]",
                vec![(I32, 42); 4],
                "[   42|42   |00042|+42]",
            ),
            ("%.3d", vec![(I32, 7)], "007"),
            ("%d", vec![(Bool, 1)], "1"),
            ("%c%c", vec![(I32, 113), (I32, 100)], "qd"),
            ("%p", vec![(I64, 48)], "0x30"),
            (
                "%f %.2f %e",
                vec![
                    (F32, 1.5f32.to_bits().into()),
                    (F64, 2.345f64.to_bits()),
                    (F64, 1e10f64.to_bits()),
                ],
                "1.500000 2.35 1.000000e+10",
            ),
            (
                "%g %g",
                vec![
                    (F32, f32::INFINITY.to_bits().into()),
                    (F64, (-0.0f64).to_bits()),
                ],
                "inf -0",
            ),
            ("ä %d ö", vec![(I32, 1)], "ä 1 ö"),
        ] {
            assert_eq!(text(format, &values), expected, "{format}");
        }
        let most = text("%999.999f", &[(F64, f64::MAX.to_bits())]);
        assert!(most.len() > 1300 && most.ends_with("000"), "{most}");
    }

    #[test]
    fn what_cannot_be_printed_is_named() {
        for (format, values, expected) in [
            ("%d", vec![], "has 1 conversion, but is given 0 values"),
            (
                "%d %d",
                vec![I32],
                "has 2 conversions, but is given 1 value",
            ),
            ("", vec![I32], "has 0 conversions, but is given 1 value"),
            (
                "%d %f",
                vec![I32, I64],
                "'%f' takes a float, but value 1 is of type i64",
            ),
            (
                "%x",
                vec![F32],
                "'%x' takes an integer, but value 0 is of type f32",
            ),
            ("100 %", vec![], "ends in a '%' without a conversion"),
            ("%-08", vec![], "ends in a '%' without a conversion"),
            ("%5s", vec![I32], "has '%5s', but threads have no strings"),
            (
                "%*d",
                vec![I32, I32],
                "has '%*': a width or precision is a number",
            ),
            (
                "%n",
                vec![I64],
                "has '%n', which is no conversion of C's printf",
            ),
            (
                "%lä",
                vec![I64],
                "has '%lä', which is no conversion of C's printf",
            ),
            (
                "%1000d",
                vec![I32],
                "has '%1000d': a width or precision is at most 999",
            ),
        ] {
            assert_eq!(check(format, &values).unwrap_err(), expected, "{format}");
        }
    }
}
