//! Leaks of the runtime, in a process of its own so that nothing else is counted. On the device
//! that `QD_DEVICE` names, or this machine.

use qd_frontend::{
    Dtype, args, compile_text,
    objects::{Buffer, Device, DeviceOptions, Priority, Recording},
};

/// Bytes of this process in memory, where the system says so.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(4096 * pages)
}

#[test]
fn ten_thousand_loads_leave_nothing() {
    let id = std::env::var("QD_DEVICE").unwrap_or("cpu".into());
    let id = id.parse().expect("a device");
    let device = Device::open(&id, &DeviceOptions::default()).expect("it opens");
    let stream = device.stream(Priority::Normal).expect("a stream");
    let source = include_str!("../examples/kernels/fill.mlir");
    let artifact = compile_text(source, &device.target().to_string()).expect("compiles");
    let once = || {
        let fill = device
            .load(&artifact)
            .expect("loads")
            .kernel("fill")
            .expect("there");
        let x = Buffer::new(&stream, Dtype::F32, &[1000]).expect("memory");
        let mut recording = Recording::new(&device);
        let value = recording.slot(&fill.argument("value").expect("there").kind);
        recording
            .launch(&fill, &args![&x, value])
            .expect("recorded");
        let mut graph = recording.finish().expect("a graph");
        graph.bind(value, 2f32).expect("bound");
        graph.launch(&stream).expect("runs");
        fill.launch(&stream, &args![&x, 3f32]).expect("runs");
        assert_eq!(x.to_vec::<f32>(&stream).expect("read")[999], 3.0);
    };
    // What is made once and for all.
    (0..1000).for_each(|_| once());
    let live = device.memory().live;
    let round = || {
        let before = resident_bytes();
        (0..10_000).for_each(|_| once());
        let grown = resident_bytes().zip(before);
        grown.map_or(0, |(after, before)| after.saturating_sub(before))
    };
    // A kilobyte a load would be ten megabytes, each time; a driver takes memory in pieces of some
    // megabytes, now and then.
    let most = 4 << 20;
    let mut grown = vec![round()];
    while grown.len() < 3 && grown.iter().all(|bytes| *bytes > most) {
        grown.push(round());
    }
    assert_eq!(device.memory().live, live);
    assert!(
        grown.iter().any(|bytes| *bytes <= most),
        "{grown:?} bytes more in each round"
    );
}
