//! An artifact for AMD devices whose code is of the fake's own format.

use qd_artifact::{
    Access, Argument, ArgumentKind, Artifact, Body, BufferRef, Expr, Format, Kernel, Module,
    Operand, Plan, Step, StepKind,
};
use qd_runtime::{
    Dtype, Element, Error,
    objects::{Buffer, Device, DeviceOptions, Executable, Priority, Stream},
};

/// A code object of the fake's own format.
pub fn code(architecture: &str) -> Vec<u8> {
    let mut image = vec![0; 64];
    image[..6].copy_from_slice(b"\x7fELF\x02\x01");
    image[18] = 224;
    let text = "set set\nnext next\ncount_down count_down\ndescribe describe\n";
    image.extend(format!("qd-fake {architecture}\n{text}\0").bytes());
    image
}

fn array(name: &str, dtype: Dtype) -> Argument {
    let shape = vec![None];
    Argument::new(name, ArgumentKind::Buffer { dtype, shape })
}

fn input(name: &str) -> Argument {
    Argument {
        access: Access::Read,
        ..array(name, Dtype::I32)
    }
}

fn cell(name: &str) -> Argument {
    let shape = Vec::new();
    let dtype = Dtype::I32;
    Argument::new(name, ArgumentKind::Buffer { dtype, shape })
}

fn scalar(name: &str, dtype: Dtype) -> Argument {
    Argument::new(name, ArgumentKind::Scalar { dtype })
}

fn whole(argument: usize) -> BufferRef {
    BufferRef {
        argument,
        view: None,
    }
}

fn launch(body: &str, blocks: Expr, shared: u32, arguments: Vec<Operand>) -> StepKind {
    StepKind::Launch {
        body: body.into(),
        name: format!("{body} it"),
        blocks,
        threads: 64,
        dynamic_shared_bytes: shared,
        arguments,
    }
}

fn kernel(name: &str, arguments: Vec<Argument>, steps: Vec<StepKind>) -> Kernel {
    /// Each waits for the one before it.
    fn number(kinds: Vec<StepKind>, next: &mut u64) -> Vec<Step> {
        let mut last = None;
        let steps = kinds.into_iter().map(|mut kind| {
            let id = *next;
            *next += 1;
            if let StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } = &mut kind {
                let inner = std::mem::take(steps).into_iter().map(|step| step.kind);
                *steps = number(inner.collect(), next);
            }
            let after = last.replace(id).into_iter().collect();
            Step { id, after, kind }
        });
        steps.collect()
    }
    let plan = Plan {
        steps: number(steps, &mut 0),
        ..Plan::default()
    };
    Kernel {
        name: name.into(),
        arguments,
        plans: vec![Some(plan)],
    }
}

/// Steps within others.
fn within(steps: Vec<StepKind>) -> Vec<Step> {
    let step = |kind| Step {
        id: 0,
        after: Vec::new(),
        kind,
    };
    steps.into_iter().map(step).collect()
}

fn buffers(places: &[usize]) -> Vec<Operand> {
    places
        .iter()
        .map(|at| Operand::Buffer(whole(*at)))
        .collect()
}

/// `x[from to to] = value`, of each type.
fn fill(name: &str, dtype: Dtype) -> Kernel {
    let fill = StepKind::Fill {
        buffer: whole(0),
        lower: Expr::Scalar(1),
        upper: Expr::Scalar(2),
        value: Expr::Scalar(3),
    };
    let arguments = vec![
        array("x", dtype),
        scalar("from", Dtype::I64),
        scalar("to", Dtype::I64),
        scalar("value", dtype),
    ];
    kernel(name, arguments, vec![fill])
}

pub fn artifact(architecture: &str) -> Artifact {
    let one = || Expr::constant(1);
    let set = [buffers(&[0]), vec![Operand::Scalar(Expr::Scalar(1))]].concat();
    let count_down = || launch("count_down", one(), 0, buffers(&[0, 1]));
    let repeat = StepKind::DoWhile {
        flag: whole(0).into(),
        steps: within(vec![count_down()]),
    };
    let choice = StepKind::If {
        condition: Operand::Buffer(whole(0)),
        steps: within(vec![count_down()]),
    };
    let cells = || vec![cell("flag"), cell("count")];
    let describe = launch("describe", Expr::Scalar(1), 96, buffers(&[0]));
    let a = || array("a", Dtype::I32);
    let bodies = ["set", "next", "count_down", "describe"].map(|name| Body {
        name: name.into(),
        wave: 64,
    });
    Artifact {
        targets: vec![format!("amdgpu:{architecture},wave=64")],
        kernels: vec![
            kernel(
                "set",
                vec![a(), scalar("value", Dtype::I32)],
                vec![launch("set", one(), 0, set)],
            ),
            kernel(
                "next",
                vec![array("out", Dtype::I32), input("in")],
                vec![launch("next", one(), 0, buffers(&[0, 1]))],
            ),
            kernel("repeat", cells(), vec![repeat]),
            kernel("choice", cells(), vec![choice]),
            kernel(
                "describe",
                vec![a(), scalar("blocks", Dtype::I64)],
                vec![describe],
            ),
            fill("fill_u8", Dtype::U8),
            fill("fill_u16", Dtype::U16),
            fill("fill_u32", Dtype::U32),
            fill("fill_u64", Dtype::U64),
        ],
        modules: vec![Module::new(
            0,
            Format::Hsaco,
            bodies.into(),
            code(architecture),
        )],
        ..Artifact::default()
    }
}

pub fn open() -> Result<Device, Error> {
    Device::open(&"hip:0".parse()?, &DeviceOptions::default())
}

/// A device, what is loaded on it, and a stream.
pub fn ready() -> (Device, Executable, Stream) {
    let device = open().expect("it opens");
    let loaded = device.load(&artifact("gfx1100")).expect("loads");
    let stream = device.stream(Priority::Normal).expect("a stream");
    (device, loaded, stream)
}

/// An array of rank 0.
pub fn number(on: &Stream, value: i32) -> Buffer {
    let one = Buffer::from_slice(on, &[value]).expect("memory");
    one.cast(Dtype::I32, &[]).expect("one element")
}

pub fn held<T: Element + Default>(on: &Stream, buffer: &Buffer) -> Vec<T> {
    buffer.to_vec(on).expect("read")
}
