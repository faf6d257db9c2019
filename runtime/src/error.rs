//! Errors of the runtime.

use qd_artifact::{EvalError, Kernel};

/// An assertion that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "kernel '{kernel}'{}: \"{text}\" does not hold{}, in thread {thread} of block {block} of phase '{phase}'{}",
    variant.as_ref().map_or(String::new(), |variant| format!(", variant '{variant}'")),
    at.as_ref().map_or(String::new(), |at| format!(" at {at}")),
    compared.as_ref().map_or(String::new(), |what| format!(": {what} is false"))
)]
pub struct FailedAssertion {
    /// The kernel that was launched.
    pub kernel: String,
    /// The variant of it whose assertion it is, where that is chosen by a `qd.grid.dispatch`.
    pub variant: Option<String>,
    /// The phase that it is in.
    pub phase: String,
    /// Its text.
    pub text: String,
    /// Its place in the source, as `k.mlir:9:5`, where that is known.
    pub at: Option<String>,
    /// The block of the first thread in which it failed.
    pub block: u32,
    /// That thread's number in the block.
    pub thread: u32,
    /// The comparison that it is, with its numbers, as `60 < 60`.
    pub compared: Option<String>,
}

/// Why an artifact was not loaded or a kernel did not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Error {
    /// There is no such target, or no driver for its devices yet.
    #[error("no driver for target '{target}': the targets that can be run are {}", known.join(", "))]
    NoDriver {
        target: String,
        known: Vec<&'static str>,
    },
    /// The artifact is for another device.
    #[error("the artifact is for target '{artifact}', not for {device}")]
    OtherTarget { artifact: String, device: String },
    /// The code may use features that the device lacks.
    #[error(
        "the artifact was compiled for {compiled_for} and uses {}, which this machine ({device}) does not have: compile it again for this machine",
        missing.join(", ")
    )]
    MissingFeatures {
        compiled_for: String,
        device: String,
        missing: Vec<String>,
    },
    /// The code declares capabilities that the device does not have.
    #[error("{device} cannot run the artifact: it lacks {}", missing.join("; "))]
    MissingCapabilities {
        device: String,
        missing: Vec<String>,
    },
    /// The artifact's plan contradicts itself.
    #[error("the artifact's plan is invalid: {0}")]
    InvalidPlan(String),
    /// The device does not take the binary.
    #[error("the artifact's binary cannot be loaded: {0}")]
    Load(String),
    /// There is no kernel of that name.
    #[error("no kernel '{name}': the kernels there are: {}", known.join(", "))]
    UnknownKernel { name: String, known: Vec<String> },
    /// The artifact has the kernel, but for other targets only.
    #[error("kernel '{kernel}' was not compiled for target '{target}'")]
    NoPlan { kernel: String, target: String },
    /// Too many or too few arguments.
    #[error("kernel '{kernel}' takes {expected} arguments, but was given {given}")]
    ArgumentCount {
        kernel: String,
        expected: usize,
        given: usize,
    },
    /// An argument of another type.
    #[error("kernel '{kernel}': argument '{argument}' is {expected}, but was given {given}")]
    ArgumentType {
        kernel: String,
        argument: String,
        expected: String,
        given: String,
    },
    /// A buffer that must be longer.
    #[error(
        "kernel '{kernel}': argument '{argument}' must have at least {minimum} rows, but has {given}"
    )]
    TooShort {
        kernel: String,
        argument: String,
        minimum: u64,
        given: u64,
    },
    /// An index or an extent that the host computed for a step.
    #[error("kernel '{kernel}': '{step}' has a negative {what}, {value}")]
    Negative {
        kernel: String,
        step: String,
        what: &'static str,
        value: i64,
    },
    /// A step reaches beyond a buffer.
    #[error(
        "kernel '{kernel}': '{step}' needs {needed} bytes of argument '{argument}', which has {given}"
    )]
    OutOfBounds {
        kernel: String,
        step: String,
        argument: String,
        needed: u128,
        given: usize,
    },
    /// Something the host evaluates has no value.
    #[error("kernel '{kernel}': {what}: {source}")]
    Evaluate {
        kernel: String,
        what: String,
        source: EvalError,
    },
    /// An error of a step of a kernel, with the step's place in the source, such as `k.mlir:9:5`.
    #[error("{error}, at {place}")]
    At { place: String, error: Box<Error> },
    /// A dispatch without an eligible variant.
    #[error("kernel '{kernel}': none of the variants {} is eligible", variants.join(", "))]
    NoVariant {
        kernel: String,
        variants: Vec<String>,
    },
    /// No dispatch of a kernel has that variant.
    #[error("kernel '{kernel}' dispatches to no variant '{variant}': those there are: {}", known.join(", "))]
    UnknownVariant {
        kernel: String,
        variant: String,
        known: Vec<String>,
    },
    /// A loop ran for more iterations than the options allow.
    #[error("kernel '{kernel}': a loop was still running after {limit} iterations")]
    TooManyIterations { kernel: String, limit: u64 },
    /// An assertion of a kernel failed, the first since the last such error. The kernel went on.
    #[error(transparent)]
    Assertion(Box<FailedAssertion>),
    /// Out of memory: the bytes that were requested, the free bytes of the device, and the unused bytes
    /// of its pool, as far as they are known.
    #[error("not enough memory for {what}{}", room(*bytes, *free, *pooled))]
    OutOfMemory {
        what: String,
        bytes: Option<u64>,
        free: Option<u64>,
        pooled: Option<u64>,
    },
    /// There is no device of that kind, it is not the one the artifact is for, or
    /// it failed.
    #[error("{0}")]
    Device(String),
    /// The device did not start or did not finish a launch.
    #[error(
        "kernel '{kernel}': phase '{step}' ({blocks} blocks of {threads} threads) failed: {reason}"
    )]
    Launch {
        kernel: String,
        step: String,
        blocks: u64,
        threads: u32,
        reason: String,
    },
    /// There is no argument of that name.
    #[error("kernel '{kernel}' has no argument '{argument}': those there are: {}", known.join(", "))]
    UnknownArgument {
        kernel: String,
        argument: String,
        known: Vec<String>,
    },
    /// A buffer that is not aligned for its elements.
    #[error("kernel '{kernel}': argument '{argument}' does not begin at a multiple of {to} bytes")]
    Misaligned {
        kernel: String,
        argument: String,
        to: usize,
    },
    /// Memory that is written and overlaps another argument.
    #[error(
        "kernel '{kernel}': argument '{argument}' overlaps argument '{other}', of which one is written"
    )]
    Overlaps {
        kernel: String,
        argument: String,
        other: String,
    },
    /// Elements that are not contiguous.
    #[error("{0}: its elements are not contiguous")]
    NotContiguous(String),
    /// An array that cannot be imported from, or exported to, another library.
    #[error("{0}")]
    Foreign(String),
    /// A call that cannot be captured into a graph.
    #[error("{0}")]
    Capture(String),
    /// A kernel writes a read-only buffer.
    #[error(
        "kernel '{kernel}' writes argument '{argument}', but was given a buffer that is read-only"
    )]
    ReadOnly { kernel: String, argument: String },
    /// Something is on the wrong device.
    #[error("{what} is of device {is}, not of {wanted}")]
    WrongDevice {
        what: String,
        is: String,
        wanted: String,
    },
    /// Something that cannot be recorded, or a graph that is not ready to be launched.
    #[error("{0}")]
    Recording(String),
    /// A view, copy or cast that a buffer does not allow.
    #[error("{0}")]
    View(String),
    /// The device failed, and nothing of it can be used any more.
    #[error(
        "device {device} is lost: {reason}{}",
        match suspects.is_empty() {
            true => String::new(),
            false => format!("; the last kernels were {}", suspects.join(", ")),
        }
    )]
    Lost {
        device: String,
        suspects: Vec<String>,
        reason: String,
    },
    /// This process is a copy of the one that opened the device.
    #[error(
        "devices cannot be used after fork: open them in a program that the new process executes"
    )]
    Forked,
    /// A dispatcher that cannot be made, or has nothing to run.
    #[error(transparent)]
    Dispatch(#[from] crate::dispatch::Error),
    /// A dispatcher's variant that is a function failed.
    #[error(transparent)]
    Function(Box<dyn std::error::Error + Send + Sync>),
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// `: 4096 bytes were requested, 512 are free, 0 are pooled`.
fn room(bytes: Option<u64>, free: Option<u64>, pooled: Option<u64>) -> String {
    let asked = bytes.map(|bytes| format!("{bytes} bytes were requested"));
    let free = free.map(|bytes| format!("{bytes} are free"));
    let pooled = pooled.map(|bytes| format!("{bytes} are pooled"));
    let known: Vec<_> = [asked, free, pooled].into_iter().flatten().collect();
    match known.is_empty() {
        true => String::new(),
        false => format!(": {}", known.join(", ")),
    }
}

impl Error {
    /// Out of memory, without further information.
    pub(crate) fn no_memory(what: impl Into<String>) -> Self {
        Error::OutOfMemory {
            what: what.into(),
            bytes: None,
            free: None,
            pooled: None,
        }
    }

    /// What is wrong, whether or not it is known where.
    pub fn without_place(&self) -> &Self {
        match self {
            Self::At { error, .. } => error,
            error => error,
        }
    }

    pub(crate) fn evaluate(kernel: &Kernel, what: &str, source: EvalError) -> Self {
        Error::Evaluate {
            kernel: kernel.name.clone(),
            what: what.into(),
            source,
        }
    }
}
