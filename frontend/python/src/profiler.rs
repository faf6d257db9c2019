//! When a device did what: the runtime's profiler.

use super::launch::{Device, failed};
use pyo3::prelude::*;
use qd_frontend::objects::{self, Attached, Detail, SpanKind};

/// Times what a device's own stream does, from its making on, step by step.
#[pyclass(frozen)]
pub struct Profiler {
    profiler: objects::Profiler,
    // Until this is dropped.
    _attached: Attached,
}

/// What is told of a span: its stream; its name; whether it is a step of the call that it lies in; when it began, from
/// the profiler's making, and how long it took, in nanoseconds; and what else there is to say, by name.
type Told = (u64, String, bool, u64, u64, Vec<(&'static str, String)>);

#[pymethods]
impl Profiler {
    #[new]
    fn new(device: &Device) -> PyResult<Self> {
        let profiler = objects::Profiler::new(&device.device, Detail::Steps).map_err(failed)?;
        let _attached = profiler.attach(&device.stream).map_err(failed)?;
        Ok(Self {
            profiler,
            _attached,
        })
    }

    /// What has ended since the last time, by the time it began. Waits for nothing.
    fn take(&self, py: Python<'_>) -> PyResult<Vec<Told>> {
        let spans = py.detach(|| self.profiler.take()).map_err(failed)?;
        let told = spans.iter().map(|span| {
            let is_step = matches!(span.kind, SpanKind::Step(_));
            let [start, duration] = [span.start, span.duration].map(|time| time.as_nanos() as u64);
            let details = span.details();
            (span.stream, span.name(), is_step, start, duration, details)
        });
        Ok(told.collect())
    }
}
