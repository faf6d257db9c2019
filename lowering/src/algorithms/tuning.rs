//! The size of an algorithm's tiles and how its blocks run: from the target's
//! table, unless the op has an attribute.
//!
//! `{qd.tuning = {threads = 256 : i64, items = 15 : i64}}` on an op is for
//! measurements; settings that it lacks are those of the table.

use crate::targets::{
    Capabilities,
    tuning::{Row, Tuning},
};
use qd_dialects::{
    attributes::{
        self,
        names::{BLOCKS_PER_CORE, TUNING},
    },
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt},
    melior::ir::Attribute,
};
use std::ops::RangeInclusive;

/// The smallest tile, in elements: from there on the descriptors of two such tiles
/// fit the scratch of any algorithm.
const LEAST_TILE: i64 = 1280;

/// A setting: its name, its range, and its field.
type Setting = (
    &'static str,
    RangeInclusive<i64>,
    fn(&mut Tuning) -> &mut i64,
);

const SETTINGS: [Setting; 6] = [
    ("threads", 64..=1024, |t| &mut t.threads),
    ("items", 1..=64, |t| &mut t.items),
    ("blocks_per_core", 0..=32, |t| &mut t.blocks_per_core),
    ("ahead", 0..=65_536, |t| &mut t.ahead),
    ("pause", 0..=1_000_000, |t| &mut t.pause),
    ("blocks", 0..=4096, |t| &mut t.blocks),
];

impl Tuning {
    /// For elements of `bytes` bytes.
    pub(super) fn of<'c>(
        op: Op<'c>,
        algorithm: &str,
        bytes: i64,
        capabilities: &Capabilities,
    ) -> Result<'c, Self> {
        let rows = capabilities.tunings.iter();
        let row = rows
            .filter(|row: &&Row| row.algorithm == algorithm)
            .find(|row| bytes <= row.bytes);
        let Some(row) = row else {
            let what = format!("has no tiles for elements of {bytes} bytes");
            return Err(Diagnostic::at(op, what));
        };
        let mut tuning = row.tuning;
        if let Some(said) = op.attr(TUNING) {
            tuning.set(said).map_err(|what| Diagnostic::at(op, what))?;
        }
        Ok(tuning)
    }

    fn set(&mut self, said: Attribute<'_>) -> std::result::Result<(), String> {
        let names = || SETTINGS.map(|(name, ..)| name).join(", ");
        let Some(entries) = attributes::entries(said) else {
            return Err(format!("'{TUNING}' is no dictionary of {}", names()));
        };
        for (name, value) in entries {
            let Some((name, range, field)) = SETTINGS.iter().find(|s| s.0 == name) else {
                return Err(format!("'{TUNING}' has no '{name}', only {}", names()));
            };
            *field(self) = attributes::int(value)
                .filter(|value| range.contains(value))
                .ok_or_else(|| {
                    let (least, most) = (range.start(), range.end());
                    format!("'{TUNING}' has {name} = {value}, not {least} to {most}")
                })?;
        }
        if self.threads % 64 != 0 {
            let threads = self.threads;
            return Err(format!(
                "'{TUNING}' has {threads} threads, no multiple of 64"
            ));
        }
        if self.size() < LEAST_TILE {
            let size = self.size();
            return Err(format!(
                "'{TUNING}' makes tiles of {size} elements: scratch has room for those of {LEAST_TILE} and more"
            ));
        }
        Ok(())
    }

    /// Elements of a tile.
    pub(super) fn size(&self) -> i64 {
        self.threads * self.items
    }

    /// Backs off before the tile looks back: most tiles before it are published a
    /// while after it is. Polling sooner would take bandwidth from others and gain
    /// nothing. The first tiles start together and have few before them.
    pub(super) fn back_off(&self, number: V<'_, '_>) {
        if self.pause > 0 {
            let b = number.builder();
            let is_first = number.slt(self.ahead);
            b.if_(is_first.eq(0), || b.pause(self.pause as i32));
        }
    }

    /// A phase with blocks of this tuning.
    pub(super) fn phase<'c>(
        &self,
        b: &Builder<'c>,
        name: &str,
        blocks: V<'_, 'c>,
        body: impl FnOnce(),
    ) {
        let phase = b.phase(name, blocks, self.threads, body);
        if self.blocks_per_core > 0 {
            let blocks = attributes::i64(b.context(), self.blocks_per_core);
            phase.set_attr(BLOCKS_PER_CORE, blocks);
        }
    }
}
