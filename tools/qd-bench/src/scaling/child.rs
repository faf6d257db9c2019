//! The process that compiles one module, and its report.

use super::What;
use anyhow::ensure;
use qd_frontend::{CompileOptions, Emit, Parsed, Source};
use std::{
    cell::Cell,
    mem::ManuallyDrop,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tracing_subscriber::{layer::SubscriberExt, registry::LookupSpan, util::SubscriberInitExt};

/// What a compilation costs.
pub struct Cost {
    /// Processor time in seconds, without LLVM's.
    pub ours: f64,
    /// That of LLVM's passes and code generation.
    pub llvm: f64,
    /// The process's memory at most, in MiB.
    pub peak: f64,
}

impl Cost {
    /// Reads what [`run`] prints.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        match numbers?[..] {
            [ours, llvm, peak] => Ok(Self { ours, llvm, peak }),
            _ => anyhow::bail!("not the cost of a compilation: {text:?}"),
        }
    }
}

/// What MLIR itself has to make functions of SPIR-V.
const UPSTREAM: &str = "func.func(canonicalize,cse),convert-func-to-spirv,convert-arith-to-spirv,\
     canonicalize,cse";

/// Compiles a file and prints what that costs.
pub fn run(path: &Path, target: &str, what: What) -> anyhow::Result<()> {
    tracing_subscriber::registry().with(LlvmTime).init();
    let context = ManuallyDrop::new(qd_frontend::lazy_context());
    let source = Source::read(path)?;
    let start = processor_time(libc::CLOCK_PROCESS_CPUTIME_ID);
    let parsed = Parsed::new(&context, &source, &mut |_| ())?;
    let mut parsed = ManuallyDrop::new(parsed);
    let run = |module: &mut _, pipeline: &str| {
        qd_dialects::pass::run_pipeline(&context, module, pipeline).map_err(anyhow::Error::msg)
    };
    let (spec, options) = (target.parse()?, CompileOptions::of_environment());
    match what {
        What::Code => drop(parsed.compile(&[spec], &options, &mut |_| ())?.to_bytes()),
        What::Plan => drop(parsed.translate(&spec, &options, Emit::Plan, &mut |_| ())?),
        What::Target => {
            let pipeline = format!("qd-to-target{{target={target}}}");
            run(parsed.module_mut(), &pipeline)?;
        }
        What::Upstream => run(parsed.module_mut(), UPSTREAM)?,
    }
    let all = processor_time(libc::CLOCK_PROCESS_CPUTIME_ID) - start;
    let llvm = Duration::from_nanos(LLVM.load(Ordering::Relaxed));
    println!(
        "{} {} {}",
        all.saturating_sub(llvm).as_secs_f64(),
        llvm.as_secs_f64(),
        peak()?
    );
    Ok(())
}

/// Nanoseconds that threads spent in LLVM.
static LLVM: AtomicU64 = AtomicU64::new(0);

/// Adds up the processor time in the spans of LLVM's work.
struct LlvmTime;

thread_local! {
    static ENTERED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for LlvmTime {
    fn on_enter(&self, id: &tracing::Id, context: tracing_subscriber::layer::Context<'_, S>) {
        if context.span(id).is_some_and(|span| is_llvm(span.name())) {
            ENTERED.set(processor_time(libc::CLOCK_THREAD_CPUTIME_ID));
        }
    }

    fn on_exit(&self, id: &tracing::Id, context: tracing_subscriber::layer::Context<'_, S>) {
        if context.span(id).is_some_and(|span| is_llvm(span.name())) {
            let spent = processor_time(libc::CLOCK_THREAD_CPUTIME_ID) - ENTERED.get();
            LLVM.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
        }
    }
}

/// Whether a span of `qd_lowering` is of nothing but LLVM's work; none is within another.
fn is_llvm(name: &str) -> bool {
    matches!(name, "optimise" | "codegen")
}

fn processor_time(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // Safety: the clock exists, and the time is ours.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The memory of this process at most, in MiB.
fn peak() -> anyhow::Result<f64> {
    // Safety: a structure of numbers, which the call fills.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // Safety: as above.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    ensure!(
        status == 0,
        "getrusage: {}",
        std::io::Error::last_os_error()
    );
    Ok(usage.ru_maxrss as f64 / 1024.0)
}
