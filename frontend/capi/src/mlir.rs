//! IR from C: what `qd_mlir.h` declares beside MLIR's own C API, which the library exports.

use crate::{
    compile::qd_request,
    handle::get,
    status::{Failure, call, qd_status, run},
};
use mlir_sys::{
    MlirContext, MlirDialectHandle, MlirModule, mlirModuleGetOperation, mlirOperationVerify,
};
use qd_frontend::{ir::Module, module_bytes};
use std::{mem::ManuallyDrop, panic::catch_unwind, ptr};

/// The handle of our dialect, to be registered in a context of the caller's.
#[unsafe(no_mangle)]
pub extern "C" fn mlirGetDialectHandle__qd__() -> MlirDialectHandle {
    // Safety: it returns static data.
    unsafe { qd_sys::qdDialectHandle() }
}

/// Makes a context with all dialects, ours too, loaded. Destroy it by mlirContextDestroy().
#[unsafe(no_mangle)]
pub extern "C" fn qd_mlir_context_create() -> MlirContext {
    let made = catch_unwind(|| {
        let context = ManuallyDrop::new(qd_frontend::context());
        context.to_raw()
    });
    made.unwrap_or(MlirContext {
        ptr: ptr::null_mut(),
    })
}

/// Makes all passes and pipelines known by name, MLIR's and ours, in this process. Further calls do nothing.
#[unsafe(no_mangle)]
pub extern "C" fn qd_mlir_register_passes() -> qd_status {
    run(|| {
        qd_frontend::register();
        Ok(())
    })
}

/// Sets the source of a request: a module, which is copied as bytecode and stays the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_module(
    request: *const qd_request,
    module: MlirModule,
) -> qd_status {
    call!({
        if module.ptr.is_null() {
            return Err(Failure::handle("the module is null"));
        }
        let request = get(request)?;
        if !mlirOperationVerify(mlirModuleGetOperation(module)) {
            return Err(Failure::new(
                qd_status::QD_ERROR_COMPILE,
                "the module is not valid: its context's diagnostics say why",
            ));
        }
        // Not dropped: it is the caller's.
        let module = ManuallyDrop::new(Module::from_raw(module));
        request.edit().source = module_bytes(&module)?.into();
        Ok(())
    })
}
