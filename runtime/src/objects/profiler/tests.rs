//! Spans, on a device that delays and reorders, and on which a task takes a microsecond.

use super::*;
use crate::{
    args,
    objects::{
        Buffer, LaunchOptions, Recording,
        fake::{Body, Fake, Log, Mood},
        tests::{artifact, buffer, fake, kernel, launch, slice, whole},
    },
};
use qd_artifact::{Artifact, BufferRef, Dtype, Expr, Format, Module, StepKind};

/// `a[0] += 1; flag -= 1`.
fn down(words: &[u64]) {
    // Safety: the words describe arrays, which nothing else uses meanwhile.
    let (a, flag) = unsafe { (slice(&words[1..]), slice(&words[3..])) };
    a[0] += 1;
    flag[0] -= 1;
}

const BODIES: &[(&str, Body)] = &[("down", down)];

/// Fills `a` with 7, counts `flag` down to 0, and does so once more if `a` is not 0.
fn counted(mood: Mood) -> (Device, Log, Artifact) {
    let flag = BufferRef {
        argument: 1,
        view: None,
    };
    let step = |id, after: &[u64], kind| qd_artifact::Step {
        id,
        after: after.to_vec(),
        kind,
    };
    let down = |id| launch(id, "down", vec![whole(0), whole(1)]);
    let steps = vec![
        step(
            0,
            &[],
            StepKind::Fill {
                buffer: BufferRef {
                    argument: 0,
                    view: None,
                },
                lower: Expr::constant(0),
                upper: Expr::Length(0, 0),
                value: Expr::constant(7),
            },
        ),
        step(
            1,
            &[0],
            StepKind::DoWhile {
                flag: flag.clone().into(),
                steps: vec![down(2)],
            },
        ),
        step(
            3,
            &[1],
            StepKind::If {
                condition: whole(0),
                steps: vec![down(4)],
            },
        ),
        step(
            5,
            &[3],
            StepKind::If {
                condition: whole(2),
                steps: vec![down(6)],
            },
        ),
    ];
    let arguments = vec![buffer("a"), buffer("flag"), buffer("never")];
    let bodies = BODIES.iter().map(|(name, _)| qd_artifact::Body {
        name: (*name).into(),
        wave: 32,
    });
    let artifact = Artifact {
        targets: vec!["cpu".into()],
        kernels: vec![kernel("counted", arguments, 0, steps)],
        modules: vec![Module::new(0, Format::Object, bodies.collect(), Vec::new())],
        ..Artifact::default()
    };
    let (fake, log) = Fake::new(mood, BODIES);
    (Device::of(Box::new(fake)), log, artifact)
}

/// A span's kind in a word or two.
fn word(span: &Span) -> String {
    match &span.kind {
        SpanKind::Call { name } => format!("call {name}"),
        SpanKind::Step(step) => format!("{} {} {}", step.id, step.name, step.run),
        SpanKind::Copy { kind, bytes } => format!("{kind:?} {bytes}"),
        SpanKind::Wait => "wait".into(),
    }
}

fn words(spans: &[Span]) -> Vec<String> {
    spans.iter().map(word).collect()
}

/// Spans of a stream are beside each other, or in a call.
fn check(spans: &[Span]) {
    let end = |span: &Span| span.start + span.duration;
    for (i, a) in spans.iter().enumerate() {
        for b in spans[i + 1..].iter().filter(|b| b.stream == a.stream) {
            let is_in = end(b) <= end(a) && matches!(a.kind, SpanKind::Call { .. });
            assert!(end(a) <= b.start || is_in, "{a:?} and {b:?}");
        }
    }
}

#[test]
fn calls_and_copies_are_between_two_events_and_taken_when_they_have_ended() {
    let (device, log) = fake(Mood::default());
    let loaded = device.load(&artifact()).unwrap();
    let (set, next) = (
        loaded.kernel("set").unwrap(),
        loaded.kernel("next").unwrap(),
    );
    let s = device.stream(Priority::Normal).unwrap();
    let profiler = Profiler::new(&device, Detail::Calls).unwrap();
    let x = Buffer::zeros(&s, Dtype::I32, &[4]).unwrap();
    let attached = profiler.attach(&s).unwrap();
    let y = Buffer::zeros(&s, Dtype::I32, &[4]).unwrap();
    set.launch(&s, &args![&x, 1]).unwrap();
    next.launch(&s, &args![&y, &x]).unwrap();
    y.copy_to(&s, &x).unwrap();
    assert_eq!(profiler.take().unwrap(), [], "nothing has ended");
    s.synchronize().unwrap();
    let spans = profiler.take().unwrap();
    let expected = ["Clear 16", "call set", "call next", "Within 16"];
    assert_eq!(words(&spans), expected);
    check(&spans);
    let each = spans.iter().map(|span| span.duration.as_micros());
    assert_eq!(each.collect::<Vec<_>>(), [1; 4]);
    assert_eq!(profiler.take().unwrap(), [], "they have been taken");
    y.write(&s, &[1; 4]).unwrap();
    assert_eq!(y.to_vec::<i32>(&s).unwrap(), [1; 4]);
    s.synchronize().unwrap();
    assert_eq!(
        words(&profiler.take().unwrap()),
        ["Upload 16", "Download 16"]
    );
    drop(attached);
    let before = log.count("record");
    set.launch(&s, &args![&x, 1]).unwrap();
    s.synchronize().unwrap();
    assert_eq!(
        log.count("record"),
        before,
        "no event of what nobody looks at"
    );
    assert_eq!(profiler.take().unwrap(), []);
    assert_eq!(
        profiler.0.lock().0.len(),
        0,
        "nothing is kept of what is over"
    );
}

#[test]
fn streams_that_wait_for_each_other_have_spans_of_it() {
    for seed in 0..20 {
        let (device, _) = fake(Mood {
            seed,
            ..Mood::default()
        });
        let next = device.load(&artifact()).unwrap().kernel("next").unwrap();
        let [a, b] = [0, 1].map(|_| device.stream(Priority::Normal).unwrap());
        let [x, y] = [0, 1].map(|_| Buffer::zeros(&a, Dtype::I32, &[4]).unwrap());
        let profiler = Profiler::new(&device, Detail::Calls).unwrap();
        let attached = [&a, &b].map(|s| profiler.attach(s).unwrap());
        next.launch(&a, &args![&y, &x]).unwrap();
        next.launch(&b, &args![&x, &y]).unwrap();
        b.synchronize().unwrap();
        a.synchronize().unwrap();
        let spans = profiler.take().unwrap();
        check(&spans);
        let of = |stream: &Stream| {
            let id = stream.0.id;
            let mine = spans.iter().filter(|span| span.stream == id);
            mine.map(word).collect::<Vec<_>>()
        };
        assert_eq!(of(&a), ["call next"], "seed {seed}");
        assert_eq!(of(&b), ["wait", "call next"], "seed {seed}");
        let call = |stream: &Stream| {
            let is = |span: &&Span| span.stream == stream.0.id && word(span) == "call next";
            spans.iter().find(is).expect("a call").clone()
        };
        let (first, second) = (call(&a), call(&b));
        assert!(first.start + first.duration <= second.start, "one clock");
        drop(attached);
    }
}

#[test]
fn steps_are_timed_one_by_one_and_do_what_they_do_otherwise() {
    let values = |detail: Option<Detail>| {
        let (device, log, artifact) = counted(Mood::default());
        let counted = device.load(&artifact).unwrap().kernel("counted").unwrap();
        let s = device.stream(Priority::Normal).unwrap();
        let a = Buffer::zeros(&s, Dtype::I32, &[5]).unwrap();
        let flag = Buffer::from_slice(&s, &[3]).unwrap();
        let never = Buffer::zeros(&s, Dtype::I32, &[1]).unwrap();
        let profiler = detail.map(|detail| Profiler::new(&device, detail).unwrap());
        let attached = profiler.as_ref().map(|p| p.attach(&s).unwrap());
        counted.launch(&s, &args![&a, &flag, &never]).unwrap();
        s.synchronize().unwrap();
        let spans = profiler.map_or(Vec::new(), |p| p.take().unwrap());
        drop(attached);
        let read = |b: &Buffer| b.to_vec::<i32>(&s).unwrap();
        (spans, [read(&a), read(&flag)], log)
    };
    let (_, expected, _) = values(None);
    assert_eq!(expected, [vec![11, 7, 7, 7, 7], vec![-1]]);
    let (spans, whole, log) = values(Some(Detail::Calls));
    assert_eq!(
        (words(&spans), &whole),
        (vec!["call counted".into()], &expected)
    );
    assert_eq!(log.count("build"), 1);
    let (spans, apart, _) = values(Some(Detail::Steps));
    assert_eq!(apart, expected);
    check(&spans);
    let steps = ["0 fill 1", "2 down 1", "2 down 2", "2 down 3", "4 down 1"];
    assert_eq!(words(&spans[..1]), ["call counted"]);
    assert_eq!(words(&spans[1..]), steps);
    let totals = step_totals(&spans);
    let row = |t: &StepTotal| {
        (
            t.step.id,
            t.step.is_launch,
            t.step.blocks,
            t.bytes,
            t.runs,
            t.total.as_micros(),
        )
    };
    assert_eq!(
        totals.iter().map(row).collect::<Vec<_>>(),
        [
            (0, false, 0, 20, 1, 1),
            (2, true, 1, 0, 3, 3),
            (4, true, 1, 0, 1, 1)
        ]
    );
    assert!(totals.iter().all(|total| &*total.step.kernel == "counted"));
}

#[test]
fn a_loop_that_goes_on_is_stopped_and_its_steps_are_there() {
    let (device, _, artifact) = counted(Mood::default());
    let counted = device.load(&artifact).unwrap().kernel("counted").unwrap();
    let s = device.stream(Priority::Normal).unwrap();
    let [a, never] = [0, 1].map(|_| Buffer::zeros(&s, Dtype::I32, &[1]).unwrap());
    let flag = Buffer::from_slice(&s, &[100]).unwrap();
    let profiler = Profiler::new(&device, Detail::Steps).unwrap();
    let _attached = profiler.attach(&s).unwrap();
    let options = LaunchOptions {
        max_iterations: Some(4),
    };
    let error = counted.launch_with(&s, &args![&a, &flag, &never], &options);
    let error = error.expect_err("it goes on");
    assert!(matches!(error, Error::TooManyIterations { limit: 4, .. }));
    s.synchronize().unwrap();
    let totals = step_totals(&profiler.take().unwrap());
    assert_eq!(totals.iter().map(|t| t.runs).collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn a_recording_is_a_call_and_two_profilers_see_what_they_look_at() {
    let (device, _) = fake(Mood::default());
    let loaded = device.load(&artifact()).unwrap();
    let (set, next) = (
        loaded.kernel("set").unwrap(),
        loaded.kernel("next").unwrap(),
    );
    let s = device.stream(Priority::Normal).unwrap();
    let [x, y, z] = [0, 1, 2].map(|_| Buffer::zeros(&s, Dtype::I32, &[4]).unwrap());
    let mut recording = Recording::new(&device);
    recording.launch(&set, &args![&x, 4]).unwrap();
    recording.launch(&next, &args![&y, &x]).unwrap();
    recording.copy(&y, &z).unwrap();
    let mut graph = recording.finish().unwrap();
    let calls = Profiler::new(&device, Detail::Calls).unwrap();
    let steps = Profiler::new(&device, Detail::Steps).unwrap();
    let attached = [calls.attach(&s).unwrap(), steps.attach(&s).unwrap()];
    graph.launch(&s).unwrap();
    assert_eq!(z.to_vec::<i32>(&s).unwrap(), [5; 4]);
    drop(attached);
    s.synchronize().unwrap();
    let expected = ["call set + next", "Download 16"];
    assert_eq!(words(&calls.take().unwrap()), expected);
    let spans = steps.take().unwrap();
    check(&spans);
    let names: Vec<String> = spans.iter().map(word).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names[3].contains("copy"), "{names:?}");
    let totals = step_totals(&spans);
    let kernels: Vec<&str> = totals.iter().map(|t| &*t.step.kernel).collect();
    assert_eq!(kernels[..2], ["set", "next"]);
    assert_eq!(totals[2].bytes, 16);
}

#[test]
fn whichever_call_fails_it_is_an_error_and_nothing_leaks() {
    let program = |device: &Device, artifact: &Artifact| -> Result<usize, Error> {
        let counted = device.load(artifact)?.kernel("counted")?;
        let s = device.stream(Priority::Normal)?;
        let profiler = Profiler::new(device, Detail::Steps)?;
        let _attached = profiler.attach(&s)?;
        let [a, never] = [0, 1].map(|_| Buffer::zeros(&s, Dtype::I32, &[1]));
        let (a, never) = (a?, never?);
        let flag = Buffer::from_slice(&s, &[2])?;
        counted.launch(&s, &args![&a, &flag, &never])?;
        s.synchronize()?;
        Ok(profiler.take()?.len())
    };
    let calls = {
        let (device, log, artifact) = counted(Mood::default());
        assert_eq!(program(&device, &artifact).unwrap(), 8);
        log.calls().len()
    };
    for is_lost in [false, true] {
        for at in 0..calls {
            let (device, log, artifact) = counted(Mood {
                fails: Some((at, is_lost)),
                ..Mood::default()
            });
            let done = program(&device, &artifact);
            let fails_silently = matches!(log.calls().get(at), Some(&"free" | &"close_stream"));
            assert!(done.is_err() || fails_silently, "call {at}: {done:?}");
            assert_eq!(device.memory().live, 0, "call {at}");
            if !is_lost {
                assert_eq!(program(&device, &artifact).unwrap(), 8, "call {at}");
            }
        }
    }
}
