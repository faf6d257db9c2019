//! LLVM's diagnostics during code generation. By default LLVM prints them, and exits on an error.

use super::{CompileError, llvm::failed};
use inkwell::{
    context::Context,
    llvm_sys::{
        LLVMDiagnosticSeverity,
        core::{
            LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription,
            LLVMGetDiagInfoSeverity,
        },
        prelude::LLVMDiagnosticInfoRef,
    },
};
use std::{
    cell::RefCell,
    ffi::{CStr, c_void},
};

type Errors = RefCell<Vec<String>>;

/// Runs what makes code in a context of its own. Warnings are logged: a user can do nothing
/// about them.
///
/// # Errors
///
/// Its own, or else what LLVM said.
pub fn diagnosed<T>(
    make: impl FnOnce(&Context) -> Result<T, CompileError>,
) -> Result<T, CompileError> {
    let errors = Errors::default();
    let made = {
        let context = Context::create();
        // Safety: `errors` outlives the context, which one thread uses.
        unsafe {
            LLVMContextSetDiagnosticHandler(
                context.raw(),
                Some(note),
                (&raw const errors).cast_mut().cast(),
            );
        }
        make(&context)?
    };
    match errors.into_inner() {
        none if none.is_empty() => Ok(made),
        said => Err(failed("code generation", &said.join("; "))),
    }
}

extern "C" fn note(info: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    // Safety: LLVM calls this with what it was given, and a description is a string of its own.
    let (severity, text, errors) = unsafe {
        let description = LLVMGetDiagInfoDescription(info);
        let text = CStr::from_ptr(description).to_string_lossy().into_owned();
        LLVMDisposeMessage(description);
        (
            LLVMGetDiagInfoSeverity(info),
            text,
            &*errors.cast::<Errors>(),
        )
    };
    match severity {
        LLVMDiagnosticSeverity::LLVMDSError => errors.borrow_mut().push(text),
        _ => tracing::debug!("LLVM: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::{
        OptimizationLevel,
        memory_buffer::MemoryBuffer,
        targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine},
    };

    fn compile(assembly: &str) -> Result<(), CompileError> {
        Target::initialize_native(&InitializationConfig::default()).expect("this machine");
        let triple = TargetMachine::get_default_triple();
        let target = Target::from_triple(&triple).expect("this machine");
        let (level, reloc) = (OptimizationLevel::None, RelocMode::Default);
        let machine =
            target.create_target_machine(&triple, "", "", level, reloc, CodeModel::Default);
        let machine = machine.expect("this machine");
        let text = format!(
            "define void @f() {{\n  call void asm sideeffect \"{assembly}\", \"\"()\n  ret void\n}}\n"
        );
        diagnosed(|context| {
            let text = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "f");
            let module = context.create_module_from_ir(text).expect("IR");
            let _ = machine.write_to_memory_buffer(&module, FileType::Object);
            Ok(())
        })
    }

    #[test]
    fn what_llvm_refuses_is_an_error_and_not_the_end() {
        assert!(compile("").is_ok());
        let why = compile("no such instruction")
            .expect_err("assembly")
            .to_string();
        assert!(why.contains("code generation: "), "{why}");
    }
}
