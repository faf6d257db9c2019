//! `my-broadcast-reduced`: a reduction whose result is broadcast becomes one
//! with a result in every lane.
//!
//! ```mlir
//! %sum = qd.simt.reduce add %v : f32            %sum = qd.simt.reduce_all add %v : f32
//! %all = qd.simt.broadcast_first %sum : f32  →  %all = qd.simt.broadcast_first %sum : f32
//! ```
//!
//! The two reductions cost the same, and `canonicalize` then drops the
//! broadcast, whose operand is the same in every lane. The lanes in which the
//! result of `reduce` is undefined get a value, which no use can observe.
//!
//! Left unchanged: a reduction within tiles, where lane 0 of the subgroup has the
//! result of its own tile only.

use qd_dialects::{
    builder::Combiner,
    diagnostic::Result,
    ir::{Op, OpExt, Value, ValueExt},
    pass::{NoOptions, Pass},
    pattern::{NoMatch, Pattern, PatternSet, Rewriter, Rewritten},
};

/// The pass.
pub struct BroadcastReduced;

impl Pass for BroadcastReduced {
    type Options = NoOptions;
    const NAME: &'static str = "my-broadcast-reduced";
    const SUMMARY: &'static str = "Reduce to every lane what is broadcast from the first";

    fn run<'c>(op: Op<'c>, _: &NoOptions) -> Result<'c> {
        PatternSet::new().add::<ReduceToEveryLane>().apply(op)
    }
}

/// `reduce` with a `broadcast_first` among its uses → `reduce_all`.
struct ReduceToEveryLane;

impl Pattern for ReduceToEveryLane {
    const ROOT: &'static str = "qd.simt.reduce";

    fn rewrite<'c>(op: Op<'c>, operands: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten {
        let is_broadcast = |value: Value<'c>| {
            let mut users = value.uses().into_iter().map(|(user, _)| user);
            users.any(|user| user.is("qd.simt.broadcast_first"))
        };
        if op.attr("tile").is_some() || !op.result_values().into_iter().any(is_broadcast) {
            return Err(NoMatch);
        }
        // A kind or a region: the combiner goes along as it is.
        let combiner = Combiner::of_simt(op);
        let to_every_lane = combiner.build("qd.simt.reduce_all", rewriter.location(), operands);
        rewriter.replace(&rewriter.insert(to_every_lane).result_values());
        Ok(())
    }
}
