//! More blocks than the device has room for.

use crate::kernel::Kernel;
use qd_conformance::{
    Input, Options, Subject, any_wave, generate, is_simulated, is_vulkan, looks_back, report,
};
use std::{env, process::Command, thread};

/// Small tiles, so that there are many of them.
const SMALL: &str = "{qd.tuning = {threads = 64, items = 20}}";
const WAITING: &str = "strategy = \"lookback\" {qd.tuning = {threads = 64, items = 20}}";

/// Algorithms whose blocks wait for each other, or where a device promises nothing about
/// that, those that it runs instead.
fn algorithms() -> impl Iterator<Item = Kernel> {
    let choices = if is_vulkan() { SMALL } else { WAITING };
    let algorithms = ["exclusive_scan", "select", "reduce_by_key"].into_iter();
    algorithms.map(move |algorithm| Kernel {
        choices,
        ..Kernel::new(algorithm, "i32", 3)
    })
}

/// Elements of more tiles than a GPU has room for at a time, 32 on each of 140 SMs; and
/// than a host has threads.
fn many() -> usize {
    match (is_simulated(), looks_back()) {
        // The oracle has room for four blocks.
        (true, _) => 8 * 1280 + 11,
        (false, true) => 6_000_011,
        (false, false) => 40_003,
    }
}

/// An oversubscribed host: blocks that wait for each other on many more threads than it
/// has cores, so that most of those waited for are not running.
#[test]
fn more_threads_than_cores() {
    let cores = thread::available_parallelism().map_or(1, Into::into);
    let options = Options {
        threads: Some(8 * cores),
        ..Options::default()
    };
    for kernel in algorithms() {
        let subject = Subject::new(kernel.text()).with(options.clone());
        for n in [1281, many()] {
            let arguments = kernel.arguments(generate("i32", Input::FewDistinct, n + 3, 1), n);
            let about = format!("{} of {n}, 8 threads a core", kernel.algorithm);
            subject.check(any_wave(), &arguments, &about);
        }
    }
    report("more threads than cores");
}

/// An oversubscribed device: several processes on it, each of which has more blocks that
/// wait for each other than there is room for. (Threads of one process are in
/// `endurance.rs`.)
#[test]
fn several_processes() {
    let this = env::current_exe().expect("a test has a program");
    let start = |_| {
        let mut command = Command::new(&this);
        command.args(["--exact", "crowds::more_threads_than_cores"]);
        command.output().expect("a program that runs")
    };
    let ended: Vec<_> = thread::scope(|scope| {
        let processes: Vec<_> = (0..2).map(|nth| scope.spawn(move || start(nth))).collect();
        let joined = processes.into_iter().map(|process| process.join());
        joined.map(|output| output.expect("no panic")).collect()
    });
    for output in ended {
        let said = String::from_utf8_lossy(&output.stdout);
        let ran = output.status.success() && said.contains("1 passed");
        assert!(ran, "{said}{}", String::from_utf8_lossy(&output.stderr));
    }
}
