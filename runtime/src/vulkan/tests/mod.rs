//! Handwritten modules on any available device. Without one, each test reports
//! that and ends.

mod body;
mod launches;
mod plans;
mod refusals;
mod resident;

use super::{device::Device, memory::Copies, resident::Resident, spirv};
use crate::{
    Error,
    objects::{
        Arg, Buffer, Device as Opened, DeviceId, Executable, LaunchOptions, Priority, Stream,
    },
    testing::{in_order, step},
};
use body::{Body, Emit, Module};
use qd_artifact::{
    Argument as Parameter, ArgumentKind, Artifact, BufferRef, Dtype, Expr, Format, Kernel, Operand,
    Plan, Step, StepKind, Variant, View,
};
use rspirv::spirv::{Capability, ExecutionMode};
use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

/// The device, or a line that says that a test does nothing. Not by `println`:
/// what passes shows nothing of it.
fn device(test: &str) -> Option<Arc<Device>> {
    static RAN: AtomicU32 = AtomicU32::new(0);
    let device = Device::at(0);
    let line = match &device {
        Ok(device) => format!(
            "vulkan: {test} on {} (test {})\n",
            device.name,
            RAN.fetch_add(1, Ordering::Relaxed) + 1
        ),
        Err(error) => format!("vulkan: {test} SKIPPED: {error}\n"),
    };
    let _ = std::io::stderr().write_all(line.as_bytes());
    device.ok()
}

/// Threads of every block.
fn threads(device: &Device) -> u32 {
    4 * device.subgroups.usual
}

/// `out[i] = add + i` for every thread; operands out, add.
fn iota(b: &mut Body<'_>) {
    let (out, length, add) = (b.word(1), b.word(2), b.word(3));
    let i = index(b);
    b.if_less(i, length, |b| {
        let (to, value) = (b.element(out, i), b.add(add, i));
        b.store(to, value);
    });
}

/// `to[i] = 3 · from[i] + add`; operands to, from, add.
fn triple(b: &mut Body<'_>) {
    let (to, length, from, add) = (b.word(1), b.word(2), b.word(3), b.word(5));
    let i = index(b);
    b.if_less(i, length, |b| {
        let (to, from) = (b.element(to, i), b.element(from, i));
        let value = b.load(from);
        let value = b.mul(value, 3);
        let value = b.add(value, add);
        b.store(to, value);
    });
}

/// `out[block] = block + blocks`, and `sum += 1`; operands out, sum.
fn blocks(b: &mut Body<'_>) {
    let (count, out, sum) = (b.word(0), b.word(1), b.word(3));
    b.once(|b| {
        let block = b.block();
        let (to, value) = (b.element(out, block), b.add(block, count));
        b.store(to, value);
        b.atomic_add(sum, 1);
    });
}

/// `flag -= 1` and `count += 1`; operands flag, count, both of rank 0.
fn count_down(b: &mut Body<'_>) {
    let (flag, count) = (b.word(1), b.word(2));
    b.once(|b| {
        for (at, by) in [(flag, u64::MAX), (count, 1)] {
            let (old, by) = (b.load(at), b.constant(by));
            let new = b.add(old, by);
            b.store(at, new);
        }
    });
}

/// `out[i]` is the size of the thread's subgroup; operand out.
fn size(b: &mut Body<'_>) {
    let out = b.word(1);
    let (i, size) = (index(b), b.subgroup_size());
    let to = b.element(out, i);
    b.store(to, size);
}

/// The thread's number among all.
fn index(b: &mut Body<'_>) -> u32 {
    let (block, thread) = (b.block(), b.thread());
    // Any device has the four subgroups of a block.
    let size = b.subgroup_size();
    let threads = b.mul(size, 4);
    let first = b.times(block, threads);
    b.add(first, thread)
}

const BODIES: &[(&str, Emit)] = &[
    ("iota", iota),
    ("triple", triple),
    ("blocks", blocks),
    ("count_down", count_down),
    ("size", size),
];

fn bodies(device: &Device) -> Module {
    let mut module = Module::new();
    for (name, emit) in BODIES {
        module.body(name, threads(device), &[], *emit);
    }
    module
}

fn artifact(device: &Device, module: Module, kernels: Vec<Kernel>) -> Artifact {
    let wave = device.subgroups.usual;
    let bytes = module.binary();
    let declared = spirv::Module::read(&spirv::words(&bytes).expect("words")).expect("a module");
    let names = declared.entries.into_keys();
    let bodies = names.map(|name| qd_artifact::Body { name, wave });
    Artifact {
        targets: vec![format!("vulkan:1.3,subgroup={wave}")],
        kernels,
        modules: vec![qd_artifact::Module::new(
            0,
            Format::Spirv,
            bodies.collect(),
            bytes,
        )],
        ..Artifact::default()
    }
}

fn parameter(name: &str, kind: ArgumentKind) -> Parameter {
    Parameter::new(name, kind)
}

fn array(name: &str, dtype: Dtype) -> Parameter {
    let shape = vec![None];
    parameter(name, ArgumentKind::Buffer { dtype, shape })
}

fn cell(name: &str) -> Parameter {
    let (dtype, shape) = (Dtype::I32, vec![]);
    parameter(name, ArgumentKind::Buffer { dtype, shape })
}

fn whole(argument: usize) -> Operand {
    Operand::Buffer(BufferRef {
        argument,
        view: None,
    })
}

/// `length` elements of an `i32` buffer, from byte `offset` on.
fn part(argument: usize, offset: u64, length: u64) -> BufferRef {
    BufferRef {
        argument,
        view: Some(View {
            offset_bytes: Expr::constant(offset),
            length: Some(Expr::constant(length)),
            row: None,
            dtype: Dtype::I32,
        }),
    }
}

fn launch(device: &Device, body: &str, blocks: u64, arguments: Vec<Operand>) -> Step {
    step(StepKind::Launch {
        body: body.into(),
        name: body.into(),
        blocks: Expr::constant(blocks),
        threads: threads(device),
        dynamic_shared_bytes: 0,
        arguments,
    })
}

fn scalar(value: u64) -> Operand {
    Operand::Scalar(Expr::constant(value))
}

fn kernel(name: &str, arguments: Vec<Parameter>, steps: Vec<Step>) -> Kernel {
    let plan = Plan {
        steps: in_order(steps),
        ..Plan::default()
    };
    Kernel {
        name: name.into(),
        arguments,
        plans: vec![Some(plan)],
    }
}

/// The only plan of a kernel.
fn plan_of(kernel: &mut Kernel) -> &mut Plan {
    kernel.plans[0].as_mut().expect("a plan")
}

/// The best device, without a cache of pipelines.
fn raw(copies: Copies) -> Resident {
    let id: DeviceId = "vulkan:0".parse().expect("a device");
    Resident::open(&id, copies, None).expect("it opens")
}

/// An artifact on a device, and a stream.
struct Loaded {
    executable: Executable,
    stream: Stream,
}

fn loaded(driver: Resident, artifact: &Artifact) -> Result<Loaded, Error> {
    let device = Opened::of(Box::new(driver));
    Ok(Loaded {
        executable: device.load(artifact)?,
        stream: device.stream(Priority::Normal)?,
    })
}

fn load(artifact: &Artifact) -> Loaded {
    loaded(raw(Copies::Direct), artifact).expect("a module for this device")
}

/// Why an artifact or the code of its first kernel is not loaded.
fn refused(artifact: &Artifact) -> String {
    let first = |loaded: Loaded| loaded.executable.kernel(&artifact.kernels[0].name)?.load();
    match loaded(raw(Copies::Direct), artifact).and_then(first) {
        Ok(_) => panic!("loaded"),
        Err(error) => error.to_string(),
    }
}

/// The artifact on the device, with copies by the host and by the device.
fn ways(artifact: &Artifact) -> impl Iterator<Item = Loaded> {
    [Copies::Direct, Copies::Staged]
        .into_iter()
        .map(|copies| loaded(raw(copies), artifact).expect("loaded"))
}

impl Loaded {
    /// Runs a kernel; what it leaves is in the arguments.
    fn run(&self, name: &str, given: &mut [Given]) -> Result<(), Error> {
        self.run_with(name, given, &LaunchOptions::default())
    }

    fn run_with(
        &self,
        name: &str,
        given: &mut [Given],
        options: &LaunchOptions,
    ) -> Result<(), Error> {
        let on = &self.stream;
        let kernel = self.executable.kernel(name)?;
        let upload = |given: &Given| match given {
            Given::Array(values) => Buffer::from_slice(on, values).map(Some),
            Given::Cell([value]) => Ok(Some(cell_of(on, *value))),
            Given::Scalar(_) => Ok(None),
        };
        let buffers: Vec<_> = given.iter().map(upload).collect::<Result<_, _>>()?;
        let arguments: Vec<_> = given
            .iter()
            .zip(&buffers)
            .map(|pair| match pair {
                (_, Some(buffer)) => Arg::from(buffer),
                (Given::Scalar(value), _) => Arg::from(*value),
                (Given::Array(_) | Given::Cell(_), None) => Arg::Missing,
            })
            .collect();
        kernel.launch_with(on, &arguments, options)?;
        for (given, buffer) in given.iter_mut().zip(&buffers) {
            if let Some(buffer) = buffer {
                buffer.read(on, values_mut(given))?;
            }
        }
        Ok(())
    }
}

/// An argument of a test.
enum Given {
    Array(Vec<i32>),
    /// Of rank 0.
    Cell([i32; 1]),
    Scalar(i32),
}

fn ints(length: usize, value: i32) -> Given {
    Given::Array(vec![value; length])
}

fn zero() -> Given {
    Given::Cell([0])
}

fn values(given: &Given) -> &[i32] {
    match given {
        Given::Array(values) => values,
        Given::Cell(value) => value,
        Given::Scalar(_) => &[],
    }
}

fn values_mut(given: &mut Given) -> &mut [i32] {
    match given {
        Given::Array(values) => values,
        Given::Cell(value) => value,
        Given::Scalar(_) => &mut [],
    }
}

/// A buffer of rank 0.
fn cell_of(on: &Stream, value: i32) -> Buffer {
    let made = Buffer::from_slice(on, &[value]).expect("memory");
    made.cast(Dtype::I32, &[]).expect("one element")
}
