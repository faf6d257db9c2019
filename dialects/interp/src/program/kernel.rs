//! Kernels: what the host does, step by step.

use super::{Code, Combiner, Reg};
use crate::{fault::SiteId, value::Element};

/// A kernel that can be launched.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub site: SiteId,
    pub name: String,
    pub parameters: Vec<(Reg, Parameter)>,
    /// The parameters that are the kernel's own while it runs.
    pub scratch: Vec<Reg>,
    /// Registers of the host, one lane.
    pub registers: u32,
    pub controls: Vec<Control>,
    pub steps: Vec<Step>,
}

/// Words that are 0 when the kernel begins, and when it ends.
#[derive(Debug)]
pub(crate) struct Control {
    pub site: SiteId,
    /// Of the memref.
    pub register: Reg,
    pub words: usize,
}

/// The type of a kernel's argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    Scalar(Element),
    Memref {
        element: Element,
        shape: Vec<Option<usize>>,
    },
}

#[derive(Debug)]
pub(crate) struct Step {
    pub site: SiteId,
    pub action: Action,
}

/// What a kernel does, one after another.
#[derive(Debug)]
pub(crate) enum Action {
    /// Arithmetic on the host's registers.
    Host(Code),
    Phase {
        code: Code,
        blocks: Reg,
        threads: u32,
    },
    ForEach {
        code: Code,
        extent: Reg,
        count: Option<Reg>,
    },
    /// An outlined phase; its captures are the arguments.
    Launch {
        code: Code,
        blocks: Reg,
        threads: u32,
        id: i64,
        after: Vec<i64>,
    },
    DoWhile {
        flag: Reg,
        body: Vec<Step>,
    },
    RunIf {
        condition: Reg,
        body: Vec<Step>,
    },
    Fill {
        buffer: Reg,
        lower: Reg,
        upper: Reg,
        value: Reg,
    },
    Dispatch {
        arguments: Vec<Reg>,
        variants: Vec<Variant>,
    },
    Algorithm(Box<Algo>),
}

#[derive(Debug)]
pub(crate) struct Variant {
    pub kernel: usize,
    pub predicate: Option<(Code, Reg)>,
}

/// A device-wide algorithm; buffers are registers of the host.
#[derive(Debug)]
pub(crate) struct Algo {
    pub op: AlgoOp,
    /// None for `parallel_sort`, which takes none.
    pub limits: Option<Limits>,
}

#[derive(Debug)]
pub(crate) struct Limits {
    pub scratch: Vec<Reg>,
    pub count: Reg,
    pub depth: u32,
}

#[derive(Debug)]
pub(crate) enum AlgoOp {
    Reduce {
        inputs: Vec<Reg>,
        outputs: Vec<Reg>,
        combiner: Combiner,
    },
    Scan {
        inclusive: bool,
        inputs: Vec<Reg>,
        outputs: Vec<Reg>,
        combiner: Combiner,
    },
    /// `select`, or `partition` if the others are kept too.
    Compact {
        rest: bool,
        input: Reg,
        flags: Reg,
        output: Reg,
        written: Reg,
    },
    Sort {
        keys: Reg,
        values: Option<Reg>,
        temporaries: Vec<Reg>,
        unsigned: bool,
        end_bit: Option<u32>,
    },
    ReduceByKey {
        keys: Reg,
        values: Reg,
        keys_out: Reg,
        values_out: Reg,
        runs: Reg,
        combiner: Combiner,
    },
}
