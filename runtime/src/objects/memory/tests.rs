use crate::{
    Dtype, Error,
    objects::{
        Buffer, Device, Priority, Stream,
        fake::{Log, Mood},
        tests::fake,
    },
};

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
        "not enough memory for u8[1001]: 1001 bytes were asked for, 1000 are free, 0 are pooled"
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
