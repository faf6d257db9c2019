//! A Vulkan device through the objects, and its use of memory.

use super::*;
use crate::{
    args,
    objects::{
        Event, Recording,
        driver::{Driver as _, Fault},
    },
    vulkan::{
        memory::Memory,
        pool::Pool,
        timeline::{Point, Timeline},
        words::fault,
    },
};
use ash::vk;
use qd_artifact::Access;
use std::{sync::atomic::AtomicBool, time::Duration};

/// The best device, whose arrays are copied in either way.
fn opened(test: &str) -> Vec<(Arc<Device>, Opened)> {
    let Some(device) = device(test) else {
        return Vec::new();
    };
    let open = |copies| (device.clone(), Opened::of(Box::new(raw(copies))));
    [Copies::Direct, Copies::Staged].map(open).into()
}

fn stream(device: &Opened) -> Stream {
    device.stream(Priority::Normal).expect("a stream")
}

fn blocks_of(argument: usize, step: Step) -> Step {
    match step.kind {
        StepKind::Launch {
            body,
            name,
            threads,
            arguments,
            ..
        } => super::step(StepKind::Launch {
            body,
            name,
            blocks: Expr::Scalar(argument),
            threads,
            dynamic_shared_bytes: 0,
            arguments,
        }),
        kind => super::step(kind),
    }
}

fn number(name: &str) -> Parameter {
    parameter(name, ArgumentKind::Scalar { dtype: Dtype::I32 })
}

fn input(name: &str) -> Parameter {
    Parameter {
        access: Access::Read,
        ..array(name, Dtype::I32)
    }
}

fn memory(argument: usize) -> BufferRef {
    BufferRef {
        argument,
        view: None,
    }
}

fn executable(device: &Device, opened: &Opened) -> Executable {
    let triple = launch(
        device,
        "triple",
        1,
        vec![whole(0), whole(1), Operand::Scalar(Expr::Scalar(3))],
    );
    let blocks = launch(device, "blocks", 0, vec![whole(0), whole(1)]);
    let count = launch(device, "count_down", 1, vec![whole(0), whole(1)]);
    let fill = |from, to, value| {
        step(StepKind::Fill {
            buffer: memory(0),
            lower: Expr::Scalar(from),
            upper: Expr::Scalar(to),
            value: Expr::Scalar(value),
        })
    };
    let repeat = step(StepKind::DoWhile {
        flag: whole(0),
        steps: vec![count.clone()],
    });
    let around = step(StepKind::DoWhile {
        flag: whole(2),
        steps: vec![
            step(StepKind::If {
                condition: whole(0),
                steps: vec![repeat.clone()],
            }),
            launch(device, "count_down", 1, vec![whole(2), whole(3)]),
        ],
    });
    let kernels = vec![
        kernel(
            "triple",
            vec![
                array("to", Dtype::I32),
                input("from"),
                number("blocks"),
                number("add"),
            ],
            vec![blocks_of(2, triple)],
        ),
        kernel(
            "blocks",
            vec![array("out", Dtype::I32), cell("sum"), number("blocks")],
            vec![blocks_of(2, blocks)],
        ),
        kernel("repeat", vec![cell("flag"), cell("count")], vec![repeat]),
        kernel(
            "nested",
            vec![cell("flag"), cell("count"), cell("outer"), cell("rounds")],
            vec![around],
        ),
        kernel(
            "fill",
            vec![
                array("x", Dtype::I32),
                number("from"),
                number("to"),
                number("value"),
            ],
            vec![fill(1, 2, 3)],
        ),
    ];
    let artifact = artifact(device, bodies(device), kernels);
    opened.load(&artifact).expect("a module for this device")
}

/// A point that a stream comes to when this is dropped, also by a test that fails.
struct Gate(Point);

impl Drop for Gate {
    fn drop(&mut self) {
        self.0.open();
    }
}

fn read(on: &Stream, from: &Buffer) -> Vec<i32> {
    from.to_vec(on).expect("read")
}

#[test]
fn streams_that_share_an_array_are_in_the_order_of_the_calls() {
    for (device, opened) in opened("streams_that_share_an_array_are_in_the_order_of_the_calls") {
        let triple = executable(&device, &opened)
            .kernel("triple")
            .expect("there");
        let n = u64::from(threads(&device)) * 64;
        let [a, b] = [stream(&opened), stream(&opened)];
        let x = Buffer::from_slice(&a, &vec![0; n as usize]).expect("memory");
        let y = Buffer::new(&b, Dtype::I32, &[n]).expect("memory");
        let mut expected = 0_i32;
        for i in 0..50 {
            triple.launch(&a, &args![&y, &x, 64, i]).expect("runs");
            triple.launch(&b, &args![&x, &y, 64, 1]).expect("runs");
            expected = expected.wrapping_mul(3).wrapping_add(i);
            expected = expected.wrapping_mul(3).wrapping_add(1);
        }
        drop(y);
        assert_eq!(read(&a, &x), vec![expected; n as usize]);
    }
}

#[test]
fn memory_is_used_again_behind_its_last_use() {
    if device("memory_is_used_again_behind_its_last_use").is_none() {
        return;
    }
    let driver = raw(Copies::Direct);
    let [a, b] = [0, 1].map(|_| driver.open_stream(false).expect("a stream"));
    let bytes = 1 << 20;
    let allocate = |on| driver.allocate(bytes, on).expect("memory");
    let first = allocate(a);
    // A stream that waits is one that has not come to the end of what is on it.
    let gate = Gate(driver.gate(a));
    driver.set(a, first.address, bytes, 0).expect("cleared");
    driver.free(first, a);
    let other = allocate(b);
    assert_ne!(other.address, first.address, "in use on the other stream");
    let again = allocate(a);
    assert_eq!(again.address, first.address, "behind its use on its stream");
    driver.free(again, a);
    drop(gate);
    driver.synchronize(a).expect("done");
    let third = allocate(b);
    assert_eq!(third.address, first.address, "done with");
    for memory in [other, third] {
        driver.free(memory, b);
    }
}

#[test]
fn memory_of_many_sizes_is_whole_again_when_it_is_freed() {
    if device("memory_of_many_sizes_is_whole_again_when_it_is_freed").is_none() {
        return;
    }
    let driver = raw(Copies::Direct);
    let stream = driver.open_stream(false).expect("a stream");
    let mut random = 1_u64;
    let mut held = Vec::new();
    let (mut live, mut most, mut held_most) = (0, 0, 0);
    for _ in 0..100_000 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let bytes = 1 << (random >> 60);
        let bytes = bytes * 1024 + (random >> 40) % (bytes * 1024);
        let memory = driver.allocate(bytes, stream).expect("memory");
        live += bytes;
        held.push(memory);
        most = most.max(live);
        if held.len() > 40 {
            let memory = held.swap_remove((random >> 33) as usize % held.len());
            live -= memory.bytes;
            driver.free(memory, stream);
        }
        held_most = held_most.max(driver.reserved().expect("known"));
    }
    assert!(
        held_most <= most + most / 10,
        "{held_most} bytes for {most}"
    );
    for memory in held {
        driver.free(memory, stream);
    }
    // Each block is one part again, in whichever order they were freed.
    driver.synchronize(stream).expect("done");
    driver.trim(0).expect("given back");
    assert_eq!(driver.reserved(), Some(0));
}

#[test]
fn the_number_of_blocks_is_that_of_each_call() {
    for (device, opened) in opened("the_number_of_blocks_is_that_of_each_call") {
        let blocks = executable(&device, &opened)
            .kernel("blocks")
            .expect("there");
        let on = stream(&opened);
        let most = 140_000_usize;
        for count in [3_i32, 0, 65_535, 65_536, 1, 140_000, 0, 3] {
            let out = Buffer::from_slice(&on, &vec![-1; most + 1]).expect("memory");
            let sum = cell_of(&on, 0);
            // As it is, and the same call again.
            for _ in 0..2 {
                blocks.launch(&on, &args![&out, &sum, count]).expect("runs");
            }
            let mut expected = vec![-1; most + 1];
            for (to, block) in expected.iter_mut().zip(0..count) {
                *to = block + count;
            }
            assert!(read(&on, &out) == expected, "{count} blocks");
            assert_eq!(read(&on, &sum), [2 * count]);
        }
    }
}

#[test]
fn calls_with_other_words_may_be_under_way_together() {
    for (device, opened) in opened("calls_with_other_words_may_be_under_way_together") {
        let triple = executable(&device, &opened)
            .kernel("triple")
            .expect("there");
        let on = stream(&opened);
        let n = u64::from(threads(&device));
        let from = Buffer::from_slice(&on, &vec![1; n as usize]).expect("memory");
        let all = Buffer::new(&on, Dtype::I32, &[100 * n]).expect("memory");
        for i in 0..100 {
            let part = all.rows(i * n..(i + 1) * n).expect("there are as many");
            triple
                .launch(&on, &args![&part, &from, 1, i as i32])
                .expect("runs");
        }
        let expected = (0..100).flat_map(|i| vec![3 + i; n as usize]);
        assert!(read(&on, &all).into_iter().eq(expected));
    }
}

#[test]
fn the_host_looks_whether_loops_go_on() {
    for (device, opened) in opened("the_host_looks_whether_loops_go_on") {
        let loaded = executable(&device, &opened);
        assert!(!opened.info().decides);
        let on = stream(&opened);
        let repeat = loaded.kernel("repeat").expect("there");
        for rounds in [1, 2, 17] {
            let (flag, count) = (cell_of(&on, rounds), cell_of(&on, 0));
            repeat.launch(&on, &args![&flag, &count]).expect("runs");
            assert_eq!(read(&on, &count), [rounds]);
        }
        // In the inner loop the flag comes to 0, so that the `if` around it holds once.
        let nested = loaded.kernel("nested").expect("there");
        for (inner, outer, counted) in [(5, 3, 5), (0, 4, 0)] {
            let cells = [inner, 0, outer, 0].map(|value| cell_of(&on, value));
            let [flag, count, around, rounds] = &cells;
            nested
                .launch(&on, &args![flag, count, around, rounds])
                .expect("runs");
            assert_eq!(read(&on, count), [counted]);
            assert_eq!(read(&on, rounds), [outer]);
        }
    }
}

#[test]
fn a_loop_that_goes_on_too_long_is_an_error_and_the_next_call_works() {
    for (device, opened) in opened("a_loop_that_goes_on_too_long_is_an_error") {
        let repeat = executable(&device, &opened)
            .kernel("repeat")
            .expect("there");
        let on = stream(&opened);
        let (flag, count) = (cell_of(&on, 10), cell_of(&on, 0));
        let options = LaunchOptions {
            max_iterations: Some(4),
        };
        let error = repeat.launch_with(&on, &args![&flag, &count], &options);
        assert_eq!(
            error.expect_err("too long").to_string(),
            "kernel 'repeat': a loop was still running after 4 iterations"
        );
        assert_eq!(read(&on, &count), [4]);
        repeat.launch(&on, &args![&flag, &count]).expect("runs");
        assert_eq!(read(&on, &count), [10]);
    }
}

#[test]
fn a_call_on_arrays_that_are_there_copies_nothing_and_allocates_nothing() {
    for (device, opened) in opened("a_call_on_arrays_that_are_there_copies_nothing") {
        let triple = executable(&device, &opened)
            .kernel("triple")
            .expect("there");
        let on = stream(&opened);
        let [x, y, z] = [0, 1, 2].map(|i| Buffer::from_slice(&on, &[i; 8]).expect("memory"));
        triple.launch(&on, &args![&y, &x, 1, 1]).expect("runs");
        let before = opened.memory();
        for _ in 0..20 {
            triple.launch(&on, &args![&y, &x, 1, 1]).expect("runs");
            triple.launch(&on, &args![&z, &x, 1, 2]).expect("runs");
        }
        assert_eq!(opened.memory(), before);
        assert_eq!((read(&on, &y), read(&on, &z)), (vec![1; 8], vec![2; 8]));
    }
}

#[test]
fn parts_of_bytes_are_cleared_copied_and_filled() {
    for (device, opened) in opened("parts_of_bytes_are_cleared_copied_and_filled") {
        let fill = executable(&device, &opened).kernel("fill").expect("there");
        let on = stream(&opened);
        // More than is staged at a time.
        let bytes: Vec<u8> = (0..9_000_001_u32)
            .map(|i| (i * 7 + i / 256) as u8)
            .collect();
        let x = Buffer::from_slice(&on, &bytes).expect("memory");
        assert!(x.to_vec::<u8>(&on).expect("read") == bytes);
        let part = |from, to| x.rows(from..to).expect("there are as many");
        part(5, 4_500_000)
            .copy_to(&on, &part(4_500_001, 8_999_996))
            .expect("copied");
        let mut expected = bytes;
        expected.copy_within(5..4_500_000, 4_500_001);
        assert!(x.to_vec::<u8>(&on).expect("read") == expected);
        for bytes in [0, 1, 3, 4, 7, 8, 1001] {
            let zeros = Buffer::zeros(&on, Dtype::U8, &[bytes]).expect("memory");
            assert!(zeros.to_vec::<u8>(&on).expect("read") == vec![0; bytes as usize]);
        }
        let y = Buffer::from_slice(&on, &vec![1; 20_000]).expect("memory");
        for (from, to) in [(0, 1), (1, 4097), (4096, 12_288), (7, 7), (19_999, 20_000)] {
            fill.launch(&on, &args![&y, from, to, from + 2])
                .expect("runs");
            let filled = read(&on, &y);
            let part = &filled[from as usize..to as usize];
            assert!(
                part.iter().all(|value| *value == from + 2),
                "{from} to {to}"
            );
        }
        assert_eq!(read(&on, &y)[12_288..19_999], [1; 7711]);
    }
}

#[test]
fn bytes_are_set_and_no_others() {
    if device("bytes_are_set_and_no_others").is_none() {
        return;
    }
    for copies in [Copies::Direct, Copies::Staged] {
        let driver = raw(copies);
        let on = driver.open_stream(false).expect("a stream");
        let memory = driver.allocate(32, on).expect("memory");
        for from in 0..6 {
            for to in from..20 {
                driver.upload(on, memory.address, &[7; 32]).expect("copied");
                let (at, value) = (memory.address + from, (to * 13) as u8);
                driver.set(on, at, to - from, value).expect("set");
                let mut bytes = [0; 32];
                driver
                    .download(on, memory.address, &mut bytes)
                    .expect("copied");
                let mut expected = [7; 32];
                expected[from as usize..to as usize].fill(value);
                assert_eq!(bytes, expected, "{from} to {to}");
            }
        }
        driver.free(memory, on);
    }
}

#[test]
fn more_memory_than_there_is_is_an_error_and_the_next_allocation_works() {
    for (_, opened) in opened("more_memory_than_there_is_is_an_error") {
        let on = stream(&opened);
        let error = Buffer::new(&on, Dtype::U8, &[1 << 60]).expect_err("too much");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        assert_eq!(opened.memory().live, 0);
        Buffer::zeros(&on, Dtype::U8, &[1000]).expect("memory");
    }
}

#[test]
fn where_there_is_no_room_what_is_freed_is_waited_for() {
    let Some(device) = device("where_there_is_no_room_what_is_freed_is_waited_for") else {
        return;
    };
    const ROOM: u64 = 1 << 20;
    let is_full = Arc::new(AtomicBool::new(false));
    let pool = {
        let (device, is_full) = (device.clone(), is_full.clone());
        Pool::new(ROOM, u64::MAX, move |bytes| {
            match is_full.load(Ordering::Relaxed) {
                true => Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY.into()),
                false => Memory::new(&device, bytes, Copies::Direct),
            }
        })
    };
    let address = |bytes| pool.allocate(bytes, None).map_err(|_| "refused");
    let first = address(ROOM).expect("room for one");
    is_full.store(true, Ordering::Relaxed);
    assert_eq!(address(ROOM), Err("refused"));
    let timeline = Arc::new(Timeline::new(&device, 0).expect("a semaphore"));
    let gate = Gate(Point { timeline, value: 1 });
    pool.free(first, ROOM, vec![gate.0.clone()]);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| address(ROOM));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!waits.is_finished(), "it is in use");
        drop(gate);
        assert_eq!(waits.join().expect("no panic"), Ok(first));
    });
    pool.free(first, ROOM, Vec::new());
    assert_eq!(address(2 * ROOM), Err("refused"), "more than there is");
    is_full.store(false, Ordering::Relaxed);
    assert!(address(2 * ROOM).is_ok());
}

#[test]
fn a_device_that_is_lost_is_replaced() {
    let Some(lost) = device("a_device_that_is_lost_is_replaced") else {
        return;
    };
    let error = vk::Result::ERROR_DEVICE_LOST;
    assert_eq!(lost.noted::<()>(Err(error)), Err(error));
    assert!(matches!(fault(error), Fault::Lost(_)));
    let other = Device::at(0).expect("another one");
    assert!(!Arc::ptr_eq(&lost, &other) && !other.is_lost());
    raw(Copies::Direct).open_stream(false).expect("a stream");
}

#[test]
fn recordings_copy_between_other_arrays_each_time() {
    for (device, opened) in opened("recordings_copy_between_other_arrays_each_time") {
        let triple = executable(&device, &opened)
            .kernel("triple")
            .expect("there");
        let on = stream(&opened);
        let middle = Buffer::new(&on, Dtype::I32, &[7]).expect("memory");
        let out = Buffer::new(&on, Dtype::I32, &[7]).expect("memory");
        let mut recording = Recording::new(&opened);
        let from = recording.slot(&input("from").kind);
        recording.copy(from, &middle).expect("recorded");
        recording
            .launch(&triple, &args![&out, &middle, 1, 5])
            .expect("recorded");
        let mut graph = recording.finish().expect("finished");
        for value in 1..10 {
            let x = Buffer::from_slice(&on, &[value; 9]).expect("memory");
            let part = x.rows(1..8).expect("there are as many");
            graph.bind(from, &part).expect("bound");
            for _ in 0..2 {
                graph.launch(&on).expect("runs");
            }
            assert_eq!(read(&on, &out), [3 * value + 5; 7]);
        }
    }
}

#[test]
fn events_tell_whether_and_when() {
    for (device, opened) in opened("events_tell_whether_and_when") {
        let triple = executable(&device, &opened)
            .kernel("triple")
            .expect("there");
        let on = stream(&opened);
        let x = Buffer::from_slice(&on, &[1; 8]).expect("memory");
        let y = Buffer::new(&on, Dtype::I32, &[8]).expect("memory");
        let begin = on.record().expect("an event");
        for _ in 0..100 {
            triple.launch(&on, &args![&y, &x, 1, 1]).expect("runs");
        }
        let end = on.record().expect("an event");
        end.wait().expect("it happens");
        let done = |event: &Event| event.is_done().expect("known");
        assert!(done(&begin) && done(&end));
        if device.clock.is_some() {
            let [there, back] = [end.since(&begin), begin.since(&begin)].map(|t| t.expect("known"));
            assert!(there > back && back.is_zero(), "{there:?}, {back:?}");
        }
    }
}

#[test]
fn a_target_is_taken_if_its_subgroups_are_the_devices() {
    let Some(device) = device("a_target_is_taken_if_its_subgroups_are_the_devices") else {
        return;
    };
    let driver = raw(Copies::Direct);
    assert!(driver.takes(&driver.info().target.to_string()));
    assert!(driver.takes("vulkan:1.3"));
    for other in ["vulkan:1.3,subgroup=3", "vulkan:7.0", "nvptx:sm_90", "cpu"] {
        assert!(!driver.takes(other), "{other}");
    }
    let opened = Opened::of(Box::new(driver));
    let mut artifact = artifact(&device, bodies(&device), Vec::new());
    artifact.targets = vec!["vulkan:1.3,subgroup=3".into()];
    let Err(error) = opened.load(&artifact) else {
        panic!("loaded");
    };
    let error = error.to_string();
    assert!(
        error.contains("subgroup=3") && error.contains(&opened.target().to_string()),
        "{error}"
    );
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    if device("a_device_that_is_not_there_is_an_error").is_none() {
        return;
    }
    let id = "vulkan:99".parse().expect("a device");
    let Err(error) = Opened::open(&id, &crate::objects::DeviceOptions::default()) else {
        panic!("opened");
    };
    assert!(
        error.to_string().contains("there is no Vulkan device 99"),
        "{error}"
    );
}

#[test]
fn fills_of_other_sizes_are_faults() {
    if device("fills_of_other_sizes_are_faults").is_none() {
        return;
    }
    let fault = raw(Copies::Direct)
        .kernels()
        .fill(3)
        .expect_err("no such fill");
    assert_eq!(fault, Fault::Failed("a fill of elements of 3 bytes".into()));
}

/// What a call costs the host when nothing has changed, and when it has another array each time.
/// Printed and not compared: `cargo test -p qd-runtime calls_of_a_small -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn calls_of_a_small_kernel() {
    let Some((device, opened)) = opened("calls_of_a_small_kernel").into_iter().next() else {
        return;
    };
    let triple = executable(&device, &opened)
        .kernel("triple")
        .expect("there");
    let on = stream(&opened);
    let x = Buffer::from_slice(&on, &[1; 8]).expect("memory");
    let to = [0, 1].map(|_| Buffer::new(&on, Dtype::I32, &[8]).expect("memory"));
    for (what, odd) in [("the same", 0), ("another array", 1)] {
        let mut times = Vec::new();
        for i in 0..10_000 {
            let begin = std::time::Instant::now();
            triple
                .launch(&on, &args![&to[i * odd % 2], &x, 1, 1])
                .expect("runs");
            times.push(begin.elapsed());
            if i % 100 == 99 {
                on.synchronize().expect("ends");
            }
        }
        times.sort();
        println!("{what}: {:?} a call", times[times.len() / 2]);
    }
}
