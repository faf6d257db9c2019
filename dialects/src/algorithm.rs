//! The interface of device-wide algorithms (`AlgorithmOpInterface`).

use crate::{
    ir::{Op, Value, context_of},
    ops::algo,
    scratch::{Formula, MAX_DEPTH},
};
use melior::{Context, StringRef};
use mlir_sys::MlirValue;
use std::{ffi::c_void, mem::MaybeUninit};

/// The role of a buffer of an algorithm, of n elements by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Input: it is read.
    Input,
    /// Output: it is written, one element for each result.
    Output,
    /// Its one element is written.
    Total,
    /// Key: it is read, and overwritten with the results.
    Key,
    /// Value: it is moved with its key.
    Value,
    /// Workspace: its contents before and after are undefined.
    Workspace,
    /// Scratch: as a workspace, with the formula's number of elements.
    Scratch,
    /// Count: its one element is n.
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

    /// Whether results depend on the buffer's contents.
    pub fn is_read(self) -> bool {
        matches!(self, Self::Input | Self::Key | Self::Value | Self::Count)
    }

    /// Whether its contents are undefined before and after.
    pub fn is_workspace(self) -> bool {
        matches!(self, Self::Workspace | Self::Scratch)
    }
}

/// An operand of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'c> {
    /// Its role.
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
    /// Base-256 logarithm of the largest number of elements.
    pub log256_capacity: Option<u32>,
    /// The formula of scratch.
    pub scratch: Option<Formula>,
}

impl<'c> Algorithm<'c> {
    /// The interface of an op, if it is an algorithm.
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

    /// The buffers of an operand of the definition, by its number.
    pub fn group(&self, group: u32) -> impl Iterator<Item = Value<'c>> {
        let operands = self.operands.iter();
        operands
            .filter(move |operand| operand.group == group)
            .map(|operand| operand.value)
    }

    /// The buffers whose elements the count numbers: those of the first operand that is an input
    /// or a key.
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

    /// The buffer with one element for each of an operand's: where several are counted, the one
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

/// Whether ops of a full name say how many values each of their operands is.
pub(crate) fn has_operand_segments(context: &Context, name: &str) -> bool {
    let name = StringRef::new(name);
    // Safety: the context and the name are valid.
    unsafe { qd_sys::qdHasOperandSegments(context.to_raw(), name.to_raw()) }
}

/// The formula of a `qd.algo.scratch_slots`, and its depth.
pub fn sizing(op: Op<'_>) -> Option<(Formula, u32)> {
    let slots = algo::ScratchSlots::of(op)?;
    let name = format!("{}{}", algo::PREFIX, slots.algorithm().name());
    let name = StringRef::new(&name);
    // Safety: the context and the name are valid.
    let raw = unsafe { qd_sys::qdScratchFormula(context_of(op).to_raw(), name.to_raw()) };
    Some((
        Formula::from_raw(raw)?,
        match slots.log256_max_n() {
            Some(depth) => u32::try_from(depth).ok()?,
            // Enough at any capacity.
            None => MAX_DEPTH,
        },
    ))
}
