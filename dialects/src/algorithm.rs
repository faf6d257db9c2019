//! What device-wide algorithms say of themselves (`AlgorithmOpInterface`).

use crate::{
    attributes,
    ir::{Op, OpExt, Value, context_of},
    scratch::Formula,
};
use melior::StringRef;
use mlir_sys::MlirValue;
use std::{ffi::c_void, mem::MaybeUninit};

/// What an algorithm does with a buffer, of n elements unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is read.
    Input,
    /// It is written, as many elements as there are results.
    Output,
    /// Its one element is written.
    Total,
    /// It is read, and in place of it what becomes of it.
    Key,
    /// What goes with a key.
    Value,
    /// What it holds before and afterwards means nothing.
    Workspace,
    /// The same, of as many elements as the formula says.
    Scratch,
    /// It is read: its one element is n.
    Count,
}

impl Role {
    /// As `qd::OperandRole` numbers them.
    const ALL: [Self; 8] = [
        Self::Input,
        Self::Output,
        Self::Total,
        Self::Key,
        Self::Value,
        Self::Workspace,
        Self::Scratch,
        Self::Count,
    ];

    /// Whether what the buffer holds has a part in the results.
    pub fn is_read(self) -> bool {
        matches!(self, Self::Input | Self::Key | Self::Value | Self::Count)
    }

    /// Whether it is the algorithm's own while it runs.
    pub fn is_workspace(self) -> bool {
        matches!(self, Self::Workspace | Self::Scratch)
    }
}

/// An operand of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'c> {
    /// What is done with it.
    pub role: Role,
    /// The buffer.
    pub value: Value<'c>,
    /// Which operand of the op's definition it belongs to.
    group: u32,
    /// Its place among those of its group.
    place: usize,
}

/// A device-wide algorithm.
#[derive(Clone, Debug)]
pub struct Algorithm<'c> {
    /// All operands, in their order.
    pub operands: Vec<Operand<'c>>,
    /// Base-256 logarithm of the most elements that there can be.
    pub log256_capacity: Option<u32>,
    /// How many elements scratch has to have.
    pub scratch: Option<Formula>,
}

impl<'c> Algorithm<'c> {
    /// What an op says of itself, if it is an algorithm.
    pub fn of(op: Op<'c>) -> Option<Self> {
        unsafe extern "C" fn visit(value: MlirValue, role: u32, group: u32, data: *mut c_void) {
            // Safety: MLIR hands over a valid value, and `data` as it got it.
            unsafe {
                let all = &mut *data.cast::<Vec<Operand>>();
                let place = all.iter().filter(|known| known.group == group).count();
                all.push(Operand {
                    role: Role::ALL[role as usize],
                    value: Value::from_raw(value),
                    group,
                    place,
                });
            }
        }
        let mut operands: Vec<Operand<'c>> = Vec::new();
        let mut said = MaybeUninit::uninit();
        // Safety: the operation is valid; `visit` is called before the call returns, and `said`
        // is written where the op is an algorithm.
        let said = unsafe {
            let data = std::ptr::from_mut(&mut operands).cast();
            if !qd_sys::qdAlgorithm(op.to_raw(), said.as_mut_ptr(), visit, data) {
                return None;
            }
            said.assume_init()
        };
        Some(Self {
            operands,
            log256_capacity: u32::try_from(said.log256_capacity).ok(),
            scratch: Formula::from_raw(said.formula),
        })
    }

    /// What is counted: the buffers of the first operand that is an input or a key.
    pub fn counted(&self) -> impl Iterator<Item = Value<'c>> {
        let is_counted = |operand: &&Operand| matches!(operand.role, Role::Input | Role::Key);
        let group = self
            .operands
            .iter()
            .find(is_counted)
            .map(|first| first.group);
        let all = self.operands.iter();
        all.filter(move |operand| Some(operand.group) == group)
            .map(|operand| operand.value)
    }

    /// The buffer whose elements an operand has one each for: of several that are counted, the one
    /// with its number.
    pub fn counted_for(&self, operand: &Operand<'c>) -> Option<Value<'c>> {
        let mut counted = self.counted();
        let first = counted.next()?;
        match operand.place {
            0 => Some(first),
            _ if matches!(operand.role, Role::Input | Role::Key) => Some(first),
            place => counted.nth(place - 1).or(Some(first)),
        }
    }
}

/// The formula that a `qd.algo.scratch_slots` asks for, and the depth that it is asked for.
pub fn sizing(op: Op<'_>) -> Option<(Formula, u32)> {
    let algorithm = op.attr("algorithm").map(attributes::case_of)?;
    let depth = op.attr("log256_max_n").and_then(attributes::int)?;
    let name = format!("qd.algo.{algorithm}");
    let name = StringRef::new(&name);
    // Safety: the context and the name are valid.
    let raw = unsafe { qd_sys::qdScratchFormula(context_of(op).to_raw(), name.to_raw()) };
    Some((Formula::from_raw(raw)?, u32::try_from(depth).ok()?))
}
