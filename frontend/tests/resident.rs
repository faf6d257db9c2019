//! Arrays that stay on the device, between kernels and between calls.

mod common;

use common::{load, open};
use qd_frontend::{
    Dtype, Element, args,
    objects::{
        Allocate, Allocator, Arg, Buffer, Device, DeviceOptions, Pinned, Priority, Recording,
        Stream,
    },
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

const SORT: &str = include_str!("../examples/kernels/sort.mlir");
const FILL: &str = include_str!("../examples/kernels/fill.mlir");

#[test]
fn keys_are_sorted_where_they_are() {
    let (device, stream) = open(Some(2));
    let sort = load(&device, SORT).kernel("sort").expect("there");
    for length in [0, 1, 2, 255, 4097, 100_003_u32] {
        let (host, keys, n) = keys(&stream, length);
        let tmp = Buffer::new(&stream, Dtype::U32, keys.shape()).expect("memory");
        let slots = sort.minimum("scratch", &args![&keys, &tmp, _, &n]);
        let slots = slots.expect("known");
        let shape = args![Arg::Shape(keys.shape()), _, _, _];
        assert_eq!(sort.minimum("scratch", &shape).expect("known"), slots);
        let scratch = Buffer::new(&stream, Dtype::I32, &[slots]).expect("memory");
        let before = device.memory();
        for _ in 0..3 {
            let launched = sort.launch(&stream, &args![&keys, &tmp, &scratch, &n]);
            launched.expect("runs");
        }
        let after = device.memory();
        assert_eq!(
            (before.uploaded, before.downloaded),
            (after.uploaded, after.downloaded)
        );
        let mut expected = host;
        expected.sort_unstable();
        assert_eq!(keys.to_vec::<u32>(&stream).expect("read"), expected);
        let short = Buffer::new(&stream, Dtype::I32, &[slots.saturating_sub(1)]).expect("memory");
        if slots > 0 {
            let refused = sort.launch(&stream, &args![&keys, &tmp, &short, &n]);
            let error = refused.expect_err("too short").to_string();
            assert!(error.contains("'scratch' must have at least"), "{error}");
        }
    }
}

/// Keys in no order, and how many there are, on a device.
fn keys(stream: &Stream, length: u32) -> (Vec<u32>, Buffer, Buffer) {
    // Knuth's multiplicative hash.
    let host: Vec<u32> = (0..length).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let keys = Buffer::from_slice(stream, &host).expect("memory");
    let n = Buffer::from_slice(stream, &[length as i32]).expect("memory");
    let n = n.cast(Dtype::I32, &[]).expect("one element");
    (host, keys, n)
}

#[test]
fn scratch_that_is_left_out_is_there_as_long_as_it_is_needed() {
    let (device, a) = open(Some(9));
    let b = device.stream(Priority::Normal).expect("a stream");
    let sort = load(&device, SORT).kernel("sort").expect("there");
    for (i, length) in [0, 1, 257, 100_003, 4097, 100_003].into_iter().enumerate() {
        let stream = if i % 2 == 0 { &a } else { &b };
        let (mut host, keys, n) = keys(&a, length);
        let live = device.memory().live;
        sort.launch(stream, &args![&keys, _, _, &n]).expect("runs");
        // Of what is freed others may have the memory at once.
        let next = Buffer::filled(stream, Dtype::U32, keys.shape(), 0xFF).expect("memory");
        host.sort_unstable();
        assert_eq!(keys.to_vec::<u32>(&a).expect("read"), host, "{length} keys");
        drop(next);
        assert_eq!(device.memory().live, live);
    }
    let (_, keys, _) = keys(&a, 3);
    let refused = sort.launch(&a, &args![&keys, _, _, _]);
    let error = refused.expect_err("a count").to_string();
    assert!(
        error.contains("'n' is a buffer i32[], but was given nothing"),
        "{error}"
    );
    let refused = sort.launch(&a, &args![_, _, _, _]);
    let error = refused.expect_err("keys").to_string();
    assert!(
        error.contains("'keys' is a buffer u32[?], but was given nothing"),
        "{error}"
    );
}

#[test]
fn a_recording_makes_scratch_for_what_is_bound() {
    let (device, stream) = open(Some(10));
    let sort = load(&device, SORT).kernel("sort").expect("there");
    let mut recording = Recording::new(&device);
    let [to_sort, number] = ["keys", "n"].map(|name| {
        let kind = &sort.argument(name).expect("there").kind;
        recording.slot(kind)
    });
    let launched = recording.launch(&sort, &args![to_sort, _, _, number]);
    launched.expect("recorded");
    let mut graph = recording.finish().expect("a graph");
    let mut sorted = Vec::new();
    for length in [3, 100_003, 0, 4097, 200_001] {
        let (mut host, keys, n) = keys(&stream, length);
        graph.bind(to_sort, &keys).expect("bound");
        graph.bind(number, &n).expect("bound");
        graph.launch(&stream).expect("runs");
        host.sort_unstable();
        sorted.push((keys, host));
    }
    for (keys, expected) in &sorted {
        assert_eq!(keys.to_vec::<u32>(&stream).expect("read"), *expected);
    }
    drop((graph, sorted));
    stream.synchronize().expect("ends");
    assert_eq!(device.memory().live, 0);
}

#[test]
fn kernels_on_two_streams_share_an_array() {
    let (device, a) = open(None);
    let b = device.stream(Priority::High).expect("a stream");
    let loaded = load(&device, FILL);
    let (fill, add) = (
        loaded.kernel("fill").expect("there"),
        loaded.kernel("add").expect("there"),
    );
    let n = 1000;
    let x = Buffer::new(&a, Dtype::F32, &[2 * n]).expect("memory");
    let y = Buffer::zeros(&b, Dtype::F32, &[2 * n]).expect("memory");
    let halves = [0..n, n..2 * n].map(|rows| x.rows(rows).expect("there are as many"));
    fill.launch(&a, &args![&halves[0], 1f32]).expect("runs");
    fill.launch(&b, &args![&halves[1], 2f32]).expect("runs");
    add.launch(&a, &args![&x, &y]).expect("runs");
    add.launch(&b, &args![&x, &y]).expect("runs");
    drop(x);
    let sums = y.to_vec::<f32>(&a).expect("read");
    let expected = (0..2 * n).map(|i| if i < n { 2.0 } else { 4.0 });
    assert!(sums.into_iter().eq(expected));
}

#[test]
fn the_host_goes_on_while_it_is_read_and_written() {
    let (device, stream) = open(None);
    let beside = device.stream(Priority::Normal).expect("a stream");
    let add = load(&device, FILL).kernel("add").expect("there");
    let n = 3_000_000_usize;
    let sum = Buffer::zeros(&stream, Dtype::F32, &[n as u64]).expect("memory");
    let one = Buffer::new(&stream, Dtype::F32, &[n as u64]).expect("memory");
    let mut host = Pinned::new(&device, 4 * n).expect("memory");
    let mut read = Vec::new();
    for round in 0..4 {
        host.elements_mut::<f32>().fill(1.0);
        let written = one.write_async(&beside, host).expect("written");
        add.launch(&stream, &args![&one, &sum]).expect("runs");
        let to = Pinned::new(&device, 4 * n).expect("memory");
        read.push((round, sum.read_async(&beside, to).expect("read")));
        host = written.wait().expect("written");
    }
    // One without a wait.
    drop(read.pop());
    for (round, pending) in read {
        let values = pending.wait().expect("read");
        let expected = (round + 1) as f32;
        assert!(
            values
                .elements::<f32>()
                .iter()
                .all(|value| *value == expected)
        );
    }
    let empty = sum.rows(0..0).expect("none");
    let none = empty.read_async(&stream, Pinned::new(&device, 0).expect("memory"));
    assert!(none.expect("read").wait().expect("done").is_empty());
    assert!(
        sum.read_async(&stream, host)
            .expect("read")
            .is_done()
            .is_ok()
    );
}

#[test]
fn arrays_are_copied_between_devices() {
    let (device, stream) = open(None);
    let cpu = Device::open(
        &"cpu".parse().expect("a device"),
        &DeviceOptions {
            threads: Some(7),
            ..DeviceOptions::default()
        },
    );
    let cpu = cpu.expect("it opens");
    let here = cpu.stream(Priority::Normal).expect("a stream");
    let [fill, add] = ["fill", "add"].map(|name| load(&device, FILL).kernel(name).expect("there"));
    for n in [0, 1, 1000, (8 << 20) / 4, 3_000_001_u64] {
        let host: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let x = Buffer::from_slice(&here, &host).expect("memory");
        let y = Buffer::new(&stream, Dtype::F32, &[n]).expect("memory");
        let one = Buffer::new(&stream, Dtype::F32, &[n]).expect("memory");
        fill.launch(&stream, &args![&y, -1f32]).expect("runs");
        fill.launch(&stream, &args![&one, 1f32]).expect("runs");
        // After what fills it, and before what adds to it.
        x.copy_to(&here, &y).expect("copied");
        add.launch(&stream, &args![&one, &y]).expect("runs");
        y.copy_to(&stream, &x).expect("copied");
        let read = x.to_vec::<f32>(&here).expect("read");
        let wrong = (0..n as usize).find(|i| read[*i] != host[*i] + 1.0);
        assert_eq!(wrong, None, "{n} elements");
    }
}

/// Gives parts of an array one after the other, and takes none back.
struct Parts {
    of: Buffer,
    given: AtomicU64,
}

// Safety: parts of an unused array, of which none is given twice.
unsafe impl Allocate for Parts {
    fn allocate(&self, bytes: u64, _: u64) -> Option<u64> {
        let bytes = bytes.next_multiple_of(256);
        let at = self.given.fetch_add(bytes, Ordering::Relaxed);
        (at + bytes <= self.of.bytes()).then(|| self.of.address() + at)
    }

    fn free(&self, address: u64, bytes: u64, _: u64) {
        let end = self.of.address() + self.given.load(Ordering::Relaxed);
        assert!(address >= self.of.address() && address + bytes <= end);
    }
}

#[test]
fn arrays_are_in_memory_of_somebody_elses_allocator() {
    let (owner, stream) = open(Some(8));
    let of = Buffer::new(&stream, Dtype::U8, &[16 << 20]).expect("memory");
    stream.synchronize().expect("it is there");
    let given = AtomicU64::new(0);
    let parts = Arc::new(Parts { of, given });
    let options = |parts: Arc<Parts>| DeviceOptions {
        allocator: Some(Allocator::new(parts)),
        ..DeviceOptions::default()
    };
    let id = &owner.info().id;
    let opened = Device::open(id, &options(parts.clone()));
    if id.driver == "vulkan" {
        let error = opened.expect_err("refused").to_string();
        assert!(error.contains("takes no memory of an allocator"), "{error}");
        return;
    }
    let device = opened.expect("it opens");
    assert!(device == Device::open(id, &options(parts.clone())).expect("it is open"));
    let stream = device.stream(Priority::Normal).expect("a stream");
    let loaded = load(&device, FILL);
    let (fill, add) = (loaded.kernel("fill"), loaded.kernel("add"));
    let [x, y] = [0, 1].map(|_| Buffer::new(&stream, Dtype::F32, &[1000]).expect("memory"));
    let within = parts.of.address()..parts.of.address() + parts.of.bytes();
    assert!(within.contains(&x.address()) && within.contains(&y.address()));
    for array in [&x, &y] {
        let fill = fill.as_ref().expect("there");
        fill.launch(&stream, &args![array, 2f32]).expect("runs");
    }
    let added = add.expect("there").launch(&stream, &args![&x, &y]);
    added.expect("runs");
    assert_eq!(y.to_vec::<f32>(&stream).expect("read"), [4f32; 1000]);
    assert_eq!(device.memory().live, 8000);
    let refused = Buffer::new(&stream, Dtype::U8, &[16 << 20]);
    let error = refused.expect_err("no room").to_string();
    assert!(error.contains("16777216 bytes were requested"), "{error}");
    drop((x, y));
    assert_eq!(device.memory().live, 0);
}

#[test]
fn memory_that_nobody_uses_is_given_back() {
    let (device, stream) = open(Some(5));
    let bytes = 64 << 20;
    let x = Buffer::zeros(&stream, Dtype::U8, &[bytes]).expect("memory");
    let memory = device.memory();
    assert_eq!(memory.live, bytes);
    assert!(memory.reserved >= bytes, "{memory:?}");
    drop(x);
    stream.synchronize().expect("ends");
    device.trim(0).expect("given back");
    let memory = device.memory();
    assert_eq!((memory.live, memory.reserved), (0, 0));
    let x = Buffer::from_slice(&stream, &[1_u8, 2]).expect("memory");
    assert_eq!(x.to_vec::<u8>(&stream).expect("read"), [1, 2]);
}

#[test]
fn more_memory_than_there_is_is_an_error_that_says_how_much() {
    let (device, stream) = open(Some(6));
    let bytes = 1_u64 << 60;
    let refused = Buffer::new(&stream, Dtype::U8, &[bytes]);
    let error = refused.expect_err("too much").to_string();
    assert!(
        error.contains(&format!("{bytes} bytes were requested")),
        "{error}"
    );
    assert_eq!(device.memory().live, 0);
    Buffer::zeros(&stream, Dtype::U8, &[1000]).expect("memory");
}

const COUNT_DOWN: &str = r#"
qd.grid.kernel @collatz(%n: memref<i32> {qd.name = "n"}, %steps: memref<i32> {qd.name = "steps"},
                        %goes_on: memref<i32> {qd.name = "goes_on"}) {
  %one = arith.constant 1 : index
  qd.grid.do_while %goes_on : memref<i32> {
    qd.grid.phase blocks(%one) threads(64) {
      %i = qd.simt.block.thread_id
      %zero = arith.constant 0 : index
      %is_first = arith.cmpi eq, %i, %zero : index
      scf.if %is_first {
        %unit = arith.constant 1 : i32
        %three = arith.constant 3 : i32
        %x = memref.load %n[] : memref<i32>
        %bit = arith.andi %x, %unit : i32
        %is_odd = arith.cmpi eq, %bit, %unit : i32
        %half = arith.shrui %x, %unit : i32
        %triple = arith.muli %x, %three : i32
        %up = arith.addi %triple, %unit : i32
        %y = arith.select %is_odd, %up, %half : i32
        memref.store %y, %n[] : memref<i32>
        %s = memref.load %steps[] : memref<i32>
        %t = arith.addi %s, %unit : i32
        memref.store %t, %steps[] : memref<i32>
        %more = arith.cmpi ne, %y, %unit : i32
        %flag = arith.extui %more : i1 to i32
        memref.store %flag, %goes_on[] : memref<i32>
      }
    }
  }
}"#;

#[test]
fn loops_go_round_with_other_arrays_each_time() {
    let (device, stream) = open(None);
    let collatz = load(&device, COUNT_DOWN).kernel("collatz").expect("there");
    let cell = |value: i32| {
        let cell = Buffer::from_slice(&stream, &[value]).expect("memory");
        cell.cast(Dtype::I32, &[]).expect("one element")
    };
    // Steps to 1, by hand: 3 10 5 16 8 4 2 1; 111 steps from 27 on.
    for (from, steps) in [(3, 7), (27, 111), (2, 1), (6, 8)] {
        let (n, count, goes_on) = (cell(from), cell(0), cell(1));
        collatz
            .launch(&stream, &args![&n, &count, &goes_on])
            .expect("runs");
        assert_eq!(
            count.to_vec::<i32>(&stream).expect("read"),
            [steps],
            "from {from}"
        );
    }
}

/// Fills of a range, of elements of each size.
fn fills(ty: &str, value: &str) -> String {
    format!(
        r#"qd.grid.kernel @part(%x: memref<?x{ty}> {{qd.name = "x"}}, %from: index, %to: index) {{
             %value = arith.constant {value} : {ty}
             qd.grid.fill %x[%from to %to] = %value : memref<?x{ty}>
           }}"#
    )
}

fn filled<T: Element + Default + PartialEq + std::fmt::Debug>(ty: &str, value: T, text: &str) {
    let (device, stream) = open(None);
    let part = load(&device, &fills(ty, text))
        .kernel("part")
        .expect("there");
    let n = 2_000_001;
    for (from, to) in [(0, n), (1, 2), (3, 3), (7, 1_500_000)] {
        let x = Buffer::zeros(&stream, T::DTYPE, &[n]).expect("memory");
        part.launch(&stream, &args![&x, from as i64, to as i64])
            .expect("runs");
        let read = x.to_vec::<T>(&stream).expect("read");
        let expected = |i: u64| {
            if (from..to).contains(&i) {
                value
            } else {
                T::default()
            }
        };
        let wrong = (0..n).find(|i| read[*i as usize] != expected(*i));
        assert_eq!(wrong, None, "{ty}, {from} to {to}");
    }
}

#[test]
fn fills_set_every_element_of_a_range_and_no_more() {
    filled("i32", 305_419_896_i32, "305419896");
    filled("i64", 81_985_529_216_486_895_i64, "81985529216486895");
    filled("f64", 1.5_f64, "1.5");
}
