//! A call in pieces: each op by itself, in the plan's order, which satisfies their
//! dependencies. The host reads conditions.

use super::{Mark, SpanKind, Step, Timed};
use crate::objects::{
    driver::{Fault, Op, OpKind, Replay, Shape},
    fork::Here,
    stream::Queue,
};
use std::{collections::HashMap, sync::Arc};

pub(super) struct Pieces<'a> {
    queue: &'a Queue,
    shape: &'a Shape,
    pieces: Vec<Piece>,
    /// How often each label's op has been done.
    runs: HashMap<usize, u64>,
}

enum Piece {
    Once {
        replay: Here<Box<dyn Replay>>,
        label: usize,
        is_launch: bool,
        blocks: u64,
        bytes: u64,
    },
    /// Once, and again while the word at the address is not 0.
    While {
        flag: u64,
        label: usize,
        pieces: Vec<Piece>,
    },
    If {
        condition: u64,
        pieces: Vec<Piece>,
    },
}

impl<'a> Pieces<'a> {
    pub fn new(queue: &'a Queue, shape: &'a Shape, words: &[u64]) -> Result<Self, Fault> {
        Ok(Self {
            queue,
            shape,
            pieces: pieces(queue, shape, words, &shape.ops)?,
            runs: HashMap::new(),
        })
    }

    /// Does all of it, and notes the steps.
    pub fn run(&mut self, limit: Option<u64>, timed: &mut Vec<Timed>) -> Result<(), Fault> {
        let mut pieces = std::mem::take(&mut self.pieces);
        self.all(&mut pieces, limit, timed)
    }

    fn all(
        &mut self,
        pieces: &mut [Piece],
        limit: Option<u64>,
        timed: &mut Vec<Timed>,
    ) -> Result<(), Fault> {
        for piece in pieces {
            match piece {
                Piece::Once {
                    replay,
                    label,
                    is_launch,
                    blocks,
                    bytes,
                } => {
                    let begin = Arc::new(self.queue.point()?);
                    replay.replay(self.queue.raw, None)?;
                    let end: Arc<Mark> = Arc::new(self.queue.point()?);
                    let run = self.runs.entry(*label).or_default();
                    *run += 1;
                    let of = &self.shape.labels[*label];
                    let kind = SpanKind::Step(Step {
                        kernel: of.kernel.clone(),
                        name: of.step.clone(),
                        id: of.id,
                        is_launch: *is_launch,
                        blocks: *blocks,
                        bytes: *bytes,
                        run: *run,
                    });
                    timed.push(Timed { kind, begin, end });
                }
                Piece::While {
                    flag,
                    label,
                    pieces,
                } => {
                    let mut iterations = 0;
                    loop {
                        self.all(pieces, limit, timed)?;
                        iterations += 1;
                        if !self.is_set(*flag)? {
                            break;
                        }
                        if let Some(limit) = limit.filter(|limit| iterations >= *limit) {
                            return Err(Fault::TooManyIterations {
                                label: *label,
                                limit,
                            });
                        }
                    }
                }
                Piece::If { condition, pieces } => {
                    if self.is_set(*condition)? {
                        self.all(pieces, limit, timed)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the `i32` at an address is not 0, after all that is on the stream.
    fn is_set(&self, address: u64) -> Result<bool, Fault> {
        let mut word = [0; 4];
        let driver = &self.queue.shared().driver;
        driver.download(self.queue.raw, address, &mut word)?;
        Ok(word != [0; 4])
    }
}

fn pieces(queue: &Queue, shape: &Shape, words: &[u64], ops: &[Op]) -> Result<Vec<Piece>, Fault> {
    let mut all = Vec::new();
    for op in ops {
        let (is_launch, blocks, bytes) = match &op.kind {
            OpKind::Launch { words: mine, .. } => (true, words[mine.start], 0),
            OpKind::Fill { size, words: first } => (false, 0, words[first + 1] * *size as u64),
            OpKind::Copy { words: first } => (false, 0, words[first + 2]),
            OpKind::While { flag, ops } => {
                all.push(Piece::While {
                    flag: words[*flag],
                    label: op.label,
                    pieces: pieces(queue, shape, words, ops)?,
                });
                continue;
            }
            OpKind::If { condition, ops } => {
                all.push(Piece::If {
                    condition: words[*condition],
                    pieces: pieces(queue, shape, words, ops)?,
                });
                continue;
            }
            OpKind::Join => continue,
        };
        let alone = Shape {
            ops: vec![Op {
                after: Vec::new(),
                ..op.clone()
            }],
            labels: shape.labels.clone(),
        };
        all.push(Piece::Once {
            replay: Here::new(queue.shared().driver.build(&alone, words)?),
            label: op.label,
            is_launch,
            blocks,
            bytes,
        });
    }
    Ok(all)
}
