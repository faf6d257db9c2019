//! The CUDA driver's objects, each freed when dropped. The library is loaded when it is first used:
//! neither building nor starting needs CUDA.

use super::resident::Entered;
use crate::Error;
use cudarc::driver::{
    DriverError,
    result::{self, device, module},
    sys,
};
use std::{
    ffi::{CStr, CString, c_void},
    fs, ptr,
    sync::Arc,
};

/// The oldest driver, as `cuDriverGetVersion` has it: graphs of the second form
/// and PTX 8.0 came with CUDA 12.0.
const OLDEST: i32 = 12_000;

/// A device that the driver shows. Its objects hold it, and enter it to free themselves; its
/// context is released with the last of them.
pub(super) struct Device {
    raw: sys::CUdevice,
    pub context: sys::CUcontext,
    pub name: String,
    /// As [`DeviceInfo::driver`](crate::objects::DeviceInfo::driver).
    pub driver: String,
    /// Compute capability: 90 is 9.0.
    pub capability: u32,
    /// The most shared memory that a block may request.
    pub max_shared_bytes: u32,
    /// The most threads of a block.
    pub max_threads: u32,
}

// Safety: contexts may be used from any thread that makes them current.
unsafe impl Send for Device {}
// Safety: as above.
unsafe impl Sync for Device {}

/// `what` failed, as the driver says it.
pub(super) fn failed(what: &str, error: DriverError) -> Error {
    Error::Device(format!("{what}: {}", reason(error)))
}

/// `CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered`.
pub(super) fn reason(error: DriverError) -> String {
    let text = |found: Result<&std::ffi::CStr, DriverError>| {
        found.map_or_else(
            |_| format!("{:?}", error.0),
            |text| text.to_string_lossy().into(),
        )
    };
    format!(
        "{}: {}",
        text(error.error_name()),
        text(error.error_string())
    )
}

/// Starts the driver, and returns its name.
fn started() -> Result<String, Error> {
    // Safety: it loads a library whose initialisers are the vendor's.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::Device(
            "there is no NVIDIA driver: libcuda.so.1 cannot be loaded".into(),
        ));
    }
    result::init().map_err(|e| failed("the NVIDIA driver does not start", e))?;
    Ok(driver_name(check_version()?))
}

/// How many devices the driver shows, at least one.
pub(crate) fn count() -> Result<u32, Error> {
    started()?;
    let count = device::get_count().map_err(|e| failed("counting devices", e))?;
    match u32::try_from(count) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(Error::Device("the NVIDIA driver has no device".into())),
    }
}

impl Device {
    /// The device of that number, of those that the driver shows.
    pub fn open(ordinal: u32) -> Result<Self, Error> {
        let (driver, count) = (started()?, count()?);
        let number = i32::try_from(ordinal).unwrap_or(i32::MAX);
        if ordinal >= count {
            return Err(Error::Device(format!(
                "there is no device cuda:{ordinal}: the NVIDIA driver has {count}, from 0 on"
            )));
        }
        let which = format!("device {ordinal}");
        let raw = device::get(number).map_err(|e| failed(&which, e))?;
        let name = device::get_name(raw).map_err(|e| failed(&which, e))?;
        let attribute = |which| {
            // Safety: the device exists.
            unsafe { device::get_attribute(raw, which) }.map_err(|e| failed(&name, e))
        };
        use sys::CUdevice_attribute::*;
        let major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let max_shared_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let max_threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        // Safety: the device exists; `drop` releases what this retains.
        let context = unsafe { ctx_retain(raw) }.map_err(|e| failed(&name, e))?;
        Ok(Self {
            raw,
            context,
            name,
            driver,
            capability: (major * 10 + minor) as u32,
            max_shared_bytes: max_shared_bytes as u32,
            max_threads: max_threads as u32,
        })
    }

    /// Bytes of its memory.
    pub fn memory_bytes(&self) -> Option<u64> {
        // Safety: the device exists.
        let total = unsafe { device::total_mem(self.raw) };
        total.ok().map(|bytes| bytes as u64)
    }
}

/// What older drivers lack would be missed in the middle of a run.
fn check_version() -> Result<i32, Error> {
    let mut version = 0;
    // Safety: it writes a number.
    unsafe { sys::cuDriverGetVersion(&mut version) }
        .result()
        .map_err(|e| failed("the NVIDIA driver's version", e))?;
    match version >= OLDEST {
        true => Ok(version),
        false => Err(Error::Device(format!(
            "the NVIDIA driver is of CUDA {}.{}: {}.{} or later is required",
            version / 1000,
            version % 1000 / 10,
            OLDEST / 1000,
            OLDEST % 1000 / 10,
        ))),
    }
}

/// What the driver is called: its own version, where the kernel module says it, and CUDA's.
fn driver_name(cuda: i32) -> String {
    let cuda = format!("CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
    let text = fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    match module_version(&text) {
        Some(version) => format!("NVIDIA {version}, {cuda}"),
        None => cuda,
    }
}

/// `580.95.05` of what the kernel module says of itself.
fn module_version(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with("NVRM version"))?;
    line.split_whitespace().find(|word| {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        word.contains('.') && word.split('.').all(is_number)
    })
}

unsafe fn ctx_retain(raw: sys::CUdevice) -> Result<sys::CUcontext, DriverError> {
    // Safety: by contract.
    unsafe { result::primary_ctx::retain(raw) }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Safety: retained once by `open`. A failure cannot be reported.
        let _ = unsafe { result::primary_ctx::release(self.raw) };
    }
}

/// Code on the device.
pub(super) struct Module {
    raw: sys::CUmodule,
    device: Arc<Device>,
}

// Safety: any thread whose context is the device's may use it.
unsafe impl Send for Module {}
// Safety: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Has the driver compile PTX that ends in a NUL. The device has been entered.
    pub fn new(device: &Arc<Device>, ptx: &[u8]) -> Result<Self, Error> {
        let text = CStr::from_bytes_with_nul(ptx)
            .map_err(|_| Error::Load("it is not PTX: it must end in exactly one NUL".into()))?;
        let mut log = vec![0u8; 16 << 10];
        let mut options = [
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        let mut raw = ptr::null_mut();
        // Safety: the image ends in 0; options and values go together.
        let outcome = unsafe {
            sys::cuModuleLoadDataEx(
                &mut raw,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        outcome.result().map_err(|e| {
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            let log = String::from_utf8_lossy(&log[..end]);
            Error::Load(
                format!("{}\n{}", reason(e), log.trim_end())
                    .trim_end()
                    .into(),
            )
        })?;
        Ok(Self {
            raw,
            device: device.clone(),
        })
    }

    pub fn function(&self, name: &str) -> Result<Function, Error> {
        let symbol = CString::new(name).map_err(|_| Error::Load(format!("no symbol '{name}'")))?;
        // Safety: the module is loaded.
        let raw = unsafe { module::get_function(self.raw, symbol) }
            .map_err(|e| Error::Load(format!("symbol '{name}': {}", reason(e))))?;
        Ok(Function(raw))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let _entered = Entered::relaxed(&self.device);
        // Safety: loaded by `new`, and it is not launched any more. What runs it is waited for.
        let _ = unsafe { module::unload(self.raw) };
    }
}

/// A body; valid as long as its module.
#[derive(Clone, Copy)]
pub(super) struct Function(pub sys::CUfunction);

// Safety: as of its module.
unsafe impl Send for Function {}
// Safety: as above.
unsafe impl Sync for Function {}

impl Function {
    /// Allows launches to give blocks so many bytes of shared memory: without it,
    /// 48 KiB is the most.
    pub fn allow_dynamic_shared(self, bytes: u32) -> Result<(), DriverError> {
        use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // Safety: its module is loaded.
        unsafe {
            result::function::set_function_attribute(
                self.0,
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                bytes as i32,
            )
        }
    }
}

/// `value` as a C parameter array wants it: the address of each word.
pub(super) fn parameters(words: &mut [u64]) -> Vec<*mut c_void> {
    words
        .iter_mut()
        .map(|word| ptr::from_mut(word).cast())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::module_version;

    #[test]
    fn the_kernel_modules_version_is_found_in_what_it_says() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  Mon Oct  6 2025\n\
                      GCC version:  gcc version 13.3.0\n";
        assert_eq!(module_version(closed), Some("580.159"));
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release\n";
        assert_eq!(module_version(open), Some("580.95.05"));
        for other in ["", "GCC version: 13.3.0\n", "NVRM version: NVIDIA\n"] {
            assert_eq!(module_version(other), None);
        }
    }
}
