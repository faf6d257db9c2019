//! The cpu backend.

use super::{
    CompileError, Setting,
    backend::{Backend, Output, lacks},
    llvm::{self, failed},
};
use crate::{machine::spelled, targets::Capabilities};
use inkwell::{
    OptimizationLevel,
    targets::{InitializationConfig, Target},
    values::FunctionValue,
};
use qd_artifact::{Format, Host, Machine, Origins, Requirements, machine};
use qd_dialects::ir::Op;

/// See the module.
pub const HOST: Backend = Backend {
    conversion,
    dynamic_shared_bytes: |_, _| Ok(0),
    requirements: |_, setting| (requirements(&setting.options.host), Origins::default()),
    emit,
    // What the runtime links.
    format: Format::Object,
    code: |parts, setting| {
        let host = spelled(&setting.options.host);
        let machine = compiled_for(&host)?;
        llvm::emit_each(&[(parts, &machine)], llvm::Output::Object, IS_ENTRY)
    },
};

/// Functions that a body calls are already named after it.
const IS_ENTRY: fn(FunctionValue<'_>) -> bool = |_| true;

/// From bodies at the subgroup level to the LLVM dialect. Functions of `math` become LLVM's
/// intrinsics where there is one, and library calls otherwise; one conversion does the rest.
/// Nothing is rolled back, since any failure ends the compilation.
const PIPELINE: &str = "qd-convert-to-cpu,any(qd-clean),qd-hoist-invariants,\
     convert-scf-to-cf{allow-pattern-rollback=0},arith-expand,any(qd-expand-metadata),lower-affine,\
     convert-math-to-llvm,convert-math-to-libm,convert-to-llvm{allow-pattern-rollback=0},\
     reconcile-unrealized-casts,qd-bools-as-bytes,qd-verify-llvm";

fn conversion(_: &Capabilities) -> String {
    PIPELINE.into()
}

/// The processor, and what it can do.
fn requirements(host: &Host) -> Requirements {
    let machine = spelled(host);
    let features = machine.features.iter();
    let features = features.filter_map(|feature| Some(feature.strip_prefix('+')?.to_string()));
    Requirements {
        device: machine.cpu.clone(),
        features: match host {
            // By what runtimes ask, who do not ask LLVM.
            Host::Here => machine::features().to_vec(),
            Host::Named(_) => features.collect(),
        },
    }
}

fn emit(parts: &[Op<'_>], setting: &Setting<'_>, output: Output) -> Result<Vec<u8>, CompileError> {
    let Output::Llvm(output) = output else {
        return Err(lacks(
            setting,
            "SPIR-V",
            "its bodies are LLVM IR (--emit=llvm-ir) and machine code (--emit=asm)",
        ));
    };
    let host = spelled(&setting.options.host);
    let machine = compiled_for(&host)?;
    llvm::emit_linked(parts, &machine, output, IS_ENTRY)
}

/// What LLVM compiles for.
fn compiled_for(host: &Machine) -> Result<llvm::Machine<'_>, CompileError> {
    Target::initialize_native(&InitializationConfig::default())
        .map_err(|e| failed("no native target", &e))?;
    Ok(llvm::Machine {
        triple: host.triple.clone(),
        cpu: &host.cpu,
        features: host.features.join(","),
        passes: "default<O3>".into(),
        skipped: "",
        level: OptimizationLevel::Aggressive,
        // The time of register allocation grows with the cube of the depth.
        deep_level: OptimizationLevel::None,
        vectorize: true,
        has_libraries: true,
    })
}
