//! A device that a kernel has crashed. It stays lost for the process, so this is the only test in
//! it: `QD_DEVICE=cuda:0 cargo test -p qd-frontend --test lost -- --ignored`.

mod common;

use common::{load, open};
use qd_frontend::{
    Dtype, args,
    objects::{Buffer, Device, DeviceOptions, Foreign, Priority, Ready},
};
use std::time::{Duration, Instant};

#[test]
#[ignore = "needs an NVIDIA device"]
fn no_handle_of_a_lost_device_waits() {
    let (device, stream) = open(None);
    let loaded = load(&device, include_str!("../examples/kernels/fill.mlir"));
    let fill = loaded.kernel("fill").expect("there");
    let good = Buffer::zeros(&stream, Dtype::F32, &[64]).expect("memory");
    fill.launch(&stream, &args![&good, 1f32]).expect("runs");
    let event = stream.record().expect("an event");
    stream.synchronize().expect("ends");
    let gone = Foreign {
        address: good.address(),
        dtype: Dtype::F32,
        // Far more than there is, so that the kernel writes where nothing is.
        shape: vec![1 << 36],
        strides: None,
        read_only: false,
        ready: Ready::InOrder,
    };
    // Safety: it is not as promised, which is what this is about. Only the device touches it.
    let gone =
        unsafe { Buffer::import(&stream, gone, None) }.expect("it begins where something is");
    fill.launch(&stream, &args![&gone, 2f32])
        .expect("is put onto the stream");

    let begin = Instant::now();
    let errors = [
        stream.synchronize(),
        event.wait(),
        event.is_done().map(drop),
        stream.record().map(drop),
        device.stream(Priority::Normal).map(drop),
        good.to_vec::<f32>(&stream).map(drop),
        good.write(&stream, &[0f32; 64]),
        Buffer::new(&stream, Dtype::F32, &[64]).map(drop),
        fill.launch(&stream, &args![&good, 1f32]),
        Device::open(&device.info().id, &DeviceOptions::default()).map(drop),
    ];
    for (i, outcome) in errors.into_iter().enumerate() {
        let error = outcome.expect_err("lost").to_string();
        assert!(error.contains("lost"), "{i}: {error}");
        assert!(error.contains("fill"), "{i}: {error}");
    }
    drop((good, gone, fill, loaded, event, stream));
    let taken = begin.elapsed();
    assert!(taken < Duration::from_secs(10), "{taken:?}");
}
