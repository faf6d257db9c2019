//! The functions of the HIP runtime that the driver calls, loaded when the first device is opened.
//! Symbols, types and numbers are those of HIP 6.0 and later.

use crate::Error;
use libloading::Library;
use std::{
    env, error,
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    fmt,
    sync::OnceLock,
};

/// The library's names, newest first.
const NAMES: [&str; 3] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"];
/// The environment variable that names it otherwise.
const VARIABLE: &str = "QD_HIP_LIBRARY";
/// The oldest version, as `hipRuntimeGetVersion` has it: version 6 changed the numbers of
/// `hipMemoryType` and the layout of a device's properties.
const OLDEST: c_int = 60_000_000;

/// A `hipError_t` that is not `hipSuccess`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Code(pub c_int);

impl Code {
    pub const OUT_OF_MEMORY: Self = Self(2);
    pub const NO_DEVICE: Self = Self(100);
    pub const NOT_READY: Self = Self(600);

    /// Whether nothing can be done any more when a call has returned this: the device or its
    /// driver failed, or a kernel did.
    pub fn loses_device(self) -> bool {
        const DEINITIALIZED: c_int = 4;
        const ECC_NOT_CORRECTABLE: c_int = 214;
        const ILLEGAL_ADDRESS: c_int = 700;
        const LAUNCH_TIMED_OUT: c_int = 702;
        const CONTEXT_IS_DESTROYED: c_int = 709;
        const ASSERT: c_int = 710;
        const LAUNCH_FAILURE: c_int = 719;
        matches!(
            self.0,
            DEINITIALIZED
                | ECC_NOT_CORRECTABLE
                | ILLEGAL_ADDRESS
                | LAUNCH_TIMED_OUT
                | CONTEXT_IS_DESTROYED
                | ASSERT
                | LAUNCH_FAILURE
        )
    }
}

/// `hipErrorIllegalAddress: an illegal memory access was encountered`.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(api) = API.get() else {
            return write!(f, "HIP's error {}", self.0);
        };
        // Safety: they take any number.
        let texts = unsafe { [(api.error_name)(self.0), (api.error_string)(self.0)] };
        let [name, text] = texts.map(|text| match text.is_null() {
            true => format!("error {}", self.0),
            // Safety: the library's strings are constants that end in 0.
            false => unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned(),
        });
        write!(f, "{name}: {text}")
    }
}

/// A stream, an event, a module, a function or a pool.
pub(super) type Handle = *mut c_void;

/// How `hipModuleLaunchKernel` is told of kernel arguments as one block of bytes.
pub(super) const BUFFER_POINTER: *mut c_void = std::ptr::without_provenance_mut(1);
pub(super) const BUFFER_SIZE: *mut c_void = std::ptr::without_provenance_mut(2);
pub(super) const END: *mut c_void = std::ptr::without_provenance_mut(3);

/// `hipDeviceAttribute_t`.
pub(super) const MAX_SHARED_MEMORY_PER_BLOCK: c_int = 74;
pub(super) const WARP_SIZE: c_int = 87;
pub(super) const MEMORY_POOLS_SUPPORTED: c_int = 88;

/// `hipMemPoolAttr`.
pub(super) const RELEASE_THRESHOLD: c_int = 4;
pub(super) const RESERVED_MEM_CURRENT: c_int = 5;

/// `hipMemcpyKind`.
pub(super) const DEVICE_TO_HOST: c_int = 2;
/// The addresses tell which side is the host's.
pub(super) const BY_ADDRESS: c_int = 4;

/// `hipMemoryType`.
pub(super) const UNREGISTERED: c_int = 0;
pub(super) const HOST: c_int = 1;

/// Of a stream: no implicit order with the default stream.
pub(super) const NON_BLOCKING: c_uint = 1;
/// Of pinned memory: all devices see it.
pub(super) const PORTABLE: c_uint = 1;

/// `hipDeviceProp_tR0600`, of which only a part is read.
#[repr(C, align(8))]
pub(super) struct Properties([u8; 4096]);

impl Properties {
    /// Where `gcnArchName` is.
    const ARCHITECTURE: usize = 1160;

    /// Larger than the structure, which ends in members that later versions may use.
    pub fn new() -> Self {
        Self([0; 4096])
    }

    /// Such as `gfx90a:sramecc+:xnack-`.
    pub fn architecture(&self) -> String {
        let name = &self.0[Self::ARCHITECTURE..][..256];
        let name = CStr::from_bytes_until_nul(name).unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// `hipMemPoolProps`.
#[repr(C)]
pub(super) struct PoolProperties {
    allocation: c_int,
    handles: c_int,
    location: c_int,
    device: c_int,
    security: *mut c_void,
    max_bytes: usize,
    reserved: [u8; 56],
}

impl PoolProperties {
    /// Memory of a device, which no other process opens.
    pub fn of(device: c_int) -> Self {
        const PINNED: c_int = 1;
        const DEVICE: c_int = 1;
        Self {
            allocation: PINNED,
            handles: 0,
            location: DEVICE,
            device,
            security: std::ptr::null_mut(),
            max_bytes: 0,
            reserved: [0; 56],
        }
    }
}

/// `hipPointerAttribute_t`.
#[repr(C)]
pub(super) struct PointerAttributes {
    /// `hipMemoryType`.
    pub kind: c_int,
    pub device: c_int,
    device_pointer: *mut c_void,
    host_pointer: *mut c_void,
    is_managed: c_int,
    flags: c_uint,
}

impl PointerAttributes {
    pub fn new() -> Self {
        Self {
            kind: UNREGISTERED,
            device: -1,
            device_pointer: std::ptr::null_mut(),
            host_pointer: std::ptr::null_mut(),
            is_managed: 0,
            flags: 0,
        }
    }
}

/// A function of the library by its name.
///
/// # Safety
///
/// It is of this type, and the library stays loaded as long as it is used.
unsafe fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, Error> {
    // Safety: by contract.
    match unsafe { library.get::<T>(name) } {
        Ok(symbol) => Ok(*symbol),
        Err(_) => Err(Error::Device(format!("the HIP runtime has no {name}"))),
    }
}

/// Declares functions of the library by symbol, each as a method that returns what is not
/// `hipSuccess` as an error.
macro_rules! functions {
    ($($symbol:literal $name:ident($($argument:ident: $type:ty),*);)*) => {
        /// The library.
        pub(super) struct Api {
            error_name: unsafe extern "C" fn(c_int) -> *const c_char,
            error_string: unsafe extern "C" fn(c_int) -> *const c_char,
            $($name: unsafe extern "C" fn($($type),*) -> c_int,)*
            /// Owns the functions.
            _library: Library,
        }

        impl Api {
            /// # Safety
            ///
            /// The library's functions of these names are HIP's.
            unsafe fn of(library: Library) -> Result<Self, Error> {
                // Safety: by contract; `_library` keeps it loaded.
                unsafe {
                    Ok(Self {
                        error_name: symbol(&library, "hipGetErrorName")?,
                        error_string: symbol(&library, "hipGetErrorString")?,
                        $($name: symbol(&library, $symbol)?,)*
                        _library: library,
                    })
                }
            }

            $(
                /// # Safety
                ///
                #[doc = concat!("As `", $symbol, "` requires.")]
                #[allow(clippy::too_many_arguments)]
                pub unsafe fn $name(&self $(, $argument: $type)*) -> Result<(), Code> {
                    // Safety: by contract.
                    match unsafe { (self.$name)($($argument),*) } {
                        0 => Ok(()),
                        code => Err(Code(code)),
                    }
                }
            )*
        }
    };
}

functions! {
    "hipInit" init(flags: c_uint);
    "hipRuntimeGetVersion" runtime_version(version: *mut c_int);

    "hipGetDeviceCount" device_count(count: *mut c_int);
    "hipGetDevice" current_device(device: *mut c_int);
    "hipSetDevice" set_device(device: c_int);
    "hipDeviceGetName" device_name(name: *mut c_char, room: c_int, device: c_int);
    "hipDeviceGetAttribute" device_attribute(value: *mut c_int, attribute: c_int, device: c_int);
    "hipGetDevicePropertiesR0600" device_properties(properties: *mut Properties, device: c_int);
    "hipDeviceSynchronize" synchronize_device();

    "hipMemGetInfo" memory_info(free: *mut usize, total: *mut usize);
    "hipMemPoolCreate" create_pool(pool: *mut Handle, properties: *const PoolProperties);
    "hipMemPoolDestroy" destroy_pool(pool: Handle);
    "hipMemPoolGetAttribute" pool_attribute(pool: Handle, attribute: c_int, value: *mut c_void);
    "hipMemPoolSetAttribute" set_pool_attribute(pool: Handle, attribute: c_int, value: *mut c_void);
    "hipMemPoolTrimTo" trim_pool(pool: Handle, bytes: usize);
    "hipMallocFromPoolAsync" allocate(at: *mut *mut c_void, bytes: usize, pool: Handle, on: Handle);
    "hipFreeAsync" free(at: *mut c_void, on: Handle);
    "hipHostMalloc" allocate_host(at: *mut *mut c_void, bytes: usize, flags: c_uint);
    "hipHostFree" free_host(at: *mut c_void);
    "hipPointerGetAttributes" pointer_attributes(to: *mut PointerAttributes, of: *const c_void);

    "hipMemcpyAsync"
        copy(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int, on: Handle);
    "hipMemsetD8Async" set_8(at: *mut c_void, value: u8, count: usize, on: Handle);
    "hipMemsetD16Async" set_16(at: *mut c_void, value: u16, count: usize, on: Handle);
    "hipMemsetD32Async" set_32(at: *mut c_void, value: c_int, count: usize, on: Handle);

    "hipDeviceGetStreamPriorityRange" priorities(least: *mut c_int, greatest: *mut c_int);
    "hipStreamCreateWithPriority"
        create_stream(stream: *mut Handle, flags: c_uint, priority: c_int);
    "hipStreamDestroy" destroy_stream(stream: Handle);
    "hipStreamSynchronize" synchronize_stream(stream: Handle);
    "hipStreamWaitEvent" wait_event(stream: Handle, event: Handle, flags: c_uint);
    "hipStreamGetDevice" stream_device(stream: Handle, device: *mut c_int);
    "hipStreamIsCapturing" capture_status(stream: Handle, status: *mut c_int);

    "hipEventCreateWithFlags" create_event(event: *mut Handle, flags: c_uint);
    "hipEventDestroy" destroy_event(event: Handle);
    "hipEventRecord" record_event(event: Handle, stream: Handle);
    "hipEventQuery" query_event(event: Handle);
    "hipEventSynchronize" synchronize_event(event: Handle);
    "hipEventElapsedTime" elapsed(milliseconds: *mut f32, from: Handle, to: Handle);

    "hipModuleLoadData" load_module(module: *mut Handle, image: *const c_void);
    "hipModuleUnload" unload_module(module: Handle);
    "hipModuleGetFunction"
        function(function: *mut Handle, module: Handle, name: *const c_char);
    "hipModuleLaunchKernel" launch(
        function: Handle,
        blocks_x: c_uint, blocks_y: c_uint, blocks_z: c_uint,
        threads_x: c_uint, threads_y: c_uint, threads_z: c_uint,
        dynamic_shared_bytes: c_uint, on: Handle,
        parameters: *mut *mut c_void, extra: *mut *mut c_void
    );
}

// Safety: HIP's functions may be called by any thread.
unsafe impl Send for Api {}
// Safety: as above.
unsafe impl Sync for Api {}

/// The library, once it has been loaded; it stays.
static API: OnceLock<Api> = OnceLock::new();

/// The library, which is loaded if it is not yet, and initialised.
pub(super) fn api() -> Result<&'static Api, Error> {
    let api = match API.get() {
        Some(api) => api,
        None => {
            // Safety: a library of this name is HIP's.
            let api = unsafe { Api::of(library()?) }?;
            // Another thread may have been quicker: it has the same.
            API.get_or_init(|| api)
        }
    };
    // Safety: it takes no flags.
    match unsafe { api.init(0) } {
        Ok(()) | Err(Code::NO_DEVICE) => {}
        Err(code) => return Err(failed("the HIP runtime does not start", code)),
    }
    let version = api.version();
    let version = version.map_err(|code| failed("the HIP runtime's version", code))?;
    match version >= OLDEST {
        true => Ok(api),
        false => Err(Error::Device(format!(
            "the HIP runtime is of version {}.{}: 6.0 or later is required",
            version / 10_000_000,
            version / 100_000 % 100
        ))),
    }
}

impl Api {
    /// The library's version, as it numbers it.
    pub fn version(&self) -> Result<c_int, Code> {
        let mut version = 0;
        // Safety: it writes a number.
        unsafe { self.runtime_version(&mut version) }.map(|()| version)
    }
}

/// `6.0.32830` of HIP's number for it.
pub(super) fn dotted(version: c_int) -> String {
    let (major, minor, patch) = (
        version / 10_000_000,
        version / 100_000 % 100,
        version % 100_000,
    );
    format!("{major}.{minor}.{patch}")
}

/// `what` failed, as HIP says it.
pub(super) fn failed(what: &str, code: Code) -> Error {
    Error::Device(format!("{what}: {code}"))
}

fn library() -> Result<Library, Error> {
    if let Some(path) = env::var_os(VARIABLE) {
        // Safety: it runs the initialisers of the library that the user chose by the variable.
        return unsafe { Library::new(&path) }.map_err(|error| {
            // The loader's own words, which name the file, come after those of the crate.
            let reason =
                error::Error::source(&error).map_or(error.to_string(), ToString::to_string);
            Error::Device(format!(
                "there is no HIP runtime: {VARIABLE} is '{}': {reason}",
                path.display()
            ))
        });
    }
    // Safety: it runs the vendor's initialisers.
    let found = NAMES
        .iter()
        .find_map(|name| unsafe { Library::new(*name) }.ok());
    found.ok_or_else(|| {
        Error::Device(format!(
            "there is no HIP runtime: none of {} can be loaded, and {VARIABLE} names no other",
            NAMES.join(", ")
        ))
    })
}
