//! Bodies through LLVM, for the machine at hand.

use super::CompileError;
use crate::targets::Target as QdTarget;
use inkwell::{
    OptimizationLevel,
    context::Context,
    module::Module as LlvmModule,
    passes::PassBuilderOptions,
    targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine},
};
use melior::ir::Module;
use qd_artifact::Requirements;
use qd_dialects::melior;

/// From tiled bodies to the LLVM dialect.
pub const PIPELINE: &str = "qd-convert-to-cpu,canonicalize,cse,loop-invariant-code-motion,\
     convert-scf-to-cf,arith-expand,expand-strided-metadata,lower-affine,\
     convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,finalize-memref-to-llvm,\
     convert-index-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts,\
     canonicalize,cse";

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A relocatable object.
    Object,
    /// Optimised IR as text.
    LlvmIr,
    /// Assembly.
    Assembly,
}

/// What the emitted code needs: the machine at hand.
pub fn requirements() -> Requirements {
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
    }
}

/// Optimises and emits a module in the LLVM dialect.
pub fn emit(module: &Module<'_>, _: &QdTarget, output: Output) -> Result<Vec<u8>, CompileError> {
    let _span = tracing::info_span!("llvm").entered();
    let failed =
        |what: &str, why: &dyn std::fmt::Display| CompileError::Llvm(format!("{what}: {why}"));
    // The reference points into this handle, so it must not be a temporary.
    let mlir = module.context();
    // Safety: the context outlives the module.
    melior::utility::register_all_llvm_translations(unsafe { mlir.to_ref() });
    let context = Context::create();
    let raw = {
        let _span = tracing::info_span!("translate").entered();
        // Safety: both contexts live; the result is owned below.
        unsafe {
            mlir_sys::mlirTranslateModuleToLLVMIR(
                module.as_operation().to_raw(),
                context.raw().cast(),
            )
        }
    };
    if raw.is_null() {
        return Err(failed("translation", &"see the diagnostics above"));
    }
    // Safety: the module was just made in this context.
    let module = unsafe { LlvmModule::new(raw.cast()) };

    Target::initialize_native(&InitializationConfig::default())
        .map_err(|e| failed("no native target", &e))?;
    let triple = TargetMachine::get_default_triple();
    let target =
        Target::from_triple(&triple).map_err(|e| failed("target", &e.to_string_lossy()))?;
    let cpu = TargetMachine::get_host_cpu_name();
    let features = TargetMachine::get_host_cpu_features();
    let machine = target
        .create_target_machine(
            &triple,
            &cpu.to_string_lossy(),
            &features.to_string_lossy(),
            OptimizationLevel::Aggressive,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| failed("target machine", &triple.as_str().to_string_lossy()))?;
    module.set_triple(&triple);
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module
        .verify()
        .map_err(|e| failed("verification", &e.to_string_lossy()))?;
    {
        let _span = tracing::info_span!("optimise").entered();
        let options = PassBuilderOptions::create();
        options.set_loop_vectorization(true);
        options.set_loop_slp_vectorization(true);
        options.set_loop_unrolling(true);
        module
            .run_passes("default<O3>", &machine, options)
            .map_err(|e| failed("optimisation", &e.to_string_lossy()))?;
    }
    if output == Output::LlvmIr {
        return Ok(module.print_to_string().to_bytes().to_vec());
    }
    let kind = match output {
        Output::Assembly => FileType::Assembly,
        _ => FileType::Object,
    };
    let _span = tracing::info_span!("codegen").entered();
    let buffer = machine
        .write_to_memory_buffer(&module, kind)
        .map_err(|e| failed("code generation", &e.to_string_lossy()))?;
    Ok(buffer.as_slice().to_vec())
}
