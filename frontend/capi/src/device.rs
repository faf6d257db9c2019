//! Devices.

use crate::{
    handle::{c_text, free, get, handles, place, text, write},
    status::{Failure, Outcome, call, qd_status},
    stream::{keep, qd_release},
};
use qd_frontend::{
    TargetSpec,
    objects::{Allocate, Allocator, Device, DeviceInfo, DeviceOptions, Devices, Printer},
};
use std::{
    ffi::{CString, c_char, c_void},
    ptr,
    sync::Arc,
};

/// A device. There is one for each id and options in a process, however often it is opened.
pub struct qd_device {
    pub(crate) device: Device,
    texts: Texts,
}

handles!(qd_device => "device");

/// How a device is opened. Zeros are the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct qd_device_options {
    /// Worker threads, if the device is the host; 0 for as many as the machine has hardware threads.
    pub threads: usize,
    /// The allocator of arrays and of kernels' other memory, instead of the device's own pool; null: that pool.
    /// It returns the address of so many bytes, at least one, at a multiple of 256, for use on a stream of the
    /// driver's, such as a CUstream; 0 if there is no room. Any thread calls it, and it must not call this library.
    pub allocate:
        Option<unsafe extern "C" fn(bytes: u64, stream: u64, allocator_data: *mut c_void) -> u64>,
    /// Takes back what `allocate` returned, with the same bytes and stream. Null only if `allocate` is.
    pub release: Option<
        unsafe extern "C" fn(address: u64, bytes: u64, stream: u64, allocator_data: *mut c_void),
    >,
    /// Passed to both.
    pub allocator_data: *mut c_void,
}

/// A description of a device.
#[repr(C)]
pub struct qd_device_info {
    /// By which it is opened, as in "cuda:0".
    pub id: *const c_char,
    /// The vendor's name of it.
    pub name: *const c_char,
    /// The driver and its version; of the host, how many threads it uses.
    pub driver: *const c_char,
    /// The target to compile for.
    pub target: *const c_char,
    /// Whether the device decides if a loop goes on. Otherwise a launch with a loop returns after its last round.
    pub decides: bool,
    /// Threads of a block at most.
    pub threads: u32,
    /// Subgroup sizes, ascending.
    pub subgroup_sizes: *const u32,
    /// How many they are.
    pub subgroup_size_count: usize,
    /// Bytes of shared memory of a block at most; 0 where there is no limit.
    pub shared_bytes: u64,
    /// Bytes of its memory; 0 where that is not known.
    pub memory_bytes: u64,
}

/// Memory that is allocated on a device, and bytes copied to and from it.
#[repr(C)]
pub struct qd_memory_stats {
    /// Bytes in use.
    pub live: u64,
    /// Bytes reserved for that, in use or not.
    pub reserved: u64,
    /// The peak of `live`.
    pub peak: u64,
    /// Allocations so far.
    pub allocations: u64,
    /// Bytes copied from the host so far.
    pub uploaded: u64,
    /// Bytes copied to the host so far.
    pub downloaded: u64,
}

/// The texts of a description, as C reads them.
struct Texts {
    id: CString,
    name: CString,
    driver: CString,
    target: CString,
}

impl Texts {
    fn of(info: &DeviceInfo) -> Self {
        Self {
            id: c_text(info.id.to_string()),
            name: c_text(&info.name),
            driver: c_text(&info.driver),
            target: c_text(info.target.to_string()),
        }
    }

    fn description(&self, info: &DeviceInfo) -> qd_device_info {
        let sizes = &info.limits.subgroup_sizes;
        qd_device_info {
            id: self.id.as_ptr(),
            name: self.name.as_ptr(),
            driver: self.driver.as_ptr(),
            target: self.target.as_ptr(),
            decides: info.decides,
            threads: info.limits.threads,
            subgroup_sizes: sizes.as_ptr(),
            subgroup_size_count: sizes.len(),
            shared_bytes: info.limits.shared_bytes.unwrap_or(0),
            memory_bytes: info.limits.memory_bytes.unwrap_or(0),
        }
    }
}

/// A program's allocator.
struct Functions {
    allocate: unsafe extern "C" fn(u64, u64, *mut c_void) -> u64,
    release: unsafe extern "C" fn(u64, u64, u64, *mut c_void),
    data: *mut c_void,
}

// Safety: whoever gave them promised that any thread may call them.
unsafe impl Send for Functions {}
// Safety: as above.
unsafe impl Sync for Functions {}

// Safety: that is what `qd_device_options` asks for.
unsafe impl Allocate for Functions {
    fn allocate(&self, bytes: u64, stream: u64) -> Option<u64> {
        // Safety: as above.
        let address = unsafe { (self.allocate)(bytes, stream, self.data) };
        (address != 0).then_some(address)
    }

    fn free(&self, address: u64, bytes: u64, stream: u64) {
        // Safety: as above.
        unsafe { (self.release)(address, bytes, stream, self.data) };
    }
}

fn options(given: Option<&qd_device_options>) -> Outcome<DeviceOptions> {
    let Some(given) = given else {
        return Ok(DeviceOptions::default());
    };
    let allocator = match (given.allocate, given.release) {
        (None, None) => None,
        (Some(allocate), Some(release)) => Some(Allocator::new(Arc::new(Functions {
            allocate,
            release,
            data: given.allocator_data,
        }))),
        _ => {
            return Err(Failure::handle(
                "an allocator has both functions, `allocate` and `release`, or neither",
            ));
        }
    };
    Ok(DeviceOptions {
        threads: (given.threads > 0).then_some(given.threads),
        allocator,
    })
}

/// Opens a device by its id: "cpu", "cuda:0", "hip:0", "vulkan:1"; without a number it is the first. `options` may
/// be null; one with an allocator opens another device each time. QD_ERROR_DEVICE if there is none: the message says
/// what is missing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_device_open(
    id: *const c_char,
    options: *const qd_device_options,
    device: *mut *mut qd_device,
) -> qd_status {
    call!({
        let to = place(device)?;
        let id = text(id, "the device's id")?.parse()?;
        let device = Device::open(&id, &self::options(options.as_ref())?)?;
        let texts = Texts::of(device.info());
        to.give(qd_device { device, texts });
        Ok(())
    })
}

/// Frees a handle of a device. The device is closed after its last object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_device_free(device: *mut qd_device) -> qd_status {
    call!({ free(device) })
}

/// Describes a device. What the description points to is valid as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_device_describe(
    device: *const qd_device,
    info: *mut qd_device_info,
) -> qd_status {
    call!({
        let device = get(device)?;
        write(info, device.texts.description(device.device.info()))
    })
}

/// Finds the devices of this machine: each is opened for a moment. `found` is called with each, and what it gets is
/// valid until it returns; `refused`, unless it is null, with the name of each driver that has none or the id of each
/// device that cannot be opened, and why. Both get `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_devices(
    found: Option<unsafe extern "C" fn(info: *const qd_device_info, data: *mut c_void)>,
    refused: Option<
        unsafe extern "C" fn(what: *const c_char, why: *const c_char, data: *mut c_void),
    >,
    data: *mut c_void,
) -> qd_status {
    call!({
        let found = found.ok_or_else(|| Failure::handle("`found` is null"))?;
        let devices = Devices::list();
        for info in &devices.found {
            let texts = Texts::of(info);
            found(&texts.description(info), data);
        }
        for (what, why) in &devices.refusals {
            if let Some(refused) = refused {
                let (what, why) = (c_text(what.as_str()), c_text(why.to_string()));
                refused(what.as_ptr(), why.as_ptr(), data);
            }
        }
        Ok(())
    })
}

/// How much memory of a device is in use, and what was copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_device_memory(
    device: *const qd_device,
    stats: *mut qd_memory_stats,
) -> qd_status {
    call!({
        let memory = get(device)?.device.memory();
        write(
            stats,
            qd_memory_stats {
                live: memory.live,
                reserved: memory.reserved,
                peak: memory.peak,
                allocations: memory.allocations,
                uploaded: memory.uploaded,
                downloaded: memory.downloaded,
            },
        )
    })
}

/// Has what kernels print (gpu.printf) given to `print` instead of standard output, with `data`: as text that is valid
/// until it returns, a print at a time, when somebody waits for a stream of the device or reads a buffer, by the thread
/// that does so, and when the device is closed. The order is that in which threads came to print. `release`, unless it
/// is null, is called with `data` once `print` is not called any more. A null `print` is standard output again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_device_on_print(
    device: *const qd_device,
    print: Option<unsafe extern "C" fn(text: *const c_char, data: *mut c_void)>,
    release: qd_release,
    data: *mut c_void,
) -> qd_status {
    call!({
        let printing = Printing {
            data,
            _kept: keep(release, data),
        };
        let device = &get(device)?.device;
        device.on_print(print.map(|print| -> Printer {
            Arc::new(move |text: &str| {
                let text = c_text(text);
                print(text.as_ptr(), printing.data());
            })
        }));
        Ok(())
    })
}

/// What a program's function for prints is called with.
struct Printing {
    data: *mut c_void,
    _kept: Option<Box<dyn Send + Sync>>,
}

// Safety: whoever gave it promised that any thread may call the function that it is for.
unsafe impl Send for Printing {}
// Safety: as above.
unsafe impl Sync for Printing {}

impl Printing {
    fn data(&self) -> *mut c_void {
        self.data
    }
}

/// Releases unused memory of a device to the system, until about so many bytes are held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_device_trim(device: *const qd_device, keep_bytes: u64) -> qd_status {
    call!({ Ok(get(device)?.device.trim(keep_bytes)?) })
}

/// Completes a target for a device: "vulkan:1.3" becomes "vulkan:1.3,subgroup=8" where subgroups have 8 lanes. Writes
/// at most `capacity` bytes with the 0 at the end, and to `length` how many there are without it; `resolved` may be
/// null where `capacity` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_device_resolve(
    device: *const qd_device,
    target: *const c_char,
    resolved: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> qd_status {
    call!({
        let target: TargetSpec = text(target, "the target")?.parse()?;
        let full = c_text(get(device)?.device.resolve(&target).to_string());
        let bytes = full.as_bytes_with_nul();
        if capacity > 0 && resolved.is_null() {
            return Err(Failure::handle("the place for the text is null"));
        }
        let fits = bytes.len().min(capacity);
        if fits > 0 {
            ptr::copy_nonoverlapping(bytes.as_ptr().cast(), resolved, fits);
            resolved.add(fits - 1).write(0);
        }
        write(length, bytes.len() - 1)
    })
}
