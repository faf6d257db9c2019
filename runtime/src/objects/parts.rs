//! Shapes whose control flow the host decides: lists of ops without control flow, and
//! between them loops and `if`s whose condition the host reads.

use super::driver::{Fault, Op, OpKind};

/// Some of a shape's ops.
pub(crate) enum Part {
    /// Ops that are no loops and no `if`s.
    Ops {
        /// Which of the shape's lists of ops.
        number: usize,
        /// The place of the first in the list that `after` counts in.
        first: usize,
        ops: Vec<Op>,
    },
    While {
        label: usize,
        flag: Look,
        parts: Vec<Part>,
    },
    If {
        condition: Look,
        parts: Vec<Part>,
    },
}

/// A read of an `i32` by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// Which of the shape's looks.
    pub number: usize,
    /// The word that has its address.
    pub word: usize,
}

/// A shape in parts.
#[derive(Default)]
pub(crate) struct Parts {
    pub parts: Vec<Part>,
    /// Lists of ops, and looks, in all.
    pub lists: usize,
    pub looks: usize,
}

impl Parts {
    pub fn of(ops: &[Op]) -> Self {
        let mut all = Self::default();
        all.parts = all.split(ops);
        all
    }

    fn split(&mut self, ops: &[Op]) -> Vec<Part> {
        let mut parts = Vec::new();
        for (place, op) in ops.iter().enumerate() {
            let part = match &op.kind {
                OpKind::While { flag, ops } => Part::While {
                    label: op.label,
                    flag: self.look(*flag),
                    parts: self.split(ops),
                },
                OpKind::If { condition, ops } => Part::If {
                    condition: self.look(*condition),
                    parts: self.split(ops),
                },
                OpKind::Launch { .. }
                | OpKind::Fill { .. }
                | OpKind::Copy { .. }
                | OpKind::Join => {
                    if let Some(Part::Ops { ops, .. }) = parts.last_mut() {
                        ops.push(op.clone());
                        continue;
                    }
                    let number = self.lists;
                    self.lists += 1;
                    Part::Ops {
                        number,
                        first: place,
                        ops: vec![op.clone()],
                    }
                }
            };
            parts.push(part);
        }
        parts
    }

    fn look(&mut self, word: usize) -> Look {
        let number = self.looks;
        self.looks += 1;
        Look { number, word }
    }
}

/// What does the parts of a shape.
pub(crate) trait Host {
    /// Does a list of ops, after all before it.
    fn ops(&mut self, number: usize, ops: &[Op]) -> Result<(), Fault>;
    /// Whether a word is not 0 when all before has been done.
    fn is_set(&mut self, look: Look) -> Result<bool, Fault>;
}

/// Does parts, one after the other.
pub(crate) fn run(
    host: &mut impl Host,
    parts: &[Part],
    max_iterations: Option<u64>,
) -> Result<(), Fault> {
    for part in parts {
        match part {
            Part::Ops { number, ops, .. } => host.ops(*number, ops)?,
            Part::While { label, flag, parts } => {
                let mut iterations = 0;
                loop {
                    run(host, parts, max_iterations)?;
                    iterations += 1;
                    if !host.is_set(*flag)? {
                        break;
                    }
                    if let Some(limit) = max_iterations.filter(|limit| iterations >= *limit) {
                        return Err(Fault::TooManyIterations {
                            label: *label,
                            limit,
                        });
                    }
                }
            }
            Part::If { condition, parts } => {
                if host.is_set(*condition)? {
                    run(host, parts, max_iterations)?;
                }
            }
        }
    }
    Ok(())
}
