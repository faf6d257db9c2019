//! `qd.algo.sort` and `qd.algo.parallel_sort`.

use super::{Access, Algorithm, Arity, COUNT, Operand, SCRATCH, blocks, hierarchical};
use crate::{
    exec::{Call, Engine},
    fault::Outcome,
    value::Element,
};

pub(super) const SORT: Algorithm = Algorithm {
    op: "qd.algo.sort",
    operands: &[
        Operand::written("keys"),
        Operand::new("tmp_keys", Arity::One, Access::Workspace(0)),
        Operand::new("values", Arity::Optional, Access::Written),
        Operand::new("tmp_values", Arity::Optional, Access::Workspace(2)),
        SCRATCH,
        COUNT,
    ],
    combines: None,
    slots: Some(|n, depth| {
        let table = 256 * blocks(n);
        table + hierarchical(table, depth - 1)
    }),
    run: |engine, call| run(engine, call, 2),
};

pub(super) const PARALLEL_SORT: Algorithm = Algorithm {
    op: "qd.algo.parallel_sort",
    operands: &[
        Operand::written("keys"),
        Operand::new("values", Arity::Optional, Access::Written),
    ],
    combines: None,
    slots: None,
    run: |engine, call| run(engine, call, 1),
};

/// Keys, and the operand of number `values` with them.
fn run(engine: &mut Engine<'_>, call: &Call<'_>, values: usize) -> Outcome {
    let (keys, values) = (call.one(0)?, call.all(values).first());
    let element = keys.memref.element;
    let end_bit = call.end_bit().unwrap_or(element.width()).min(64);
    let mask = if end_bit == 0 {
        0
    } else {
        u64::MAX >> (64 - end_bit)
    };
    let mut entries = Vec::with_capacity(call.n as usize);
    for index in 0..call.n {
        let key = engine.scalar(keys, index)?;
        let row = values.map(|values| engine.row(values, index)).transpose()?;
        let order = ordered_bits(element, call.is_unsigned(), key) & mask;
        entries.push((order, key, row));
    }
    entries.sort_by_key(|(order, ..)| *order);
    for (index, (_, key, row)) in (0..).zip(entries) {
        engine.put_scalar(keys, index, key)?;
        if let (Some(values), Some(row)) = (values, row) {
            engine.put_row(values, index, &row)?;
        }
    }
    Ok(())
}

/// The bits in whose unsigned order keys are sorted.
pub(crate) fn ordered_bits(element: Element, unsigned: bool, key: u64) -> u64 {
    let sign = (element.mask() >> 1) + 1;
    if element.is_float() && key & sign != 0 {
        !key & element.mask()
    } else if element.is_float() || !unsigned {
        key ^ sign
    } else {
        key
    }
}
