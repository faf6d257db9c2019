//! `checked` algorithms: a phase before the algorithm, of one thread, asserts what the algorithm takes for granted.
//!
//! | what | otherwise |
//! |---|---|
//! | the live count is not negative | it is taken as 0 |
//! | it is within the capacity and the buffers | it is taken as the least of these |
//! | scratch has the slots of the formula, for what the buffers and the capacity allow | the runtime refuses an argument that is too short, and this says it of views |
//! | where there is no count, the values are as many as the keys | the least of these is sorted |
//! | no buffer that is written is part of the same as another, where `qd.grid.view` says of what each is, or of an argument with `qd.may_alias` that the call gives the same memory | undefined |
//!
//! Cost: one launch of one block.

use super::levels::Count;
use qd_dialects::{
    algorithm::{self, Role},
    builder::Builder,
    ir::{Op, OpExt},
};
use qd_passes::add_checks::{Buffers, assert};

/// Puts the phase before the op.
pub(super) fn check(op: Op<'_>) {
    let Some(algorithm) = algorithm::Algorithm::of(op) else {
        return;
    };
    let b = Builder::before(op);
    let of = |role: fn(Role) -> bool| {
        let operands = algorithm.operands.iter();
        let these = operands.filter(move |operand| role(operand.role));
        these.map(|operand| b.v(operand.value)).collect::<Vec<_>>()
    };
    let depth = algorithm.log256_capacity;
    let counts = of(|role| role == Role::Count);
    let buffers = of(|role| {
        use Role::{Input, Key, Output, Value, Workspace};
        matches!(role, Input | Output | Key | Value | Workspace)
    });
    let counted = (counts.first().zip(depth))
        .map(|(count, depth)| Count::new(&b, *count, depth, buffers.iter().copied()));
    let slots = counted.as_ref().zip(algorithm.scratch.zip(depth));
    let slots = slots.map(|(counted, (formula, depth))| formula.slots(counted.capacity, depth));
    let name = op.full_name();
    let operands = algorithm.operands.iter();
    let used = operands.map(|of| (of.value, !matches!(of.role, Role::Input | Role::Count)));
    let used = Buffers::new(&b, used.collect());
    b.phase("checked", b.index(1), 1, || {
        match counted {
            Some(counted) => {
                let n = counts[0].first();
                assert(n.sge(0), &format!("the count of '{name}' is not negative"));
                assert(
                    n.sle(counted.limit()),
                    &format!("the count of '{name}' is within its capacity and its buffers"),
                );
            }
            None => {
                for (keys, values) in of(|role| role == Role::Key)
                    .into_iter()
                    .zip(of(|role| role == Role::Value))
                {
                    let text = format!("the values of '{name}' are as many as its keys");
                    assert(values.len().ge(keys.len()), &text);
                }
            }
        }
        for scratch in of(|role| role == Role::Scratch) {
            if let Some(slots) = slots {
                let text = format!("the scratch of '{name}' is as long as its formula says");
                assert(scratch.len().ge(slots), &text);
            }
        }
        used.assert_apart(&b, &format!("the buffers of '{name}' do not overlap"));
    });
}
