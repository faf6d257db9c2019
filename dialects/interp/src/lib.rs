//! The reference interpreter: the semantics of the `qd` dialect.
//!
//! It executes a kernel at any level above the vendor dialects: device-wide
//! algorithms from their definitions, phases and launches thread by thread,
//! subgroup operations lane by lane, at a subgroup size of 4 to 64. It shares
//! no code with any lowering and is written for clarity, as the oracle that
//! everything else is compared with.
//!
//! Undefined behaviour is reported as a [`Fault`], never computed:
//!
//! - poison (a shuffle's read beyond the subgroup, a reduction's result in any
//!   lane but the first, memory never written, a shift by the width or more)
//!   passes through arithmetic, but to branch on it, store it, use it as an
//!   address or vote with it is a fault;
//! - a collective that some of its threads do not execute;
//! - accesses out of bounds or misaligned, and loads from `qd.scratch` that the
//!   kernel has not written;
//! - data races, in shared and in device memory: conflicting accesses that no
//!   barrier, no release and acquire and no order of launches puts in sequence;
//! - undersized scratch, counts above capacity, flags other than 0 and 1;
//! - writes of bytes that two arguments share which do not both have `qd.may_alias`.
//!
//! Its operations are a closed list, [`supported_operations`]; any other is a
//! fault that names it.
//!
//! Limits: it does not show stale values (a program for which that would matter
//! has a race, which is reported); it does not model the order in which a
//! device rounds a float sum (values combine from the lowest index to the
//! highest); it does not check that memory fences are needed.

mod algorithms;
mod decode;
mod exec;
mod fault;
mod memory;
mod program;
mod race;
mod table;
mod value;

pub use fault::{Fault, Note};
pub use table::supported_operations;
pub use value::{Argument, Buffer, Element, Native, Part, Scalar};

use exec::Engine;
use melior::ir::Module;
use memory::{Allocation, Memref, Memrefs, Space};
use program::{Kernel, Parameter};
use race::Window;

/// The order in which blocks and subgroups are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Blocks in order, each until it ends or has used up its turn.
    InOrder,
    /// Adversarial: few blocks at a time, started and resumed in random order.
    Random {
        /// The same seed gives the same schedule.
        seed: u64,
    },
}

/// How to run a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Lanes of a subgroup: 4, 8, 16, 32 or 64.
    pub wave: u32,
    /// In which order threads run.
    pub schedule: Schedule,
    /// Instructions to execute at most, counted once per subgroup.
    pub fuel: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            wave: 32,
            schedule: Schedule::InOrder,
            fuel: 1 << 27,
        }
    }
}

/// What was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Phases, elementwise phases and launches.
    pub phases: u64,
    /// Blocks of all of them.
    pub blocks: u64,
    /// Instructions, counted once per subgroup.
    pub operations: u64,
}

/// Runs the kernel `entry` of a module. Buffers are changed in place, up to the
/// fault if there is one. What threads print goes to standard output.
pub fn interpret(
    module: &Module,
    entry: &str,
    arguments: &mut [Argument],
    options: &Options,
) -> Result<Report, Fault> {
    interpret_printing(module, entry, arguments, options, &mut |text| {
        print!("{text}");
    })
}

/// As [`interpret`]; `print` is given what threads print, print by print.
pub fn interpret_printing(
    module: &Module,
    entry: &str,
    arguments: &mut [Argument],
    options: &Options,
    print: &mut dyn FnMut(&str),
) -> Result<Report, Fault> {
    if !matches!(options.wave, 4 | 8 | 16 | 32 | 64) {
        return Err(Fault {
            location: String::new(),
            operation: String::new(),
            message: format!(
                "a subgroup has 4, 8, 16, 32 or 64 lanes, not {}",
                options.wave
            ),
            notes: Vec::new(),
        });
    }
    let program = decode::decode(module, entry, options.wave)?;
    let kernel = &program.kernels[0];
    check_arguments(kernel, arguments)
        .map_err(|message| program.sites[kernel.site as usize].fault(message))?;

    // A part may come before what it is part of.
    let mut device = Vec::new();
    let wholes: Vec<_> = arguments
        .iter_mut()
        .map(|argument| match argument {
            Argument::Buffer(buffer) => {
                let slot = device.len() as u32;
                device.push(Allocation::of_buffer(buffer));
                Some((slot, buffer.element))
            }
            Argument::Part(_) | Argument::Scalar(_) => None,
        })
        .collect();
    let mut memrefs = Memrefs::default();
    let mut memref = |of: usize, first: usize, shape: &[usize]| {
        let (slot, element) = wholes[of].expect("it was checked to be a buffer");
        let whole = Memref::whole(Space::Device, slot, element, shape);
        memrefs.add(Memref {
            offset: (first * element.bytes()) as i64,
            ..whole
        })
    };
    let registers: Vec<_> = arguments
        .iter()
        .enumerate()
        .map(|(i, argument)| match argument {
            Argument::Scalar(scalar) => scalar.bits & scalar.element.mask(),
            Argument::Buffer(buffer) => memref(i, 0, &buffer.shape),
            Argument::Part(part) => memref(part.of, part.first, &part.shape),
        })
        .collect();
    watch_shared(kernel, &registers, &memrefs, &mut device);
    let mut engine = Engine {
        program: &program,
        device,
        memrefs,
        window: Window::default(),
        wave: options.wave as usize,
        fuel: options.fuel,
        random: exec::adversary(options.schedule),
        report: Report::default(),
        print,
    };
    let outcome = engine.kernel(0, &registers);
    let report = engine.report;
    let mut written = engine.device.iter().filter_map(|of| of.overwritten);
    let outcome = outcome.and_then(|()| match written.next() {
        Some([one, other]) => Err(program.sites[kernel.site as usize].fault(format!(
            "argument {other} overlaps argument {one}, of which one is written, and not both have qd.may_alias"
        ))),
        None => Ok(()),
    });
    let mut allocations = engine.device.into_iter();
    for argument in arguments {
        if let Argument::Buffer(buffer) = argument
            && let Some(allocation) = allocations.next()
        {
            allocation.into_buffer(buffer);
        }
    }
    outcome.map(|()| report)
}

/// Has writes noted of bytes that two arguments share which must not overlap.
fn watch_shared(kernel: &Kernel, registers: &[u64], memrefs: &Memrefs, device: &mut [Allocation]) {
    let parameters = kernel.parameters.iter().zip(registers).enumerate();
    let buffers: Vec<_> = parameters
        .filter(|(_, ((_, parameter), _))| matches!(parameter, Parameter::Memref { .. }))
        .map(|(i, ((reg, _), &memref))| (i, kernel.may_alias.contains(reg), memrefs.get(memref)))
        .collect();
    for (at, (i, may_alias, one)) in buffers.iter().enumerate() {
        for (j, may_too, other) in &buffers[at + 1..] {
            let bytes = one.common(other);
            if !(bytes.is_empty() || *may_alias && *may_too) {
                device[one.slot as usize].shared.push((bytes, [*i, *j]));
            }
        }
    }
}

/// Whether the arguments fit the kernel's parameters.
fn check_arguments(kernel: &Kernel, arguments: &[Argument]) -> Result<(), String> {
    if kernel.parameters.len() != arguments.len() {
        return Err(format!(
            "takes {} arguments, but is given {}",
            kernel.parameters.len(),
            arguments.len()
        ));
    }
    for (index, ((_, parameter), argument)) in kernel.parameters.iter().zip(arguments).enumerate() {
        let checked = check_argument(parameter, argument, arguments);
        checked.map_err(|why| format!("argument {index}: {why}"))?;
    }
    Ok(())
}

fn check_argument(
    parameter: &Parameter,
    argument: &Argument,
    all: &[Argument],
) -> Result<(), String> {
    match (parameter, argument) {
        (Parameter::Scalar(element), Argument::Scalar(scalar)) => {
            if !element.holds(scalar.element) {
                return Err(format!(
                    "is an {} where the kernel takes {element}",
                    scalar.element
                ));
            }
        }
        (Parameter::Memref { element, shape }, Argument::Buffer(buffer)) => {
            check_memref(*element, shape, buffer, &buffer.shape)?;
            if buffer.data.len() != buffer.len() * element.bytes() {
                return Err(format!(
                    "has {} bytes of data for {} elements of {element}",
                    buffer.data.len(),
                    buffer.len()
                ));
            }
        }
        (Parameter::Memref { element, shape }, Argument::Part(part)) => {
            let Some(whole) = all.get(part.of).and_then(Argument::buffer) else {
                return Err(format!(
                    "is part of argument {}, which is no buffer",
                    part.of
                ));
            };
            check_memref(*element, shape, whole, &part.shape)?;
            let elements: usize = part.shape.iter().product();
            if part.first + elements > whole.len() {
                return Err(format!(
                    "has {elements} elements from element {} on of argument {}, which has {}",
                    part.first,
                    part.of,
                    whole.len()
                ));
            }
        }
        (Parameter::Scalar(element), _) => {
            return Err(format!(
                "is a buffer where the kernel takes a scalar {element}"
            ));
        }
        (Parameter::Memref { .. }, Argument::Scalar(_)) => {
            return Err("is a scalar where the kernel takes a buffer".to_string());
        }
    }
    Ok(())
}

/// Whether elements of a buffer, in this shape, fit a memref.
fn check_memref(
    element: Element,
    declared: &[Option<usize>],
    buffer: &Buffer,
    shape: &[usize],
) -> Result<(), String> {
    if !element.holds(buffer.element) {
        return Err(format!(
            "holds {} where the kernel takes {element}",
            buffer.element
        ));
    }
    let fits =
        |(wanted, size): (&Option<usize>, &usize)| wanted.is_none_or(|wanted| wanted == *size);
    if declared.len() != shape.len() || !declared.iter().zip(shape).all(fits) {
        return Err(format!(
            "has shape {shape:?}, which does not fit the kernel's memref"
        ));
    }
    Ok(())
}
