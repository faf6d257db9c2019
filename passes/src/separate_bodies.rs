//! `qd-separate-bodies`: puts each outlined body into a module of its own, for parallel code
//! generation.
//!
//! Passes on a module, and LLVM, then run on several bodies in parallel. Kernels are removed, as
//! their plans have been read. If bodies may share other ops, all of them stay in one module.
//!
//! Before:
//! ```mlir
//! module {
//!   func.func private @f() attributes {qd.threads = 256 : i64} { ... }
//!   func.func private @g() attributes {qd.threads = 256 : i64} { ... }
//!   qd.grid.kernel @k() { ... }
//! }
//! ```
//! After:
//! ```mlir
//! module {
//!   module {
//!     func.func @f() attributes {qd.threads = 256 : i64} { ... }
//!   }
//!   module {
//!     func.func @g() attributes {qd.threads = 256 : i64} { ... }
//!   }
//! }
//! ```

use qd_dialects::{
    attributes::names,
    diagnostic::Result,
    ir::{self, InsertionPoint, Op, OpExt, operations},
    melior::ir::RegionLike,
    ops::grid,
    pass::{NoOptions, Pass},
};

/// The pass.
pub struct SeparateBodies;

impl Pass for SeparateBodies {
    type Options = NoOptions;
    const NAME: &'static str = "qd-separate-bodies";
    const SUMMARY: &'static str = "Split the module into one for each outlined body";

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let block = module.body().expect("a module's body");
        let all = operations(block).into_iter();
        let (kernels, rest): (Vec<Op>, Vec<Op>) = all.partition(|op| op.is(grid::Kernel::NAME));
        kernels.into_iter().for_each(|op| op.erase());
        let is_body = |op: &Op| op.is("func.func") && op.attr(names::THREADS).is_some();
        if !rest.iter().all(is_body) {
            gather(module, &rest);
            return Ok(());
        }
        for body in rest {
            gather(module, &[body]);
            // Nothing here launches it, and private functions without uses are removed.
            body.remove_attr("sym_visibility");
        }
        Ok(())
    }
}

/// Moves operations into a module where the first of them is, with the attributes of the module
/// around it.
fn gather<'c>(module: Op<'c>, ops: &[Op<'c>]) {
    let Some(first) = ops.first() else {
        return;
    };
    let region = qd_dialects::melior::ir::Region::new();
    region.append_block(ir::new_block(&[], first.location()));
    let made = InsertionPoint::Before(*first).insert(ir::build(
        "builtin.module",
        first.location(),
        &[],
        &[],
        &[],
        vec![region],
    ));
    for (name, value) in module.attributes() {
        if let Ok(name) = name.as_string_ref().as_str()
            && name != "sym_name"
        {
            made.set_attr(name, value);
        }
    }
    let end = InsertionPoint::End(made.body().expect("just made"));
    ops.iter().for_each(|op| op.move_to(end));
}
