//! How calls end: a status, and a message of the thread.

use qd_frontend::{Diagnostics, TargetError, dispatch};
use std::{
    any::Any,
    cell::RefCell,
    ffi::{CString, c_char},
    fmt::Display,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum qd_status {
    /// It succeeded.
    QD_OK = 0,
    /// A handle or another pointer is null; in debug builds also a handle that was freed, or is of another kind.
    QD_ERROR_HANDLE = 1,
    /// A value is malformed: a text that is not UTF-8, an unknown type, an index without anything.
    QD_ERROR_VALUE = 2,
    /// The program, its header and the library do not fit each other.
    QD_ERROR_VERSION = 3,
    /// The compiler refused the source: the diagnostics say why.
    QD_ERROR_COMPILE = 4,
    /// A file cannot be read or written.
    QD_ERROR_FILE = 5,
    /// An artifact is malformed, damaged or of another version, or its code cannot be loaded.
    QD_ERROR_ARTIFACT = 6,
    /// There is no such device, or it failed.
    QD_ERROR_DEVICE = 7,
    /// The device lacks what the code needs, or the artifact is for other targets.
    QD_ERROR_UNSUPPORTED = 8,
    /// Things of two devices were mixed.
    QD_ERROR_WRONG_DEVICE = 9,
    /// There is nothing of that name.
    QD_ERROR_NOT_FOUND = 10,
    /// The arguments are not the kernel's.
    QD_ERROR_ARGUMENT = 11,
    /// The device did not start or did not finish a launch.
    QD_ERROR_LAUNCH = 12,
    /// A loop ran for more iterations than allowed.
    QD_ERROR_TOO_MANY_ITERATIONS = 13,
    /// There is no memory for it.
    QD_ERROR_OUT_OF_MEMORY = 14,
    /// Another library's array cannot be used, or given to it.
    QD_ERROR_FOREIGN = 15,
    /// The call cannot be captured.
    QD_ERROR_CAPTURE = 16,
    /// It cannot be recorded, or the graph is not ready.
    QD_ERROR_RECORDING = 17,
    /// A view, a copy or a cast that the buffer does not allow.
    QD_ERROR_VIEW = 18,
    /// No variant is eligible.
    QD_ERROR_NO_VARIANT = 19,
    /// A dispatcher cannot be made, or does not take the winners.
    QD_ERROR_DISPATCH = 20,
    /// A variable of the environment is malformed.
    QD_ERROR_ENVIRONMENT = 21,
    /// The device is lost: nothing of it can be used any more.
    QD_ERROR_LOST = 22,
    /// The process is a copy, by fork, of the one that opened the device.
    QD_ERROR_FORKED = 23,
    /// A session was edited meanwhile.
    QD_ERROR_CANCELLED = 24,
    /// A defect of this library.
    QD_ERROR_INTERNAL = 25,
    /// An assertion of a kernel did not hold.
    QD_ERROR_ASSERTION = 26,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub status: qd_status,
    pub message: String,
}

/// What a call yields.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub fn new(status: qd_status, message: impl Display) -> Self {
        Self {
            status,
            message: message.to_string(),
        }
    }

    pub fn handle(message: impl Display) -> Self {
        Self::new(qd_status::QD_ERROR_HANDLE, message)
    }

    pub fn value(message: impl Display) -> Self {
        Self::new(qd_status::QD_ERROR_VALUE, message)
    }

    pub fn version(message: impl Display) -> Self {
        Self::new(qd_status::QD_ERROR_VERSION, message)
    }
}

impl From<qd_runtime::Error> for Failure {
    fn from(error: qd_runtime::Error) -> Self {
        use qd_runtime::Error::*;
        use qd_status::*;
        let error = match error {
            // It was this library's before it came through the dispatcher.
            Function(inner) => match inner.downcast::<Failure>() {
                Ok(failure) => return *failure,
                Err(other) => Function(other),
            },
            error => error,
        };
        let status = match error.without_place() {
            NoDriver { .. } | Device(_) | Thread(_) => QD_ERROR_DEVICE,
            OtherTarget { .. }
            | MissingFeatures { .. }
            | MissingCapabilities { .. }
            | NoPlan { .. } => QD_ERROR_UNSUPPORTED,
            InvalidPlan(_) | Load(_) => QD_ERROR_ARTIFACT,
            UnknownKernel { .. } | UnknownArgument { .. } | UnknownVariant { .. } => {
                QD_ERROR_NOT_FOUND
            }
            ArgumentCount { .. }
            | ArgumentType { .. }
            | TooShort { .. }
            | Negative { .. }
            | OutOfBounds { .. }
            | Evaluate { .. }
            | Misaligned { .. }
            | Overlaps { .. }
            | ReadOnly { .. } => QD_ERROR_ARGUMENT,
            NoVariant { .. } => QD_ERROR_NO_VARIANT,
            TooManyIterations { .. } => QD_ERROR_TOO_MANY_ITERATIONS,
            OutOfMemory { .. } => QD_ERROR_OUT_OF_MEMORY,
            Launch { .. } => QD_ERROR_LAUNCH,
            Assertion(_) => QD_ERROR_ASSERTION,
            NotContiguous(_) | Foreign(_) => QD_ERROR_FOREIGN,
            Capture(_) => QD_ERROR_CAPTURE,
            WrongDevice { .. } => QD_ERROR_WRONG_DEVICE,
            Recording(_) => QD_ERROR_RECORDING,
            View(_) => QD_ERROR_VIEW,
            Lost { .. } => QD_ERROR_LOST,
            Forked => QD_ERROR_FORKED,
            Dispatch(error) => of_dispatch(error),
            // The runtime may get errors that this does not know yet.
            _ => QD_ERROR_INTERNAL,
        };
        Self::new(status, error)
    }
}

fn of_dispatch(error: &dispatch::Error) -> qd_status {
    use dispatch::Error::*;
    use qd_status::*;
    match error {
        NoEligible { .. } => QD_ERROR_NO_VARIANT,
        UnknownVariant { .. } => QD_ERROR_NOT_FOUND,
        NotMeasured { .. } => QD_ERROR_CAPTURE,
        Environment { .. } => QD_ERROR_ENVIRONMENT,
        File { .. } => QD_ERROR_FILE,
        _ => QD_ERROR_DISPATCH,
    }
}

impl From<dispatch::Error> for Failure {
    fn from(error: dispatch::Error) -> Self {
        Self::new(of_dispatch(&error), error)
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::new(qd_status::QD_ERROR_COMPILE, diagnostics)
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self::value(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(qd_status::QD_ERROR_FILE, error)
    }
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Why the last failing call of this thread failed. It is empty if none has failed, never null, and valid until the
/// thread's next failing call or its end.
#[unsafe(no_mangle)]
pub extern "C" fn qd_error_message() -> *const c_char {
    MESSAGE
        .try_with(|message| message.borrow().as_ptr())
        // The thread is ending.
        .unwrap_or(c"".as_ptr())
}

/// That message, as a program's function left it.
pub(crate) fn last_message() -> String {
    let message = MESSAGE.try_with(|message| message.borrow().to_string_lossy().into_owned());
    message.unwrap_or_default()
}

/// The name of a status, as in "QD_OK"; "unknown" of a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn qd_status_name(status: u32) -> *const c_char {
    use qd_status::*;
    const ALL: [(qd_status, &std::ffi::CStr); 27] = [
        (QD_OK, c"QD_OK"),
        (QD_ERROR_HANDLE, c"QD_ERROR_HANDLE"),
        (QD_ERROR_VALUE, c"QD_ERROR_VALUE"),
        (QD_ERROR_VERSION, c"QD_ERROR_VERSION"),
        (QD_ERROR_COMPILE, c"QD_ERROR_COMPILE"),
        (QD_ERROR_FILE, c"QD_ERROR_FILE"),
        (QD_ERROR_ARTIFACT, c"QD_ERROR_ARTIFACT"),
        (QD_ERROR_DEVICE, c"QD_ERROR_DEVICE"),
        (QD_ERROR_UNSUPPORTED, c"QD_ERROR_UNSUPPORTED"),
        (QD_ERROR_WRONG_DEVICE, c"QD_ERROR_WRONG_DEVICE"),
        (QD_ERROR_NOT_FOUND, c"QD_ERROR_NOT_FOUND"),
        (QD_ERROR_ARGUMENT, c"QD_ERROR_ARGUMENT"),
        (QD_ERROR_LAUNCH, c"QD_ERROR_LAUNCH"),
        (
            QD_ERROR_TOO_MANY_ITERATIONS,
            c"QD_ERROR_TOO_MANY_ITERATIONS",
        ),
        (QD_ERROR_OUT_OF_MEMORY, c"QD_ERROR_OUT_OF_MEMORY"),
        (QD_ERROR_FOREIGN, c"QD_ERROR_FOREIGN"),
        (QD_ERROR_CAPTURE, c"QD_ERROR_CAPTURE"),
        (QD_ERROR_RECORDING, c"QD_ERROR_RECORDING"),
        (QD_ERROR_VIEW, c"QD_ERROR_VIEW"),
        (QD_ERROR_NO_VARIANT, c"QD_ERROR_NO_VARIANT"),
        (QD_ERROR_DISPATCH, c"QD_ERROR_DISPATCH"),
        (QD_ERROR_ENVIRONMENT, c"QD_ERROR_ENVIRONMENT"),
        (QD_ERROR_LOST, c"QD_ERROR_LOST"),
        (QD_ERROR_FORKED, c"QD_ERROR_FORKED"),
        (QD_ERROR_CANCELLED, c"QD_ERROR_CANCELLED"),
        (QD_ERROR_INTERNAL, c"QD_ERROR_INTERNAL"),
        (QD_ERROR_ASSERTION, c"QD_ERROR_ASSERTION"),
    ];
    let found = ALL.iter().find(|(one, _)| *one as u32 == status);
    found.map_or(c"unknown", |(_, name)| *name).as_ptr()
}

/// Runs what may fail or panic, neither of which may reach C.
pub(crate) fn run(what: impl FnOnce() -> Outcome) -> qd_status {
    let failure = match catch_unwind(AssertUnwindSafe(what)) {
        Ok(Ok(())) => return qd_status::QD_OK,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::new(
            qd_status::QD_ERROR_INTERNAL,
            format!("a defect: {}", text_of(&*panic)),
        ),
    };
    let text = CString::new(failure.message.replace('\0', " ")).unwrap_or_default();
    // A thread that is ending has no message any more.
    let _ = MESSAGE.try_with(|message| message.replace(text));
    failure.status
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message")
}

/// The body of a function of the interface, which yields an [`Outcome`].
macro_rules! call {
    ($body:block) => {
        $crate::status::run(|| {
            // Safety: callers keep the rules at the head of the header, and the function's own, which
            // are what is asked for here.
            unsafe { $body }
        })
    };
}
pub(crate) use call;
