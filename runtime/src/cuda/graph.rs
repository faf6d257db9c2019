//! Actions as CUDA graphs: made once, replayed without the host.
//!
//! Each node waits for what its action waits for, and for nothing else. A loop
//! is a conditional node, whose body ends with a kernel that looks at the flag,
//! and an `if` is one behind such a kernel; where the driver has none, or somebody
//! counts iterations, the host looks, and a graph ends before each.

use super::{
    Functions,
    device::{Device, Function, Module, failed, parameters, reason},
};
use crate::{
    Error,
    actions::{Action, Fill, If, Kind, Launch, Loop},
};
use cudarc::driver::{
    DriverError,
    result::graph,
    sys::{self, CUgraph, CUgraphExec, CUgraphNode},
};
use std::{ffi::CStr, ops::Range, ptr};

/// Part of a run.
pub(super) enum Segment {
    Graph(Executable),
    Loop {
        kernel: String,
        flag: u64,
        body: Vec<Segment>,
    },
    If {
        condition: u64,
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

/// Sets a graph's condition: by a word, at the end of an iteration and before an
/// `if`, or for a loop in a loop, at its beginning, since the default that a condition starts
/// with is set once a launch. The function that does so is the driver's own.
///
/// `qd_count` counts as well, unless the limit is 0: a loop that has gone round as often and would
/// go on is stopped, with those around it, and reported if none is yet. A counter is 0 when its
/// loop has ended.
const SETTERS: &CStr = c"
.version 8.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry qd_ask(.param .u64 handle, .param .u64 word)
{
    .reg .b64 %handle, %word;
    .reg .b32 %value;
    .reg .pred %set;
    ld.param.u64 %handle, [handle];
    ld.param.u64 %word, [word];
    ld.global.u32 %value, [%word];
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
.visible .entry qd_count(.param .u64 handle, .param .u64 word, .param .u64 counter,
    .param .u64 outer, .param .u64 limit, .param .u64 report, .param .u64 kernel)
{
    .reg .b64 %handle, %word, %counter, %outer, %limit, %report, %kernel, %n, %before;
    .reg .b32 %value;
    .reg .pred %set, %is;
    ld.param.u64 %handle, [handle];
    ld.param.u64 %word, [word];
    ld.param.u64 %limit, [limit];
    ld.global.u32 %value, [%word];
    setp.ne.u32 %set, %value, 0;
    setp.eq.u64 %is, %limit, 0;
    @%is bra say;
    ld.param.u64 %counter, [counter];
    @!%set bra ended;
    ld.global.u64 %n, [%counter];
    add.u64 %n, %n, 1;
    st.global.u64 [%counter], %n;
    setp.lt.u64 %is, %n, %limit;
    @%is bra say;
    setp.ne.u64 %set, %limit, %limit;
    ld.param.u64 %report, [report];
    ld.param.u64 %kernel, [kernel];
    ld.volatile.global.u64 %before, [%report];
    setp.ne.u64 %is, %before, 0;
    @%is bra outwards;
    st.volatile.global.u64 [%report+8], %limit;
    membar.sys;
    st.volatile.global.u64 [%report], %kernel;
outwards:
    ld.param.u64 %outer, [outer];
    setp.eq.u64 %is, %outer, 0;
    @%is bra ended;
    st.global.u64 [%outer], %limit;
ended:
    mov.u64 %n, 0;
    st.global.u64 [%counter], %n;
say:
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

/// Conditions without the host.
pub(super) struct Conditions {
    pub enter: Function,
    pub ask: Function,
    pub count: Function,
    _module: Module,
}

impl Conditions {
    /// If the driver has them.
    pub fn new() -> Option<Self> {
        let module = Module::new(SETTERS.to_bytes_with_nul()).ok()?;
        Some(Self {
            enter: module.function("qd_enter").ok()?,
            ask: module.function("qd_ask").ok()?,
            count: module.function("qd_count").ok()?,
            _module: module,
        })
    }
}

/// What graphs are made with.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    pub device: &'a Device,
    pub functions: &'a Functions,
    /// Unless the host is to look.
    pub conditions: Option<&'a Conditions>,
}

impl Maker<'_> {
    /// Makes graphs of actions.
    pub fn segments(&self, actions: &[Action<'_>]) -> Result<Vec<Segment>, Error> {
        let mut segments = Vec::new();
        let mut begin = 0;
        for (i, action) in actions.iter().enumerate() {
            let segment = match &action.kind {
                _ if self.conditions.is_some() => continue,
                Kind::Loop(repeat) => Segment::Loop {
                    kernel: repeat.kernel.into(),
                    flag: repeat.flag,
                    body: self.segments(&repeat.actions)?,
                },
                Kind::If(choice) => Segment::If {
                    condition: choice.condition,
                    body: self.segments(&choice.actions)?,
                },
                _ => continue,
            };
            segments.extend(self.graph(actions, begin..i)?);
            segments.push(segment);
            begin = i + 1;
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

/// A graph that goes when this does, and with it those of its conditional nodes.
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
    /// Whether it is a loop's body, or in one.
    in_loop: bool,
    /// The node of each action that is in it.
    nodes: Vec<Option<CUgraphNode>>,
    launches: u64,
}

impl Graph<'_> {
    /// All of a body's actions.
    fn all(&mut self, actions: &[Action<'_>]) -> Result<(), Error> {
        self.nodes = vec![None; actions.len()];
        let mut actions = actions.iter().enumerate();
        actions.try_for_each(|(i, action)| self.add(i, action))
    }

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
            Kind::If(choice) => self.run_if(choice, &after)?,
            Kind::Launch(_) | Kind::Nothing => self.nothing(&after)?,
        };
        self.nodes[i] = Some(node);
        Ok(())
    }

    fn repeat(&mut self, repeat: &Loop<'_>, after: &[CUgraphNode]) -> Result<CUgraphNode, Error> {
        let conditions = self.conditions()?;
        // It runs at least once.
        let handle = self.condition(1, sys::CU_GRAPH_COND_ASSIGN_DEFAULT)?;
        let entered = match self.in_loop {
            true => vec![
                self.kernel(conditions.enter, [1, 1], 0, &[handle], after)
                    .map_err(|e| failed("the beginning of a loop", e))?,
            ],
            false => after.to_vec(),
        };
        let kind = sys::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE;
        let (node, mut body) = self.conditional(kind, handle, &entered)?;
        body.in_loop = true;
        body.all(&repeat.actions)?;
        let last: Vec<_> = body.nodes.iter().copied().flatten().collect();
        body.kernel(conditions.ask, [1, 1], 0, &[handle, repeat.flag], &last)
            .map_err(|e| failed("the end of a loop", e))?;
        self.launches += body.launches;
        Ok(node)
    }

    fn run_if(&mut self, choice: &If<'_>, after: &[CUgraphNode]) -> Result<CUgraphNode, Error> {
        let ask = self.conditions()?.ask;
        let handle = self.condition(0, 0)?;
        let asked = self
            .kernel(ask, [1, 1], 0, &[handle, choice.condition], after)
            .map_err(|e| failed("a condition", e))?;
        let kind = sys::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF;
        let (node, mut body) = self.conditional(kind, handle, &[asked])?;
        body.all(&choice.actions)?;
        self.launches += body.launches;
        Ok(node)
    }

    fn conditions(&self) -> Result<&Conditions, Error> {
        let conditions = self.maker.conditions;
        conditions.ok_or_else(|| Error::Device("a condition in a graph without".into()))
    }

    /// A condition of this graph, and what it is at first.
    fn condition(&self, value: u32, flags: u32) -> Result<u64, Error> {
        let context = self.maker.device.context;
        let mut handle = 0;
        // Safety: the graph is under construction.
        unsafe {
            sys::cuGraphConditionalHandleCreate(&mut handle, self.raw, context, value, flags)
        }
        .result()
        .map_err(|e| failed("a condition", e))?;
        Ok(handle)
    }

    /// A node whose body, which is empty yet, is run as a condition says.
    fn conditional(
        &self,
        kind: sys::CUgraphConditionalNodeType,
        handle: u64,
        after: &[CUgraphNode],
    ) -> Result<(CUgraphNode, Self), Error> {
        // Safety: plain data, of which zeros are a value.
        let mut node: sys::CUgraphNodeParams = unsafe { std::mem::zeroed() };
        node.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        node.__bindgen_anon_1.conditional = sys::CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: kind,
            size: 1,
            phGraph_out: ptr::null_mut(),
            ctx: self.maker.device.context,
        };
        let mut made = ptr::null_mut();
        // Safety: the nodes are this graph's; the driver fills in the body's graph,
        // which it owns.
        let raw = unsafe {
            sys::cuGraphAddNode_v2(
                &mut made,
                self.raw,
                after.as_ptr(),
                ptr::null(),
                after.len(),
                &mut node,
            )
            .result()
            .map_err(|e| failed("a conditional node", e))?;
            *node.__bindgen_anon_1.conditional.phGraph_out
        };
        let body = Self {
            raw,
            nodes: Vec::new(),
            launches: 0,
            ..*self
        };
        Ok((made, body))
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
