//! Artifacts: compiled kernels as data.

use crate::{
    handle::{array, c_text, free, get, handles, place, text, write},
    status::{Failure, Outcome, call, qd_status},
};
use qd_frontend::Artifact;
use std::{
    ffi::{CString, OsStr, c_char},
    os::unix::ffi::OsStrExt,
    path::Path,
    sync::OnceLock,
};

/// Compiled kernels for some targets, as data. No device is needed for it.
pub struct qd_artifact {
    pub(crate) artifact: Artifact,
    bytes: OnceLock<Vec<u8>>,
    targets: Vec<CString>,
    kernels: Vec<CString>,
}

handles!(qd_artifact => "artifact");

impl qd_artifact {
    pub(crate) fn new(artifact: Artifact) -> Self {
        Self {
            bytes: OnceLock::new(),
            targets: artifact.targets.iter().map(c_text).collect(),
            kernels: artifact.kernels.iter().map(|k| c_text(&k.name)).collect(),
            artifact,
        }
    }
}

/// # Safety
///
/// It is null, or text that ends in 0 and lives as long.
pub(crate) unsafe fn path<'a>(path: *const c_char) -> Outcome<&'a Path> {
    if path.is_null() {
        return Err(Failure::handle("the path is null"));
    }
    // Safety: by contract.
    let path = unsafe { std::ffi::CStr::from_ptr(path) };
    Ok(Path::new(OsStr::from_bytes(path.to_bytes())))
}

pub(crate) fn open(path: &Path) -> Outcome<Artifact> {
    Artifact::open(path).map_err(|error| {
        let status = match error.is_of_file() {
            true => qd_status::QD_ERROR_FILE,
            false => qd_status::QD_ERROR_ARTIFACT,
        };
        Failure::new(status, format!("{}: {error}", path.display()))
    })
}

/// Opens a file that qd_artifact_save() or qd-translate wrote, and maps its code: replace such a file by renaming
/// another one. QD_ERROR_FILE if it cannot be read, QD_ERROR_ARTIFACT if it is none or of another version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_artifact_open(
    path: *const c_char,
    artifact: *mut *mut qd_artifact,
) -> qd_status {
    call!({
        let to = place(artifact)?;
        to.give(qd_artifact::new(open(self::path(path)?)?));
        Ok(())
    })
}

/// Reads the bytes of an artifact, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_artifact_from_bytes(
    bytes: *const u8,
    length: usize,
    artifact: *mut *mut qd_artifact,
) -> qd_status {
    call!({
        let to = place(artifact)?;
        let bytes = array(bytes, length, "the bytes")?.to_vec();
        let read = Artifact::from_bytes(bytes);
        let read = read.map_err(|error| Failure::new(qd_status::QD_ERROR_ARTIFACT, error))?;
        to.give(qd_artifact::new(read));
        Ok(())
    })
}

/// Frees a handle of an artifact.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_artifact_free(artifact: *mut qd_artifact) -> qd_status {
    call!({ free(artifact) })
}

/// The bytes of an artifact, as in its file. Valid as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_artifact_bytes(
    artifact: *const qd_artifact,
    bytes: *mut *const u8,
    length: *mut usize,
) -> qd_status {
    call!({
        let artifact = get(artifact)?;
        let all = artifact.bytes.get_or_init(|| artifact.artifact.to_bytes());
        write(bytes, all.as_ptr())?;
        write(length, all.len())
    })
}

/// Writes an artifact to a file, as a whole: what was there stays if that fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_artifact_save(
    artifact: *const qd_artifact,
    path: *const c_char,
) -> qd_status {
    call!({
        let path = self::path(path)?;
        let saved = get(artifact)?.artifact.save(path);
        let why = |error| {
            Failure::new(
                qd_status::QD_ERROR_FILE,
                format!("{}: {error}", path.display()),
            )
        };
        saved.map_err(why)
    })
}

/// How many targets and kernels an artifact has. Either place may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_artifact_counts(
    artifact: *const qd_artifact,
    targets: *mut usize,
    kernels: *mut usize,
) -> qd_status {
    call!({
        let artifact = get(artifact)?;
        for (to, count) in [
            (targets, artifact.targets.len()),
            (kernels, artifact.kernels.len()),
        ] {
            if !to.is_null() {
                write(to, count)?;
            }
        }
        Ok(())
    })
}

/// A target of an artifact, by its index from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_artifact_target(
    artifact: *const qd_artifact,
    index: usize,
    name: *mut *const c_char,
) -> qd_status {
    call!({ write(name, at(&get(artifact)?.targets, index, "target")?) })
}

/// The name of a kernel of an artifact, by its index from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_artifact_kernel(
    artifact: *const qd_artifact,
    index: usize,
    name: *mut *const c_char,
) -> qd_status {
    call!({ write(name, at(&get(artifact)?.kernels, index, "kernel")?) })
}

/// A text by its index.
pub(crate) fn at(all: &[CString], index: usize, what: &str) -> Outcome<*const c_char> {
    let count = all.len();
    let found = all.get(index);
    let found = found
        .ok_or_else(|| Failure::value(format!("there is no {what} {index}: there are {count}")))?;
    Ok(found.as_ptr())
}

/// Whether an artifact has a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_artifact_has_kernel(
    artifact: *const qd_artifact,
    name: *const c_char,
    is_there: *mut bool,
) -> qd_status {
    call!({
        let name = text(name, "the kernel's name")?;
        write(is_there, get(artifact)?.artifact.kernel(name).is_some())
    })
}
