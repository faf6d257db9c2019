//! `qd.algo.reduce`.

use super::{
    Access, Algorithm, Arity, COUNT, Operand,
    fixed_order::{self, FixedOrder},
    hierarchical, known,
};
use crate::{
    exec::{Call, Engine, Folder, identity},
    fault::Outcome,
};

pub(super) const REDUCE: Algorithm = Algorithm {
    op: "qd.algo.reduce",
    operands: &[
        Operand::new("input", Arity::Many, Access::Read),
        Operand::new("output", Arity::Many, Access::WrittenOnce),
        Operand::new("scratch", Arity::Many, Access::Scratch),
        COUNT,
    ],
    combines: Some(0),
    slots: Some(|n, depth| hierarchical(n, depth - 1)),
    run,
};

fn run(engine: &mut Engine<'_>, call: &Call<'_>) -> Outcome {
    let combiner = call.combiner()?;
    if fixed_order::applies(call, 0)? {
        let elements = (0..call.n).map(|index| engine.tuple(call.all(0), index));
        let elements = elements.collect::<Outcome<_>>()?;
        let (combine, nothing) = (
            fixed_order::combine(combiner),
            fixed_order::nothing(combiner),
        );
        let mut order = FixedOrder::new(combine, nothing, &call.elements(0));
        let commutes = fixed_order::commutes(combiner);
        let result = order.reduce(elements, &identity(combiner), commutes)?;
        return engine.put_tuple(call.all(1), 0, &result);
    }
    let mut result = identity(combiner);
    let mut folder = Folder::new(combiner);
    for index in 0..call.n {
        let mut next = engine.tuple(call.all(0), index)?;
        if index > 0 {
            known(folder.combine((&result, 0), &mut next, 0)?)?;
        }
        result = next;
    }
    engine.put_tuple(call.all(1), 0, &result)
}
