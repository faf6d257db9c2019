//! Evaluation of a kernel's plan on arguments, to ops and their dependencies.

use super::{
    arguments::{Given, Input},
    driver::{Label, Op, OpKind, Shape},
    executable::Loaded,
    faults::Noting,
};
use crate::{
    Error,
    control::{WORD, own},
    program::Planned,
};
use qd_artifact::{
    BufferRef, Dtype, Expr, Kernel, Operand, Step, StepKind, Values, Variant, prints, record,
};
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

#[cfg(test)]
mod tests;

/// A call: its shape, and its words.
#[derive(Default)]
pub(super) struct Evaluated {
    pub shape: Shape,
    pub words: Vec<u64>,
    /// The choices that the arguments determine: calls of a kernel with the same choices have the
    /// same shape.
    pub choices: Vec<usize>,
    /// Whether the shape is known, and left empty.
    is_shaped: bool,
}

impl Evaluated {
    /// A kernel on its arguments.
    pub fn of(
        loaded: &Loaded,
        planned: Planned<'_>,
        inputs: &[Input],
        control: u64,
    ) -> Result<Self, Error> {
        let mut evaluated = Self::default();
        evaluated.add(loaded, planned, inputs, control, &[])?;
        Ok(evaluated)
    }

    /// As [`of`](Self::of), without the shape: most calls have that of another one.
    pub fn without_shape(
        loaded: &Loaded,
        planned: Planned<'_>,
        inputs: &[Input],
        control: u64,
    ) -> Result<Self, Error> {
        let mut evaluated = Self {
            is_shaped: true,
            ..Self::default()
        };
        evaluated.add(loaded, planned, inputs, control, &[])?;
        Ok(evaluated)
    }

    /// Adds a kernel on its arguments after the ops of `entry`; its control words begin at
    /// `control`. Yields the ops that end it. The artifact has been validated and the arguments
    /// have been checked.
    pub fn add(
        &mut self,
        loaded: &Loaded,
        planned: Planned<'_>,
        inputs: &[Input],
        control: u64,
        entry: &[u32],
    ) -> Result<Vec<u32>, Error> {
        let frame = Frame {
            name: planned.kernel.name.as_str().into(),
            kernel: planned.kernel,
            words: planned.plan.control,
            inputs: inputs.into(),
            control,
            called: &planned.kernel.name,
            noting: loaded.noting(&planned.kernel.name, planned)?,
            preferred: planned.preferred,
            places: loaded.places(planned),
        };
        let ops = std::mem::take(&mut self.shape.ops);
        let begin = ops.len();
        let mut list = List {
            loaded,
            evaluated: self,
            ops,
        };
        list.steps(&frame, &planned.plan.steps, entry)?;
        let mut ends = list.ends(begin);
        if ends.is_empty() {
            ends.extend(entry);
        }
        self.shape.ops = list.ops;
        Ok(ends)
    }

    /// Adds an op that is no kernel's, after those of `after`, and yields it.
    pub fn push(&mut self, step: &str, after: Vec<u32>, kind: OpKind) -> u32 {
        let label = self.shape.labels.len();
        self.shape.labels.push(Label {
            kernel: "".into(),
            step: step.into(),
            id: 0,
        });
        self.shape.ops.push(Op { after, label, kind });
        self.shape.ops.len() as u32 - 1
    }

    /// Adds words, and yields the place of the first.
    pub fn words(&mut self, words: [u64; 3]) -> usize {
        self.words.extend(words);
        self.words.len() - words.len()
    }

    fn word(&mut self, word: u64) -> usize {
        self.words.push(word);
        self.words.len() - 1
    }
}

/// The places of words that differ.
pub(super) fn changed(old: &[u64], new: &[u64]) -> Vec<usize> {
    let pairs = old.iter().zip(new).enumerate();
    pairs
        .filter(|(_, (old, new))| old != new)
        .map(|(place, _)| place)
        .collect()
}

/// A buffer or a view of one.
struct Memory {
    address: u64,
    bytes: u64,
    dtype: Dtype,
    /// None of rank 0.
    rows: Option<u64>,
}

/// A kernel and what its arguments are.
struct Frame<'a> {
    kernel: &'a Kernel,
    name: Arc<str>,
    inputs: Cow<'a, [Input]>,
    /// How many control words it has, and where they begin.
    words: u64,
    control: u64,
    /// The kernel that the caller launches, of which it may be a variant.
    called: &'a str,
    noting: Noting,
    /// The variant that its dispatches run where it is eligible.
    preferred: Option<&'a str>,
    /// Where in the source its steps are, as far as that is known.
    places: Option<&'a BTreeMap<u64, String>>,
}

impl Values for Frame<'_> {
    fn scalar(&self, argument: usize) -> u64 {
        Given(&self.inputs).scalar(argument)
    }

    fn length(&self, argument: usize, dimension: usize) -> u64 {
        Given(&self.inputs).length(argument, dimension)
    }

    fn address(&self, argument: usize) -> u64 {
        Given(&self.inputs).address(argument)
    }
}

impl Frame<'_> {
    fn evaluate(&self, expr: &Expr, what: &str) -> Result<u64, Error> {
        expr.evaluate(self)
            .map_err(|e| Error::evaluate(self.kernel, what, e))
    }

    /// An error of a step, with its place.
    fn located(&self, step: &Step, error: Error) -> Error {
        let place = self.places.and_then(|places| places.get(&step.id));
        match (place, error) {
            // That of a step within is nearer.
            (_, error @ Error::At { .. }) | (None, error) => error,
            (Some(place), error) => Error::At {
                place: place.clone(),
                error: error.into(),
            },
        }
    }

    /// The memory behind a reference; `step` is for messages.
    fn memory(&self, buffer: &BufferRef, step: &str) -> Result<Memory, Error> {
        let Input::Buffer {
            address,
            bytes,
            dtype,
            shape,
        } = &self.inputs[buffer.argument]
        else {
            return Err(Error::InvalidPlan(format!(
                "kernel '{}': argument {} is not a buffer",
                self.kernel.name, buffer.argument
            )));
        };
        let Some(view) = &buffer.view else {
            return Ok(Memory {
                address: *address,
                bytes: *bytes,
                dtype: *dtype,
                rows: shape.first().copied(),
            });
        };
        let offset = self.index(&view.offset_bytes, step, "offset of a view in bytes")?;
        let length = view.length.as_ref();
        let length = length.map(|length| self.index(length, step, "length of a view"));
        let length = length.transpose()?;
        let row = view.dtype.size() as u128 * u128::from(view.row.unwrap_or(1));
        let size = u128::from(length.unwrap_or(1)) * row;
        let needed = u128::from(offset) + size;
        if needed > u128::from(*bytes) {
            return Err(self.out_of_bounds(buffer, step, needed));
        }
        Ok(Memory {
            // The sum is within the buffer, so the offset is.
            address: address.wrapping_add(offset),
            bytes: size as u64,
            dtype: view.dtype,
            rows: length,
        })
    }

    /// An index or an extent that the host computes.
    fn index(&self, expr: &Expr, step: &str, what: &'static str) -> Result<u64, Error> {
        let value = self.evaluate(expr, step)?;
        match value as i64 {
            0.. => Ok(value),
            value => Err(Error::Negative {
                kernel: self.kernel.name.clone(),
                step: step.into(),
                what,
                value,
            }),
        }
    }

    fn out_of_bounds(&self, buffer: &BufferRef, step: &str, needed: u128) -> Error {
        let given = match &self.inputs[buffer.argument] {
            Input::Buffer { bytes, .. } => *bytes as usize,
            Input::Scalar(_) | Input::Missing => 0,
        };
        Error::OutOfBounds {
            kernel: self.kernel.name.clone(),
            step: step.into(),
            argument: self.kernel.arguments[buffer.argument].name.clone(),
            needed,
            given,
        }
    }

    /// The address of the word that a loop or an `if` tests.
    fn condition(&self, operand: &Operand, step: &str) -> Result<u64, Error> {
        match operand {
            Operand::Buffer(buffer) => self.word(buffer, step),
            Operand::Control { first, .. } => Ok(self.control + first * WORD),
            Operand::Scalar(_) | Operand::Faults | Operand::Prints | Operand::Site(_) => {
                Err(Error::InvalidPlan(format!(
                    "kernel '{}': a condition that is on no device",
                    self.kernel.name
                )))
            }
        }
    }

    /// The address of a buffer of at least a word.
    fn word(&self, buffer: &BufferRef, step: &str) -> Result<u64, Error> {
        let memory = self.memory(buffer, step)?;
        match memory.bytes {
            ..WORD => Err(self.out_of_bounds(buffer, step, WORD.into())),
            _ => Ok(memory.address),
        }
    }

    /// Adds the kernel arguments of operands, in their order.
    fn operands(
        &self,
        words: &mut Vec<u64>,
        operands: &[Operand],
        step: &str,
    ) -> Result<(), Error> {
        for operand in operands {
            match operand {
                Operand::Buffer(buffer) => {
                    let memory = self.memory(buffer, step)?;
                    words.push(memory.address);
                    words.extend(memory.rows);
                }
                Operand::Scalar(value) => words.push(self.evaluate(value, step)?),
                Operand::Control {
                    first,
                    words: length,
                } => words.extend([self.control + first * WORD, *length]),
                Operand::Faults => words.extend([self.noting.record, record::WORDS as u64]),
                Operand::Prints => words.extend([self.noting.ring, prints::WORDS as u64]),
                Operand::Site(number) => words.push(self.noting.first + number),
            }
        }
        Ok(())
    }

    /// A fill's size of an element, and its words; none if it fills nothing.
    fn fill(
        &self,
        buffer: &BufferRef,
        [lower, upper, value]: [&Expr; 3],
    ) -> Result<Option<(usize, [u64; 3])>, Error> {
        let memory = self.memory(buffer, "fill")?;
        let [lower, upper, value] = [
            self.index(lower, "fill", "lower bound")?,
            self.index(upper, "fill", "upper bound")?,
            self.evaluate(value, "fill")?,
        ];
        if lower >= upper {
            return Ok(None);
        }
        let size = memory.dtype.size();
        let end = u128::from(upper) * size as u128;
        if end > u128::from(memory.bytes) {
            return Err(self.out_of_bounds(buffer, "fill", end));
        }
        let address = memory.address + lower * size as u64;
        Ok(Some((size, [address, upper - lower, value])))
    }
}

/// The ops that a step depends on.
fn after(step: &Step, ends: &HashMap<u64, Vec<u32>>, entry: &[u32]) -> Vec<u32> {
    let ops = step.after.iter().filter_map(|id| ends.get(id)).flatten();
    let mut after: Vec<u32> = ops.copied().collect();
    after.sort_unstable();
    after.dedup();
    if after.is_empty() {
        after.extend(entry);
    }
    after
}

/// Ops that follow each other.
struct List<'a> {
    loaded: &'a Loaded,
    evaluated: &'a mut Evaluated,
    ops: Vec<Op>,
}

impl List<'_> {
    /// The ops of steps, and whether there is something to do for them, or to wait for.
    fn of(
        loaded: &Loaded,
        evaluated: &mut Evaluated,
        frame: &Frame<'_>,
        steps: &[Step],
    ) -> Result<(Vec<Op>, bool), Error> {
        let mut list = List {
            loaded,
            evaluated,
            ops: Vec::new(),
        };
        let is_any = list.steps(frame, steps, &[])?;
        Ok((list.ops, is_any))
    }

    fn push(&mut self, frame: &Frame<'_>, step: &Step, name: &str, after: Vec<u32>, kind: OpKind) {
        if self.evaluated.is_shaped {
            return;
        }
        let labels = &mut self.evaluated.shape.labels;
        let label = labels.len();
        labels.push(Label {
            kernel: frame.name.clone(),
            step: name.into(),
            id: step.id,
        });
        self.ops.push(Op { after, label, kind });
    }

    /// Adds steps of one list, after the ops of `entry`; says whether there is something to do
    /// for them, or to wait for.
    fn steps(&mut self, frame: &Frame<'_>, steps: &[Step], entry: &[u32]) -> Result<bool, Error> {
        // What has finished when a step has.
        let mut ends: HashMap<u64, Vec<u32>> = HashMap::new();
        let mut is_any = false;
        for step in steps {
            let after = match self.evaluated.is_shaped {
                true => Vec::new(),
                false => after(step, &ends, entry),
            };
            let (name, after, kind) = match &step.kind {
                StepKind::Dispatch {
                    variants,
                    arguments,
                } => {
                    let variants = (&variants[..], &arguments[..]);
                    let (ends, does) = self
                        .dispatch(frame, step, variants, after)
                        .map_err(|error| frame.located(step, error))?;
                    is_any |= does;
                    ("dispatch", ends, Some(OpKind::Join))
                }
                kind => {
                    let (name, does, kind) = self
                        .kind(frame, kind)
                        .map_err(|error| frame.located(step, error))?;
                    is_any |= does;
                    (name, after, kind)
                }
            };
            if self.evaluated.is_shaped {
                continue;
            }
            match kind {
                Some(kind) => {
                    ends.insert(step.id, vec![self.ops.len() as u32]);
                    self.push(frame, step, name, after, kind);
                }
                // Dependents of a step without an op get its dependencies.
                None => _ = ends.insert(step.id, after),
            }
        }
        Ok(is_any)
    }

    /// What a step that is no dispatch is called, whether it does something, and its op if it
    /// has one.
    fn kind<'k>(
        &mut self,
        frame: &Frame<'_>,
        kind: &'k StepKind,
    ) -> Result<(&'k str, bool, Option<OpKind>), Error> {
        Ok(match kind {
            StepKind::Launch {
                body,
                name,
                blocks,
                threads,
                dynamic_shared_bytes,
                arguments,
            } => {
                let blocks = frame.index(blocks, name, "number of blocks")?;
                let first = self.evaluated.word(blocks);
                frame.operands(&mut self.evaluated.words, arguments, name)?;
                // Code that is not launched is not loaded.
                let is_out = blocks == 0 && !self.loaded.is_there(body);
                self.evaluated.choices.push(is_out.into());
                if is_out || self.evaluated.is_shaped {
                    return Ok((name, blocks > 0, None));
                }
                let kind = OpKind::Launch {
                    body: self.loaded.body(body, *threads)?,
                    threads: *threads,
                    dynamic_shared_bytes: *dynamic_shared_bytes,
                    words: first..self.evaluated.words.len(),
                };
                (name, blocks > 0, Some(kind))
            }
            StepKind::Fill {
                buffer,
                lower,
                upper,
                value,
            } => {
                let fill = frame.fill(buffer, [lower, upper, value])?;
                self.evaluated.choices.push(fill.is_some().into());
                let kind = fill.map(|(size, words)| OpKind::Fill {
                    size,
                    words: self.evaluated.words(words),
                });
                ("fill", kind.is_some(), kind)
            }
            StepKind::DoWhile { flag, steps } => {
                let flag = self.evaluated.word(frame.condition(flag, "do_while")?);
                let (ops, _) = Self::of(self.loaded, self.evaluated, frame, steps)?;
                ("do_while", true, Some(OpKind::While { flag, ops }))
            }
            StepKind::If { condition, steps } => {
                let condition = self.evaluated.word(frame.condition(condition, "if")?);
                let (ops, is_any) = Self::of(self.loaded, self.evaluated, frame, steps)?;
                self.evaluated.choices.push(is_any.into());
                // Without ops the condition need not be read.
                let kind = match is_any {
                    true => OpKind::If { condition, ops },
                    false => OpKind::Join,
                };
                ("if", is_any, Some(kind))
            }
            StepKind::Dispatch { .. } => ("dispatch", false, None),
        })
    }

    /// Those from `begin` on that no other waits for.
    fn ends(&self, begin: usize) -> Vec<u32> {
        let waited: HashSet<u32> = self.ops[begin..]
            .iter()
            .flat_map(|op| &op.after)
            .copied()
            .collect();
        let ends = (begin as u32..self.ops.len() as u32).filter(|i| !waited.contains(i));
        ends.collect()
    }

    /// Adds the ops of the variant that is chosen, after those of `after`. Yields those that
    /// have to finish for it to have, and whether it does something.
    fn dispatch(
        &mut self,
        frame: &Frame<'_>,
        step: &Step,
        (variants, arguments): (&[Variant], &[Operand]),
        after: Vec<u32>,
    ) -> Result<(Vec<u32>, bool), Error> {
        let numbered = variants.iter().enumerate();
        let is_preferred = |(_, variant): &(_, &Variant)| frame.preferred == Some(&variant.kernel);
        let preferred = numbered.clone().filter(is_preferred);
        for (choice, variant) in preferred.chain(numbered) {
            let predicate = variant.predicate.as_ref();
            let eligible =
                predicate.map_or(Ok(1), |p| frame.evaluate(p, &variant.kernel))? & 1 == 1;
            let program = self.loaded.program();
            let Some(planned) = program.kernel(&variant.kernel).filter(|_| eligible) else {
                continue;
            };
            let inputs = arguments
                .iter()
                .map(|operand| frame.input(operand, &variant.kernel))
                .collect::<Result<_, _>>()?;
            let inner = Frame {
                name: planned.kernel.name.as_str().into(),
                kernel: planned.kernel,
                words: planned.plan.control,
                inputs,
                control: frame.control + own(frame.words),
                called: frame.called,
                noting: self.loaded.noting(frame.called, planned)?,
                preferred: frame.preferred,
                places: self.loaded.places(planned),
            };
            self.evaluated.choices.push(choice);
            let begin = self.ops.len();
            self.push(frame, step, &variant.kernel, after, OpKind::Join);
            let is_any = self.steps(&inner, &planned.plan.steps, &[begin as u32])?;
            return Ok((self.ends(begin), is_any));
        }
        Err(Error::NoVariant {
            kernel: frame.kernel.name.clone(),
            variants: variants.iter().map(|v| v.kernel.clone()).collect(),
        })
    }
}

impl Frame<'_> {
    /// An operand as the argument of another kernel.
    fn input(&self, operand: &Operand, callee: &str) -> Result<Input, Error> {
        match operand {
            Operand::Buffer(buffer) if buffer.view.is_none() => {
                Ok(self.inputs[buffer.argument].clone())
            }
            Operand::Buffer(buffer) => {
                let memory = self.memory(buffer, callee)?;
                Ok(Input::Buffer {
                    address: memory.address,
                    bytes: memory.bytes,
                    dtype: memory.dtype,
                    shape: memory.rows.as_slice().into(),
                })
            }
            Operand::Scalar(value) => {
                let bits = self.evaluate(value, callee)?;
                // Only its bits matter from here on.
                let dtype = Dtype::U64;
                Ok(Input::Scalar(crate::Scalar { dtype, bits }))
            }
            Operand::Control { .. } | Operand::Faults | Operand::Prints | Operand::Site(_) => {
                Err(Error::InvalidPlan(format!(
                    "kernel '{}' passes its control on",
                    self.kernel.name
                )))
            }
        }
    }
}
