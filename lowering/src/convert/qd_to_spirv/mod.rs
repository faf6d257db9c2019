//! `qd-convert-to-spirv`: outlined bodies for SPIR-V.
//!
//! After `qd-tile`, `qd-expand-collectives` and `qd-expand-math`, and with every
//! function inlined. Each op of ours becomes one or a few of `spirv`, or plain
//! arithmetic, by the table below; so does what upstream's conversions to SPIR-V
//! lack or make something else of than the reference semantics. What is left is
//! theirs.
//!
//! All lanes of a subgroup are there at a collective, which
//! `qd-verify-convergence` has made sure of.
//!
//! Errors: an op that is not in the table; a subgroup size that the target does
//! not have; an op that computes in a type the target does not have.
//!
//! Before:
//! ```mlir
//! %lane = qd.simt.lane_id
//! %other = qd.simt.shuffle xor %v, %c1 : f32
//! ```
//! After:
//! ```mlir
//! spirv.GlobalVariable @__qd_SubgroupLocalInvocationId built_in("SubgroupLocalInvocationId") : !spirv.ptr<i32, Input>
//! ...
//! %p = spirv.mlir.addressof @__qd_SubgroupLocalInvocationId : !spirv.ptr<i32, Input>
//! %lane = spirv.Load "Input" %p : i32
//! %other = spirv.GroupNonUniformShuffleXor <Subgroup> %v, %c1 : f32, i32
//! ```

mod atomics;
mod bits;
mod control;
mod exact;
mod floats;
mod identity;
mod integers;
mod ordered;
mod reduce;
mod shuffle;
mod vote;

pub use atomics::{At, atomic_cas, atomic_load, atomic_rmw, atomic_store};

use crate::targets::Target;
use melior::{
    dialect::DialectHandle,
    ir::{Attribute, Type, ValueLike},
};
use qd_dialects::{
    attributes,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width, is_float, operations},
    melior, options,
    pass::Pass,
};

options! {
    /// Options of `qd-convert-to-spirv`.
    pub struct ConvertToSpirvOptions {
        /// what the code is to run on
        target: String = "vulkan:1.3",
    }
}

/// The pass.
pub struct ConvertToSpirv;

/// What conversions depend on besides the op.
struct Setting {
    target: Target,
    /// Lanes in a subgroup.
    wave: i64,
}

/// What an op becomes at the builder's insertion point: its results.
type Conversion = for<'c> fn(&Builder<'c>, Op<'c>, &Setting) -> Result<'c, Vec<Value<'c>>>;

/// Every op that has a conversion, one line each. Ops on memory have theirs in
/// `memory.rs`, and `qd.simt.grid.dim` is the kernel's.
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
    ("math.rsqrt", floats::rsqrt),
    ("math.trunc", floats::trunc),
    ("arith.addui_extended", integers::addui_extended),
    ("arith.mulsi_extended", integers::mulsi_extended),
    ("arith.mului_extended", integers::mului_extended),
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
    const SUMMARY: &'static str = "Turn outlined bodies into what SPIR-V has";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            qd_dialects::math_dialect(),
            DialectHandle::scf(),
            // Safety: a static handle of the C API.
            unsafe { DialectHandle::from_raw(mlir_sys::mlirGetDialectHandle__spirv__()) },
        ]
    }

    fn run<'c>(module: Op<'c>, options: &ConvertToSpirvOptions) -> Result<'c> {
        let setting = setting(module, options)?;
        let block = module.body().expect("a module's body");
        for op in operations(block) {
            if op.is("qd.grid.kernel") {
                // Kernels have become launch plans by now.
                op.erase();
            }
        }
        for op in operations(block) {
            if op.is("func.func") {
                convert_ops(op, &setting)?;
            }
        }
        Ok(())
    }
}

/// The target, and its subgroup size that the module is for.
fn setting<'c>(module: Op<'c>, options: &ConvertToSpirvOptions) -> Result<'c, Setting> {
    let target =
        Target::parse(&options.target).map_err(|message| Diagnostic::at(module, message))?;
    let Some(wave) = module.attr("qd.wave").and_then(attributes::int) else {
        return Err(Diagnostic::at(
            module,
            "has no 'qd.wave': run qd-tile first",
        ));
    };
    let waves = &target.capabilities.waves;
    if !waves.iter().any(|known| i64::from(*known) == wave) {
        let waves: Vec<_> = waves.iter().map(ToString::to_string).collect();
        return Err(Diagnostic::at(
            module,
            format!(
                "is for subgroups of {wave}, but target '{}' has subgroups of {}",
                target.capabilities.name,
                waves.join(", ")
            ),
        ));
    }
    Ok(Setting { target, wave })
}

/// Converts every op of the table below `root`.
fn convert_ops<'c>(root: Op<'c>, setting: &Setting) -> Result<'c> {
    // Innermost first: what is around an op may go.
    for op in root.nested().into_iter().rev() {
        check_types(op, setting)?;
        let b = Builder::before(op);
        if let Some(results) = converted(&b, op, setting)? {
            op.replace_with(&results);
        } else if op.full_name().starts_with("qd.simt.") && !KEPT.contains(&op.full_name()) {
            return Err(lacks(op, setting));
        } else {
            floats::check(op, setting)?;
        }
    }
    Ok(())
}

/// Ops of ours that are left to what comes after the table.
const KEPT: &[&str] = &["qd.simt.block.shared", "qd.simt.grid.dim"];

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
    let result = match name {
        "arith.cmpf" => floats::compare(b, op),
        _ if name.starts_with("index.") => integers::of_index(b, op),
        _ => integers::of_truth(b, op),
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
    use melior::ir::TypeLike;
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

/// An op that has no conversion: names the op and the target.
fn lacks<'c>(op: Op<'c>, setting: &Setting) -> Diagnostic<'c> {
    let name = &setting.target.capabilities.name;
    let pass = match qd_passes::expand_collectives::is_expandable(op.full_name()) {
        true => "run qd-expand-collectives first",
        false => "it belongs to an earlier level",
    };
    Diagnostic::at(op, format!("is nothing that target '{name}' has: {pass}"))
}

/// An enum of the dialect as an attribute: `#spirv.scope<Subgroup>`.
fn case<'c>(b: &Builder<'c>, name: &str, case: &str) -> Attribute<'c> {
    Attribute::parse(b.context(), &format!("#spirv.{name}<{case}>")).expect("an enum of spirv")
}

/// A type of the dialect, such as `!spirv.ptr<i32, Input>`.
fn parsed_type<'c>(b: &Builder<'c>, text: &str) -> Type<'c> {
    Type::parse(b.context(), text).expect("a type of spirv")
}
