use super::*;
use crate::{
    args,
    objects::{
        Device,
        fake::Mood,
        tests::{artifact, fake},
    },
};

const LENGTH: u64 = (2 * PIECE + PIECE / 2) / 4 + 1;

/// Copies what a stream is yet to write to memory that another is yet to read. Yields what was read
/// before, and the sum after it.
fn copied(from: &Device, to: &Device) -> Result<(Vec<i32>, Vec<i32>), Error> {
    let [a, b] = [from, to].map(|device| device.stream(Priority::Normal));
    let (a, b) = (a?, b?);
    let beside = from.stream(Priority::High)?;
    let x = Buffer::new(&a, Dtype::I32, &[LENGTH])?;
    let y = Buffer::zeros(&b, Dtype::I32, &[LENGTH])?;
    let z = Buffer::new(&b, Dtype::I32, &[LENGTH])?;
    let set = from.load(&artifact())?.kernel("set")?;
    let next = to.load(&artifact())?.kernel("next")?;
    set.launch(&a, &args![&x, 7])?;
    next.launch(&b, &args![&z, &y])?;
    x.copy_to(&beside, &y)?;
    set.launch(&a, &args![&x, 8])?;
    let before = z.to_vec(&b)?;
    next.launch(&b, &args![&z, &y])?;
    Ok((before, z.to_vec(&b)?))
}

#[test]
fn copies_to_another_device_are_in_the_order_of_the_calls() {
    for seed in 0..10 {
        let devices = [seed, seed + 100].map(|seed| {
            let (device, _) = fake(Mood {
                seed,
                ..Mood::default()
            });
            device
        });
        let (before, after) = copied(&devices[0], &devices[1]).expect("runs");
        assert!(before.iter().all(|value| *value == 1), "seed {seed}");
        assert!(after.iter().all(|value| *value == 8), "seed {seed}");
    }
}

#[test]
fn whichever_call_of_either_device_fails_nothing_leaks() {
    let devices = [0, 1].map(|_| fake(Mood::default()));
    copied(&devices[0].0, &devices[1].0).expect("runs");
    let most = devices.map(|(_, log)| log.calls().len());
    for (which, most) in most.into_iter().enumerate() {
        for at in 0..most {
            let [from, to] = [0, 1].map(|device| {
                let fails = (device == which).then_some((at, false));
                let mood = Mood {
                    fails,
                    ..Mood::default()
                };
                fake(mood).0
            });
            if let Ok((_, after)) = copied(&from, &to) {
                // What failed was only to free something.
                assert!(after.iter().all(|value| *value == 8), "call {at}");
            }
            assert_eq!((from.memory().live, to.memory().live), (0, 0));
        }
    }
}

#[test]
fn what_is_not_alike_is_not_copied_to_another_device() {
    let ((near, log), (far, _)) = (fake(Mood::default()), fake(Mood::default()));
    let [s, t] = [&near, &far].map(|device| device.stream(Priority::Normal).unwrap());
    let x = Buffer::new(&s, Dtype::I32, &[4]).unwrap();
    let y = Buffer::new(&t, Dtype::I32, &[5]).unwrap();
    let error = |done: Result<(), Error>| done.expect_err("refused").to_string();
    assert_eq!(
        error(x.copy_to(&s, &y)),
        "i32[4] cannot be copied to i32[5]"
    );
    let y = y.rows(1..5).unwrap();
    assert!(error(x.copy_to(&t, &y)).contains("i32[4] is of device"));
    assert_eq!(log.count("copy"), 0);
    x.copy_to(&s, &y).unwrap();
    let none = [&x, &y].map(|buffer| buffer.rows(0..0).unwrap());
    none[0].copy_to(&s, &none[1]).unwrap();
}
