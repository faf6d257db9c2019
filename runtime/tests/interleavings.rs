//! All interleavings of threads on shared state (loom): the numbers of a stream's calls, and
//! deferred releases. The files are the runtime's, with loom's locks and atomics.

mod sync {
    pub use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
    pub use std::sync::PoisonError;
}

#[allow(dead_code)]
#[path = "../src/objects/numbers.rs"]
mod numbers;
#[allow(dead_code)]
#[path = "../src/objects/tasks.rs"]
mod tasks;

use loom::{
    cell::UnsafeCell,
    sync::{Arc, Mutex, atomic::AtomicUsize, atomic::Ordering},
    thread,
};
use numbers::Numbers;
use tasks::Tasks;

/// Memory of a device that is the host's. loom tells if two threads use it at a time, or if one
/// does not see what the other has done.
struct Memory(UnsafeCell<u64>);

impl Memory {
    fn new() -> Arc<Self> {
        Arc::new(Self(UnsafeCell::new(0)))
    }

    fn add(&self) {
        // Safety: loom says so if another thread has it.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn get(&self) -> u64 {
        // Safety: loom says so if another thread has it.
        self.0.with(|value| unsafe { *value })
    }
}

/// Two streams, and memory with the last use of it: of which stream, and which call.
struct Host {
    streams: [Numbers; 2],
    last: Mutex<Option<(usize, u64)>>,
    memory: Arc<Memory>,
}

impl Host {
    /// Does a stream's next call, which uses the memory, on the host, as `in_order` does: before that it
    /// waits for what is using it.
    fn call(&self, stream: usize) {
        let mut last = loop {
            let last = self.last.lock().expect("no panic");
            match *last {
                Some((of, number)) if self.streams[of].is_hosted(number) => {
                    drop(last);
                    self.streams[of].wait_for_host(number);
                }
                _ => break last,
            }
        };
        let number = self.streams[stream].host();
        *last = Some((stream, number));
        drop(last);
        self.memory.add();
        self.streams[stream].unhost(number);
    }
}

#[test]
fn hosts_take_turns_and_none_waits_for_ever() {
    for other in [0, 1] {
        loom::model(move || {
            let host = Arc::new(Host {
                streams: Default::default(),
                last: Mutex::new(None),
                memory: Memory::new(),
            });
            let shared = host.clone();
            let thread = thread::spawn(move || shared.call(other));
            host.call(0);
            thread.join().expect("no panic");
            assert_eq!(host.memory.get(), 2);
        });
    }
}

#[test]
fn what_is_behind_an_event_does_not_count_what_a_host_is_doing() {
    loom::model(|| {
        let numbers = Arc::new(Numbers::default());
        let on_stream = Arc::new(AtomicUsize::new(0));
        let shared = (numbers.clone(), on_stream.clone());
        let other = thread::spawn(move || {
            let (numbers, on_stream) = shared;
            let number = numbers.host();
            on_stream.fetch_add(1, Ordering::SeqCst);
            numbers.unhost(number);
            numbers.submit(|_| on_stream.fetch_add(1, Ordering::SeqCst));
        });
        let (settled, there) = numbers.between(|number| (number, on_stream.load(Ordering::SeqCst)));
        assert!(settled as usize <= there, "{settled} of {there}");
        other.join().expect("no panic");
    });
}

#[test]
fn who_sees_that_a_call_has_ended_sees_what_it_did() {
    loom::model(|| {
        let numbers = Arc::new(Numbers::default());
        let memory = Memory::new();
        let shared = (numbers.clone(), memory.clone());
        let other = thread::spawn(move || {
            let (numbers, memory) = shared;
            let (number, ()) = numbers.submit(|_| memory.add());
            numbers.end(number);
        });
        if numbers.has_ended(1) {
            assert_eq!(memory.get(), 1);
        }
        other.join().expect("no panic");
    });
}

#[test]
fn what_is_to_be_let_go_is_let_go_once() {
    loom::model(|| {
        let tasks = Arc::new(Tasks::default());
        let gone = Arc::new(AtomicUsize::new(0));
        let later = |tasks: &Tasks, gone: Arc<AtomicUsize>| {
            let mut tries = 0;
            tasks.later(Box::new(move || {
                tries += 1;
                // Not at first.
                tries == 2 && gone.fetch_add(1, Ordering::SeqCst) < 2
            }));
        };
        let shared = (tasks.clone(), gone.clone());
        let other = thread::spawn(move || {
            later(&shared.0, shared.1);
            shared.0.now();
        });
        later(&tasks, gone.clone());
        tasks.now();
        other.join().expect("no panic");
        // What is left is not forgotten.
        tasks.now();
        tasks.now();
        assert_eq!(gone.load(Ordering::SeqCst), 2);
    });
}
