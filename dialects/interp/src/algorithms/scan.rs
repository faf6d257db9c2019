//! `qd.algo.exclusive_scan` and `qd.algo.inclusive_scan`.

use super::{
    Access, Algorithm, Arity, COUNT, Operand,
    fixed_order::{self, FixedOrder},
    hierarchical, known,
};
use crate::{
    exec::{Call, Engine, Folder, identity},
    fault::Outcome,
};

pub(super) const EXCLUSIVE_SCAN: Algorithm = Algorithm {
    op: "qd.algo.exclusive_scan",
    operands: &[
        Operand::new("input", Arity::Many, Access::Read),
        Operand::new("output", Arity::Many, Access::Written),
        Operand::new("scratch", Arity::Many, Access::Scratch),
        COUNT,
    ],
    combines: Some(0),
    slots: Some(|n, depth| hierarchical(n, depth - 1)),
    run: |engine, call| run(engine, call, false),
};

pub(super) const INCLUSIVE_SCAN: Algorithm = Algorithm {
    op: "qd.algo.inclusive_scan",
    run: |engine, call| run(engine, call, true),
    ..EXCLUSIVE_SCAN
};

fn run(engine: &mut Engine<'_>, call: &Call<'_>, inclusive: bool) -> Outcome {
    let combiner = call.combiner()?;
    if fixed_order::applies(call, 0)? {
        let elements = (0..call.n).map(|index| engine.tuple(call.all(0), index));
        let elements: Vec<_> = elements.collect::<Outcome<_>>()?;
        let (combine, nothing) = (
            fixed_order::combine(combiner),
            fixed_order::nothing(combiner),
        );
        let mut order = FixedOrder::new(combine, nothing, &call.elements(0));
        let scanned = order.scan(&elements, &identity(combiner), inclusive)?;
        for (index, result) in (0..).zip(&scanned.results) {
            engine.put_tuple(call.all(1), index, result)?;
        }
        return Ok(());
    }
    let mut before = identity(combiner);
    let mut folder = Folder::new(combiner);
    for index in 0..call.n {
        let mut next = engine.tuple(call.all(0), index)?;
        if index > 0 {
            known(folder.combine((&before, 0), &mut next, 0)?)?;
        }
        engine.put_tuple(call.all(1), index, if inclusive { &next } else { &before })?;
        before = next;
    }
    Ok(())
}
