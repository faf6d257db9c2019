//! What goes wrong with dispatchers.

use super::DeviceKey;
use std::{io, path::PathBuf};

/// Why a dispatcher was not made, has nothing to run, or did not take winners.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Error {
    /// A dispatcher without variants.
    #[error("perf_dispatch '{dispatcher}': there are no variants")]
    NoVariants { dispatcher: String },
    /// Two variants of one name.
    #[error("perf_dispatch '{dispatcher}': there are two variants '{variant}'")]
    DuplicateVariant { dispatcher: String, variant: String },
    /// A name that the environment could not force.
    #[error("perf_dispatch '{dispatcher}': {what} cannot be called '{name}': {reason}")]
    Name {
        dispatcher: String,
        what: &'static str,
        name: String,
        reason: &'static str,
    },
    /// A policy in which nothing is timed.
    #[error("perf_dispatch '{dispatcher}': the policy has no active rounds, so nothing is timed")]
    NoActiveRounds { dispatcher: String },
    /// Kernels that do not take the same arguments.
    #[error("perf_dispatch '{dispatcher}': variant '{variant}' takes {given}, but {expected}")]
    Signature {
        dispatcher: String,
        variant: String,
        given: String,
        /// What the first variant takes, in words.
        expected: String,
    },
    /// No variant's condition holds.
    #[error("perf_dispatch '{dispatcher}': none of the variants {} is eligible for {geometry}", known.join(", "))]
    NoEligible {
        dispatcher: String,
        geometry: String,
        known: Vec<String>,
    },
    /// There is no variant of that name.
    #[error("perf_dispatch '{dispatcher}': there is no variant '{variant}': those there are: {}", known.join(", "))]
    UnknownVariant {
        dispatcher: String,
        variant: String,
        known: Vec<String>,
    },
    /// A choice that has not been made, where nothing may be measured, as under capture.
    #[error(
        "perf_dispatch '{dispatcher}': no winner is known for {geometry}, and nothing can be measured here, as on a stream under capture: call it outside of the capture until there is one, load saved winners, or freeze or force it"
    )]
    NotMeasured {
        dispatcher: String,
        geometry: String,
    },
    /// A malformed environment variable.
    #[error("{variable}='{value}': {reason}")]
    Environment {
        variable: &'static str,
        value: String,
        reason: String,
    },
    /// A file of winners that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A file that does not hold winners, or not such as they can be.
    #[error("{from}: no winners of dispatchers: {reason}")]
    Malformed { from: String, reason: String },
    /// Winners of other devices, or of another driver.
    #[error("{from}: no winners of {wanted}: there are those of {}", known.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    OtherDevice {
        from: String,
        wanted: Box<DeviceKey>,
        known: Vec<DeviceKey>,
    },
    /// Winners of other dispatchers.
    #[error("{from}: no winners of perf_dispatch '{dispatcher}': there are those of {}", known.join(", "))]
    OtherDispatcher {
        from: String,
        dispatcher: String,
        known: Vec<String>,
    },
    /// Winners among other variants than the dispatcher has now, or among other code.
    #[error(
        "{from}: perf_dispatch '{dispatcher}' has other variants than those that were measured: {reason}"
    )]
    OtherVariants {
        from: String,
        dispatcher: String,
        reason: String,
    },
}
