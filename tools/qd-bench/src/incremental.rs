//! What an edit costs, and a process that finds everything compiled: a file of many kernels, target cpu.
//!
//! Each row has a bar. Times are by the wall clock: other load on the machine counts.

use crate::clock::now;
use anyhow::{Context, ensure};
use qd_frontend::{
    Artifact, CompileOptions, CompileRequest, Source, TargetSpec, compile, compile_stored,
    session::{FileId, Session},
    store::Store,
};
use std::{
    fmt::Write,
    fs,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

/// The row of the table.
pub const NAME: &str = "incremental";
/// Kernels in the file.
const KERNELS: usize = 1000;
/// The kernel that is edited.
const EDITED: usize = 500;
/// Where they are, from the repository's root.
const FLIGHTS: &str = "examples/flights";
/// Edits over which memory is to stay the same.
const EDITS: usize = 10_000;

/// A file of kernels that do different things, with a number that an edit changes.
fn text(comment: &str, edited: usize) -> String {
    let mut text = format!("// {comment}\n");
    for i in 0..KERNELS {
        let number = if i == EDITED { edited } else { 1 };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "qd.grid.kernel @k{i}(%a: memref<?xi32>, %n: index) {{
  qd.grid.for_each \"go\" %i to %n {{
    %x = memref.load %a[%i] : memref<?xi32>
    %c = arith.constant {i} : i32
    %d = arith.constant {number} : i32
    %y = arith.muli %x, %c : i32
    %z = arith.addi %y, %d : i32
    memref.store %z, %a[%i] : memref<?xi32>
  }}
}}"
        );
    }
    text
}

fn request(text: &str, kernel: Option<usize>) -> anyhow::Result<CompileRequest> {
    Ok(CompileRequest {
        source: Source::text("k.mlir", text),
        targets: vec!["cpu".parse()?],
        kernels: kernel.map(|i| vec![format!("k{i}")]),
        options: CompileOptions::default(),
    })
}

/// Measures and prints the table.
pub fn run(repeats: u32) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Arc::new(Store::new(folder.path(), u64::MAX));
    let cpu: TargetSpec = "cpu".parse()?;
    println!("{KERNELS} kernels in one file, target cpu\n");
    println!("{:<52} {:>10} {:>10}", "row", "ours", "bar");

    // What the compiler itself takes, whatever it compiles.
    compile(&request("qd.grid.kernel @k() {}", None)?)?;
    let empty = memory()?;
    row("memory of the process with the compiler", &mib(empty), "");
    row("  and of its libraries", &mib(mapped()?), "");
    let mut session = Session::new(CompileOptions::default(), Some(store));
    let file = session.add("k.mlir", text("", 1));
    let (first, took) = timed(|| session.compile(file, std::slice::from_ref(&cpu)));
    let first = first?;
    row("all of it, nothing known", &ms(took), "");
    row("  a kernel of it", &ms(took / KERNELS as u32), "");

    let mut times = Vec::new();
    let (mut alone, mut besides) = (Vec::new(), Vec::new());
    // What a body takes varies by more than what is looked for.
    for nth in 0..repeats * 5 {
        let edited = text("", nth as usize + 2);
        session.take_log();
        let (artifact, took) = edit(&mut session, file, &edited, &cpu)?;
        times.push(took);
        let ran = session.take_log();
        let stages = ran.iter().flat_map(|ran| &ran.stages);
        besides.push(took.saturating_sub(stages.map(|(_, took)| *took).sum()));
        // The same kernel by itself.
        let begin = edited
            .find(&format!("qd.grid.kernel @k{EDITED}("))
            .context("it is there")?;
        let end = edited[begin..].find("\n}").context("it has an end")? + begin + 2;
        let request = request(&edited[begin..end], None)?;
        let (clean, took) = timed(|| compile(&request));
        alone.push(took);
        ensure!(clean? == artifact, "another artifact");
    }
    let pairs = times.iter().zip(&alone);
    let mut above: Vec<_> = pairs
        .map(|(edit, alone)| edit.saturating_sub(*alone))
        .collect();
    row(
        "one body edited, to its artifact",
        &ms(median(&mut times)),
        "",
    );
    row(
        "  of which all but parsing, lowering, emission",
        &ms(median(&mut besides)),
        "5 ms",
    );
    row(
        "  above compiling that kernel alone, in turns",
        &ms(median(&mut above)),
        "5 ms",
    );

    let last = repeats as usize * 5 + 1;
    let mut times = Vec::new();
    for nth in 0..repeats {
        let commented = text(&format!("Comment {nth}.\n//"), last);
        times.push(edit(&mut session, file, &commented, &cpu)?.1);
    }
    row(
        "a comment edited, to a kernel's artifact",
        &ms(median(&mut times)),
        "2 ms",
    );
    let (all, took) = timed(|| session.compile(file, std::slice::from_ref(&cpu)));
    row("  and to the file's", &ms(took), "");
    ensure!(all?.kernels.len() == first.kernels.len(), "another file");

    let held = memory()?;
    row(
        "memory of the session",
        &mib(held.saturating_sub(empty)),
        "50 MB",
    );
    row(
        "  of all of it, with the libraries",
        &mib(held + mapped()?),
        "",
    );
    for nth in 0..EDITS {
        let commented = text(&format!("Comment {nth}.\n//"), last);
        edit(&mut session, file, &commented, &cpu)?;
    }
    let grown = memory()?.saturating_sub(held);
    row(
        &format!("  more after {EDITS} comments edited"),
        &mib(grown),
        "0 MiB",
    );
    drop(session);

    // That the whole is valid is for compilations without a session to find out.
    let last_text = text("", last);
    let store = Store::new(folder.path(), u64::MAX);
    compile_stored(
        &request(&last_text, None)?,
        &store,
        &mut |_| (),
        &mut |_| (),
    )?;
    let one = request(&last_text, Some(EDITED))?;
    compile_stored(&one, &store, &mut |_| (), &mut |_| ())?;
    let path = folder.path().join("k.mlir");
    fs::write(&path, last_text)?;
    let mut runs = Vec::new();
    for _ in 0..repeats {
        runs.push(process(folder.path(), &path)?);
    }
    let of = |i: usize| {
        median(
            &mut runs
                .iter()
                .map(|run: &Vec<Duration>| run[i])
                .collect::<Vec<_>>(),
        )
    };
    row(
        "a new process, everything kept: to its main",
        &ms(of(0)),
        "",
    );
    row("  from there to one kernel's artifact", &ms(of(1)), "20 ms");
    row("  from there to all of the file", &ms(of(2)), "60 ms");
    flights(repeats)?;
    Ok(())
}

/// The largest kernel at hand, run by qd-run after a phase was edited: a process each.
fn flights(repeats: u32) -> anyhow::Result<()> {
    let tool = std::env::current_exe()?.with_file_name("qd-run");
    let cache = tempfile::tempdir()?;
    let text = fs::read_to_string(format!("{FLIGHTS}/flights.mlir"))?;
    let file = cache.path().join("flights.mlir");
    let ran = |minutes: u32| {
        let edited = text.replacen("constant 15 :", &format!("constant {minutes} :"), 1);
        ensure!(edited != text, "it has no such constant");
        fs::write(&file, edited)?;
        let mut command = Command::new(&tool);
        command.arg(&file).env("QD_CACHE_DIR", cache.path());
        for name in ["delay", "distance"] {
            command.arg(format!("--arg={name}={FLIGHTS}/{name}.npy"));
        }
        command.args(["--arg=n=len(delay)", "--print=num_late", "--quiet"]);
        let (output, took) = timed(|| command.output());
        let output = output?;
        ensure!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(took)
    };
    let first = ran(1000)?;
    let mut edited = (0..repeats)
        .map(|i| ran(20 + i))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut again = (0..repeats)
        .map(|i| ran(20 + i))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let start_of = |tool: &Path| {
        let start = || timed(|| Command::new(tool).arg("--version").output()).1;
        median(&mut (0..repeats).map(|_| start()).collect::<Vec<_>>())
    };
    let start = start_of(&tool);
    let compiler = start_of(&tool.with_file_name("qd-run-compile"));
    let above = |times: &mut Vec<Duration>| ms(median(times).saturating_sub(start));
    row(
        "the flights, a process: to its main and out again",
        &ms(start),
        "",
    );
    row("the program with the compiler, likewise", &ms(compiler), "");
    row(
        "  above that: nothing kept, to its end",
        &above(&mut vec![first]),
        "",
    );
    let phase = median(&mut edited).saturating_sub(compiler);
    row("  a phase edited", &above(&mut edited), "");
    row("    above the start of the compiler", &ms(phase), "100 ms");
    row("  nothing edited", &above(&mut again), "");
    Ok(())
}

fn edit(
    session: &mut Session,
    file: FileId,
    text: &str,
    cpu: &TargetSpec,
) -> anyhow::Result<(Artifact, Duration)> {
    let begin = Instant::now();
    session.set_text(file, text);
    let artifact = session.kernel(file, &format!("k{EDITED}"), cpu)?;
    let took = begin.elapsed();
    Ok((artifact.context("it is there")?, took))
}

/// A process of its own: what it took to its main, from there to a kernel, and to all.
fn process(folder: &Path, file: &Path) -> anyhow::Result<Vec<Duration>> {
    let output = Command::new(std::env::current_exe()?.with_file_name("qd-bench-find"))
        .args([folder, file])
        .args([format!("k{EDITED}"), now().to_string()])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let times: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    let times = times.with_context(|| format!("no times: {text:?}"))?;
    ensure!(times.len() == 3, "other times: {text:?}");
    Ok(times.into_iter().map(Duration::from_nanos).collect())
}

pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let result = work();
    (result, begin.elapsed())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub fn row(name: &str, ours: &str, bar: &str) {
    println!("{name:<52} {ours:>10} {bar:>10}");
}

pub fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

pub fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Bytes in memory that are this process's own.
pub fn memory() -> anyhow::Result<u64> {
    status("RssAnon:")
}

/// Bytes in memory of the files that it has mapped: its libraries, which grow as more of them is executed.
pub fn mapped() -> anyhow::Result<u64> {
    status("RssFile:")
}

fn status(name: &str) -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(number.context("it is not told")?.parse::<u64>()? << 10)
}
