//! What `qd-select-lowering` takes, and how it grows: bodies of collectives alone, in mixes that give
//! rules much to do, much to share, or nothing.
//!
//! And what compiling each algorithm of the bench and the flights takes with the search and without, in turns.
//!
//! Each body is parsed anew, and the fastest run counts: what other processes do comes on top.

use crate::{device, measure};
use anyhow::{Context, ensure};
use qd_frontend::{CompileRequest, Parsed, Source, compile};
use std::{fmt::Write as _, fs, path::Path, process::Command, time::Duration};

/// What the rows begin with.
pub const NAME: &str = "search";
const TARGETS: [&str; 3] = ["nvptx:sm_90", "amdgpu:gfx1100", "cpu"];
/// The example that is compiled beside the algorithms.
const FLIGHTS: &str = include_str!("../../../examples/flights/flights.mlir");
/// Collectives of a body.
const SIZES: [usize; 5] = [200, 1_000, 2_000, 5_000, 10_000];
/// What it may take at the first size.
const BAR: Duration = Duration::from_millis(10);

/// A body's ops, of which each takes a value and a predicate and adds to what is stored, and how many of them in a row
/// take the same.
type Mix = (&'static str, usize, &'static [&'static str]);

const MIXES: [Mix; 5] = [
    (
        "mixed",
        16,
        &[
            "%r = qd.simt.inclusive_scan add %v : i32",
            "%r = qd.simt.reduce_all add %v : i32",
            "%m = qd.simt.ballot %p\n %r = qd.math.popcnt %m : i64",
            "%r = qd.simt.count_true %p",
            "%r = qd.simt.exclusive_scan add %o : i32",
            "%b = qd.simt.any %p\n %r = arith.extui %b : i1 to i32",
            "%x = qd.simt.shuffle xor %v, %c1 : i32\n %r = qd.simt.shuffle xor %x, %c2 : i32",
            "%r = qd.simt.reduce_all maxsi %v : i32",
        ],
    ),
    ("gathers", 2, &["%r = qd.simt.shuffle idx %v, %o : i32"]),
    ("reductions", 2, &["%r = qd.simt.reduce_all add %v : i32"]),
    // Those that rules say most of.
    (
        "ranks",
        1,
        &["%b = arith.xori %p, %true : i1
           %x = arith.extui %b : i1 to i32
           %r = qd.simt.exclusive_scan add %x : i32"],
    ),
    (
        "segments",
        1,
        &["%r = qd.simt.segmented_reduce add %o heads %p tile(3) : i32"],
    ),
];

/// A body of `count` collectives of a mix.
fn source((_, shared, ops): Mix, count: usize) -> String {
    let mut text = String::from(
        "func.func private @body(%in: memref<?xi32>, %out: memref<?xi32>) attributes {qd.threads = 256 : i64} {
           %true = arith.constant true
           %c1 = arith.constant 1 : i32
           %c2 = arith.constant 2 : i32
           %zero = arith.constant 0 : i32
           %t = qd.simt.block.thread_id
           %first = memref.load %in[%t] : memref<?xi32>\n",
    );
    let mut sum = String::from("first");
    for number in 0..count {
        let op = ops[number % ops.len()];
        let of = number / shared;
        if number % shared == 0 {
            let _ = writeln!(
                text,
                "%k{of} = arith.constant {of} : i32
                 %v{of} = arith.addi %first, %k{of} : i32
                 %p{of} = arith.cmpi sgt, %v{of}, %zero : i32
                 %o{of} = arith.extui %p{of} : i1 to i32"
            );
        }
        let mut op = op.to_string();
        for name in ["v", "p", "o"] {
            op = renamed(&op, name, of);
        }
        for name in ["r", "m", "b", "x"] {
            op = renamed(&op, name, number);
        }
        let _ = writeln!(
            text,
            "{op}\n%s{number} = arith.addi %{sum}, %r{number} : i32"
        );
        sum = format!("s{number}");
    }
    let _ = writeln!(
        text,
        "memref.store %{sum}, %out[%t] : memref<?xi32>\nreturn\n}}"
    );
    text
}

/// With a number after a value's name of one letter.
fn renamed(op: &str, name: &str, number: usize) -> String {
    let mut text = op.to_string();
    for end in [" ", ",", "\n"] {
        text = text.replace(&format!("%{name}{end}"), &format!("%{name}{number}{end}"));
    }
    match text.strip_suffix(&format!("%{name}")) {
        Some(start) => format!("{start}%{name}{number}"),
        None => text,
    }
}

/// The rows' names.
pub fn names() -> Vec<String> {
    let compiling = TARGETS.map(compiling);
    let mixes = rows().map(|(mix, target)| name(mix, target));
    mixes.chain(compiling).collect()
}

fn rows() -> impl Iterator<Item = (Mix, &'static str)> {
    MIXES
        .into_iter()
        .flat_map(|mix| TARGETS.map(|target| (mix, target)))
}

fn name((mix, ..): Mix, target: &str) -> String {
    format!("{NAME} {mix} {target}")
}

/// Compiles each algorithm and the flights with the search and without, in this process and by `qd-translate`, and prints
/// the fastest runs.
fn compilations(repeats: u32, wanted: &impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let targets: Vec<_> = TARGETS
        .into_iter()
        .filter(|t| wanted(&compiling(t)))
        .collect();
    let folder = tempfile::tempdir()?;
    for target in targets {
        println!(
            "\n{:<36} {:>10} {:>10} {:>6}   {:>10} {:>10} {:>6}",
            compiling(target),
            "search, ms",
            "fixed, ms",
            "ratio",
            "command",
            "fixed",
            "ratio"
        );
        let mut all: Vec<[[f64; 2]; 2]> = Vec::new();
        let mut kernels = device::kernels();
        kernels.push(("flights".into(), FLIGHTS.into()));
        for (name, kernel) in kernels {
            let input = folder.path().join("kernel.mlir");
            fs::write(&input, &kernel)?;
            let here = |target: &str| compiled(&kernel, target);
            let command = |target: &str| translated(&input, target);
            let times = [
                fastest_in_turn(repeats, target, here).with_context(|| name.clone())?,
                fastest_in_turn(repeats, target, command).with_context(|| name.clone())?,
            ];
            print_times(&name, times);
            all.push(times);
        }
        let sum = |of: usize, side: usize| all.iter().map(|times| times[of][side]).sum();
        print_times(
            "together",
            [0, 1].map(|of| [0, 1].map(|side| sum(of, side))),
        );
        let of_ratios = [0, 1].map(|of| {
            let ratios = all.iter().map(|times| times[of][0] / times[of][1]);
            let sum: f64 = ratios.clone().map(f64::ln).sum();
            let mean = (sum / all.len() as f64).exp();
            format!("{mean:.2}, {:.2}", ratios.fold(0.0, f64::max))
        });
        let [here, command] = of_ratios;
        println!("{:<36} {here:>28}   {command:>28}", "geometric mean, most");
    }
    Ok(())
}

fn print_times(name: &str, [here, command]: [[f64; 2]; 2]) {
    let of =
        |[search, fixed]: [f64; 2]| format!("{search:>10.1} {fixed:>10.1} {:>6.2}", search / fixed);
    println!("{name:<36} {}   {}", of(here), of(command));
}

/// The fastest of several runs for a target with the search and without, in milliseconds; the first of each is not timed.
fn fastest_in_turn(
    repeats: u32,
    target: &str,
    run: impl Fn(&str) -> anyhow::Result<Duration>,
) -> anyhow::Result<[f64; 2]> {
    let targets = [target.into(), format!("{target},fixed")];
    let mut fastest = [f64::INFINITY; 2];
    for turn in 0..=repeats {
        for (fastest, target) in fastest.iter_mut().zip(&targets) {
            let time = run(target)?.as_secs_f64() * 1e3;
            if turn > 0 {
                *fastest = fastest.min(time);
            }
        }
    }
    Ok(fastest)
}

fn compiled(kernel: &str, target: &str) -> anyhow::Result<Duration> {
    let request = CompileRequest {
        source: Source::text("kernel.mlir", kernel),
        targets: vec![target.parse()?],
        ..CompileRequest::default()
    };
    let mut done = Ok(());
    let time = measure::time(|| done = compile(&request).map(drop));
    done?;
    Ok(time)
}

/// What the command takes, which compiles anew each time.
fn translated(input: &Path, target: &str) -> anyhow::Result<Duration> {
    let tool = std::env::current_exe()?.with_file_name("qd-translate");
    let mut command = Command::new(&tool);
    command.arg(input).args(["--target", target, "-o"]);
    command.arg(input.with_extension("qdart"));
    command.env("QD_CACHE_DIR", "");
    let mut status = None;
    let time = measure::time(|| status = Some(command.status()));
    let status = status
        .expect("the call was made")
        .with_context(|| format!("running {}", tool.display()))?;
    ensure!(status.success(), "{} failed: {status}", tool.display());
    Ok(time)
}

fn compiling(target: &str) -> String {
    format!("{NAME} compile {target}")
}

/// Measures and prints the rows.
pub fn run(repeats: u32, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    compilations(repeats, &wanted)?;
    let rows: Vec<_> = rows()
        .filter(|(mix, target)| wanted(&name(*mix, target)))
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    println!(
        "\n{:<36} {:>8} {:>10} {:>10} {:>10}",
        "row", "ops", "search, ms", "fixed, ms", "µs an op"
    );
    for (mix, target) in rows {
        let name = name(mix, target);
        for size in SIZES {
            let repeats = if size > 1_000 {
                repeats.min(3)
            } else {
                repeats
            };
            let of = |pass: &str| fastest(&source(mix, size), pass, repeats);
            let search = of(&format!("qd-select-lowering{{target={target}}}"));
            let search = search.with_context(|| name.clone())?;
            let fixed = of("qd-select-subgroup-size{wave=32}")?;
            let is_slow = size == SIZES[0] && search > BAR;
            println!(
                "{name:<36} {size:>8} {:>10.2} {:>10.2} {:>10.2}{}",
                search.as_secs_f64() * 1e3,
                fixed.as_secs_f64() * 1e3,
                search.as_secs_f64() * 1e6 / size as f64,
                if is_slow { " !" } else { "" }
            );
        }
    }
    println!(
        "\nsearch: qd-select-lowering, the fastest run; fixed: qd-select-subgroup-size in its place; \
         !: more than {} ms with {} ops",
        BAR.as_millis(),
        SIZES[0]
    );
    Ok(())
}

fn fastest(source: &str, pass: &str, repeats: u32) -> anyhow::Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..repeats {
        let context = qd_frontend::lazy_context();
        let source = Source::text("body.mlir", source);
        let mut parsed = Parsed::new(&context, &source, &mut |_| ())?;
        let mut done = Ok(());
        let time = measure::time(|| {
            done = qd_dialects::pass::run_pipeline(&context, parsed.module_mut(), pass);
        });
        done.map_err(anyhow::Error::msg)?;
        best = best.min(time);
    }
    Ok(best)
}
