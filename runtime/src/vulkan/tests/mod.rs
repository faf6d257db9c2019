//! Handmade modules on whatever device there is. Without one, each test says so
//! and is over.

mod body;

use super::{Copies, Vulkan, device::Device};
use crate::{Argument, Buffer, Driver, Error, Loaded, Options, Scalar};
use body::{Body, Emit, Module};
use qd_artifact::{
    Argument as Parameter, ArgumentKind, Artifact, BufferRef, Dtype, Expr, Kernel, Operand,
    Requirements, Step, Variant, View,
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
    let device = Device::shared();
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
    Artifact {
        target: format!("vulkan:1.3,subgroup={wave}"),
        wave,
        requirements: Requirements::default(),
        kernels,
        binary: module.binary(),
    }
}

fn parameter(name: &str, kind: ArgumentKind) -> Parameter {
    Parameter {
        name: name.into(),
        kind,
        length: None,
        minimum: None,
        is_input: false,
        limit: None,
    }
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
            length: Expr::constant(length),
            dtype: Dtype::I32,
        }),
    }
}

/// A launch after the one before it.
fn launch(device: &Device, id: u64, body: &str, blocks: u64, arguments: Vec<Operand>) -> Step {
    Step::Launch {
        id,
        body: body.into(),
        name: body.into(),
        blocks: Expr::constant(blocks),
        threads: threads(device),
        arguments,
        after: (id > 0).then(|| id - 1).into_iter().collect(),
    }
}

fn scalar(value: u64) -> Operand {
    Operand::Scalar(Expr::constant(value))
}

fn kernel(name: &str, arguments: Vec<Parameter>, steps: Vec<Step>) -> Kernel {
    Kernel {
        name: name.into(),
        arguments,
        steps,
    }
}

fn driver(copies: Copies) -> Vulkan {
    Vulkan {
        copies,
        cache: None,
    }
}

fn load(artifact: &Artifact) -> Box<dyn Loaded> {
    driver(Copies::Direct)
        .load(artifact)
        .expect("a module for this device")
}

fn refused(artifact: &Artifact) -> String {
    match driver(Copies::Direct).load(artifact) {
        Ok(_) => panic!("loaded"),
        Err(error) => error.to_string(),
    }
}

fn ints(length: usize, value: i32) -> Argument {
    Buffer::from_slice(&vec![value; length])
        .expect("little memory")
        .into()
}

fn zero() -> Argument {
    Buffer::zeros(Dtype::I32, &[])
        .expect("little memory")
        .into()
}

fn values(argument: &Argument) -> &[i32] {
    argument.as_buffer().expect("a buffer").as_slice()
}

/// Copies by the host and by the device, timed and not.
fn ways() -> impl Iterator<Item = (Copies, Options)> {
    [Copies::Direct, Copies::Staged]
        .into_iter()
        .flat_map(|copies| {
            [false, true].map(|time_steps| {
                let options = Options {
                    time_steps,
                    ..Options::default()
                };
                (copies, options)
            })
        })
}

#[test]
fn launches_get_their_words() {
    let Some(device) = device("launches_get_their_words") else {
        return;
    };
    let blocks = 5;
    let count = u64::from(threads(&device)) * blocks;
    let main = kernel(
        "main",
        vec![
            array("out", Dtype::I32),
            parameter("add", ArgumentKind::Scalar { dtype: Dtype::I32 }),
        ],
        vec![launch(
            &device,
            0,
            "iota",
            blocks,
            vec![whole(0), Operand::Scalar(Expr::Scalar(1))],
        )],
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    for (copies, options) in ways() {
        let loaded = driver(copies).load(&artifact).expect("loaded");
        // Neither full blocks nor no element at all.
        for length in [count, count - 3, 1, 0] {
            let mut arguments = [ints(length as usize, -1), Scalar::new(7i32).into()];
            let timing = loaded.run("main", &mut arguments, &options).expect("runs");
            let expected: Vec<_> = (7..7 + length as i32).collect();
            assert_eq!(values(&arguments[0]), expected, "{copies:?}");
            assert_eq!(timing.launches, 1);
            assert_eq!(timing.steps.len(), usize::from(options.time_steps));
        }
    }
}

#[test]
fn what_waits_sees_what_was_waited_for() {
    let Some(device) = device("what_waits_sees_what_was_waited_for") else {
        return;
    };
    let blocks = 300;
    let length = u64::from(threads(&device)) * blocks;
    // From one buffer to the other and back, and half of it over itself.
    let mut steps = Vec::new();
    let mut expected = 1i32;
    for id in 0..20u64 {
        let (to, from) = ((id % 2) as usize, (1 - id % 2) as usize);
        let operands = vec![whole(to), whole(from), scalar(id)];
        steps.push(launch(&device, id, "triple", blocks, operands));
        expected = expected.wrapping_mul(3).wrapping_add(id as i32);
    }
    let (a, b) = (part(1, 0, length / 2), part(1, 0, length / 2));
    let operands = vec![Operand::Buffer(a), Operand::Buffer(b), scalar(5)];
    steps.push(launch(&device, 20, "triple", blocks / 2, operands));
    let main = kernel(
        "main",
        vec![array("a", Dtype::I32), array("b", Dtype::I32)],
        steps,
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    for (copies, options) in ways() {
        let loaded = driver(copies).load(&artifact).expect("loaded");
        let mut arguments = [ints(length as usize, 0), ints(length as usize, 1)];
        let timing = loaded.run("main", &mut arguments, &options).expect("runs");
        let half = length as usize / 2;
        let last = expected.wrapping_mul(3).wrapping_add(5);
        assert!(values(&arguments[1])[..half].iter().all(|v| *v == last));
        assert!(values(&arguments[1])[half..].iter().all(|v| *v == expected));
        assert_eq!(timing.launches, 21);
        if options.time_steps {
            let sum: std::time::Duration = timing.steps.iter().map(|step| step.total).sum();
            assert!(sum <= timing.total, "{sum:?} of {:?}", timing.total);
            assert_eq!(timing.steps.len(), 21);
        }
    }
}

#[test]
fn views_overlap() {
    let Some(device) = device("views_overlap") else {
        return;
    };
    let n = u64::from(threads(&device));
    // [0, n) then [n/2, 3n/2), which begins at no binding's alignment, then back.
    let views = [(0, 100), (n / 2 + 1, 1000)];
    let mut steps = Vec::new();
    for (id, (begin, add)) in (0..).zip(views) {
        let operands = vec![Operand::Buffer(part(0, 4 * begin, n)), scalar(add)];
        steps.push(launch(&device, id, "iota", 1, operands));
    }
    let main = kernel("main", vec![array("a", Dtype::I32)], steps);
    let loaded = load(&artifact(&device, bodies(&device), vec![main]));
    let mut arguments = [ints(2 * n as usize, -1)];
    loaded
        .run("main", &mut arguments, &Options::default())
        .expect("runs");
    let mut expected = vec![-1; 2 * n as usize];
    for (begin, add) in views {
        for i in 0..n {
            expected[(begin + i) as usize] = (add + i) as i32;
        }
    }
    assert_eq!(values(&arguments[0]), expected);
}

#[test]
fn more_blocks_than_a_dimension_has() {
    let Some(device) = device("more_blocks_than_a_dimension_has") else {
        return;
    };
    for count in [0, 1, 65_535, 65_536, 2 * 65_535, 140_000u64] {
        let main = kernel(
            "main",
            vec![array("out", Dtype::I32), cell("sum")],
            vec![launch(
                &device,
                0,
                "blocks",
                count,
                vec![whole(0), whole(1)],
            )],
        );
        let loaded = load(&artifact(&device, bodies(&device), vec![main]));
        let mut arguments = [ints(count as usize + 1, -1), zero()];
        let timing = loaded.run("main", &mut arguments, &Options::default());
        assert_eq!(timing.expect("runs").launches, u64::from(count > 0));
        let expected: Vec<_> = (count..2 * count).map(|v| v as i32).collect();
        assert_eq!(values(&arguments[0])[..count as usize], expected);
        assert_eq!(values(&arguments[0])[count as usize], -1);
        assert_eq!(values(&arguments[1])[0] as u64, count);
    }
    let too_many = 65_535 * 65_535 + 1;
    let main = kernel(
        "main",
        vec![array("out", Dtype::I32), cell("sum")],
        vec![launch(
            &device,
            0,
            "blocks",
            too_many,
            vec![whole(0), whole(1)],
        )],
    );
    let loaded = load(&artifact(&device, bodies(&device), vec![main]));
    let error = loaded
        .run("main", &mut [ints(1, 0), zero()], &Options::default())
        .expect_err("too many");
    assert!(
        error
            .to_string()
            .ends_with("takes at most 4294836225 blocks"),
        "{error}"
    );
}

/// A loop that is gone round as often as its flag says, in a kernel that another
/// dispatches to, with a fill before and a launch behind it.
fn loops(device: &Device) -> Artifact {
    let body = launch(device, 0, "count_down", 1, vec![whole(0), whole(1)]);
    let inner = kernel(
        "inner",
        vec![cell("flag"), cell("count"), array("out", Dtype::I32)],
        vec![
            Step::Fill {
                buffer: BufferRef {
                    argument: 2,
                    view: None,
                },
                lower: Expr::constant(0),
                upper: Expr::Length(2, 0),
                value: Expr::constant(2),
            },
            Step::DoWhile {
                flag: BufferRef {
                    argument: 0,
                    view: None,
                },
                steps: vec![body],
            },
            launch(device, 7, "triple", 1, vec![whole(2), whole(2), scalar(1)]),
        ],
    );
    let outer = kernel(
        "outer",
        inner.arguments.clone(),
        vec![
            launch(device, 0, "count_down", 1, vec![whole(0), whole(1)]),
            Step::Dispatch {
                variants: vec![Variant {
                    kernel: "inner".into(),
                    predicate: None,
                }],
                arguments: vec![whole(0), whole(1), whole(2)],
            },
            launch(device, 1, "triple", 1, vec![whole(2), whole(2), scalar(0)]),
        ],
    );
    artifact(device, bodies(device), vec![inner, outer])
}

#[test]
fn loops_go_round() {
    let Some(device) = device("loops_go_round") else {
        return;
    };
    let artifact = loops(&device);
    for (copies, options) in ways() {
        let loaded = driver(copies).load(&artifact).expect("loaded");
        let mut arguments = [zero(), zero(), ints(3, 0)];
        if let Argument::Buffer(flag) = &mut arguments[0] {
            flag.as_mut_slice::<i32>()[0] = 6;
        }
        let timing = loaded.run("outer", &mut arguments, &options).expect("runs");
        assert_eq!(values(&arguments[0]), [0]);
        assert_eq!(values(&arguments[1]), [6]);
        assert_eq!(values(&arguments[2]), [21; 3]);
        assert_eq!(timing.launches, 8);
        assert!(timing.total > std::time::Duration::ZERO);
    }
}

#[test]
fn loops_without_end_are_errors() {
    let Some(device) = device("loops_without_end_are_errors") else {
        return;
    };
    let loaded = load(&loops(&device));
    let mut arguments = [zero(), zero(), ints(3, 0)];
    let options = Options {
        max_iterations: Some(10),
        ..Options::default()
    };
    let error = loaded
        .run("inner", &mut arguments, &options)
        .expect_err("goes down from 0");
    assert!(
        matches!(error, Error::TooManyIterations { limit: 10, .. }),
        "{error}"
    );
}

#[test]
fn runs_go_on_from_what_the_last_one_left() {
    let Some(device) = device("runs_go_on_from_what_the_last_one_left") else {
        return;
    };
    let operands = vec![whole(0), whole(0), scalar(0)];
    let main = kernel(
        "main",
        vec![array("a", Dtype::I32)],
        vec![launch(&device, 0, "triple", 1, operands)],
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    for (copies, options) in ways() {
        let loaded = driver(copies).load(&artifact).expect("loaded");
        let mut arguments = [ints(5, 1)];
        let mut prepared = loaded
            .prepare("main", &arguments, &options)
            .expect("prepared");
        for expected in [3, 9, 27] {
            prepared.run().expect("runs");
            prepared.read(&mut arguments).expect("read");
            assert_eq!(values(&arguments[0]), [expected; 5]);
        }
        prepared.write(&[ints(5, 2)]).expect("written");
        prepared.run().expect("runs");
        prepared.read(&mut arguments).expect("read");
        assert_eq!(values(&arguments[0]), [6; 5]);
        let error = prepared.write(&[ints(6, 2)]).expect_err("another shape");
        assert!(matches!(error, Error::OtherArguments { .. }), "{error}");
    }
}

#[test]
fn fills_of_every_size_at_every_place() {
    let Some(device) = device("fills_of_every_size_at_every_place") else {
        return;
    };
    let value = 0x0102_0304_0506_0708_u64;
    let types = [Dtype::U8, Dtype::I16, Dtype::F32, Dtype::I64];
    for (copies, options) in ways() {
        for dtype in types {
            for (lower, upper) in [(0, 5), (1, 2), (1, 4), (3, 40_000), (2, 2), (7, 3)] {
                let main = kernel(
                    "main",
                    vec![array("a", dtype)],
                    vec![Step::Fill {
                        buffer: BufferRef {
                            argument: 0,
                            view: None,
                        },
                        lower: Expr::constant(lower),
                        upper: Expr::constant(upper),
                        value: Expr::constant(value),
                    }],
                );
                let plan = Artifact {
                    binary: Vec::new(),
                    ..artifact(&device, Module::new(), vec![main])
                };
                let loaded = driver(copies).load(&plan).expect("no code is needed");
                let before = Buffer::filled(dtype, &[40_003], 0xEE).expect("little memory");
                let mut expected = before.as_bytes().to_vec();
                let size = dtype.size();
                for i in lower..upper {
                    let at = i as usize * size;
                    expected[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
                }
                let mut arguments = [before.into()];
                let timing = loaded.run("main", &mut arguments, &options).expect("runs");
                let after = arguments[0].as_buffer().expect("a buffer");
                assert!(after.as_bytes() == expected, "{dtype} {lower}..{upper}");
                assert_eq!(timing.launches, 0);
            }
        }
    }
}

#[test]
fn subgroups_have_the_size() {
    let Some(device) = device("subgroups_have_the_size") else {
        return;
    };
    let main = kernel(
        "main",
        vec![array("out", Dtype::I32)],
        vec![launch(&device, 0, "size", 3, vec![whole(0)])],
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    let mut arguments = [ints(3 * threads(&device) as usize, 0)];
    load(&artifact)
        .run("main", &mut arguments, &Options::default())
        .expect("runs");
    let wave = device.subgroups.usual as i32;
    assert!(values(&arguments[0]).iter().all(|size| *size == wave));

    let other = Artifact {
        wave: 2 * device.subgroups.usual + 1,
        ..artifact
    };
    let error = refused(&other);
    assert!(
        error.contains(&format!("--target=vulkan:1.3,subgroup={wave}")),
        "{error}"
    );
}

#[test]
fn targets_get_the_size_of_the_device() {
    let Some(device) = device("targets_get_the_size_of_the_device") else {
        return;
    };
    let resolved = crate::resolve("vulkan:1.3").expect("a device");
    assert_eq!(
        resolved,
        format!("vulkan:1.3,subgroup={}", device.subgroups.usual)
    );
    let given = "vulkan:1.3,subgroup=64";
    assert_eq!(crate::resolve(given).expect("as it is"), given);
}

#[test]
fn what_the_device_lacks_is_named_with_who_needs_it() {
    let Some(device) = device("what_the_device_lacks_is_named_with_who_needs_it") else {
        return;
    };
    let with = |capability: Capability, extension: &str, mode: &[(ExecutionMode, u32)]| {
        let mut module = Module::new();
        module.capability(capability);
        if !extension.is_empty() {
            module.extension(extension);
        }
        module.body("size", threads(&device), mode, size);
        let main = kernel(
            "main",
            vec![array("out", Dtype::I32)],
            vec![launch(&device, 0, "size", 1, vec![whole(0)])],
        );
        let mut artifact = artifact(&device, module, vec![main]);
        artifact.requirements.reasons =
            [(format!("{capability:?}"), "arith.addf at k.mlir:3:4".into())].into();
        artifact
    };

    // No compute module has it.
    let error = refused(&with(Capability::Geometry, "", &[]));
    assert!(
        error.contains("capability 2 (unknown to this driver)"),
        "{error}"
    );

    let add = Capability::AtomicFloat64AddEXT;
    let atomics = with(add, "SPV_EXT_shader_atomic_float_add", &[]);
    let has = device
        .features
        .atomic_float
        .shader_buffer_float64_atomic_add
        | device
            .features
            .atomic_float
            .shader_shared_float64_atomic_add;
    if has == ash::vk::FALSE {
        assert_eq!(
            refused(&atomics),
            format!(
                "{} cannot run the artifact: it lacks AtomicFloat64AddEXT \
                 (shaderBufferFloat64AtomicAdd or shaderSharedFloat64AtomicAdd), which it needs \
                 for arith.addf at k.mlir:3:4",
                device.name
            )
        );
    }

    let mode = [(ExecutionMode::DenormPreserve, 32)];
    let denormals = with(Capability::DenormPreserve, "", &mode);
    if device.properties.v12.shader_denorm_preserve_float32 == ash::vk::FALSE {
        let error = refused(&denormals);
        assert!(error.contains("shaderDenormPreserveFloat32"), "{error}");
    }
    let mode = [(ExecutionMode::RoundingModeRTE, 32)];
    let rounding = with(Capability::RoundingModeRTE, "", &mode);
    if device.properties.v12.shader_rounding_mode_rte_float32 == ash::vk::TRUE {
        load(&rounding);
    }

    // The artifact may know more than its module declares.
    let mut artifact = with(Capability::Int16, "", &[]);
    artifact.requirements.features = vec!["Int512".into()];
    let error = refused(&artifact);
    assert!(error.contains("Int512 (unknown to this driver)"), "{error}");
}

#[test]
fn damaged_artifacts_are_refused() {
    let Some(device) = device("damaged_artifacts_are_refused") else {
        return;
    };
    let with = |body: &str| {
        let main = kernel(
            "main",
            vec![array("out", Dtype::I32)],
            vec![launch(&device, 0, body, 1, vec![whole(0)])],
        );
        artifact(&device, bodies(&device), vec![main])
    };
    let error = refused(&with("missing"));
    assert!(error.ends_with("there is no symbol 'missing'"), "{error}");

    let mut cut = with("size");
    cut.binary.truncate(99);
    assert!(refused(&cut).contains("it is no SPIR-V"));
    cut.binary.truncate(96);
    assert!(refused(&cut).contains("the SPIR-V module is damaged"));

    let other = Artifact {
        target: "cpu".into(),
        ..with("size")
    };
    assert!(refused(&other).contains("not for a Vulkan device"));
    let later = Artifact {
        target: "vulkan:9.9".into(),
        ..with("size")
    };
    assert!(refused(&later).contains("has Vulkan 1."));

    let mut threads = with("size");
    if let Step::Launch { threads, .. } = &mut threads.kernels[0].steps[0] {
        *threads *= 2;
    }
    let error = load(&threads)
        .run("main", &mut [ints(100, 0)], &Options::default())
        .expect_err("other blocks");
    assert!(
        error
            .to_string()
            .contains("'size' was compiled for blocks of"),
        "{error}"
    );
}

#[test]
fn blocks_are_no_larger_than_the_device_allows() {
    let Some(device) = device("blocks_are_no_larger_than_the_device_allows") else {
        return;
    };
    let most = device
        .properties
        .base
        .limits
        .max_compute_work_group_invocations;
    let mut module = Module::new();
    module.body("size", 2 * most, &[], size);
    let mut step = launch(&device, 0, "size", 1, vec![whole(0)]);
    if let Step::Launch { threads, .. } = &mut step {
        *threads = 2 * most;
    }
    let main = kernel("main", vec![array("out", Dtype::I32)], vec![step]);
    let error = load(&artifact(&device, module, vec![main]))
        .run("main", &mut [ints(1, 0)], &Options::default())
        .expect_err("too large");
    assert!(error.to_string().contains("threads in a block"), "{error}");
}

#[test]
fn what_is_compiled_is_kept() {
    let Some(device) = device("what_is_compiled_is_kept") else {
        return;
    };
    let main = kernel(
        "main",
        vec![array("out", Dtype::I32)],
        vec![launch(&device, 0, "size", 1, vec![whole(0)])],
    );
    let artifact = artifact(&device, bodies(&device), vec![main]);
    let folder = tempfile::tempdir().expect("a folder");
    let run = || {
        let driver = Vulkan {
            copies: Copies::Direct,
            cache: Some(folder.path().into()),
        };
        let loaded = driver.load(&artifact).expect("loaded");
        let mut arguments = [ints(threads(&device) as usize, 0)];
        let ran = loaded.run("main", &mut arguments, &Options::default());
        ran.expect("runs");
        assert_eq!(values(&arguments[0])[0] as u32, device.subgroups.usual);
    };
    run();
    // Damage, and a folder where there should be a file.
    let Ok(devices) = std::fs::read_dir(folder.path().join("vulkan")) else {
        // A driver may keep nothing.
        return run();
    };
    for folder in devices {
        for file in std::fs::read_dir(folder.expect("an entry").path()).expect("a folder") {
            std::fs::write(file.expect("an entry").path(), "damaged").expect("written");
        }
    }
    run();
    std::fs::remove_dir_all(folder.path().join("vulkan")).expect("removed");
    std::fs::write(folder.path().join("vulkan"), "no folder").expect("written");
    run();
}

#[test]
fn what_is_too_large_is_an_error() {
    let Some(device) = device("what_is_too_large_is_an_error") else {
        return;
    };
    let limit = device.properties.v11.max_memory_allocation_size;
    let refusal = super::memory::Memory::new(&device, limit as usize + 1, Copies::Direct);
    let Err(refusal) = refusal else {
        panic!("larger than there are buffers");
    };
    let error = refusal.into_error("kernel 'k': argument 'a'", &device);
    assert!(
        error
            .to_string()
            .starts_with("not enough memory for kernel 'k': argument 'a': a buffer of"),
        "{error}"
    );
}

#[test]
fn threads_share_the_device() {
    let Some(device) = device("threads_share_the_device") else {
        return;
    };
    let artifact = loops(&device);
    let loaded = load(&artifact);
    std::thread::scope(|scope| {
        for start in 1..9 {
            let loaded = &loaded;
            scope.spawn(move || {
                let mut arguments = [ints(0, 0), zero(), ints(3, 0)];
                let mut flag = Buffer::zeros(Dtype::I32, &[]).expect("little memory");
                flag.as_mut_slice::<i32>()[0] = start;
                arguments[0] = flag.into();
                let options = Options::default();
                loaded.run("inner", &mut arguments, &options).expect("runs");
                assert_eq!(values(&arguments[1]), [start]);
            });
        }
    });
}
