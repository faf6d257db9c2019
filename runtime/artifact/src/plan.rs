//! The launch plan: the steps that a runtime executes to run a kernel.

use crate::{Comparison, Dtype, Expr};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

/// A kernel: its arguments and how it is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its symbol.
    pub name: String,
    /// The arguments that a caller passes.
    pub arguments: Vec<Argument>,
    /// Its plan for each of the artifact's targets that it was compiled for.
    pub plans: Vec<Option<Plan>>,
}

/// How a kernel is run on one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Control words, of 32 bits each, at most [`MOST_CONTROL`]: the
    /// zero-initialised workspace of the kernel. They are 0 when a run begins, and
    /// a run that succeeds leaves them 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub control: u64,
    /// The steps, in program order.
    pub steps: Vec<Step>,
    /// The assertions that its launches may note in the device's fault record, and what they may print, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<Site>,
    /// The code's requirements of the device that runs it.
    pub needs: Requirements,
}

/// An assertion, or a print. Where in the source it is stands in [`Origins`](crate::Origins).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// What an assertion says, or the format of a print.
    pub text: String,
    /// The phase's name.
    pub phase: String,
    /// The comparison that the condition of an assertion is, if the record holds the operands of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<Comparison>,
    /// The types of what a print prints; none of an assertion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Vec<Dtype>>,
}

/// The words of a device's fault record: what a launch writes into it, and the runtime reads. See
/// the page of `qd.grid.faults`.
pub mod record {
    /// How many there are.
    pub const WORDS: usize = 16;
    /// 1 once it is claimed.
    pub const CLAIMED: usize = 0;
    /// 1 once it is complete.
    pub const COMPLETE: usize = 1;
    /// The number of the site.
    pub const SITE: usize = 2;
    /// The block.
    pub const BLOCK: usize = 3;
    /// The thread in it.
    pub const THREAD: usize = 4;
    /// The left operand of the comparison, low word first.
    pub const LEFT: usize = 5;
    /// The right one.
    pub const RIGHT: usize = 7;
}

/// The words of a device's ring of prints: what launches write into it, and the runtime reads. See the page of
/// `qd.grid.prints`.
pub mod prints {
    /// How many there are.
    pub const WORDS: usize = FIRST + RECORDS * RECORD;
    /// How many records were claimed so far, modulo 2³².
    pub const CLAIMED: usize = 0;
    /// How many of them were dropped, because the ring was full.
    pub const DROPPED: usize = 1;
    /// How many were read or dropped: what the runtime writes.
    pub const READ: usize = 2;
    /// Of the first record.
    pub const FIRST: usize = 4;
    /// Records in the ring: a power of two.
    pub const RECORDS: usize = 2048;
    /// Words of a record.
    pub const RECORD: usize = 32;
    /// In a record: its number and one, once it is complete.
    pub const COMPLETE: usize = 0;
    /// The number of the site.
    pub const SITE: usize = 1;
    /// The block.
    pub const BLOCK: usize = 2;
    /// The thread in it.
    pub const THREAD: usize = 3;
    /// The first value, low word first; the others follow.
    pub const VALUES: usize = 4;
    /// Values at most.
    pub const MOST: usize = (RECORD - VALUES) / 2;
}

/// The code's requirements of a device beyond being of its target. Names are those
/// of the target's compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// The device it was compiled for, such as `znver4`: another one may do.
    pub device: String,
    /// Features that the code may use, sorted, such as `avx2`. A device that lacks
    /// one of them must not run it.
    pub features: Vec<String>,
}

impl Requirements {
    /// What code needs that is made of parts with these needs.
    pub fn of_all<'a>(parts: impl IntoIterator<Item = &'a Requirements>) -> Self {
        let mut all = Self::default();
        let mut features = BTreeSet::new();
        for part in parts {
            all.device.clone_from(&part.device);
            features.extend(part.features.iter().cloned());
        }
        all.features = features.into_iter().collect();
        all
    }
}

/// Control words that a kernel may have: 4 KiB.
pub const MOST_CONTROL: u64 = 1024;

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// What the source calls it (`qd.name`), or `arg0`, `arg1`, ….
    pub name: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: ArgumentKind,
    /// Rows that a tool allocates unless it is told otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Expr>,
    /// Rows that it must have at least: scratch, by its algorithms' sizing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Expr>,
    /// The kernel's effects on it, conservatively.
    pub access: Access,
    /// Its role.
    pub role: Role,
    /// Whether it may share memory with others that may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_alias: bool,
    /// Whether the kernel may read it before writing it, so that a caller has to
    /// pass it.
    #[serde(default)]
    pub is_input: bool,
    /// A live count: the largest value that is within the capacity and the
    /// buffers of every algorithm that reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Expr>,
}

/// A kernel's effects on an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It is not written.
    Read,
    /// Some of it is written, and its earlier contents are not read.
    Write,
    /// Both, or unknown.
    ReadWrite,
}

/// The role of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// An input or a result.
    Data,
    /// Scratch: its contents are undefined before and after.
    Scratch,
    /// How many elements there are.
    Count,
}

impl Argument {
    /// One of which no more is known: a buffer may be read and written.
    pub fn new(name: &str, kind: ArgumentKind) -> Self {
        Self {
            name: name.into(),
            access: match kind {
                ArgumentKind::Buffer { .. } => Access::ReadWrite,
                ArgumentKind::Scalar { .. } => Access::Read,
            },
            role: Role::Data,
            may_alias: false,
            kind,
            length: None,
            minimum: None,
            is_input: false,
            limit: None,
        }
    }
}

/// A buffer or a scalar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ArgumentKind {
    /// A buffer of elements, row-major.
    Buffer {
        /// Their type.
        dtype: Dtype,
        /// Extents; `None` is known at launch only. Empty: one element.
        shape: Vec<Option<u64>>,
    },
    /// A value.
    Scalar {
        /// Its type.
        dtype: Dtype,
    },
}

impl fmt::Display for ArgumentKind {
    /// As messages say it: `a buffer i32[?, 3]`, `a scalar f32`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ArgumentKind::Buffer { dtype, shape } => {
                let extents: Vec<_> = shape
                    .iter()
                    .map(|extent| extent.map_or("?".into(), |extent| extent.to_string()))
                    .collect();
                write!(f, "a buffer {dtype}[{}]", extents.join(", "))
            }
            ArgumentKind::Scalar { dtype } => write!(f, "a scalar {dtype}"),
        }
    }
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its number, which no other step of the plan has.
    pub id: u64,
    /// Steps of the same list, all before this one, that must have finished,
    /// reduced transitively.
    pub after: Vec<u64>,
    /// What is done.
    pub kind: StepKind,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Launches a body.
    Launch {
        /// The body's symbol, in one of the target's modules.
        body: String,
        /// The phase's name, for people.
        name: String,
        /// Blocks.
        blocks: Expr,
        /// Threads in a block.
        threads: u32,
        /// Bytes of shared memory that a launch requests for a block, besides what
        /// the body declares; 0 on targets whose bodies declare all of it.
        dynamic_shared_bytes: u32,
        /// The body's arguments.
        arguments: Vec<Operand>,
    },
    /// Sets a range of a buffer.
    Fill {
        /// The buffer.
        buffer: BufferRef,
        /// First element.
        lower: Expr,
        /// Behind the last element.
        upper: Expr,
        /// The element's bits.
        value: Expr,
    },
    /// Repeats steps while an `i32` on the device is not 0.
    DoWhile {
        /// Where it is: a buffer, or a control word.
        flag: Operand,
        /// What is repeated.
        steps: Vec<Step>,
    },
    /// Runs steps if an `i32` on the device is not 0 before them.
    If {
        /// Where it is: a buffer, or a control word.
        condition: Operand,
        /// What is done.
        steps: Vec<Step>,
    },
    /// Runs the first kernel whose predicate holds.
    Dispatch {
        /// The kernels to choose from.
        variants: Vec<Variant>,
        /// The arguments of the chosen one.
        arguments: Vec<Operand>,
    },
}

/// A kernel a dispatch may choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Its symbol.
    pub kernel: String,
    /// Whether it is eligible; `None`: always.
    pub predicate: Option<Expr>,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operand {
    /// A buffer: pointer and extents.
    Buffer(BufferRef),
    /// A scalar's bits.
    Scalar(Expr),
    /// Some of the kernel's control words: pointer and extent.
    Control {
        /// The first of them.
        first: u64,
        /// How many.
        words: u64,
    },
    /// The device's fault record: pointer and extent.
    Faults,
    /// The device's ring of prints: pointer and extent.
    Prints,
    /// The number that a site of the plan has on the device, an `i32`.
    Site(u64),
}

impl From<BufferRef> for Operand {
    fn from(buffer: BufferRef) -> Self {
        Self::Buffer(buffer)
    }
}

/// A kernel's argument, or part of it seen as another type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BufferRef {
    /// Which argument of the kernel.
    pub argument: usize,
    /// Which part of it; `None`: all, with its own extents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
}

/// Part of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Where it starts, in bytes from the argument's start.
    pub offset_bytes: Expr,
    /// Elements, or rows; none for a buffer of rank 0, of one element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Expr>,
    /// Elements of a row, where it has rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// Their type.
    pub dtype: Dtype,
}
