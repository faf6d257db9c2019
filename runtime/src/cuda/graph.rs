//! Actions as CUDA graphs: captured once, replayed without the host.
//!
//! Each node waits for what its action waits for, and for nothing else. A loop
//! is its body's graph, launched again while the flag that it left is set.

use super::{
    Functions,
    device::{Device, failed, parameters, reason},
};
use crate::{
    Error,
    actions::{Action, Fill, Kind, Launch},
};
use cudarc::driver::{
    result::graph,
    sys::{self, CUgraph, CUgraphExec, CUgraphNode},
};
use std::ptr;

/// Part of a run.
pub(super) enum Segment {
    Graph(Executable),
    Loop {
        kernel: String,
        flag: u64,
        body: Vec<Segment>,
    },
}

/// A graph that can be launched.
pub(super) struct Executable {
    pub raw: CUgraphExec,
    /// Launches of bodies in it.
    pub launches: u64,
}

impl Drop for Executable {
    fn drop(&mut self) {
        // Safety: instantiated, and no launch of it is under way.
        let _ = unsafe { graph::exec_destroy(self.raw) };
    }
}

/// Makes graphs of actions.
pub(super) fn segments(
    device: &Device,
    functions: &Functions,
    actions: &[Action<'_>],
) -> Result<Vec<Segment>, Error> {
    let mut segments = Vec::new();
    let mut graph = None;
    for (i, action) in actions.iter().enumerate() {
        let Kind::Loop {
            kernel,
            flag,
            actions,
        } = &action.kind
        else {
            let graph = match &mut graph {
                Some(graph) => graph,
                empty => empty.insert(Graph::new(device, functions, i)?),
            };
            graph.add(action)?;
            continue;
        };
        if let Some(graph) = graph.take() {
            segments.push(Segment::Graph(graph.instantiate()?));
        }
        segments.push(Segment::Loop {
            kernel: (*kernel).into(),
            flag: *flag,
            body: self::segments(device, functions, actions)?,
        });
    }
    if let Some(graph) = graph.take() {
        segments.push(Segment::Graph(graph.instantiate()?));
    }
    Ok(segments)
}

/// A graph under construction.
struct Graph<'a> {
    raw: CUgraph,
    device: &'a Device,
    functions: &'a Functions,
    /// The first action in it.
    first: usize,
    /// The node of each action since then.
    nodes: Vec<CUgraphNode>,
    launches: u64,
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // Safety: made by `new`.
        let _ = unsafe { graph::destroy(self.raw) };
    }
}

impl<'a> Graph<'a> {
    fn new(device: &'a Device, functions: &'a Functions, first: usize) -> Result<Self, Error> {
        let mut raw = ptr::null_mut();
        // Safety: the context is current.
        unsafe { sys::cuGraphCreate(&mut raw, 0) }
            .result()
            .map_err(|e| failed("a graph", e))?;
        Ok(Self {
            raw,
            device,
            functions,
            first,
            nodes: Vec::new(),
            launches: 0,
        })
    }

    fn add(&mut self, action: &Action<'_>) -> Result<(), Error> {
        // Earlier graphs have ended.
        let after: Vec<_> = action
            .after
            .iter()
            .filter_map(|i| i.checked_sub(self.first))
            .map(|i| self.nodes[i])
            .collect();
        let node = match &action.kind {
            Kind::Launch(launch) if launch.blocks > 0 => {
                self.launches += 1;
                self.launch(launch, &after)?
            }
            Kind::Fill(fill) => self.fill(fill, &after)?,
            _ => self.nothing(&after)?,
        };
        self.nodes.push(node);
        Ok(())
    }

    fn launch(&self, launch: &Launch<'_>, after: &[CUgraphNode]) -> Result<CUgraphNode, Error> {
        let grid = super::grid(self.device, launch)?;
        let mut words = launch.words.clone();
        let mut parameters = parameters(&mut words);
        let node = sys::CUDA_KERNEL_NODE_PARAMS {
            func: self.functions.get(launch.body).0,
            gridDimX: grid,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: launch.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: parameters.as_mut_ptr(),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        let mut made = ptr::null_mut();
        // Safety: the nodes are this graph's; the driver copies the parameters.
        unsafe {
            sys::cuGraphAddKernelNode_v2(&mut made, self.raw, after.as_ptr(), after.len(), &node)
        }
        .result()
        .map_err(|e| super::launch_failed(launch, &reason(e)))?;
        Ok(made)
    }

    fn fill(&self, fill: &Fill, after: &[CUgraphNode]) -> Result<CUgraphNode, Error> {
        let mut last = after.to_vec();
        for range in super::words_of(fill) {
            let node = sys::CUDA_MEMSET_NODE_PARAMS {
                dst: range.address,
                pitch: range.pitch,
                value: range.value,
                elementSize: range.size,
                width: range.width,
                height: range.height,
            };
            let mut made = ptr::null_mut();
            // Safety: as above; the range is within a buffer.
            unsafe {
                sys::cuGraphAddMemsetNode(
                    &mut made,
                    self.raw,
                    last.as_ptr(),
                    last.len(),
                    &node,
                    self.device.context,
                )
            }
            .result()
            .map_err(|e| failed("a fill", e))?;
            last = vec![made];
        }
        Ok(last[0])
    }

    fn nothing(&self, after: &[CUgraphNode]) -> Result<CUgraphNode, Error> {
        let mut made = ptr::null_mut();
        // Safety: as above.
        unsafe { sys::cuGraphAddEmptyNode(&mut made, self.raw, after.as_ptr(), after.len()) }
            .result()
            .map_err(|e| failed("an empty node", e))?;
        Ok(made)
    }

    fn instantiate(self) -> Result<Executable, Error> {
        // Safety: the graph is whole; what it becomes does not refer to it.
        unsafe { graph::instantiate(self.raw, sys::CUgraphInstantiate_flags(0)) }
            .map(|raw| Executable {
                raw,
                launches: self.launches,
            })
            .map_err(|e| failed("a graph of launches", e))
    }
}
