//! `qd-convert-to-spirv`: outlined bodies as functions of the `spirv` dialect.
//!
//! Runs after `qd-select-subgroup-size`, `qd-expand-collectives` and `qd-expand-math`. Each
//! outlined body becomes a function without arguments (`kernel.rs`, and
//! `docs/rationale/vulkan.md`, describe its kernel arguments), and every op of ours in it one
//! or a few of `spirv` and `arith`, by the table below. So do ops that upstream's conversions
//! lack, or convert with other semantics than the reference. Memrefs become pointers
//! (`memory.rs`), and `index` an integer (`index.rs`). Upstream's conversions handle the rest;
//! `qd-finish-spirv` makes a module of the result.
//!
//! All lanes of a subgroup reach a collective, which `qd-verify-convergence` has checked.
//!
//! Errors: an op that is not in the table; a subgroup size, a type or an amount of shared
//! memory that the target does not have; memory that a branch chooses.
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
mod forms;
mod index;
mod integers;
mod kernel;
mod memory;
mod ordered;
mod reduce;
mod shuffle;
mod thread_ids;
mod types;
mod vote;
mod zeros;

pub use finish::FinishSpirv;

use crate::{
    convert,
    targets::{Kind, Target, isa::Form, vulkan::Environment},
};
use melior::{
    dialect::DialectHandle,
    ir::{Attribute, Type, TypeLike, ValueLike},
};
use qd_dialects::{
    attributes::names,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width, context_of, is_float, operations},
    melior,
    ops::{grid, simt},
    options,
    pass::Pass,
};

options! {
    /// Options of `qd-convert-to-spirv`.
    pub struct ConvertToSpirvOptions {
        /// the target that the bodies are for, such as vulkan:1.3 or metal
        target: String = "vulkan:1.3",
    }
}

/// The pass.
pub struct ConvertToSpirv;

/// The parameters of conversions besides the op.
struct Setting<'t> {
    target: &'t Target,
    /// Lanes in a subgroup.
    wave: i64,
}

/// The conversion of an op, at the builder's insertion point; yields its results.
type Conversion = for<'c> fn(&Builder<'c>, Op<'c>, &Setting<'_>) -> Result<'c, Vec<Value<'c>>>;

/// The conversions of ops that every target has, one line each. `qd.simt.grid.dim` and
/// `qd.simt.block.shared` are made with the entry point, memory in `memory.rs`, and ops that not
/// every target has in `forms.rs`.
const CONVERSIONS: &[(&str, Conversion)] = &[
    (simt::LaneId::NAME, thread_ids::lane_id),
    (simt::SubgroupId::NAME, thread_ids::subgroup_id),
    (simt::BlockId::NAME, thread_ids::block_id),
    (simt::BlockDim::NAME, thread_ids::block_dim),
    (simt::NumSubgroups::NAME, thread_ids::num_subgroups),
    (simt::BlockThreadId::NAME, thread_ids::thread_id),
    (simt::Sync::NAME, ordered::subgroup_sync),
    (simt::MemFence::NAME, ordered::subgroup_fence),
    (simt::BlockSync::NAME, ordered::block_sync),
    (simt::BlockMemFence::NAME, ordered::block_fence),
    (grid::MemFence::NAME, ordered::device_fence),
    (simt::Pause::NAME, control::nothing),
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
    ("ub.poison", control::poison),
];

/// What SPIR-V has for devices of an environment.
pub fn forms(environment: &Environment) -> impl Iterator<Item = &'static Form> {
    let all = forms::FORMS.iter().map(|(form, _)| form);
    let all = all.chain(forms::FUNCTIONS);
    all.filter(|form| form.is_among(environment.capabilities))
}

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
        module.set_attr("spirv.target_env", target_environment(module, environment));
        convert::erase_kernels(module);
        let block = module.body().expect("a module's body");
        for op in operations(block) {
            let is_body = op.is("func.func") && op.attr(names::THREADS).is_some();
            let setting = Setting {
                wave: match is_body {
                    true => convert::subgroup_size(op, &target)?,
                    // A function that no body calls any more holds nothing of a subgroup's.
                    false => i64::from(target.capabilities.waves[0]),
                },
                target: &target,
            };
            let mut function = op;
            if is_body {
                convert::check_arguments(op)?;
            }
            convert_ops(function, &setting)?;
            if is_body {
                function = kernel::convert(op, &target, environment.index_bits)?;
            }
            index::convert(function, environment.index_bits);
            integers::minima(function);
            integers::lowest_bits(function);
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
        control::carry_words(op);
        if op.is("scf.for") {
            control::yield_without_a_round(op);
        }
        let b = Builder::before(op);
        if let Some(results) = converted(&b, op, setting)? {
            op.replace_with(&results);
        } else if !is_later(op.full_name()) {
            convert::check(op, setting.wave, setting.target)?;
        }
    }
    Ok(())
}

/// The replacement of an op, unless it is left as it is.
fn converted<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    setting: &Setting,
) -> Result<'c, Option<Vec<Value<'c>>>> {
    let name = op.full_name();
    let capabilities = &setting.target.capabilities;
    if let Some(conversion) = capabilities.find(forms::FORMS, op, setting.wave) {
        return conversion(b, op, setting).map(Some);
    }
    if let Some((_, conversion)) = CONVERSIONS.iter().find(|(known, _)| *known == name) {
        return conversion(b, op, setting).map(Some);
    }
    let result = match name.starts_with("index.") {
        true => integers::of_index(b, op),
        false => denormals::exact(b, op).or_else(|| integers::of_truth(b, op)),
    };
    Ok(result.map(|result| vec![result.value()]))
}

/// An error if an op computes in a type that the target does not have, or is an atomic of such a one.
fn check_types<'c>(op: Op<'c>, setting: &Setting) -> Result<'c> {
    if let Kind::Spirv(environment) = setting.target.capabilities.kind
        && !environment
            .capabilities
            .contains(&capabilities::LONG_ATOMICS)
        && is_long_atomic(op)
    {
        let target = environment.name;
        let message = format!("is an atomic of 64 bits, which target '{target}' does not have");
        return Err(Diagnostic::at(op, message));
    }
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

/// Whether an op is an atomic on an element of 64 bits.
fn is_long_atomic(op: Op<'_>) -> bool {
    atomics::memory(op).is_some_and(|memref| atomics::bits(memref) == 64)
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
        (false, width) => !r#type.is_integer() || matches!(width, 1 | 8 | 16 | 32 | 64),
    }
}

/// Whether an op is converted with the entry point or with memory.
fn is_later(name: &str) -> bool {
    matches!(
        name,
        simt::GridDim::NAME
            | simt::BlockShared::NAME
            | grid::View::NAME
            | grid::AtomicLoad::NAME
            | grid::AtomicStore::NAME
            | grid::AtomicRmw::NAME
            | grid::AtomicExchange::NAME
            | grid::AtomicCas::NAME
    )
}
