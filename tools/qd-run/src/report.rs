//! The report of a run.

use crate::{
    bind::{Argument, Bound},
    select,
};
use qd_artifact::Kernel;
use qd_runtime::objects::StepTotal;
use std::{fmt::Write, time::Duration};

/// A line per argument: name, type and shape, where it comes from.
pub fn arguments(kernel: &Kernel, bound: &Bound) -> String {
    let described = bound.arguments.iter().map(|argument| match argument {
        Argument::Array(array) => format!("{array:?}"),
        Argument::Scalar(scalar) => scalar.dtype.to_string(),
    });
    let rows = kernel
        .arguments
        .iter()
        .zip(described)
        .zip(&bound.origins)
        .zip(&bound.arguments);
    let rows = rows.map(|(((parameter, described), origin), argument)| {
        let is_number = origin.starts_with(|c: char| c.is_ascii_digit() || "+-.[".contains(c));
        let is_one = match argument {
            Argument::Array(array) => array.count() == 1,
            Argument::Scalar(_) => true,
        };
        // A computed single value is worth showing, not only where it is from.
        let origin = if is_one && !is_number && !origin.is_empty() {
            format!("{origin} = {}", select::show(argument, 1))
        } else {
            origin.clone()
        };
        [parameter.name.clone(), described, origin]
    });
    table(&rows.collect::<Vec<_>>(), [false, false, false])
}

/// A line per step, with its share of the time.
pub fn times(steps: &[StepTotal], total: Duration) -> String {
    let mut rows = vec![["phase", "runs", "blocks", "time", "share"].map(String::from)];
    rows.extend(steps.iter().map(|of| {
        let share = if total.is_zero() {
            0.0
        } else {
            100.0 * of.total.as_secs_f64() / total.as_secs_f64()
        };
        [
            of.step.name.to_string(),
            of.runs.to_string(),
            of.step.blocks.to_string(),
            duration(of.total),
            format!("{share:.1} %"),
        ]
    }));
    table(&rows, [false, true, true, true, true])
}

/// A time with three digits and a unit that suits it.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
}

/// Columns two spaces apart, to the right where said.
fn table<const N: usize>(rows: &[[String; N]], right: [bool; N]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, width), right) in row.iter().zip(widths).zip(right) {
            // Writing to a string does not fail.
            let _ = match right {
                true => write!(line, "  {cell:>width$}"),
                false => write!(line, "  {cell:<width$}"),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (micros, text) in [
            (0, "0.00 µs"),
            (7, "7.00 µs"),
            (999, "999 µs"),
            (1_234, "1.23 ms"),
            (12_345, "12.3 ms"),
            (123_456, "123 ms"),
            (1_500_000, "1.50 s"),
        ] {
            assert_eq!(duration(Duration::from_micros(micros)), text);
        }
    }

    #[test]
    fn columns_line_up() {
        let rows = [["a", "10"], ["long", "1"]].map(|row| row.map(String::from));
        assert_eq!(table(&rows, [false, true]), "  a     10\n  long   1\n");
    }
}
