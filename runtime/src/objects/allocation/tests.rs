//! Order of calls: calls that fail half-way, and calls that the host is still doing.

use super::*;
use crate::{
    args,
    objects::{
        Buffer, DeviceOptions, Foreign, Kernel, Priority, Ready, Recording,
        fake::{Body, Fake, Log, Mood},
        tests::{
            artifact, buffer, fake, input, kernel, launch, next, scalar, set, slice, wait_until,
            whole,
        },
    },
};
use qd_artifact::{BufferRef, Dtype, Expr, Format, Module, Operand, Step, StepKind, Variant};
use std::{
    sync::{
        atomic::{AtomicI32, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

fn streams<const N: usize>(device: &Device) -> [Stream; N] {
    [0; N].map(|_| device.stream(Priority::Normal).unwrap())
}

fn arrays<const N: usize>(on: &Stream) -> [Buffer; N] {
    [0; N].map(|_| Buffer::zeros(on, Dtype::I32, &[4]).unwrap())
}

/// Does something on a device of which the call of that number, of those of a kind, fails although
/// it has been put onto its stream.
fn late<T>(call: &str, number: usize, seed: u64, run: impl Fn(&Device) -> T) -> T {
    let mood = |fails| Mood {
        seed,
        fails,
        is_late: true,
        ..Mood::default()
    };
    let (device, log) = fake(mood(None));
    run(&device);
    let calls = log.calls();
    let mut made = calls.iter().enumerate().filter(|(_, made)| **made == call);
    let (at, _) = made.nth(number).expect("as many calls");
    run(&fake(mood(Some((at, false)))).0)
}

#[test]
fn a_launch_that_fails_is_waited_for_as_it_may_be_on_the_stream() {
    for seed in 0..50 {
        let read = late("replay", 2, seed, |device| {
            let loaded = device.load(&artifact()).unwrap();
            let [set, next] = ["set", "next"].map(|name| loaded.kernel(name).unwrap());
            let [a, b] = streams(device);
            let [x, y] = arrays(&a);
            set.launch(&a, &args![&x, 1]).unwrap();
            // From now on the second stream is ordered after what the first has done so far.
            next.launch(&b, &args![&y, &x]).unwrap();
            let failed = set.launch(&a, &args![&x, 5]);
            next.launch(&b, &args![&y, &x]).unwrap();
            (failed.is_err(), y.to_vec::<i32>(&b).unwrap())
        });
        assert_eq!(read, (true, vec![6; 4]), "seed {seed}");
    }
}

#[test]
fn a_copy_that_fails_is_waited_for_as_it_may_be_on_the_stream() {
    for seed in 0..50 {
        let read = late("copy", 1, seed, |device| {
            let [a, b] = streams(device);
            let [x, y, z] = arrays(&a);
            x.write(&a, &[1, 2, 3, 4]).unwrap();
            y.copy_to(&b, &z).unwrap();
            let failed = x.copy_to(&a, &y);
            (failed.is_err(), y.to_vec::<i32>(&b).unwrap())
        });
        assert_eq!(read, (true, vec![1, 2, 3, 4]), "seed {seed}");
    }
}

#[test]
fn a_graph_whose_launch_fails_is_behind_it() {
    for seed in 0..50 {
        let read = late("replay", 2, seed, |device| {
            let count = device.load(&artifact()).unwrap().kernel("count").unwrap();
            let [a, b] = streams(device);
            let [x] = arrays(&a);
            let mut recording = Recording::new(device);
            recording.launch(&count, &args![&x]).unwrap();
            let mut graph = recording.finish().unwrap();
            graph.launch(&a).unwrap();
            graph.launch(&b).unwrap();
            let failed = graph.launch(&a);
            graph.launch(&b).unwrap();
            (failed.is_err(), x.to_vec::<i32>(&b).unwrap()[0])
        });
        assert_eq!(read, (true, 4), "seed {seed}");
    }
}

#[test]
fn memory_is_freed_behind_its_last_use_whatever_fails() {
    // The launch, and what has the memory's stream wait for it.
    for (call, number) in [("replay", 0), ("record", 1), ("wait", 1)] {
        for seed in 0..50 {
            let read = late(call, number, seed, |device| {
                let next = device.load(&artifact()).unwrap().kernel("next").unwrap();
                let [a, b] = streams(device);
                let x = Buffer::from_slice(&a, &[1, 2, 3, 4]).unwrap();
                let y = Buffer::new(&b, Dtype::I32, &[4]).unwrap();
                let launched = next.launch(&b, &args![&y, &x]);
                assert!(launched.is_ok() || call == "replay");
                drop(x);
                a.synchronize().unwrap();
                let read = y.to_vec::<i32>(&b).unwrap();
                drop(y);
                wait_until(|| device.memory().live == 0);
                read
            });
            assert_eq!(read, [2, 3, 4, 5], "{call}, seed {seed}");
        }
    }
}

#[test]
fn who_must_not_be_beside_a_hosted_call_waits_for_it_and_nobody_else() {
    let (device, log) = fake(Mood::default());
    let [s, t] = streams(&device);
    let [x, y] = [0, 1].map(|_| Buffer::zeros(&s, Dtype::I32, &[64]).unwrap());
    let at_once = |on: &Stream, touch: Touch| {
        let done = try_in_order(&on.0, &[touch], false, |_| Ok(()));
        done.unwrap().is_none()
    };
    let low = x.rows(0..2).unwrap();
    let mut hosted = 0;
    in_order(&s.0, &[low.touch(false)], true, |number| {
        hosted = number;
        for on in [&s, &t] {
            assert!(at_once(on, y.touch(true)), "other memory");
            assert!(at_once(on, x.touch(false)), "it is only read");
            assert!(at_once(on, x.rows(2..4).unwrap().touch(true)));
        }
        // More uses than are remembered one by one.
        for i in 2..2 + MOST_USES as u64 {
            let part = x.rows(i..i + 1).unwrap();
            assert!(at_once(&s, part.touch(false)));
        }
        for on in [&s, &t] {
            assert!(!at_once(on, x.touch(true)));
        }
        // An event is not ordered after what is not on the stream yet.
        t.wait_for(&s.record()?)?;
        assert!(!t.0.has_seen(&s.0, number));
        Ok(())
    })
    .unwrap();
    let waits = log.count("wait");
    assert!(at_once(&t, x.touch(true)));
    assert_eq!(log.count("wait"), waits + 1, "it is behind the hosted call");
    assert!(t.0.has_seen(&s.0, hosted));
}

/// `flag[0] = gate == 0; flag[1] += 1`, and `a[0] = ++control[0]`, which is 0 again when the gate is
/// open.
fn poll(words: &[u64]) {
    // Safety: the word is the address of a gate that outlives the call.
    let gate = unsafe { &*(words[1] as *const AtomicI32) };
    // Safety: the words describe arrays, which nothing else uses meanwhile.
    let [flag, a, control] = [3, 5, 7].map(|first| unsafe { slice(&words[first..]) });
    let is_open = gate.load(Ordering::Acquire) != 0;
    flag[0] = i32::from(!is_open);
    flag[1] += 1;
    control[0] += 1;
    a[0] = control[0];
    if is_open {
        control[0] = 0;
    }
    thread::yield_now();
}

/// Comes to its end when the gate is open.
fn hold(words: &[u64]) {
    // Safety: the word is the address of a gate that outlives the call.
    let gate = unsafe { &*(words[1] as *const AtomicI32) };
    while gate.load(Ordering::Acquire) == 0 {
        thread::yield_now();
    }
}

const BODIES: &[(&str, Body)] = &[("set", set), ("next", next), ("hold", hold), ("poll", poll)];

/// Of the bodies: `until` repeats `poll` until its gate is open, and `either` does so whatever its
/// scalar is, in two shapes.
fn gated(mood: Mood) -> (Device, Log, [Kernel; 4]) {
    let control = Operand::Control { first: 0, words: 1 };
    let polled = launch(1, "poll", vec![whole(0), whole(1), whole(2), control]);
    let flag = BufferRef {
        argument: 1,
        view: None,
    };
    let steps = vec![polled];
    let until = Step {
        id: 0,
        after: Vec::new(),
        kind: StepKind::DoWhile {
            flag: flag.into(),
            steps,
        },
    };
    let held = launch(0, "hold", vec![whole(0)]);
    let arguments = vec![input("gate"), buffer("flag"), buffer("a")];
    let variant = |predicate| Variant {
        kernel: "until".into(),
        predicate,
    };
    let either = Step {
        id: 0,
        after: Vec::new(),
        kind: StepKind::Dispatch {
            variants: vec![variant(Some(Expr::Scalar(3))), variant(None)],
            arguments: vec![whole(0), whole(1), whole(2)],
        },
    };
    let of_either = [arguments.clone(), vec![scalar("which")]].concat();
    let bodies = BODIES.iter().map(|(name, _)| qd_artifact::Body {
        name: (*name).into(),
        wave: 32,
    });
    let mut artifact = artifact();
    artifact.modules = vec![Module::new(0, Format::Object, bodies.collect(), Vec::new())];
    artifact.kernels.retain(|kernel| kernel.name != "count");
    artifact.kernels.extend([
        kernel("hold", vec![input("gate")], 0, vec![held]),
        kernel("until", arguments, 1, vec![until]),
        kernel("either", of_either, 0, vec![either]),
    ]);
    let (fake, log) = Fake::new(mood, BODIES);
    let device = Device::of(Box::new(fake));
    let loaded = device.load(&artifact).unwrap();
    let kernels = ["set", "next", "hold", "either"].map(|name| loaded.kernel(name).unwrap());
    (device, log, kernels)
}

/// A gate as an array.
fn seen(on: &Stream, gate: &AtomicI32) -> Buffer {
    let memory = Foreign {
        address: gate.as_ptr() as u64,
        dtype: Dtype::I32,
        shape: vec![1],
        strides: None,
        read_only: true,
        ready: Ready::Now,
    };
    // Safety: the caller keeps the memory until it is no longer used.
    unsafe { Buffer::import(on, memory, None) }.unwrap()
}

fn wait_for(log: &Log, call: &str) {
    let begin = Instant::now();
    while log.count(call) == 0 {
        assert!(begin.elapsed() < Duration::from_secs(10), "no {call}");
        thread::yield_now();
    }
}

/// Does what must not wait for a gate, and opens it then.
fn before_it_opens(gate: &AtomicI32, what: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel();
        scope.spawn(move || {
            what();
            done.send(()).unwrap();
        });
        let done = is_done.recv_timeout(Duration::from_secs(20));
        gate.store(1, Ordering::Release);
        done.expect("it waits for the gate, or failed");
    });
}

#[test]
fn a_read_holds_up_those_alone_who_write_what_it_reads() {
    let (device, log, [set, next, hold, _]) = gated(Mood::default());
    let [s, t] = streams(&device);
    let [x, y, z] = arrays(&s);
    let gate = AtomicI32::new(0);
    hold.launch(&s, &args![&seen(&s, &gate)]).unwrap();
    thread::scope(|scope| {
        let reader = scope.spawn(|| x.to_vec::<i32>(&s).unwrap());
        wait_for(&log, "download");
        let writer = scope.spawn(|| set.launch(&t, &args![&x, 7]).unwrap());
        thread::sleep(Duration::from_millis(20));
        before_it_opens(&gate, || {
            for on in [&s, &t] {
                set.launch(on, &args![&y, 1]).unwrap();
                next.launch(on, &args![&z, &x]).unwrap();
                on.record().unwrap();
            }
            assert!(!writer.is_finished());
        });
        assert_eq!(reader.join().unwrap(), [0; 4]);
    });
    assert_eq!(x.to_vec::<i32>(&t).unwrap(), [7; 4]);
    assert_eq!(y.to_vec::<i32>(&t).unwrap(), [1; 4]);
}

#[test]
fn a_loop_at_which_the_host_looks_holds_up_those_alone_who_use_its_memory() {
    let (device, log, [set, _, _, either]) = gated(Mood {
        asks_host: true,
        ..Mood::default()
    });
    let [s, t] = streams(&device);
    let [x, first, second, y] = arrays(&s);
    let [flag, other] = arrays(&s);
    let [gate, open] = [0, 1].map(AtomicI32::new);
    let [gate_here, open_here] = [&gate, &open].map(|gate| seen(&s, gate));
    // They have control words in common.
    for which in 0..2 {
        let given = args![&open_here, &other, &second, which];
        either.prepare(&s, &given).unwrap();
    }
    let given = args![&gate_here, &flag, &first, 0];
    thread::scope(|scope| {
        let looping = scope.spawn(|| either.launch(&s, &given));
        wait_for(&log, "replay");
        let writer = scope.spawn(|| set.launch(&t, &args![&first.rows(2..4)?, 7]));
        thread::sleep(Duration::from_millis(20));
        before_it_opens(&gate, || {
            for on in [&s, &t] {
                // Also the same kernel, with control words of its own.
                let given = args![&open_here, &other, &second, 1];
                either.launch(on, &given).unwrap();
                set.launch(on, &args![&y, 1]).unwrap();
                assert_eq!(second.to_vec::<i32>(on).unwrap()[0], 1);
            }
            assert!(!writer.is_finished());
        });
        looping.join().unwrap().unwrap();
        writer.join().unwrap().unwrap();
    });
    let read = |from: &Buffer| from.to_vec::<i32>(&t).unwrap();
    assert_eq!(read(&first), [read(&flag)[1], 0, 7, 7], "all its rounds");
    for on in [&s, &t] {
        let given = args![&gate_here, &flag, &x, 0];
        either.launch(on, &given).unwrap();
        assert_eq!(x.to_vec::<i32>(on).unwrap()[0], 1, "control is clear");
    }
}

#[test]
fn what_the_host_does_is_beside_nothing_that_it_must_not_be_beside() {
    let driver = crate::cpu::device(&"cpu".parse().unwrap(), &DeviceOptions::default());
    let device = Device::of(Box::new(driver.unwrap()));
    let [s] = streams(&device);
    let n = 1 << 14;
    let [x, y] = [0, 1].map(|_| Buffer::zeros(&s, Dtype::I32, &[n]).unwrap());
    thread::scope(|scope| {
        for thread in 0..4 {
            let (x, y, device, s) = (&x, &y, &device, &s);
            scope.spawn(move || {
                // Some have a stream of their own, and some share one.
                let own = device.stream(Priority::Normal).unwrap();
                let on = if thread % 2 == 0 { &own } else { s };
                for round in 0..200 {
                    x.write(on, &vec![1000 * thread + round; n as usize])
                        .unwrap();
                    x.copy_to(on, y).unwrap();
                    let read = y.to_vec::<i32>(on).unwrap();
                    assert!(read.iter().all(|value| *value == read[0]));
                }
            });
        }
    });
}
