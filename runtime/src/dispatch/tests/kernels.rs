//! Kernels of a device that does all work when it is waited for.

use super::{
    super::{KernelDispatcher, KernelVariant},
    *,
};
use crate::{
    args,
    objects::{
        Arg, Buffer, Device, Kernel, Recording, Stream,
        testing::{self, Log},
    },
};
use qd_artifact::{Artifact, Comparison, Dtype, Expr, Operand, StepKind};

/// Kernels `slow` and `fast`, that both set an array to a value, and `next`, which takes others.
struct Parts {
    device: Device,
    log: Log,
    slow: Kernel,
    fast: Kernel,
    other: Kernel,
}

fn parts() -> Parts {
    let (device, log) = testing::device();
    let mut artifact = testing::artifact();
    let set = artifact.kernels[0].clone();
    for name in ["slow", "fast"] {
        artifact.kernels.push(qd_artifact::Kernel {
            name: name.into(),
            ..set.clone()
        });
    }
    let loaded = device.load(&artifact).unwrap();
    let [slow, fast, other] = ["slow", "fast", "next"].map(|name| loaded.kernel(name).unwrap());
    Parts {
        device,
        log,
        slow,
        fast,
        other,
    }
}

/// A kernel that takes so long on the fake clock.
fn taking(kernel: &Kernel, time: u64, clock: &Arc<FakeClock>) -> KernelVariant {
    let (run, clock) = (kernel.clone(), clock.clone());
    KernelVariant::function(kernel.name(), move |on, arguments| {
        clock.advance(us(time));
        run.launch(on, arguments)
    })
}

fn rows(arguments: &[Arg<'_>]) -> u64 {
    arguments[0].shape().first().copied().unwrap_or_default()
}

fn dispatcher(parts: &Parts, policy: Policy) -> KernelDispatcher<u64> {
    let clock = Arc::default();
    let (settings, _) = settings(policy, &clock);
    let variants = vec![
        taking(&parts.slow, 2, &clock),
        taking(&parts.fast, 1, &clock),
    ];
    KernelDispatcher::new("set", &parts.device, rows, variants, settings).unwrap()
}

fn array(on: &Stream, rows: u64) -> Buffer {
    Buffer::new(on, Dtype::I32, &[rows]).unwrap()
}

#[test]
fn every_launch_does_the_work_and_waits_around_the_timed_ones() {
    let parts = parts();
    let set = dispatcher(&parts, Policy::default());
    let stream = parts.device.stream(Default::default()).unwrap();
    let (x, y) = (array(&stream, 4), array(&stream, 8));
    let waits = || parts.log.count("synchronize");
    for (call, expected) in [0, 0, 2, 4, 4, 4].into_iter().enumerate() {
        set.launch(&stream, &args![&x, call as i32]).unwrap();
        assert_eq!(waits(), expected, "call {call}");
        assert_eq!(x.to_vec::<i32>(&stream).unwrap(), [call as i32; 4]);
    }
    assert_eq!(set.dispatcher().winner(&4), Some(1));
    assert_eq!(set.dispatcher().times(&4), [Some(us(2)), Some(us(1))]);
    set.launch(&stream, &args![&y, 7]).unwrap();
    assert_eq!(set.dispatcher().winner(&8), None);
}

#[test]
fn a_trial_does_not_include_what_other_streams_do_with_its_arrays() {
    let parts = parts();
    let set = dispatcher(&parts, Policy::default());
    let [here, there] = [0, 1].map(|_| parts.device.stream(Default::default()).unwrap());
    let x = array(&here, 4);
    for call in 0..4 {
        parts.fast.launch(&there, &args![&x, 9]).unwrap();
        let before = parts.log.calls().len();
        set.launch(&here, &args![&x, 1]).unwrap();
        let calls = parts.log.calls()[before..].to_vec();
        let calls: Vec<_> = calls.into_iter().filter(|call| *call != "build").collect();
        let expected = match call {
            // In order on the device, as for any launch.
            0 | 1 => "record wait replay",
            _ => "record wait synchronize replay synchronize",
        };
        assert_eq!(calls.join(" "), expected, "call {call}");
    }
}

#[test]
fn a_captured_stream_gets_the_winner_or_an_error() {
    let parts = parts();
    let set = dispatcher(&parts, Policy::default().repeating(Some(2), None));
    let raw = parts.log.stream();
    // Safety: it is the fake's.
    let stream = unsafe { parts.device.wrap_stream(raw, None) }.unwrap();
    let x = array(&stream, 4);
    stream.synchronize().unwrap();
    let waits = || parts.log.count("synchronize");
    let before = waits();

    parts.log.capture(raw);
    let refused = set.launch(&stream, &args![&x, 5]).unwrap_err();
    let is_expected = matches!(refused, crate::Error::Dispatch(Error::NotMeasured { .. }));
    assert!(is_expected, "{refused}");
    parts.log.captured(raw).replay();
    assert_eq!(waits(), before);

    for call in 0..4 {
        set.launch(&stream, &args![&x, call]).unwrap();
    }
    stream.synchronize().unwrap();
    let before = waits();
    parts.log.capture(raw);
    // Long after the next evaluation is due.
    for value in 0..10 {
        set.launch(&stream, &args![&x, value]).unwrap();
    }
    assert_eq!(waits(), before, "nothing is measured");
    parts.log.captured(raw).replay();
    assert_eq!(x.to_vec::<i32>(&stream).unwrap(), [9; 4]);
    let before = waits();
    set.launch(&stream, &args![&x, 1]).unwrap();
    assert_eq!(waits(), before + 2, "now it begins");
}

#[test]
fn a_recording_takes_what_is_chosen() {
    let parts = parts();
    let (settings, _) = settings(Policy::default(), &Arc::default());
    let variants = vec![
        KernelVariant::new(&parts.slow),
        KernelVariant::new(&parts.fast),
    ];
    let set = KernelDispatcher::new("set", &parts.device, rows, variants, settings).unwrap();
    let stream = parts.device.stream(Default::default()).unwrap();
    let x = array(&stream, 4);
    let mut recording = Recording::new(&parts.device);
    let slot = recording.slot(&parts.slow.argument("a").unwrap().kind);
    let shape = args![Arg::Shape(&[4]), 1];
    assert!(set.chosen(&shape).is_err());
    for _ in 0..4 {
        set.launch(&stream, &args![&x, 1]).unwrap();
    }
    let chosen = set.chosen(&shape).unwrap();
    // The clock stands still, so that all times are equal, and the first wins.
    assert_eq!(chosen.variant().name, "slow");
    recording
        .launch(chosen.kernel().unwrap(), &args![slot, 9])
        .unwrap();
    let mut graph = recording.finish().unwrap();
    graph.bind(slot, &x).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(x.to_vec::<i32>(&stream).unwrap(), [9; 4]);
}

#[test]
fn conditions_are_of_the_arguments() {
    let parts = parts();
    let (settings, _) = settings(Policy::default(), &Arc::default());
    let variants = vec![
        KernelVariant::new(&parts.slow).when(|arguments| rows(arguments) > 4),
        KernelVariant::named("long", &parts.fast).when(|arguments| rows(arguments) > 8),
    ];
    let set = KernelDispatcher::new("set", &parts.device, rows, variants, settings).unwrap();
    let stream = parts.device.stream(Default::default()).unwrap();
    let error = set
        .launch(&stream, &args![&array(&stream, 4), 1])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "perf_dispatch 'set': none of the variants slow, long is eligible for 4"
    );
    set.launch(&stream, &args![&array(&stream, 8), 1]).unwrap();
    assert_eq!(set.dispatcher().winner(&8), Some(0), "it is the only one");
    set.launch(&stream, &args![&array(&stream, 9), 1]).unwrap();
    assert_eq!(set.dispatcher().winner(&9), None);
}

#[test]
fn kernels_of_other_arguments_or_devices_are_refused() {
    let (parts, elsewhere) = (parts(), self::parts());
    let make = |second: &Kernel| {
        let (settings, _) = settings(Policy::default(), &Arc::default());
        let variants = vec![
            KernelVariant::new(&parts.slow),
            KernelVariant::named("b", second),
        ];
        KernelDispatcher::new("set", &parts.device, rows, variants, settings)
    };
    make(&parts.fast).unwrap();
    let error = make(&parts.other).unwrap_err();
    assert_eq!(
        error.to_string(),
        "perf_dispatch 'set': variant 'b' takes (out: a buffer i32[?], in: a buffer i32[?]), but 'slow' takes (a: a buffer i32[?], value: a scalar i32)"
    );
    let error = make(&elsewhere.fast).unwrap_err();
    assert!(matches!(error, crate::Error::WrongDevice { .. }), "{error}");
}

#[test]
fn the_minimum_of_an_argument_is_enough_for_all() {
    let (device, _) = testing::device();
    let loaded = device.load(&testing::artifact()).unwrap();
    let needs = loaded.kernel("needs").unwrap();
    let (settings, _) = settings(Policy::default(), &Arc::default());
    let function = KernelVariant::function("nothing", |_, _| Ok(()));
    let variants = vec![function, KernelVariant::new(&needs)];
    let made = KernelDispatcher::new("needs", &device, rows, variants, settings).unwrap();
    let least = made
        .minimum("scratch", &args![Arg::Shape(&[7]), _])
        .unwrap();
    assert_eq!(least, 7);
}

#[test]
fn winners_are_kept_for_the_device_and_its_driver() {
    let parts = parts();
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("winners.json");
    let set = dispatcher(&parts, Policy::default());
    let stream = parts.device.stream(Default::default()).unwrap();
    for _ in 0..4 {
        set.launch(&stream, &args![&array(&stream, 4), 1]).unwrap();
    }
    set.save(&path).unwrap();
    let again = dispatcher(&parts, Policy::default());
    assert_eq!(again.load(&path).unwrap(), 1);
    assert_eq!(again.dispatcher().winner(&4), Some(1));
    assert_eq!(again.key().to_string(), "a fake with fake 1");
}

#[test]
fn kernels_of_other_code_are_other_variants() {
    let (device, _) = testing::device();
    let code = |change: fn(&mut Artifact)| {
        let mut artifact = testing::artifact();
        change(&mut artifact);
        let kernel = device.load(&artifact).unwrap().kernel("set").unwrap();
        kernel.code()
    };
    let plain = code(|_| {});
    assert_eq!(plain, code(|_| {}));
    assert_eq!(plain.len(), 16);
    assert_ne!(
        plain,
        code(|artifact| artifact.modules[0].set_bytes(vec![1]))
    );
    let other = code(|artifact| {
        let plan = artifact.kernels[0].plans[0].as_mut().unwrap();
        plan.steps[0].id = 7;
    });
    assert_ne!(plain, other);
    // What another kernel does is not its own.
    assert_eq!(plain, code(|artifact| artifact.kernels.truncate(1)));
}

/// With a kernel `either`, which dispatches to `seven` or, for values above 4, `eight`. These set
/// the array to what they are called after, so that a test sees which one ran.
fn dispatching() -> Artifact {
    let mut artifact = testing::artifact();
    let set = artifact.kernels[0].clone();
    let of = |name: &str, change: &dyn Fn(&mut StepKind)| {
        let mut kernel = set.clone();
        kernel.name = name.into();
        let plan = kernel.plans[0].as_mut().unwrap();
        change(&mut plan.steps[0].kind);
        kernel
    };
    let setting = |name: &str, value: u64| {
        of(name, &|step| match step {
            StepKind::Launch { arguments, .. } => {
                arguments[1] = Operand::Scalar(Expr::Constant(value));
            }
            _ => unreachable!("it launches"),
        })
    };
    let is_large = Expr::Compare {
        comparison: Comparison::GtSigned,
        width: 32,
        left: Box::new(Expr::Scalar(1)),
        right: Box::new(Expr::Constant(4)),
    };
    let variants = [("seven", None), ("eight", Some(is_large))].map(|(kernel, predicate)| {
        let kernel = kernel.to_string();
        qd_artifact::Variant { kernel, predicate }
    });
    let dispatch = of("either", &|step| {
        let StepKind::Launch { arguments, .. } = step else {
            unreachable!("it launches");
        };
        *step = StepKind::Dispatch {
            variants: variants.to_vec(),
            arguments: arguments.clone(),
        };
    });
    let more = [setting("seven", 7), setting("eight", 8), dispatch];
    artifact.kernels.extend(more);
    artifact
}

#[test]
fn a_kernel_may_prefer_a_variant_of_its_dispatches() {
    let (device, log) = testing::device();
    let either = device
        .load(&dispatching())
        .unwrap()
        .kernel("either")
        .unwrap();
    let stream = device.stream(Default::default()).unwrap();
    let x = array(&stream, 2);
    assert_eq!(either.variants(), ["seven", "eight"]);
    let [seven, eight] = ["seven", "eight"].map(|name| either.preferring(name).unwrap());
    let runs = |kernel: &Kernel, value: i32| {
        kernel.launch(&stream, &args![&x, value]).unwrap();
        x.to_vec::<i32>(&stream).unwrap()[0]
    };
    for _ in 0..2 {
        assert_eq!(
            [&either, &seven, &eight].map(|kernel| runs(kernel, 5)),
            [7, 7, 8]
        );
        // The predicate of `eight` does not hold.
        assert_eq!(
            [&either, &seven, &eight].map(|kernel| runs(kernel, 4)),
            [7, 7, 7]
        );
    }
    // A recording and a capture take the same ones.
    let mut recording = Recording::new(&device);
    recording.launch(&eight, &args![&x, 9]).unwrap();
    recording.finish().unwrap().launch(&stream).unwrap();
    assert_eq!(x.to_vec::<i32>(&stream).unwrap(), [8, 8]);
    let raw = log.stream();
    // Safety: it is the fake's.
    let captured = unsafe { device.wrap_stream(raw, None) }.unwrap();
    seven.launch(&stream, &args![&x, 9]).unwrap();
    stream.synchronize().unwrap();
    log.capture(raw);
    eight.launch(&captured, &args![&x, 9]).unwrap();
    log.captured(raw).replay();
    assert_eq!(x.to_vec::<i32>(&stream).unwrap(), [8, 8]);

    let error = either.preferring("nine").unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel 'either' dispatches to no variant 'nine': those there are: seven, eight"
    );
    assert!(seven.preferring("seven").unwrap().variants().len() == 2);
    assert!(parts().fast.variants().is_empty());
}

#[test]
fn the_variants_of_a_dispatch_are_measured() {
    let (device, _) = testing::device();
    let either = device
        .load(&dispatching())
        .unwrap()
        .kernel("either")
        .unwrap();
    let (settings, _) = settings(Policy::default(), &Arc::default());
    let variants = KernelVariant::of_dispatches(&either);
    let made = KernelDispatcher::new("either", &device, rows, variants, settings).unwrap();
    assert_eq!(made.dispatcher().names(), ["seven", "eight"]);
    let stream = device.stream(Default::default()).unwrap();
    let x = array(&stream, 2);
    let ran = [0; 4].map(|_| {
        made.launch(&stream, &args![&x, 5]).unwrap();
        x.to_vec::<i32>(&stream).unwrap()[0]
    });
    assert_eq!(ran, [7, 8, 7, 8]);
    made.dispatcher().force("eight").unwrap();
    made.launch(&stream, &args![&x, 5]).unwrap();
    assert_eq!(x.to_vec::<i32>(&stream).unwrap(), [8, 8]);
    assert!(KernelVariant::of_dispatches(&parts().fast).is_empty());
}
