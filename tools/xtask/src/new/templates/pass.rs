//! `qd-the-name`: what it does, in one sentence.
//!
//! Why, and what it leaves alone.
//!
//! Before:
//! ```mlir
//! ```
//! After:
//! ```mlir
//! ```

use qd_dialects::{
    diagnostic::Result,
    ir::{Op, Value},
    ops::simt,
    pass::{NoOptions, Pass},
    pattern::{NoMatch, Pattern, PatternSet, Rewriter, Rewritten},
};

/// The pass.
pub struct TheName;

impl Pass for TheName {
    type Options = NoOptions;
    const NAME: &'static str = "qd-the-name";
    const SUMMARY: &'static str = "What it does, in one line";

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        PatternSet::new().add::<Rewrite>().apply(module)
    }
}

/// What it rewrites → into what.
struct Rewrite;

impl Pattern for Rewrite {
    const ROOT: &'static str = simt::BlockSync::NAME;

    fn rewrite<'c>(_: Op<'c>, _: &[Value<'c>], _: &Rewriter<'c>) -> Rewritten {
        Err(NoMatch)
    }
}
