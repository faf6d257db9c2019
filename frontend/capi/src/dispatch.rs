//! Performance dispatch: of several kernels, the fastest is launched, as measured when they are called.

use crate::{
    argument::{QD_ARG_BUFFER, QD_ARG_MISSING, QD_ARG_SCALAR, QD_ARG_SHAPE, QD_ARG_SLOT},
    argument::{Tensors, dtype_number, given, hold, lent, qd_arg, qd_dtype},
    artifact::{at, path},
    device::qd_device,
    handle::{
        Lent, array, array_mut, c_text, free, get, get_optional, handles, place, text, write,
    },
    kernel::{launch_options, qd_kernel, qd_launch_options},
    status::{Failure, call, last_message, qd_status},
    stream::qd_stream,
};
use qd_frontend::{
    dispatch::{KernelDispatcher, KernelVariant, Policy, Settings},
    objects::{Arg, Stream},
};
use std::{
    ffi::{CString, c_char, c_void},
    time::Duration,
};

/// Kernels of one device that do the same, of which the fastest is launched.
pub struct qd_dispatcher {
    dispatcher: KernelDispatcher<u64>,
    variants: Vec<CString>,
}

handles!(qd_dispatcher => "dispatcher");

/// An argument as a condition and a geometry see it. Valid until they return.
#[repr(C)]
pub struct qd_given {
    /// QD_ARG_BUFFER, also for a tensor; QD_ARG_SCALAR, QD_ARG_SHAPE, QD_ARG_SLOT or QD_ARG_MISSING.
    pub kind: u32,
    /// The type of the elements or of the value; 0 if there is none.
    pub dtype: qd_dtype,
    /// How many extents it has.
    pub rank: usize,
    /// The extents, outermost first.
    pub shape: *const u64,
    /// The bits of a value.
    pub bits: u64,
}

/// Whether a variant may be launched with these arguments. It has to follow from the geometry. Any thread calls it.
pub type qd_condition = Option<
    unsafe extern "C" fn(arguments: *const qd_given, count: usize, data: *mut c_void) -> bool,
>;

/// What calls are told apart by: those of equal numbers have one winner. It is asked at each call and each number is
/// kept for good, so it should be coarse: the logarithm of a length, not the length. Any thread calls it.
pub type qd_geometry = Option<
    unsafe extern "C" fn(arguments: *const qd_given, count: usize, data: *mut c_void) -> u64,
>;

/// Puts all the work of a variant onto a stream, with the arguments of the launch, which it may pass to qd_launch():
/// tensors come as buffers. The stream and the arguments are valid until it returns. What it returns is how the launch
/// ends; after a failing call of this library, that call's status leaves its message. Any thread calls it.
pub type qd_function = Option<
    unsafe extern "C" fn(
        stream: *const qd_stream,
        arguments: *const qd_arg,
        count: usize,
        data: *mut c_void,
    ) -> qd_status,
>;

/// A variant of a dispatcher: a kernel, or a function.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct qd_variant {
    /// Its name, without a comma; null: the kernel's. Give a function another when its code changes: saved winners
    /// know it by its name alone.
    pub name: *const c_char,
    /// The kernel; null: it is a function.
    pub kernel: *const qd_kernel,
    /// The function of a variant without a kernel.
    pub function: qd_function,
    /// For `function`. It has to live as long as the dispatcher.
    pub function_data: *mut c_void,
    /// Whether it may be launched; null: it always may.
    pub condition: qd_condition,
    /// For `condition`. It has to live as long as the dispatcher.
    pub condition_data: *mut c_void,
}

/// How often variants are tried.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct qd_policy {
    /// Untimed launches of each variant in the first evaluation of a geometry.
    pub first_warmup: u32,
    /// Untimed launches of each variant in each later one.
    pub warmup: u32,
    /// Timed launches of each variant, at least 1. The least mean wins.
    pub active: u32,
    /// Calls of a geometry after which the next evaluation begins; 0: never.
    pub repeat_after_calls: u64,
    /// Nanoseconds after which it does; 0: never.
    pub repeat_after: u64,
}

/// What a program gave for a callback.
#[derive(Clone, Copy)]
struct Data(*mut c_void);

// Safety: whoever gave it promised that any thread may call the function that it is for.
unsafe impl Send for Data {}
// Safety: as above.
unsafe impl Sync for Data {}

impl Data {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

/// Arguments as callbacks see them.
fn seen(arguments: &[Arg<'_>]) -> Vec<qd_given> {
    let seen = arguments.iter().map(|one| {
        let shape = one.shape();
        let (kind, dtype, bits) = match one {
            Arg::Buffer(buffer) => (QD_ARG_BUFFER, dtype_number(buffer.dtype()), 0),
            Arg::Scalar(scalar) => (QD_ARG_SCALAR, dtype_number(scalar.dtype), scalar.bits),
            Arg::Slot(_) => (QD_ARG_SLOT, 0, 0),
            Arg::Shape(_) => (QD_ARG_SHAPE, 0, 0),
            Arg::Missing => (QD_ARG_MISSING, 0, 0),
        };
        qd_given {
            kind,
            dtype,
            rank: shape.len(),
            shape: shape.as_ptr(),
            bits,
        }
    });
    seen.collect()
}

/// Runs a variant that is a function.
///
/// # Safety
///
/// It is as [`qd_function`] says.
unsafe fn run(
    function: unsafe extern "C" fn(
        *const qd_stream,
        *const qd_arg,
        usize,
        *mut c_void,
    ) -> qd_status,
    on: &Stream,
    arguments: &[Arg<'_>],
    data: *mut c_void,
) -> Result<(), qd_runtime::Error> {
    let on = Lent::new(qd_stream(on.clone()));
    let (arguments, _handles) = lent(arguments);
    // Safety: by contract.
    let ended = unsafe { function(on.handle(), arguments.as_ptr(), arguments.len(), data) };
    match ended {
        qd_status::QD_OK => Ok(()),
        status => {
            let failure = Failure::new(status, last_message());
            Err(qd_runtime::Error::Function(Box::new(failure)))
        }
    }
}

fn policy(given: Option<&qd_policy>) -> Policy {
    given.map_or_else(Policy::default, |given| Policy {
        first_warmup: given.first_warmup,
        warmup: given.warmup,
        active: given.active,
        repeat_after_calls: (given.repeat_after_calls > 0).then_some(given.repeat_after_calls),
        repeat_after: (given.repeat_after > 0).then(|| Duration::from_nanos(given.repeat_after)),
    })
}

/// Makes a dispatcher of a device's kernels, which have to do the same and take the same arguments: names, types and
/// extents are compared. `geometry` may be null: then all calls have one winner. `geometry_data` is for it, and has to
/// live as long as the dispatcher. `policy` may be null: the first launch of each is untimed, the second counts, and
/// after 300 calls all are tried again. Reads the environment: QD_PERFDISPATCH_FORCE and QD_PERFDISPATCH_PRINT_DEBUG.
/// QD_ERROR_DISPATCH without variants, with two of one name or with other arguments; QD_ERROR_ENVIRONMENT if a
/// variable is malformed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_new(
    device: *const qd_device,
    name: *const c_char,
    variants: *const qd_variant,
    variant_count: usize,
    geometry: qd_geometry,
    geometry_data: *mut c_void,
    policy: *const qd_policy,
    dispatcher: *mut *mut qd_dispatcher,
) -> qd_status {
    call!({
        let to = place(dispatcher)?;
        let name = text(name, "the dispatcher's name")?;
        let mut known = Vec::new();
        for one in array(variants, variant_count, "the variants")? {
            let variant = match (get_optional(one.kernel)?, one.function) {
                (Some(_), Some(_)) => {
                    let why = "a variant has a kernel and a function: which one is it?";
                    return Err(Failure::value(why));
                }
                (Some(kernel), None) if one.name.is_null() => KernelVariant::new(&kernel.kernel),
                (Some(kernel), None) => {
                    KernelVariant::named(text(one.name, "a variant's name")?, &kernel.kernel)
                }
                (None, Some(function)) => {
                    let data = Data(one.function_data);
                    let name = text(one.name, "the name of a variant that is a function")?;
                    KernelVariant::function(name, move |on, arguments| {
                        run(function, on, arguments, data.get())
                    })
                }
                (None, None) => {
                    let why = "a variant's kernel is null, and so is its function";
                    return Err(Failure::handle(why));
                }
            };
            known.push(match one.condition {
                None => variant,
                Some(condition) => {
                    let data = Data(one.condition_data);
                    variant.when(move |arguments| {
                        let seen = seen(arguments);
                        condition(seen.as_ptr(), seen.len(), data.get())
                    })
                }
            });
        }
        let names = known
            .iter()
            .map(|one| c_text(&one.variant().name))
            .collect();
        let data = Data(geometry_data);
        let key = move |arguments: &[Arg<'_>]| {
            geometry.map_or(0, |geometry| {
                let seen = seen(arguments);
                geometry(seen.as_ptr(), seen.len(), data.get())
            })
        };
        let settings = Settings {
            policy: self::policy(policy.as_ref()),
            ..Settings::default()
        };
        let made = KernelDispatcher::new(name, &get(device)?.device, key, known, settings)?;
        to.give(qd_dispatcher {
            dispatcher: made,
            variants: names,
        });
        Ok(())
    })
}

/// Frees a dispatcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_free(dispatcher: *mut qd_dispatcher) -> qd_status {
    call!({ free(dispatcher) })
}

/// Launches one variant, as qd_launch() does: one that is tried, or the winner of the geometry. A timed trial waits,
/// before and after it, for the stream and for what other streams do with the arguments; other calls wait for nothing.
/// On a stream under capture nothing is measured. `options` may be null. QD_ERROR_NO_VARIANT if none is eligible,
/// QD_ERROR_CAPTURE if the stream is captured and the geometry has no winner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_launch(
    dispatcher: *const qd_dispatcher,
    stream: *const qd_stream,
    arguments: *const qd_arg,
    count: usize,
    options: *const qd_launch_options,
) -> qd_status {
    call!({
        let on = &get(stream)?.0;
        let held = hold(arguments, count, Tensors::On(on))?;
        let options = launch_options(options.as_ref());
        let dispatcher = &get(dispatcher)?.dispatcher;
        Ok(dispatcher.launch_with(on, &given(&held), &options)?)
    })
}

/// As qd_kernel_minimum(), for which every eligible variant can be launched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_minimum(
    dispatcher: *const qd_dispatcher,
    argument: *const c_char,
    arguments: *const qd_arg,
    count: usize,
    rows: *mut u64,
) -> qd_status {
    call!({
        let held = hold(arguments, count, Tensors::Shapes)?;
        let argument = text(argument, "the argument's name")?;
        let dispatcher = &get(dispatcher)?.dispatcher;
        write(rows, dispatcher.minimum(argument, &given(&held))?)
    })
}

/// The index of the variant that is launched with these arguments without measuring: what a recording takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_chosen(
    dispatcher: *const qd_dispatcher,
    arguments: *const qd_arg,
    count: usize,
    variant: *mut usize,
) -> qd_status {
    call!({
        let held = hold(arguments, count, Tensors::Shapes)?;
        let dispatcher = &get(dispatcher)?.dispatcher;
        let chosen = &dispatcher.chosen(&given(&held))?.variant().name;
        write(variant, dispatcher.dispatcher().variant(chosen)?)
    })
}

/// The name of a variant, by its index from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_variant(
    dispatcher: *const qd_dispatcher,
    index: usize,
    name: *mut *const c_char,
) -> qd_status {
    call!({ write(name, at(&get(dispatcher)?.variants, index, "variant")?) })
}

/// The index of the variant that has won for a geometry; -1 while they are tried.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_winner(
    dispatcher: *const qd_dispatcher,
    geometry: u64,
    variant: *mut i64,
) -> qd_status {
    call!({
        let winner = get(dispatcher)?.dispatcher.dispatcher().winner(&geometry);
        write(variant, winner.map_or(-1, |winner| winner as i64))
    })
}

/// For each variant the mean of its times for a geometry, in nanoseconds; UINT64_MAX of one that has none. Writes at
/// most `capacity` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_times(
    dispatcher: *const qd_dispatcher,
    geometry: u64,
    nanoseconds: *mut u64,
    capacity: usize,
) -> qd_status {
    call!({
        let dispatcher = get(dispatcher)?;
        let times = dispatcher.dispatcher.dispatcher().times(&geometry);
        let to = array_mut(nanoseconds, capacity, "where the times go")?;
        for (i, to) in to.iter_mut().enumerate().take(dispatcher.variants.len()) {
            let time = times.get(i).copied().flatten();
            *to = time.map_or(u64::MAX, |time| time.as_nanos() as u64);
        }
        Ok(())
    })
}

/// Has each call launch this variant, whatever its condition says, and measures nothing; null ends that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_force(
    dispatcher: *const qd_dispatcher,
    variant: *const c_char,
) -> qd_status {
    call!({
        let dispatcher = get(dispatcher)?.dispatcher.dispatcher();
        if variant.is_null() {
            dispatcher.unforce();
            return Ok(());
        }
        Ok(dispatcher.force(text(variant, "the variant's name")?)?)
    })
}

/// Measures nothing from now on, or measures again. Winners stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_freeze(
    dispatcher: *const qd_dispatcher,
    is_frozen: bool,
) -> qd_status {
    call!({
        let dispatcher = get(dispatcher)?.dispatcher.dispatcher();
        match is_frozen {
            true => dispatcher.freeze(),
            false => dispatcher.thaw(),
        }
        Ok(())
    })
}

/// Adds the winners of a dispatcher to a file, which is made if it is not there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_save(
    dispatcher: *const qd_dispatcher,
    path: *const c_char,
) -> qd_status {
    call!({ Ok(get(dispatcher)?.dispatcher.save(self::path(path)?)?) })
}

/// Takes the winners of a dispatcher from a file, and writes how many they are, unless `count` is null. QD_ERROR_FILE
/// if it cannot be read; QD_ERROR_DISPATCH if it is malformed, or its winners are of another device or driver, or
/// among other variants or code. Nothing is taken then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_dispatcher_load(
    dispatcher: *const qd_dispatcher,
    path: *const c_char,
    count: *mut usize,
) -> qd_status {
    call!({
        let loaded = get(dispatcher)?.dispatcher.load(self::path(path)?)?;
        match count.is_null() {
            true => Ok(()),
            false => write(count, loaded),
        }
    })
}
