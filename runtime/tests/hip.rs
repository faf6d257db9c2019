//! The HIP driver, on the fake HIP runtime.

mod amd;

use amd::{
    artifact::{artifact, held, number, open, ready},
    succeeds,
};
use qd_runtime::{
    Dtype, Element, Error, args,
    objects::{
        Allocate, Allocator, Buffer, Detail, Device, DeviceId, DeviceOptions, Executable, Foreign,
        LaunchOptions, Pinned, Priority, Profiler, Ready, Recording, Stream, step_totals,
    },
};
use std::sync::{Arc, Mutex};

/// A test whose body is run with each of some seeds, and without one.
fn any_order(test: &str, body: fn()) {
    succeeds(test, &[], body);
    for seed in 0..8 {
        let seed = i32::to_string(&seed);
        if std::env::var_os("QD_HIP_TEST").is_none() {
            succeeds(test, &[("QD_FAKE_HIP_SEED", &seed)], body);
        }
    }
}

#[test]
fn a_device_says_what_it_is() {
    let test = "a_device_says_what_it_is";
    succeeds(test, &[("QD_FAKE_HIP_ARCH", "gfx90a")], || {
        let device = open().expect("it opens");
        let info = device.info();
        assert_eq!(format!("{device:?}"), "hip:0 (fake gfx90a)");
        assert_eq!(info.target.to_string(), "amdgpu:gfx90a");
        assert!(!info.decides);
        assert!(device == open().expect("the same"));
        assert_eq!(
            DeviceId::for_target("amdgpu:gfx90a,wave=64").expect("known"),
            info.id
        );
    });
}

#[test]
fn arrays_go_to_the_device_and_back() {
    any_order("arrays_go_to_the_device_and_back", || {
        let (device, _, s) = ready();
        let t = device.stream(Priority::High).expect("a stream");
        let x = Buffer::from_slice(&s, &[1, 2, 3, 4]).expect("memory");
        let y = Buffer::filled(&t, Dtype::I32, &[4], 0x11).expect("memory");
        assert_eq!(held::<i32>(&s, &y), [0x1111_1111; 4]);
        x.rows(1..3)
            .unwrap()
            .copy_to(&t, &y.rows(2..4).unwrap())
            .expect("copied");
        assert_eq!(held::<i32>(&s, &y)[1..], [0x1111_1111, 2, 3]);
        y.write(&s, &[7, 8, 9, 10]).expect("written");
        assert_eq!(held::<i32>(&t, &y), [7, 8, 9, 10]);
        let empty = Buffer::zeros(&s, Dtype::I32, &[0]).expect("memory");
        assert!(held::<i32>(&s, &empty).is_empty());
        empty.copy_to(&s, &empty).expect("nothing to do");

        let mut pinned = Pinned::new(&device, 16).expect("pinned");
        pinned.elements_mut::<i32>().copy_from_slice(&[5, 6, 7, 8]);
        let pending = x.write_async(&s, pinned).expect("begun");
        let pending = x
            .read_async(&t, pending.wait().expect("done"))
            .expect("begun");
        while !pending.is_done().expect("no error") {}
        assert_eq!(
            pending.wait().expect("done").elements::<i32>(),
            [5, 6, 7, 8]
        );
    });
}

#[test]
fn memory_is_counted_and_given_back() {
    succeeds("memory_is_counted_and_given_back", &[], || {
        let (device, _, s) = ready();
        let x = Buffer::zeros(&s, Dtype::U8, &[1000]).expect("memory");
        let stats = device.memory();
        assert_eq!((stats.live, stats.reserved), (1000, 1000));
        drop(x);
        s.synchronize().expect("done");
        assert_eq!((device.memory().live, device.memory().reserved), (0, 1000));
        device.trim(0).expect("trimmed");
        assert_eq!(device.memory().reserved, 0);
    });
}

#[test]
fn streams_that_share_arrays_are_in_the_order_of_the_calls() {
    any_order(
        "streams_that_share_arrays_are_in_the_order_of_the_calls",
        || {
            let (device, loaded, a) = ready();
            let b = device.stream(Priority::High).expect("a stream");
            let [set, next] = ["set", "next"].map(|name| loaded.kernel(name).expect("there"));
            let x = Buffer::new(&a, Dtype::I32, &[4]).expect("memory");
            let y = Buffer::new(&b, Dtype::I32, &[4]).expect("memory");
            set.launch(&a, &args![&x, 5]).expect("runs");
            for _ in 0..10 {
                next.launch(&b, &args![&y, &x]).expect("runs");
                next.launch(&a, &args![&x, &y]).expect("runs");
            }
            drop(y);
            assert_eq!(held::<i32>(&b, &x), [25; 4]);
            let z = Buffer::new(&b, Dtype::I32, &[4]).expect("memory");
            next.launch(&b, &args![&z, &x]).expect("runs");
            drop((set, next, loaded));
            assert_eq!(held::<i32>(&a, &z), [26; 4]);
        },
    );
}

#[test]
fn events_are_of_points_in_a_stream() {
    any_order("events_are_of_points_in_a_stream", || {
        let (device, loaded, a) = ready();
        let b = device.stream(Priority::Normal).expect("a stream");
        let set = loaded.kernel("set").expect("there");
        let x = Buffer::zeros(&a, Dtype::I32, &[1]).expect("memory");
        let before = a.record().expect("an event");
        set.launch(&a, &args![&x, 1]).expect("runs");
        let after = a.record().expect("an event");
        b.wait_for(&after).expect("waits");
        b.synchronize().expect("done");
        assert!(after.is_done().expect("no error") && before.is_done().expect("no error"));
        after.since(&before).expect("a time");
        // Events are used again.
        drop((before, after));
        for _ in 0..3 {
            a.record().expect("an event").wait().expect("done");
        }
    });
}

#[test]
fn launches_have_the_blocks_of_their_plan() {
    succeeds("launches_have_the_blocks_of_their_plan", &[], || {
        let (_, loaded, s) = ready();
        let describe = loaded.kernel("describe").expect("there");
        let a = Buffer::zeros(&s, Dtype::I32, &[3]).expect("memory");
        for (blocks, said) in [(0, [0, 0, 0]), (3, [3, 64, 96]), (0, [3, 64, 96])] {
            describe
                .launch(&s, &args![&a, blocks as i64])
                .expect("runs");
            assert_eq!(held::<i32>(&s, &a), said);
        }
        let error = describe
            .launch(&s, &args![&a, 1_i64 << 26])
            .expect_err("too many");
        assert_eq!(
            error.to_string(),
            "kernel 'describe': launching it: phase 'describe it': 67108864 blocks of 64 threads \
             are more than HIP launches: fewer than 2^32 threads"
        );
        describe.launch(&s, &args![&a, 1_i64]).expect("runs");
    });
}

#[test]
fn loops_and_conditions_are_the_hosts() {
    any_order("loops_and_conditions_are_the_hosts", || {
        let (_, loaded, s) = ready();
        let run = |name, flag| {
            let (flag, count) = (number(&s, flag), number(&s, 0));
            let max_iterations = Some(100);
            let options = LaunchOptions { max_iterations };
            let kernel = loaded.kernel(name).expect("there");
            kernel.launch_with(&s, &args![&flag, &count], &options)?;
            Ok::<_, Error>(held::<i32>(&s, &count)[0])
        };
        for (name, flag, count) in [
            ("repeat", 7, 7),
            ("repeat", 100, 100),
            ("choice", 7, 1),
            ("choice", 0, 0),
        ] {
            assert_eq!(run(name, flag).expect("ends"), count, "{name} {flag}");
        }
        assert_eq!(
            run("repeat", 101).expect_err("too many").to_string(),
            "kernel 'repeat': a loop was still running after 100 iterations"
        );
        assert_eq!(run("repeat", 3).expect("ends"), 3);
    });
}

fn filled<T: Element + Default + PartialEq + std::fmt::Debug>(
    (loaded, s): (&Executable, &Stream),
    kernel: &str,
    values: &[T],
) {
    let kernel = loaded.kernel(kernel).expect("there");
    for (from, to) in [(0, 13), (1, 2), (3, 3), (2, 12)] {
        for value in values {
            let x = Buffer::zeros(s, T::DTYPE, &[13]).expect("memory");
            kernel
                .launch(s, &args![&x, from as i64, to as i64, *value])
                .expect("runs");
            let mut expected = vec![T::default(); 13];
            expected[from..to].fill(*value);
            assert_eq!(held::<T>(s, &x), expected, "{from} to {to}");
        }
    }
}

#[test]
fn fills_set_a_range_of_elements_of_each_size() {
    succeeds("fills_set_a_range_of_elements_of_each_size", &[], || {
        let (_, loaded, s) = ready();
        let on = (&loaded, &s);
        filled(on, "fill_u8", &[0x12_u8]);
        filled(on, "fill_u16", &[0x1234_u16]);
        filled(on, "fill_u32", &[0x1234_5678_u32]);
        // HIP has no function for these, unless both halves are the same.
        filled(
            on,
            "fill_u64",
            &[0x1234_5678_9ABC_DEF0_u64, 0x0101_0202_0101_0202],
        );
    });
}

#[test]
fn recordings_and_profiles_are_of_several_calls() {
    succeeds("recordings_and_profiles_are_of_several_calls", &[], || {
        let (device, loaded, s) = ready();
        let [set, next] = ["set", "next"].map(|name| loaded.kernel(name).expect("there"));
        let [x, y] = [0, 1].map(|_| Buffer::zeros(&s, Dtype::I32, &[4]).expect("memory"));
        let mut recording = Recording::new(&device);
        recording.launch(&set, &args![&x, 5]).expect("recorded");
        recording.launch(&next, &args![&y, &x]).expect("recorded");
        recording.copy(&y, &x).expect("recorded");
        let mut graph = recording.finish().expect("a graph");
        let profiler = Profiler::new(&device, Detail::Steps).expect("events");
        let attached = profiler.attach(&s).expect("its stream");
        graph.launch(&s).expect("runs");
        assert_eq!(held::<i32>(&s, &x), [6; 4]);
        drop(attached);
        let totals = step_totals(&profiler.take().expect("times"));
        assert_eq!(totals.iter().filter(|of| of.step.is_launch).count(), 2);
    });
}

/// Memory of another library's, which is this one's here.
struct Shared(Mutex<Vec<(u64, Buffer)>>, Mutex<Option<Stream>>);

// Safety: what is allocated is memory of the device, until it is freed.
unsafe impl Allocate for Shared {
    fn allocate(&self, bytes: u64, _: u64) -> Option<u64> {
        let on = self.1.lock().unwrap().clone()?;
        let memory = Buffer::new(&on, Dtype::U8, &[bytes]).ok()?;
        on.synchronize().ok()?;
        let address = memory.address();
        self.0.lock().unwrap().push((address, memory));
        Some(address)
    }

    fn free(&self, address: u64, _: u64, _: u64) {
        self.0.lock().unwrap().retain(|(at, _)| *at != address);
    }
}

#[test]
fn foreign_memory_and_streams_are_used_in_place() {
    succeeds("foreign_memory_and_streams_are_used_in_place", &[], || {
        let (device, loaded, s) = ready();
        let set = loaded.kernel("set").expect("there");
        // Safety: the default stream always exists.
        let foreign = unsafe { device.wrap_stream(0, None) }.expect("a stream");
        let own = Buffer::zeros(&s, Dtype::I32, &[4]).expect("memory");
        s.synchronize().expect("done");
        let describe = |address| Foreign {
            address,
            dtype: Dtype::I32,
            shape: vec![4],
            strides: None,
            read_only: false,
            ready: Ready::Now,
        };
        // Safety: nothing else uses the memory meanwhile.
        let import = |address| unsafe { Buffer::import(&foreign, describe(address), None) };
        let x = import(own.address()).expect("memory of the device");
        set.launch(&foreign, &args![&x, 9]).expect("runs");
        foreign.synchronize().expect("done");
        assert_eq!(held::<i32>(&s, &own), [9; 4]);
        let host = [0_i32; 4];
        let error = import(host.as_ptr() as u64).expect_err("not the device's");
        assert!(
            error
                .to_string()
                .contains("is of device the host, or no device"),
            "{error}"
        );
        // Safety: it is only asked about.
        let refused = unsafe { device.wrap_stream(2, None) }.expect_err("each thread's own");
        assert!(refused.to_string().contains("hipStreamCreate"), "{refused}");

        let allocator = Arc::new(Shared(Mutex::default(), Mutex::new(Some(s.clone()))));
        let options = DeviceOptions {
            allocator: Some(Allocator::new(allocator.clone())),
            ..DeviceOptions::default()
        };
        let other = Device::open(&device.info().id, &options).expect("it opens");
        let stream = other.stream(Priority::Normal).expect("a stream");
        let y = Buffer::from_slice(&stream, &[1, 2]).expect("memory");
        assert_eq!(allocator.0.lock().unwrap().len(), 1);
        assert_eq!(held::<i32>(&stream, &y), [1, 2]);
        // Its device is known by it, and it by its device.
        *allocator.1.lock().unwrap() = None;
    });
}

#[test]
fn devices_are_counted_from_0() {
    succeeds(
        "devices_are_counted_from_0",
        &[("QD_FAKE_HIP_DEVICES", "2")],
        || {
            let open = |id: &str| Device::open(&id.parse().unwrap(), &DeviceOptions::default());
            let devices = ["hip:0", "hip:1"].map(|id| open(id).expect("it opens"));
            // A thread's device changes from call to call.
            let streams = devices
                .each_ref()
                .map(|d| d.stream(Priority::Normal).expect("a stream"));
            let (x, y) = (number(&streams[0], 1), number(&streams[1], 2));
            x.copy_to(&streams[0], &y).expect("copied");
            assert_eq!(held::<i32>(&streams[1], &y), [1]);
            for (device, stream) in devices.iter().zip(&streams) {
                let loaded = device.load(&artifact("gfx1100")).expect("loads");
                let a = Buffer::zeros(stream, Dtype::I32, &[2]).expect("memory");
                let set = loaded.kernel("set").expect("there");
                set.launch(stream, &args![&a, 4]).expect("runs");
                stream.record().expect("an event").wait().expect("done");
                assert_eq!(held::<i32>(stream, &a), [4, 4]);
            }
            drop((x, y));
            assert_eq!(
                open("hip:2").expect_err("two").to_string(),
                "there is no device hip:2: the HIP runtime has 2, from 0 on"
            );
        },
    );
}
