//! Calls on a stream under capture: the fake fails on any call that a capture does not take.

use super::*;
use crate::{
    args,
    objects::{
        Buffer, Device, Kernel, Recording,
        allocation::Keep,
        fake::{Log, Mood},
        tests::{artifact, buffer, fake, kernel, launch, wait_until, whole},
    },
};
use qd_artifact::{BufferRef, Dtype, Expr, Operand, Step, StepKind};

fn setup(mood: Mood) -> (Device, Log, Stream, u64, [Kernel; 3]) {
    let (device, log) = fake(mood);
    let raw = log.stream();
    let keep: Keep = None;
    // Safety: the stream is the fake's, which has it until its end.
    let stream = unsafe { device.wrap_stream(raw, keep) }.unwrap();
    let loaded = device.load(&artifact()).unwrap();
    let kernels = ["set", "next", "count"].map(|name| loaded.kernel(name).unwrap());
    (device, log, stream, raw, kernels)
}

#[test]
fn calls_become_part_of_the_graph_which_holds_what_they_use() {
    let (device, log, stream, raw, [set, next, count]) = setup(Mood::default());
    let [x, y] = [0, 1].map(|_| Buffer::zeros(&stream, Dtype::I32, &[2]).unwrap());
    let mut out = vec![0_i32; 2];
    let sum = Buffer::zeros(&stream, Dtype::I32, &[1]).unwrap();
    let seven = Buffer::from_slice(&stream, &[7]).unwrap();
    stream.synchronize().unwrap();
    let replays = log.count("replay");

    log.capture(raw);
    set.launch(&stream, &args![&x, 4]).unwrap();
    next.launch(&stream, &args![&y, &x]).unwrap();
    // Of the first element alone: 8, as long as the graph holds what it reads.
    let first = y.rows(0..1).unwrap();
    next.launch(&stream, &args![&first, &seven]).unwrap();
    count.launch(&stream, &args![&sum]).unwrap();
    let mut recording = Recording::new(&device);
    let slot = recording.slot(&next.argument("in").unwrap().kind);
    let last = Buffer::import_for_test(&stream, &mut out);
    recording.launch(&next, &args![&x, slot]).unwrap();
    recording.launch(&count, &args![&sum]).unwrap();
    recording.copy(&x, &last).unwrap();
    let mut graph = recording.finish().unwrap();
    graph.bind(slot, &y).unwrap();
    graph.launch(&stream).unwrap();
    let captured = log.captured(raw);

    assert_eq!(log.count("replay"), replays, "nothing has run");
    assert_eq!(x.to_vec::<i32>(&stream).unwrap(), [0, 0]);
    // The graph's owner may replay it after all our handles have gone.
    let total = sum.clone();
    drop((x, y, first, seven, sum, last, graph, set, next, count));
    stream.synchronize().unwrap();
    for i in 1..=3 {
        captured.replay();
        assert_eq!(out, [9, 6]);
        assert_eq!(total.to_vec::<i32>(&stream).unwrap(), [2 * i]);
    }
    drop((total, captured));
    wait_until(|| device.memory().live == 0);
}

impl Buffer {
    fn import_for_test(on: &Stream, to: &mut [i32]) -> Self {
        use crate::objects::{Foreign, Ready};
        let memory = Foreign {
            address: to.as_mut_ptr() as u64,
            dtype: Dtype::I32,
            shape: vec![to.len() as u64],
            strides: None,
            read_only: false,
            ready: Ready::InOrder,
        };
        // Safety: the memory is kept by who calls.
        unsafe { Self::import(on, memory, None) }.unwrap()
    }
}

#[test]
fn what_cannot_be_captured_is_an_error_and_the_capture_goes_on() {
    let (device, log, stream, raw, [set, next, _]) = setup(Mood::default());
    let beside = device.stream(Priority::Normal).unwrap();
    let x = Buffer::zeros(&stream, Dtype::I32, &[2]).unwrap();
    let seen = Buffer::zeros(&beside, Dtype::I32, &[2]).unwrap();
    next.launch(&stream, &args![&x, &seen]).unwrap();
    let then = beside.record().unwrap();
    let far = Buffer::zeros(&beside, Dtype::I32, &[2]).unwrap();

    log.capture(raw);
    let refused = |what: Result<(), Error>| match what {
        Err(Error::Capture(text)) => text,
        other => panic!("{other:?}"),
    };
    let text = refused(next.launch(&stream, &args![&x, &far]));
    assert!(
        text.contains("kernel 'next'") && text.contains("outside of the capture"),
        "{text}"
    );
    refused(stream.synchronize());
    refused(stream.record().map(|_| ()));
    refused(stream.wait_for(&then));
    refused(Buffer::new(&stream, Dtype::I32, &[2]).map(|_| ()));
    refused(x.write(&stream, &[1, 2]));
    refused(x.read(&stream, &mut [0, 0]));
    refused(x.copy_to(&stream, &seen));
    // Of a stream that is captured no other can wait for what was before.
    refused(set.launch(&beside, &args![&x, 1]));
    let short = set.launch(&stream, &args![&x]);
    assert!(matches!(short, Err(Error::ArgumentCount { .. })));
    // It has been waited for, before the capture began.
    next.launch(&stream, &args![&x, &seen]).unwrap();
    drop(x);
    let captured = log.captured(raw);
    captured.replay();
    // As the message says.
    stream.wait_for(&beside.record().unwrap()).unwrap();
    let x = Buffer::zeros(&stream, Dtype::I32, &[2]).unwrap();
    stream.synchronize().unwrap();
    log.capture(raw);
    next.launch(&stream, &args![&x, &far]).unwrap();
    log.captured(raw).replay();
    assert_eq!(x.to_vec::<i32>(&stream).unwrap(), [1, 1]);
    // What the host has waited for has ended for everybody.
    let far = Buffer::filled(&beside, Dtype::I32, &[2], 1).unwrap();
    beside.synchronize().unwrap();
    log.capture(raw);
    next.launch(&stream, &args![&x, &far]).unwrap();
    log.captured(raw).replay();
    assert_eq!(x.to_vec::<i32>(&stream).unwrap(), [0x0101_0102; 2]);
}

#[test]
fn a_condition_that_the_host_looks_at_is_not_captured() {
    let flag = BufferRef {
        argument: 0,
        view: None,
    };
    let zero = Operand::Scalar(Expr::constant(0));
    let steps = vec![launch(1, "set", vec![whole(0), zero])];
    let once = Step {
        id: 0,
        after: Vec::new(),
        kind: StepKind::DoWhile {
            flag: flag.into(),
            steps,
        },
    };
    let mut artifact = artifact();
    artifact
        .kernels
        .push(kernel("once", vec![buffer("a")], 0, vec![once]));
    for asks_host in [false, true] {
        let (device, log) = fake(Mood {
            asks_host,
            ..Mood::default()
        });
        let raw = log.stream();
        // Safety: the stream is the fake's, which has it until its end.
        let stream = unsafe { device.wrap_stream(raw, None) }.unwrap();
        let once = device.load(&artifact).unwrap().kernel("once").unwrap();
        let x = Buffer::from_slice(&stream, &[5]).unwrap();
        stream.synchronize().unwrap();
        log.capture(raw);
        let outcome = once.launch(&stream, &args![&x]);
        let captured = log.captured(raw);
        captured.replay();
        let value = x.to_vec::<i32>(&stream).unwrap();
        match outcome {
            Ok(()) => assert!(!asks_host && value == [0]),
            Err(Error::Capture(text)) => {
                assert!(asks_host && value == [5]);
                assert!(text.contains("kernel 'once': it has a loop"), "{text}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn memory_that_goes_during_a_capture_is_freed_behind_it() {
    let (device, log, stream, raw, [set, ..]) = setup(Mood::default());
    let x = Buffer::zeros(&stream, Dtype::I32, &[2]).unwrap();
    set.launch(&stream, &args![&x, 1]).unwrap();
    log.capture(raw);
    drop(x);
    assert_eq!(log.count("free"), 0);
    drop(log.captured(raw));
    wait_until(|| log.count("free") == 1);
    assert_eq!(device.memory().live, 0);
}

#[test]
fn whichever_call_fails_nothing_leaks() {
    let run = |fails| {
        let (device, log, stream, raw, [_, _, count]) = setup(Mood {
            fails,
            ..Mood::default()
        });
        let x = Buffer::zeros(&stream, Dtype::I32, &[1]);
        log.capture(raw);
        let outcome = x.and_then(|x| count.launch(&stream, &args![&x]));
        drop(log.captured(raw));
        let stream = device.stream(Priority::Normal);
        drop((count, stream));
        wait_until(|| device.memory().live == 0);
        outcome.map(|()| log.calls())
    };
    let calls = run(None).unwrap().len();
    // The first is the load.
    let failed = (1..calls)
        .filter(|at| run(Some((*at, false))).is_err())
        .count();
    assert!(
        failed >= 5,
        "allocations, a clear, a stream, a wait, a splice"
    );
}
