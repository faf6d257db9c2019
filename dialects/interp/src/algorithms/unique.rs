//! `qd.algo.unique`.

use super::{Access, Algorithm, Arity, COUNT, Operand, SCRATCH, compaction};
use crate::{
    exec::{Call, Engine},
    fault::Outcome,
};

pub(super) const UNIQUE: Algorithm = Algorithm {
    op: "qd.algo.unique",
    operands: &[
        Operand::read("input"),
        Operand::written("output"),
        Operand::new("counts", Arity::Optional, Access::Written),
        Operand::new("num_runs", Arity::One, Access::WrittenOnce),
        SCRATCH,
        COUNT,
    ],
    combines: None,
    slots: Some(compaction),
    run,
};

fn run(engine: &mut Engine<'_>, call: &Call<'_>) -> Outcome {
    let input = call.one(0)?;
    let element = input.memref.element;
    // The first element and the length of each run.
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let mut last = None;
    for index in 0..call.n {
        let value = engine.scalar(input, index)?;
        match runs.last_mut() {
            Some((_, length)) if last.is_some_and(|last| element.equal(last, value)) => {
                *length += 1
            }
            _ => runs.push((value, 1)),
        }
        last = Some(value);
    }
    for (run, (value, length)) in (0..).zip(&runs) {
        engine.put_scalar(call.one(1)?, run, *value)?;
        if let Some(counts) = call.all(2).first() {
            engine.put_scalar(counts, run, *length)?;
        }
    }
    engine.put_count(call.one(3)?, runs.len())
}
