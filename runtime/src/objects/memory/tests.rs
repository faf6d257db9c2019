use crate::{
    Dtype, Error, args,
    objects::{
        Allocate, Allocator, Buffer, Device, Priority, Stream,
        fake::{Fake, Log, Mood},
        tests::{BODIES, artifact, fake, wait_until},
    },
};
use std::sync::{Arc, Mutex};

/// A device of a thousand bytes.
fn small() -> (Device, Log, Stream) {
    let (device, log) = fake(Mood {
        room: Some(1000),
        ..Mood::default()
    });
    let stream = device.stream(Priority::Normal).unwrap();
    (device, log, stream)
}

fn bytes(on: &Stream, bytes: u64) -> Result<Buffer, Error> {
    Buffer::new(on, Dtype::U8, &[bytes])
}

#[test]
fn where_there_is_no_room_the_pool_is_trimmed_and_asked_again() {
    let (device, log, s) = small();
    drop(bytes(&s, 600).unwrap());
    assert_eq!(device.memory().reserved, 600);
    let again = bytes(&s, 700).expect("there is room when the first is given back");
    assert_eq!((log.count("allocate"), log.count("trim")), (3, 1));
    assert_eq!((device.memory().live, device.memory().reserved), (700, 700));
    drop(again);
    let error = bytes(&s, 1001).expect_err("more than there is");
    assert_eq!(
        error.to_string(),
        "not enough memory for u8[1001]: 1001 bytes were requested, 1000 are free, 0 are pooled"
    );
    assert_eq!(device.memory().live, 0);
    bytes(&s, 1000).expect("the next one");
}

#[test]
fn what_nobody_uses_is_given_back_when_it_is_asked_for() {
    let (device, log, s) = small();
    let held = bytes(&s, 100).unwrap();
    drop(bytes(&s, 500).unwrap());
    device.trim(0).unwrap();
    assert_eq!(device.memory().reserved, 600, "it may be in use yet");
    s.synchronize().unwrap();
    device.trim(300).unwrap();
    assert_eq!(device.memory().reserved, 300);
    device.trim(0).unwrap();
    assert_eq!(device.memory().reserved, 100);
    assert_eq!(log.count("trim"), 3);
    drop(held);
}

/// An allocator of few allocations at a time, and those that there are: address, bytes, stream.
struct Few {
    most: usize,
    held: Mutex<Vec<(u64, u64, u64)>>,
}

// Safety: the process's own memory, which is never used again.
unsafe impl Allocate for Few {
    fn allocate(&self, bytes: u64, stream: u64) -> Option<u64> {
        let mut held = self.held.lock().unwrap();
        let address = || Vec::leak(vec![0_u64; bytes.div_ceil(8) as usize]).as_ptr() as u64;
        let address = (held.len() < self.most).then(address)?;
        held.push((address, bytes, stream));
        Some(address)
    }

    fn free(&self, address: u64, bytes: u64, stream: u64) {
        let mut held = self.held.lock().unwrap();
        let found = held.iter().position(|one| *one == (address, bytes, stream));
        held.swap_remove(found.expect("what is freed was allocated so"));
    }
}

/// A device with such an allocator.
fn few(most: usize) -> (Arc<Few>, Device, Log) {
    let few = Arc::new(Few {
        most,
        held: Mutex::default(),
    });
    let (driver, log) = Fake::new(Mood::default(), BODIES);
    let allocator = Allocator::new(few.clone());
    let device = Device::with(Box::new(driver), Some(allocator));
    (few, device, log)
}

#[test]
fn an_allocator_gives_arrays_and_control() {
    let (few, device, log) = few(3);
    let count = || few.held.lock().unwrap().len();
    let [a, b] = [0, 1].map(|_| device.stream(Priority::Normal).unwrap());
    let kernel = device.load(&artifact()).unwrap().kernel("count").unwrap();
    let x = Buffer::zeros(&a, Dtype::I32, &[1]).unwrap();
    let empty = bytes(&b, 0).unwrap();
    kernel.launch(&a, &args![&x]).unwrap();
    assert_eq!(count(), 3, "two arrays and control words");
    assert_eq!(device.memory().reserved, device.memory().live);
    let error = bytes(&b, 5).expect_err("no fourth").to_string();
    assert_eq!(error, "not enough memory for u8[5]: 5 bytes were requested");
    drop(empty);
    assert_eq!(x.to_vec::<i32>(&b).unwrap(), [1]);
    drop((x, kernel));
    assert_eq!((count(), device.memory().live), (0, 0));
    assert_eq!((log.count("allocate"), log.count("free")), (0, 0));
}

#[test]
fn control_of_a_captured_call_is_the_allocators_until_the_graph_is_gone() {
    let (few, device, log) = few(2);
    let count = || few.held.lock().unwrap().len();
    let raw = log.stream();
    // Safety: the fake knows of it.
    let s = unsafe { device.wrap_stream(raw, None) }.unwrap();
    let kernel = device.load(&artifact()).unwrap().kernel("count").unwrap();
    let x = Buffer::zeros(&s, Dtype::I32, &[1]).unwrap();
    s.synchronize().unwrap();
    log.capture(raw);
    kernel.launch(&s, &args![&x]).unwrap();
    let graph = log.captured(raw);
    graph.replay();
    graph.replay();
    assert_eq!(x.to_vec::<i32>(&s).unwrap(), [2]);
    drop(kernel);
    assert_eq!(count(), 2, "an array and control words");
    drop(graph);
    wait_until(|| count() == 1);
}
