//! `qd-convert-to-spirv`: outlined bodies as functions of the `spirv` dialect.
//!
//! After `qd-select-subgroup-size`, `qd-expand-collectives` and `qd-expand-math`. Each outlined
//! body becomes a function without arguments (`kernel.rs`, and `docs/rationale/vulkan.md`, have
//! what it is passed instead), and every op of ours in it one or a few of
//! `spirv` and `arith`, by the table below; so does what upstream's conversions
//! lack or make something else of than the reference semantics. Memrefs become
//! pointers (`memory.rs`), and `index` an integer (`index.rs`). What is left is upstream's
//! to convert; `qd-finish-spirv` makes a module of the result.
//!
//! All lanes of a subgroup are there at a collective, which
//! `qd-verify-convergence` has made sure of.
//!
//! Errors: an op that is not in the table; a subgroup of a size that the target
//! has not; a type that it has not; more shared memory than it has; memory that a
//! branch chooses.
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

mod atomics;
mod bits;
mod capabilities;
mod control;
mod denormals;
mod exact;
mod finish;
mod floats;
mod identity;
mod index;
mod integers;
mod kernel;
mod memory;
mod ordered;
mod reduce;
mod shuffle;
mod types;
mod vote;
mod zeros;

pub use finish::{FinishSpirv, REASONS};

use crate::{
    convert,
    targets::{Kind, Target, vulkan::Environment},
};
use melior::{
    dialect::DialectHandle,
    ir::{Attribute, Type, TypeLike, ValueLike},
};
use qd_dialects::{
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width, context_of, is_float, operations},
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

/// What conversions depend on besides the op.
struct Setting<'t> {
    target: &'t Target,
    /// Lanes in a subgroup.
    wave: i64,
}

/// What an op becomes at the builder's insertion point: its results.
type Conversion = for<'c> fn(&Builder<'c>, Op<'c>, &Setting<'_>) -> Result<'c, Vec<Value<'c>>>;

/// Every op that has a conversion, one line each. `qd.simt.grid.dim` and
/// `qd.simt.block.shared` are made with the entry point, memory is `memory.rs`'s.
const CONVERSIONS: &[(&str, Conversion)] = &[
    ("qd.simt.lane_id", identity::lane_id),
    ("qd.simt.subgroup_id", identity::subgroup_id),
    ("qd.simt.block.id", identity::block_id),
    ("qd.simt.block.dim", identity::block_dim),
    ("qd.simt.num_subgroups", identity::num_subgroups),
    ("qd.simt.block.thread_id", identity::thread_id),
    ("qd.simt.elect", identity::elect),
    ("qd.simt.shuffle", shuffle::shuffle),
    ("qd.simt.broadcast", shuffle::broadcast),
    ("qd.simt.broadcast_first", shuffle::broadcast_first),
    ("qd.simt.all", vote::all),
    ("qd.simt.any", vote::any),
    ("qd.simt.ballot", vote::ballot),
    ("qd.simt.reduce", reduce::reduce),
    ("qd.simt.reduce_all", reduce::reduce),
    ("qd.simt.inclusive_scan", reduce::inclusive_scan),
    ("qd.simt.exclusive_scan", reduce::exclusive_scan),
    ("qd.simt.sync", ordered::subgroup_sync),
    ("qd.simt.mem_fence", ordered::subgroup_fence),
    ("qd.simt.block.sync", ordered::block_sync),
    ("qd.simt.block.mem_fence", ordered::block_fence),
    ("qd.grid.mem_fence", ordered::device_fence),
    ("qd.simt.pause", control::nothing),
    ("memref.prefetch", control::nothing),
    ("math.absi", integers::absi),
    ("math.ctlz", bits::ctlz),
    ("math.ctpop", bits::ctpop),
    ("math.cttz", bits::cttz),
    ("math.ipowi", integers::ipowi),
    ("math.clampf", floats::clampf),
    ("math.fma", exact::fma),
    ("math.isfinite", floats::isfinite),
    ("math.isinf", floats::isinf),
    ("math.isnan", floats::isnan),
    ("math.isnormal", floats::isnormal),
    ("math.roundeven", floats::roundeven),
    ("math.rsqrt", floats::rsqrt),
    ("math.trunc", floats::trunc),
    ("arith.addui_extended", integers::addui_extended),
    ("arith.mulsi_extended", integers::mulsi_extended),
    ("arith.mului_extended", integers::mului_extended),
    ("arith.remsi", integers::remsi),
    ("arith.maximumf", floats::maximumf),
    ("arith.maxnumf", floats::maxnumf),
    ("arith.minimumf", floats::minimumf),
    ("arith.minnumf", floats::minnumf),
    ("scf.execute_region", control::execute_region),
    ("scf.index_switch", control::index_switch),
    ("cf.assert", control::assert),
    ("ub.poison", control::poison),
];

impl Pass for ConvertToSpirv {
    type Options = ConvertToSpirvOptions;
    const NAME: &'static str = "qd-convert-to-spirv";
    const SUMMARY: &'static str = "Turn outlined bodies into SPIR-V functions";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::func(),
            qd_dialects::math_dialect(),
            DialectHandle::memref(),
            DialectHandle::scf(),
            qd_dialects::spirv_dialect(),
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
        let setting = Setting {
            wave: convert::subgroup_size(module, &target)?,
            target: &target,
        };
        module.set_attr("spirv.target_env", target_environment(module, environment));
        convert::erase_kernels(module);
        let block = module.body().expect("a module's body");
        for op in operations(block) {
            let mut function = op;
            convert_ops(function, &setting)?;
            if op.is("func.func") && op.attr("qd.threads").is_some() {
                function = kernel::convert(op, &target, environment.index_bits)?;
            }
            index::convert(function, environment.index_bits);
            integers::minima(function);
        }
        Ok(())
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

/// Converts every op of the table below `root`.
fn convert_ops<'c>(root: Op<'c>, setting: &Setting) -> Result<'c> {
    // Innermost first: what is around an op may go.
    for op in root.nested().into_iter().rev() {
        check_types(op, setting)?;
        if op.is("scf.for") {
            control::yield_without_a_round(op);
        }
        let b = Builder::before(op);
        if let Some(results) = converted(&b, op, setting)? {
            op.replace_with(&results);
        } else if op.full_name().starts_with("qd.") && !is_later(op.full_name()) {
            return Err(convert::lacks(op, setting.target));
        } else {
            floats::check(op, setting)?;
        }
    }
    Ok(())
}

/// What an op becomes, unless it is left as it is.
fn converted<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Option<Vec<Value<'c>>>> {
    let name = op.full_name();
    if let Some((_, conversion)) = CONVERSIONS.iter().find(|(known, _)| *known == name) {
        return conversion(b, op, setting).map(Some);
    }
    let result = match name.starts_with("index.") {
        true => integers::of_index(b, op),
        false => denormals::exact(b, op).or_else(|| integers::of_truth(b, op)),
    };
    Ok(result.map(|result| vec![result.value()]))
}

/// An error if an op computes in a type that the target does not have.
fn check_types<'c>(op: Op<'c>, setting: &Setting) -> Result<'c> {
    let values = op.result_values().into_iter().chain(op.operand_values());
    for value in values {
        let r#type = value.r#type();
        if !is_there(r#type, setting) {
            let target = &setting.target.capabilities.name;
            return Err(Diagnostic::at(
                op,
                format!("computes in {type}, which target '{target}' does not have"),
            ));
        }
    }
    Ok(())
}

/// Whether the target has a type; others than integers and floats are looked at
/// elsewhere.
fn is_there(r#type: Type<'_>, setting: &Setting) -> bool {
    let capabilities = &setting.target.capabilities;
    match (is_float(r#type), bit_width(r#type)) {
        (true, 64) => capabilities.has_f64,
        (true, 32) => true,
        (true, 16) => r#type.to_string() == "f16",
        (true, _) => false,
        (false, 64) => capabilities.has_i64 || !r#type.is_integer(),
        (false, width) => !r#type.is_integer() || matches!(width, 1 | 8 | 16 | 32),
    }
}

/// Whether an op is converted with the entry point or with memory.
fn is_later(name: &str) -> bool {
    matches!(
        name,
        "qd.simt.grid.dim" | "qd.simt.block.shared" | "qd.grid.view"
    ) || name.starts_with("qd.grid.atomic.")
}
