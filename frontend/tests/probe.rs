use qd_frontend::{
    Dtype, args, compile,
    objects::{Buffer, Device, DeviceOptions, Priority, Recording},
};
fn rss() -> i64 {
    let t = std::fs::read_to_string("/proc/self/statm").unwrap();
    4096 * t.split(' ').nth(1).unwrap().parse::<i64>().unwrap()
}
#[test]
fn probe() {
    let id = std::env::var("QD_DEVICE")
        .unwrap_or("cpu".into())
        .parse()
        .unwrap();
    let device = Device::open(&id, &DeviceOptions::default()).unwrap();
    let stream = device.stream(Priority::Normal).unwrap();
    let artifact = compile(
        include_str!("../examples/kernels/fill.mlir"),
        &device.info().target,
    )
    .unwrap();
    let fill = device.load(&artifact).unwrap().kernel("fill").unwrap();
    let x = Buffer::new(&stream, Dtype::F32, &[1000]).unwrap();
    let run = |name: &str, what: &dyn Fn()| {
        (0..1000).for_each(|_| what());
        let mut said = String::new();
        for _ in 0..3 {
            let b = rss();
            (0..5000).for_each(|_| what());
            said += &format!(" {:.1}", (rss() - b) as f64 / 5000.0);
        }
        eprintln!("{name}: bytes each{said}");
    };
    run("load", &|| {
        device.load(&artifact).unwrap().kernel("fill").unwrap();
    });
    run("buffer", &|| {
        Buffer::new(&stream, Dtype::F32, &[1000]).unwrap();
    });
    run("read", &|| {
        x.to_vec::<f32>(&stream).unwrap();
    });
    run("launch+sync", &|| {
        fill.launch(&stream, &args![&x, 3f32]).unwrap();
        stream.synchronize().unwrap();
    });
    run("event", &|| {
        stream.record().unwrap().wait().unwrap();
    });
    run("recording", &|| {
        let mut recording = Recording::new(&device);
        let value = recording.slot(&fill.argument("value").unwrap().kind);
        recording.launch(&fill, &args![&x, value]).unwrap();
        let mut graph = recording.finish().unwrap();
        graph.bind(value, 2f32).unwrap();
        graph.launch(&stream).unwrap();
        stream.synchronize().unwrap();
    });
    let fresh = || {
        let fill = device.load(&artifact).unwrap().kernel("fill").unwrap();
        fill.launch(&stream, &args![&x, 3f32]).unwrap();
        stream.synchronize().unwrap();
    };
    run("load, launch", &fresh);
    drop(fill);
    run("alone: load, launch", &fresh);
}
