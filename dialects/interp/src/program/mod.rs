//! The decoded form of a module: instructions over numbered registers,
//! structured control flow as jumps that narrow the set of active threads.

mod kernel;
mod operators;

pub(crate) use kernel::*;
pub(crate) use operators::*;

use crate::{algorithms::Algorithm, fault::SiteId, value::Element};

/// Number of a register: one 64-bit value per lane, and whether it is poison.
pub(crate) type Reg = u32;
/// Position in [`Code::instructions`].
pub(crate) type Target = u32;

/// One body: a phase, a combiner, a predicate, or some host arithmetic.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub instructions: Vec<Instruction>,
    /// Where each instruction comes from.
    pub sites: Vec<SiteId>,
    pub registers: u32,
    /// Values of the surrounding kernel: (its register, ours).
    pub captures: Vec<(Reg, Reg)>,
    /// Shared arrays of a block.
    pub shared: Vec<(Element, usize)>,
    /// Arrays that each thread has for itself.
    pub private: Vec<(Element, usize)>,
}

/// How values are combined: a kind, or a region over K scalars.
#[derive(Debug)]
pub(crate) enum Combiner {
    Kind(Kind, Element),
    Region(Box<CombinerRegion>),
}

#[derive(Debug)]
pub(crate) struct CombinerRegion {
    pub code: Code,
    /// K left operands, then K right ones.
    pub parameters: Vec<Reg>,
    pub results: Vec<Reg>,
    pub identities: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combining {
    Reduce,
    ReduceAll,
    Inclusive,
    Exclusive,
    Segmented,
}

/// What each lane of a tile gets, of the lanes whose predicate holds and those of the tile.
pub(crate) type Vote = fn(u64, u64) -> u64;

/// Executed by all lanes of a subgroup together.
#[derive(Debug)]
pub(crate) enum SubgroupOp {
    Shuffle {
        mode: ShuffleMode,
        dst: Reg,
        value: Reg,
        lane: Reg,
        in_range: bool,
    },
    Broadcast {
        dst: Reg,
        value: Reg,
        lane: Reg,
    },
    BroadcastFirst {
        dst: Reg,
        value: Reg,
    },
    Rotate {
        dst: Reg,
        value: Reg,
        delta: Reg,
        tile: Option<u32>,
    },
    Sync,
    Vote {
        vote: Vote,
        dst: Reg,
        predicate: Reg,
        tile: Option<u32>,
    },
    AllEqual {
        dst: Reg,
        value: Reg,
        element: Element,
        tile: Option<u32>,
    },
    Ballot {
        dst: Reg,
        predicate: Reg,
        first: u32,
    },
    MatchAny {
        dst: Reg,
        value: Reg,
        /// The bits that are compared.
        among: u64,
    },
    MatchAll {
        dst: Reg,
        value: Reg,
    },
    ActiveMask {
        dst: Reg,
    },
    Combine {
        combining: Combining,
        dst: Box<[Reg]>,
        values: Box<[Reg]>,
        head: Option<Reg>,
        tile: Option<u32>,
        combiner: Combiner,
    },
    BitonicSort {
        dst: [Reg; 2],
        source: [Reg; 2],
        element: [Element; 2],
        unsigned: [bool; 2],
        tile: Option<u32>,
    },
}

/// Executed by all threads of a block together.
#[derive(Debug)]
pub(crate) enum BlockOp {
    Sync,
    Combine {
        combining: Combining,
        dst: Box<[Reg]>,
        values: Box<[Reg]>,
        combiner: Combiner,
    },
    RadixRank {
        dst: Reg,
        digit: Reg,
        histogram: Reg,
        prefix: Reg,
        valid: Option<Reg>,
        bits: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOp {
    Load,
    Store,
    /// Combine by a kind.
    Combine(Kind),
    /// `memref.atomic_rmw`'s kinds that are not ours.
    Minimum,
    Maximum,
    Exchange,
    CompareSwap,
}

#[derive(Debug)]
pub(crate) struct Atomic {
    pub op: AtomicOp,
    pub element: Element,
    pub scope: Scope,
    pub order: Order,
    pub dst: Option<Reg>,
    pub memref: Reg,
    pub indices: Box<[Reg]>,
    pub value: Option<Reg>,
    pub expected: Option<Reg>,
}

/// An offset, size or stride: written in the operation or computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Static(i64),
    Dynamic(Reg),
}

#[derive(Debug)]
pub(crate) struct SubView {
    pub dst: Reg,
    pub source: Reg,
    pub offsets: Vec<Extent>,
    pub sizes: Vec<Extent>,
    pub strides: Vec<Extent>,
    /// Which dimensions of the source the result keeps.
    pub kept: Vec<bool>,
}

/// A buffer without a layout, with other extents.
#[derive(Debug)]
pub(crate) struct Reinterpret {
    pub dst: Reg,
    pub source: Reg,
    pub offset: Extent,
    pub sizes: Vec<Extent>,
    pub strides: Vec<Extent>,
}

#[derive(Debug)]
pub(crate) enum Instruction {
    Constant {
        dst: Reg,
        bits: u64,
    },
    Poison {
        dst: Reg,
    },
    Binary {
        op: Binary,
        element: Element,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Unary {
        op: Unary,
        element: Element,
        dst: Reg,
        a: Reg,
    },
    Cast {
        op: Cast,
        from: Element,
        to: Element,
        dst: Reg,
        a: Reg,
    },
    Promise {
        promise: Promise,
        element: Element,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    CompareInts {
        predicate: IntPredicate,
        element: Element,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    CompareFloats {
        predicate: FloatPredicate,
        element: Element,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Select {
        dst: Reg,
        condition: Reg,
        a: Reg,
        b: Reg,
    },
    Fma {
        element: Element,
        dst: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    Clamp {
        element: Element,
        dst: Reg,
        value: Reg,
        low: Reg,
        high: Reg,
    },
    Extended {
        op: Extended,
        element: Element,
        low: Reg,
        high: Reg,
        a: Reg,
        b: Reg,
    },
    Philox {
        made: [Reg; 4],
        /// The counter, and the key.
        read: [Reg; 6],
    },
    FindNthSet {
        dst: Reg,
        mask: Reg,
        base: Reg,
        offset: Reg,
    },
    LaneMask {
        dst: Reg,
        lane: Reg,
        relation: LaneRelation,
        element: Element,
    },
    ScratchSlots {
        dst: Reg,
        n: Reg,
        algorithm: &'static Algorithm,
        depth: u32,
    },
    Id {
        dst: Reg,
        what: Id,
    },

    /// All at once, in active lanes: (to, from).
    Copy {
        pairs: Box<[(Reg, Reg)]>,
    },
    /// Narrows to the lanes whose condition holds; jumps if there are none.
    If {
        condition: Reg,
        otherwise: Target,
    },
    /// Turns to the other lanes; jumps if there are none.
    Else {
        end: Target,
    },
    EndIf,
    /// Saves the active threads; checks a `for`'s step.
    EnterLoop {
        step: Option<(Reg, Element)>,
    },
    /// Narrows to the lanes that go on; restores and jumps if there are none.
    ForTest {
        counter: Reg,
        bound: Reg,
        element: Element,
        unsigned: bool,
        exit: Target,
    },
    /// Advances the counter and jumps back. Lanes whose counter would overflow
    /// are done.
    ForStep {
        counter: Reg,
        step: Reg,
        element: Element,
        unsigned: bool,
        head: Target,
        exit: Target,
    },
    WhileTest {
        condition: Reg,
        exit: Target,
    },
    Jump {
        target: Target,
    },
    Assert {
        condition: Reg,
        message: Box<str>,
    },
    /// Each active lane by itself.
    Print {
        format: Box<str>,
        values: Box<[(Reg, Element)]>,
    },
    End,

    Load {
        dst: Reg,
        memref: Reg,
        indices: Box<[Reg]>,
    },
    Store {
        value: Reg,
        memref: Reg,
        indices: Box<[Reg]>,
    },
    Atomic(Box<Atomic>),
    Fence {
        scope: Scope,
    },
    Dim {
        dst: Reg,
        memref: Reg,
        index: Reg,
    },
    Address {
        dst: Reg,
        memref: Reg,
    },
    Shared {
        dst: Reg,
        slot: u32,
        shape: Box<[usize]>,
    },
    Alloca {
        dst: Reg,
        slot: u32,
        shape: Box<[usize]>,
    },
    MemrefCast {
        dst: Reg,
        source: Reg,
        shape: Box<[Option<usize>]>,
    },
    View {
        dst: Reg,
        source: Reg,
        offset: Reg,
        /// None for a buffer of rank 0, of one element.
        size: Option<Reg>,
        /// The extent of rows.
        row: Option<usize>,
        element: Element,
    },
    SubView(Box<SubView>),
    /// Dimensions that follow each other, as one each.
    Collapse {
        dst: Reg,
        source: Reg,
        groups: Box<[Vec<usize>]>,
    },
    Reinterpret(Box<Reinterpret>),

    Subgroup(Box<SubgroupOp>),
    Block(Box<BlockOp>),
}
