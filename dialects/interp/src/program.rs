//! The form a module is decoded into: instructions over numbered registers,
//! structured control flow as jumps that narrow the set of active threads.

use crate::{fault::SiteId, value::Element};

/// Number of a register: one 64-bit value per lane, and whether it is poison.
pub(crate) type Reg = u32;
/// Position in [`Code::instructions`].
pub(crate) type Target = u32;

/// One body: a phase, a combiner, a predicate, or a stretch of host arithmetic.
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

/// An enumeration that is read from an attribute's printed form, or written in
/// the table of operations.
macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($case:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum $name { $($case),* }
        impl $name {
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$case),)*
                    _ => None,
                }
            }
        }
    };
}

spelled! {
    /// How two values combine.
    Kind {
        Add = "add", Mul = "mul", MinS = "minsi", MinU = "minui", MinNum = "minnumf",
        MaxS = "maxsi", MaxU = "maxui", MaxNum = "maxnumf", And = "and", Or = "or", Xor = "xor",
    }
}
spelled! {
    /// Who an atomic or a fence is ordered with; narrower is less.
    Scope { Subgroup = "subgroup", Block = "block", Device = "device" }
}
spelled! {
    Order { Relaxed = "relaxed", Acquire = "acquire", Release = "release", AcqRel = "acq_rel" }
}
spelled! {
    ShuffleMode { Idx = "idx", Up = "up", Down = "down", Xor = "xor" }
}
spelled! {
    LaneRelation { Lt = "lt", Le = "le", Eq = "eq", Gt = "gt", Ge = "ge" }
}
spelled! {
    Algorithm {
        Reduce = "reduce", ExclusiveScan = "exclusive_scan", InclusiveScan = "inclusive_scan",
        Select = "select", Sort = "sort", ReduceByKey = "reduce_by_key", Partition = "partition",
    }
}
spelled! {
    /// Comparison of integers.
    IntPredicate {
        Eq = "eq", Ne = "ne", Slt = "slt", Sle = "sle", Sgt = "sgt", Sge = "sge",
        Ult = "ult", Ule = "ule", Ugt = "ugt", Uge = "uge",
    }
}

impl IntPredicate {
    /// In the order of `arith.cmpi`'s numbers.
    pub const ALL: [Self; 10] = [
        Self::Eq, Self::Ne, Self::Slt, Self::Sle, Self::Sgt, Self::Sge, Self::Ult, Self::Ule,
        Self::Ugt, Self::Uge,
    ];
}

/// Comparison of floats: which of the four outcomes satisfy it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatPredicate {
    pub less: bool,
    pub equal: bool,
    pub greater: bool,
    pub unordered: bool,
}

impl FloatPredicate {
    /// By `arith.cmpf`'s number: false, oeq, ogt, oge, olt, ole, one, ord, ueq,
    /// ugt, uge, ult, ule, une, uno, true.
    pub fn of(number: u64) -> Option<Self> {
        let (less, equal, greater, unordered) = match number {
            0 => (false, false, false, false),
            1 => (false, true, false, false),
            2 => (false, false, true, false),
            3 => (false, true, true, false),
            4 => (true, false, false, false),
            5 => (true, true, false, false),
            6 => (true, false, true, false),
            7 => (true, true, true, false),
            8 => (false, true, false, true),
            9 => (false, false, true, true),
            10 => (false, true, true, true),
            11 => (true, false, false, true),
            12 => (true, true, false, true),
            13 => (true, false, true, true),
            14 => (false, false, false, true),
            15 => (true, true, true, true),
            _ => return None,
        };
        Some(Self { less, equal, greater, unordered })
    }
}

/// Arithmetic on two operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    AddI, SubI, MulI, DivS, DivU, CeilDivS, CeilDivU, FloorDivS, RemS, RemU, And, Or, Xor, Shl,
    ShrS, ShrU, MinS, MinU, MaxS, MaxU, PowI, AddF, SubF, MulF, DivF, RemF, MinNum, MaxNum,
    Minimum, Maximum, Pow, Atan2, CopySign,
}

/// Arithmetic on one operand; the type of the result follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    AbsI, CtPop, CtLz, CtTz, Ffs, NegF, AbsF, Sqrt, Rsqrt, Cbrt, Exp, Exp2, ExpM1, Log, Log2,
    Log10, Log1P, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Floor,
    Ceil, Trunc, Round, RoundEven, IsNan, IsInf, IsFinite, IsNormal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cast {
    /// Sign-extends or truncates.
    Signed,
    /// Zero-extends or truncates.
    Unsigned,
    FloatToFloat,
    SignedToFloat,
    UnsignedToFloat,
    FloatToSigned,
    FloatToUnsigned,
    Bits,
}

/// A promise made by a flag; where it is broken the result is poison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// No signed overflow (`nsw`) of this operation.
    NoSignedWrap(Binary),
    /// No unsigned overflow (`nuw`).
    NoUnsignedWrap(Binary),
    /// No remainder, no bits shifted out.
    Exact(Binary),
    /// The operand is not negative (`nneg`).
    NonNegative,
    /// Truncation to this type loses no signed value.
    TruncatesSigned(Element),
    /// Truncation to this type loses no unsigned value.
    TruncatesUnsigned(Element),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extended {
    /// Sum and carry.
    AddU,
    /// Low and high half of the product.
    MulS,
    MulU,
}

/// What a thread is and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    LaneId,
    SubgroupSize,
    Log2SubgroupSize,
    SubgroupId,
    NumSubgroups,
    Elect,
    BlockId,
    BlockDim,
    ThreadId,
    GridDim,
    /// The index of a `for_each`.
    Element,
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

/// Executed by all lanes of a subgroup together.
#[derive(Debug)]
pub(crate) enum SubgroupOp {
    Shuffle { mode: ShuffleMode, dst: Reg, value: Reg, lane: Reg },
    Broadcast { dst: Reg, value: Reg, lane: Reg },
    BroadcastFirst { dst: Reg, value: Reg },
    Rotate { dst: Reg, value: Reg, delta: Reg, tile: Option<u32> },
    Sync,
    Vote { all: bool, dst: Reg, predicate: Reg, tile: Option<u32> },
    AllEqual { dst: Reg, value: Reg, element: Element, tile: Option<u32> },
    Ballot { dst: Reg, predicate: Reg, first: u32 },
    MatchAny { dst: Reg, value: Reg },
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
    Combine { combining: Combining, dst: Box<[Reg]>, values: Box<[Reg]>, combiner: Combiner },
    RadixRank { dst: Reg, digit: Reg, histogram: Reg, prefix: Reg, valid: Option<Reg>, bits: u32 },
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

#[derive(Debug)]
pub(crate) enum Instruction {
    Constant { dst: Reg, bits: u64 },
    Poison { dst: Reg },
    Binary { op: Binary, element: Element, dst: Reg, a: Reg, b: Reg },
    Unary { op: Unary, element: Element, dst: Reg, a: Reg },
    Cast { op: Cast, from: Element, to: Element, dst: Reg, a: Reg },
    Promise { promise: Promise, element: Element, dst: Reg, a: Reg, b: Reg },
    CompareInts { predicate: IntPredicate, element: Element, dst: Reg, a: Reg, b: Reg },
    CompareFloats { predicate: FloatPredicate, element: Element, dst: Reg, a: Reg, b: Reg },
    Select { dst: Reg, condition: Reg, a: Reg, b: Reg },
    Fma { element: Element, dst: Reg, a: Reg, b: Reg, c: Reg },
    Clamp { element: Element, dst: Reg, value: Reg, low: Reg, high: Reg },
    Extended { op: Extended, element: Element, low: Reg, high: Reg, a: Reg, b: Reg },
    FindNthSet { dst: Reg, mask: Reg, base: Reg, offset: Reg },
    LaneMask { dst: Reg, lane: Reg, relation: LaneRelation, element: Element },
    ScratchSlots { dst: Reg, n: Reg, algorithm: Algorithm, depth: u32 },
    Identity { dst: Reg, what: Identity },

    /// All at once, in active lanes: (to, from).
    Copy { pairs: Box<[(Reg, Reg)]> },
    /// Narrows to the lanes whose condition holds; jumps if there are none.
    If { condition: Reg, otherwise: Target },
    /// Turns to the other lanes; jumps if there are none.
    Else { end: Target },
    EndIf,
    /// Remembers who is active; checks a `for`'s step.
    EnterLoop { step: Option<(Reg, Element)> },
    /// Narrows to the lanes that go on; restores and jumps if there are none.
    ForTest { counter: Reg, bound: Reg, element: Element, unsigned: bool, exit: Target },
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
    WhileTest { condition: Reg, exit: Target },
    Jump { target: Target },
    Assert { condition: Reg, message: Box<str> },
    End,

    Load { dst: Reg, memref: Reg, indices: Box<[Reg]> },
    Store { value: Reg, memref: Reg, indices: Box<[Reg]> },
    Atomic(Box<Atomic>),
    Fence { scope: Scope },
    Dim { dst: Reg, memref: Reg, index: Reg },
    Shared { dst: Reg, slot: u32, shape: Box<[usize]> },
    Alloca { dst: Reg, slot: u32, shape: Box<[usize]> },
    MemrefCast { dst: Reg, source: Reg, shape: Box<[Option<usize>]> },
    View { dst: Reg, source: Reg, offset: Reg, size: Reg, element: Element },
    SubView(Box<SubView>),

    Subgroup(Box<SubgroupOp>),
    Block(Box<BlockOp>),
}

/// A kernel that can be launched.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub site: SiteId,
    pub parameters: Vec<(Reg, Parameter)>,
    /// Registers of the host, one lane.
    pub registers: u32,
    pub steps: Vec<Step>,
}

/// The type of a kernel's argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    Scalar(Element),
    Memref { element: Element, shape: Vec<Option<usize>> },
}

#[derive(Debug)]
pub(crate) struct Step {
    pub site: SiteId,
    pub action: Action,
}

/// What a kernel does, one after another.
#[derive(Debug)]
pub(crate) enum Action {
    /// Arithmetic on the host's registers.
    Host(Code),
    Phase { code: Code, blocks: Reg, threads: u32 },
    ForEach { code: Code, extent: Reg, count: Option<Reg> },
    /// An outlined phase; its captures are the arguments.
    Launch { code: Code, blocks: Reg, threads: u32, id: i64, after: Vec<i64> },
    DoWhile { flag: Reg, body: Vec<Step> },
    Fill { buffer: Reg, lower: Reg, upper: Reg, value: Reg },
    Dispatch { arguments: Vec<Reg>, variants: Vec<Variant> },
    Algorithm(Box<Algo>),
}

#[derive(Debug)]
pub(crate) struct Variant {
    pub kernel: usize,
    pub predicate: Option<(Code, Reg)>,
}

/// A device-wide algorithm; buffers are registers of the host.
#[derive(Debug)]
pub(crate) struct Algo {
    pub op: AlgoOp,
    /// None for `parallel_sort`, which takes none.
    pub limits: Option<Limits>,
}

#[derive(Debug)]
pub(crate) struct Limits {
    pub scratch: Vec<Reg>,
    pub count: Reg,
    pub depth: u32,
}

#[derive(Debug)]
pub(crate) enum AlgoOp {
    Reduce { inputs: Vec<Reg>, outputs: Vec<Reg>, combiner: Combiner },
    Scan { inclusive: bool, inputs: Vec<Reg>, outputs: Vec<Reg>, combiner: Combiner },
    /// `select`, or `partition` if the others are kept too.
    Compact { rest: bool, input: Reg, flags: Reg, output: Reg, written: Reg },
    Sort {
        keys: Reg,
        values: Option<Reg>,
        temporaries: Vec<Reg>,
        unsigned: bool,
        end_bit: Option<u32>,
    },
    ReduceByKey {
        keys: Reg,
        values: Reg,
        keys_out: Reg,
        values_out: Reg,
        runs: Reg,
        combiner: Combiner,
    },
}
