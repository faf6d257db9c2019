//! From the command line to a kernel's arguments.

use crate::{
    array::{Array, POISON},
    npy, numbers,
    value::{self, Extent, Generator, Number, Value},
};
use qd_artifact::{Argument as Parameter, ArgumentKind, Dtype, Expr, Kernel, Values};
use qd_runtime::Scalar;
use std::{collections::HashMap, ops::Range};

/// What is passed for one argument of a kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    /// An array. What the kernel left is in it afterwards, if it is asked for.
    Array(Array),
    /// A value.
    Scalar(Scalar),
}

impl From<Array> for Argument {
    fn from(array: Array) -> Self {
        Argument::Array(array)
    }
}

impl From<Scalar> for Argument {
    fn from(scalar: Scalar) -> Self {
        Argument::Scalar(scalar)
    }
}

/// A kernel's arguments, and where each comes from, for the summary.
#[derive(Debug)]
pub struct Bound {
    /// What the kernel gets.
    pub arguments: Vec<Argument>,
    /// A file, a rule; empty for what was allocated without being mentioned.
    pub origins: Vec<String>,
    /// Whether it is a buffer that holds nothing yet.
    pub uninitialised: Vec<bool>,
    /// For a buffer that is rows of another argument, which.
    pub parts: Vec<Option<Part>>,
}

/// Rows of another argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of that argument.
    pub of: usize,
    /// Which of its rows.
    pub rows: Range<u64>,
}

/// Which argument a name or a number means.
pub fn position(kernel: &Kernel, name: &str) -> Result<usize, String> {
    let by_name = kernel.arguments.iter().position(|p| p.name == name);
    let by_number = || {
        name.parse()
            .ok()
            .filter(|i: &usize| *i < kernel.arguments.len())
    };
    by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<_> = kernel.arguments.iter().map(|p| p.name.as_str()).collect();
        let names = match &names[..] {
            [] => "none".into(),
            names => names.join(", "),
        };
        let kernel = &kernel.name;
        format!("kernel '{kernel}' has no argument '{name}': it takes {names}")
    })
}

/// Makes every argument of a kernel.
pub fn bind(kernel: &Kernel, given: &[String]) -> Result<Bound, String> {
    let mut binder = Binder::new(kernel, given)?;
    // Lengths may depend on other arguments' lengths: whatever can be made is
    // made, until nothing is left or nothing can be.
    loop {
        let mut progress = false;
        for i in 0..kernel.arguments.len() {
            if binder.made[i].is_none() && binder.is_ready(i)? {
                binder.made[i] = Some(binder.make(i)?);
                progress = true;
            }
        }
        if binder.made.iter().all(Option::is_some) {
            break;
        }
        if !progress {
            return Err(binder.stuck());
        }
    }
    binder.check_counts()?;
    let origins = (0..kernel.arguments.len())
        .map(|i| {
            binder.said[i]
                .as_ref()
                .map_or(String::new(), |s| s.text.clone())
        })
        .collect();
    let parts = (0..kernel.arguments.len()).map(|i| binder.part(i));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let is_uninitialised = |i: usize| {
        let said = binder.said[i].as_ref().map(|said| &said.value);
        matches!(said, None | Some(Value::Generated(Generator::Poison, _)))
    };
    let uninitialised = (0..kernel.arguments.len())
        .map(|i| is_uninitialised(parts[i].as_ref().map_or(i, |part| part.of)))
        .collect();
    Ok(Bound {
        uninitialised,
        parts,
        arguments: binder.made.into_iter().flatten().collect(),
        origins,
    })
}

/// An `--arg`, parsed.
struct Said {
    text: String,
    value: Value,
}

struct Binder<'a> {
    kernel: &'a Kernel,
    said: Vec<Option<Said>>,
    made: Vec<Option<Argument>>,
}

impl Values for Binder<'_> {
    fn scalar(&self, argument: usize) -> u64 {
        match &self.made[argument] {
            Some(Argument::Scalar(scalar)) => scalar.bits,
            _ => 0,
        }
    }

    fn length(&self, argument: usize, dimension: usize) -> u64 {
        match &self.made[argument] {
            Some(Argument::Array(array)) => array.shape().get(dimension).copied().unwrap_or(1),
            _ => 0,
        }
    }
}

impl<'a> Binder<'a> {
    fn new(kernel: &'a Kernel, given: &[String]) -> Result<Self, String> {
        let mut said: Vec<Option<Said>> = kernel.arguments.iter().map(|_| None).collect();
        for text in given {
            let Some((name, value)) = text.split_once('=') else {
                return Err(format!("--arg '{text}': expected NAME=VALUE"));
            };
            let i = position(kernel, name.trim()).map_err(|e| format!("--arg '{text}': {e}"))?;
            if said[i].is_some() {
                return Err(format!(
                    "--arg '{text}': '{}' is given twice",
                    kernel.arguments[i].name
                ));
            }
            let value = value.trim();
            said[i] = Some(Said {
                text: value.to_string(),
                value: value::parse(value).map_err(|e| {
                    let indent = " ".repeat(e.at + 2);
                    format!("--arg {name}: {e}\n  {value}\n{indent}^")
                })?,
            });
        }
        Ok(Self {
            kernel,
            made: said.iter().map(|_| None).collect(),
            said,
        })
    }

    fn parameter(&self, i: usize) -> &'a Parameter {
        &self.kernel.arguments[i]
    }

    /// An error about an argument.
    fn error(&self, i: usize, message: impl AsRef<str>) -> String {
        let name = &self.parameter(i).name;
        match &self.said[i] {
            Some(said) => format!("--arg {name}={}: {}", said.text, message.as_ref()),
            None => format!(
                "argument '{name}' of kernel '{}': {}",
                self.kernel.name,
                message.as_ref()
            ),
        }
    }

    fn expected(&self, i: usize) -> String {
        format!(
            "argument '{}' of kernel '{}' is {}",
            self.parameter(i).name,
            self.kernel.name,
            self.parameter(i).kind
        )
    }

    /// Whether everything that the argument depends on has been made.
    fn is_ready(&self, i: usize) -> Result<bool, String> {
        let mut needed = Vec::new();
        let mut refer = |name: &str| -> Result<(), String> {
            needed.push(position(self.kernel, name).map_err(|e| self.error(i, e))?);
            Ok(())
        };
        let inferred = match self.said[i].as_ref().map(|said| &said.value) {
            Some(Value::LengthOf(name) | Value::RowsOf(name, ..)) => {
                refer(name)?;
                false
            }
            Some(Value::Generated(_, Some(extents))) => {
                for extent in extents {
                    if let Extent::LengthOf(name) = extent {
                        refer(name)?;
                    }
                }
                false
            }
            Some(Value::Generated(_, None)) | None => true,
            Some(_) => false,
        };
        if inferred && let Some(length) = &self.parameter(i).length {
            references(length, &mut needed);
        }
        Ok(needed.iter().all(|j| self.made[*j].is_some()))
    }

    /// Arguments wait for each other.
    fn stuck(&self) -> String {
        let waiting: Vec<_> = (0..self.made.len())
            .filter(|i| self.made[*i].is_none())
            .map(|i| self.parameter(i).name.as_str())
            .collect();
        format!(
            "the lengths of the arguments {} of kernel '{}' depend on each other: give one of them with --arg",
            waiting.join(", "),
            self.kernel.name
        )
    }

    fn make(&self, i: usize) -> Result<Argument, String> {
        let parameter = self.parameter(i);
        match (
            &parameter.kind,
            self.said[i].as_ref().map(|said| &said.value),
        ) {
            (ArgumentKind::Scalar { dtype }, Some(value)) => {
                let bits = match value {
                    Value::Number(number) => self.bits(i, number, *dtype)?,
                    Value::LengthOf(name) => self.length_of(i, name, *dtype)?,
                    _ => {
                        return Err(
                            self.error(i, format!("{}: give it a number", self.expected(i)))
                        );
                    }
                };
                Ok(Scalar {
                    dtype: *dtype,
                    bits,
                }
                .into())
            }
            (ArgumentKind::Scalar { .. }, None) => Err(self.not_given(i)),
            (ArgumentKind::Buffer { dtype, shape }, value) => {
                let array = match value {
                    None if parameter.is_input => return Err(self.not_given(i)),
                    None => self.generate(i, *dtype, shape, &Generator::Poison, None)?,
                    Some(Value::Generated(generator, extents)) => {
                        self.generate(i, *dtype, shape, generator, extents.as_deref())?
                    }
                    Some(Value::File(path)) => npy::read(path).map_err(|e| self.error(i, e))?,
                    Some(Value::List(numbers, extents)) => {
                        self.list(i, *dtype, numbers, extents)?
                    }
                    Some(Value::RowsOf(..)) => self.rows(i)?,
                    Some(Value::Number(number)) => {
                        let bits = self.bits(i, number, *dtype)?;
                        self.one_element(i, *dtype, shape, bits)?
                    }
                    Some(Value::LengthOf(name)) => {
                        let bits = self.length_of(i, name, *dtype)?;
                        self.one_element(i, *dtype, shape, bits)?
                    }
                };
                self.check_array(i, *dtype, shape, &array)?;
                Ok(array.into())
            }
        }
    }

    fn not_given(&self, i: usize) -> String {
        let parameter = self.parameter(i);
        let (why, example) = match &parameter.kind {
            ArgumentKind::Scalar { .. } => ("it has no value", "NUMBER"),
            ArgumentKind::Buffer { shape, .. } if shape.is_empty() => {
                ("the kernel reads it before it writes it", "NUMBER")
            }
            ArgumentKind::Buffer { .. } => ("the kernel reads it before it writes it", "FILE.npy"),
        };
        let name = &parameter.name;
        format!(
            "{}, and {why}: give it with --arg {name}={example}",
            self.expected(i)
        )
    }

    fn bits(&self, i: usize, number: &Number, dtype: Dtype) -> Result<u64, String> {
        numbers::bits(number, dtype)
            .map_err(|e| self.error(i, format!("{e}; {}", self.expected(i))))
    }

    fn length_of(&self, i: usize, name: &str, dtype: Dtype) -> Result<u64, String> {
        let rows = self.rows_of(i, name)?;
        let number = Number {
            text: rows.to_string(),
        };
        self.bits(i, &number, dtype)
    }

    fn rows_of(&self, i: usize, name: &str) -> Result<u64, String> {
        let j = position(self.kernel, name).map_err(|e| self.error(i, e))?;
        match &self.made[j] {
            Some(Argument::Array(array)) => Ok(array.rows()),
            _ => Err(self.error(i, format!("'{name}' is a scalar, which has no length"))),
        }
    }

    /// Which rows of which argument it is, if it is.
    fn part(&self, i: usize) -> Result<Option<Part>, String> {
        let Some(Value::RowsOf(name, from, to)) = self.said[i].as_ref().map(|said| &said.value)
        else {
            return Ok(None);
        };
        let of = position(self.kernel, name).map_err(|e| self.error(i, e))?;
        let said = self.said[of].as_ref().map(|said| &said.value);
        if matches!(said, Some(Value::RowsOf(..))) {
            let message = format!("'{name}' is itself rows of another argument: name that one");
            return Err(self.error(i, message));
        }
        let length = self.rows_of(i, name)?;
        let rows = *from..to.unwrap_or(length);
        if rows.start > rows.end || rows.end > length {
            return Err(self.error(i, format!("'{name}' has {length} rows")));
        }
        Ok(Some(Part { of, rows }))
    }

    /// What the rows of another argument hold.
    fn rows(&self, i: usize) -> Result<Array, String> {
        let part = self.part(i)?;
        let array = part.and_then(|part| match &self.made[part.of] {
            Some(Argument::Array(array)) => array.of_rows(part.rows),
            _ => None,
        });
        array.ok_or_else(|| self.error(i, "a buffer of one element has no rows"))
    }

    fn filled(&self, i: usize, dtype: Dtype, shape: &[u64]) -> Result<Array, String> {
        Array::filled(dtype, shape, POISON).map_err(|e| self.error(i, e))
    }

    fn one_element(
        &self,
        i: usize,
        dtype: Dtype,
        shape: &[Option<u64>],
        bits: u64,
    ) -> Result<Array, String> {
        if !matches!(shape, [] | [Some(1)]) {
            let hint = format!("{}: const(…) fills it with one value", self.expected(i));
            return Err(self.error(i, hint));
        }
        let shape: Vec<u64> = shape.iter().flatten().copied().collect();
        let mut array = self.filled(i, dtype, &shape)?;
        array.set_elements(|_| bits);
        Ok(array)
    }

    fn list(
        &self,
        i: usize,
        dtype: Dtype,
        numbers: &[Number],
        extents: &[u64],
    ) -> Result<Array, String> {
        let mut array = self.filled(i, dtype, extents)?;
        let bits: Vec<u64> = numbers
            .iter()
            .map(|n| self.bits(i, n, dtype))
            .collect::<Result<_, _>>()?;
        array.set_elements(|at| bits[at as usize]);
        Ok(array)
    }

    fn generate(
        &self,
        i: usize,
        dtype: Dtype,
        declared: &[Option<u64>],
        generator: &Generator,
        extents: Option<&[Extent]>,
    ) -> Result<Array, String> {
        let shape = match extents {
            Some(extents) => extents
                .iter()
                .map(|extent| match extent {
                    Extent::Count(count) => Ok(*count),
                    Extent::LengthOf(name) => self.rows_of(i, name),
                })
                .collect::<Result<Vec<_>, _>>()?,
            None => self.inferred_shape(i, declared)?,
        };
        let mut array = self.filled(i, dtype, &shape)?;
        numbers::generate(&mut array, generator).map_err(|e| self.error(i, e))?;
        Ok(array)
    }

    fn inferred_shape(&self, i: usize, declared: &[Option<u64>]) -> Result<Vec<u64>, String> {
        let extents = declared
            .iter()
            .map(|extent| match (extent, &self.parameter(i).length) {
                (Some(extent), _) => Ok(*extent),
                (None, Some(length)) => length
                    .evaluate(self)
                    .map_err(|e| self.error(i, format!("its length cannot be told: {e}"))),
                (None, None) => {
                    let name = &self.parameter(i).name;
                    Err(format!(
                        "{}, and nothing says how long: give it with --arg {name}=zeros[LENGTH]",
                        self.expected(i)
                    ))
                }
            });
        extents.collect()
    }

    /// What the runtime would say, in the words of the command line.
    fn check_array(
        &self,
        i: usize,
        dtype: Dtype,
        declared: &[Option<u64>],
        array: &Array,
    ) -> Result<(), String> {
        let fits = declared.len() == array.shape().len()
            && declared
                .iter()
                .zip(array.shape())
                .all(|(d, given)| d.is_none_or(|d| d == *given));
        if dtype != array.dtype() || !fits {
            return Err(self.error(i, format!("it is {array:?}, but {}", self.expected(i))));
        }
        Ok(())
    }

    /// Counts and lengths that have been given are within what the kernel's
    /// algorithms take.
    fn check_counts(&self) -> Result<(), String> {
        for (i, parameter) in self.kernel.arguments.iter().enumerate() {
            let Some(argument) = &self.made[i] else {
                continue;
            };
            if let (Some(minimum), Argument::Array(array)) = (&parameter.minimum, argument) {
                let minimum = minimum
                    .evaluate(self)
                    .map_err(|e| self.error(i, e.to_string()))?;
                if array.rows() < minimum {
                    return Err(self.error(
                        i,
                        format!(
                            "it has {} rows, but the kernel needs at least {minimum}",
                            array.rows()
                        ),
                    ));
                }
            }
            let Some(limit) = parameter.limit.as_ref().filter(|_| parameter.is_input) else {
                continue;
            };
            let limit = limit
                .evaluate(self)
                .map_err(|e| self.error(i, e.to_string()))?;
            let value = match argument {
                Argument::Array(array) => {
                    let first = array.element(0);
                    first.and_then(|bits| numbers::integer_of(bits, array.dtype()))
                }
                Argument::Scalar(scalar) => numbers::integer_of(scalar.bits, scalar.dtype),
            };
            if let Some(count) = value.filter(|count| *count < 0 || *count > i128::from(limit)) {
                return Err(self.error(
                    i,
                    format!(
                        "the count is {count}, but the capacity and the buffers allow 0 to {limit}"
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// The arguments that an expression depends on.
fn references(expr: &Expr, into: &mut Vec<usize>) {
    match expr {
        Expr::Constant(_) => {}
        Expr::Scalar(argument) | Expr::Length(argument, _) | Expr::Address(argument) => {
            into.push(*argument);
        }
        Expr::Binary { left, right, .. } | Expr::Compare { left, right, .. } => {
            references(left, into);
            references(right, into);
        }
        Expr::Select {
            condition,
            then,
            otherwise,
        } => {
            references(condition, into);
            references(then, into);
            references(otherwise, into);
        }
        Expr::Resize { value, .. } => references(value, into),
    }
}

/// Whether two arguments were given the same name.
pub fn check_names(kernel: &Kernel) -> Result<(), String> {
    let mut seen = HashMap::new();
    for (i, parameter) in kernel.arguments.iter().enumerate() {
        if let Some(first) = seen.insert(parameter.name.as_str(), i) {
            return Err(format!(
                "kernel '{}' calls its arguments {first} and {i} both '{}'",
                kernel.name, parameter.name
            ));
        }
    }
    Ok(())
}
