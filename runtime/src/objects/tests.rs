//! Guarantees of the objects, on a device that delays, reorders and fails.

use super::{
    driver::Fault,
    fake::{Body, Fake, Log, Mood},
    *,
};
use crate::{Error, args, testing::step};
use qd_artifact::{
    Access, Argument, ArgumentKind, Artifact, BufferRef, Dtype, Expr, Format, Kernel as Planned,
    Module, Operand, Plan, Step, StepKind, Variant,
};
use std::{
    thread,
    time::{Duration, Instant},
};

/// A slice of words of a body: an address and a length.
pub(super) unsafe fn slice<'a>(words: &[u64]) -> &'a mut [i32] {
    // Safety: by contract.
    unsafe { std::slice::from_raw_parts_mut(words[0] as *mut i32, words[1] as usize) }
}

/// `a = value`.
pub(super) fn set(words: &[u64]) {
    // Safety: the words describe an array, which nothing else uses meanwhile.
    unsafe { slice(&words[1..]) }.fill(words[3] as i32);
}

/// `out = in + 1`, element by element.
pub(super) fn next(words: &[u64]) {
    // Safety: the words describe arrays, which nothing else uses meanwhile.
    let (out, input) = unsafe { (slice(&words[1..]), slice(&words[3..])) };
    for (to, from) in out.iter_mut().zip(input) {
        *to = *from + 1;
    }
}

/// `a[0] += control[0]`, which is 1 meanwhile, unless another launch has it as well.
fn count(words: &[u64]) {
    // Safety: the words describe arrays, which nothing else uses meanwhile.
    let (a, control) = unsafe { (slice(&words[1..]), slice(&words[3..])) };
    control[0] += 1;
    thread::yield_now();
    a[0] += control[0];
    control[0] -= 1;
}

pub(super) const BODIES: &[(&str, Body)] = &[("set", set), ("next", next), ("count", count)];

pub(super) fn buffer(name: &str) -> Argument {
    let kind = ArgumentKind::Buffer {
        dtype: Dtype::I32,
        shape: vec![None],
    };
    Argument::new(name, kind)
}

pub(super) fn input(name: &str) -> Argument {
    Argument {
        access: Access::Read,
        ..buffer(name)
    }
}

pub(super) fn scalar(name: &str) -> Argument {
    Argument::new(name, ArgumentKind::Scalar { dtype: Dtype::I32 })
}

pub(super) fn whole(argument: usize) -> Operand {
    Operand::Buffer(BufferRef {
        argument,
        view: None,
    })
}

pub(super) fn launch(id: u64, body: &str, arguments: Vec<Operand>) -> Step {
    let kind = StepKind::Launch {
        body: body.into(),
        name: body.into(),
        blocks: Expr::constant(1),
        threads: 64,
        dynamic_shared_bytes: 0,
        arguments,
    };
    Step {
        id,
        after: Vec::new(),
        kind,
    }
}

pub(super) fn kernel(
    name: &str,
    arguments: Vec<Argument>,
    control: u64,
    steps: Vec<Step>,
) -> Planned {
    Planned {
        name: name.into(),
        arguments,
        plans: vec![Some(Plan {
            control,
            steps,
            ..Plan::default()
        })],
    }
}

pub(crate) fn artifact() -> Artifact {
    let set = launch(0, "set", vec![whole(0), Operand::Scalar(Expr::Scalar(1))]);
    let next = launch(0, "next", vec![whole(0), whole(1)]);
    let control = Operand::Control { first: 0, words: 1 };
    let mut scratch = buffer("scratch");
    scratch.minimum = Some(Expr::Length(0, 0));
    let bodies = BODIES.iter().map(|(name, _)| qd_artifact::Body {
        name: (*name).into(),
        wave: 32,
    });
    let bodies = bodies.collect();
    Artifact {
        targets: vec!["cpu".into()],
        kernels: vec![
            kernel("set", vec![buffer("a"), scalar("value")], 0, vec![set]),
            kernel("next", vec![buffer("out"), input("in")], 0, vec![next]),
            kernel("needs", vec![buffer("a"), scratch], 0, vec![]),
            kernel(
                "count",
                vec![buffer("a")],
                1,
                vec![launch(0, "count", vec![whole(0), control])],
            ),
        ],
        modules: vec![Module::new(0, Format::Object, bodies, Vec::new())],
        ..Artifact::default()
    }
}

pub(super) fn fake(mood: Mood) -> (Device, Log) {
    let (fake, log) = Fake::new(mood, BODIES);
    (Device::of(Box::new(fake)), log)
}

/// Waits until something has been let go: another test's call may be doing so just now.
pub(super) fn wait_until(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(10), "it is kept");
        reclaim::now();
        thread::yield_now();
    }
}

/// Two streams that share arrays: each reads what the other wrote.
fn ping_pong(mood: Mood) -> Result<Vec<i32>, Error> {
    let (device, _) = fake(mood);
    let loaded = device.load(&artifact())?;
    let (set, next) = (loaded.kernel("set")?, loaded.kernel("next")?);
    let [a, b] = [
        device.stream(Priority::Normal)?,
        device.stream(Priority::High)?,
    ];
    let [x, y] = [0, 1].map(|_| Buffer::new(&a, Dtype::I32, &[4]));
    let (x, y) = (x?, y?);
    set.launch(&a, &args![&x, 5])?;
    for _ in 0..10 {
        next.launch(&b, &args![&y, &x])?;
        next.launch(&a, &args![&x, &y])?;
    }
    x.to_vec(&b)
}

#[test]
fn streams_that_share_arrays_are_in_the_order_of_the_calls() {
    for seed in 0..50 {
        let mood = Mood {
            seed,
            ..Mood::default()
        };
        assert_eq!(ping_pong(mood).expect("runs"), [25; 4], "seed {seed}");
    }
}

#[test]
fn a_device_that_does_not_wait_is_noticed() {
    let is_wrong = |seed| {
        let mood = Mood {
            seed,
            is_hasty: true,
            ..Mood::default()
        };
        ping_pong(mood).expect("runs") != [25; 4]
    };
    assert!((0..50).any(is_wrong));
}

#[test]
fn halves_of_an_array_are_written_beside_each_other() {
    let (device, log) = fake(Mood::default());
    let set = device.load(&artifact()).unwrap().kernel("set").unwrap();
    let [a, b] = [0, 1].map(|_| device.stream(Priority::Normal).unwrap());
    let x = Buffer::new(&a, Dtype::I32, &[8]).unwrap();
    set.launch(&a, &args![&x.rows(0..4).unwrap(), 1]).unwrap();
    set.launch(&b, &args![&x.rows(4..8).unwrap(), 2]).unwrap();
    // Once, for the making of it.
    assert_eq!(log.count("wait"), 1);
    set.launch(&b, &args![&x.rows(4..8).unwrap(), 3]).unwrap();
    assert_eq!(log.count("wait"), 1);
    assert_eq!(x.to_vec::<i32>(&a).unwrap(), [1, 1, 1, 1, 3, 3, 3, 3]);
}

#[test]
fn what_is_freed_is_freed_behind_its_last_use() {
    for seed in 0..20 {
        let (device, _) = fake(Mood {
            seed,
            ..Mood::default()
        });
        let next = device.load(&artifact()).unwrap().kernel("next").unwrap();
        let [a, b] = [0, 1].map(|_| device.stream(Priority::Normal).unwrap());
        let x = Buffer::from_slice(&a, &[1, 2, 3]).unwrap();
        let y = Buffer::new(&b, Dtype::I32, &[3]).unwrap();
        next.launch(&b, &args![&y, &x]).unwrap();
        drop(x);
        assert_eq!(y.to_vec::<i32>(&b).unwrap(), [2, 3, 4], "seed {seed}");
        drop(y);
        assert_eq!(device.memory().live, 0);
    }
}

#[test]
fn a_call_that_is_the_same_is_replayed_and_one_with_other_arrays_patched() {
    let (device, log) = fake(Mood::default());
    let set = device.load(&artifact()).unwrap().kernel("set").unwrap();
    let s = device.stream(Priority::Normal).unwrap();
    let [x, y] = [0, 1].map(|_| Buffer::new(&s, Dtype::I32, &[4]).unwrap());
    set.launch(&s, &args![&x, 1]).unwrap();
    let before = device.memory();
    for _ in 0..3 {
        set.launch(&s, &args![&x, 1]).unwrap();
    }
    assert_eq!((log.count("build"), log.count("patch")), (1, 0));
    set.launch(&s, &args![&y, 2]).unwrap();
    set.launch(&s, &args![&y.rows(1..3).unwrap(), 3]).unwrap();
    assert_eq!((log.count("build"), log.count("patch")), (1, 2));
    let after = device.memory();
    assert_eq!(before, after, "no bytes copied, nothing allocated");
    assert_eq!(x.to_vec::<i32>(&s).unwrap(), [1; 4]);
    assert_eq!(y.to_vec::<i32>(&s).unwrap(), [2, 3, 3, 2]);
}

#[test]
fn rows_of_what_is_empty_have_a_size_too() {
    let (device, _) = fake(Mood::default());
    let s = device.stream(Priority::Normal).unwrap();
    let empty = Buffer::new(&s, Dtype::I32, &[3, 0, 1 << 40]).unwrap();
    assert_eq!((empty.bytes(), empty.rows(1..3).unwrap().len()), (0, 0));
    let refused = Buffer::new(&s, Dtype::I32, &[0, 1 << 40, 1 << 40]);
    let error = refused.expect_err("rows of 2^82 bytes").to_string();
    assert!(error.contains("1099511627776"), "{error}");
}

#[test]
fn code_that_is_held_is_loaded_once() {
    let (device, log) = fake(Mood::default());
    let load = |artifact| device.load(&artifact).unwrap();
    let (first, second) = (load(artifact()), load(artifact()));
    assert_eq!(log.count("load"), 0);
    for executable in [&first, &second, &first] {
        executable.kernel("set").unwrap().load().unwrap();
        assert_eq!(log.count("load"), 1);
    }
    let mut other = artifact();
    other.modules[0].set_bytes(b"other code".to_vec());
    load(other).kernel("set").unwrap().load().unwrap();
    assert_eq!(log.count("load"), 2);
    // A kernel holds it too.
    let set = first.kernel("set").unwrap();
    drop((first, second));
    load(artifact()).kernel("set").unwrap().load().unwrap();
    assert_eq!(log.count("load"), 2);
    drop(set);
    load(artifact()).kernel("set").unwrap().load().unwrap();
    assert_eq!(log.count("load"), 3);
}

/// The artifact, with a module for each body.
fn apart() -> Artifact {
    let mut artifact = artifact();
    let all = artifact.modules.remove(0).bodies;
    let modules = all.into_iter().map(|body| {
        let code = body.name.clone();
        Module::new(0, Format::Object, vec![body], code)
    });
    artifact.modules = modules.collect();
    artifact
}

#[test]
fn what_is_not_called_is_not_loaded() {
    let (device, log) = fake(Mood::default());
    let executable = device.load(&apart()).unwrap();
    for (kernel, loaded) in [("needs", 0), ("set", 1), ("next", 2), ("set", 2)] {
        executable.kernel(kernel).unwrap().load().unwrap();
        assert_eq!(log.count("load"), loaded, "{kernel}");
    }
    drop(executable);
    // A kernel that dispatches to another brings its code.
    let mut dispatching = apart();
    let next = Variant {
        kernel: "next".into(),
        predicate: None,
    };
    let dispatch = StepKind::Dispatch {
        variants: vec![next],
        arguments: vec![whole(0), whole(1)],
    };
    dispatching.kernels[2].plans[0].as_mut().unwrap().steps = vec![step(dispatch)];
    let executable = device.load(&dispatching).unwrap();
    for kernel in ["needs", "next"] {
        executable.kernel(kernel).unwrap().load().unwrap();
        assert_eq!(log.count("load"), 3, "{kernel}");
    }
}

#[test]
fn a_launch_loads_what_it_runs() {
    let mut artifact = apart();
    let StepKind::Launch { blocks, .. } =
        &mut artifact.kernels[0].plans[0].as_mut().unwrap().steps[0].kind
    else {
        panic!("a launch");
    };
    *blocks = Expr::Length(0, 0);
    let (device, log) = fake(Mood::default());
    let set = device.load(&artifact).unwrap().kernel("set").unwrap();
    let s = device.stream(Priority::Normal).unwrap();
    let [none, some] = [0, 1].map(|length| Buffer::zeros(&s, Dtype::I32, &[length]).unwrap());
    for (buffer, loaded) in [(&none, 0), (&some, 1), (&none, 1), (&some, 1)] {
        set.launch(&s, &args![buffer, 7]).unwrap();
        assert_eq!(log.count("load"), loaded);
    }
    assert_eq!(some.to_vec::<i32>(&s).unwrap(), [7]);
}

#[test]
fn code_that_is_refused_is_asked_for_again() {
    let (device, log) = fake(Mood {
        fails: Some((0, false)),
        ..Mood::default()
    });
    let executable = device.load(&apart()).unwrap();
    let set = executable.kernel("set").unwrap();
    assert!(matches!(set.load(), Err(Error::Load(_))));
    assert!(set.load().is_ok());
    assert_eq!(log.count("load"), 2);
}

#[test]
fn code_whose_bodies_get_other_shared_memory_is_other_code() {
    let with_shared = |kernels: &[(usize, u32)]| {
        let mut artifact = artifact();
        for (kernel, bytes) in kernels {
            let plan = artifact.kernels[*kernel].plans[0].as_mut().unwrap();
            let StepKind::Launch {
                dynamic_shared_bytes,
                ..
            } = &mut plan.steps[0].kind
            else {
                panic!("a launch");
            };
            *dynamic_shared_bytes = *bytes;
        }
        artifact
    };
    let (device, log) = fake(Mood::default());
    let artifacts = [
        with_shared(&[]),
        with_shared(&[(0, 100)]),
        with_shared(&[(0, 101)]),
        with_shared(&[(0, 100), (1, 100)]),
        with_shared(&[(0, 101)]),
    ];
    let loaded = artifacts.map(|artifact| {
        let executable = device.load(&artifact).unwrap();
        let set = executable.kernel("set").unwrap();
        set.load().unwrap();
        set
    });
    assert_eq!(log.count("load"), loaded.len() - 1);
}

#[test]
fn what_is_prepared_has_not_run_and_is_replayed() {
    let (device, log) = fake(Mood::default());
    let loaded = device.load(&artifact()).unwrap();
    let set = loaded.kernel("set").unwrap();
    let s = device.stream(Priority::Normal).unwrap();
    let x = Buffer::filled(&s, Dtype::I32, &[2], 0x11).unwrap();
    let before = device.memory();
    set.prepare(&s, &args![&x, 7]).unwrap();
    assert_eq!((log.count("build"), log.count("replay")), (1, 0));
    assert_eq!(x.to_vec::<i32>(&s).unwrap(), [0x1111_1111; 2]);
    set.launch(&s, &args![&x, 7]).unwrap();
    assert_eq!((log.count("build"), log.count("replay")), (1, 1));
    assert_eq!(x.to_vec::<i32>(&s).unwrap(), [7; 2]);
    assert_eq!(before.uploaded, 0, "a fill copies nothing");
    assert_eq!(set.launches(&args![&x, 7]).unwrap(), 1);
    let needs = loaded.kernel("needs").unwrap();
    let scratch = Buffer::new(&s, Dtype::I32, &[2]).unwrap();
    assert_eq!(needs.launches(&args![&x, &scratch]).unwrap(), 0);
    for refused in [
        set.prepare(&s, &args![&x]),
        set.launches(&args![&x]).map(drop),
    ] {
        let error = refused.expect_err("an argument is missing").to_string();
        assert!(error.contains("takes 2 arguments"), "{error}");
    }
}

#[test]
fn threads_share_a_kernel_and_streams_do_not_share_its_control() {
    let (device, _) = fake(Mood::default());
    let count = device.load(&artifact()).unwrap().kernel("count").unwrap();
    let sums: Vec<i32> = thread::scope(|scope| {
        let work = |_| {
            let (device, count) = (device.clone(), count.clone());
            scope.spawn(move || {
                let s = device.stream(Priority::Normal).unwrap();
                let x = Buffer::zeros(&s, Dtype::I32, &[1]).unwrap();
                for _ in 0..200 {
                    count.launch(&s, &args![&x]).unwrap();
                }
                x.to_vec::<i32>(&s).unwrap()[0]
            })
        };
        let threads: Vec<_> = (0..4).map(work).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(sums, [200; 4]);
}

/// A run that fails may leave anything in a kernel's control words.
#[test]
fn control_is_cleared_at_first_and_after_an_error() {
    let thrice = |mood| {
        let (device, log) = fake(mood);
        let count = device.load(&artifact()).unwrap().kernel("count").unwrap();
        let s = device.stream(Priority::Normal).unwrap();
        let x = Buffer::zeros(&s, Dtype::I32, &[1]).unwrap();
        let ran = [0; 3].map(|_| count.launch(&s, &args![&x]).is_ok());
        (ran, log)
    };
    // What is set is the array, and then the control.
    let (ran, log) = thrice(Mood::default());
    assert_eq!((ran, log.count("set")), ([true; 3], 2));
    let replay = log.calls().iter().position(|call| *call == "replay");
    let clear = log.calls().iter().rposition(|call| *call == "set");
    for fails in [replay, clear] {
        let fails = Some((fails.unwrap(), false));
        let (ran, log) = thrice(Mood {
            fails,
            ..Mood::default()
        });
        assert_eq!((ran, log.count("set")), ([false, true, true], 3));
    }
}

#[test]
fn whichever_call_fails_it_is_an_error_and_nothing_leaks() {
    let calls = {
        let (device, log) = fake(Mood::default());
        program(&device).expect("runs");
        drop(device);
        log.calls().len()
    };
    assert!(calls > 10);
    for is_lost in [false, true] {
        for at in 0..calls {
            let (device, log) = fake(Mood {
                fails: Some((at, is_lost)),
                ..Mood::default()
            });
            // A failure to free has no caller to tell.
            let fails_silently = matches!(log.calls().get(at), Some(&"free" | &"close_stream"));
            match program(&device) {
                Ok(sum) => assert!(sum == 12 || fails_silently),
                Err(Error::OutOfMemory { free, .. }) => assert_eq!(free, Some(7)),
                Err(Error::Lost { device, .. }) => assert!(is_lost && device == "fake:0"),
                Err(error @ (Error::Device(_) | Error::Load(_))) => {
                    assert!(error.to_string().contains(" fails") || is_lost, "{error}");
                }
                Err(other) => panic!("call {at}: {other}"),
            }
            wait_until(|| device.memory().live == 0);
            if !is_lost {
                assert_eq!(program(&device).expect("the next one works"), 12);
            } else if log.calls().len() > at {
                let error = device.stream(Priority::Normal).expect_err("it is lost");
                assert!(error.to_string().contains("lost") || at > 0, "{error}");
            }
        }
    }
}

/// A few calls of every kind.
fn program(device: &Device) -> Result<i32, Error> {
    let loaded = device.load(&artifact())?;
    let (set, next) = (loaded.kernel("set")?, loaded.kernel("next")?);
    let [a, b] = [
        device.stream(Priority::Normal)?,
        device.stream(Priority::Normal)?,
    ];
    let x = Buffer::from_slice(&a, &[7, 7])?;
    let y = Buffer::zeros(&b, Dtype::I32, &[2])?;
    set.launch(&a, &args![&x, 5])?;
    next.launch(&b, &args![&y, &x])?;
    y.copy_to(&a, &x)?;
    a.record()?.wait()?;
    b.synchronize()?;
    Ok(x.to_vec::<i32>(&b)?.iter().sum())
}

#[test]
fn arguments_that_are_not_what_it_takes_are_errors_before_anything_runs() {
    let (device, log) = fake(Mood::default());
    let (other, _) = fake(Mood::default());
    let loaded = device.load(&artifact()).unwrap();
    let set = loaded.kernel("set").unwrap();
    let s = device.stream(Priority::Normal).unwrap();
    let t = other.stream(Priority::Normal).unwrap();
    let x = Buffer::new(&s, Dtype::I32, &[4]).unwrap();
    let far = Buffer::new(&t, Dtype::I32, &[4]).unwrap();
    let bytes = Buffer::new(&s, Dtype::U8, &[17]).unwrap();
    let flat = x.cast(Dtype::I32, &[2, 2]).unwrap();
    let error = |outcome: Result<(), Error>| outcome.expect_err("refused").to_string();
    assert_eq!(
        error(set.launch(&s, &args![&x])),
        "kernel 'set' takes 2 arguments, but was given 1"
    );
    assert_eq!(
        error(set.launch(&s, &args![&flat, 1])),
        "kernel 'set': argument 'a' is a buffer i32[?], but was given a buffer i32[2, 2]"
    );
    assert_eq!(
        error(set.launch(&s, &args![&x, 1.5f32])),
        "kernel 'set': argument 'value' is a scalar i32, but was given a scalar f32"
    );
    assert_eq!(
        error(set.launch(&s, &args![&x, _])),
        "kernel 'set': argument 'value' is a scalar i32, but was given nothing"
    );
    assert!(error(set.launch(&s, &args![&far, 1])).contains("'a' is of device fake:0"));
    assert!(error(set.launch(&t, &args![&far, 1])).contains("the stream is of device"));
    assert!(error(x.copy_to(&t, &far)).contains("of device"));
    let needs = loaded.kernel("needs").unwrap();
    assert_eq!(needs.minimum("scratch", &args![&x, _]).unwrap(), 4);
    assert_eq!(
        error(needs.launch(&s, &args![&x, &x.rows(0..3).unwrap()])),
        "kernel 'needs': argument 'scratch' must have at least 4 rows, but has 3"
    );
    let view = |outcome: Result<Buffer, Error>| outcome.expect_err("no such view").to_string();
    assert_eq!(view(x.rows(2..5)), "i32[4] has no rows 2 to 5");
    assert!(view(bytes.cast(Dtype::I32, &[4])).contains("17 bytes"));
    let odd = bytes.rows(1..5).unwrap();
    assert!(view(odd.cast(Dtype::I32, &[1])).contains("multiple of 4"));
    assert_eq!(log.count("replay"), 0);
}

#[test]
fn a_device_that_is_lost_is_opened_anew_and_the_old_one_stays_lost() {
    let id: DeviceId = "cpu".parse().unwrap();
    // Options that no other test has, so that it is no other test's device.
    let options = DeviceOptions {
        threads: Some(3),
        ..DeviceOptions::default()
    };
    let open = || Device::open(&id, &options).unwrap();
    let old = open();
    assert!(old == open());
    let error = old.0.failed("a test", Fault::Lost("broken".into()));
    assert!(matches!(error, Error::Lost { .. }), "{error}");
    let new = open();
    assert!(new != old && new == open());
    let stream = new.stream(Priority::Normal).unwrap();
    assert_eq!(Buffer::from_slice(&stream, &[1]).unwrap().len(), 1);
    let error = old.stream(Priority::Normal).expect_err("it is lost");
    assert!(error.to_string().contains("is lost: broken"), "{error}");
}

#[test]
fn a_device_that_does_not_open_hides_no_other() {
    let cpu = Device::open(&"cpu".parse().unwrap(), &DeviceOptions::default()).unwrap();
    let count = |driver: &str| match driver {
        "cuda" => Ok(3),
        "cpu" => Ok(1),
        _ => Err(Error::Device("there is no driver".into())),
    };
    let describe = |id: &DeviceId| match id.ordinal {
        1 => Err(Error::Device("its memory is full".into())),
        _ => Ok(DeviceInfo {
            id: id.clone(),
            ..cpu.info().clone()
        }),
    };
    let devices = Devices::by(count, describe);
    let found: Vec<_> = devices.found.iter().map(|one| one.id.to_string()).collect();
    assert_eq!(found, ["cpu", "cuda:0", "cuda:2"]);
    let refusals = devices.refusals.iter();
    let refusals: Vec<_> = refusals
        .map(|(what, why)| format!("{what}: {why}"))
        .collect();
    assert_eq!(
        refusals,
        [
            "cuda:1: its memory is full",
            "hip: there is no driver",
            "vulkan: there is no driver"
        ]
    );
}

#[test]
fn devices_are_named_by_driver_and_number() {
    let id = |text: &str| text.parse::<DeviceId>();
    assert_eq!(id("cpu").unwrap().to_string(), "cpu");
    assert_eq!(id("cuda").unwrap(), id("cuda:0").unwrap());
    assert_eq!(id("cuda:3").unwrap().to_string(), "cuda:3");
    for text in ["abacus", "cuda:first", "cuda:-1", ""] {
        let error = id(text).expect_err("there is none").to_string();
        assert!(error.contains("one of cpu, cuda, hip, vulkan"), "{error}");
    }
    let none = Device::open(&id("cpu:1").unwrap(), &DeviceOptions::default());
    assert!(none.is_err());
}
