//! Compilation: a request in, an artifact or diagnostics out.

use crate::{
    artifact::{path, qd_artifact},
    diagnostics::qd_diagnostics,
    handle::{Place, array, free, get, get_optional, handles, place, text},
    status::{Failure, Outcome, call, qd_status},
    store::qd_store,
};
use qd_frontend::{
    Artifact, CompileRequest, Diagnostic, Diagnostics, Host, Machine, Source, compile_stored,
    compile_with,
};
use std::{
    ffi::c_char,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// What the compiler is asked: a source, targets, kernels and options, which determine the artifact.
pub struct qd_request(Mutex<CompileRequest>);

handles!(qd_request => "request");

impl qd_request {
    pub(crate) fn edit(&self) -> MutexGuard<'_, CompileRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a request without a source, targets and kernels. Its options are what the environment says now:
/// QD_SPIRV_VAL, QD_LLD.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_new(request: *mut *mut qd_request) -> qd_status {
    call!({
        place(request)?.give(qd_request(Mutex::default()));
        Ok(())
    })
}

/// Frees a request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_free(request: *mut qd_request) -> qd_status {
    call!({ free(request) })
}

/// Sets the source: a text of `length` bytes, and its name in diagnostics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_text(
    request: *const qd_request,
    name: *const c_char,
    source: *const c_char,
    length: usize,
) -> qd_status {
    call!({
        let source = Source::text(text(name, "the source's name")?, utf8(source, length)?);
        get(request)?.edit().source = source;
        Ok(())
    })
}

/// # Safety
///
/// It is null, or there are as many bytes.
pub(crate) unsafe fn utf8<'a>(source: *const c_char, length: usize) -> Outcome<&'a str> {
    // Safety: by contract.
    let bytes = unsafe { array(source.cast::<u8>(), length, "the source") }?;
    let why = |error| Failure::value(format!("the source is not UTF-8: {error}"));
    std::str::from_utf8(bytes).map_err(why)
}

/// Sets the source: MLIR's bytecode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_bytecode(
    request: *const qd_request,
    bytes: *const u8,
    length: usize,
) -> qd_status {
    call!({
        let bytes = array(bytes, length, "the bytecode")?;
        get(request)?.edit().source = Source::Bytecode(bytes.into());
        Ok(())
    })
}

/// Sets the source: the contents of a file, text or bytecode, which is read now. QD_ERROR_COMPILE if it cannot be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_file(
    request: *const qd_request,
    path: *const c_char,
) -> qd_status {
    call!({
        let source = Source::read(self::path(path)?)?;
        get(request)?.edit().source = source;
        Ok(())
    })
}

/// Adds a target, as in "cpu", "nvptx:sm_90", "vulkan:1.3,subgroup=8": one at least is needed, and its device is not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_target(
    request: *const qd_request,
    target: *const c_char,
) -> qd_status {
    call!({
        let target = text(target, "the target")?.parse()?;
        get(request)?.edit().targets.push(target);
        Ok(())
    })
}

/// Adds a kernel by name: only those that were added are compiled, and those that they dispatch to. Without any, all
/// are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_kernel(
    request: *const qd_request,
    name: *const c_char,
) -> qd_status {
    call!({
        let name = text(name, "the kernel's name")?;
        let mut request = get(request)?.edit();
        request.kernels.get_or_insert_default().push(name.into());
        Ok(())
    })
}

/// Has target "cpu" be another machine than this one, as LLVM spells it: "x86_64-pc-linux-gnu", "x86-64", and what it
/// has and lacks, as in "+avx2,-sse4a", which may be empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_host(
    request: *const qd_request,
    triple: *const c_char,
    cpu: *const c_char,
    features: *const c_char,
) -> qd_status {
    call!({
        let features = text(features, "the features")?.split(',');
        let machine = Machine {
            triple: text(triple, "the triple")?.into(),
            cpu: text(cpu, "the cpu")?.into(),
            features: features
                .filter(|feature| !feature.is_empty())
                .map(str::to_owned)
                .collect(),
        };
        get(request)?.edit().options.host = Host::Named(machine);
        Ok(())
    })
}

/// Whether spirv-val checks each SPIR-V module; its rejection is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_validate_spirv(
    request: *const qd_request,
    validates: bool,
) -> qd_status {
    call!({
        get(request)?.edit().options.validate_spirv = validates;
        Ok(())
    })
}

/// Sets LLVM's linker, ld.lld, by its path: it makes AMD's code objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_request_linker(
    request: *const qd_request,
    path: *const c_char,
) -> qd_status {
    call!({
        let path = self::path(path)?.to_path_buf();
        get(request)?.edit().options.linker = Some(path);
        Ok(())
    })
}

/// Compiles a request. `store` may be null: otherwise what it has is not compiled again, and what is compiled is kept
/// there. `diagnostics` may be null: otherwise it gets a handle, also if it fails, of the errors, or of the warnings and
/// remarks if it succeeds; free it in both cases. QD_ERROR_COMPILE if there are errors; the message has them all. The
/// request may be edited by other threads meanwhile, and used again. It takes milliseconds to seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_compile(
    request: *const qd_request,
    store: *const qd_store,
    artifact: *mut *mut qd_artifact,
    diagnostics: *mut *mut qd_diagnostics,
) -> qd_status {
    call!({
        let said = Sink::new(diagnostics)?;
        let to = place(artifact)?;
        let request = get(request)?.edit().clone();
        let store = get_optional(store)?;
        let compiled = said.hear(|sink| match store {
            Some(store) => compile_stored(&request, &store.0, sink, &mut |_| ()),
            None => compile_with(&request, sink),
        })?;
        to.give(qd_artifact::new(compiled));
        Ok(())
    })
}

/// Where diagnostics go, if anywhere.
pub(crate) struct Sink(Option<Place<qd_diagnostics>>);

impl Sink {
    /// # Safety
    ///
    /// It is null or can be written.
    pub unsafe fn new(to: *mut *mut qd_diagnostics) -> Outcome<Self> {
        Ok(Self(match to.is_null() {
            true => None,
            // Safety: by contract.
            false => Some(unsafe { place(to) }?),
        }))
    }

    /// Gives what a compilation says, and returns what it yields.
    pub fn hear(
        self,
        compile: impl FnOnce(&mut dyn FnMut(&Diagnostic)) -> Result<Artifact, Diagnostics>,
    ) -> Outcome<Artifact> {
        let mut said = Vec::new();
        let compiled = compile(&mut |heard| said.push(heard.clone()));
        if let Err(errors) = &compiled {
            said.extend(errors.iter().cloned());
        }
        if let Some(to) = self.0 {
            to.give(qd_diagnostics::of(&said));
        }
        Ok(compiled?)
    }
}
