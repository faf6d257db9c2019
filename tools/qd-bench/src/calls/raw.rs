//! A call's nodes, replayed by the vendor's API alone.

use anyhow::ensure;
use cudarc::driver::{result, sys};
use qd_frontend::objects::{Device, Stream};
use std::ptr;

/// An instantiated graph, and the stream it is replayed on.
pub struct Raw {
    stream: sys::CUstream,
    graph: sys::CUgraph,
    executable: sys::CUgraphExec,
}

impl Raw {
    /// What a call puts onto a stream that is being captured; nothing on devices that have no such
    /// thing. What it uses was used on `before` until now.
    pub fn capture(
        device: &Device,
        before: &Stream,
        call: impl FnOnce(&Stream) -> anyhow::Result<()>,
    ) -> anyhow::Result<Option<Self>> {
        let id = &device.info().id;
        if id.driver != "cuda" {
            return Ok(None);
        }
        let nth = result::device::get(id.ordinal as i32)?;
        // Safety: the device is there, and its context stays retained as long as this process.
        unsafe { result::ctx::set_current(result::primary_ctx::retain(nth)?) }?;
        let mut raw = Self {
            stream: ptr::null_mut(),
            graph: ptr::null_mut(),
            executable: ptr::null_mut(),
        };
        let non_blocking = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // Safety: the places to write to are ours, and the stream is used by this thread alone.
        unsafe {
            sys::cuStreamCreate(&mut raw.stream, non_blocking).result()?;
            let wrapped = device.wrap_stream(raw.stream as u64, None)?;
            wrapped.wait_for(&before.record()?)?;
            wrapped.synchronize()?;
            sys::cuStreamBeginCapture_v2(raw.stream, mode).result()?;
            let called = call(&wrapped);
            let ended = sys::cuStreamEndCapture(raw.stream, &mut raw.graph).result();
            called?;
            ended?;
            ensure!(!raw.graph.is_null(), "the capture holds nothing");
            sys::cuGraphInstantiateWithFlags(&mut raw.executable, raw.graph, 0).result()?;
        }
        Ok(Some(raw))
    }

    /// Puts it onto its stream.
    pub fn launch(&self) -> anyhow::Result<()> {
        // Safety: both live as long as this.
        Ok(unsafe { sys::cuGraphLaunch(self.executable, self.stream) }.result()?)
    }

    /// Waits for its stream.
    pub fn synchronize(&self) -> anyhow::Result<()> {
        // Safety: as above.
        Ok(unsafe { sys::cuStreamSynchronize(self.stream) }.result()?)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Safety: made by `capture`, and nobody else's. An error has been told before.
        unsafe {
            let _ = sys::cuStreamSynchronize(self.stream);
            let _ = sys::cuGraphExecDestroy(self.executable);
            let _ = sys::cuGraphDestroy(self.graph);
            let _ = sys::cuStreamDestroy_v2(self.stream);
        }
    }
}
