//! A trace as a viewer reads it: host calls by thread and what streams did by stream, on one clock.

use qd_artifact::{
    Argument, ArgumentKind, Artifact, BufferRef, Dtype, Expr, Kernel, Plan, Step, StepKind,
};
use qd_runtime::{
    args,
    objects::{Buffer, Detail, Device, DeviceOptions, Priority, Profiler, Stream},
};
use qd_trace::Slice;
use serde_json::Value;
use std::{
    collections::HashMap,
    fs, thread,
    time::{Duration, Instant},
};

const PAUSE: Duration = Duration::from_millis(100);

/// A kernel of two fills, which needs no code.
fn fills() -> Artifact {
    let kind = ArgumentKind::Buffer {
        dtype: Dtype::I32,
        shape: vec![None],
    };
    let fill = |id, after: &[u64], value| Step {
        id,
        after: after.to_vec(),
        kind: StepKind::Fill {
            buffer: BufferRef {
                argument: 0,
                view: None,
            },
            lower: Expr::constant(0),
            upper: Expr::Length(0, 0),
            value: Expr::constant(value),
        },
    };
    Artifact {
        targets: vec!["cpu".into()],
        kernels: vec![Kernel {
            name: "fills".into(),
            arguments: vec![Argument::new("a", kind)],
            plans: vec![Some(Plan {
                steps: vec![fill(0, &[], 1), fill(1, &[0], 2)],
                ..Plan::default()
            })],
        }],
        modules: Vec::new(),
        ..Artifact::default()
    }
}

fn number(event: &Value, name: &str) -> f64 {
    event[name]
        .as_f64()
        .unwrap_or_else(|| panic!("no {name}: {event}"))
}

#[test]
fn host_calls_and_streams_are_rows_of_one_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let begin = Instant::now();
    let guard = qd_trace::init(Some(&path));
    let device = Device::open(&"cpu".parse().unwrap(), &DeviceOptions::default()).unwrap();
    let fills = device.load(&fills()).unwrap().kernel("fills").unwrap();
    thread::sleep(PAUSE);
    let profiler = Profiler::new(&device, Detail::Steps).unwrap();
    let streams: Vec<Stream> = (0..2)
        .map(|_| device.stream(Priority::Normal).unwrap())
        .collect();
    let attached: Vec<_> = streams
        .iter()
        .map(|s| profiler.attach(s).unwrap())
        .collect();
    let x = Buffer::zeros(&streams[0], Dtype::I32, &[1000]).unwrap();
    for s in [0, 1, 0] {
        thread::sleep(PAUSE);
        fills.launch(&streams[s], &args![&x]).unwrap();
    }
    assert_eq!(x.to_vec::<i32>(&streams[1]).unwrap(), [2; 1000]);
    streams.iter().for_each(|s| s.synchronize().unwrap());
    drop(attached);
    let spans = profiler.take().unwrap();
    for span in &spans {
        let slice = Slice {
            name: span.name(),
            start: profiler.made() + span.start,
            duration: span.duration,
            details: span.details(),
        };
        guard.add("cpu", &format!("stream {}", span.stream), [slice]);
    }
    assert!(guard.is_tracing());
    drop(guard);
    let whole = begin.elapsed().as_secs_f64() * 1e6;

    let text = fs::read_to_string(&path).expect("a trace");
    let events: Vec<Value> = serde_json::from_str(&text).expect("a list of events");
    let mut names = HashMap::new();
    let mut rows: HashMap<(u64, u64), Vec<&Value>> = HashMap::new();
    let mut open: HashMap<u64, Vec<&str>> = HashMap::new();
    for event in &events {
        let ph = event["ph"].as_str().expect("what it is");
        let row = (
            event["pid"].as_u64().unwrap(),
            event["tid"].as_u64().unwrap(),
        );
        let name = event["name"].as_str().expect("a name");
        match ph {
            "M" => _ = names.insert((name, row), event["args"]["name"].as_str().unwrap()),
            "B" => open.entry(row.1).or_default().push(name),
            "E" => assert_eq!(open.get_mut(&row.1).and_then(Vec::pop), Some(name)),
            "X" => rows.entry(row).or_default().push(event),
            other => assert_eq!(other, "i"),
        }
        if ph != "M" {
            let ts = number(event, "ts");
            assert!((0.0..=whole).contains(&ts), "{ts} of {whole}");
        }
    }
    assert!(open.values().all(Vec::is_empty), "what begins ends");
    // Host calls are the process's, by thread.
    let host = events.iter().filter(|e| e["pid"] == 1 && e["ph"] == "B");
    let launches: Vec<_> = host.clone().filter(|e| e["name"] == "launch").collect();
    assert_eq!(launches.len(), 3);
    assert_eq!(host.clone().filter(|e| e["name"] == "wait").count(), 2);
    assert!(host.clone().any(|e| e["name"] == "copy"));
    // Nothing is lost, each stream has its row, and what is in a row does not overlap.
    assert_eq!(rows.values().map(Vec::len).sum::<usize>(), spans.len());
    assert_eq!(rows.len(), 2);
    assert_eq!(names[&("process_name", (2, 0))], "cpu");
    let mut calls: Vec<&Value> = Vec::new();
    for (row, slices) in &rows {
        assert!(names[&("thread_name", *row)].starts_with("stream "));
        let end = |e: &Value| number(e, "ts") + number(e, "dur");
        for (i, a) in slices.iter().enumerate() {
            for b in &slices[i + 1..] {
                let is_in = a["name"] == "fills" && end(b) <= end(a) + 0.002;
                assert!(end(a) <= number(b, "ts") + 0.002 || is_in, "{a} and {b}");
            }
        }
        calls.extend(slices.iter().copied().filter(|e| e["name"] == "fills"));
        let steps = slices.iter().filter(|e| e["args"]["kernel"] == "fills");
        assert!(steps.clone().all(|e| e["args"]["bytes"] == "4000"));
        assert_eq!(
            steps.count(),
            2 * slices.iter().filter(|e| e["name"] == "fills").count()
        );
    }
    // One clock: the host waited longer before the profiler and between the calls than it may be
    // wrong by, on a machine that does other things.
    calls.sort_by(|a, b| number(a, "ts").total_cmp(&number(b, "ts")));
    assert_eq!(calls.len(), 3);
    for (call, launch) in calls.iter().zip(&launches) {
        let after = number(call, "ts") - number(launch, "ts");
        assert!(after.abs() < 1e6 * PAUSE.as_secs_f64() / 2.0, "{after} µs");
    }
}
