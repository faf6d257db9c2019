//! C functions over the runtime: enough to run kernels on the memory and streams of another library,
//! as `pytorch.py` does. Every function that can fail returns 0 on success; otherwise it returns
//! another number, and [`qd_error`] has the message.
//!
//! Each handle is freed once, by the function named after it, in any order: a kernel, a launch or a
//! captured graph keeps alive what it needs.

use qd_artifact::Artifact;
use qd_runtime::{
    Scalar,
    objects::{
        Arg, Buffer, Device, DeviceOptions, Executable, Foreign, Kernel, LaunchOptions, Ready,
        Stream,
    },
};
use std::{
    any::Any,
    cell::RefCell,
    ffi::{CStr, CString, OsStr, c_char, c_int},
    os::unix::ffi::OsStrExt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    slice,
};

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// An argument: an array if `rank` is 0 or more, a value if it is −1, and missing if it is −2, as scratch
/// may be that the launch is to make.
#[repr(C)]
pub struct QdArg {
    /// Where an array begins, or a value's bits.
    pub word: u64,
    /// What its elements are, as `i32`.
    pub dtype: *const c_char,
    /// How many extents there are.
    pub rank: i32,
    /// Whether it may not be written.
    pub read_only: i32,
    /// The extents, outermost first.
    pub shape: *const u64,
    /// From one element to the next in each dimension, in elements; null: row-major.
    pub strides: *const i64,
}

/// An argument that is held during a call.
enum Held {
    Buffer(Buffer),
    Scalar(Scalar),
    Missing,
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Runs what may fail or panic, neither of which C knows.
fn run(what: impl FnOnce() -> Outcome) -> c_int {
    let text = match catch_unwind(AssertUnwindSafe(what)) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panicked(&*panic),
    };
    ERROR.with_borrow_mut(|error| {
        *error = CString::new(text.replace('\0', " ")).unwrap_or_default()
    });
    1
}

fn panicked(panic: &dyn Any) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a defect: {}", text.unwrap_or("no message"))
}

/// # Safety
///
/// It is null, or text that ends in 0 and lives as long.
unsafe fn text<'a>(text: *const c_char) -> Outcome<&'a str> {
    match text.is_null() {
        true => Err("a name is null".into()),
        // Safety: by contract.
        false => Ok(unsafe { CStr::from_ptr(text) }.to_str()?),
    }
}

/// # Safety
///
/// It is null, or a handle that has not been freed.
unsafe fn handle<'a, T>(handle: *const T) -> Outcome<&'a T> {
    // Safety: by contract.
    unsafe { handle.as_ref() }.ok_or_else(|| "a handle is null".into())
}

/// # Safety
///
/// `to` is null or can be written.
unsafe fn give<T>(to: *mut *mut T, what: T) -> Outcome {
    match to.is_null() {
        true => Err("the place for a handle is null".into()),
        false => {
            // Safety: by contract.
            unsafe { to.write(Box::into_raw(Box::new(what))) };
            Ok(())
        }
    }
}

/// # Safety
///
/// It is null, or a handle that has not been freed.
unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // Safety: by contract. A panic would end the process, as it should.
        drop(unsafe { Box::from_raw(handle) });
    }
}

/// Why this thread's last call failed.
#[unsafe(no_mangle)]
pub extern "C" fn qd_error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_ptr())
}

/// Opens a device, such as `cuda:0`.
///
/// # Safety
///
/// The name ends in 0, and `to` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_device_open(name: *const c_char, to: *mut *mut Device) -> c_int {
    run(|| {
        // Safety: by contract.
        let id = unsafe { text(name) }?.parse()?;
        let device = Device::open(&id, &DeviceOptions::default())?;
        // Safety: as above.
        unsafe { give(to, device) }
    })
}

/// Loads a file that `qd-translate -o` wrote.
///
/// # Safety
///
/// The handle is one, the path ends in 0, and `to` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_load_file(
    device: *const Device,
    path: *const c_char,
    to: *mut *mut Executable,
) -> c_int {
    run(|| {
        // Safety: by contract.
        let (device, path) = unsafe { (handle(device)?, CStr::from_ptr(path)) };
        let artifact = Artifact::open(Path::new(OsStr::from_bytes(path.to_bytes())))?;
        // Safety: as above.
        unsafe { give(to, device.load(&artifact)?) }
    })
}

/// A kernel by name.
///
/// # Safety
///
/// The handle is one, the name ends in 0, and `to` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_get(
    executable: *const Executable,
    name: *const c_char,
    to: *mut *mut Kernel,
) -> c_int {
    run(|| {
        // Safety: by contract.
        unsafe { give(to, handle(executable)?.kernel(text(name)?)?) }
    })
}

/// Wraps a foreign stream, which has to outlive the handle and what was launched on it.
///
/// # Safety
///
/// The handle is one, there is such a stream, and `to` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_wrap(
    device: *const Device,
    stream: u64,
    to: *mut *mut Stream,
) -> c_int {
    run(|| {
        // Safety: by contract.
        unsafe { give(to, handle(device)?.wrap_stream(stream, None)?) }
    })
}

/// Waits for a stream, and returns the error of the work on it, if there is one.
///
/// # Safety
///
/// The handle is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_synchronize(stream: *const Stream) -> c_int {
    run(|| {
        // Safety: by contract.
        Ok(unsafe { handle(stream) }?.synchronize()?)
    })
}

/// Rows that an argument must have at least, by the others; those it does not depend on may be
/// missing.
///
/// # Safety
///
/// The handles are such, the name ends in 0, there are as many arguments, and `rows` can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_minimum(
    kernel: *const Kernel,
    stream: *const Stream,
    argument: *const c_char,
    arguments: *const QdArg,
    count: usize,
    rows: *mut u64,
) -> c_int {
    run(|| {
        // Safety: by contract.
        let (kernel, stream) = unsafe { (handle(kernel)?, handle(stream)?) };
        // Safety: as above.
        let held = unsafe { hold(stream, arguments, count) }?;
        // Safety: as above.
        let minimum = kernel.minimum(unsafe { text(argument) }?, &given(&held))?;
        // Safety: as above.
        unsafe { rows.write(minimum) };
        Ok(())
    })
}

/// Puts a kernel onto a stream, in the order of what its owner puts there; if that is being
/// captured, into the graph. The arrays have to outlive the launch, and a captured one the graph.
/// Loops end after so many iterations, or never if it is 0.
///
/// # Safety
///
/// The handles are such, there are as many arguments, and the arrays are as they say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_launch(
    kernel: *const Kernel,
    stream: *const Stream,
    arguments: *const QdArg,
    count: usize,
    max_iterations: u64,
) -> c_int {
    run(|| {
        // Safety: by contract.
        let (kernel, stream) = unsafe { (handle(kernel)?, handle(stream)?) };
        // Safety: as above.
        let held = unsafe { hold(stream, arguments, count) }?;
        let options = LaunchOptions {
            max_iterations: (max_iterations > 0).then_some(max_iterations),
        };
        Ok(kernel.launch_with(stream, &given(&held), &options)?)
    })
}

/// Arrays as buffers where they are.
///
/// # Safety
///
/// There are as many arguments, and the arrays are as they say.
unsafe fn hold(on: &Stream, arguments: *const QdArg, count: usize) -> Outcome<Vec<Held>> {
    if arguments.is_null() || count == 0 {
        return Ok(Vec::new());
    }
    // Safety: by contract.
    let arguments = unsafe { slice::from_raw_parts(arguments, count) };
    let held = arguments.iter().map(|one| {
        if one.rank == -2 {
            return Ok(Held::Missing);
        }
        // Safety: by contract.
        let dtype = unsafe { text(one.dtype) }?.parse()?;
        let Ok(rank) = usize::try_from(one.rank) else {
            let bits = one.word;
            return Ok(Held::Scalar(Scalar { dtype, bits }));
        };
        // Safety: by contract.
        let (shape, strides) = unsafe { (extents(one.shape, rank), extents(one.strides, rank)) };
        let memory = Foreign {
            address: one.word,
            dtype,
            shape: shape.map(<[_]>::to_vec).unwrap_or_default(),
            strides: strides.map(<[_]>::to_vec),
            read_only: one.read_only != 0,
            ready: Ready::InOrder,
        };
        // Safety: by contract.
        let buffer = unsafe { Buffer::import(on, memory, None) }?;
        Ok(Held::Buffer(buffer))
    });
    held.collect()
}

/// # Safety
///
/// It is null, or there are as many.
unsafe fn extents<'a, T>(first: *const T, rank: usize) -> Option<&'a [T]> {
    // Safety: by contract.
    (!first.is_null()).then(|| unsafe { slice::from_raw_parts(first, rank) })
}

fn given(held: &[Held]) -> Vec<Arg<'_>> {
    held.iter().map(Held::given).collect()
}

impl Held {
    fn given(&self) -> Arg<'_> {
        match self {
            Held::Buffer(buffer) => Arg::Buffer(buffer),
            Held::Scalar(scalar) => Arg::Scalar(*scalar),
            Held::Missing => Arg::Missing,
        }
    }
}

/// Frees a handle.
///
/// # Safety
///
/// It is null, or has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_device_free(device: *mut Device) {
    // Safety: by contract.
    unsafe { free(device) }
}

/// Frees a handle.
///
/// # Safety
///
/// It is null, or has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_executable_free(executable: *mut Executable) {
    // Safety: by contract.
    unsafe { free(executable) }
}

/// Frees a handle.
///
/// # Safety
///
/// It is null, or has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_free(kernel: *mut Kernel) {
    // Safety: by contract.
    unsafe { free(kernel) }
}

/// Frees a handle.
///
/// # Safety
///
/// It is null, or has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_free(stream: *mut Stream) {
    // Safety: by contract.
    unsafe { free(stream) }
}

#[cfg(test)]
mod tests;
