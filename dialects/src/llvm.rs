//! Functions that LLVM's own C API lacks.

use melior::StringRef;
pub use qd_sys::QdLlvmShape;
use std::ffi::c_void;

/// Leaves passes, by their names with commas between, out of whatever is done in a
/// context of LLVM's from now on. Only what LLVM takes to be optional is.
///
/// # Safety
///
/// `context` is an `LLVMContextRef` that is valid.
pub unsafe fn skip_passes(context: *mut c_void, names: &str) {
    // Safety: by the caller's contract; the names are copied.
    unsafe { qd_sys::qdContextSkipPasses(context, StringRef::new(names).to_raw()) }
}

/// Measures a module of LLVM's, and tells the loop vectorizer to leave alone the
/// innermost loops that hold more than `longest` instructions, where at most `deepest`
/// loops are in one another.
///
/// # Safety
///
/// `module` is an `LLVMModuleRef` that is valid.
pub unsafe fn prepare(module: *mut c_void, longest: usize, deepest: usize) -> QdLlvmShape {
    // Safety: by the caller's contract.
    unsafe { qd_sys::qdPrepareLlvm(module, longest, deepest) }
}
