//! Selection of an argument, or part of it: `NAME`, `NAME[:K]`.

use crate::{
    array::Array,
    bind::{Argument, position},
    numbers,
};
use qd_artifact::Kernel;

/// A buffer or a scalar, or the first rows of a buffer.
#[derive(Debug, PartialEq)]
pub struct Selection {
    /// Which argument.
    pub argument: usize,
    rows: Option<Rows>,
}

#[derive(Debug, PartialEq)]
enum Rows {
    Count(u64),
    /// As many as another argument says when the kernel has run.
    Held(usize),
}

/// Reads `NAME` or `NAME[:K]`.
pub fn parse(kernel: &Kernel, text: &str) -> Result<Selection, String> {
    let text = text.trim();
    let Some((name, range)) = text.strip_suffix(']').and_then(|t| t.split_once('[')) else {
        if text.contains([':', '[']) {
            return Err(format!(
                "expected NAME or NAME[:K], brackets included, not '{text}'"
            ));
        }
        return Ok(Selection {
            argument: position(kernel, text)?,
            rows: None,
        });
    };
    let Some(count) = range.strip_prefix(':') else {
        return Err(format!(
            "expected NAME or NAME[:K], brackets included, not '{text}'"
        ));
    };
    let count = count.trim();
    let rows = match count.replace('_', "").parse() {
        Ok(count) => Rows::Count(count),
        Err(_) => Rows::Held(position(kernel, count)?),
    };
    Ok(Selection {
        argument: position(kernel, name.trim())?,
        rows: Some(rows),
    })
}

impl Selection {
    /// The arguments that it looks at.
    pub fn arguments(&self) -> impl Iterator<Item = usize> {
        let other = match &self.rows {
            Some(Rows::Held(other)) => Some(*other),
            Some(Rows::Count(_)) | None => None,
        };
        other.into_iter().chain([self.argument])
    }

    /// How many rows of the buffer, by what the arguments hold now.
    pub fn rows(&self, kernel: &Kernel, arguments: &[Argument]) -> Result<u64, String> {
        let name = |i: usize| kernel.arguments[i].name.as_str();
        let available = match &arguments[self.argument] {
            Argument::Array(array) => array.rows(),
            Argument::Scalar(_) => 1,
        };
        let (rows, what) = match &self.rows {
            None => return Ok(available),
            Some(Rows::Count(count)) => (i128::from(*count), count.to_string()),
            Some(Rows::Held(other)) => {
                let held = held(&arguments[*other]).ok_or_else(|| {
                    format!(
                        "'{}' holds no single integer, so it cannot say how many rows",
                        name(*other)
                    )
                })?;
                (held, format!("'{}', which is {held}", name(*other)))
            }
        };
        u64::try_from(rows)
            .ok()
            .filter(|rows| *rows <= available)
            .ok_or_else(|| {
                format!(
                    "'{}' has {available} rows, so there are no first {what}",
                    name(self.argument)
                )
            })
    }
}

/// The integer that a scalar or a buffer of one element holds.
fn held(argument: &Argument) -> Option<i128> {
    match argument {
        Argument::Scalar(scalar) => numbers::integer_of(scalar.bits, scalar.dtype),
        Argument::Array(array) if array.count() == 1 => {
            numbers::integer_of(array.element(0)?, array.dtype())
        }
        Argument::Array(_) => None,
    }
}

/// Elements printed of a long buffer.
const PRINTED: usize = 12;

/// A value as one line.
pub fn show(argument: &Argument, rows: u64) -> String {
    match argument {
        Argument::Scalar(scalar) => numbers::text(scalar.bits, scalar.dtype),
        Argument::Array(array) if array.shape().is_empty() => show_rows(array, 1, &[]),
        Argument::Array(array) => {
            let printed = rows.min(PRINTED as u64);
            let mut text = show_rows(array, printed, array.shape());
            if printed < rows {
                // Before the closing bracket.
                text.pop();
                text += &format!(", … {rows} in all]");
            }
            text
        }
    }
}

fn show_rows(array: &Array, rows: u64, shape: &[u64]) -> String {
    fn level(array: &Array, shape: &[u64], next: &mut usize) -> String {
        let Some((extent, inner)) = shape.split_first() else {
            *next += 1;
            let bits = array.element(*next - 1).unwrap_or_default();
            return numbers::text(bits, array.dtype());
        };
        let items: Vec<_> = (0..*extent).map(|_| level(array, inner, next)).collect();
        format!("[{}]", items.join(", "))
    }
    let mut shape = shape.to_vec();
    if let Some(extent) = shape.first_mut() {
        *extent = rows;
    }
    level(array, &shape, &mut 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use qd_artifact::{Argument as Parameter, ArgumentKind, Dtype};
    use qd_runtime::Scalar;

    fn kernel() -> Kernel {
        let argument = |name: &str, shape: &[Option<u64>]| {
            let shape = shape.to_vec();
            let dtype = Dtype::I32;
            Parameter::new(name, ArgumentKind::Buffer { dtype, shape })
        };
        Kernel {
            name: "k".into(),
            arguments: vec![argument("a", &[None]), argument("n", &[])],
            plans: Vec::new(),
        }
    }

    fn arguments(n: i32) -> Vec<Argument> {
        let [mut rows, mut count] =
            [&[3][..], &[]].map(|shape| Array::filled(Dtype::I32, shape, 0).expect("memory"));
        rows.set_elements(|i| i + 5);
        count.set_elements(|_| n as u64);
        vec![rows.into(), count.into()]
    }

    #[test]
    fn rows_are_all_a_number_or_what_another_argument_holds() {
        let rows = |text: &str, n| parse(&kernel(), text)?.rows(&kernel(), &arguments(n));
        assert_eq!(rows("a", 9), Ok(3));
        assert_eq!(rows("a[:2]", 9), Ok(2));
        assert_eq!(rows("0[:n]", 1), Ok(1));
        assert_eq!(
            rows("a[:n]", 4),
            Err("'a' has 3 rows, so there are no first 'n', which is 4".into())
        );
        assert_eq!(
            rows("a[:n]", -1),
            Err("'a' has 3 rows, so there are no first 'n', which is -1".into())
        );
        assert_eq!(
            rows("a[:4]", 0),
            Err("'a' has 3 rows, so there are no first 4".into())
        );
        assert_eq!(
            rows("n[:a]", 0),
            Err("'a' holds no single integer, so it cannot say how many rows".into())
        );
        assert_eq!(
            rows("b", 0),
            Err("kernel 'k' has no argument 'b': it takes a, n".into())
        );
        for wrong in ["a[1:2]", "a:2", "a[:2", "a[2]"] {
            let expected = "expected NAME or NAME[:K], brackets included";
            assert_eq!(rows(wrong, 0), Err(format!("{expected}, not '{wrong}'")));
        }
    }

    #[test]
    fn values_are_lines() {
        let [a, n] = &arguments(4)[..] else {
            unreachable!()
        };
        assert_eq!(show(a, 2), "[5, 6]");
        assert_eq!(show(n, 1), "4");
        assert_eq!(show(&Scalar::new(0.5f32).into(), 1), "0.5");
        let long = Array::filled(Dtype::U8, &[100], 1).expect("memory").into();
        assert_eq!(
            show(&long, 100),
            "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, … 100 in all]"
        );
        let table = Array::filled(Dtype::F32, &[2, 3], 0)
            .expect("memory")
            .into();
        assert_eq!(show(&table, 2), "[[0, 0, 0], [0, 0, 0]]");
    }
}
