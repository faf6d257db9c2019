//! Binary forms that MLIR makes of its own dialects.

use crate::ir::Op;
use std::ffi::c_void;

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
