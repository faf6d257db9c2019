//! A call's nodes, replayed by the vendor's API alone.

use anyhow::ensure;
use cudarc::driver::{result, sys};
use qd_frontend::objects::{Device, Stream};
use std::{collections::HashMap, ptr};

/// An instantiated graph, and the stream it is replayed on.
pub struct Raw {
    stream: sys::CUstream,
    /// What was captured.
    graph: sys::CUgraph,
    copy: sys::CUgraph,
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
            copy: ptr::null_mut(),
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
            raw.copy = without_objects(raw.graph)?;
            let graph = if raw.copy.is_null() {
                raw.graph
            } else {
                raw.copy
            };
            sys::cuGraphInstantiateWithFlags(&mut raw.executable, graph, 0).result()?;
        }
        Ok(Some(raw))
    }

    /// Another graph of the same nodes that can be launched, and has been.
    pub fn again(&self) -> anyhow::Result<Again> {
        let graph = if self.copy.is_null() {
            self.graph
        } else {
            self.copy
        };
        let mut made = Again(ptr::null_mut());
        // Safety: the graph is ours, and its nodes' memory is there.
        unsafe {
            sys::cuGraphInstantiateWithFlags(&mut made.0, graph, 0).result()?;
            sys::cuGraphLaunch(made.0, self.stream).result()?;
            sys::cuStreamSynchronize(self.stream).result()?;
        }
        Ok(made)
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

/// See [`Raw::again`].
pub struct Again(sys::CUgraphExec);

impl Drop for Again {
    fn drop(&mut self) {
        // Safety: made by `again`.
        let _ = unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}

/// The same nodes in a graph that holds nothing of ours, which a launch would have to count;
/// null if some are neither kernels nor empty.
///
/// # Safety
///
/// The graph exists, nothing else uses it, and the one that it was captured into outlives the result.
unsafe fn without_objects(captured: sys::CUgraph) -> anyhow::Result<sys::CUgraph> {
    let (mut nodes_count, mut edges_count) = (0, 0);
    let mut graph = ptr::null_mut();
    // Safety: the places to write to are ours, and as large as the driver said.
    unsafe {
        sys::cuGraphGetNodes(captured, ptr::null_mut(), &mut nodes_count).result()?;
        let mut nodes = vec![ptr::null_mut(); nodes_count];
        sys::cuGraphGetNodes(captured, nodes.as_mut_ptr(), &mut nodes_count).result()?;
        let mut are_kernels = Vec::new();
        for node in &nodes {
            let mut kind = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
            sys::cuGraphNodeGetType(*node, &mut kind).result()?;
            are_kernels.push(match kind {
                sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => true,
                sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY => false,
                _ => return Ok(graph),
            });
        }
        let none = ptr::null_mut();
        sys::cuGraphGetEdges(captured, none, none, &mut edges_count).result()?;
        let (mut from, mut to) = (vec![none as _; edges_count], vec![none as _; edges_count]);
        // The driver refuses to be asked for none.
        if edges_count > 0 {
            let (from, to) = (from.as_mut_ptr(), to.as_mut_ptr());
            sys::cuGraphGetEdges(captured, from, to, &mut edges_count).result()?;
        }
        sys::cuGraphCreate(&mut graph, 0).result()?;
        let mut made = HashMap::new();
        for (node, is_kernel) in nodes.iter().zip(are_kernels) {
            let mut copy = ptr::null_mut();
            if is_kernel {
                let mut parameters = std::mem::zeroed();
                sys::cuGraphKernelNodeGetParams_v2(*node, &mut parameters).result()?;
                let parameters = &raw const parameters;
                sys::cuGraphAddKernelNode_v2(&mut copy, graph, ptr::null(), 0, parameters)
                    .result()?;
            } else {
                sys::cuGraphAddEmptyNode(&mut copy, graph, ptr::null(), 0).result()?;
            }
            made.insert(*node, copy);
        }
        let [from, to] = [from, to].map(|ends: Vec<sys::CUgraphNode>| -> Vec<_> {
            ends.iter().map(|node| made[node]).collect()
        });
        if edges_count > 0 {
            sys::cuGraphAddDependencies(graph, from.as_ptr(), to.as_ptr(), edges_count).result()?;
        }
    }
    Ok(graph)
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Safety: made by `capture`, and used here alone. An error has been reported before.
        unsafe {
            let _ = sys::cuStreamSynchronize(self.stream);
            let _ = sys::cuGraphExecDestroy(self.executable);
            for graph in [self.copy, self.graph] {
                // Null if it was not made, which is an error that says nothing.
                let _ = sys::cuGraphDestroy(graph);
            }
            let _ = sys::cuStreamDestroy_v2(self.stream);
        }
    }
}
