//! Object files as callable functions, by LLVM's ORC.

use crate::Error;
use inkwell::{
    llvm_sys::{
        core::LLVMCreateMemoryBufferWithMemoryRange,
        error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage},
        orc2::{
            LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess,
            LLVMOrcExecutionSessionSetErrorReporter, LLVMOrcJITDylibAddGenerator,
            lljit::{
                LLVMOrcCreateLLJIT, LLVMOrcDisposeLLJIT, LLVMOrcLLJITAddObjectFile,
                LLVMOrcLLJITGetExecutionSession, LLVMOrcLLJITGetGlobalPrefix,
                LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup, LLVMOrcLLJITRef,
            },
        },
    },
    targets::{InitializationConfig, Target},
};
use qd_artifact::Bytes;
use std::{
    ffi::{CStr, CString, c_void},
    ptr,
    sync::{Mutex, PoisonError},
};

/// A body: runs the blocks from the first number up to the second (exclusive) of a
/// grid whose size is the third. The fourth is the kernel arguments.
///
/// For each operand in order, a buffer is its address and, unless it is of rank 0,
/// its leading extent; a view is its address and its length; a scalar is its bits,
/// zero-extended.
pub(super) type Body = unsafe extern "C" fn(u64, u64, u64, *const u64);

/// Code of an object file in this process. Freed when dropped.
pub(super) struct Jit {
    raw: LLVMOrcLLJITRef,
    /// The object, which LLVM links when a body is first looked up.
    object: Bytes,
    /// What LLVM reports besides the errors it returns; it has the address.
    reports: Box<Mutex<Vec<String>>>,
}

// Safety: an LLJIT locks its session, and the code it holds is constant.
unsafe impl Send for Jit {}
// Safety: as above.
unsafe impl Sync for Jit {}

/// What LLVM is given does not end in a NUL.
const ENDS_ANYWHERE: i32 = 0;

impl Jit {
    /// Adds a relocatable object. Its undefined symbols are resolved in this
    /// process: `memcpy`, the mathematical functions.
    pub fn new(object: &Bytes) -> Result<Self, Error> {
        check_object(object)?;
        Target::initialize_native(&InitializationConfig::default()).map_err(Error::Load)?;
        let mut raw = ptr::null_mut();
        // Safety: no builder means the defaults, for this machine.
        check(unsafe { LLVMOrcCreateLLJIT(&mut raw, ptr::null_mut()) })?;
        let jit = Jit {
            raw,
            object: object.clone(),
            reports: Box::default(),
        };
        // Safety: the LLJIT is valid; it takes the generator; the object, which it
        // reads, and the reports outlive it.
        unsafe {
            LLVMOrcExecutionSessionSetErrorReporter(
                LLVMOrcLLJITGetExecutionSession(raw),
                report,
                (&raw const *jit.reports).cast_mut().cast(),
            );
            let library = LLVMOrcLLJITGetMainJITDylib(raw);
            let mut process = ptr::null_mut();
            check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &mut process,
                LLVMOrcLLJITGetGlobalPrefix(raw),
                None,
                ptr::null_mut(),
            ))?;
            LLVMOrcJITDylibAddGenerator(library, process);
            let buffer = LLVMCreateMemoryBufferWithMemoryRange(
                jit.object.as_ptr().cast(),
                jit.object.len(),
                c"bodies.o".as_ptr(),
                ENDS_ANYWHERE,
            );
            check(LLVMOrcLLJITAddObjectFile(raw, library, buffer))?;
        }
        Ok(jit)
    }

    /// A body by its symbol. The first call links its object.
    pub fn body(&self, name: &str) -> Result<Body, Error> {
        let symbol = CString::new(name)
            .map_err(|_| Error::Load(format!("'{}' is not a symbol", name.escape_debug())))?;
        let mut address = 0;
        // Safety: the LLJIT and the name are valid.
        let found = check(unsafe { LLVMOrcLLJITLookup(self.raw, &mut address, symbol.as_ptr()) });
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        match found {
            // Safety: the compiler gives a body's symbol to nothing else.
            Ok(()) => Ok(unsafe { std::mem::transmute::<*const (), Body>(address as *const ()) }),
            // The returned error names the symbol, the reports what was wrong.
            Err(Error::Load(message)) if !reports.is_empty() => Err(Error::Load(format!(
                "{message}: {}",
                reports.drain(..).collect::<Vec<_>>().join("; ")
            ))),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // Safety: ours, and nothing refers to it any more.
        let error = unsafe { LLVMOrcDisposeLLJIT(self.raw) };
        if let Err(error) = check(error) {
            tracing::warn!(%error, "freeing code");
        }
    }
}

extern "C" fn report(reports: *mut c_void, error: LLVMErrorRef) {
    // Safety: `new` passed the address of the reports, which outlive the session.
    let reports = unsafe { &*reports.cast::<Mutex<Vec<String>>>() };
    if let Err(Error::Load(message)) = check(error) {
        reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(message);
    }
}

/// An LLVM error as a value.
fn check(error: LLVMErrorRef) -> Result<(), Error> {
    if error.is_null() {
        return Ok(());
    }
    // Safety: taking the message consumes the error; the message is ours to free.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(Error::Load(text))
    }
}

/// LLVM links an object for another machine without a complaint, so it is
/// looked at first.
fn check_object(object: &[u8]) -> Result<(), Error> {
    let machine = if cfg!(target_arch = "x86_64") {
        62
    } else if cfg!(target_arch = "aarch64") {
        183
    } else {
        return Err(Error::Load(
            "this machine's architecture is not known".into(),
        ));
    };
    // The magic number, 64 bits, little-endian; the type and the machine.
    let is_elf = object.starts_with(b"\x7fELF\x02\x01") && object.get(16..18) == Some(&[1, 0]);
    if !is_elf {
        return Err(Error::Load("it is not a relocatable object file".into()));
    }
    if object.get(18..20) != Some(&u16::to_le_bytes(machine)) {
        return Err(Error::Load(
            "it is for another processor than this machine's".into(),
        ));
    }
    Ok(())
}
