//! A worker's jobs and answers: one line of JSON each.

use crate::program::Program;
use serde::{Deserialize, Serialize};

/// Something to try, in a process that may die of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Job {
    /// The kernel of a seed, on targets.
    Kernel { seed: u64, targets: Vec<String> },
    /// The kernel of a seed for targets, to be made smaller.
    Make { seed: u64, targets: Vec<String> },
    /// A kernel that is being made smaller, on one target.
    Check { program: Program, target: String },
    /// The mutant of a seed.
    Mutant { seed: u64 },
    /// A mutant that is being made smaller.
    Text { text: String, target: String },
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// How far a job has come, for the report of a crash.
    Stage(String),
    /// A job's end.
    Done(Done),
}

/// What came of a job that ended by itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Done {
    /// The kernel, where it was asked for.
    pub program: Option<Program>,
    /// The ops of a kernel, with the types of their operands.
    pub forms: Vec<String>,
    /// Targets whose results were compared with the interpreter's.
    pub compared: Vec<String>,
    /// Why the interpreter says nothing of the kernel, if it does not.
    pub fault: Option<String>,
    /// Whether a mutant was rejected, as most are.
    pub is_rejected: bool,
    /// Whether the worker's memory may be spoilt, so that it ends here.
    pub is_last: bool,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Something that must not be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    pub kind: Kind,
    /// The target it was seen on; empty where there was none yet.
    pub target: String,
    /// What was seen.
    pub message: String,
    /// What it was seen with, if that is not a program: text, or bytes in
    /// hexadecimal digits after `hex:`.
    pub input: String,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// The process ended by a signal, an abort, or a panic.
    Crash,
    /// No answer within the limit.
    Hang,
    /// Another result than the interpreter's.
    Difference,
    /// A valid kernel that a target refuses.
    Refused,
    /// A valid kernel that could not be run.
    Failed,
    /// The generator made what the verifier rejects: a defect of its own.
    Invalid,
    /// An error without a place, in words of the implementation, or none at all.
    Message,
    /// Something written although there was an error, or a wrong exit code.
    Output,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Crash => "crash",
            Kind::Hang => "hang",
            Kind::Difference => "difference",
            Kind::Refused => "refused",
            Kind::Failed => "failed",
            Kind::Invalid => "invalid",
            Kind::Message => "message",
            Kind::Output => "output",
        })
    }
}
