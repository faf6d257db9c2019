//! Bodies written in LLVM IR, made into objects as the compiler makes them.

use crate::{
    Error, args,
    objects::{
        Arg, Buffer, Device, DeviceId, DeviceOptions, Executable, LaunchOptions, Priority, Stream,
    },
    testing::{in_order, step},
};
use inkwell::{
    OptimizationLevel,
    context::Context,
    memory_buffer::MemoryBuffer,
    targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine},
};
use qd_artifact::{
    Argument as Parameter, ArgumentKind, Artifact, Body, BufferRef, Comparison, Dtype, Expr,
    Format, Kernel, Module, Operand, Operation, Plan, Step, StepKind, Variant, View,
};

/// `out[i] = in[i] + add` for blocks of 4 elements, `add` a scalar; operands
/// out, in, add.
const ADD: &str = r#"
define void @add(i64 %first, i64 %end, i64 %grid, ptr %args) {
  %pout = load ptr, ptr %args
  %plen = getelementptr i64, ptr %args, i64 1
  %len = load i64, ptr %plen
  %ppin = getelementptr i64, ptr %args, i64 2
  %pin = load ptr, ptr %ppin
  %padd = getelementptr i64, ptr %args, i64 4
  %wide = load i64, ptr %padd
  %add = trunc i64 %wide to i32
  %i0 = mul i64 %first, 4
  %end4 = mul i64 %end, 4
  %last = call i64 @llvm.umin.i64(i64 %end4, i64 %len)
  br label %head
head:
  %i = phi i64 [%i0, %0], [%next, %body]
  %more = icmp ult i64 %i, %last
  br i1 %more, label %body, label %done
body:
  %from = getelementptr i32, ptr %pin, i64 %i
  %to = getelementptr i32, ptr %pout, i64 %i
  %x = load i32, ptr %from
  %y = add i32 %x, %add
  store i32 %y, ptr %to
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}
declare i64 @llvm.umin.i64(i64, i64)
"#;

/// `flag -= 1` and `count += 1`; operands flag, count, both of rank 0.
const COUNT_DOWN: &str = r#"
define void @count_down(i64 %first, i64 %end, i64 %grid, ptr %args) {
  %pflag = load ptr, ptr %args
  %ppcount = getelementptr i64, ptr %args, i64 1
  %pcount = load ptr, ptr %ppcount
  %flag = load i32, ptr %pflag
  %less = sub i32 %flag, 1
  store i32 %less, ptr %pflag
  %count = load i32, ptr %pcount
  %more = add i32 %count, 1
  store i32 %more, ptr %pcount
  ret void
}
"#;

/// Each block waits for the one before it, then says that it is done: ends only
/// if blocks are taken in order. Operand: done, one i32 per block.
const CHAIN: &str = r#"
define void @chain(i64 %first, i64 %end, i64 %grid, ptr %args) {
  %done = load ptr, ptr %args
  br label %blocks
blocks:
  %b = phi i64 [%first, %0], [%next, %say]
  %is_first = icmp eq i64 %b, 0
  br i1 %is_first, label %say, label %wait
wait:
  %before = sub i64 %b, 1
  %at = getelementptr i32, ptr %done, i64 %before
  %seen = load atomic i32, ptr %at acquire, align 4
  %ready = icmp ne i32 %seen, 0
  br i1 %ready, label %say, label %wait
say:
  %mine = getelementptr i32, ptr %done, i64 %b
  store atomic i32 1, ptr %mine release, align 4
  %next = add i64 %b, 1
  %more = icmp ult i64 %next, %end
  br i1 %more, label %blocks, label %exit
exit:
  ret void
}
"#;

/// `out[block] = exp(block)`, by libm; operand out.
const EXP: &str = r#"
define void @exp_body(i64 %first, i64 %end, i64 %grid, ptr %args) {
  %out = load ptr, ptr %args
  %at = getelementptr double, ptr %out, i64 %first
  %x = uitofp i64 %first to double
  %y = call double @exp(double %x)
  store double %y, ptr %at
  ret void
}
declare double @exp(double)
"#;

fn object(ir: &str) -> Vec<u8> {
    Target::initialize_native(&InitializationConfig::default()).expect("a native target");
    let context = Context::create();
    let text = MemoryBuffer::create_from_memory_range_copy(format!("{ir}\0").as_bytes(), "test.ll");
    let module = context.create_module_from_ir(text).expect("valid IR");
    let triple = TargetMachine::get_default_triple();
    let machine = Target::from_triple(&triple)
        .expect("a native target")
        .create_target_machine(
            &triple,
            "generic",
            "",
            OptimizationLevel::Default,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .expect("a native target machine");
    let buffer = machine
        .write_to_memory_buffer(&module, FileType::Object)
        .expect("an object");
    buffer.as_slice().to_vec()
}

fn buffer(name: &str, dtype: Dtype, shape: &[Option<u64>]) -> Parameter {
    let shape = shape.to_vec();
    Parameter::new(name, ArgumentKind::Buffer { dtype, shape })
}

fn whole(argument: usize) -> Operand {
    Operand::Buffer(BufferRef {
        argument,
        view: None,
    })
}

fn launch(body: &str, blocks: Expr, arguments: Vec<Operand>) -> Step {
    step(StepKind::Launch {
        body: body.into(),
        name: body.into(),
        blocks,
        threads: 64,
        dynamic_shared_bytes: 0,
        arguments,
    })
}

fn artifact(ir: &str, arguments: Vec<Parameter>, steps: Vec<Step>) -> Artifact {
    let bodies = ["add", "count_down", "chain", "exp_body"].into_iter();
    let bodies = bodies.filter(|body| ir.contains(&format!("@{body}(")));
    let bodies = bodies.map(|name| Body {
        name: name.into(),
        wave: 32,
    });
    Artifact {
        targets: vec!["cpu".into()],
        kernels: vec![kernel("k", arguments, steps)],
        modules: vec![Module::new(0, Format::Object, bodies.collect(), object(ir))],
        ..Artifact::default()
    }
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

/// This machine with so many threads, and a stream.
fn open(threads: usize) -> (Device, Stream) {
    let id: DeviceId = "cpu".parse().expect("a device");
    let threads = Some(threads);
    let device = Device::open(
        &id,
        &DeviceOptions {
            threads,
            ..DeviceOptions::default()
        },
    )
    .expect("it opens");
    let stream = device.stream(Priority::Normal).expect("a stream");
    (device, stream)
}

/// Runs an executable's kernel `k`.
fn run(loaded: &Executable, on: &Stream, arguments: &[Arg<'_>]) -> Result<(), Error> {
    let max_iterations = Some(1000);
    let options = LaunchOptions { max_iterations };
    loaded.kernel("k")?.launch_with(on, arguments, &options)
}

/// Why an artifact's kernel `k` is not loaded.
fn refusal(artifact: &Artifact) -> Error {
    let loaded = open(1)
        .0
        .load(artifact)
        .and_then(|all| all.kernel("k")?.load());
    loaded.expect_err("not loaded")
}

/// A buffer of rank 0.
fn cell(on: &Stream, value: i32) -> Buffer {
    let one = Buffer::from_slice(on, &[value]).expect("memory");
    one.cast(Dtype::I32, &[]).expect("one element")
}

fn zeros(on: &Stream, length: u64) -> Buffer {
    Buffer::zeros(on, Dtype::I32, &[length]).expect("memory")
}

fn held(on: &Stream, buffer: &Buffer) -> Vec<i32> {
    buffer.to_vec(on).expect("read")
}

/// `out = in + add` over the length of `out`.
fn add() -> Artifact {
    let blocks = Expr::Binary {
        operation: Operation::CeilDivUnsigned,
        width: 64,
        left: Expr::Length(0, 0).into(),
        right: Expr::constant(4).into(),
    };
    artifact(
        ADD,
        vec![
            buffer("out", Dtype::I32, &[None]),
            buffer("in", Dtype::I32, &[None]),
            Parameter {
                kind: ArgumentKind::Scalar { dtype: Dtype::I32 },
                ..buffer("add", Dtype::I32, &[])
            },
        ],
        vec![launch(
            "add",
            blocks,
            vec![whole(0), whole(1), Operand::Scalar(Expr::Scalar(2))],
        )],
    )
}

#[test]
fn every_block_runs_once_whatever_the_threads() {
    for workers in [1, 2, 7] {
        let (device, stream) = open(workers);
        let loaded = device.load(&add()).expect("loads");
        for n in [0, 1, 4, 5, 1023, 1_000_003] {
            let input: Vec<i32> = (0..n).collect();
            let input = Buffer::from_slice(&stream, &input).expect("memory");
            let out = zeros(&stream, n as u64);
            run(&loaded, &stream, &args![&out, &input, -3]).expect("runs");
            let expected: Vec<i32> = (0..n).map(|i| i - 3).collect();
            assert_eq!(held(&stream, &out), expected, "{n} on {workers}");
        }
    }
}

#[test]
fn blocks_are_taken_in_order() {
    let plan = vec![launch("chain", Expr::Length(0, 0), vec![whole(0)])];
    let done = vec![buffer("done", Dtype::I32, &[None])];
    let (device, stream) = open(4);
    let loaded = device.load(&artifact(CHAIN, done, plan)).expect("loads");
    for _ in 0..20 {
        let done = zeros(&stream, 5_000);
        run(&loaded, &stream, &args![&done]).expect("runs");
    }
}

#[test]
fn a_loop_runs_while_its_flag_is_set_and_not_for_ever() {
    let flag = BufferRef {
        argument: 0,
        view: None,
    };
    let plan = vec![step(StepKind::DoWhile {
        flag: flag.into(),
        steps: vec![launch(
            "count_down",
            Expr::constant(1),
            vec![whole(0), whole(1)],
        )],
    })];
    let parameters = vec![
        buffer("flag", Dtype::I32, &[]),
        buffer("count", Dtype::I32, &[]),
    ];
    let (device, stream) = open(1);
    let loaded = device.load(&artifact(COUNT_DOWN, parameters, plan));
    let loaded = loaded.expect("loads");
    let rounds = |flag: i32| {
        let (flag, count) = (cell(&stream, flag), cell(&stream, 0));
        run(&loaded, &stream, &args![&flag, &count])?;
        Ok::<i32, Error>(held(&stream, &count)[0])
    };
    assert_eq!(rounds(7).expect("ends"), 7);
    assert_eq!(rounds(1).expect("ends"), 1);
    let error = rounds(0).expect_err("goes on through the negative numbers");
    assert_eq!(
        error.to_string(),
        "kernel 'k': a loop was still running after 1000 iterations"
    );
}

#[test]
fn a_grid_below_0_is_an_error_of_the_launch() {
    let below = Expr::constant((-1i64) as u64);
    let plan = vec![launch("count_down", below, vec![whole(0), whole(1)])];
    let parameters = vec![
        buffer("flag", Dtype::I32, &[]),
        buffer("count", Dtype::I32, &[]),
    ];
    let (device, stream) = open(1);
    let loaded = device.load(&artifact(COUNT_DOWN, parameters, plan));
    let (flag, count) = (cell(&stream, 1), cell(&stream, 0));
    let error = run(&loaded.expect("loads"), &stream, &args![&flag, &count]);
    let message = error.expect_err("no such grid").to_string();
    assert!(
        message.ends_with("has a negative number of blocks, -1"),
        "{message}"
    );
}

#[test]
fn an_if_runs_once_if_its_condition_is_set() {
    let count_down = launch("count_down", Expr::constant(1), vec![whole(0), whole(1)]);
    let choice = |condition, steps| step(StepKind::If { condition, steps });
    let (device, stream) = open(1);
    let runs = |condition: Operand, steps: Vec<Step>, flag: i32| {
        let parameters = vec![
            buffer("flag", Dtype::I32, &[]),
            buffer("count", Dtype::I32, &[]),
        ];
        let mut artifact = artifact(COUNT_DOWN, parameters, vec![choice(condition, steps)]);
        plan_of(&mut artifact.kernels[0]).control = 2;
        let loaded = device.load(&artifact)?;
        let (flag, count) = (cell(&stream, flag), cell(&stream, 0));
        run(&loaded, &stream, &args![&flag, &count])?;
        Ok::<i32, Error>(held(&stream, &count)[0])
    };
    let one = || vec![count_down.clone()];
    assert_eq!(runs(whole(0), one(), 7).expect("runs"), 1);
    assert_eq!(runs(whole(0), one(), -1).expect("runs"), 1);
    assert_eq!(runs(whole(0), one(), 0).expect("runs"), 0);
    let words = |first| Operand::Control { first, words: 1 };
    assert_eq!(runs(words(1), one(), 7).expect("runs"), 0, "control is 0");
    let inner = choice(whole(0), one());
    let steps = vec![inner, count_down.clone()];
    assert_eq!(runs(whole(0), steps, 7).expect("runs"), 2);
    let message = |condition| {
        runs(condition, one(), 7)
            .expect_err("makes no sense")
            .to_string()
    };
    assert_eq!(
        message(Operand::Scalar(Expr::constant(1))),
        "the artifact's plan is invalid: kernel 'k': has a scalar for a condition that is on the device"
    );
    assert_eq!(
        message(words(2)),
        "the artifact's plan is invalid: kernel 'k': passes 1 control words from word 2, but has 2"
    );
}

#[test]
fn fills_and_views_stay_within_their_buffers() {
    let view = |length: i64, row| BufferRef {
        argument: 0,
        view: Some(View {
            offset_bytes: Expr::constant(8),
            length: Some(Expr::constant(length as u64)),
            row,
            dtype: Dtype::I64,
        }),
    };
    let (device, stream) = open(1);
    let fill_of = |part: BufferRef, upper: i64| {
        let step = step(StepKind::Fill {
            buffer: part,
            lower: Expr::constant(1),
            upper: Expr::constant(upper as u64),
            value: Expr::constant((-2i64) as u64),
        });
        let plan = artifact("", vec![buffer("a", Dtype::I32, &[None])], vec![step]);
        let a = zeros(&stream, 8);
        run(&device.load(&plan)?, &stream, &args![&a])?;
        Ok::<_, Error>(held(&stream, &a))
    };
    let fill = |length, upper| fill_of(view(length, None), upper);
    assert_eq!(fill(3, 3).expect("fits"), [0, 0, 0, 0, -2, -1, -2, -1]);
    assert_eq!(fill(3, 1).expect("nothing to do"), [0; 8]);
    let message = |result: Result<_, Error>| result.expect_err("does not fit").to_string();
    assert_eq!(
        message(fill(4, 2)),
        "kernel 'k': 'fill' needs 40 bytes of argument 'a', which has 32"
    );
    assert!(message(fill(3, 4)).contains("needs 32 bytes"));
    assert!(fill_of(view(1, Some(3)), 1).is_ok());
    assert!(message(fill_of(view(2, Some(2)), 1)).contains("needs 40 bytes"));
    assert_eq!(
        message(fill(3, -1)),
        "kernel 'k': 'fill' has a negative upper bound, -1"
    );
    assert_eq!(
        message(fill(-1, 1)),
        "kernel 'k': 'fill' has a negative length of a view, -1"
    );
}

#[test]
fn a_dispatch_runs_the_first_eligible_variant() {
    let at_least = |length: u64| Expr::Compare {
        comparison: Comparison::GeUnsigned,
        width: 64,
        left: Expr::Length(0, 0).into(),
        right: Expr::constant(length).into(),
    };
    let fill_with = |name: &str, value: u64| {
        let fill = StepKind::Fill {
            buffer: BufferRef {
                argument: 0,
                view: None,
            },
            lower: Expr::constant(0),
            upper: Expr::Length(0, 0),
            value: Expr::constant(value),
        };
        kernel(
            name,
            vec![buffer("a", Dtype::I32, &[None])],
            vec![step(fill)],
        )
    };
    let variant = |kernel: &str, predicate| Variant {
        kernel: kernel.into(),
        predicate: Some(predicate),
    };
    let mut plan = artifact(
        "",
        vec![buffer("a", Dtype::I32, &[None])],
        vec![step(StepKind::Dispatch {
            variants: vec![variant("large", at_least(8)), variant("small", at_least(2))],
            arguments: vec![whole(0)],
        })],
    );
    plan.kernels
        .extend([fill_with("large", 8), fill_with("small", 2)]);
    let (device, stream) = open(1);
    let chosen = |n: u64| {
        let a = zeros(&stream, n);
        run(&device.load(&plan)?, &stream, &args![&a])?;
        Ok::<_, Error>(held(&stream, &a)[0])
    };
    assert_eq!(chosen(8).expect("eligible"), 8);
    assert_eq!(chosen(7).expect("eligible"), 2);
    assert_eq!(
        chosen(1).expect_err("none").to_string(),
        "kernel 'k': none of the variants large, small is eligible"
    );
    plan.kernels[1].plans = plan.kernels[0].plans.clone();
    let error = refusal(&plan);
    assert!(
        error.to_string().contains("dispatches to itself"),
        "{error}"
    );
}

#[test]
fn functions_of_the_process_are_found() {
    let plan = vec![launch("exp_body", Expr::constant(1), vec![whole(0)])];
    let out = vec![buffer("out", Dtype::F64, &[None])];
    let (device, stream) = open(1);
    let loaded = device.load(&artifact(EXP, out, plan)).expect("loads");
    let out = Buffer::filled(&stream, Dtype::F64, &[1], 0xA5).expect("memory");
    run(&loaded, &stream, &args![&out]).expect("runs");
    assert_eq!(out.to_vec::<f64>(&stream).expect("read"), [1.0]);
}

#[test]
fn what_is_no_binary_for_this_machine_is_not_loaded() {
    let message = |plan: &Artifact| refusal(plan).to_string();
    let mut plan = add();
    let mut other = object(ADD);
    other[18] = 40;
    plan.modules[0].set_bytes(other);
    assert!(
        message(&plan).contains("another processor"),
        "{}",
        message(&plan)
    );
    plan.modules[0].set_bytes(&b"text"[..]);
    assert!(
        message(&plan).contains("not a relocatable object"),
        "{}",
        message(&plan)
    );
    let mut cut = object(ADD);
    cut.truncate(200);
    plan.modules[0].set_bytes(cut);
    assert!(
        message(&plan).contains("cannot be loaded"),
        "{}",
        message(&plan)
    );
    plan.modules[0].set_bytes(object(COUNT_DOWN));
    assert!(message(&plan).contains("add"), "{}", message(&plan));
    plan.modules[0].set_bytes(object(
        "declare void @nowhere() define void @add(i64, i64, i64, ptr) { call void @nowhere() ret void }",
    ));
    assert!(message(&plan).contains("nowhere"), "{}", message(&plan));
    plan.modules[0].format = Format::Ptx;
    assert!(message(&plan).contains("it is Ptx"), "{}", message(&plan));
    plan.targets[0] = "vulkan:1.3".into();
    let message = message(&plan);
    assert!(
        message.contains("target 'vulkan:1.3', not for cpu ("),
        "{message}"
    );
    assert!(message.ends_with("which takes cpu"), "{message}");
}

#[test]
fn code_that_needs_more_than_this_machine_has_is_not_loaded() {
    let mut plan = add();
    let needs = &mut plan_of(&mut plan.kernels[0]).needs;
    needs.device = "a-later-processor".into();
    needs.features = vec!["teleport".into()];
    let error = refusal(&plan);
    let Error::MissingFeatures {
        compiled_for,
        missing,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(compiled_for, "a-later-processor");
    assert_eq!(missing, &["teleport"]);
    // Where nothing is executed, nothing is needed.
    plan_of(&mut plan.kernels[0]).steps.clear();
    assert!(open(1).0.load(&plan).is_ok());
}

#[test]
fn a_plan_that_refers_to_nothing_is_invalid() {
    let invalid = |change: &dyn Fn(&mut Artifact)| {
        let mut plan = add();
        change(&mut plan);
        let error = refusal(&plan).to_string();
        let what = error.strip_prefix("the artifact's plan is invalid: ");
        what.unwrap_or_else(|| panic!("{error}")).to_string()
    };
    let launch = |id, after: Vec<u64>, to| {
        move |plan: &mut Artifact| {
            let step = launch("add", Expr::Length(to, 0), vec![]);
            let steps = &mut plan_of(&mut plan.kernels[0]).steps;
            steps.push(Step {
                id,
                after: after.clone(),
                ..step
            });
        }
    };
    assert_eq!(
        invalid(&launch(1, vec![], 3)),
        "kernel 'k': refers to argument 3, but has 3"
    );
    assert_eq!(invalid(&launch(0, vec![], 0)), "kernel 'k': two steps 0");
    assert_eq!(
        invalid(&launch(1, vec![0, 1], 0)),
        "kernel 'k': step 1 waits for step 1, which is not before it"
    );
    assert_eq!(
        invalid(&|plan| plan.targets.push("nvptx:sm_90".into())),
        "kernel 'k' has 1 plans for 2 targets"
    );
    assert_eq!(
        invalid(&|plan| plan.modules.clear()),
        "kernel 'k': phase 'add' launches 'add', which is in no module"
    );
    let again = |plan: &mut Artifact| plan.modules.push(plan.modules[0].clone());
    assert_eq!(invalid(&again), "two bodies 'add'");
}

/// What is in an artifact for others is no concern of a device's.
#[test]
fn a_device_takes_what_is_for_it() {
    let mut plan = add();
    plan.targets.insert(0, "nvptx:sm_90".into());
    plan.kernels[0].plans.insert(0, None);
    let mut elsewhere = kernel("elsewhere", Vec::new(), Vec::new());
    elsewhere.plans.push(None);
    plan.kernels.push(elsewhere);
    plan.modules[0].target = 1;
    let body = plan.modules[0].bodies.clone();
    plan.modules
        .insert(0, Module::new(0, Format::Ptx, body, &b"ptx"[..]));
    let (device, stream) = open(1);
    let loaded = device.load(&plan).expect("loads");
    let (out, input) = (zeros(&stream, 5), zeros(&stream, 5));
    run(&loaded, &stream, &args![&out, &input, 3]).expect("runs");
    assert_eq!(held(&stream, &out), [3; 5]);
    let message = |name| loaded.kernel(name).expect_err("no plan").to_string();
    assert_eq!(
        message("elsewhere"),
        "kernel 'elsewhere' was not compiled for target 'cpu'"
    );
    assert_eq!(
        message("l"),
        "no kernel 'l': the kernels there are: k, elsewhere"
    );
}
