//! A device of the HIP runtime and code on it.

use super::{
    api::{self, Api, Code, Handle, Properties, api, failed},
    image,
};
use crate::{Error, objects::driver::Fault};
use qd_artifact::Bytes;
use std::{
    ffi::{CStr, CString, c_char, c_int},
    ptr,
    sync::Arc,
};

/// A device that the runtime shows.
pub(super) struct Device {
    pub api: &'static Api,
    pub number: c_int,
    pub name: String,
    /// Such as `gfx90a`.
    pub architecture: String,
    /// Lanes of a wave, unless the code asks for twice as many.
    pub wave: u32,
    /// The most shared memory of a block.
    pub max_shared_bytes: u32,
}

/// How many devices the runtime shows, at least one.
pub(crate) fn count() -> Result<u32, Error> {
    let mut count = 0;
    // Safety: it writes a number.
    match unsafe { api()?.device_count(&mut count) } {
        Ok(()) => {}
        Err(Code::NO_DEVICE) => count = 0,
        Err(code) => return Err(failed("counting devices", code)),
    }
    match u32::try_from(count) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(Error::Device("the HIP runtime has no device".into())),
    }
}

impl Device {
    /// The device of that number, of those that the runtime shows.
    pub fn open(ordinal: u32) -> Result<Self, Error> {
        let (api, count) = (api()?, count()?);
        let number = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        if ordinal >= count {
            return Err(Error::Device(format!(
                "there is no device hip:{ordinal}: the HIP runtime has {count}, from 0 on"
            )));
        }
        let about = |code| failed(&format!("device {ordinal}"), code);
        let mut name: [c_char; 256] = [0; 256];
        let mut properties = Box::new(Properties::new());
        // Safety: the device exists; the name ends in 0 within its room.
        let name = unsafe {
            api.device_name(name.as_mut_ptr(), name.len() as c_int, number)
                .map_err(about)?;
            api.device_properties(&mut *properties, number)
                .map_err(about)?;
            CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
        };
        let attribute = |which| {
            let mut value = 0;
            // Safety: the device exists; it writes a number.
            unsafe { api.device_attribute(&mut value, which, number) }.map_err(about)?;
            Ok::<_, Error>(value as u32)
        };
        if attribute(api::MEMORY_POOLS_SUPPORTED)? == 0 {
            return Err(Error::Device(format!(
                "{name} cannot be used: HIP offers no memory pools on it"
            )));
        }
        let (wave, max_shared_bytes) = (
            attribute(api::WARP_SIZE)?,
            attribute(api::MAX_SHARED_MEMORY_PER_BLOCK)?,
        );
        // `gfx90a:sramecc+:xnack-`: code that says nothing of these runs with and without.
        let mut architecture = properties.architecture();
        architecture.truncate(architecture.find(':').unwrap_or(architecture.len()));
        Ok(Self {
            api,
            number,
            name,
            architecture,
            wave,
            max_shared_bytes,
        })
    }

    /// Bytes of its memory, if it has been entered.
    pub fn memory_bytes(&self) -> Option<u64> {
        let (mut free, mut total) = (0, 0);
        // Safety: it writes two numbers.
        let asked = unsafe { self.api.memory_info(&mut free, &mut total) };
        asked.ok().map(|()| total as u64)
    }

    /// What an error means for the device, which has been entered.
    pub fn fault(&self, code: Code) -> Fault {
        match code {
            Code::OUT_OF_MEMORY => {
                let (mut free, mut total) = (0, 0);
                // Safety: it writes two numbers.
                let asked = unsafe { self.api.memory_info(&mut free, &mut total) };
                Fault::OutOfMemory {
                    free: asked.is_ok().then_some(free as u64),
                }
            }
            code if code.loses_device() => Fault::Lost(code.to_string()),
            code => Fault::Failed(code.to_string()),
        }
    }
}

/// Makes a device the thread's until this is dropped, which restores the one before.
pub(super) struct Entered {
    api: &'static Api,
    before: Option<c_int>,
}

impl Entered {
    pub fn new(device: &Device) -> Result<Self, Code> {
        let (api, mut current) = (device.api, 0);
        // Safety: it writes a number.
        unsafe { api.current_device(&mut current) }?;
        let is_other = current != device.number;
        if is_other {
            // Safety: the device exists.
            unsafe { api.set_device(device.number) }?;
        }
        Ok(Self {
            api,
            before: is_other.then_some(current),
        })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // Safety: it was the thread's. A failure cannot be reported.
            let _ = unsafe { self.api.set_device(before) };
        }
    }
}

/// Code on the device.
pub(super) struct Module {
    raw: Handle,
    device: Arc<Device>,
    /// HIP may read it later than when it is loaded.
    _image: Bytes,
}

// Safety: any thread may use it.
unsafe impl Send for Module {}
// Safety: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads a code object. The device has been entered.
    pub fn new(device: &Arc<Device>, code: &Bytes) -> Result<Self, Error> {
        image::check(code)?;
        let mut raw = ptr::null_mut();
        // Safety: all parts of the image are within it.
        unsafe { device.api.load_module(&mut raw, code.as_ptr().cast()) }
            .map_err(|code| Error::Load(code.to_string()))?;
        Ok(Self {
            raw,
            device: device.clone(),
            _image: code.clone(),
        })
    }

    /// A kernel, as long as the module.
    pub fn function(&self, name: &str) -> Result<Handle, Error> {
        let symbol = CString::new(name).map_err(|_| Error::Load(format!("no symbol '{name}'")))?;
        let mut function = ptr::null_mut();
        // Safety: the module is loaded.
        let found = unsafe {
            let api = self.device.api;
            api.function(&mut function, self.raw, symbol.as_ptr())
        };
        found.map_err(|code| Error::Load(format!("symbol '{name}': {code}")))?;
        Ok(function)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let _entered = Entered::new(&self.device);
        // HIP does not wait for launches of what it unloads. Safety: it is not launched any more.
        // Failures cannot be reported.
        unsafe {
            let _ = self.device.api.synchronize_device();
            let _ = self.device.api.unload_module(self.raw);
        }
    }
}
