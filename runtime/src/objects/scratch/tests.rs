//! Omitted scratch, on a device that delays, reorders and fails, and that overwrites freed memory.

use super::*;
use crate::{
    args,
    objects::{
        Device, Recording,
        fake::{Log, Mood},
        tests::{artifact, buffer, fake, input, kernel, launch, wait_until, whole},
    },
};
use qd_artifact::{Artifact, Expr};

/// Scratch that is as long as another argument at least.
fn scratch(name: &str, minimum: Option<Expr>) -> Argument {
    Argument {
        role: Role::Scratch,
        minimum,
        ..buffer(name)
    }
}

/// With `out = in + 2` in two steps with scratch between, and kernels whose scratch depends on scratch.
fn kernels() -> Artifact {
    let steps = || {
        let mut second = launch(1, "next", vec![whole(0), whole(2)]);
        second.after.push(0);
        vec![launch(0, "next", vec![whole(2), whole(1)]), second]
    };
    let length = |of| Some(Expr::Length(of, 0));
    let with = |more: Vec<Argument>| {
        let mut arguments = vec![buffer("out"), input("in")];
        arguments.extend(more);
        arguments
    };
    let mut all = artifact();
    all.kernels.extend([
        kernel("twice", with(vec![scratch("s", length(1))]), 0, steps()),
        kernel(
            "chain",
            with(vec![scratch("s", length(3)), scratch("t", length(1))]),
            0,
            steps(),
        ),
        kernel(
            "circle",
            with(vec![scratch("s", length(3)), scratch("t", length(2))]),
            0,
            steps(),
        ),
        kernel("open", with(vec![scratch("s", None)]), 0, steps()),
    ]);
    all
}

fn load(device: &Device, name: &str) -> crate::objects::Kernel {
    device.load(&kernels()).unwrap().kernel(name).unwrap()
}

#[test]
fn it_is_there_until_the_launch_has_ended_and_is_freed_then() {
    for seed in 0..20 {
        let (device, log) = fake(Mood {
            seed,
            ..Mood::default()
        });
        let [a, b] = [0, 1].map(|_| device.stream(Priority::Normal).unwrap());
        let [twice, chain] = ["twice", "chain"].map(|name| load(&device, name));
        let mut outs = Vec::new();
        for i in 0..12_i32 {
            let stream = if i % 3 == 0 { &b } else { &a };
            let x = Buffer::from_slice(&a, &vec![i; 1 + i as usize % 4]).unwrap();
            let y = Buffer::new(&b, Dtype::I32, x.shape()).unwrap();
            match i % 2 {
                0 => twice.launch(stream, &args![&y, &x, _]).unwrap(),
                _ => chain.launch(stream, &args![&y, &x, _, _]).unwrap(),
            }
            outs.push((y, vec![i + 2; x.len() as usize]));
        }
        for (y, expected) in &outs {
            assert_eq!(y.to_vec::<i32>(&a).unwrap(), *expected, "seed {seed}");
        }
        let y = &outs[0].0;
        let before = device.memory().live;
        twice.prepare(&a, &args![y, y, _]).unwrap_err();
        let x = Buffer::from_slice(&a, &[7]).unwrap();
        twice.prepare(&a, &args![y, &x, _]).unwrap();
        drop(x);
        assert_eq!(device.memory().live, before);
        drop(outs);
        a.synchronize().unwrap();
        b.synchronize().unwrap();
        assert_eq!((device.memory().live, log.count("replay")), (0, 12));
    }
}

#[test]
fn a_graph_makes_its_own_and_again_when_it_has_to_be_longer() {
    let (device, log) = fake(Mood::default());
    let s = device.stream(Priority::Normal).unwrap();
    let twice = load(&device, "twice");
    let mut recording = Recording::new(&device);
    let [input, out, last] = [0; 3].map(|_| recording.slot(&twice.argument("in").unwrap().kind));
    recording.launch(&twice, &args![out, input, _]).unwrap();
    recording.launch(&twice, &args![last, out, _]).unwrap();
    let error = recording
        .launch(&twice, &args![out, _, _])
        .expect_err("data");
    assert!(
        error
            .to_string()
            .contains("'in' is a buffer i32[?], but was given nothing")
    );
    let mut graph = recording.finish().unwrap();
    let mut made = Vec::new();
    for n in [3, 1, 2, 5, 4, 0] {
        let x = Buffer::from_slice(&s, &vec![n as i32; n]).unwrap();
        let [y, z] = [0, 1].map(|_| Buffer::new(&s, Dtype::I32, x.shape()).unwrap());
        graph.bind(input, &x).unwrap();
        graph.bind(out, &y).unwrap();
        graph.bind(last, &z).unwrap();
        let before = log.count("allocate");
        graph.launch(&s).unwrap();
        made.push(log.count("allocate") - before);
        assert_eq!(z.to_vec::<i32>(&s).unwrap(), vec![n as i32 + 4; n]);
    }
    assert_eq!(made, [2, 0, 0, 2, 0, 0]);
    drop(graph);
    s.synchronize().unwrap();
    assert_eq!(device.memory().live, 0);
}

/// A device, the name of a stream that can be captured, and that stream.
fn captured() -> (Device, Log, u64, Stream) {
    let (device, log) = fake(Mood::default());
    let raw = log.stream();
    // Safety: the stream is the fake's, which has it until its end.
    let stream = unsafe { device.wrap_stream(raw, None) }.unwrap();
    (device, log, raw, stream)
}

#[test]
fn a_captured_launchs_is_the_graphs() {
    let (device, log, raw, stream) = captured();
    let twice = load(&device, "twice");
    let x = Buffer::from_slice(&stream, &[1, 2]).unwrap();
    let [y, z] = [0, 1].map(|_| Buffer::zeros(&stream, Dtype::I32, &[2]).unwrap());
    let mut recording = Recording::new(&device);
    recording.launch(&twice, &args![&z, &y, _]).unwrap();
    let mut graph = recording.finish().unwrap();
    stream.synchronize().unwrap();
    log.capture(raw);
    twice.launch(&stream, &args![&y, &x, _]).unwrap();
    graph.launch(&stream).unwrap();
    let captured = log.captured(raw);
    drop((twice, graph));
    stream.synchronize().unwrap();
    for i in 0..3 {
        x.write(&stream, &[i, 2 * i]).unwrap();
        // What is freed meanwhile is not the graph's.
        drop(Buffer::filled(&stream, Dtype::I32, &[2], 0xFF).unwrap());
        stream.synchronize().unwrap();
        captured.replay();
        assert_eq!(z.to_vec::<i32>(&stream).unwrap(), [i + 4, 2 * i + 4]);
    }
    drop((captured, x, y, z));
    wait_until(|| device.memory().live == 0);
}

#[test]
fn what_is_no_scratch_or_of_unknown_length_is_an_error() {
    let (device, log) = fake(Mood::default());
    let s = device.stream(Priority::Normal).unwrap();
    let x = Buffer::zeros(&s, Dtype::I32, &[2]).unwrap();
    let y = Buffer::zeros(&s, Dtype::I32, &[2]).unwrap();
    let refused = |name: &str, given: &[Arg<'_>]| {
        let launched = load(&device, name).launch(&s, given);
        launched.expect_err("refused").to_string()
    };
    assert_eq!(
        refused("twice", &args![_, &x, _]),
        "kernel 'twice': argument 'out' is a buffer i32[?], but was given nothing"
    );
    assert_eq!(
        refused("open", &args![&y, &x, _]),
        "kernel 'open': argument 's' is a buffer i32[?], but was given nothing, and nothing says how long it must be"
    );
    assert_eq!(
        refused("circle", &args![&y, &x, _, _]),
        "kernel 'circle': argument 't' is a buffer i32[?], but was given nothing, and its length depends on that of 's'"
    );
    let shape = [2];
    assert!(refused("twice", &args![&y, Arg::Shape(&shape), _]).contains("without an array"));
    assert_eq!(log.count("replay"), 0);
    // One of them is enough.
    let circle = load(&device, "circle");
    circle
        .launch(&s, &args![&y, &x, &x, _])
        .expect_err("overlaps");
    let t = Buffer::new(&s, Dtype::I32, &[2]).unwrap();
    circle.launch(&s, &args![&y, &x, _, &t]).unwrap();
    assert_eq!(y.to_vec::<i32>(&s).unwrap(), [2, 2]);
}

#[test]
fn lengths_follow_from_shapes_without_arrays() {
    let (device, _) = fake(Mood::default());
    let twice = load(&device, "twice");
    let shape = [1000];
    let given = args![_, Arg::Shape(&shape), _];
    assert_eq!(twice.minimum("s", &given).unwrap(), 1000);
    let flat = [10, 100];
    let error = twice.minimum("s", &args![_, Arg::Shape(&flat), _]);
    let error = error.expect_err("another rank").to_string();
    assert!(
        error.contains("a shape [10, 100] without an array"),
        "{error}"
    );
    assert_eq!(device.memory().live, 0);
}

#[test]
fn whichever_call_fails_nothing_leaks() {
    let run = |fails| {
        let (device, log) = fake(Mood {
            fails,
            ..Mood::default()
        });
        let work = || {
            let s = device.stream(Priority::Normal)?;
            let x = Buffer::from_slice(&s, &[1])?;
            let y = Buffer::new(&s, Dtype::I32, &[1])?;
            let twice = device.load(&kernels())?.kernel("twice")?;
            twice.launch(&s, &args![&y, &x, _])?;
            y.to_vec::<i32>(&s)
        };
        let outcome = work();
        wait_until(|| device.memory().live == 0);
        outcome.map(|values| (values, log.calls().len()))
    };
    let (values, calls) = run(None).unwrap();
    assert_eq!(values, [3]);
    for at in 0..calls {
        if let Ok((values, _)) = run(Some((at, false))) {
            assert_eq!(values, [3]);
        }
    }
}
