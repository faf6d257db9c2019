//! Calls on a stream that is captured by the driver's own API, on an NVIDIA device:
//! `QD_DEVICE=cuda:0 cargo test -p qd-frontend --test captured -- --ignored`.

mod common;

use common::{load, open};
use cudarc::driver::{result, sys};
use qd_frontend::{
    Dtype, args,
    dispatch::{Environment, KernelDispatcher, KernelVariant, Settings},
    objects::{Buffer, Device, Executable, Foreign, Priority, Ready, Stream},
};
use std::{
    ptr,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

const KERNELS: &str = include_str!("../../examples/c/kernels.mlir");

/// A stream of the driver's, and a graph that was captured on it.
struct Owner {
    /// A capture holds for the whole process: one test at a time.
    _alone: MutexGuard<'static, ()>,
    context: sys::CUcontext,
    stream: sys::CUstream,
    graph: sys::CUgraph,
    executable: sys::CUgraphExec,
}

impl Owner {
    fn new() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        result::init().expect("there is a driver");
        let device = result::device::get(0).expect("there is a device");
        let mut owner = Self {
            _alone: alone,
            // Safety: the device is there; the context is never given back.
            context: unsafe { result::primary_ctx::retain(device) }.expect("a context"),
            stream: ptr::null_mut(),
            graph: ptr::null_mut(),
            executable: ptr::null_mut(),
        };
        owner.enter();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // Safety: its context is current, and the stream is written.
        let made = unsafe { sys::cuStreamCreate(&mut owner.stream, flags) };
        made.result().expect("a stream");
        owner
    }

    fn enter(&self) {
        // Safety: the context is retained.
        unsafe { result::ctx::set_current(self.context) }.expect("its context");
    }

    fn wrapped(&self, device: &Device) -> Stream {
        // Safety: the stream is there until the owner is dropped, and each user waits for it
        // before.
        unsafe { device.wrap_stream(self.stream as u64, None) }.expect("its stream")
    }

    /// Whatever may break a capture does.
    fn begin(&self) {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        // Safety: it is our stream.
        let begun = unsafe { sys::cuStreamBeginCapture_v2(self.stream, mode) };
        begun.result().expect("begins");
    }

    fn end(&mut self) {
        // Safety: it is our stream, and it is captured.
        let ended = unsafe { sys::cuStreamEndCapture(self.stream, &mut self.graph) };
        ended.result().expect("the capture is whole");
    }

    fn instantiate(&mut self) {
        // Safety: the graph is there.
        let made = unsafe { sys::cuGraphInstantiateWithFlags(&mut self.executable, self.graph, 0) };
        made.result().expect("a graph that runs");
    }

    fn replay(&self) {
        // Safety: both are there until the owner is dropped, which waits.
        let launched = unsafe { sys::cuGraphLaunch(self.executable, self.stream) };
        launched.result().expect("runs");
    }

    fn synchronize(&self) {
        // Safety: it is our stream.
        unsafe { result::stream::synchronize(self.stream) }.expect("ends");
    }

    /// An array of the driver's own, of which nothing else knows.
    fn array(&self, values: &[i32]) -> u64 {
        let bytes = size_of_val(values);
        // Safety: a context is current.
        let array = unsafe { result::malloc_sync(bytes) }.expect("memory");
        // Safety: the array has as many bytes.
        unsafe { result::memcpy_htod_sync(array, values) }.expect("written");
        array
    }

    fn read(&self, array: u64, length: usize) -> Vec<i32> {
        let mut values = vec![0; length];
        // Safety: the array has as many elements; the driver waits for who writes it.
        unsafe { result::memcpy_dtoh_sync(&mut values, array) }.expect("read");
        values
    }

    /// Copies an array as part of what is captured.
    fn copy(&self, from: u64, to: u64, length: usize) {
        // Safety: both arrays have as many elements, and are never freed.
        let copied = unsafe { result::memcpy_dtod_async(to, from, 4 * length, self.stream) };
        copied.expect("captured");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.enter();
        // Safety: all of it is ours, or null, which the driver refuses.
        unsafe {
            // If a test has failed in between.
            let _ = sys::cuStreamEndCapture(self.stream, &mut ptr::null_mut());
            let _ = sys::cuStreamSynchronize(self.stream);
            let _ = sys::cuGraphExecDestroy(self.executable);
            let _ = sys::cuGraphDestroy(self.graph);
            let _ = sys::cuStreamDestroy_v2(self.stream);
        }
    }
}

fn import(on: &Stream, address: u64, shape: &[u64]) -> Buffer {
    let memory = Foreign {
        address,
        dtype: Dtype::I32,
        shape: shape.to_vec(),
        strides: None,
        read_only: false,
        ready: Ready::InOrder,
    };
    // Safety: arrays of the owner are never freed.
    unsafe { Buffer::import(on, memory, None) }.expect("it is there")
}

/// In no order: Knuth's multiplicative hash, from some number on.
fn numbers(from: usize, length: usize) -> Vec<i32> {
    let hash = |i: usize| ((i as u32).wrapping_mul(2_654_435_761) >> 8) as i32;
    (from..from + length).map(hash).collect()
}

/// What sorts an array and scans it into another one.
struct Work {
    device: Device,
    kernels: Executable,
    before: Stream,
    source: u64,
    keys: u64,
    out: u64,
    n: u64,
    length: usize,
}

impl Work {
    fn new(owner: &Owner, length: usize) -> Self {
        let (device, before) = open(None);
        let values = numbers(0, length);
        Self {
            kernels: load(&device, KERNELS),
            source: owner.array(&values),
            keys: owner.array(&values),
            out: owner.array(&values),
            n: owner.array(&[length as i32]),
            device,
            before,
            length,
        }
    }

    /// Puts it onto a stream; memory of our own is from the other stream, which has been waited for.
    fn launch(&self, on: &Stream, scratch: &[Buffer; 3]) {
        let rows = [self.length as u64];
        let (keys, out) = (import(on, self.keys, &rows), import(on, self.out, &rows));
        let n = import(on, self.n, &[]);
        let [tmp, for_sort, for_scan] = scratch;
        let kernel = |name| self.kernels.kernel(name).expect("there");
        let sorted = kernel("sort").launch(on, &args![&keys, tmp, for_sort, &n]);
        sorted.expect("part of the capture");
        let scanned = kernel("scan").launch(on, &args![&keys, &out, for_scan, &n]);
        scanned.expect("part of the capture");
    }

    fn scratch(&self) -> [Buffer; 3] {
        let rows = [self.length as u64];
        let tmp = Buffer::new(&self.before, Dtype::I32, &rows).expect("memory");
        let n = import(&self.before, self.n, &[]);
        let [for_sort, for_scan] = ["sort", "scan"].map(|name| {
            let kernel = self.kernels.kernel(name).expect("there");
            let slots = kernel.minimum("scratch", &args![&tmp, &tmp, _, &n]);
            Buffer::new(&self.before, Dtype::I32, &[slots.expect("known")]).expect("memory")
        });
        self.before.synchronize().expect("ends");
        [tmp, for_sort, for_scan]
    }
}

/// What is to be in the two arrays.
fn expected(mut values: Vec<i32>) -> (Vec<i32>, Vec<i32>) {
    values.sort_unstable();
    let mut sum = 0_i32;
    let sums = values.iter().map(|value| {
        sum = sum.wrapping_add(*value);
        sum
    });
    let sums = sums.collect();
    (values, sums)
}

#[test]
#[ignore = "needs an NVIDIA device"]
fn replays_go_on_when_all_of_ours_has_gone() {
    let mut owner = Owner::new();
    let length = 20_011;
    let work = Work::new(&owner, length);
    let live = work.device.memory().live;
    let scratch = work.scratch();
    let on = owner.wrapped(&work.device);
    owner.begin();
    owner.copy(work.source, work.keys, length);
    work.launch(&on, &scratch);
    owner.end();
    owner.instantiate();
    let (device, source, keys, out) = (work.device.clone(), work.source, work.keys, work.out);
    assert!(device.memory().live > live);
    drop((on, scratch, work));
    for i in 0..1000 {
        if i % 100 == 0 {
            owner.synchronize();
            let values = numbers(i, length);
            // Safety: the array has as many elements.
            unsafe { result::memcpy_htod_sync(source, &values) }.expect("written");
            // What is freed elsewhere meanwhile must not be the graph's.
            let (_, stream) = open(None);
            let other = Buffer::filled(&stream, Dtype::I32, &[1 << 20], 0xFF).expect("memory");
            stream.synchronize().expect("ends");
            drop(other);
        }
        owner.replay();
        if i % 100 == 99 {
            owner.synchronize();
            let (sorted, sums) = expected(numbers(i - 99, length));
            assert!(owner.read(keys, length) == sorted, "replay {i}: keys");
            assert!(owner.read(out, length) == sums, "replay {i}: sums");
        }
    }
    drop(owner);
    // The next calls let go what the graph held, when the driver has said that it may.
    for _ in 0..1000 {
        device
            .stream(Priority::Normal)
            .expect("a stream")
            .synchronize()
            .expect("ends");
        if device.memory().live <= live {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!(
        "{} bytes are held still, {live} before",
        device.memory().live
    );
}

#[test]
#[ignore = "needs an NVIDIA device"]
fn a_call_may_be_in_the_body_of_somebodys_condition() {
    for runs in [0, 1] {
        let mut owner = Owner::new();
        let length = 4099;
        let work = Work::new(&owner, length);
        let scratch = work.scratch();
        let on = owner.wrapped(&work.device);
        let cells = [40, 0, 1].map(|value| owner.array(&[value]));
        // Safety: the owner has no graph yet, and its context is current.
        let body = unsafe { body_of_condition(&mut owner, runs) };
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        let none = (ptr::null(), ptr::null());
        // Safety: the stream is ours, and the body lives as long as the graph that it is of.
        let begun = unsafe {
            sys::cuStreamBeginCaptureToGraph(owner.stream, body, none.0, none.1, 0, mode)
        };
        begun.result().expect("begins");
        work.launch(&on, &scratch);
        // A loop of ours in it, whose end the device finds out.
        let halve = work.kernels.kernel("halve").expect("there");
        let [n, rounds, goes_on] = cells.map(|cell| import(&on, cell, &[]));
        let launched = halve.launch(&on, &args![&n, &rounds, &goes_on]);
        launched.expect("part of the capture");
        let mut ended = ptr::null_mut();
        // Safety: it is our stream, and it is captured.
        unsafe { sys::cuStreamEndCapture(owner.stream, &mut ended) }
            .result()
            .expect("the capture is whole");
        owner.instantiate();
        drop((on, scratch, n, rounds, goes_on, halve));
        owner.replay();
        owner.synchronize();
        let values = numbers(0, length);
        let (sorted, sums) = match runs {
            0 => (values.clone(), values),
            _ => expected(values),
        };
        assert!(owner.read(work.keys, length) == sorted);
        assert!(owner.read(work.out, length) == sums);
        // 40, 20, 10, 5, 2, 1, 0.
        assert_eq!(owner.read(cells[1], 1), [if runs == 0 { 0 } else { 6 }]);
    }
}

/// A graph with nothing in it but an `if` whose condition is this, and its body.
unsafe fn body_of_condition(owner: &mut Owner, condition: u32) -> sys::CUgraph {
    // Safety: by contract; what the driver fills in is zero before, and all else is set.
    unsafe {
        sys::cuGraphCreate(&mut owner.graph, 0)
            .result()
            .expect("a graph");
        let mut handle = 0;
        let assigned = sys::CU_GRAPH_COND_ASSIGN_DEFAULT;
        let (graph, context) = (owner.graph, owner.context);
        sys::cuGraphConditionalHandleCreate(&mut handle, graph, context, condition, assigned)
            .result()
            .expect("a condition");
        let mut node: sys::CUgraphNodeParams = std::mem::zeroed();
        node.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        node.__bindgen_anon_1.conditional = sys::CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: sys::CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
            size: 1,
            phGraph_out: ptr::null_mut(),
            ctx: context,
        };
        let mut made = ptr::null_mut();
        let none = (ptr::null(), ptr::null());
        sys::cuGraphAddNode_v2(&mut made, graph, none.0, none.1, 0, &mut node)
            .result()
            .expect("a node");
        *node.__bindgen_anon_1.conditional.phGraph_out
    }
}

#[test]
#[ignore = "needs an NVIDIA device"]
fn other_threads_do_as_they_like_during_a_capture() {
    let mut owner = Owner::new();
    let length = 1 << 12;
    let work = Work::new(&owner, length);
    let scratch = work.scratch();
    let on = owner.wrapped(&work.device);
    owner.begin();
    owner.copy(work.source, work.keys, length);
    let other = thread::spawn(move || {
        let (device, stream) = open(None);
        let scan = load(&device, KERNELS).kernel("scan").expect("there");
        let ones = Buffer::from_slice(&stream, &[1_i32; 1000]).expect("memory");
        let out = Buffer::zeros(&stream, Dtype::I32, &[1000]).expect("memory");
        let n = Buffer::from_slice(&stream, &[1000]).expect("memory");
        let n = n.cast(Dtype::I32, &[]).expect("one element");
        let slots = scan
            .minimum("scratch", &args![&ones, &out, _, &n])
            .expect("known");
        let scratch = Buffer::new(&stream, Dtype::I32, &[slots]).expect("memory");
        let launched = scan.launch(&stream, &args![&ones, &out, &scratch, &n]);
        launched.expect("runs");
        stream.record().expect("an event").wait().expect("ends");
        out.to_vec::<i32>(&stream).expect("read")
    });
    assert!(other.join().expect("no panic").into_iter().eq(1..=1000));
    work.launch(&on, &scratch);
    owner.end();
    owner.instantiate();
    owner.replay();
    owner.synchronize();
    let (sorted, sums) = expected(numbers(0, length));
    assert!(owner.read(work.keys, length) == sorted);
    assert!(owner.read(work.out, length) == sums);
}

#[test]
#[ignore = "needs an NVIDIA device"]
fn errors_leave_a_capture_as_it_was() {
    let mut owner = Owner::new();
    let length = 1000;
    let work = Work::new(&owner, length);
    let scratch = work.scratch();
    let on = owner.wrapped(&work.device);
    let used = Buffer::zeros(&work.before, Dtype::I32, &[length as u64]).expect("memory");
    owner.begin();
    let sort = work.kernels.kernel("sort").expect("there");
    let n = import(&on, work.n, &[]);
    let refused = [
        sort.launch(&on, &args![&used, &scratch[0], &scratch[1], &n]),
        Buffer::new(&on, Dtype::I32, &[4]).map(drop),
        used.to_vec::<i32>(&on).map(drop),
        on.synchronize(),
        on.record().map(drop),
    ];
    for error in refused.map(|outcome| outcome.expect_err("cannot be captured")) {
        assert!(error.to_string().contains("captur"), "{error}");
    }
    work.launch(&on, &scratch);
    owner.end();
    owner.instantiate();
    owner.replay();
    owner.synchronize();
    let (sorted, sums) = expected(numbers(0, length));
    assert!(owner.read(work.keys, length) == sorted);
    assert!(owner.read(work.out, length) == sums);
}

#[test]
#[ignore = "needs an NVIDIA device"]
fn a_dispatcher_has_its_winner_captured_and_measures_nothing_meanwhile() {
    let mut owner = Owner::new();
    let work = Work::new(&owner, 10_000);
    let stream = owner.wrapped(&work.device);
    let rows = [work.length as u64];
    let [source, out] = [work.source, work.out].map(|array| import(&stream, array, &rows));
    let n = import(&stream, work.n, &[]);
    let [_, _, scratch] = work.scratch();
    work.before.synchronize().expect("ends");
    let scan = work.kernels.kernel("scan").expect("there");
    let variants = ["one", "other"].map(|name| KernelVariant::named(name, &scan));
    let settings = Settings {
        environment: Some(Environment::default()),
        ..Settings::default()
    };
    let made = KernelDispatcher::new("scan", &work.device, |_| 0, variants.into(), settings);
    let scans = made.expect("is well-formed");
    let given = args![&source, &out, &scratch, &n];

    owner.begin();
    let refused = scans.launch(&stream, &given);
    owner.end();
    let text = refused.expect_err("is not measured").to_string();
    assert!(text.contains("no winner is known for 0"), "{text}");

    for _ in 0..4 {
        scans.launch(&stream, &given).expect("runs");
    }
    stream.synchronize().expect("ends");
    let winner = scans.dispatcher().winner(&0);
    assert!(winner.is_some());
    owner.begin();
    // Past the call that another evaluation begins with.
    for _ in 0..400 {
        scans.launch(&stream, &given).expect("part of the capture");
    }
    owner.end();
    assert_eq!(scans.dispatcher().winner(&0), winner);
    owner.instantiate();
    owner.replay();
    owner.synchronize();
    let sums = numbers(0, work.length)
        .into_iter()
        .scan(0_i32, |sum, value| {
            *sum = sum.wrapping_add(value);
            Some(*sum)
        });
    assert_eq!(owner.read(work.out, work.length), sums.collect::<Vec<_>>());
    scans.launch(&stream, &given).expect("runs");
    assert_eq!(scans.dispatcher().winner(&0), None, "now it begins");
}
