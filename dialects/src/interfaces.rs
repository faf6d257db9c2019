//! Op interfaces, MLIR's and those of `QdInterfaces.td`.
//!
//! A pass asks here and keeps no list of names. An op without the interface is `Unknown`: a
//! pass then assumes the worst, or reports an error that names the op and itself.

use crate::{
    ir::{Context, Op, OpExt, Value, ValueExt, as_memref},
    ops::grid,
};
use melior::ir::ValueLike;
use mlir_sys::{MlirStringRef, MlirValue};
use std::{ffi::c_void, fmt, mem::MaybeUninit};

//===----------------------------------------------------------------------===//
// Convergence
//===----------------------------------------------------------------------===//

/// A set of threads that run together, from the smallest to the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The lanes of one subgroup.
    Subgroup,
    /// The threads of one block.
    Block,
    /// All threads of a phase.
    Grid,
}

impl Scope {
    /// All scopes, from the smallest to the largest.
    pub const ALL: [Self; 3] = [Self::Subgroup, Self::Block, Self::Grid];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Subgroup => "subgroup",
            Self::Block => "block",
            Self::Grid => "grid",
        })
    }
}

/// In which of its threads a collective's results are uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultUniformity {
    /// Not known to be uniform.
    Varying,
    /// Uniform if each operand is.
    FromOperands,
    /// Uniform, or uniform in a cluster.
    Uniform,
}

/// The interface of a collective (`CollectiveOpInterface`).
#[derive(Clone, Copy, Debug)]
pub struct Collective<'c> {
    op: Op<'c>,
    /// The threads that execute it together.
    pub scope: Scope,
    /// In which of these its results are uniform.
    pub result_uniformity: ResultUniformity,
    /// Whether it can exchange values within clusters of the lanes.
    pub supports_clusters: bool,
    /// Base-2 logarithm of the lanes in a cluster; none: all lanes are one.
    pub log2_cluster_size: Option<u32>,
    /// The index of the lane that each lane reads, if it reads one. Results are uniform
    /// where it is uniform.
    pub source_lane: Option<Value<'c>>,
}

/// How threads execute an op.
#[derive(Clone, Copy, Debug)]
pub enum Convergence<'c> {
    /// The op does not declare it.
    Unknown,
    /// Each thread by itself.
    PerThread,
    /// Several threads together.
    Collective(Collective<'c>),
}

impl<'c> Convergence<'c> {
    /// How threads execute an op.
    pub fn of(op: Op<'c>) -> Self {
        let mut said = MaybeUninit::uninit();
        // Safety: the operation is valid, and `said` is written where the op is a collective.
        let said = unsafe {
            match qd_sys::qdConvergence(op.to_raw(), said.as_mut_ptr()) {
                qd_sys::QD_CONVERGENCE_PER_THREAD => return Self::PerThread,
                qd_sys::QD_CONVERGENCE_COLLECTIVE => said.assume_init(),
                _ => return Self::Unknown,
            }
        };
        Self::Collective(Collective {
            op,
            scope: Scope::ALL[said.scope as usize],
            result_uniformity: match said.result_uniformity {
                0 => ResultUniformity::Varying,
                1 => ResultUniformity::FromOperands,
                _ => ResultUniformity::Uniform,
            },
            supports_clusters: said.supports_clusters,
            log2_cluster_size: u32::try_from(said.log2_cluster_size).ok(),
            source_lane: value(said.source_lane),
        })
    }
}

impl<'c> Collective<'c> {
    /// The interface of an op, if it is a collective.
    pub fn of(op: Op<'c>) -> Option<Self> {
        match Convergence::of(op) {
            Convergence::Collective(collective) => Some(collective),
            Convergence::PerThread | Convergence::Unknown => None,
        }
    }

    /// The operands that must be uniform in the scope, each with its name.
    pub fn uniform_operands(&self) -> Vec<(String, Value<'c>)> {
        unsafe extern "C" fn visit(name: MlirStringRef, operand: MlirValue, data: *mut c_void) {
            // Safety: MLIR hands over a string and a valid value, and `data` as it got it.
            unsafe {
                let all = &mut *data.cast::<Vec<(String, Value)>>();
                all.push((text(name), Value::from_raw(operand)));
            }
        }
        let mut all: Vec<(String, Value<'c>)> = Vec::new();
        // Safety: the operation is valid; `visit` is called before the call returns.
        unsafe {
            let data = std::ptr::from_mut(&mut all).cast();
            qd_sys::qdUniformOperands(self.op.to_raw(), visit, data);
        }
        all
    }
}

/// The full names of all collectives.
pub fn collectives(context: &Context) -> Vec<String> {
    unsafe extern "C" fn visit(name: MlirStringRef, data: *mut c_void) {
        // Safety: MLIR hands over a string, and `data` as it got it.
        unsafe { (*data.cast::<Vec<String>>()).push(text(name)) }
    }
    let mut all: Vec<String> = Vec::new();
    // Safety: the context is valid; `visit` is called before the call returns.
    unsafe {
        let data = std::ptr::from_mut(&mut all).cast();
        qd_sys::qdCollectives(context.to_raw(), visit, data);
    }
    all
}

/// A string of MLIR's.
///
/// # Safety
///
/// It is one.
unsafe fn text(name: MlirStringRef) -> String {
    // Safety: by the caller's contract.
    let bytes = unsafe { std::slice::from_raw_parts(name.data.cast(), name.length) };
    String::from_utf8_lossy(bytes).into_owned()
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// An op's effects on memory (`MemoryEffectOpInterface`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// It reads.
    pub reads: bool,
    /// It writes.
    pub writes: bool,
    /// It allocates or frees, or must not be duplicated for another reason.
    pub others: bool,
}

impl Effects {
    /// An op's effects, without those in its regions; none if it does not declare them.
    pub fn of(op: Op<'_>) -> Option<Self> {
        // Safety: the operation is valid.
        let bits = unsafe { qd_sys::qdEffects(op.to_raw()) };
        (bits & qd_sys::QD_EFFECT_UNKNOWN == 0).then(|| Self::from_bits(bits))
    }

    fn from_bits(bits: u32) -> Self {
        Self {
            reads: bits & qd_sys::QD_EFFECT_READ != 0,
            writes: bits & qd_sys::QD_EFFECT_WRITE != 0,
            others: bits & qd_sys::QD_EFFECT_OTHER != 0,
        }
    }

    /// Whether its only effects are reads.
    pub fn only_reads(self) -> bool {
        !self.writes && !self.others
    }
}

/// An op's use of the memory that an operand refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It accesses it, or its shape.
    Access(Effects),
    /// Its result is that memory, or part of it (`ViewLikeOpInterface`).
    View,
    /// It does not declare its use, or passes the memory on.
    Unknown,
}

impl Use {
    /// An op's use of the operand with this number.
    pub fn of(op: Op<'_>, operand: usize) -> Self {
        // Safety: the operation is valid and has the operand.
        let bits = unsafe { qd_sys::qdEffectsOn(op.to_raw(), operand as isize) };
        if bits & qd_sys::QD_EFFECT_VIEW != 0 {
            Self::View
        } else if bits & qd_sys::QD_EFFECT_UNKNOWN != 0 {
            Self::Unknown
        } else {
            Self::Access(Effects::from_bits(bits))
        }
    }
}

/// Whether an op orders accesses to memory between threads, as barriers, fences and atomics do.
pub fn orders_memory(op: Op<'_>) -> bool {
    // Safety: the operation is valid.
    unsafe { qd_sys::qdOrdersMemory(op.to_raw()) }
}

/// Whether an op, with what is in its regions, may be executed where its results are not used: it has
/// no effects, and is defined whatever its operands are.
pub fn is_pure(op: Op<'_>) -> bool {
    // Safety: the operation is valid.
    unsafe { qd_sys::qdIsPure(op.to_raw()) }
}

/// Of an op that accesses one element of a buffer, which of its operands that is. Indices are behind it.
pub fn accessed(op: Op<'_>) -> Option<usize> {
    let name = op.full_name();
    let is_access = name.starts_with("qd.grid.atomic.")
        || [
            "memref.load",
            "memref.store",
            "memref.atomic_rmw",
            "memref.prefetch",
        ]
        .contains(&name);
    let operands = op.operand_values();
    let mut types = operands.iter().map(|operand| operand.r#type());
    is_access.then(|| types.position(|r#type| as_memref(r#type).is_some()))?
}

/// The value of which an op's result is a view (`ViewLikeOpInterface`).
pub fn view_source<'c>(op: Op<'c>) -> Option<Value<'c>> {
    // Safety: the operation is valid.
    value(unsafe { qd_sys::qdViewSource(op.to_raw()) })
}

/// The buffer that a name has in the first iteration of the loops around it which swap buffers; any other
/// value as it is.
pub fn before_swaps<'c>(mut value: Value<'c>) -> Value<'c> {
    while let Some((block, number)) = value.block_argument()
        && let Some(around) = block.parent_operation().and_then(grid::DoWhile::of)
        && let Some(outer) = around.swap().get(number)
    {
        value = *outer;
    }
    value
}

fn value<'c>(raw: MlirValue) -> Option<Value<'c>> {
    // Safety: the value is null, or valid as long as the operation that it was asked of.
    (!raw.ptr.is_null()).then(|| unsafe { Value::from_raw(raw) })
}
