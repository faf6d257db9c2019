//! Binary forms that MLIR makes of its own dialects.

use crate::ir::Op;
use melior::ir::Module;
use std::ffi::c_void;

/// A module as bytecode; none if MLIR cannot write it.
pub fn bytecode(module: &Module<'_>) -> Option<Vec<u8>> {
    unsafe extern "C" fn take(part: mlir_sys::MlirStringRef, data: *mut c_void) {
        // Safety: MLIR hands over a string, and `data` as it got it.
        unsafe {
            let all = data.cast::<Vec<u8>>();
            (*all).extend_from_slice(std::slice::from_raw_parts(part.data.cast(), part.length));
        }
    }
    let mut all: Vec<u8> = Vec::new();
    // Safety: the module is valid; `take` is called before the call returns, and
    // the configuration is destroyed once.
    let failed = unsafe {
        let config = mlir_sys::mlirBytecodeWriterConfigCreate();
        let data = std::ptr::from_mut(&mut all).cast();
        let result = mlir_sys::mlirOperationWriteBytecodeWithConfig(
            module.as_operation().to_raw(),
            config,
            Some(take),
            data,
        );
        mlir_sys::mlirBytecodeWriterConfigDestroy(config);
        result.value == 0
    };
    (!failed).then_some(all)
}

/// The words of a `spirv.module`; none, with diagnostics, if it has no binary
/// form.
pub fn spirv(module: Op<'_>) -> Option<Vec<u32>> {
    unsafe extern "C" fn take(words: *const u32, count: usize, data: *mut c_void) {
        // Safety: the shim hands over as many words, and `data` as it got it.
        unsafe {
            let all = data.cast::<Vec<u32>>();
            (*all).extend_from_slice(std::slice::from_raw_parts(words, count));
        }
    }
    let mut all: Vec<u32> = Vec::new();
    let data = std::ptr::from_mut(&mut all).cast();
    // Safety: the operation is valid; `take` is called before this returns.
    let made = unsafe { qd_sys::qdSerializeSpirv(module.to_raw(), take, data) };
    made.then_some(all)
}
