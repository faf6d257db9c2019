//! A module in the LLVM dialect through LLVM, for any of its back ends.

use super::CompileError;
use inkwell::{
    OptimizationLevel,
    context::Context,
    memory_buffer::MemoryBuffer,
    module::Module as LlvmModule,
    passes::PassBuilderOptions,
    targets::{CodeModel, FileType, RelocMode, Target, TargetMachine, TargetTriple},
    values::FunctionValue,
};
use melior::ir::Module;
use qd_dialects::{attributes, ir::OpExt, melior};
use rayon::prelude::*;
use std::ffi::CString;

/// What LLVM compiles for. Its target has been initialised.
pub struct Machine<'a> {
    pub triple: String,
    pub cpu: &'a str,
    pub features: &'a str,
    /// The passes, as `opt` spells them.
    pub passes: &'a str,
    /// How hard code generation tries.
    pub level: OptimizationLevel,
    /// Whether loops are turned into vectors of the target's.
    pub vectorize: bool,
    /// Whether there are libraries to call.
    pub has_libraries: bool,
}

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

/// An error of LLVM's.
pub fn failed(what: &str, why: &dyn std::fmt::Display) -> CompileError {
    CompileError::Llvm(format!("{what}: {why}"))
}

/// Optimises and emits a module in the LLVM dialect.
pub fn emit(
    module: &Module<'_>,
    to: &Machine<'_>,
    output: Output,
) -> Result<Vec<u8>, CompileError> {
    let context = Context::create();
    finish(&translate(module, to, &context)?, to, output)
}

/// The same for each entry point by itself, side by side: LLVM compiles one
/// module on one thread. In the order of the entry points; all of it in one if a
/// function is there that is none, for each part would have it.
pub fn emit_each(
    module: &Module<'_>,
    to: &Machine<'_>,
    output: Output,
    is_entry: fn(FunctionValue<'_>) -> bool,
) -> Result<Vec<Vec<u8>>, CompileError> {
    let context = Context::create();
    let whole = translate(module, to, &context)?;
    let has_body = |function: &FunctionValue<'_>| function.count_basic_blocks() > 0;
    let functions: Vec<_> = whole.get_functions().filter(has_body).collect();
    if functions.len() < 2 || !functions.iter().all(|function| is_entry(*function)) {
        return Ok(vec![finish(&whole, to, output)?]);
    }
    let names: Vec<_> = functions.iter().map(|f| f.get_name().to_owned()).collect();
    let bitcode = whole.write_bitcode_to_memory();
    let bitcode = bitcode.as_slice();
    let part = |name: &CString| {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "bodies");
        let part = LlvmModule::parse_bitcode_from_buffer(&buffer, &context)
            .map_err(|e| failed("reading bitcode", &e.to_string_lossy()))?;
        let all: Vec<_> = part.get_functions().filter(has_body).collect();
        for other in all {
            if other.get_name() != name.as_c_str() {
                // Safety: entry points are not called.
                unsafe { other.delete() };
            }
        }
        finish(&part, to, output)
    };
    names.par_iter().map(part).collect()
}

fn machine(to: &Machine<'_>) -> Result<TargetMachine, CompileError> {
    let triple = TargetTriple::create(&to.triple);
    Target::from_triple(&triple)
        .map_err(|e| failed("target", &e.to_string_lossy()))?
        .create_target_machine(
            &triple,
            to.cpu,
            to.features,
            to.level,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| failed("target machine", &to.triple))
}

/// In LLVM's form.
fn translate<'l>(
    module: &Module<'_>,
    to: &Machine<'_>,
    context: &'l Context,
) -> Result<LlvmModule<'l>, CompileError> {
    let _span = tracing::info_span!("translate").entered();
    let layout = machine(to)?.get_target_data().get_data_layout();
    // The translation writes the alignment of each access, and without a layout
    // takes an i64 to be aligned to 4 bytes.
    let text = layout.as_str().to_string_lossy();
    // The reference points into this handle, so it must not be a temporary.
    let mlir = module.context();
    // Safety: the context outlives the module, and the operation's handle is used
    // while the module lives.
    let (mlir, op) = unsafe {
        (
            mlir.to_ref(),
            melior::ir::OperationRef::from_raw(module.as_operation().to_raw()),
        )
    };
    op.set_attr("llvm.data_layout", attributes::string(mlir, &text));
    melior::utility::register_all_llvm_translations(mlir);
    // Safety: both contexts live; the result is owned below.
    let raw = unsafe {
        mlir_sys::mlirTranslateModuleToLLVMIR(module.as_operation().to_raw(), context.raw().cast())
    };
    if raw.is_null() {
        return Err(failed("translation", &"see the diagnostics above"));
    }
    // Safety: the module was just made in this context.
    let module = unsafe { LlvmModule::new(raw.cast()) };
    module.set_triple(&TargetTriple::create(&to.triple));
    module.set_data_layout(&layout);
    module
        .verify()
        .map_err(|e| failed("verification", &e.to_string_lossy()))?;
    Ok(module)
}

/// Optimised and emitted.
fn finish(
    module: &LlvmModule<'_>,
    to: &Machine<'_>,
    output: Output,
) -> Result<Vec<u8>, CompileError> {
    let machine = machine(to)?;
    {
        let _span = tracing::info_span!("optimise").entered();
        let options = PassBuilderOptions::create();
        options.set_loop_vectorization(to.vectorize);
        options.set_loop_slp_vectorization(to.vectorize);
        options.set_loop_unrolling(true);
        module
            .run_passes(to.passes, &machine, options)
            .map_err(|e| failed("optimisation", &e.to_string_lossy()))?;
    }
    if !to.has_libraries {
        called_elsewhere(module)?;
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
        .write_to_memory_buffer(module, kind)
        .map_err(|e| failed("code generation", &e.to_string_lossy()))?;
    Ok(buffer.as_slice().to_vec())
}

/// An error if something is called that is not in the module. What nobody calls
/// is gone after optimisation.
fn called_elsewhere(module: &LlvmModule<'_>) -> Result<(), CompileError> {
    for function in module.get_functions() {
        let name = function.get_name().to_string_lossy();
        if function.count_basic_blocks() == 0 && !name.starts_with("llvm.") {
            return Err(CompileError::Llvm(format!(
                "'{name}' is called, and the target has no library that it could be in"
            )));
        }
    }
    Ok(())
}
