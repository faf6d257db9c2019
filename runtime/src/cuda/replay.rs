//! A shape as a CUDA graph whose nodes can be patched with other kernel arguments.
//!
//! Each node depends on the nodes of its op's dependencies, and on no others. A loop is a
//! conditional node, whose body ends with a kernel that reads the flag, and an `if` is one after
//! such a kernel. The parameters of nodes may be set in bodies, too, and running launches keep
//! theirs.

use super::{
    conditions::Conditions,
    device::{Function, parameters},
    foreign::Relaxed,
    loops::{Counters, Counting, limit_of},
    moves::{BLOCK, COPIED_AT_ONCE, blocks_of},
    resident::{Entered, Shared, fault},
};
use crate::objects::driver::{Fault, Label, Op, OpKind, RawStream, Replay, Shape};
use cudarc::driver::{
    result::graph,
    sys::{self, CUgraph, CUgraphExec, CUgraphNode, CUstream},
};
use std::{ptr, sync::Arc};

pub(super) struct Graph {
    shared: Arc<Shared>,
    raw: CUgraph,
    executable: CUgraphExec,
    /// The nodes with arguments, in the order of their places.
    nodes: Vec<Node>,
    words: Vec<u64>,
    loops: usize,
    counting: Counting,
    /// Once iterations have been counted.
    counters: Option<Counters>,
}

// Safety: a graph may be used from any thread, one at a time.
unsafe impl Send for Graph {}

/// A kernel node, and where its words are.
struct Node {
    raw: CUgraphNode,
    what: What,
    is_enabled: bool,
}

#[derive(Clone, Copy)]
enum What {
    /// The number of blocks, and the parameters after it.
    Launch {
        function: Function,
        threads: u32,
        dynamic_shared_bytes: u32,
        words: (usize, usize),
    },
    /// Address, count and value.
    Fill { function: Function, words: usize },
    /// From where, to where, and bytes.
    Copy { function: Function, words: usize },
    /// The address of the word that a condition follows.
    Ask {
        function: Function,
        handle: u64,
        word: usize,
    },
    /// The same at the end of a loop's iteration.
    Count {
        function: Function,
        handle: u64,
        word: usize,
        /// Its counter, and that of the loop around it.
        counter: usize,
        outer: Option<usize>,
        /// The kernel's number in the report.
        kernel: u64,
    },
}

/// What a kernel node is launched with.
struct Parameters {
    function: Function,
    blocks: u64,
    threads: u32,
    dynamic_shared_bytes: u32,
    words: Vec<u64>,
}

impl What {
    /// Whether one of these places, which ascend, is among its words.
    fn has_any(&self, places: &[usize]) -> bool {
        let words = match *self {
            What::Launch {
                words: (first, end),
                ..
            } => first..end,
            What::Fill { words, .. } | What::Copy { words, .. } => words..words + 3,
            What::Ask { word, .. } | What::Count { word, .. } => word..word + 1,
        };
        let next = places.partition_point(|place| *place < words.start);
        places.get(next).is_some_and(|place| *place < words.end)
    }

    fn parameters(&self, words: &[u64], counting: &Counting) -> Parameters {
        match *self {
            What::Launch {
                function,
                threads,
                dynamic_shared_bytes,
                words: (first, end),
            } => Parameters {
                function,
                blocks: words[first],
                threads,
                dynamic_shared_bytes,
                words: words[first + 1..end].to_vec(),
            },
            What::Fill {
                function,
                words: first,
            } => Parameters {
                function,
                blocks: blocks_of(words[first + 1]),
                threads: BLOCK,
                dynamic_shared_bytes: 0,
                words: words[first..first + 3].to_vec(),
            },
            What::Copy {
                function,
                words: first,
            } => Parameters {
                function,
                blocks: blocks_of(words[first + 2].div_ceil(COPIED_AT_ONCE)),
                threads: BLOCK,
                dynamic_shared_bytes: 0,
                words: words[first..first + 3].to_vec(),
            },
            What::Ask {
                function,
                handle,
                word,
            } => once(function, vec![handle, words[word]]),
            What::Count {
                function,
                handle,
                word,
                counter,
                outer,
                kernel,
            } => once(
                function,
                vec![
                    handle,
                    words[word],
                    counting.counter(counter),
                    outer.map_or(0, |outer| counting.counter(outer)),
                    counting.limit,
                    counting.report,
                    kernel,
                ],
            ),
        }
    }
}

impl Parameters {
    /// Calls `with` with them as the driver takes them. A node of no blocks has one here: it
    /// is disabled.
    fn with<T>(
        &mut self,
        with: impl FnOnce(&sys::CUDA_KERNEL_NODE_PARAMS) -> T,
    ) -> Result<T, Fault> {
        let blocks = u32::try_from(self.blocks.max(1))
            .ok()
            .filter(|n| *n <= i32::MAX as u32);
        let blocks = blocks.ok_or_else(|| {
            Fault::Failed(format!(
                "{} blocks are more than the device takes",
                self.blocks
            ))
        })?;
        let mut pointers = parameters(&mut self.words);
        Ok(with(&sys::CUDA_KERNEL_NODE_PARAMS {
            func: self.function.0,
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: self.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: self.dynamic_shared_bytes,
            kernelParams: pointers.as_mut_ptr(),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        }))
    }
}

impl Graph {
    /// The device has been entered.
    pub fn new(shared: &Arc<Shared>, shape: &Shape, words: &[u64]) -> Result<Self, Fault> {
        let mut raw = ptr::null_mut();
        // Safety: the context is current.
        unsafe { sys::cuGraphCreate(&mut raw, 0) }
            .result()
            .map_err(fault)?;
        let mut graph = Self {
            shared: shared.clone(),
            raw,
            executable: ptr::null_mut(),
            nodes: Vec::new(),
            words: words.to_vec(),
            loops: loops_of(&shape.ops),
            counting: Counting::default(),
            counters: None,
        };
        let mut maker = Maker::new(shared, shape, words, graph.counting);
        maker.all(raw, &shape.ops, &[], false)?;
        graph.nodes = maker.nodes;
        // Safety: the graph is whole.
        graph.executable =
            unsafe { graph::instantiate(raw, sys::CUgraphInstantiate_flags(0)) }.map_err(fault)?;
        for node in &mut graph.nodes {
            if node.what.parameters(words, &graph.counting).blocks == 0 {
                enable(graph.executable, node, false)?;
            }
        }
        Ok(graph)
    }
}

impl Graph {
    /// Gives some nodes the parameters that they should have now. The device has been entered.
    fn set(&mut self, is_one: impl Fn(&What) -> bool) -> Result<(), Fault> {
        for node in self.nodes.iter_mut().filter(|node| is_one(&node.what)) {
            let mut parameters = node.what.parameters(&self.words, &self.counting);
            enable(self.executable, node, parameters.blocks > 0)?;
            let (executable, raw) = (self.executable, node.raw);
            // Safety: the node is of the graph that was instantiated; the driver copies the
            // parameters.
            let set = |parameters: &_| unsafe {
                sys::cuGraphExecKernelNodeSetParams_v2(executable, raw, parameters)
            };
            parameters.with(set)?.result().map_err(fault)?;
        }
        Ok(())
    }

    /// Has loops stop at a limit, or at none if it is 0, in what comes onto a stream from now on. The
    /// device has been entered.
    fn count(&mut self, limit: u64, on: CUstream) -> Result<(), Fault> {
        if limit == self.counting.limit {
            return Ok(());
        }
        let counters = match self.counters.take() {
            Some(counters) => counters,
            None => {
                let _relaxed = Relaxed::new();
                Counters::on(on, &self.shared, self.loops)?
            }
        };
        self.counting = self.shared.counting(limit, &counters);
        self.counters = Some(counters);
        let set = self.set(|what| matches!(what, What::Count { .. }));
        if set.is_err() {
            // Some nodes have it and some do not: no limit is what it was.
            self.counting.limit = u64::MAX;
        }
        set
    }
}

fn enable(executable: CUgraphExec, node: &mut Node, is_enabled: bool) -> Result<(), Fault> {
    if node.is_enabled != is_enabled {
        // Safety: the node is of the graph that was instantiated.
        unsafe { sys::cuGraphNodeSetEnabled(executable, node.raw, is_enabled.into()) }
            .result()
            .map_err(fault)?;
        node.is_enabled = is_enabled;
    }
    Ok(())
}

impl Replay for Graph {
    fn patch(&mut self, words: &[u64], changed: &[usize]) -> Result<(), Fault> {
        let _entered = Entered::new(&self.shared.device).map_err(fault)?;
        self.words.copy_from_slice(words);
        self.set(|what| what.has_any(changed))
    }

    fn replay(&mut self, on: RawStream, max_iterations: Option<u64>) -> Result<(), Fault> {
        let _entered = Entered::new(&self.shared.device).map_err(fault)?;
        self.shared.report.take()?;
        let on = on.0 as CUstream;
        if self.loops > 0 {
            self.count(limit_of(max_iterations), on)?;
        }
        // Safety: what the graph refers to lives until the stream has done it.
        unsafe { graph::launch(self.executable, on) }.map_err(fault)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let _entered = Entered::relaxed(&self.shared.device);
        // Safety: made by `new`. A launch that is under way is ended first by the driver.
        unsafe {
            if !self.executable.is_null() {
                let _ = graph::exec_destroy(self.executable);
            }
            let _ = graph::destroy(self.raw);
        }
    }
}

/// How many loops there are.
pub(super) fn loops_of(ops: &[Op]) -> usize {
    let of = |op: &Op| match &op.kind {
        OpKind::While { ops, .. } => 1 + loops_of(ops),
        OpKind::If { ops, .. } => loops_of(ops),
        OpKind::Launch { .. } | OpKind::Fill { .. } | OpKind::Copy { .. } | OpKind::Join => 0,
    };
    ops.iter().map(of).sum()
}

/// Makes nodes.
pub(super) struct Maker<'a> {
    shared: &'a Shared,
    labels: &'a [Label],
    words: &'a [u64],
    counting: Counting,
    nodes: Vec<Node>,
    /// Those that are in no body.
    pub outermost: Vec<CUgraphNode>,
    /// Whether nodes are final, so that none can be disabled.
    pub is_fixed: bool,
    /// Loops so far, and the one whose body is being made.
    loops: usize,
    outer: Option<usize>,
}

impl<'a> Maker<'a> {
    pub fn new(shared: &'a Shared, shape: &'a Shape, words: &'a [u64], counting: Counting) -> Self {
        Self {
            shared,
            labels: &shape.labels,
            words,
            counting,
            nodes: Vec::new(),
            outermost: Vec::new(),
            is_fixed: false,
            loops: 0,
            outer: None,
        }
    }
}

impl Maker<'_> {
    /// Adds ops to a graph, which is a loop's body or in one, after those of `entry`, and returns
    /// their nodes.
    pub fn all(
        &mut self,
        to: CUgraph,
        ops: &[Op],
        entry: &[CUgraphNode],
        in_loop: bool,
    ) -> Result<Vec<CUgraphNode>, Fault> {
        let mut made: Vec<CUgraphNode> = Vec::with_capacity(ops.len());
        for op in ops {
            let after: Vec<_> = match op.after.is_empty() {
                true => entry.to_vec(),
                false => op.after.iter().map(|i| made[*i as usize]).collect(),
            };
            made.push(self.one(to, op, &after, in_loop)?);
        }
        Ok(made)
    }

    fn one(
        &mut self,
        to: CUgraph,
        op: &Op,
        after: &[CUgraphNode],
        in_loop: bool,
    ) -> Result<CUgraphNode, Fault> {
        match &op.kind {
            OpKind::Launch {
                body,
                threads,
                dynamic_shared_bytes,
                words,
            } => self.kernel(
                to,
                What::Launch {
                    function: Function(body.0 as sys::CUfunction),
                    threads: *threads,
                    dynamic_shared_bytes: *dynamic_shared_bytes,
                    words: (words.start, words.end),
                },
                after,
            ),
            OpKind::Fill { size, words } => {
                let function = self.shared.moves.fill(*size)?;
                let words = *words;
                self.kernel(to, What::Fill { function, words }, after)
            }
            OpKind::Copy { words } => {
                let (function, words) = (self.shared.moves.copy, *words);
                self.kernel(to, What::Copy { function, words }, after)
            }
            OpKind::While { flag, ops } => {
                let kernel = &self.labels[op.label].kernel;
                let kernel = self.shared.report.number(kernel);
                self.repeat(to, (*flag, kernel), ops, after, in_loop)
            }
            OpKind::If { condition, ops } => self.run_if(to, *condition, ops, after, in_loop),
            OpKind::Join => self.empty(to, after),
        }
    }

    fn kernel(
        &mut self,
        to: CUgraph,
        what: What,
        after: &[CUgraphNode],
    ) -> Result<CUgraphNode, Fault> {
        let mut parameters = what.parameters(self.words, &self.counting);
        if self.is_fixed && parameters.blocks == 0 {
            return self.empty(to, after);
        }
        let made = self.add(to, &mut parameters, after)?;
        self.nodes.push(Node {
            raw: made,
            what,
            is_enabled: true,
        });
        Ok(made)
    }

    fn repeat(
        &mut self,
        to: CUgraph,
        (flag, kernel): (usize, u64),
        ops: &[Op],
        after: &[CUgraphNode],
        in_loop: bool,
    ) -> Result<CUgraphNode, Fault> {
        let (count, enter) = (self.conditions()?.count, self.conditions()?.enter);
        // It runs at least once.
        let handle = self.condition(to, 1, sys::CU_GRAPH_COND_ASSIGN_DEFAULT)?;
        // The default is set once a launch, and not when a loop around it goes on.
        let entered = match in_loop {
            true => vec![self.add(to, &mut once(enter, vec![handle]), after)?],
            false => after.to_vec(),
        };
        let kind = sys::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE;
        let (node, body) = self.conditional(to, kind, handle, &entered)?;
        let counter = self.loops;
        self.loops += 1;
        let outer = self.outer.replace(counter);
        let last = self.inside(|maker| maker.all(body, ops, &[], true))?;
        self.outer = outer;
        let what = What::Count {
            function: count,
            handle,
            word: flag,
            counter,
            outer,
            kernel,
        };
        self.inside(|maker| maker.kernel(body, what, &last))?;
        Ok(node)
    }

    fn run_if(
        &mut self,
        to: CUgraph,
        condition: usize,
        ops: &[Op],
        after: &[CUgraphNode],
        in_loop: bool,
    ) -> Result<CUgraphNode, Fault> {
        let ask = self.conditions()?.ask;
        let handle = self.condition(to, 0, 0)?;
        let what = What::Ask {
            function: ask,
            handle,
            word: condition,
        };
        let asked = self.kernel(to, what, after)?;
        let kind = sys::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF;
        let (node, body) = self.conditional(to, kind, handle, &[asked])?;
        self.inside(|maker| maker.all(body, ops, &[], in_loop))?;
        Ok(node)
    }

    /// Makes nodes of a body.
    fn inside<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let outermost = self.outermost.len();
        let made = make(self);
        // They go with the node whose body it is.
        self.outermost.truncate(outermost);
        made
    }

    /// The kernels that set a condition.
    fn conditions(&self) -> Result<&Conditions, Fault> {
        let conditions = self.shared.conditions.as_ref();
        conditions.ok_or_else(|| {
            Fault::Failed(
                "this driver's graphs have no conditions: it is older than CUDA 12.4".into(),
            )
        })
    }

    /// A condition of a graph, and what it is at first.
    fn condition(&self, of: CUgraph, value: u32, flags: u32) -> Result<u64, Fault> {
        let mut handle = 0;
        let context = self.shared.device.context;
        // Safety: the graph is under construction.
        unsafe { sys::cuGraphConditionalHandleCreate(&mut handle, of, context, value, flags) }
            .result()
            .map_err(fault)?;
        Ok(handle)
    }

    /// A node whose body, which is empty yet, is run as a condition says.
    fn conditional(
        &mut self,
        to: CUgraph,
        kind: sys::CUgraphConditionalNodeType,
        handle: u64,
        after: &[CUgraphNode],
    ) -> Result<(CUgraphNode, CUgraph), Fault> {
        // Safety: plain data, of which zeros are a value.
        let mut node: sys::CUgraphNodeParams = unsafe { std::mem::zeroed() };
        node.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        node.__bindgen_anon_1.conditional = sys::CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: kind,
            size: 1,
            phGraph_out: ptr::null_mut(),
            ctx: self.shared.device.context,
        };
        let mut made = ptr::null_mut();
        // Safety: the nodes are the graph's; the driver fills in the body's graph, which it owns.
        unsafe {
            sys::cuGraphAddNode_v2(
                &mut made,
                to,
                after.as_ptr(),
                ptr::null(),
                after.len(),
                &mut node,
            )
            .result()
            .map_err(fault)?;
            self.outermost.push(made);
            Ok((made, *node.__bindgen_anon_1.conditional.phGraph_out))
        }
    }

    fn add(
        &mut self,
        to: CUgraph,
        parameters: &mut Parameters,
        after: &[CUgraphNode],
    ) -> Result<CUgraphNode, Fault> {
        let mut made = ptr::null_mut();
        // Safety: the nodes are the graph's; the driver copies the parameters.
        let outcome = parameters.with(|parameters| unsafe {
            sys::cuGraphAddKernelNode_v2(&mut made, to, after.as_ptr(), after.len(), parameters)
        })?;
        outcome.result().map_err(fault)?;
        self.outermost.push(made);
        Ok(made)
    }

    fn empty(&mut self, to: CUgraph, after: &[CUgraphNode]) -> Result<CUgraphNode, Fault> {
        let mut made = ptr::null_mut();
        // Safety: as above.
        unsafe { sys::cuGraphAddEmptyNode(&mut made, to, after.as_ptr(), after.len()) }
            .result()
            .map_err(fault)?;
        self.outermost.push(made);
        Ok(made)
    }
}

/// A launch of one thread.
fn once(function: Function, words: Vec<u64>) -> Parameters {
    Parameters {
        function,
        blocks: 1,
        threads: 1,
        dynamic_shared_bytes: 0,
        words,
    }
}
