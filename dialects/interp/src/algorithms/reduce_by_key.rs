//! `qd.algo.reduce_by_key`.

use super::{Access, Algorithm, Arity, COUNT, Operand, SCRATCH, compaction, known};
use crate::{
    exec::{Call, Engine, Folder, Tuples},
    fault::Outcome,
};

pub(super) const REDUCE_BY_KEY: Algorithm = Algorithm {
    op: "qd.algo.reduce_by_key",
    operands: &[
        Operand::read("keys"),
        Operand::read("values"),
        Operand::written("keys_out"),
        Operand::written("values_out"),
        Operand::new("num_runs", Arity::One, Access::WrittenOnce),
        SCRATCH,
        COUNT,
    ],
    combines: Some(1),
    slots: Some(|n, depth| if n <= 256 { n } else { compaction(n, depth) }),
    run,
};

fn run(engine: &mut Engine<'_>, call: &Call<'_>) -> Outcome {
    let (keys, values) = (call.one(0)?, call.all(1));
    let element = keys.memref.element;
    let (mut runs, mut all, mut last) = (Vec::new(), Tuples::new(1), None);
    let mut heads = Vec::new();
    for index in 0..call.n {
        let key = engine.scalar(keys, index)?;
        let head = !last.is_some_and(|last| element.equal(last, key));
        if head {
            runs.push((key, index as usize));
        }
        heads.push(head);
        all.push(engine.tuple(values, index)?, 0);
        last = Some(key);
    }
    Folder::new(call.combiner()?).inclusive(&mut all, |index| heads[index])?;
    for (run, &(key, _)) in runs.iter().enumerate() {
        // A run ends where the next one starts.
        let end = runs
            .get(run + 1)
            .map_or(call.n as usize, |(_, start)| *start);
        known(all.poison[end - 1])?;
        engine.put_scalar(call.one(2)?, run as u64, key)?;
        engine.put_scalar(call.one(3)?, run as u64, all.get(end - 1)[0])?;
    }
    engine.put_count(call.one(4)?, runs.len())
}
