//! Passes and pipelines written in Rust.
//!
//! A pass is a type that implements [`Pass`]; [`register`] makes it reachable
//! by name from every tool, with its options and help. Passes hold no state of
//! their own: MLIR clones them and runs them on several threads.

use crate::{
    diagnostic::{Diagnostic, Result},
    ir::{Context, Edit, Op},
    spans,
};
use melior::{StringRef, dialect::DialectHandle};
use mlir_sys::{MlirOperation, MlirStringRef};
use qd_sys::{QdBuildFn, QdOption, QdPassSpec, QdPipelineSpec, QdSinkFn};
use std::{
    any::Any,
    ffi::c_void,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError},
};

/// The name, help and default of an option of a pass.
#[derive(Clone, Debug)]
pub struct OptionInfo {
    /// `wave` of `--qd-select-subgroup-size=wave=32`.
    pub name: &'static str,
    /// Help text, one line.
    pub help: &'static str,
    /// The default, as text.
    pub initial: String,
}

/// The options of a pass or a pipeline. Made by [`crate::options!`].
pub trait Options: Sized + Send + Sync + 'static {
    /// Spelling, help and default of each option.
    fn describe() -> Vec<OptionInfo>;
    /// Reads the values, in the order of [`Options::describe`].
    fn parse(values: &[&str]) -> std::result::Result<Self, String>;
}

/// No options.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOptions;

impl Options for NoOptions {
    fn describe() -> Vec<OptionInfo> {
        Vec::new()
    }
    fn parse(_: &[&str]) -> std::result::Result<Self, String> {
        Ok(Self)
    }
}

/// Declares a struct of options. Every field has help (its doc comment), a type
/// that is `FromStr` and `Display`, and a default.
///
/// ```no_run
/// qd_dialects::options! {
///     /// Options of `qd-select-subgroup-size`.
///     pub struct SelectSubgroupSizeOptions {
///         /// lanes in a subgroup
///         wave: u32 = 32u32,
///     }
/// }
/// ```
#[macro_export]
macro_rules! options {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $(#[doc = $help:literal] $field:ident : $ty:ty = $initial:expr),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name { $(#[doc = $help] pub $field: $ty),* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $initial.into()),* }
            }
        }

        impl $crate::pass::Options for $name {
            fn describe() -> Vec<$crate::pass::OptionInfo> {
                let initial = Self::default();
                vec![$($crate::pass::OptionInfo {
                    name: $crate::pass::spelling(stringify!($field)),
                    help: $help.trim(),
                    initial: initial.$field.to_string(),
                }),*]
            }
            fn parse(values: &[&str]) -> ::std::result::Result<Self, ::std::string::String> {
                let mut values = values.iter();
                Ok(Self {
                    $($field: {
                        let text = values.next().copied().unwrap_or_default();
                        text.parse::<$ty>().map_err(|error| format!(
                            "option '{}': cannot read '{text}': {error}",
                            $crate::pass::spelling(stringify!($field))))?
                    }),*
                })
            }
        }
    };
}

/// The flag of a field: `max_size` is spelled `max-size`, as flags are.
pub fn spelling(field: &'static str) -> &'static str {
    if field.contains('_') {
        Box::leak(field.replace('_', "-").into_boxed_str())
    } else {
        field
    }
}

/// A pass over one kind of operation.
pub trait Pass: Send + Sync + 'static {
    /// Its options; [`NoOptions`] if it has none.
    type Options: Options;
    /// The flag, such as `qd-select-subgroup-size`.
    const NAME: &'static str;
    /// Its former name, whose use is an error that gives the new one.
    const FORMER_NAME: Option<&'static str> = None;
    /// A summary, in one line.
    const SUMMARY: &'static str;
    /// The operation it runs on.
    const ANCHOR: &'static str = "builtin.module";
    /// Dialects whose ops it creates and that its input may not hold. A pass may
    /// load no other while it runs, since other threads are running, too.
    fn dialects() -> Vec<DialectHandle> {
        Vec::new()
    }
    /// Rewrites `op`.
    fn run<'c>(op: Op<'c>, options: &Self::Options) -> Result<'c>;
}

/// A named pipeline: a readable list of passes.
pub trait Pipeline: Send + Sync + 'static {
    /// Its options.
    type Options: Options;
    /// The flag, such as `qd-to-cpu`.
    const NAME: &'static str;
    /// Its former name, as of a pass.
    const FORMER_NAME: Option<&'static str> = None;
    /// A summary, in one line.
    const SUMMARY: &'static str;
    /// The passes, as text: the contents of the parentheses in `builtin.module(…)`.
    fn passes(options: &Self::Options) -> std::result::Result<String, String>;
}

/// A pass or a pipeline that has been registered, for help texts.
pub struct Registered {
    /// The flag.
    pub name: &'static str,
    /// A summary, in one line.
    pub summary: &'static str,
    /// Its options.
    pub options: Vec<OptionInfo>,
    /// Whether it is a pipeline.
    pub is_pipeline: bool,
}

static REGISTERED: Mutex<Vec<Registered>> = Mutex::new(Vec::new());

/// Calls `show` with every pass and pipeline that has been registered from Rust,
/// sorted by name.
pub fn for_each_registered(mut show: impl FnMut(&Registered)) {
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|one| one.name);
    all.iter().for_each(&mut show);
}

fn list(name: &'static str, summary: &'static str, options: Vec<OptionInfo>, is_pipeline: bool) {
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    all.push(Registered {
        name,
        summary,
        options,
        is_pipeline,
    });
}

/// A pass or a pipeline by the name that it had.
struct Former<P>(PhantomData<fn() -> P>);

const RENAMED: &str = "Has another name now";

fn renamed(now: &str) -> String {
    format!("is called '{now}' now")
}

impl<P: Pass> Pass for Former<P> {
    type Options = P::Options;
    const NAME: &'static str = match P::FORMER_NAME {
        Some(name) => name,
        None => "",
    };
    const SUMMARY: &'static str = RENAMED;
    const ANCHOR: &'static str = P::ANCHOR;

    fn run<'c>(op: Op<'c>, _: &Self::Options) -> Result<'c> {
        let message = format!("pass '{}' {}", Self::NAME, renamed(P::NAME));
        Err(Diagnostic::new(op.location(), message))
    }
}

/// Makes a pass reachable by its name. Once a process.
pub fn register<P: Pass>() {
    let options = register_unlisted::<P>();
    list(P::NAME, P::SUMMARY, options, false);
    if P::FORMER_NAME.is_some() {
        register_unlisted::<Former<P>>();
    }
}

fn register_unlisted<P: Pass>() -> Vec<OptionInfo> {
    let options = P::Options::describe();
    let dialects: Vec<_> = P::dialects().iter().map(|d| d.to_raw()).collect();
    let raw_options = raw_options(&options);
    let spec = QdPassSpec {
        id: type_id::<P>(),
        name: borrowed(P::NAME),
        argument: borrowed(P::NAME),
        description: borrowed(P::SUMMARY),
        anchor: borrowed(P::ANCHOR),
        num_dialects: dialects.len() as isize,
        dialects: dialects.as_ptr(),
        num_options: raw_options.len() as isize,
        options: raw_options.as_ptr(),
        run: run_pass::<P>,
        data: std::ptr::null_mut(),
    };
    // Safety: the shim copies everything the spec points to.
    unsafe { qd_sys::qdRegisterPass(&spec) }
    options
}

/// Makes a pipeline reachable by its name. Once a process.
pub fn register_pipeline<P: Pipeline>() {
    let options = P::Options::describe();
    register_pipeline_as(P::NAME, P::SUMMARY, &options, build_pipeline::<P>);
    if let Some(former) = P::FORMER_NAME {
        register_pipeline_as(former, RENAMED, &options, build_renamed::<P>);
    }
    list(P::NAME, P::SUMMARY, options, true);
}

fn register_pipeline_as(
    name: &'static str,
    summary: &'static str,
    options: &[OptionInfo],
    build: QdBuildFn,
) {
    let raw_options = raw_options(options);
    let spec = QdPipelineSpec {
        argument: borrowed(name),
        description: borrowed(summary),
        num_options: raw_options.len() as isize,
        options: raw_options.as_ptr(),
        build,
        data: std::ptr::null_mut(),
    };
    // Safety: as above.
    unsafe { qd_sys::qdRegisterPipeline(&spec) }
}

/// Runs a pass directly, without a pass manager, emitting its error if it
/// fails.
pub fn run<'c, P: Pass>(op: Op<'c>, options: &P::Options) -> bool {
    let location = op.location();
    let edit = Edit::of(Some(op));
    let outcome = catch_unwind(AssertUnwindSafe(|| P::run(op, options)));
    let ended = edit.end();
    match outcome {
        Ok(outcome) => match outcome.and(ended) {
            Ok(()) => true,
            Err(diagnostic) => {
                diagnostic.emit();
                false
            }
        },
        Err(panic) => {
            Diagnostic::new(
                location,
                format!(
                    "pass '{}' panicked: {}; this is a bug in the pass",
                    P::NAME,
                    panic_message(&*panic)
                ),
            )
            .emit();
            false
        }
    }
}

/// The text of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// Runs a textual pipeline over a module; an error if a pass failed. Diagnostics
/// go to the context's handlers.
pub fn run_pipeline(
    context: &Context,
    module: &mut melior::ir::Module<'_>,
    passes: &str,
) -> std::result::Result<(), String> {
    let manager = melior::pass::PassManager::new(context);
    // The verifier after every pass finds mistakes of passes, and takes a quarter of
    // the time: it is for debug builds, and for `qd-opt`, which brings its own.
    manager.enable_verifier(cfg!(debug_assertions));
    let text = if passes.starts_with("builtin.module(") {
        passes.to_string()
    } else {
        format!("builtin.module({passes})")
    };
    melior::utility::parse_pass_pipeline(manager.as_operation_pass_manager(), &text)
        .map_err(|error| format!("pipeline '{passes}': {error}"))?;
    if let Some(spans) = spans::wanted() {
        // Safety: a live pass manager; functions are never freed.
        unsafe { qd_sys::qdPassManagerTrace(manager.to_raw(), *spans) }
    }
    manager
        .run(module)
        .map_err(|_| format!("pipeline '{passes}' failed"))
}

unsafe extern "C" fn run_pass<P: Pass>(
    op: MlirOperation,
    count: isize,
    values: *const MlirStringRef,
    _: *mut c_void,
) -> bool {
    // Safety: MLIR hands a valid operation, and strings that live through the
    // call.
    let (op, values) = unsafe {
        (
            Op::from_raw(op),
            texts(std::slice::from_raw_parts(values, count as usize)),
        )
    };
    match P::Options::parse(&values) {
        Ok(options) => run::<P>(op, &options),
        Err(message) => {
            Diagnostic::new(op.location(), format!("pass '{}': {message}", P::NAME)).emit();
            false
        }
    }
}

unsafe extern "C" fn build_pipeline<P: Pipeline>(
    count: isize,
    values: *const MlirStringRef,
    sink: QdSinkFn,
    to: *mut c_void,
    _: *mut c_void,
) -> bool {
    // Safety: strings live through the call; `sink` copies what it gets.
    unsafe {
        let values = texts(std::slice::from_raw_parts(values, count as usize));
        let outcome =
            catch_unwind(|| P::Options::parse(&values).and_then(|options| P::passes(&options)))
                .unwrap_or_else(|panic| Err(panic_message(&*panic).to_string()));
        let (text, good) = match outcome {
            Ok(passes) => (passes, true),
            Err(message) => (message, false),
        };
        sink(StringRef::new(&text).to_raw(), to);
        good
    }
}

unsafe extern "C" fn build_renamed<P: Pipeline>(
    _: isize,
    _: *const MlirStringRef,
    sink: QdSinkFn,
    to: *mut c_void,
    _: *mut c_void,
) -> bool {
    let former = P::FORMER_NAME.unwrap_or_default();
    let message = format!("pipeline '{former}' {}", renamed(P::NAME));
    // Safety: `sink` copies what it gets.
    unsafe { sink(StringRef::new(&message).to_raw(), to) }
    false
}

fn borrowed(text: &'static str) -> MlirStringRef {
    MlirStringRef {
        data: text.as_ptr().cast(),
        length: text.len(),
    }
}

fn raw_options(options: &[OptionInfo]) -> Vec<QdOption> {
    options
        .iter()
        .map(|option| QdOption {
            name: borrowed(option.name),
            description: borrowed(option.help),
            initial: MlirStringRef {
                data: option.initial.as_ptr().cast(),
                length: option.initial.len(),
            },
        })
        .collect()
}

/// # Safety
///
/// Each string must be valid while the result is used.
unsafe fn texts(values: &[MlirStringRef]) -> Vec<&str> {
    values
        .iter()
        .map(|value| {
            // Safety: by contract; an empty string may have a null pointer.
            let bytes = if value.length == 0 {
                &[]
            } else {
                // Safety: by contract.
                unsafe { std::slice::from_raw_parts(value.data.cast::<u8>(), value.length) }
            };
            std::str::from_utf8(bytes).unwrap_or_default()
        })
        .collect()
}

/// MLIR identifies a pass by the address of something unique to it.
fn type_id<P: Pass>() -> mlir_sys::MlirTypeID {
    use std::{
        any::TypeId as RustId,
        collections::HashMap,
        sync::{LazyLock, Mutex},
    };
    #[repr(align(8))]
    struct Anchor(#[allow(dead_code)] u8);
    static ANCHORS: LazyLock<Mutex<HashMap<RustId, &'static Anchor>>> =
        LazyLock::new(Mutex::default);
    let mut anchors = ANCHORS.lock().unwrap_or_else(|e| e.into_inner());
    let anchor = *anchors
        .entry(RustId::of::<P>())
        .or_insert_with(|| Box::leak(Box::new(Anchor(0))));
    // Safety: the anchor is aligned and never freed.
    unsafe { mlir_sys::mlirTypeIDCreate(std::ptr::from_ref(anchor).cast()) }
}
