//! Errors of arrays that stay on a device, and of cached calls on them. On the device that
//! `QD_DEVICE` names, or this machine.

mod common;

use common::{load, open};
use qd_frontend::{
    Dtype, args,
    objects::{
        Buffer, Device, Foreign, Graph, LaunchOptions, Priority, Ready, Recording, Slot, Stream,
    },
};
use std::thread;

const SORT: &str = include_str!("../examples/kernels/sort.mlir");
const FILL: &str = include_str!("../examples/kernels/fill.mlir");
const BLUR: &str = include_str!("../examples/kernels/blur.mlir");
const LOOP: &str = include_str!("../../examples/c/kernels.mlir");

fn cell(stream: &Stream, value: i32) -> Buffer {
    let cell = Buffer::from_slice(stream, &[value]).expect("memory");
    cell.cast(Dtype::I32, &[]).expect("one element")
}

/// xorshift64: any numbers will do.
fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

/// The sum of neighbours as a recording, of any image.
struct Blur {
    graph: Graph,
    image: Slot,
    blurred: Slot,
    total: Slot,
    pixels: Slot,
    /// Memory of the longest.
    room: Buffer,
}

impl Blur {
    fn new(device: &Device, stream: &Stream, most: u64) -> Self {
        let loaded = load(device, BLUR);
        let (blur, sum) = (
            loaded.kernel("blur").expect("there"),
            loaded.kernel("sum").expect("there"),
        );
        let kind = |kernel: &qd_frontend::objects::Kernel, name| {
            kernel.argument(name).expect("there").kind.clone()
        };
        let mut recording = Recording::new(device);
        let [image, blurred, total, pixels] = [
            kind(&blur, "image"),
            kind(&blur, "out"),
            kind(&sum, "out"),
            kind(&sum, "n"),
        ]
        .map(|kind| recording.slot(&kind));
        let room = Buffer::new(stream, Dtype::I32, &[most]).expect("memory");
        let out = Buffer::new(stream, Dtype::I32, &[1]).expect("memory");
        let n = cell(stream, 0);
        let slots = sum.minimum("scratch", &args![&room, &out, _, &n]);
        let scratch = Buffer::new(stream, Dtype::I32, &[slots.expect("known")]).expect("memory");
        let launched = recording.launch(&blur, &args![image, blurred]);
        launched.expect("recorded");
        let launched = recording.launch(&sum, &args![blurred, &out, &scratch, pixels]);
        launched.expect("recorded");
        recording.copy(&out, total).expect("recorded");
        Self {
            graph: recording.finish().expect("a graph"),
            image,
            blurred,
            total,
            pixels,
            room,
        }
    }

    /// Puts it onto a stream, and yields where the sum will be.
    fn launch(&mut self, stream: &Stream, image: &[i32]) -> Buffer {
        let length = image.len() as u64;
        let frame = Buffer::from_slice(stream, image).expect("memory");
        let total = Buffer::new(stream, Dtype::I32, &[1]).expect("memory");
        let pixels = cell(stream, image.len() as i32);
        let room = self.room.rows(0..length).expect("there are as many");
        let graph = &mut self.graph;
        graph.bind(self.image, &frame).expect("bound");
        graph.bind(self.blurred, &room).expect("bound");
        graph.bind(self.total, &total).expect("bound");
        graph.bind(self.pixels, &pixels).expect("bound");
        graph.launch(stream).expect("runs");
        total
    }

    fn expected(image: &[i32]) -> i32 {
        let own: i32 = image.iter().sum();
        let before: i32 = image.iter().skip(1).sum();
        own + before
    }
}

#[test]
fn what_is_kept_for_calls_is_never_what_was() {
    let (device, a) = open(None);
    let b = device.stream(Priority::Normal).expect("a stream");
    let lengths = [0, 1, 2, 255, 256, 4097, 20_000];
    let mut random = 0x9E37_79B9_7F4A_7C15;
    let mut sort = load(&device, SORT).kernel("sort").expect("there");
    let mut blur = Blur::new(&device, &a, 20_000);
    let (mut sorted, mut sums) = (Vec::new(), Vec::new());
    for i in 0..300 {
        let length = lengths[next(&mut random) as usize % lengths.len()];
        let stream = if next(&mut random).is_multiple_of(2) {
            &a
        } else {
            &b
        };
        if i % 50 == 49 {
            // Other code, at other addresses or the same; what runs goes on.
            sort = load(&device, SORT).kernel("sort").expect("there");
            blur = Blur::new(&device, stream, 20_000);
        }
        let host: Vec<u32> = (0..length).map(|_| next(&mut random) as u32).collect();
        let keys = Buffer::from_slice(stream, &host).expect("memory");
        let tmp = Buffer::new(stream, Dtype::U32, keys.shape()).expect("memory");
        let n = cell(stream, length);
        let slots = sort.minimum("scratch", &args![&keys, &tmp, _, &n]);
        let scratch = Buffer::new(stream, Dtype::I32, &[slots.expect("known")]).expect("memory");
        let launched = sort.launch(stream, &args![&keys, &tmp, &scratch, &n]);
        launched.expect("runs");
        let image: Vec<i32> = host.iter().map(|key| (key % 2000) as i32 - 1000).collect();
        sums.push((
            blur.launch(stream, &image),
            Blur::expected(&image),
            image.len(),
        ));
        sorted.push((keys, host));
        // Most are freed while others run, so that addresses come back with other shapes.
        if sorted.len() > 8 {
            let (keys, mut host) = sorted.remove(next(&mut random) as usize % 8);
            host.sort_unstable();
            let read = keys.to_vec::<u32>(&b).expect("read");
            assert!(read == host, "call {i}: {} keys", host.len());
            let (sum, expected, length) = sums.remove(next(&mut random) as usize % 8);
            let read = sum.to_vec::<i32>(&a).expect("read");
            assert_eq!(read, [expected], "call {i}: {length} pixels");
        }
    }
}

#[test]
fn a_loop_that_goes_on_too_long_is_an_error_and_the_next_one_runs() {
    let (device, stream) = open(None);
    let halve = load(&device, LOOP).kernel("halve").expect("there");
    let run = |from: i32, max_iterations| {
        let (n, rounds, goes_on) = (cell(&stream, from), cell(&stream, 0), cell(&stream, 1));
        let options = LaunchOptions { max_iterations };
        let launched = halve.launch_with(&stream, &args![&n, &rounds, &goes_on], &options);
        // Where the device looks by itself it says so when the host waits.
        let outcome = launched.and_then(|()| stream.synchronize());
        let rounds = rounds.to_vec::<i32>(&stream).expect("read")[0];
        outcome
            .map(|()| rounds)
            .map_err(|error| (error.to_string(), rounds))
    };
    assert_eq!(run(1 << 30, None), Ok(31));
    for _ in 0..3 {
        let (error, rounds) = run(1 << 30, Some(7)).expect_err("too long");
        assert_eq!(
            error,
            "kernel 'halve': a loop was still running after 7 iterations"
        );
        assert_eq!(rounds, 7);
        assert_eq!(run(63, Some(7)), Ok(6));
        assert_eq!(run(64, Some(7)), Ok(7), "as many as it may");
        assert_eq!(run(1 << 30, None), Ok(31));
    }
}

#[test]
fn pointers_need_be_aligned_as_their_elements_only() {
    let (device, stream) = open(None);
    let sort = load(&device, SORT).kernel("sort").expect("there");
    let loaded = load(&device, LOOP);
    let scan = loaded.kernel("scan").expect("there");
    let n = 5003_u64;
    let whole = Buffer::new(&stream, Dtype::U32, &[4 * (n + 16)]).expect("memory");
    for offset in 0..16 {
        let import = |from: u64, dtype| {
            let memory = Foreign {
                address: whole.address() + 4 * (from + offset),
                dtype,
                shape: vec![n],
                strides: Some(vec![1]),
                read_only: false,
                ready: Ready::InOrder,
            };
            // Safety: within `whole`, which is used on this stream alone.
            unsafe { Buffer::import(&stream, memory, None) }.expect("it is there")
        };
        let host: Vec<u32> = (0..n as u32)
            .map(|i| i.wrapping_mul(2_654_435_761))
            .collect();
        let (keys, tmp) = (import(0, Dtype::U32), import(n + 1, Dtype::U32));
        let count = cell(&stream, n as i32);
        keys.write(&stream, &host).expect("written");
        let slots = sort.minimum("scratch", &args![&keys, &tmp, _, &count]);
        let scratch = Buffer::new(&stream, Dtype::I32, &[slots.expect("known")]).expect("memory");
        let launched = sort.launch(&stream, &args![&keys, &tmp, &scratch, &count]);
        launched.expect("runs");
        let mut expected = host;
        expected.sort_unstable();
        let read = keys.to_vec::<u32>(&stream).expect("read");
        assert!(read == expected, "a sort, {offset} elements on");

        let (a, out) = (import(0, Dtype::I32), import(2 * n + 3, Dtype::I32));
        let slots = scan.minimum("scratch", &args![&a, &out, _, &count]);
        let scratch = Buffer::new(&stream, Dtype::I32, &[slots.expect("known")]).expect("memory");
        let launched = scan.launch(&stream, &args![&a, &out, &scratch, &count]);
        launched.expect("runs");
        let mut sum = 0_i32;
        let sums = expected.iter().map(|key| {
            sum = sum.wrapping_add(*key as i32);
            sum
        });
        let read = out.to_vec::<i32>(&stream).expect("read");
        assert!(read.into_iter().eq(sums), "a scan, {offset} elements on");
        // Each by itself: the next imports do not know of these.
        stream.synchronize().expect("ends");
    }
    let odd = Foreign {
        address: whole.address() + 1,
        dtype: Dtype::U32,
        shape: vec![4],
        strides: None,
        read_only: false,
        ready: Ready::Now,
    };
    // Safety: as above.
    let odd = unsafe { Buffer::import(&stream, odd, None) }.expect("it is there");
    let count = cell(&stream, 4);
    let refused = sort.launch(&stream, &args![&odd, &odd, &odd, &count]);
    assert!(refused.is_err());
}

#[test]
fn memory_of_nobody_is_refused() {
    let (device, stream) = open(None);
    let refused = |address| {
        let memory = Foreign {
            address,
            dtype: Dtype::F32,
            shape: vec![4],
            strides: None,
            read_only: false,
            ready: Ready::Now,
        };
        // Safety: it is not used.
        let error = unsafe { Buffer::import(&stream, memory, None) }.expect_err("refused");
        assert!(error.to_string().contains("f32[4] is of device"), "{error}");
    };
    refused(0);
    if device.info().id.driver == "cuda" {
        let host = [0_f32; 4];
        refused(host.as_ptr() as u64);
    }
}

#[test]
fn two_threads_and_two_streams_share_a_kernel() {
    let (device, a) = open(None);
    let loaded = load(&device, FILL);
    let add = loaded.kernel("add").expect("there");
    let calls = 10_000;
    let shared = Buffer::from_slice(&a, &[1_f32; 64]).expect("memory");
    let work = |_| {
        let (device, add, shared) = (device.clone(), add.clone(), shared.clone());
        move || {
            let stream = device.stream(Priority::Normal).expect("a stream");
            let own = Buffer::zeros(&stream, Dtype::F32, &[64]).expect("memory");
            for i in 0..calls {
                // Parts in turn, so that what is kept is patched while it runs.
                let rows = if i % 2 == 0 { 0..64 } else { 32..64 };
                let [x, y] = [&shared, &own].map(|array| array.rows(rows.clone()).expect("rows"));
                add.launch(&stream, &args![&x, &y]).expect("runs");
            }
            own.to_vec::<f32>(&stream).expect("read")
        }
    };
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(work).map(|work| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|t| t.join().expect("ends"))
            .collect()
    });
    let half = calls as f32 / 2.0;
    for result in results {
        assert!(result[..32].iter().all(|value| *value == half));
        assert!(result[32..].iter().all(|value| *value == 2.0 * half));
    }
}

/// Adds 1 to all, of which none is to be 7.
const NO_SEVEN: &str = "qd.grid.kernel @k(%a: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each \"add\" %i to %len {
    %seven = arith.constant 7 : i32
    %one = arith.constant 1 : i32
    %x = memref.load %a[%i] : memref<?xi32>
    %is_other = arith.cmpi ne, %x, %seven : i32
    cf.assert %is_other, \"no seven\"
    %y = arith.addi %x, %one : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}";

/// That this is what is told of a seven.
fn told(error: impl std::fmt::Display) {
    let error = error.to_string();
    let place = "\"no seven\" does not hold at <source>:9:5, in thread ";
    let numbers = "of block 0 of phase 'add': 7 ≠ 7 is false";
    assert!(error.contains(place) && error.contains(numbers), "{error}");
}

#[test]
fn an_assertion_that_fails_is_told_once_and_breaks_nothing() {
    // A device of its own: the first fault of a device is told to whoever waits first.
    let (device, stream) = open(Some(17));
    let kernel = load(&device, NO_SEVEN).kernel("k").expect("there");
    let a = Buffer::from_slice(&stream, &[1, 7, 2]).expect("memory");
    kernel.launch(&stream, &args![&a]).expect("launched");
    told(stream.synchronize().expect_err("a seven"));
    stream.synchronize().expect("it is told once");
    // The lane went on.
    assert_eq!(a.to_vec::<i32>(&stream).expect("read"), [2, 8, 3]);

    // Whoever waits is told, on another stream, too, and who reads.
    a.write(&stream, &[7, 7, 7]).expect("written");
    kernel.launch(&stream, &args![&a]).expect("launched");
    let other = device.stream(Priority::Normal).expect("a stream");
    told(a.to_vec::<i32>(&other).expect_err("a seven"));
    assert_eq!(a.to_vec::<i32>(&other).expect("read"), [8, 8, 8]);

    // A graph notes it each time that it runs.
    let mut recording = Recording::new(&device);
    recording.launch(&kernel, &args![&a]).expect("recorded");
    let mut graph = recording.finish().expect("a graph");
    for (value, fails) in [(7, true), (1, false), (7, true), (7, true), (6, false)] {
        a.write(&stream, &[5, 5, value]).expect("written");
        graph.launch(&stream).expect("launched");
        match stream.synchronize() {
            Err(error) if fails => told(error),
            result => result.expect("no seven"),
        }
        assert_eq!(a.to_vec::<i32>(&stream).expect("read"), [6, 6, value + 1]);
    }
}
