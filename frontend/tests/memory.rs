//! Leaks of the compiler, in a process of its own so that nothing else is counted.

use qd_frontend::{CompileRequest, Source, Stage, compile, units};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Sources that compile.
const KERNELS: [&str; 4] = [
    include_str!("../examples/kernels/fill.mlir"),
    include_str!("../examples/kernels/sort.mlir"),
    "qd.grid.kernel @sum(%a: memref<?xf32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
       qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
     }",
    "qd.grid.kernel @scan(%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
       qd.algo.inclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
           scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
     }",
];

/// What each is compiled for.
const TARGETS: [&str; 3] = ["cpu", "nvptx:sm_90", "vulkan:1.3,subgroup=8"];

/// Sources that do not compile, and where that is found.
const FAULTY: [(&str, Stage); 3] = [
    ("qd.grid.kernel @k() { nonsense }", Stage::Parse),
    (
        "qd.grid.kernel @k(%n: i32) { qd.grid.phase blocks(%n) threads(64) {} }",
        Stage::Parse,
    ),
    ("qd.grid.kernel @k(%a: memref<?xf80>) {}", Stage::Lower),
];

fn request(source: &str, target: &str) -> CompileRequest {
    CompileRequest {
        source: Source::text("memory.mlir", source),
        targets: vec![target.parse().expect("a target")],
        ..CompileRequest::default()
    }
}

/// The compilation of that number: each source for each target in turn, and now and then one that
/// fails.
fn compile_nth(nth: usize) {
    let target = TARGETS[nth / KERNELS.len() % TARGETS.len()];
    if nth % 8 == 7 {
        let (source, stage) = FAULTY[nth / 8 % FAULTY.len()];
        let why = compile(&request(source, target)).expect_err("it is faulty");
        assert_eq!(why[0].stage, stage, "{why}");
    }
    let request = request(KERNELS[nth % KERNELS.len()], target);
    let units = units(&request).expect("a module");
    let artifact = compile(&request).expect("it compiles");
    assert_eq!(units.len(), artifact.kernels.len());
}

/// As many, in threads that end with them.
fn compile_many(count: usize) {
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        numbers.take_while(|nth| *nth < count).for_each(compile_nth);
    };
    thread::scope(|scope| {
        // The scope alone waits for the work, and not for what a thread frees as it ends.
        let threads = [scope.spawn(work), scope.spawn(work)];
        for thread in threads {
            thread.join().expect("no compilation panics");
        }
    });
}

/// Bytes that this process has from its allocator, where the C library says so. What is resident is
/// no measure: it goes up and down by megabytes with the threads that happen to have run.
#[cfg(target_env = "gnu")]
fn allocated_bytes() -> Option<usize> {
    // SAFETY: it takes nothing and gives numbers.
    let info = unsafe { libc::mallinfo2() };
    Some(info.uordblks + info.hblkhd)
}

#[cfg(not(target_env = "gnu"))]
fn allocated_bytes() -> Option<usize> {
    None
}

/// Compilations of a round: each source for each target four times.
const ROUND: usize = 48;

/// `QD_COMPILATIONS=10000` is some eight minutes' work, and prints how much memory there was.
#[test]
fn compilations_leave_nothing() {
    let asked = std::env::var("QD_COMPILATIONS").ok();
    let all: usize = asked.map_or(384, |text| text.parse().expect("a number"));
    let mut allocated = Vec::new();
    for round in 1..=all.div_ceil(ROUND).max(4) {
        compile_many(ROUND);
        let Some(bytes) = allocated_bytes() else {
            return;
        };
        println!("{} compilations: {} KiB", round * ROUND, bytes >> 10);
        allocated.push(bytes);
    }
    // The first makes what is made once and for all.
    let rest = &allocated[1..];
    let (early, late) = rest.split_at(rest.len() / 2);
    let least = |rounds: &[usize]| rounds.iter().copied().min().unwrap_or(0);
    let grown = least(late).saturating_sub(least(early));
    assert!(grown <= 64 << 10, "{grown} bytes more: {allocated:?}");
}
