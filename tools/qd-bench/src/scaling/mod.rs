//! How compile time grows with a module: families of modules, each in sizes that
//! double, to every level and target that matters.
//!
//! Each size is compiled in a process of its own (`child`), which measures LLVM's
//! time and ours separately, and can be ended when it takes too long. Times are
//! processor time of all threads, so that other load on the machine does not count.
//! They still depend on which caches a size fits into. The number of executed
//! instructions does not, and can be counted instead.

pub mod child;
mod family;

use anyhow::{Context, ensure};
use child::Cost;
use family::{FAMILIES, Family};
pub use family::{What, phases};
use std::{
    ffi::OsString,
    fs,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Growth of our time, or of instructions, from one size to the next, which is twice
/// as large, above which a row is marked.
const BAR: f64 = 2.2;

/// No size may take longer; the larger ones of its row are left out then.
const LIMIT: Duration = Duration::from_secs(300);

/// Sizes that take less are measured five times; the fastest counts.
const SHORT: Duration = Duration::from_secs(5);

/// A family on one target.
type Row = (&'static Family, &'static str);

fn rows() -> impl Iterator<Item = Row> {
    let rows = |family: &'static Family| family.targets.iter().map(move |target| (family, *target));
    FAMILIES.iter().flat_map(rows)
}

fn name((family, target): Row) -> String {
    format!("scaling {} {target}", family.name)
}

/// What the rows are called.
pub fn names() -> Vec<String> {
    rows().map(name).collect()
}

/// Measures and prints the rows: times, or instructions.
pub fn run(wanted: impl Fn(&str) -> bool, instructions: bool) -> anyhow::Result<()> {
    let rows: Vec<_> = rows().filter(|row| wanted(&name(*row))).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let measure = if instructions {
        println!(
            "\n{:<48} {:>8} {:>12} {:>6}",
            "row", "size", "millions", "×"
        );
        count
    } else {
        println!(
            "\n{:<48} {:>8} {:>9} {:>6} {:>9} {:>6} {:>9}",
            "row", "size", "ours, s", "×", "LLVM, s", "×", "peak, MiB"
        );
        time
    };
    let folder = tempfile::tempdir()?;
    for row in rows {
        measure(row, folder.path()).with_context(|| name(row))?;
    }
    let what = if instructions {
        "millions: instructions from text to the plan or the target's own dialects, less those of \
         size 1"
    } else {
        "ours: processor time without LLVM's passes and code generation"
    };
    println!("\n{what}; ×: over that of half the size; !: grows by more than {BAR}");
    Ok(())
}

/// Counts the instructions of a row's sizes.
fn count((family, target): Row, folder: &Path) -> anyhow::Result<()> {
    let input = folder.join("input.mlir");
    let what = match family.what {
        What::Code => What::Target,
        what => what,
    };
    let count = |size: usize| {
        fs::write(&input, (family.source)(size))?;
        instructions(&input, target, what)
    };
    let start = count(1)?;
    let mut before: Option<f64> = None;
    for size in family.sizes {
        let counted = (count(*size)? - start) as f64;
        let factor = before.map(|before| counted / before);
        println!(
            "{:<48} {size:>8} {:>12.0} {:>6}{}",
            name((family, target)),
            counted / 1e6,
            factor.map_or("-".into(), |factor| format!("{factor:.2}")),
            if factor > Some(BAR) { " !" } else { "" },
        );
        before = Some(counted);
    }
    Ok(())
}

/// Instructions that a compilation executes, as valgrind counts them.
fn instructions(input: &Path, target: &str, what: What) -> anyhow::Result<u64> {
    let run = Command::new("valgrind")
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ])
        .arg(std::env::current_exe()?)
        .args(arguments(input, target, what))
        .output()
        .context("--instructions needs valgrind")?;
    let text = String::from_utf8_lossy(&run.stderr);
    ensure!(
        run.status.success(),
        "compiling ended with {}:\n{text}",
        run.status
    );
    // `==42== I   refs:      1,234,567`.
    let line = text.lines().find(|line| line.contains("refs:"));
    let number = line.and_then(|line| line.rsplit(' ').next());
    let number = number.with_context(|| format!("valgrind counted nothing:\n{text}"))?;
    Ok(number.replace(',', "").parse()?)
}

/// Of the process that compiles a module.
fn arguments(input: &Path, target: &str, what: What) -> [OsString; 5] {
    let what = format!("--what={}", format!("{what:?}").to_lowercase());
    let input = input.as_os_str().to_owned();
    [
        "--target".into(),
        target.into(),
        "--compile".into(),
        input,
        what.into(),
    ]
}

/// Measures the times of a row's sizes.
fn time((family, target): Row, folder: &Path) -> anyhow::Result<()> {
    let mut before: Option<Cost> = None;
    for size in family.sizes {
        let input = folder.join("input.mlir");
        fs::write(&input, (family.source)(*size))?;
        let name = name((family, target));
        let Some(cost) = cheapest(&input, target, family.what)? else {
            println!("{name:<48} {size:>8} more than {} s", LIMIT.as_secs());
            break;
        };
        let factor = |of: fn(&Cost) -> f64| before.as_ref().map(|before| of(&cost) / of(before));
        let text = |factor: Option<f64>| match factor {
            Some(factor) if factor.is_finite() => format!("{factor:.2}"),
            _ => "-".into(),
        };
        let ours = factor(|cost| cost.ours);
        println!(
            "{name:<48} {size:>8} {:>9.3} {:>6} {:>9.3} {:>6} {:>9.0}{}",
            cost.ours,
            text(ours),
            cost.llvm,
            text(factor(|cost| cost.llvm)),
            cost.peak,
            if ours > Some(BAR) { " !" } else { "" },
        );
        before = Some(cost);
    }
    Ok(())
}

/// What a compilation costs, or nothing if that takes too long.
fn cheapest(input: &Path, target: &str, what: What) -> anyhow::Result<Option<Cost>> {
    let start = Instant::now();
    let Some(mut best) = compile(input, target, what)? else {
        return Ok(None);
    };
    if start.elapsed() < SHORT {
        for _ in 0..4 {
            if let Some(cost) = compile(input, target, what)? {
                best.ours = best.ours.min(cost.ours);
                best.llvm = best.llvm.min(cost.llvm);
            }
        }
    }
    Ok(Some(best))
}

fn compile(input: &Path, target: &str, what: What) -> anyhow::Result<Option<Cost>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(arguments(input, target, what))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    };
    ensure!(status.success(), "compiling ended with {status}");
    let mut text = String::new();
    let mut stdout = child.stdout.take().context("its output is a pipe")?;
    stdout.read_to_string(&mut text)?;
    Ok(Some(Cost::parse(&text)?))
}
