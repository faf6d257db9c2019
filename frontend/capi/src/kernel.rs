//! Artifacts on a device, and their kernels.

use crate::{
    argument::{Tensors, dtype_number, given, hold, qd_arg, qd_dtype},
    artifact::{self, qd_artifact},
    device::qd_device,
    handle::{c_text, free, get, handles, place, text, write},
    status::{Failure, call, qd_status},
    stream::qd_stream,
};
use qd_frontend::{
    Access, Argument, ArgumentKind, Role,
    objects::{Executable, Kernel, LaunchOptions},
};
use std::ffi::{CString, c_char};

/// An artifact on a device.
pub struct qd_executable {
    executable: Executable,
    kernels: Vec<CString>,
}

/// A kernel on a device. It keeps prepared launches.
pub struct qd_kernel {
    pub(crate) kernel: Kernel,
    name: CString,
    arguments: Vec<Described>,
}

handles!(qd_executable => "executable", qd_kernel => "kernel");

/// The texts and extents of an argument, as C reads them.
struct Described {
    name: CString,
    shape: Vec<u64>,
}

/// An extent of a kernel's argument that is known at launch only.
pub const QD_ANY_EXTENT: u64 = u64::MAX;

/// What a kernel does with an argument: it does not write it.
pub const QD_ACCESS_READ: u32 = 0;
/// What a kernel does with an argument: it writes some of it, and does not read what was there.
pub const QD_ACCESS_WRITE: u32 = 1;
/// What a kernel does with an argument: both, or that is not known.
pub const QD_ACCESS_READ_WRITE: u32 = 2;

/// What an argument is for: an input or a result.
pub const QD_ROLE_DATA: u32 = 0;
/// What an argument is for: scratch, of which the contents are undefined before and after.
pub const QD_ROLE_SCRATCH: u32 = 1;
/// What an argument is for: how many elements there are.
pub const QD_ROLE_COUNT: u32 = 2;

/// An argument that a kernel takes.
#[repr(C)]
pub struct qd_parameter {
    /// What the source calls it.
    pub name: *const c_char,
    /// Whether it is an array; otherwise it is a value.
    pub is_buffer: bool,
    /// The type of its elements, or of the value.
    pub dtype: qd_dtype,
    /// How many extents it has.
    pub rank: usize,
    /// The extents, outermost first; QD_ANY_EXTENT is any.
    pub shape: *const u64,
    /// One of the QD_ACCESS.
    pub access: u32,
    /// One of the QD_ROLE.
    pub role: u32,
    /// Whether it may share memory with others that may.
    pub may_alias: bool,
}

/// Options of a launch. Zeros are the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct qd_launch_options {
    /// Iterations after which a loop of a kernel is QD_ERROR_TOO_MANY_ITERATIONS; 0: it may run forever. A device that
    /// decides by itself ends the loop, and a later launch, read or wait, on any stream, returns the error.
    pub max_iterations: u64,
}

pub(crate) fn launch_options(options: Option<&qd_launch_options>) -> LaunchOptions {
    let most = options.map_or(0, |options| options.max_iterations);
    LaunchOptions {
        max_iterations: (most > 0).then_some(most),
    }
}

fn loaded(device: &qd_device, artifact: &qd_frontend::Artifact) -> Result<qd_executable, Failure> {
    let executable = device.device.load(artifact)?;
    Ok(qd_executable {
        kernels: executable.kernels().map(c_text).collect(),
        executable,
    })
}

/// Prepares an artifact's kernels for a device: with the first of its targets that the device can run.
/// QD_ERROR_UNSUPPORTED if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_load(
    device: *const qd_device,
    artifact: *const qd_artifact,
    executable: *mut *mut qd_executable,
) -> qd_status {
    call!({
        let to = place(executable)?;
        to.give(loaded(get(device)?, &get(artifact)?.artifact)?);
        Ok(())
    })
}

/// As qd_artifact_open() and qd_load().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_load_file(
    device: *const qd_device,
    path: *const c_char,
    executable: *mut *mut qd_executable,
) -> qd_status {
    call!({
        let to = place(executable)?;
        let device = get(device)?;
        to.give(loaded(device, &artifact::open(artifact::path(path)?)?)?);
        Ok(())
    })
}

/// Frees a handle of an executable. Its kernels keep what they need.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_executable_free(executable: *mut qd_executable) -> qd_status {
    call!({ free(executable) })
}

/// How many kernels an executable has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_executable_kernel_count(
    executable: *const qd_executable,
    count: *mut usize,
) -> qd_status {
    call!({ write(count, get(executable)?.kernels.len()) })
}

/// The name of a kernel of an executable, by its index from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_executable_kernel_name(
    executable: *const qd_executable,
    index: usize,
    name: *mut *const c_char,
) -> qd_status {
    call!({
        write(
            name,
            artifact::at(&get(executable)?.kernels, index, "kernel")?,
        )
    })
}

fn described(kernel: Kernel) -> qd_kernel {
    let arguments = kernel.signature().iter().map(|argument| Described {
        name: c_text(&argument.name),
        shape: match &argument.kind {
            ArgumentKind::Buffer { shape, .. } => {
                let extents = shape.iter().map(|extent| extent.unwrap_or(QD_ANY_EXTENT));
                extents.collect()
            }
            ArgumentKind::Scalar { .. } => Vec::new(),
        },
    });
    qd_kernel {
        name: c_text(kernel.name()),
        arguments: arguments.collect(),
        kernel,
    }
}

/// A kernel by name. QD_ERROR_NOT_FOUND if there is none: the message lists those there are. QD_ERROR_UNSUPPORTED if
/// the device lacks what it needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_get(
    executable: *const qd_executable,
    name: *const c_char,
    kernel: *mut *mut qd_kernel,
) -> qd_status {
    call!({
        let to = place(kernel)?;
        let name = text(name, "the kernel's name")?;
        to.give(described(get(executable)?.executable.kernel(name)?));
        Ok(())
    })
}

/// The same kernel, whose dispatches (qd.grid.dispatch) run this variant where it is eligible.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_preferring(
    kernel: *const qd_kernel,
    variant: *const c_char,
    preferring: *mut *mut qd_kernel,
) -> qd_status {
    call!({
        let to = place(preferring)?;
        let variant = text(variant, "the variant's name")?;
        to.give(described(get(kernel)?.kernel.preferring(variant)?));
        Ok(())
    })
}

/// Frees a handle of a kernel. Launches of it go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_free(kernel: *mut qd_kernel) -> qd_status {
    call!({ free(kernel) })
}

/// The name of a kernel, and how many arguments it takes. Either place may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_describe(
    kernel: *const qd_kernel,
    name: *mut *const c_char,
    parameters: *mut usize,
) -> qd_status {
    call!({
        let kernel = get(kernel)?;
        if !name.is_null() {
            name.write(kernel.name.as_ptr());
        }
        if !parameters.is_null() {
            parameters.write(kernel.arguments.len());
        }
        Ok(())
    })
}

/// Describes an argument that a kernel takes, by its index from 0. What the description points to is valid as long as
/// the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_parameter(
    kernel: *const qd_kernel,
    index: usize,
    parameter: *mut qd_parameter,
) -> qd_status {
    call!({
        let kernel = get(kernel)?;
        let both = kernel.kernel.signature().get(index);
        let both = both.zip(kernel.arguments.get(index));
        let (argument, described) = both.ok_or_else(|| {
            Failure::value(format!(
                "there is no argument {index}: there are {}",
                kernel.arguments.len()
            ))
        })?;
        write(parameter, self::parameter(argument, described))
    })
}

fn parameter(argument: &Argument, described: &Described) -> qd_parameter {
    let (is_buffer, dtype) = match argument.kind {
        ArgumentKind::Buffer { dtype, .. } => (true, dtype),
        ArgumentKind::Scalar { dtype } => (false, dtype),
    };
    qd_parameter {
        name: described.name.as_ptr(),
        is_buffer,
        dtype: dtype_number(dtype),
        rank: described.shape.len(),
        shape: described.shape.as_ptr(),
        access: match argument.access {
            Access::Read => QD_ACCESS_READ,
            Access::Write => QD_ACCESS_WRITE,
            Access::ReadWrite => QD_ACCESS_READ_WRITE,
        },
        role: match argument.role {
            Role::Data => QD_ROLE_DATA,
            Role::Scratch => QD_ROLE_SCRATCH,
            Role::Count => QD_ROLE_COUNT,
        },
        may_alias: argument.may_alias,
    }
}

/// The least number of rows of one of a kernel's buffers, from the other arguments: of scratch what its algorithms
/// need, 0 where there is no such bound. Arguments on which it does not depend may be missing, and arrays may be
/// shapes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_minimum(
    kernel: *const qd_kernel,
    argument: *const c_char,
    arguments: *const qd_arg,
    count: usize,
    rows: *mut u64,
) -> qd_status {
    call!({
        let held = hold(arguments, count, Tensors::Shapes)?;
        let argument = text(argument, "the argument's name")?;
        write(rows, get(kernel)?.kernel.minimum(argument, &given(&held))?)
    })
}

/// Loads all code of a kernel onto the device, so that no launch does. A driver may take long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_load(kernel: *const qd_kernel) -> qd_status {
    call!({ Ok(get(kernel)?.kernel.load()?) })
}

/// Prepares a launch with these arguments on this stream, so that it takes no longer than later ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_kernel_prepare(
    kernel: *const qd_kernel,
    stream: *const qd_stream,
    arguments: *const qd_arg,
    count: usize,
) -> qd_status {
    call!({
        let on = &get(stream)?.0;
        let held = hold(arguments, count, Tensors::On(on))?;
        Ok(get(kernel)?.kernel.prepare(on, &given(&held))?)
    })
}

/// Puts a kernel onto a stream, after all uses of the same buffers; if its owner is capturing the stream, into that
/// graph. Waits for nothing where the device works by itself, and allocates nothing unless scratch is left out.
/// `options` may be null. The arguments are checked first, and an error has done nothing, but for a loop that goes on
/// too long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_launch(
    kernel: *const qd_kernel,
    stream: *const qd_stream,
    arguments: *const qd_arg,
    count: usize,
    options: *const qd_launch_options,
) -> qd_status {
    call!({
        let on = &get(stream)?.0;
        let held = hold(arguments, count, Tensors::On(on))?;
        let options = launch_options(options.as_ref());
        let kernel = &get(kernel)?.kernel;
        Ok(kernel.launch_with(on, &given(&held), &options)?)
    })
}
