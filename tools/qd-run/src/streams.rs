//! A stream's work, in the trace beside the host's.

use qd_runtime::{
    Error,
    objects::{Attached, Detail, Profiler, Stream},
};
use qd_trace::{Guard, Slice};

/// A stream that is looked at from here on.
pub struct Traced<'a> {
    guard: &'a Guard,
    stream: Stream,
    profiler: Profiler,
    _attached: Attached,
}

impl<'a> Traced<'a> {
    /// Begins with a stream, if there is a trace.
    pub fn begin(guard: &'a Guard, stream: &Stream, detail: Detail) -> Result<Option<Self>, Error> {
        if !guard.is_tracing() {
            return Ok(None);
        }
        let profiler = Profiler::new(stream.device(), detail)?;
        let attached = profiler.attach(stream)?;
        Ok(Some(Self {
            guard,
            stream: stream.clone(),
            profiler,
            _attached: attached,
        }))
    }

    /// Adds what it has done to the trace.
    pub fn end(self) -> Result<(), Error> {
        self.stream.synchronize()?;
        let device = self.stream.device().info().id.to_string();
        for span in self.profiler.take()? {
            let slice = Slice {
                name: span.name(),
                start: self.profiler.made() + span.start,
                duration: span.duration,
                details: span.details(),
            };
            let row = format!("stream {}", span.stream);
            self.guard.add(&device, &row, [slice]);
        }
        Ok(())
    }
}
