//! The actions with what they need on the device laid out: every launch's words
//! and the patterns of fills are one buffer, the constants.

use super::{
    fill::{self, Piece},
    memory::Memory,
};
use crate::{
    Error,
    actions::{Action, If, Kind, Launch, Loop},
};

/// An action, and where in the constants its part is.
pub(super) struct Op<'a> {
    /// Without what is in a loop or an `if`: that is in `work`.
    pub action: Action<'a>,
    pub work: Work<'a>,
}

pub(super) enum Work<'a> {
    /// Others wait for it, no more.
    Nothing,
    /// A launch, whose words begin at this byte of the constants.
    Launch { words: u64 },
    /// A fill of the buffer of this number.
    Fill { buffer: usize, pieces: Vec<Piece> },
    Loop {
        kernel: &'a str,
        /// Where its flag is: a buffer's number, and how far into it.
        flag: (usize, u64),
        body: Vec<Op<'a>>,
    },
    If {
        /// Where its condition is, as a loop's flag.
        condition: (usize, u64),
        body: Vec<Op<'a>>,
    },
}

/// Words begin at multiples of so many bytes.
const ALIGNMENT: usize = 16;

/// The plan of a run.
pub(super) struct Plan<'a> {
    pub ops: Vec<Op<'a>>,
    pub constants: Vec<u8>,
    /// Actions, loops and `if`s in all.
    pub count: u32,
}

impl<'a> Plan<'a> {
    /// Lays out actions on these buffers.
    pub fn new(actions: Vec<Action<'a>>, memory: &[&Memory]) -> Result<Self, Error> {
        let mut plan = Self {
            ops: Vec::new(),
            constants: Vec::new(),
            count: 0,
        };
        plan.ops = plan.ops(actions, memory)?;
        Ok(plan)
    }

    fn ops(&mut self, actions: Vec<Action<'a>>, memory: &[&Memory]) -> Result<Vec<Op<'a>>, Error> {
        let mut ops = Vec::with_capacity(actions.len());
        for mut action in actions {
            self.count += 1;
            let work = match &mut action.kind {
                Kind::Launch(launch) if launch.blocks > 0 => Work::Launch {
                    words: self.words(launch),
                },
                Kind::Launch(_) | Kind::Nothing => Work::Nothing,
                Kind::Fill(fill) => {
                    let (buffer, at) = place(memory, fill.address)?;
                    let pieces = fill::pieces(at, fill, &mut self.constants);
                    Work::Fill { buffer, pieces }
                }
                Kind::Loop(Loop {
                    kernel,
                    flag,
                    actions,
                }) => {
                    let flag = place(memory, *flag)?;
                    let actions = std::mem::take(actions);
                    Work::Loop {
                        kernel,
                        flag,
                        body: self.ops(actions, memory)?,
                    }
                }
                Kind::If(If { condition, actions }) => {
                    let condition = place(memory, *condition)?;
                    let actions = std::mem::take(actions);
                    Work::If {
                        condition,
                        body: self.ops(actions, memory)?,
                    }
                }
            };
            ops.push(Op { action, work });
        }
        Ok(ops)
    }

    /// The number of blocks and the words behind it.
    fn words(&mut self, launch: &Launch<'_>) -> u64 {
        let begin = self.constants.len().next_multiple_of(ALIGNMENT);
        self.constants.resize(begin, 0);
        for word in std::iter::once(&launch.blocks).chain(&launch.words) {
            self.constants.extend(word.to_le_bytes());
        }
        begin as u64
    }
}

/// The buffer that an address is in, and how far.
fn place(memory: &[&Memory], address: u64) -> Result<(usize, u64), Error> {
    let found = memory
        .iter()
        .enumerate()
        .find_map(|(i, memory)| Some((i, memory.offset(address)?)));
    found.ok_or_else(|| Error::InvalidPlan("an address that is in no buffer".into()))
}
