//! The keys of the entries of a store.

use crate::identity::identity;
use qd_artifact::{FORMAT, Options, TargetSpec};
use qd_store::Key;

/// Counts up whenever a record's bytes mean something else.
const RECORD: u32 = 1;

/// The key of a slice's outcome: all that it follows from, and neither files' names nor places, nor
/// what else is in a source. None where more takes part.
pub fn key(
    text: &str,
    kernels: Option<&[String]>,
    target: &TargetSpec,
    options: &Options,
) -> Option<Key> {
    let concerning = options.concerning(target.format()?)?;
    let kernels = kernels.map(|names| names.join(" "));
    let version = format!("outcome {RECORD} {FORMAT}");
    // A name is no word of two, and so none of several.
    let kernels = kernels.map_or_else(|| "all".into(), |names| format!("only {names}"));
    let target = target.to_string();
    let parts = [identity(), &version, text, &kernels, &target, &concerning];
    Some(Key::of(parts.map(str::as_bytes)))
}

/// The key of a body's code, by the text of all else that it follows from.
pub fn body(from: &str) -> Key {
    let parts = [identity(), "body 1", from];
    Key::of(parts.map(str::as_bytes))
}

/// The key of an entry that says that a text is a valid module.
pub fn validity(text: &str) -> Key {
    let parts = [identity(), "valid 1", text];
    Key::of(parts.map(str::as_bytes))
}
