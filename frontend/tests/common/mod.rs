//! What these tests share: a device and its kernels.

use qd_frontend::{
    compile_text,
    objects::{Device, DeviceOptions, Executable, Priority, Stream},
};

/// The device that `QD_DEVICE` names, or this machine, and a stream of it. With threads of its own it
/// counts nothing of other tests.
pub fn open(threads: Option<usize>) -> (Device, Stream) {
    let id = std::env::var("QD_DEVICE").unwrap_or("cpu".into());
    let id = id.parse().expect("a device");
    let device = Device::open(
        &id,
        &DeviceOptions {
            threads,
            ..DeviceOptions::default()
        },
    )
    .expect("it opens");
    let stream = device.stream(Priority::Normal).expect("a stream");
    (device, stream)
}

/// Kernels in text, on a device.
#[allow(dead_code)] // Not all tests do it so.
pub fn load(device: &Device, source: &str) -> Executable {
    let artifact = compile_text(source, &device.target().to_string()).expect("compiles");
    device.load(&artifact).expect("loads")
}
