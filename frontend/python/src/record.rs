//! The kernel record: what a kernel is, as plain data in flat arrays.
//!
//! A node is a value or a statement, and its index names it. Nodes lie in program order; bodies are what
//! lies between the nodes that begin and end them. Nodes outside of tasks are pure: they are computed
//! where they are used, by the host or in a task.

use super::dtype::DType;
use qd_frontend::builder::Algorithm;
use std::fmt;

/// Of the form; what is stored by another version is not read.
pub const VERSION: u32 = 5;

/// What a node does. `a`, `b` and `c` are its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A number, by its bits.
    Constant(u64),
    /// A scalar parameter.
    Parameter(u32),
    /// The number of elements of an array parameter.
    Extent(u32),
    /// Of `a`.
    Unary(Unary),
    /// Of `a` and `b`.
    Binary(Binary),
    /// `a`, converted.
    Cast,
    /// The bits of `a`.
    BitCast,
    /// `b` if `a`, else `c`.
    Select,
    /// Element `a` of an array parameter.
    Load(u32),
    /// Element `a` of an array parameter as other threads see it now.
    VolatileLoad(u32),
    /// Sets element `a` of an array parameter to `b`.
    Store(u32),
    /// Combines `b` into element `a` of an array parameter atomically; the old value.
    Atomic(u32, Atomic),
    /// Sets element `a` of an array parameter to `c`, if it is `b`, atomically; the old value.
    CompareExchange(u32),
    /// A variable, which is `a`, or 0 without one.
    Declare,
    /// The value of variable `a`.
    Get,
    /// Sets variable `a` to `b`, converted.
    Set,
    /// A task: once for each number from `a` on and below `b`, in parallel; its value is the number. So many
    /// threads are a block, 0 if any number will do; and whether it has operations of blocks.
    Task(u32, bool),
    /// Once for each number from `a` on and below `b`, in order; its value is the number.
    For,
    /// If `a`.
    If,
    /// The other branch.
    Else,
    /// While what follows, up to `Do`, holds.
    While,
    /// The body of a `While`, whose condition is `a`.
    Do,
    /// The end of a body.
    End,
    /// Sets a result to `a`.
    Return(u32),
    /// `a` is a value of the next print.
    PrintValue,
    /// Prints the values before it, by a format among the record's texts.
    Print(u32),
    /// `a` has to hold; a text of the record says what that is.
    Assert(u32),
    /// A task: one of the record's algorithms; element `a` of an array is the number of its elements.
    Algorithm(u32),
    /// An operation of a subgroup, on `a`, and `b` if it has two: how it combines, if it does, and log2 of the lanes of
    /// a tile, if not all are one.
    Subgroup(Subgroup, Option<Atomic>, Option<u32>),
    /// An operation of a block, on `a` if it has one, and how it combines, if it does.
    Block(Block, Option<Atomic>),
    /// One of the record's shared arrays is the task's.
    Shared(u32),
    /// Slots of scratch that an algorithm takes for `a` elements, at a capacity of 256 to this power.
    ScratchSlots(Algorithm, u32),
}

/// Operations, with what the tracer calls them.
macro_rules! operations {
    ($(#[$about:meta])* $All:ident { $($One:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $All {
            $($One,)*
        }

        impl $All {
            /// By its name.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$One),)*
                    _ => None,
                }
            }

            /// What it is called.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$One => $name,)*
                }
            }
        }
    };
}

operations! {
    /// Operations on one value.
    Unary {
        Neg = "neg",
        Not = "bit_not",
        LogicNot = "logic_not",
        Abs = "abs",
        Sqrt = "sqrt",
        Exp = "exp",
        Log = "log",
        Sin = "sin",
        Cos = "cos",
        Tan = "tan",
        Asin = "asin",
        Acos = "acos",
        Tanh = "tanh",
        Floor = "floor",
        Ceil = "ceil",
        Round = "round",
        Popcnt = "popcnt",
        Clz = "clz",
        Ffs = "ffs",
    }
}

operations! {
    /// Operations on two values.
    Binary {
        Add = "+",
        Sub = "-",
        Mul = "*",
        Div = "/",
        FloorDiv = "//",
        Mod = "%",
        RawDiv = "raw_div",
        RawMod = "raw_mod",
        Pow = "**",
        And = "&",
        Or = "|",
        Xor = "^",
        Shl = "<<",
        Shr = ">>",
        BitShr = "bit_shr",
        Min = "min",
        Max = "max",
        Atan2 = "atan2",
        Eq = "==",
        Ne = "!=",
        Lt = "<",
        Le = "<=",
        Gt = ">",
        Ge = ">=",
    }
}

operations! {
    /// Operations of the lanes of a subgroup, as `qd.simt` calls them, shuffles by their mode.
    Subgroup {
        LaneId = "lane_id",
        Elect = "elect",
        Sync = "sync",
        MemFence = "mem_fence",
        Shuffle = "idx",
        ShuffleUp = "up",
        ShuffleDown = "down",
        ShuffleXor = "xor",
        Broadcast = "broadcast",
        BroadcastFirst = "broadcast_first",
        Ballot = "ballot",
        All = "all",
        Any = "any",
        AllEqual = "all_equal",
        MatchAny = "match_any",
        Reduce = "reduce",
        ReduceAll = "reduce_all",
        InclusiveScan = "inclusive_scan",
        ExclusiveScan = "exclusive_scan",
        SegmentedReduce = "segmented_reduce",
    }
}

operations! {
    /// Operations of the threads of a block, as `qd.simt` calls them, and fences.
    Block {
        ThreadId = "block.thread_id",
        GlobalThreadId = "block.global_thread_id",
        Sync = "block.sync",
        MemFence = "block.mem_fence",
        GridFence = "grid.mem_fence",
        Reduce = "block.reduce",
        ReduceAll = "block.reduce_all",
        InclusiveScan = "block.inclusive_scan",
        ExclusiveScan = "block.exclusive_scan",
    }
}

operations! {
    /// What an atomic does to an element.
    Atomic {
        Add = "+",
        Mul = "*",
        Min = "min",
        Max = "max",
        And = "&",
        Or = "|",
        Xor = "^",
        Exchange = "exchange",
    }
}

/// The absence of an operand.
pub const NONE: u32 = u32::MAX;

/// The number of an array that is a block's, and no parameter, has this bit; the others are its number among the shared
/// arrays of the record.
pub const SHARED: u32 = 1 << 31;

/// A value or a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    pub op: Op,
    pub operands: [u32; 3],
    /// Of its value; of a statement it means nothing.
    pub dtype: DType,
    /// Line and column, from 1.
    pub at: (u32, u32),
}

/// A device-wide algorithm on array parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    pub algorithm: Algorithm,
    /// How it combines values, if it does.
    pub combine: Option<Atomic>,
    /// The arrays that it reads, and then those that it writes, in the order of its definition.
    pub arrays: Vec<u32>,
    /// How many it only reads.
    pub inputs: usize,
    pub scratch: u32,
    /// The array that has the number of elements.
    pub count: u32,
    /// The exponent of its capacity, to the base of 256.
    pub log256_max_n: u32,
    /// How many bits a sort compares.
    pub end_bit: Option<u32>,
    /// Whether results depend on the input and the capacity alone.
    pub is_deterministic: bool,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    pub name: String,
    pub dtype: DType,
    pub is_array: bool,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    pub version: u32,
    pub name: String,
    pub file: String,
    pub arguments: Vec<Argument>,
    pub results: Vec<DType>,
    /// Whether array parameters may overlap.
    pub overlapping: bool,
    /// Formats of prints, as C's, and what asserts say.
    pub texts: Vec<String>,
    pub algorithms: Vec<Step>,
    /// What tasks are called, where that is not the kernel's name and their line.
    pub names: Vec<(u32, String)>,
    /// Shared arrays: their types and lengths.
    pub shared: Vec<(DType, u32)>,
    pub nodes: Vec<Node>,
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "record {} of {} in {}",
            self.version, self.name, self.file
        )?;
        for (i, argument) in self.arguments.iter().enumerate() {
            let array = if argument.is_array { "[]" } else { "" };
            writeln!(
                f,
                "argument {i}: {} {}{array}",
                argument.name, argument.dtype
            )?;
        }
        for (i, result) in self.results.iter().enumerate() {
            writeln!(f, "result {i}: {result}")?;
        }
        if self.overlapping {
            writeln!(f, "arrays overlap")?;
        }
        for (i, text) in self.texts.iter().enumerate() {
            writeln!(f, "text {i}: {text:?}")?;
        }
        for (i, step) in self.algorithms.iter().enumerate() {
            writeln!(f, "algorithm {i}: {step:?}")?;
        }
        for (task, name) in &self.names {
            writeln!(f, "name {task}: {name:?}")?;
        }
        for (i, (dtype, length)) in self.shared.iter().enumerate() {
            writeln!(f, "shared {i}: {dtype}[{length}]")?;
        }
        for (i, node) in self.nodes.iter().enumerate() {
            write!(f, "{i}: {:?} {}", node.op, node.dtype)?;
            for operand in node.operands.iter().filter(|o| **o != NONE) {
                write!(f, " {operand}")?;
            }
            writeln!(f, " at {}:{}", node.at.0, node.at.1)?;
        }
        Ok(())
    }
}
