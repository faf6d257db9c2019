//! Bodies for the machine at hand.

use super::{
    CompileError,
    backend::{Backend, Output, lacks},
    llvm::{self, Machine, failed},
};
use crate::targets::Capabilities;
use inkwell::{
    OptimizationLevel,
    targets::{InitializationConfig, Target, TargetMachine},
};
use melior::ir::Module;
use qd_artifact::{Format, Requirements};
use qd_dialects::melior;

/// See the module.
pub const HOST: Backend = Backend {
    conversion,
    // One object.
    is_apart: false,
    requirements: |_| requirements(),
    emit,
    // What the runtime links.
    format: Format::Object,
    code: |module, capabilities| emit(module, capabilities, Output::Llvm(llvm::Output::Object)),
};

/// From tiled bodies to the LLVM dialect. Functions of `math` are LLVM's intrinsics where there is
/// one, and else the library's; all the rest is one conversion. Nothing is rolled back, for a failure
/// ends it all.
const PIPELINE: &str = "qd-convert-to-cpu,any(qd-clean),qd-hoist-invariants,\
     convert-scf-to-cf{allow-pattern-rollback=0},arith-expand,any(qd-expand-metadata),lower-affine,\
     convert-math-to-llvm,convert-math-to-libm,convert-to-llvm{allow-pattern-rollback=0},\
     reconcile-unrealized-casts,qd-verify-llvm";

fn conversion(_: &Capabilities) -> String {
    PIPELINE.into()
}

/// The processor at hand, and what it can do.
fn requirements() -> Requirements {
    let features = TargetMachine::get_host_cpu_features();
    let mut features: Vec<String> = features
        .to_string_lossy()
        .split(',')
        .filter_map(|feature| Some(feature.strip_prefix('+')?.to_string()))
        .collect();
    features.sort();
    Requirements {
        device: TargetMachine::get_host_cpu_name()
            .to_string_lossy()
            .into_owned(),
        features,
        ..Requirements::default()
    }
}

fn emit(
    module: &Module<'_>,
    capabilities: &Capabilities,
    output: Output,
) -> Result<Vec<u8>, CompileError> {
    let Output::Llvm(output) = output else {
        return Err(lacks(
            capabilities,
            "SPIR-V",
            "its bodies are LLVM IR (--emit=llvm-ir) and machine code (--emit=asm)",
        ));
    };
    Target::initialize_native(&InitializationConfig::default())
        .map_err(|e| failed("no native target", &e))?;
    let (cpu, features) = (
        TargetMachine::get_host_cpu_name(),
        TargetMachine::get_host_cpu_features(),
    );
    let machine = Machine {
        triple: TargetMachine::get_default_triple()
            .as_str()
            .to_string_lossy()
            .into_owned(),
        cpu: &cpu.to_string_lossy(),
        features: &features.to_string_lossy(),
        passes: "default<O3>",
        skipped: "",
        level: OptimizationLevel::Aggressive,
        // Registers are given out in a time that grows with the cube of the depth.
        deep_level: OptimizationLevel::None,
        vectorize: true,
        has_libraries: true,
    };
    llvm::emit(super::handle(module), &machine, output)
}
