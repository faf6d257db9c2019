//! Guarantees of recordings, on a device that delays and reorders.

use super::*;
use crate::{
    args,
    objects::{
        Priority,
        fake::Mood,
        tests::{artifact, fake},
    },
};
use qd_artifact::Dtype;

fn array() -> ArgumentKind {
    ArgumentKind::Buffer {
        dtype: Dtype::I32,
        shape: vec![None],
    }
}

/// `tmp = input + 1; out = tmp + 1; last = out`, beside `beside = 9`.
fn chain(device: &Device, s: &Stream, n: u64) -> (Graph, [Slot; 3], Buffer) {
    let loaded = device.load(&artifact()).unwrap();
    let (set, next) = (
        loaded.kernel("set").unwrap(),
        loaded.kernel("next").unwrap(),
    );
    let [tmp, last, beside] = [0, 1, 2].map(|_| Buffer::new(s, Dtype::I32, &[n]).unwrap());
    let mut recording = Recording::new(device);
    let input = recording.slot(&next.argument("in").unwrap().kind);
    let out = recording.slot(&array());
    let value = recording.slot(&set.argument("value").unwrap().kind);
    recording.launch(&next, &args![&tmp, input]).unwrap();
    recording.launch(&set, &args![&beside, value]).unwrap();
    recording.launch(&next, &args![out, &tmp]).unwrap();
    recording.copy(out, &last).unwrap();
    recording.launch(&next, &args![&tmp, &beside]).unwrap();
    (recording.finish().unwrap(), [input, out, value], last)
}

#[test]
fn steps_that_use_the_same_memory_are_in_the_order_they_were_recorded_in() {
    for seed in 0..20 {
        let (device, log) = fake(Mood {
            seed,
            ..Mood::default()
        });
        let [a, b] = [0, 1].map(|_| device.stream(Priority::Normal).unwrap());
        let (mut graph, [input, out, value], last) = chain(&device, &a, 3);
        graph.bind(value, 9).unwrap();
        let mut outs = Vec::new();
        for i in 0..10 {
            let stream = if i % 3 == 0 { &b } else { &a };
            let x = Buffer::from_slice(&a, &[i, 10 * i, 7]).unwrap();
            let y = Buffer::new(&b, Dtype::I32, &[3]).unwrap();
            graph.bind(input, &x).unwrap();
            graph.bind(out, &y).unwrap();
            graph.launch(stream).unwrap();
            outs.push(y);
            // What was bound is overwritten when it is freed: not before its launch has ended.
        }
        for (i, y) in (0..).zip(&outs) {
            let read = y.to_vec::<i32>(&a).unwrap();
            assert_eq!(read, [i + 2, 10 * i + 2, 9], "seed {seed}");
        }
        assert_eq!(last.to_vec::<i32>(&b).unwrap(), [11, 92, 9]);
        assert_eq!(log.count("build"), 1, "one shape for all arrays");
        assert_eq!(log.count("replay"), 10, "one replay a launch");
        drop((graph, outs, last));
        a.synchronize().unwrap();
        assert_eq!(device.memory().live, 0);
    }
}

#[test]
fn a_step_waits_for_those_whose_memory_it_uses_and_for_no_other() {
    let (device, _) = fake(Mood::default());
    let s = device.stream(Priority::Normal).unwrap();
    let loaded = device.load(&artifact()).unwrap();
    let (set, next) = (
        loaded.kernel("set").unwrap(),
        loaded.kernel("next").unwrap(),
    );
    let x = Buffer::new(&s, Dtype::I32, &[8]).unwrap();
    let [low, high] = [0..4, 4..8].map(|rows| x.rows(rows).unwrap());
    let [y, z] = [0, 1].map(|_| Buffer::new(&s, Dtype::I32, &[4]).unwrap());
    let mut recording = Recording::new(&device);
    let slot = recording.slot(&array());
    let value = recording.slot(&ArgumentKind::Scalar { dtype: Dtype::I32 });
    recording.launch(&set, &args![&low, value]).unwrap();
    recording.launch(&set, &args![&high, value]).unwrap();
    recording.launch(&next, &args![&y, &low]).unwrap();
    recording.launch(&next, &args![&z, &low]).unwrap();
    recording.launch(&set, &args![&low, 3]).unwrap();
    recording.copy(&y, &high).unwrap();
    recording.launch(&next, &args![slot, &z]).unwrap();
    let after: Vec<_> = recording.steps.iter().map(|step| &step.after[..]).collect();
    let expected: [&[usize]; 7] = [
        &[],
        &[],
        &[0],
        &[0],
        // After both readers, and by them after the writer.
        &[3, 2],
        // The source was written by 2, the destination by 1.
        &[2, 1],
        // A slot may be any memory that is in use.
        &[5, 4],
    ];
    assert_eq!(after, expected);
    let mut graph = recording.finish().unwrap();
    let w = Buffer::new(&s, Dtype::I32, &[4]).unwrap();
    graph.bind(slot, &w).unwrap();
    graph.bind(value, 7).unwrap();
    graph.launch(&s).unwrap();
    let read = |buffer: &Buffer| buffer.to_vec::<i32>(&s).unwrap();
    assert_eq!(read(&x), [3, 3, 3, 3, 8, 8, 8, 8]);
    assert_eq!([read(&y), read(&z), read(&w)], [[8; 4], [8; 4], [9; 4]]);
}

#[test]
fn a_graph_on_which_nothing_changed_is_replayed_alone() {
    let (device, log) = fake(Mood::default());
    let s = device.stream(Priority::Normal).unwrap();
    let (mut graph, [input, out, value], _) = chain(&device, &s, 2);
    let [x, y] = [0, 1].map(|_| Buffer::zeros(&s, Dtype::I32, &[2]).unwrap());
    graph.bind(input, &x).unwrap();
    graph.bind(out, &y).unwrap();
    graph.bind(value, 1).unwrap();
    graph.launch(&s).unwrap();
    let before = log.calls().len();
    for _ in 0..5 {
        graph.launch(&s).unwrap();
    }
    assert_eq!(log.calls()[before..], ["replay"; 5]);
    // A value is a word as well.
    graph.bind(value, 2).unwrap();
    graph.launch(&s).unwrap();
    assert_eq!((log.count("build"), log.count("patch")), (1, 1));
}

#[test]
fn what_runs_is_not_changed_by_what_is_bound_behind_it() {
    for seed in 0..20 {
        let (device, _) = fake(Mood {
            seed,
            ..Mood::default()
        });
        let s = device.stream(Priority::Normal).unwrap();
        let count = device.load(&artifact()).unwrap().kernel("count").unwrap();
        let mut recording = Recording::new(&device);
        let x = recording.slot(&array());
        // Each with control words of its own, which streams use in turn.
        recording.launch(&count, &args![x]).unwrap();
        recording.launch(&count, &args![x]).unwrap();
        let mut graph = recording.finish().unwrap();
        let t = device.stream(Priority::Normal).unwrap();
        let cells = [0, 1].map(|_| Buffer::zeros(&s, Dtype::I32, &[1]).unwrap());
        for i in 0..10 {
            graph.bind(x, &cells[i % 2]).unwrap();
            graph.launch(if i % 3 == 0 { &s } else { &t }).unwrap();
        }
        for cell in &cells {
            assert_eq!(cell.to_vec::<i32>(&s).unwrap(), [10], "seed {seed}");
        }
    }
}

#[test]
fn a_graph_is_behind_its_last_launch_on_whichever_stream() {
    for seed in 0..20 {
        let (device, _) = fake(Mood {
            seed,
            ..Mood::default()
        });
        let set = device.load(&artifact()).unwrap().kernel("set").unwrap();
        let mut recording = Recording::new(&device);
        let x = recording.slot(&array());
        recording.launch(&set, &args![x, 4]).unwrap();
        let mut graph = recording.finish().unwrap();
        // Nothing else orders these: the fake fails if they are beside each other.
        let streams = [0, 1, 2].map(|_| device.stream(Priority::Normal).unwrap());
        let cells = [0, 1, 2].map(|i| Buffer::zeros(&streams[i], Dtype::I32, &[1]).unwrap());
        for i in 0..12 {
            graph.bind(x, &cells[i % 3]).unwrap();
            graph.launch(&streams[i % 3]).unwrap();
        }
        for (cell, stream) in cells.iter().zip(&streams) {
            assert_eq!(cell.to_vec::<i32>(stream).unwrap(), [4], "seed {seed}");
        }
    }
}

#[test]
fn control_is_cleared_once_and_behind_a_launch_that_failed() {
    let clears = |fails| {
        let (device, log) = fake(Mood {
            fails,
            ..Mood::default()
        });
        let count = device.load(&artifact()).unwrap().kernel("count").unwrap();
        let s = device.stream(Priority::Normal).unwrap();
        let x = Buffer::new(&s, Dtype::I32, &[1]).unwrap();
        let mut recording = Recording::new(&device);
        recording.launch(&count, &args![&x]).unwrap();
        let mut graph = recording.finish().unwrap();
        let failed = (0..4).filter(|_| graph.launch(&s).is_err()).count();
        (failed, log.count("set"), log.calls())
    };
    let (failed, cleared, calls) = clears(None);
    assert_eq!((failed, cleared), (0, 1));
    let third = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| **call == "replay");
    let third = third.map(|(place, _)| place).nth(2).unwrap();
    let (failed, cleared, _) = clears(Some((third, false)));
    assert_eq!((failed, cleared), (1, 2));
}

#[test]
fn what_does_not_fit_is_an_error_where_it_is_given() {
    let (device, log) = fake(Mood::default());
    let (other, _) = fake(Mood::default());
    let s = device.stream(Priority::Normal).unwrap();
    let t = other.stream(Priority::Normal).unwrap();
    let loaded = device.load(&artifact()).unwrap();
    let (set, next) = (
        loaded.kernel("set").unwrap(),
        loaded.kernel("next").unwrap(),
    );
    let needs = loaded.kernel("needs").unwrap();
    let x = Buffer::new(&s, Dtype::I32, &[4]).unwrap();
    let far = Buffer::new(&t, Dtype::I32, &[4]).unwrap();
    let error = |outcome: Result<(), Error>| outcome.expect_err("refused").to_string();

    assert!(
        set.argument("b")
            .unwrap_err()
            .to_string()
            .contains("a, value")
    );
    let mut recording = Recording::new(&device);
    let slot = recording.slot(&array());
    let value = recording.slot(&ArgumentKind::Scalar { dtype: Dtype::I32 });
    let foreign = Recording::new(&device).slot(&array());
    assert_eq!(
        error(set.launch(&s, &args![slot, 1])),
        "kernel 'set': argument 'a' is a buffer i32[?], but was given a slot, which only a recording takes"
    );
    assert_eq!(
        error(recording.launch(&set, &args![value, 1])),
        "kernel 'set': argument 'a' is a buffer i32[?], but was given a slot of a scalar i32"
    );
    assert!(error(recording.launch(&set, &args![slot])).contains("takes 2 arguments"));
    assert!(error(recording.launch(&set, &args![slot, _])).contains("given nothing"));
    assert!(error(recording.launch(&set, &args![foreign, 1])).contains("another recording's"));
    assert!(error(recording.launch(&set, &args![&far, 1])).contains("of device"));
    assert!(error(Recording::new(&other).launch(&set, &args![slot, 1])).contains("of device"));
    assert!(error(recording.copy(&x, 1)).contains("given a scalar i32"));
    assert!(error(recording.copy(value, &x)).contains("given a slot of a scalar"));
    let halves = [0..3, 1..4].map(|rows| x.rows(rows).unwrap());
    assert!(error(recording.copy(&halves[0], &halves[1])).contains("share memory"));
    assert!(error(halves[0].copy_to(&s, &halves[1])).contains("share memory"));

    recording.launch(&next, &args![slot, &x]).unwrap();
    recording.launch(&needs, &args![slot, &x]).unwrap();
    recording.copy(slot, &x).unwrap();
    let mut graph = recording.finish().unwrap();
    assert_eq!(
        error(graph.launch(&s)),
        "kernel 'next': argument 'out' is a slot that nothing is bound to"
    );
    assert_eq!(
        error(graph.bind(slot, 1)),
        "a slot of a buffer i32[?] cannot be bound to a scalar i32"
    );
    assert!(error(graph.bind(value, &x)).contains("cannot be bound to a buffer i32[4]"));
    assert!(error(graph.bind(foreign, &x)).contains("another recording's"));
    assert!(error(graph.bind(slot, &far)).contains("of device"));
    let long = Buffer::new(&s, Dtype::I32, &[5]).unwrap();
    graph.bind(slot, &long).unwrap();
    assert!(error(graph.launch(&s)).contains("'scratch' must have at least 5 rows, but has 4"));
    graph.bind(slot, &x.rows(0..4).unwrap()).unwrap();
    assert_eq!(
        error(graph.launch(&s)),
        "kernel 'next': argument 'out' overlaps argument 'in', of which one is written"
    );
    assert!(error(graph.launch(&t)).contains("the stream of a graph is of device"));
    assert_eq!(log.count("replay"), 0, "nothing ran");
    let y = Buffer::new(&s, Dtype::I32, &[4]).unwrap();
    graph.bind(slot, &y).unwrap();
    graph.launch(&s).unwrap();
}

#[test]
fn whichever_call_of_a_graph_fails_the_next_launch_works() {
    let run = |fails: Option<(usize, bool)>| {
        let (device, log) = fake(Mood {
            fails,
            ..Mood::default()
        });
        let outcome = counted(&device);
        let calls = log.calls();
        // Whatever failed, the same again.
        match (fails, counted(&device)) {
            (Some((_, true)), again) => assert!(again.is_err(), "the device is lost"),
            (_, again) => assert_eq!(again.expect("the next one works"), 6),
        }
        assert_eq!(device.memory().live, 0);
        (outcome, calls)
    };
    let (outcome, calls) = run(None);
    assert_eq!(outcome.unwrap(), 6);
    for (at, is_lost) in (0..calls.len()).flat_map(|at| [(at, false), (at, true)]) {
        if is_lost && calls[at] == "load" {
            // Loading has an error of its own, and says nothing of the device.
            continue;
        }
        let (outcome, calls) = run(Some((at, is_lost)));
        let is_silent = matches!(calls[at], "free" | "close_stream");
        match outcome {
            Ok(sum) => assert!(sum == 6 && is_silent, "call {at}, {}", calls[at]),
            Err(Error::Lost { .. }) => assert!(is_lost),
            Err(error) => assert!(
                error.to_string().contains(" fails") || error.to_string().contains("7 are free"),
                "{error}"
            ),
        }
    }
}

/// What a graph counts that is launched three times, also after a launch that failed.
fn counted(device: &Device) -> Result<i32, Error> {
    let count = device.load(&artifact())?.kernel("count")?;
    let s = device.stream(Priority::Normal)?;
    let x = Buffer::zeros(&s, Dtype::I32, &[1])?;
    let mut recording = Recording::new(device);
    let slot = recording.slot(&array());
    recording.launch(&count, &args![slot])?;
    recording.launch(&count, &args![&x])?;
    let mut graph = recording.finish()?;
    graph.bind(slot, &x)?;
    for _ in 0..3 {
        graph.launch(&s)?;
    }
    Ok(x.to_vec::<i32>(&s)?[0])
}
