//! The size of an algorithm's tiles and how its blocks run: from the target's
//! table or the algorithm's, unless the op has an attribute.
//!
//! `{qd.tuning = {threads = 256 : i64, items = 15 : i64}}` on an op is for
//! measurements; settings that it lacks are those of the table.

use super::{
    ALGORITHMS,
    fixed_order::{self, RUNS, Shape},
};
use crate::targets::{
    Capabilities,
    tuning::{self, Row, Tuning},
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
use std::{ops::RangeInclusive, sync::LazyLock};

/// The smallest tile, in elements: from there on the descriptors of two such tiles
/// fit the scratch of any algorithm.
const LEAST_TILE: i64 = 1280;

static TUNINGS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let tables = ALGORITHMS.iter().map(|algorithm| algorithm.tunings);
    let rows = tables.flat_map(|text| tuning::table(text).expect("rows, read by tests"));
    rows.collect()
});

/// The tunings in the algorithms' folders, measured on an H200, but for `reduce_by_key` of more than 16 bytes: the largest
/// tiles that shared memory has room for.
pub fn tunings() -> &'static [Row] {
    &TUNINGS
}

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
        let row = |rows: &'static [Row]| {
            let of_it = |row: &&Row| row.algorithm == algorithm && bytes <= row.bytes;
            rows.iter().filter(of_it).min_by_key(|row| row.bytes)
        };
        let Some(row) = row(capabilities.tunings).or_else(|| row(tunings())) else {
            let what = format!("has no tiles for elements of {bytes} bytes");
            return Err(Diagnostic::at(op, what));
        };
        row.tuning.as_said(op)
    }

    /// The same with what the op says.
    fn as_said<'c>(mut self, op: Op<'c>) -> Result<'c, Self> {
        if let Some(said) = op.attr(TUNING) {
            self.set(said).map_err(|what| Diagnostic::at(op, what))?;
        }
        Ok(self)
    }

    fn set(&mut self, said: Attribute<'_>) -> std::result::Result<(), String> {
        let names = || SETTINGS.map(|(name, ..)| name).join(", ");
        let Some(entries) = attributes::entries(said) else {
            return Err(format!("'{TUNING}' is not a dictionary of {}", names()));
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
                "'{TUNING}' has {threads} threads, not a multiple of 64"
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

    /// For tiles of this shape: as many resident threads and as many elements ahead,
    /// unless the op says otherwise.
    pub(super) fn in_shape<'c>(self, op: Op<'c>, shape: Shape) -> Result<'c, Self> {
        fixed_order::check_tuning(op)?;
        let scaled = |number: i64, from: i64, to: i64| (number * from + to / 2) / to;
        let in_shape = Self {
            threads: RUNS,
            items: shape.items,
            blocks_per_core: scaled(self.blocks_per_core, self.threads, RUNS),
            ahead: scaled(self.ahead, self.size(), shape.size()),
            ..self
        };
        in_shape.as_said(op)
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

#[cfg(test)]
mod tests {
    use super::tunings;
    use crate::targets::Target;

    /// Of targets with tables of their own; what these leave out is the algorithms'.
    #[test]
    fn each_row_of_a_target_is_of_an_algorithm() {
        let known = |name: &str| tunings().iter().any(|row| row.algorithm == name);
        for target in ["amdgpu:gfx942", "amdgpu:gfx1100"] {
            let rows = Target::parse(target)
                .expect("a target")
                .capabilities
                .tunings;
            assert!(!rows.is_empty(), "{target}");
            for row in rows {
                assert!(known(&row.algorithm), "{}", row.algorithm);
            }
        }
    }
}
