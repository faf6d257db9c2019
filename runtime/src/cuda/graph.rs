//! Actions as CUDA graphs: made once, replayed without the host.
//!
//! Each node waits for what its action waits for, and for nothing else. A loop
//! is a conditional node, whose body ends with a kernel that looks at the flag;
//! where the driver has none, or somebody counts iterations, the host looks at
//! it, and a graph ends before each loop.

use super::{
    Functions,
    device::{Device, Function, Module, failed, parameters, reason},
};
use crate::{
    Error,
    actions::{Action, Fill, Kind, Launch, Loop},
};
use cudarc::driver::{
    DriverError,
    result::graph,
    sys::{self, CUgraph, CUgraphExec, CUgraphNode},
};
use std::{ops::Range, ptr};

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

/// Sets a graph's condition: by a flag, at the end of an iteration, or for a
/// loop in a loop, at its beginning, since the default that a condition starts
/// with is set once a launch. The function that does so is the driver's own.
const CONDITIONS: &str = "
.version 8.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry qd_continue(.param .u64 handle, .param .u64 flag)
{
    .reg .b64 %handle, %flag;
    .reg .b32 %value;
    .reg .pred %set;
    ld.param.u64 %handle, [handle];
    ld.param.u64 %flag, [flag];
    ld.global.u32 %value, [%flag];
    setp.ne.u32 %set, %value, 0;
    selp.u32 %value, 1, 0, %set;
    {
        .param .b64 to;
        .param .b32 what;
        st.param.b64 [to], %handle;
        st.param.b32 [what], %value;
        call.uni cudaGraphSetConditional, (to, what);
    }
    ret;
}
.visible .entry qd_enter(.param .u64 handle)
{
    .reg .b64 %handle;
    ld.param.u64 %handle, [handle];
    {
        .param .b64 to;
        .param .b32 what;
        st.param.b64 [to], %handle;
        st.param.b32 [what], 1;
        call.uni cudaGraphSetConditional, (to, what);
    }
    ret;
}
";

/// Loops without the host.
pub(super) struct Loops {
    enter: Function,
    go_on: Function,
    _module: Module,
}

impl Loops {
    /// If the driver has them.
    pub fn new() -> Option<Self> {
        let module = Module::new(CONDITIONS.as_bytes()).ok()?;
        Some(Self {
            enter: module.function("qd_enter").ok()?,
            go_on: module.function("qd_continue").ok()?,
            _module: module,
        })
    }
}

/// What graphs are made with.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    pub device: &'a Device,
    pub functions: &'a Functions,
    /// Unless the host is to look at flags.
    pub loops: Option<&'a Loops>,
}

impl Maker<'_> {
    /// Makes graphs of actions.
    pub fn segments(&self, actions: &[Action<'_>]) -> Result<Vec<Segment>, Error> {
        let mut segments = Vec::new();
        let mut begin = 0;
        for (i, action) in actions.iter().enumerate() {
            if let (Kind::Loop(repeat), None) = (&action.kind, self.loops) {
                segments.extend(self.graph(actions, begin..i)?);
                segments.push(Segment::Loop {
                    kernel: repeat.kernel.into(),
                    flag: repeat.flag,
                    body: self.segments(&repeat.actions)?,
                });
                begin = i + 1;
            }
        }
        segments.extend(self.graph(actions, begin..actions.len())?);
        Ok(segments)
    }

    /// A graph of some of them, if there are any.
    fn graph(&self, actions: &[Action<'_>], range: Range<usize>) -> Result<Option<Segment>, Error> {
        if range.is_empty() {
            return Ok(None);
        }
        let mut graph = Graph {
            raw: ptr::null_mut(),
            maker: *self,
            in_loop: false,
            nodes: vec![None; actions.len()],
            launches: 0,
        };
        let mut raw = ptr::null_mut();
        // Safety: the context is current.
        unsafe { sys::cuGraphCreate(&mut raw, 0) }
            .result()
            .map_err(|e| failed("a graph", e))?;
        let owned = Owned(raw);
        graph.raw = raw;
        for i in range {
            graph.add(i, &actions[i])?;
        }
        // Safety: the graph is whole; what it becomes does not refer to it.
        let executable = unsafe { graph::instantiate(owned.0, NO_FLAGS) };
        let raw = executable.map_err(|e| failed("a graph of launches", e))?;
        let launches = graph.launches;
        Ok(Some(Segment::Graph(Executable { raw, launches })))
    }
}

const NO_FLAGS: sys::CUgraphInstantiate_flags = sys::CUgraphInstantiate_flags(0);

/// A graph that goes when this does, and with it those of its loops' bodies.
struct Owned(CUgraph);

impl Drop for Owned {
    fn drop(&mut self) {
        // Safety: made by `Maker::graph`.
        let _ = unsafe { graph::destroy(self.0) };
    }
}

/// A graph under construction.
struct Graph<'a> {
    raw: CUgraph,
    maker: Maker<'a>,
    /// Whether it is a loop's body.
    in_loop: bool,
    /// The node of each action that is in it.
    nodes: Vec<Option<CUgraphNode>>,
    launches: u64,
}

impl Graph<'_> {
    fn add(&mut self, i: usize, action: &Action<'_>) -> Result<(), Error> {
        // Those of earlier graphs have ended.
        let after: Vec<_> = action
            .after
            .iter()
            .filter_map(|earlier| self.nodes[*earlier])
            .collect();
        let node = match &action.kind {
            Kind::Launch(launch) if launch.blocks > 0 => {
                self.launches += 1;
                self.launch(launch, &after)?
            }
            Kind::Fill(fill) => self.fill(fill, &after)?,
            Kind::Loop(repeat) => self.repeat(repeat, &after)?,
            Kind::Launch(_) | Kind::Nothing => self.nothing(&after)?,
        };
        self.nodes[i] = Some(node);
        Ok(())
    }

    fn repeat(&mut self, repeat: &Loop<'_>, after: &[CUgraphNode]) -> Result<CUgraphNode, Error> {
        let Some(loops) = self.maker.loops else {
            return Err(Error::Device("a loop in a graph without loops".into()));
        };
        let context = self.maker.device.context;
        let mut handle = 0;
        // Safety: the graph is under construction; the loop runs at least once.
        unsafe {
            sys::cuGraphConditionalHandleCreate(
                &mut handle,
                self.raw,
                context,
                1,
                sys::CU_GRAPH_COND_ASSIGN_DEFAULT,
            )
        }
        .result()
        .map_err(|e| failed("a loop's condition", e))?;
        // Safety: plain data, of which zeros are a value.
        let mut node: sys::CUgraphNodeParams = unsafe { std::mem::zeroed() };
        node.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        node.__bindgen_anon_1.conditional = sys::CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: sys::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE,
            size: 1,
            phGraph_out: ptr::null_mut(),
            ctx: context,
        };
        let entered = match self.in_loop {
            true => vec![
                self.kernel(loops.enter, [1, 1], 0, &[handle], after)
                    .map_err(|e| failed("the beginning of a loop", e))?,
            ],
            false => after.to_vec(),
        };
        let mut made = ptr::null_mut();
        // Safety: the nodes are this graph's; the driver fills in the body's graph,
        // which it owns.
        let body = unsafe {
            sys::cuGraphAddNode_v2(
                &mut made,
                self.raw,
                entered.as_ptr(),
                ptr::null(),
                entered.len(),
                &mut node,
            )
            .result()
            .map_err(|e| failed("a loop", e))?;
            *node.__bindgen_anon_1.conditional.phGraph_out
        };
        let mut inner = Graph {
            raw: body,
            maker: self.maker,
            in_loop: true,
            nodes: vec![None; repeat.actions.len()],
            launches: 0,
        };
        for (i, action) in repeat.actions.iter().enumerate() {
            inner.add(i, action)?;
        }
        self.launches += inner.launches;
        let last: Vec<_> = inner.nodes.iter().copied().flatten().collect();
        inner
            .kernel(loops.go_on, [1, 1], 0, &[handle, repeat.flag], &last)
            .map_err(|e| failed("the end of a loop", e))?;
        Ok(made)
    }

    fn launch(&self, launch: &Launch<'_>, after: &[CUgraphNode]) -> Result<CUgraphNode, Error> {
        let blocks = super::grid(self.maker.device, launch)?;
        let function = self.maker.functions.get(launch.body);
        self.kernel(
            function,
            [blocks, launch.threads],
            launch.dynamic_shared_bytes,
            &launch.words,
            after,
        )
        .map_err(|e| launch.failed(&reason(e)))
    }

    fn kernel(
        &self,
        function: Function,
        [blocks, threads]: [u32; 2],
        dynamic_shared_bytes: u32,
        words: &[u64],
        after: &[CUgraphNode],
    ) -> Result<CUgraphNode, DriverError> {
        let mut words = words.to_vec();
        let mut parameters = parameters(&mut words);
        let node = sys::CUDA_KERNEL_NODE_PARAMS {
            func: function.0,
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: dynamic_shared_bytes,
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
        .result()?;
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
                    self.maker.device.context,
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
}
