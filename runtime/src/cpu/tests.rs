//! Bodies written in LLVM IR, made into objects as the compiler makes them.

use crate::{
    Argument, Buffer, Driver, Error, Loaded, Options, Scalar,
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

fn load(artifact: &Artifact) -> Box<dyn Loaded> {
    super::Cpu.load(artifact).expect("loads")
}

fn threads(threads: usize) -> Options {
    Options {
        threads: Some(threads),
        max_iterations: Some(1000),
        ..Options::default()
    }
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
    let loaded = load(&add());
    for n in [0, 1, 4, 5, 1023, 1_000_003] {
        for workers in [1, 2, 7] {
            let input: Vec<i32> = (0..n).collect();
            let mut arguments = [
                Buffer::zeros(Dtype::I32, &[n as u64])
                    .expect("memory")
                    .into(),
                Buffer::from_slice(&input).expect("memory").into(),
                Argument::Scalar(Scalar::new(-3i32)),
            ];
            let timing = loaded
                .run("k", &mut arguments, &threads(workers))
                .expect("runs");
            let expected: Vec<i32> = (0..n).map(|i| i - 3).collect();
            let out = arguments[0].as_buffer().expect("a buffer");
            assert_eq!(out.as_slice::<i32>(), expected, "{n} on {workers}");
            assert_eq!(timing.steps[0].blocks, (n as u64).div_ceil(4));
        }
    }
}

#[test]
fn blocks_are_taken_in_order() {
    let n = 5_000;
    let plan = vec![launch("chain", Expr::Length(0, 0), vec![whole(0)])];
    let loaded = load(&artifact(
        CHAIN,
        vec![buffer("done", Dtype::I32, &[None])],
        plan,
    ));
    for _ in 0..20 {
        let mut arguments = [Buffer::zeros(Dtype::I32, &[n]).expect("memory").into()];
        loaded.run("k", &mut arguments, &threads(4)).expect("runs");
    }
}

#[test]
fn a_loop_runs_while_its_flag_is_set_and_not_for_ever() {
    let flag = BufferRef {
        argument: 0,
        view: None,
    };
    let plan = vec![step(StepKind::DoWhile {
        flag,
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
    let loaded = load(&artifact(COUNT_DOWN, parameters, plan));
    let run = |flag: i32| {
        let mut cell = Buffer::zeros(Dtype::I32, &[]).expect("memory");
        cell.as_mut_slice()[0] = flag;
        let count = Buffer::zeros(Dtype::I32, &[]).expect("memory");
        let mut arguments = [cell.into(), count.into()];
        let timing = loaded.run("k", &mut arguments, &threads(1))?;
        assert_eq!(timing.steps.len(), 1);
        let count = arguments[1]
            .as_buffer()
            .expect("a buffer")
            .as_slice::<i32>()[0];
        assert_eq!(timing.steps[0].runs, count as u64);
        Ok::<i32, Error>(count)
    };
    assert_eq!(run(7).expect("ends"), 7);
    assert_eq!(run(1).expect("ends"), 1);
    let error = run(0).expect_err("goes on through the negative numbers");
    assert!(
        error.to_string().contains("after 1000 iterations"),
        "{error}"
    );
}

#[test]
fn an_if_runs_once_if_its_condition_is_set() {
    let count_down = launch("count_down", Expr::constant(1), vec![whole(0), whole(1)]);
    let choice = |condition, steps| step(StepKind::If { condition, steps });
    let run = |condition: Operand, steps: Vec<Step>, flag: i32| {
        let parameters = vec![
            buffer("flag", Dtype::I32, &[]),
            buffer("count", Dtype::I32, &[]),
        ];
        let mut artifact = artifact(COUNT_DOWN, parameters, vec![choice(condition, steps)]);
        plan_of(&mut artifact.kernels[0]).control = 2;
        let loaded = super::Cpu.load(&artifact)?;
        let mut cell = Buffer::zeros(Dtype::I32, &[]).expect("memory");
        cell.as_mut_slice()[0] = flag;
        let count = Buffer::zeros(Dtype::I32, &[]).expect("memory");
        let mut arguments = [cell.into(), count.into()];
        loaded.run("k", &mut arguments, &threads(1))?;
        Ok::<i32, Error>(
            arguments[1]
                .as_buffer()
                .expect("a buffer")
                .as_slice::<i32>()[0],
        )
    };
    let one = || vec![count_down.clone()];
    assert_eq!(run(whole(0), one(), 7).expect("runs"), 1);
    assert_eq!(run(whole(0), one(), -1).expect("runs"), 1);
    assert_eq!(run(whole(0), one(), 0).expect("runs"), 0);
    let words = |first| Operand::Control { first, words: 1 };
    assert_eq!(run(words(1), one(), 7).expect("runs"), 0, "control is 0");
    let inner = choice(whole(0), one());
    let steps = vec![inner, count_down.clone()];
    assert_eq!(run(whole(0), steps, 7).expect("runs"), 2);
    let message = |condition| {
        run(condition, one(), 7)
            .expect_err("makes no sense")
            .to_string()
    };
    assert_eq!(
        message(Operand::Scalar(Expr::constant(1))),
        "the artifact's plan is invalid: kernel 'k': has a scalar for a condition that is on the device"
    );
    assert_eq!(
        message(words(2)),
        "the artifact's plan is invalid: kernel 'k': passes 1 words of control from word 2, but has 2"
    );
}

#[test]
fn fills_and_views_stay_within_their_buffers() {
    let view = |length: u64| BufferRef {
        argument: 0,
        view: Some(View {
            offset_bytes: Expr::constant(8),
            length: Expr::constant(length),
            dtype: Dtype::I64,
        }),
    };
    let fill = |length: u64, upper: u64| {
        let step = step(StepKind::Fill {
            buffer: view(length),
            lower: Expr::constant(1),
            upper: Expr::constant(upper),
            value: Expr::constant((-2i64) as u64),
        });
        let plan = artifact("", vec![buffer("a", Dtype::I32, &[None])], vec![step]);
        let mut arguments = [Buffer::zeros(Dtype::I32, &[8]).expect("memory").into()];
        load(&plan).run("k", &mut arguments, &threads(1))?;
        Ok::<_, Error>(
            arguments[0]
                .as_buffer()
                .expect("a buffer")
                .as_slice::<i32>()
                .to_vec(),
        )
    };
    assert_eq!(fill(3, 3).expect("fits"), [0, 0, 0, 0, -2, -1, -2, -1]);
    assert_eq!(fill(3, 1).expect("nothing to do"), [0; 8]);
    let message = |result: Result<_, Error>| result.expect_err("does not fit").to_string();
    assert_eq!(
        message(fill(4, 2)),
        "kernel 'k': 'fill' needs 40 bytes of argument 'a', which has 32"
    );
    assert!(message(fill(3, 4)).contains("needs 32 bytes"));
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
    let run = |n: u64| {
        let mut arguments = [Buffer::zeros(Dtype::I32, &[n]).expect("memory").into()];
        load(&plan).run("k", &mut arguments, &threads(1))?;
        Ok::<_, Error>(
            arguments[0]
                .as_buffer()
                .expect("a buffer")
                .as_slice::<i32>()[0],
        )
    };
    assert_eq!(run(8).expect("eligible"), 8);
    assert_eq!(run(7).expect("eligible"), 2);
    assert_eq!(
        run(1).expect_err("none").to_string(),
        "kernel 'k': none of the variants large, small is eligible"
    );
    plan.kernels[1].plans = plan.kernels[0].plans.clone();
    let error = super::Cpu.load(&plan).err().expect("a cycle");
    assert!(
        error.to_string().contains("dispatches to itself"),
        "{error}"
    );
}

#[test]
fn functions_of_the_process_are_found() {
    let plan = vec![launch("exp_body", Expr::constant(1), vec![whole(0)])];
    let loaded = load(&artifact(
        EXP,
        vec![buffer("out", Dtype::F64, &[None])],
        plan,
    ));
    let mut arguments = [Buffer::filled(Dtype::F64, &[1], 0xA5)
        .expect("memory")
        .into()];
    loaded.run("k", &mut arguments, &threads(1)).expect("runs");
    assert_eq!(
        arguments[0]
            .as_buffer()
            .expect("a buffer")
            .as_slice::<f64>(),
        [1.0]
    );
}

#[test]
fn arguments_are_checked_before_anything_runs() {
    let loaded = load(&add());
    let ints = |n| Argument::from(Buffer::zeros(Dtype::I32, &[n]).expect("memory"));
    let floats = Argument::from(Buffer::zeros(Dtype::F32, &[4]).expect("memory"));
    let table = Argument::from(Buffer::zeros(Dtype::I32, &[4, 3]).expect("memory"));
    let three = Argument::from(Scalar::new(3i32));
    let message = |kernel: &str, mut arguments: Vec<Argument>| {
        let result = loaded.run(kernel, &mut arguments, &threads(1));
        result.expect_err("not what the kernel takes").to_string()
    };
    assert_eq!(
        message("l", vec![]),
        "no kernel 'l': the kernels there are: k"
    );
    assert_eq!(
        message("k", vec![ints(4)]),
        "kernel 'k' takes 3 arguments, but was given 1"
    );
    assert_eq!(
        message("k", vec![ints(4), floats, three.clone()]),
        "kernel 'k': argument 'in' is a buffer i32[?], but was given a buffer f32[4]"
    );
    assert_eq!(
        message("k", vec![ints(4), table, three.clone()]),
        "kernel 'k': argument 'in' is a buffer i32[?], but was given a buffer i32[4, 3]"
    );
    assert_eq!(
        message("k", vec![ints(4), ints(4), ints(1)]),
        "kernel 'k': argument 'add' is a scalar i32, but was given a buffer i32[1]"
    );
    assert_eq!(
        message("k", vec![ints(4), three, ints(1)]),
        "kernel 'k': argument 'in' is a buffer i32[?], but was given a scalar i32"
    );

    let mut plan = add();
    plan.kernels[0].arguments[1].minimum = Some(Expr::Length(0, 0));
    let mut arguments = [ints(4), ints(3), Scalar::new(3i32).into()];
    let error = load(&plan)
        .run("k", &mut arguments, &threads(1))
        .expect_err("too short");
    assert_eq!(
        error.to_string(),
        "kernel 'k': argument 'in' must have at least 4 rows, but has 3"
    );
}

#[test]
fn what_is_no_binary_for_this_machine_is_not_loaded() {
    let message = |plan: &Artifact| super::Cpu.load(plan).err().expect("not loaded").to_string();
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
        message(&plan).contains("no relocatable object"),
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
    assert_eq!(
        message(&plan),
        "the artifact is for target 'vulkan:1.3', not for cpu"
    );
}

#[test]
fn code_that_needs_more_than_this_machine_has_is_not_loaded() {
    let mut plan = add();
    let needs = &mut plan_of(&mut plan.kernels[0]).needs;
    needs.device = "a-later-processor".into();
    needs.features = vec!["teleport".into()];
    let error = super::Cpu.load(&plan).err().expect("not loaded");
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
    assert!(super::Cpu.load(&plan).is_ok());
}

#[test]
fn a_plan_that_refers_to_nothing_is_invalid() {
    let invalid = |change: &dyn Fn(&mut Artifact)| {
        let mut plan = add();
        change(&mut plan);
        let error = super::Cpu.load(&plan).err().expect("invalid").to_string();
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
    let loaded = load(&plan);
    let ints = |value: i32| Argument::from(Buffer::from_slice(&[value; 5]).expect("memory"));
    let mut arguments = [ints(0), ints(4), Scalar::new(3i32).into()];
    loaded.run("k", &mut arguments, &threads(1)).expect("runs");
    let out = arguments[0].as_buffer().expect("a buffer");
    assert_eq!(out.as_slice::<i32>(), [7; 5]);
    let error = loaded
        .run("elsewhere", &mut [], &threads(1))
        .expect_err("no plan");
    assert_eq!(
        error.to_string(),
        "kernel 'elsewhere' was not compiled for target 'cpu'"
    );
}
