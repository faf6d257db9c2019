//! What `qd-bench --only incremental` runs: a process that finds everything compiled, and links no LLVM. It
//! prints the nanoseconds to its main, from there to one kernel, and to all of the file.

#[path = "../clock.rs"]
mod clock;

use anyhow::{Context, ensure};
use qd_request::{CompileRequest, Source, find_stored};
use qd_store::Store;
use std::{env, fs, time::Instant};

fn main() -> anyhow::Result<()> {
    let now = clock::now();
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [folder, file, kernel, spawned] = &arguments[..] else {
        anyhow::bail!("expected FOLDER FILE KERNEL NANOSECONDS");
    };
    let started = now.saturating_sub(spawned.parse::<u64>()?);
    let begin = Instant::now();
    let mut request = CompileRequest {
        source: Source::text("k.mlir", fs::read_to_string(file)?),
        targets: vec!["cpu".parse()?],
        kernels: Some(vec![kernel.clone()]),
        ..CompileRequest::default()
    };
    let store = Store::new(folder, u64::MAX);
    let found = find_stored(&request, &store, &mut |_| ());
    let one = begin.elapsed();
    found.context("the kernel is not kept")?;
    let begin = Instant::now();
    request.kernels = None;
    let found = find_stored(&request, &store, &mut |_| ());
    let all = begin.elapsed();
    ensure!(
        found.context("a kernel is not kept")?.kernels.len() > 1,
        "another file"
    );
    println!("{started} {} {}", one.as_nanos(), all.as_nanos());
    Ok(())
}
