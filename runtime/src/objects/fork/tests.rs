//! Behaviour in a copy of the process, in forks of the tests' own.

use crate::{
    Error, args,
    objects::{
        Buffer, Detail, Device, DeviceOptions, Foreign, Priority, Profiler, Ready, Recording,
        allocation::Keep,
        dlpack::Form,
        fake::{Fake, Mood},
        fork,
        tests::{BODIES, artifact},
    },
};
use qd_artifact::Dtype;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Whether something is so in a copy of this process, which has this thread alone.
fn is_in_copy(what: impl FnOnce() -> bool) -> bool {
    // Safety: the copy does what tests do, and ends without what a process does at its end.
    let copy = unsafe { libc::fork() };
    if copy == 0 {
        let is_so = catch_unwind(AssertUnwindSafe(what)).unwrap_or(false);
        // Safety: it ends the copy at once, which has nothing to clean up.
        unsafe { libc::_exit(i32::from(!is_so)) };
    }
    assert!(copy > 0, "no copy");
    let begin = Instant::now();
    let mut status = -1;
    // Safety: the copy is our child, and the status is written.
    while unsafe { libc::waitpid(copy, &mut status, libc::WNOHANG) } == 0 {
        if begin.elapsed() > Duration::from_secs(20) {
            // Safety: the copy is our child, and has not been waited for.
            unsafe {
                libc::kill(copy, libc::SIGKILL);
                libc::waitpid(copy, &mut status, 0);
            }
            panic!("the copy does not come to its end");
        }
        thread::sleep(Duration::from_millis(1));
    }
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

/// Says when it is dropped.
struct Owner(Arc<AtomicBool>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn in_a_copy_calls_are_errors_and_drops_ask_nothing_of_the_driver() {
    fork::watch();
    let (mut fake, log) = Fake::new(Mood::default(), BODIES);
    fake.info.id.driver = "cpu".into();
    let device = Device::of(Box::new(fake));
    let is_gone = Arc::new(AtomicBool::new(false));
    let keep = || -> Keep { Some(Box::new(Owner(is_gone.clone()))) };
    let stream = device.stream(Priority::Normal).unwrap();
    // Safety: the stream is the fake's, which has it until its end.
    let theirs = unsafe { device.wrap_stream(log.stream(), keep()) }.unwrap();
    let profiler = Profiler::new(&device, Detail::Calls).unwrap();
    let attached = profiler.attach(&stream).unwrap();
    let set = device.load(&artifact()).unwrap().kernel("set").unwrap();
    let x = Buffer::zeros(&stream, Dtype::I32, &[4]).unwrap();
    set.launch(&stream, &args![&x, 1]).unwrap();
    let mut recording = Recording::new(&device);
    recording.launch(&set, &args![&x, 2]).unwrap();
    let mut graph = recording.finish().unwrap();
    graph.launch(&stream).unwrap();
    let event = stream.record().unwrap();
    let capsule = x.to_dlpack(&theirs, Form::Versioned).unwrap();
    let mut values = [0_i32; 4];
    let memory = Foreign {
        address: values.as_mut_ptr() as u64,
        dtype: Dtype::I32,
        shape: vec![4],
        strides: None,
        read_only: false,
        ready: Ready::Now,
    };
    // Safety: the memory is kept until the end of the test.
    let foreign = unsafe { Buffer::import(&theirs, memory, keep()) }.unwrap();
    let done = || (log.calls().len(), log.dropped());
    let before = done();
    let all = (x, set, graph, event, capsule, foreign, attached, profiler);
    let all = (all, stream, theirs, device);
    let is_quiet = is_in_copy(|| {
        let ((x, set, ..), stream, ..) = &all;
        let calls = [
            Buffer::new(stream, Dtype::I32, &[1]).map(drop),
            set.launch(stream, &args![x, 1]),
            stream.synchronize(),
            stream.record().map(drop),
        ];
        drop(all);
        calls.iter().all(|call| matches!(call, Err(Error::Forked)))
            && done() == before
            && !is_gone.load(Ordering::Relaxed)
    });
    assert!(is_quiet);
    assert!(done() > before, "here they do");
}

#[test]
fn a_copy_ends_although_the_devices_threads_are_not_in_it() {
    fork::watch();
    let options = DeviceOptions {
        threads: Some(4),
        ..DeviceOptions::default()
    };
    let driver = crate::cpu::device(&"cpu".parse().unwrap(), &options).unwrap();
    let device = Device::of(Box::new(driver));
    let stream = device.stream(Priority::Normal).unwrap();
    let x = Buffer::from_slice(&stream, &[1, 2, 3]).unwrap();
    let all = (x.clone(), stream.clone(), device.clone());
    drop((x, stream, device));
    assert!(is_in_copy(|| {
        drop(all);
        true
    }));
}
