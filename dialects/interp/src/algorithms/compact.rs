//! `qd.algo.select` and `qd.algo.partition`.

use super::{Access, Algorithm, Arity, COUNT, Operand, SCRATCH, compaction};
use crate::{
    exec::{Call, Engine},
    fault::Outcome,
};

pub(super) const SELECT: Algorithm = Algorithm {
    op: "qd.algo.select",
    operands: &[
        Operand::read("input"),
        Operand::read("flags"),
        Operand::written("output"),
        Operand::new("num_out", Arity::One, Access::WrittenOnce),
        SCRATCH,
        COUNT,
    ],
    combines: None,
    slots: Some(compaction),
    run: |engine, call| run(engine, call, false),
};

pub(super) const PARTITION: Algorithm = Algorithm {
    op: "qd.algo.partition",
    run: |engine, call| run(engine, call, true),
    ..SELECT
};

/// With `rest`, the others are kept too.
fn run(engine: &mut Engine<'_>, call: &Call<'_>, rest: bool) -> Outcome {
    let (input, flags) = (call.one(0)?, call.one(1)?);
    let (mut kept, mut others) = (Vec::new(), Vec::new());
    for index in 0..call.n {
        match engine.scalar(flags, index)? {
            0 => others.push(index),
            _ => kept.push(index),
        }
    }
    let count = kept.len();
    if rest {
        kept.append(&mut others);
    }
    // All is read before anything is written.
    let rows = kept
        .into_iter()
        .map(|index| engine.row(input, index))
        .collect::<Outcome<Vec<_>>>()?;
    for (index, row) in rows.into_iter().enumerate() {
        engine.put_row(call.one(2)?, index as u64, &row)?;
    }
    engine.put_count(call.one(3)?, count)
}
