//! For tests of what is built on the objects: a device that defers all work until it is waited for.

use super::{Device, fake::Mood, tests};

pub(crate) use super::{fake::Log, tests::artifact};

/// A device, and what it was asked.
pub(crate) fn device() -> (Device, Log) {
    tests::fake(Mood::default())
}
