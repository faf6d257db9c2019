//! `qd-name-bodies`: names each outlined body after its phase and what it does.
//!
//! The name is the phase's and 12 digits of a hash of the body, its attributes and the subgroup
//! size. Locations, the kernel's name and the rest of the module do not affect it, so that the same
//! body has the same name wherever it is compiled. Bodies of one module with the same name are the
//! same: one stays. A body of no phase keeps its name before the digits. The hash includes the
//! functions that a body calls.
//!
//! Before:
//! ```mlir
//! func.func private @k_a_0(%x: memref<?xi32>) attributes {qd.threads = 256 : i64} { ... }
//! func.func private @l_a_0(%x: memref<?xi32>) attributes {qd.threads = 256 : i64} { ... }
//! qd.grid.launch 0 @k_a_0 blocks(%g) args(%p : memref<?xi32>) {qd.phase = "a"}
//! qd.grid.launch 0 @l_a_0 blocks(%g) args(%q : memref<?xi32>) {qd.phase = "a"}
//! ```
//! After:
//! ```mlir
//! func.func private @a_0c4f1e9b62d7(%x: memref<?xi32>) attributes {qd.threads = 256 : i64} { ... }
//! qd.grid.launch 0 @a_0c4f1e9b62d7 blocks(%g) args(%p : memref<?xi32>) {qd.phase = "a"}
//! qd.grid.launch 0 @a_0c4f1e9b62d7 blocks(%g) args(%q : memref<?xi32>) {qd.phase = "a"}
//! ```

mod description;

use crate::{outline_phases::plain, share_bodies::launches_by_body};
use description::Description;
use qd_dialects::{
    attributes::{self, names},
    diagnostic::Result,
    ir::{Op, OpExt, context_of, operations},
    pass::{NoOptions, Pass},
};
use std::collections::HashMap;

/// Hexadecimal digits of the hash in a name, unless another body has the same ones.
const DIGITS: usize = 12;

/// The pass.
pub struct NameBodies;

impl Pass for NameBodies {
    type Options = NoOptions;
    const NAME: &'static str = "qd-name-bodies";
    const SUMMARY: &'static str = "Name each outlined body after what it does";

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let Some(block) = module.body() else {
            return Ok(());
        };
        let (bodies, others): (Vec<Op>, Vec<Op>) = operations(block)
            .into_iter()
            .filter(|op| op.is("func.func"))
            .partition(|op| op.attr(names::THREADS).is_some());
        let mut around = Description::default();
        for called in others {
            around.op(called);
        }
        let launches = launches_by_body(module);
        let mut named = HashMap::new();
        for body in bodies {
            let Some(symbol) = body.attr("sym_name").and_then(attributes::text) else {
                continue;
            };
            let launches = launches.get(&symbol).map_or(&[][..], Vec::as_slice);
            let (stem, hash) = describe(body, &symbol, launches, around.clone());
            let mut name = format!("{stem}_{}", &hash[..DIGITS]);
            if named.get(&name).is_some_and(|other| *other != hash) {
                name = format!("{stem}_{hash}");
            }
            body.set_attr("sym_name", attributes::string(context_of(body), &name));
            for launch in launches {
                launch.set_attr("body", attributes::symbol(context_of(body), &name));
                if launch.attr(names::PHASE).is_none() {
                    launch.set_attr(names::PHASE, attributes::string(context_of(body), &symbol));
                }
            }
            if named.insert(name, hash).is_some() {
                body.erase();
            }
        }
        Ok(())
    }
}

/// A hash of an op, its attributes and all that is in it, wherever it is: the same in every process.
pub fn hash(op: Op<'_>) -> String {
    let mut description = Description::default();
    description.op(op);
    description.hash().to_hex().to_string()
}

/// The beginning of the name of a body with these launches, and a hash of the body.
fn describe<'c>(
    body: Op<'c>,
    symbol: &str,
    launches: &[Op<'c>],
    mut description: Description,
) -> (String, String) {
    let phase = launches
        .first()
        .and_then(|launch| launch.attr(names::PHASE));
    let phase = phase.and_then(attributes::text);
    let stem = phase.map_or_else(|| symbol.into(), |phase| plain(&phase));
    body.set_attr("sym_name", attributes::string(context_of(body), &stem));
    description.op(body);
    let hash = description.hash().to_hex().to_string();
    (stem, hash)
}
