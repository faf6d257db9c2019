//! `qd.algo.reduce_by_key`.

use super::{
    Access, Algorithm, Arity, COUNT, Operand, SCRATCH, compaction,
    fixed_order::{self, FixedOrder},
    known,
};
use crate::{
    exec::{Call, Engine, Folder, Tuples},
    fault::Outcome,
};

pub(super) const REDUCE_BY_KEY: Algorithm = Algorithm {
    op: "qd.algo.reduce_by_key",
    operands: &[
        Operand::read("keys"),
        Operand::new("values", Arity::Many, Access::Read),
        Operand::written("keys_out"),
        Operand::new("values_out", Arity::Many, Access::Written),
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
    let (mut runs, mut all, mut last) = (Vec::new(), Tuples::new(values.len()), None);
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
    if fixed_order::applies(call, 1)? {
        all = in_order(call, &all, &heads)?;
    } else {
        Folder::new(call.combiner()?).inclusive(&mut all, |index| heads[index])?;
    }
    for (run, &(key, _)) in runs.iter().enumerate() {
        // A run ends where the next one starts.
        let end = runs
            .get(run + 1)
            .map_or(call.n as usize, |(_, start)| *start);
        known(all.poison[end - 1])?;
        engine.put_scalar(call.one(2)?, run as u64, key)?;
        engine.put_tuple(call.all(3), run as u64, all.get(end - 1))?;
    }
    engine.put_count(call.one(4)?, runs.len())
}

/// The combination of each element's run so far, in the fixed order: by a scan of tuples,
/// a number of heads and what follows the last of them. The last run is the total's.
fn in_order(call: &Call<'_>, values: &Tuples, heads: &[bool]) -> Outcome<Tuples> {
    let combiner = call.combiner()?;
    let mut combine = fixed_order::combine(combiner);
    let pairs = move |left: &[u64], right: &[u64]| {
        let since = match right[0] {
            0 => combine(&left[1..], &right[1..])?,
            _ => right[1..].to_vec(),
        };
        Ok([&[left[0] + right[0]], since.as_slice()].concat())
    };
    let pair = |head: u64, value: &[u64]| [&[head], value].concat();
    let elements: Vec<_> = heads
        .iter()
        .enumerate()
        .map(|(index, &head)| pair(head.into(), values.get(index)))
        .collect();
    let nothing = pair(0, &fixed_order::nothing(combiner));
    let sizes = [call.elements(0), call.elements(1)].concat();
    let mut order = FixedOrder::new(pairs, nothing.clone(), &sizes);
    let mut scanned = order.scan(&elements, &nothing, true)?;
    if let Some(last) = scanned.results.last_mut() {
        *last = scanned.total;
    }
    let mut all = Tuples::new(call.all(1).len());
    for result in &scanned.results {
        all.push(result[1..].iter().copied(), 0);
    }
    Ok(all)
}
