use crate::{
    Dtype, Error, args,
    objects::{
        Buffer, Device, Pinned, Priority, Stream,
        fake::Mood,
        tests::{artifact, fake, wait_until},
    },
};

/// What another stream wrote, on its way to the host and back while it is overwritten.
fn there_and_back(device: &Device) -> Result<Vec<i32>, Error> {
    let [a, b] = [Priority::Normal, Priority::High].map(|of| device.stream(of));
    let (a, b) = (a?, b?);
    let read = copied(device, &a, &b);
    // Also after a failure, and if one of these fails.
    for on in [&a, &b, &a, &b] {
        let _ = on.synchronize();
    }
    read
}

fn copied(device: &Device, a: &Stream, b: &Stream) -> Result<Vec<i32>, Error> {
    let loaded = device.load(&artifact())?;
    let (set, next) = (loaded.kernel("set")?, loaded.kernel("next")?);
    let x = Buffer::new(a, Dtype::I32, &[4])?;
    let y = Buffer::new(b, Dtype::I32, &[4])?;
    set.launch(a, &args![&x, 7])?;
    let first = x.read_async(b, Pinned::new(device, 16)?)?;
    set.launch(a, &args![&x, 8])?;
    let mut host = first.wait()?;
    let read = host.elements::<i32>().to_vec();
    host.elements_mut::<i32>()[0] = 41;
    let written = x.write_async(b, host)?;
    next.launch(a, &args![&y, &x])?;
    drop(written);
    Ok([read, y.to_vec(a)?].concat())
}

#[test]
fn copies_that_nobody_waits_for_are_in_the_order_of_the_calls() {
    for seed in 0..50 {
        let (device, _) = fake(Mood {
            seed,
            ..Mood::default()
        });
        let read = there_and_back(&device).expect("runs");
        assert_eq!(read, [7, 7, 7, 7, 42, 8, 8, 8], "seed {seed}");
    }
}

#[test]
fn host_memory_stays_until_the_device_has_done_with_it() {
    let (device, log) = fake(Mood::default());
    let s = device.stream(Priority::Normal).unwrap();
    let x = Buffer::zeros(&s, Dtype::I32, &[4]).unwrap();
    let pending = x.read_async(&s, Pinned::new(&device, 16).unwrap()).unwrap();
    assert!(!pending.is_done().unwrap());
    drop(pending);
    assert_eq!(log.count("unpin"), 0, "it is in use");
    s.synchronize().unwrap();
    wait_until(|| log.count("unpin") == 1);
    // What is not in use goes at once.
    let host = Pinned::new(&device, 16).unwrap();
    let host = x.write_async(&s, host).unwrap().wait().unwrap();
    assert_eq!((host.len(), host.elements::<i64>().len()), (16, 2));
    drop(host);
    assert_eq!(log.count("unpin"), 2);
}

#[test]
fn whichever_call_fails_no_host_memory_is_lost() {
    let (device, log) = fake(Mood::default());
    there_and_back(&device).expect("runs");
    for at in 0..log.calls().len() {
        let (device, log) = fake(Mood {
            fails: Some((at, false)),
            ..Mood::default()
        });
        // What goes after work that is under way goes in a later call.
        if let Ok(read) = there_and_back(&device) {
            // What failed was only to free something.
            assert_eq!(read, [7, 7, 7, 7, 42, 8, 8, 8], "call {at}");
        }
        // Which may be the call that is to fail.
        if log.calls().len() <= at {
            let _ = there_and_back(&device);
        }
        there_and_back(&device).expect("the next one works");
        let pinned = log.count("pin") - usize::from(log.calls()[at] == "pin");
        wait_until(|| log.count("unpin") == pinned);
        assert_eq!(device.memory().live, 0);
    }
}

#[test]
fn host_memory_that_does_not_fit_is_refused() {
    let (device, log) = fake(Mood::default());
    let (other, _) = fake(Mood::default());
    let s = device.stream(Priority::Normal).unwrap();
    let x = Buffer::zeros(&s, Dtype::I32, &[4]).unwrap();
    let error = |of: &Device, bytes| {
        let host = Pinned::new(of, bytes).unwrap();
        x.read_async(&s, host).expect_err("refused").to_string()
    };
    assert_eq!(
        error(&device, 15),
        "i32[4] has 16 bytes, which do not fit into 15 bytes of the host"
    );
    assert!(error(&other, 16).starts_with("16 bytes of the host is of device fake:0"));
    assert_eq!(log.count("copy"), 0);
    // More than it takes will do.
    let pending = x.read_async(&s, Pinned::new(&device, 99).unwrap());
    assert_eq!(pending.unwrap().wait().unwrap()[..16], [0; 16]);
}
