//! `qd-convert-to-spirv`: outlined bodies as functions of the `spirv` dialect.
//!
//! After `qd-tile` and `qd-expand-collectives`. Each outlined body becomes a
//! function without arguments (`kernel.rs`, and `docs/rationale/vulkan.md`, have
//! what it is passed instead), and every op of ours in it one or a few of
//! `spirv` and `arith`, by the table below. Memrefs become pointers
//! (`memory.rs`), and `index` an integer (`index.rs`). What is left is upstream's
//! to convert; `qd-finish-spirv` makes a module of the result.
//!
//! All lanes of a subgroup are there at a collective, which
//! `qd-verify-convergence` has made sure of.
//!
//! Errors: an op that is not in the table; a subgroup of a size that the target
//! has not; more shared memory than it has; memory that a branch chooses.
//!
//! Before:
//! ```mlir
//! func.func private @k(%a: memref<?xf32>) attributes {qd.threads = 64 : i64} {
//!   %i = qd.simt.block.thread_id
//!   %x = memref.load %a[%i] : memref<?xf32>
//!   memref.store %x, %a[%i] : memref<?xf32>
//!   return
//! }
//! ```
//! After (pointer types left out):
//! ```mlir
//! func.func @k() attributes {qd.threads = 64 : i64} {
//!   %words = spirv.Load "PushConstant" …
//!   %a = spirv.Load "PhysicalStorageBuffer" … ["Aligned", 8]
//!   …
//!   %at = spirv.AccessChain %a[%zero, %i] : …
//!   %x = spirv.Load "PhysicalStorageBuffer" %at ["Aligned|NonPrivatePointer", 4] : f32
//!   spirv.Store "PhysicalStorageBuffer" %at, %x ["Aligned|NonPrivatePointer", 4] : f32
//!   return
//! }
//! ```

mod capabilities;
mod finish;
mod index;
mod kernel;
mod memory;
mod types;

pub use finish::{FinishSpirv, REASONS};

use crate::targets::{Kind, Target, vulkan::Environment};
use melior::{dialect::DialectHandle, ir::Attribute};
use qd_dialects::{
    attributes,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, context_of, operations},
    melior, options,
    pass::Pass,
};

options! {
    /// Options of `qd-convert-to-spirv`.
    pub struct ConvertToSpirvOptions {
        /// what the bodies are to run on, such as vulkan:1.3 or metal
        target: String = "vulkan:1.3",
    }
}

/// The pass.
pub struct ConvertToSpirv;

/// What an op becomes at the builder's insertion point: its results.
type Conversion = for<'c> fn(&Builder<'c>, Op<'c>) -> Result<'c, Vec<Value<'c>>>;

/// Every op that has a conversion, one line each. `qd.simt.grid.dim` and
/// `qd.simt.block.shared` are made with the entry point, memory is `memory.rs`'s.
const CONVERSIONS: &[(&str, Conversion)] = &[];

impl Pass for ConvertToSpirv {
    type Options = ConvertToSpirvOptions;
    const NAME: &'static str = "qd-convert-to-spirv";
    const SUMMARY: &'static str = "Turn outlined bodies into SPIR-V functions";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::func(),
            DialectHandle::memref(),
            DialectHandle::scf(),
            // Safety: a static handle of the C API.
            unsafe { DialectHandle::from_raw(mlir_sys::mlirGetDialectHandle__spirv__()) },
        ]
    }

    fn run<'c>(module: Op<'c>, options: &ConvertToSpirvOptions) -> Result<'c> {
        let target =
            Target::parse(&options.target).map_err(|message| Diagnostic::at(module, message))?;
        let Kind::Spirv(environment) = target.capabilities.kind else {
            let name = &target.capabilities.name;
            return Err(Diagnostic::at(
                module,
                format!("cannot be SPIR-V for target '{name}'"),
            ));
        };
        check_wave(module, &target)?;
        module.set_attr("spirv.target_env", target_environment(module, environment));
        let block = module.body().expect("a module's body");
        for op in operations(block) {
            if op.is("qd.grid.kernel") {
                // Kernels have become launch plans by now.
                op.erase();
            }
        }
        for op in operations(block) {
            let mut function = op;
            convert_ops(function, &target)?;
            if op.is("func.func") && op.attr("qd.threads").is_some() {
                function = kernel::convert(op, &target, environment.index_bits)?;
            }
            index::convert(function, environment.index_bits);
        }
        Ok(())
    }
}

fn check_wave<'c>(module: Op<'c>, target: &Target) -> Result<'c> {
    let capabilities = &target.capabilities;
    match module.attr("qd.wave").and_then(attributes::int) {
        Some(wave) if capabilities.waves.iter().any(|w| i64::from(*w) == wave) => Ok(()),
        Some(wave) => Err(Diagnostic::at(
            module,
            format!(
                "is for subgroups of {wave}, which target '{}' does not have",
                capabilities.name
            ),
        )),
        None => Err(Diagnostic::at(
            module,
            "has no 'qd.wave': run qd-tile first",
        )),
    }
}

/// What upstream's conversions may use: without it they take 64-bit numbers for
/// something to be emulated.
fn target_environment<'c>(module: Op<'c>, environment: &Environment) -> Attribute<'c> {
    let mut all: Vec<_> = capabilities::ALWAYS.to_vec();
    all.extend(capabilities::of_subgroups());
    all.extend(environment.capabilities);
    let text = format!(
        "#spirv.target_env<#spirv.vce<v1.6, [{}], []>, api=Vulkan, #spirv.resource_limits<>>",
        all.join(", ")
    );
    Attribute::parse(context_of(module), &text).expect("the spirv dialect")
}

/// Converts every op of ours below `root`.
fn convert_ops<'c>(root: Op<'c>, target: &Target) -> Result<'c> {
    for op in root.nested() {
        let name = op.full_name();
        let conversion = CONVERSIONS.iter().find(|(known, _)| *known == name);
        if let Some((_, conversion)) = conversion {
            let results = conversion(&Builder::before(op), op)?;
            op.replace_with(&results);
        } else if name.starts_with("qd.") && !is_later(name) {
            return Err(lacks(op, target));
        }
    }
    Ok(())
}

/// Whether an op is converted with the entry point or with memory.
fn is_later(name: &str) -> bool {
    matches!(
        name,
        "qd.simt.grid.dim" | "qd.simt.block.shared" | "qd.grid.view"
    ) || name.starts_with("qd.grid.atomic.")
}

/// An op that has no conversion: names the op and the target.
fn lacks<'c>(op: Op<'c>, target: &Target) -> Diagnostic<'c> {
    let name = &target.capabilities.name;
    let pass = match qd_passes::expand_collectives::is_expandable(op.full_name()) {
        true => "run qd-expand-collectives first",
        false => "it belongs to an earlier level",
    };
    Diagnostic::at(op, format!("is nothing that target '{name}' has: {pass}"))
}
