//! Arrays that go to another library and come back. `QD_DEVICE` names the device.

use qd_frontend::{
    Dtype, args, compile_text,
    objects::{
        Buffer, Device, DeviceOptions, Priority, Ready,
        dlpack::{Capsule, Form},
    },
};

const FILL: &str = include_str!("../examples/kernels/fill.mlir");

#[test]
fn what_is_given_away_and_comes_back_is_the_same_memory() {
    let id = std::env::var("QD_DEVICE").unwrap_or("cpu".into());
    let id = id.parse().expect("a device");
    let device = Device::open(&id, &DeviceOptions::default()).expect("it opens");
    let [ours, theirs] = [Priority::Normal, Priority::High]
        .map(|priority| device.stream(priority).expect("a stream"));
    let artifact = compile_text(FILL, &device.target().to_string()).expect("compiles");
    let loaded = device.load(&artifact).expect("loads");
    let fill = loaded.kernel("fill").expect("there");
    let add = loaded.kernel("add").expect("there");
    let x = Buffer::new(&ours, Dtype::F32, &[100_000]).expect("memory");
    let sum = Buffer::zeros(&ours, Dtype::F32, &[100_000]).expect("memory");
    for form in [Form::Versioned, Form::Legacy] {
        fill.launch(&ours, &args![&x, 3f32]).expect("runs");
        let mut given = match x.to_dlpack(&theirs, form) {
            Ok(given) => given,
            // Memory of Vulkan has no address that others could use.
            Err(error) => {
                assert_eq!(id.driver, "vulkan", "{error}");
                return;
            }
        };
        // By the pointer, as another library has it.
        let back = match form {
            // Safety: the tensor was taken just now, and only here.
            Form::Versioned => unsafe {
                Capsule::versioned(given.take_versioned().expect("versioned"))
            },
            // Safety: as above.
            Form::Legacy => unsafe { Capsule::legacy(given.take_legacy().expect("legacy")) },
        };
        let mut back = back.expect("a tensor");
        // Safety: the memory is what the tensor says, as it is ours.
        let read = unsafe { Buffer::from_dlpack(&theirs, &mut back, Ready::InOrder) };
        let read = read.expect("it is this device's");
        assert_eq!(read.address(), x.address());
        add.launch(&theirs, &args![&read, &sum]).expect("runs");
        fill.launch(&theirs, &args![&read, 5f32]).expect("runs");
        theirs.synchronize().expect("done");
        assert_eq!(x.to_vec::<f32>(&ours).expect("read"), [5.0; 100_000]);
    }
    assert_eq!(sum.to_vec::<f32>(&ours).expect("read"), [6.0; 100_000]);
}
