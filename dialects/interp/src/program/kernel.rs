//! Kernels: the host's steps.

use super::{Code, Combiner, Reg};
use crate::{
    algorithms::{Access, Algorithm},
    fault::SiteId,
    value::Element,
};
use qd_artifact::Dtype;

/// A kernel that can be launched.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub site: SiteId,
    pub name: String,
    pub parameters: Vec<(Reg, Parameter)>,
    /// The parameters that are the kernel's own while it runs.
    pub scratch: Vec<Reg>,
    /// The parameters that may overlap one another.
    pub may_alias: Vec<Reg>,
    /// Registers of the host, one lane.
    pub registers: u32,
    pub controls: Vec<Control>,
    pub steps: Vec<Step>,
}

/// Words that are the runtime's.
#[derive(Debug)]
pub(crate) enum Owned {
    /// 0 when the kernel begins, and when it ends.
    Control,
    /// The kernel knows nothing of it.
    Scratch,
    /// 0 when the kernel begins; what is in it when it ends is a fault at one of these sites.
    Faults(Vec<String>),
    /// 0 when the kernel begins; what is in it when it ends is printed, by a format and its values' types.
    Prints(Vec<(String, Vec<Dtype>)>),
}

#[derive(Debug)]
pub(crate) struct Control {
    pub site: SiteId,
    /// Of the memref.
    pub register: Reg,
    pub element: Element,
    pub words: usize,
    pub owned: Owned,
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

/// A kernel's steps, in order.
#[derive(Debug)]
pub(crate) enum Action {
    /// Arithmetic on the host's registers.
    Host(Code),
    /// The lanes in a subgroup, or log2 of that, in a register of the host.
    Size {
        register: Reg,
        is_log2: bool,
    },
    Phase {
        code: Code,
        blocks: Reg,
        threads: u32,
    },
    ForEach {
        code: Code,
        extent: Reg,
        count: Option<Reg>,
        threads: Option<u32>,
        subgroups: Option<SubgroupFill>,
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
        /// Pairs of buffers that are exchanged, and their names in the body.
        swap: Vec<Swap>,
        body: Vec<Step>,
    },
    RunIf {
        condition: Reg,
        body: Vec<Step>,
    },
    Fill {
        buffer: Reg,
        /// None for the one element of a buffer of rank 0.
        bounds: Option<(Reg, Reg)>,
        value: Reg,
    },
    Dispatch {
        arguments: Vec<Reg>,
        variants: Vec<Variant>,
    },
    Algorithm(Box<Algo>),
}

/// How the elements of a `for_each` fill its subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubgroupFill {
    Full,
    Partial,
}

/// Two buffers that are exchanged after each iteration.
#[derive(Debug)]
pub(crate) struct Swap {
    pub buffers: [Reg; 2],
    /// In the body.
    pub names: [Reg; 2],
}

#[derive(Debug)]
pub(crate) struct Variant {
    pub kernel: usize,
    pub predicate: Option<(Code, Reg)>,
}

/// A device-wide algorithm; buffers are registers of the host.
#[derive(Debug)]
pub(crate) struct Algo {
    pub definition: &'static Algorithm,
    /// The buffers of each operand of the definition.
    pub groups: Vec<Vec<Reg>>,
    pub combiner: Option<Combiner>,
    pub is_unsigned: bool,
    pub is_deterministic: bool,
    pub end_bit: Option<u32>,
    /// Of the capacity `256^depth`, if there is one.
    pub depth: Option<u32>,
}

impl Algo {
    /// The buffer that holds how many elements there are.
    pub fn count(&self) -> Option<Reg> {
        let mut operands = self.definition.operands.iter().zip(&self.groups);
        let (_, group) = operands.find(|(operand, _)| operand.access == Access::Count)?;
        group.first().copied()
    }
}
