//! `qd-finish-spirv`: functions of the `spirv` dialect as one module.
//!
//! Runs after upstream's conversions. Every body becomes an entry point of the module, with
//! its variables as its interface; floats are not contracted, and the module declares
//! exactly the capabilities that it needs.
//!
//! Errors: an op without a conversion.
//!
//! Before:
//! ```mlir
//! spirv.func @k() "None" attributes {qd.threads = 64 : i64} {
//!   spirv.Return
//! }
//! ```
//! After:
//! ```mlir
//! spirv.module PhysicalStorageBuffer64 Vulkan requires #spirv.vce<v1.6, [Shader, …], []> {
//!   spirv.func @k() "None" {
//!     spirv.Return
//!   }
//!   spirv.EntryPoint "GLCompute" @k
//!   spirv.ExecutionMode @k "LocalSize", 64, 1, 1
//! }
//! ```

use super::{
    capabilities::{ALWAYS, Needed},
    types, zeros,
};
use melior::{
    dialect::DialectHandle,
    ir::{
        Attribute, BlockLike, RegionLike, attribute::ArrayAttribute, operation::OperationBuilder,
    },
};
use qd_dialects::{
    attributes::{self, names},
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{self, InsertionPoint, Op, OpExt, context_of, operations},
    melior,
    pass::{NoOptions, Pass},
};
use std::collections::{BTreeSet, HashMap};

/// The pass.
pub struct FinishSpirv;

impl Pass for FinishSpirv {
    type Options = NoOptions;
    const NAME: &'static str = "qd-finish-spirv";
    const SUMMARY: &'static str = "Combine converted bodies into one SPIR-V module";

    fn dialects() -> Vec<DialectHandle> {
        vec![qd_dialects::spirv_dialect()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let block = module.body().expect("a module's body");
        let all = operations(block);
        for op in &all {
            for op in op.walk_all() {
                if !op.full_name().starts_with("spirv.") {
                    return Err(Diagnostic::at(op, "has no form in SPIR-V"));
                }
                keep_as_written(op);
                if op.is("spirv.mlir.loop") {
                    free_header(op);
                }
                zeros::replace(op);
            }
        }
        let needed = Needed::by(all.iter().flat_map(|op| op.walk_all()));
        let finished = spirv_module(module, &needed);
        let inner = finished.body().expect("just made");
        let at = InsertionPoint::End(inner);
        for op in all.iter().filter(|op| op.is("spirv.GlobalVariable")) {
            op.move_to(at);
        }
        for op in all.iter().filter(|op| !op.is("spirv.GlobalVariable")) {
            op.move_to(at);
        }
        let functions = all.iter().filter(|op| op.is("spirv.func"));
        let functions = functions.map(|op| (symbol_of(*op), *op)).collect();
        for op in all.iter().filter(|op| op.attr(names::THREADS).is_some()) {
            entry_point(*op, at, &needed, &functions);
        }
        module.remove_attr("spirv.target_env");
        Ok(())
    }
}

/// A product and a sum may not become one operation that rounds once.
fn keep_as_written(op: Op<'_>) {
    let is_arithmetic = matches!(
        op.full_name(),
        "spirv.FAdd"
            | "spirv.FSub"
            | "spirv.FMul"
            | "spirv.FDiv"
            | "spirv.FRem"
            | "spirv.FNegate"
            | "spirv.GL.Fma"
            | "spirv.ConvertFToS"
            | "spirv.ConvertFToU"
            | "spirv.ConvertSToF"
            | "spirv.ConvertUToF"
            | "spirv.FConvert"
    );
    if is_arithmetic {
        op.set_attr("no_contraction", attributes::unit(context_of(op)));
    }
}

/// Leaves a loop's header block nothing but a branch, if there is control flow in
/// it, as there is where a `while` computes its condition by a loop: upstream's
/// serializer splits such a block, and then names the wrong part of it where
/// values come from.
fn free_header(op: Op<'_>) {
    let header = op
        .region(0)
        .ok()
        .and_then(|region| region.first_block()?.next_in_region().map(|h| (region, h)));
    let Some((region, header)) = header else {
        return;
    };
    let ops = operations(header.into());
    if ops.iter().all(|op| op.region_count() == 0) {
        return;
    }
    let location = op.location();
    let rest = region.insert_block_after(header, ir::new_block(&[], location));
    for op in ops {
        op.move_to(InsertionPoint::End(rest.into()));
    }
    let branch = OperationBuilder::new("spirv.Branch", location)
        .add_successors(&[&rest])
        .build()
        .expect("a branch");
    InsertionPoint::End(header.into()).insert(branch);
}

fn spirv_module<'c>(module: Op<'c>, needed: &Needed) -> Op<'c> {
    let block = module.body().expect("a module's body");
    let b = &Builder::new(
        context_of(module),
        module.location(),
        InsertionPoint::End(block),
    );
    let mut capabilities: BTreeSet<_> = needed.capabilities.keys().copied().collect();
    capabilities.extend(ALWAYS);
    if !needed.float_bits.is_empty() {
        capabilities.extend(["SignedZeroInfNanPreserve", "RoundingModeRTE"]);
    }
    let capabilities: Vec<_> = capabilities.into_iter().collect();
    let triple = format!("#spirv.vce<v1.6, [{}], []>", capabilities.join(", "));
    let reasons: Vec<_> = needed
        .capabilities
        .iter()
        .map(|(capability, reason)| format!("{capability} = {reason:?}"))
        .collect();
    let region = melior::ir::Region::new();
    region.append_block(ir::new_block(&[], b.location()));
    b.insert(ir::build(
        "spirv.module",
        b.location(),
        &[],
        &[],
        &[
            (
                "addressing_model",
                types::attribute(b, "#spirv.addressing_model<PhysicalStorageBuffer64>"),
            ),
            (
                "memory_model",
                types::attribute(b, "#spirv.memory_model<Vulkan>"),
            ),
            ("vce_triple", types::attribute(b, &triple)),
            (
                names::REASONS,
                types::attribute(b, &format!("{{{}}}", reasons.join(", "))),
            ),
        ],
        vec![region],
    ))
}

fn entry_point<'c>(
    function: Op<'c>,
    at: InsertionPoint<'c>,
    needed: &Needed,
    functions: &HashMap<String, Op<'c>>,
) {
    let b = &Builder::new(context_of(function), function.location(), at);
    let name = symbol_of(function);
    let callee = attributes::symbol(b.context(), &name);
    let interface: Vec<_> = interface(function, functions)
        .iter()
        .map(|variable| attributes::symbol(b.context(), variable))
        .collect();
    b.op(
        "spirv.EntryPoint",
        &[],
        &[],
        &[
            (
                "execution_model",
                types::attribute(b, "#spirv.execution_model<GLCompute>"),
            ),
            ("fn", callee),
            (
                "interface",
                ArrayAttribute::new(b.context(), &interface).into(),
            ),
        ],
    );
    let threads = function.attr(names::THREADS).and_then(attributes::int);
    mode(b, callee, "LocalSize", &[threads.unwrap_or(1) as i32, 1, 1]);
    for bits in &needed.float_bits {
        mode(b, callee, "SignedZeroInfNanPreserve", &[*bits as i32]);
        mode(b, callee, "RoundingModeRTE", &[*bits as i32]);
    }
    function.remove_attr(names::THREADS);
}

fn mode<'c>(b: &Builder<'c>, callee: Attribute<'c>, name: &str, values: &[i32]) {
    let values: Vec<_> = values
        .iter()
        .map(|value| attributes::i32(b.context(), *value))
        .collect();
    b.op(
        "spirv.ExecutionMode",
        &[],
        &[],
        &[
            ("fn", callee),
            (
                "execution_mode",
                types::attribute(b, &format!("#spirv.execution_mode<{name}>")),
            ),
            ("values", ArrayAttribute::new(b.context(), &values).into()),
        ],
    );
}

/// The variables that a function and what it calls refer to.
fn interface<'c>(function: Op<'c>, functions: &HashMap<String, Op<'c>>) -> BTreeSet<String> {
    let (mut variables, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut waiting = vec![function];
    while let Some(function) = waiting.pop() {
        for op in function.nested() {
            let named = |attribute| op.attr(attribute).and_then(attributes::symbol_name);
            if op.is("spirv.mlir.addressof") {
                variables.extend(named("variable"));
            } else if let Some(callee) =
                named("callee").filter(|callee| seen.insert(callee.clone()))
            {
                waiting.extend(functions.get(&callee));
            }
        }
    }
    variables
}

fn symbol_of(op: Op<'_>) -> String {
    op.attr("sym_name")
        .and_then(attributes::text)
        .unwrap_or_default()
}
