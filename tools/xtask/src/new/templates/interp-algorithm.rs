//! `qd.algo.the_name`.

use super::{Algorithm, COUNT, Operand, SCRATCH, hierarchical};
use crate::{
    exec::{Call, Engine},
    fault::{Outcome, Trap},
};

pub(super) const THE_NAME: Algorithm = Algorithm {
    op: "qd.algo.the_name",
    operands: &[
        Operand::read("input"),
        Operand::written("output"),
        SCRATCH,
        COUNT,
    ],
    combines: None,
    slots: Some(|n, depth| hierarchical(n, depth - 1)),
    run,
};

/// What its page says, element by element: it shares nothing with any strategy.
fn run(_: &mut Engine<'_>, _: &Call<'_>) -> Outcome {
    Err(Trap::new(
        "means nothing yet: dialects/interp/src/algorithms/the_name.rs",
    ))
}
