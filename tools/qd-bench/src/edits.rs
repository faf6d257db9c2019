//! What a session holds over many edits of every kind, and for a file of many kernels: target cpu.
//!
//! After each edit the kernel is asked for that it is about, as an editor would; all kernels are before memory is looked
//! at, so that the session holds as much each time.

use crate::incremental::{mapped, memory, mib, ms, row, timed};
use anyhow::{Context, ensure};
use qd_frontend::{
    Artifact, CompileOptions, CompileRequest, Host, Source, TargetSpec, compile,
    session::{FileId, Session},
    this_machine,
};
use std::{
    fmt::Write,
    time::{Duration, Instant},
};

/// The rows of the table.
pub const EDITS: &str = "edits";
pub const KERNELS: &str = "10000 kernels";

/// Kernels of the file that is edited.
const FEW: usize = 1000;
/// Kernels of the file of many.
const MANY: usize = 10_000;
/// How often the file is edited, and after how many edits memory is looked at.
const TIMES: usize = 10_000;
const LOOK: usize = 1000;
/// Functions that kernels call.
const CALLEES: usize = 10;

/// How many kinds of edits there are.
const EACH: usize = 9;

/// What is done to the file, one after the other.
const KINDS: [(&str, Edit); EACH] = [
    ("a comment", |edited, nth| {
        edited.comment = format!("Edit {nth}.")
    }),
    ("whitespace", |edited, nth| edited.spaces = nth % 7 + 1),
    ("one body", |edited, nth| edited.asked().number = nth),
    ("one callee", |edited, nth| {
        let callee = edited.asked().callee;
        edited.callees[callee] = nth;
    }),
    ("a signature", |edited, _| {
        let asked = edited.asked();
        asked.more_arguments = (asked.more_arguments + 1) % 3;
    }),
    ("an option", |edited, nth| {
        edited.feature = ["-avx512f", "-avx512vl", "-avx2"][nth / EACH % 3];
    }),
    ("a target", |edited, nth| {
        edited.target = ["cpu", "cpu,wave=8", "cpu,wave=16"][nth / EACH % 3];
    }),
    ("a new kernel", |edited, nth| {
        edited.kernels.push(Kernel::new(format!("new{nth}"), nth));
        edited.kernel = edited.kernels.len() - 1;
    }),
    ("a kernel deleted", |edited, _| {
        edited.kernels.pop();
        edited.kernel = 0;
    }),
];

type Edit = fn(&mut Edited, usize);

struct Kernel {
    name: String,
    number: usize,
    callee: usize,
    more_arguments: usize,
}

impl Kernel {
    fn new(name: String, number: usize) -> Self {
        Self {
            name,
            number,
            callee: number % CALLEES,
            more_arguments: 0,
        }
    }
}

/// A file, and what it is compiled with.
struct Edited {
    comment: String,
    spaces: usize,
    callees: [usize; CALLEES],
    kernels: Vec<Kernel>,
    feature: &'static str,
    target: &'static str,
    /// The kernel that is asked for.
    kernel: usize,
}

impl Edited {
    fn new(kernels: usize) -> Self {
        Self {
            comment: String::new(),
            spaces: 1,
            callees: [0; CALLEES],
            kernels: (0..kernels)
                .map(|i| Kernel::new(format!("k{i}"), i))
                .collect(),
            feature: "-avx512f",
            target: "cpu",
            kernel: 0,
        }
    }

    fn asked(&mut self) -> &mut Kernel {
        &mut self.kernels[self.kernel]
    }

    fn text(&self) -> String {
        let mut text = format!("// {}\n", self.comment);
        // Writing to a string does not fail.
        for (i, number) in self.callees.iter().enumerate() {
            let _ = writeln!(
                text,
                "func.func @f{i}(%x: i32) -> i32 {{
  %c = arith.constant {number} : i32
  %y = arith.addi %x, %c : i32
  return %y : i32
}}"
            );
        }
        let spaces = " ".repeat(self.spaces);
        for kernel in &self.kernels {
            let Kernel {
                name,
                number,
                callee,
                more_arguments,
            } = kernel;
            let more: String = (0..*more_arguments)
                .map(|i| format!(", %more{i}: i32"))
                .collect();
            let _ = writeln!(
                text,
                "qd.grid.kernel @{name}(%a: memref<?xi32>,{spaces}%n: index{more}) {{
  qd.grid.for_each \"go\" %i to %n {{
    %x = memref.load %a[%i] : memref<?xi32>
    %c = arith.constant {number} : i32
    %y = arith.muli %x, %c : i32
    %z = func.call @f{callee}(%y) : (i32) -> i32
    memref.store %z, %a[%i] : memref<?xi32>
  }}
}}"
            );
        }
        text
    }

    fn options(&self) -> CompileOptions {
        let mut machine = this_machine();
        machine.features.push(self.feature.into());
        CompileOptions {
            host: Host::Named(machine),
            ..CompileOptions::default()
        }
    }

    /// Hands it to a session, and asks for the kernel.
    fn ask(&self, session: &mut Session, file: FileId) -> anyhow::Result<Artifact> {
        session.set_text(file, self.text());
        let name = &self.kernels[self.kernel].name;
        let artifact = session.kernel(file, name, &self.target.parse()?)?;
        artifact.context("the kernel is there")
    }

    /// What comes of it without a session.
    fn clean(&self) -> anyhow::Result<Artifact> {
        Ok(compile(&CompileRequest {
            source: Source::text("k.mlir", self.text()),
            targets: vec![self.target.parse()?],
            kernels: Some(vec![self.kernels[self.kernel].name.clone()]),
            options: self.options(),
        })?)
    }
}

/// Edits a file of a thousand kernels ten thousand times.
pub fn run() -> anyhow::Result<()> {
    println!(
        "\n{FEW} kernels in one file, target cpu; {TIMES} edits, of each kind in turn: {}\n",
        KINDS.map(|(kind, _)| kind).join(", ")
    );
    let mut edited = Edited::new(FEW);
    let mut session = Session::new(edited.options(), None);
    let file = session.add("k.mlir", edited.text());
    println!(
        "{:>8} {:>12} {:>12} {:>12} {:>12} {:>14}",
        "edits", "memory", "allocated", "libraries", "compiled", "time an edit"
    );
    let (mut least, mut most) = (u64::MAX, 0);
    let mut compiled = 0;
    let mut took = Duration::ZERO;
    for nth in 0..=TIMES {
        if nth % LOOK == 0 {
            // The code of other targets and options has other sizes.
            (edited.target, edited.feature) = ("cpu", "-avx512f");
            session.set_options(edited.options());
            let target = edited.target.parse()?;
            session.compile(file, std::slice::from_ref(&target))?;
            session.take_log();
            let held = memory()?;
            (least, most) = (least.min(held), most.max(held));
            println!(
                "{nth:>8} {:>12} {:>12} {:>12} {compiled:>12} {:>14}",
                mib(held),
                mib(allocated()),
                mib(mapped()?),
                ms(took / LOOK as u32)
            );
            (compiled, took) = (0, Duration::ZERO);
        }
        let (_, edit) = KINDS[nth % EACH];
        if nth % EACH == 0 {
            // The kinds after this are about another kernel.
            edited.kernel = nth / EACH % FEW;
        }
        let feature = edited.feature;
        edit(&mut edited, nth);
        let begin = Instant::now();
        if edited.feature != feature {
            session.set_options(edited.options());
        }
        let artifact = edited.ask(&mut session, file)?;
        took += begin.elapsed();
        let ran = session.take_log();
        compiled += ran.iter().filter(|ran| ran.query == "compiled").count();
        if nth % LOOK == 0 {
            ensure!(artifact == edited.clean()?, "another artifact");
        }
    }
    println!();
    row(
        "between the least memory and the most",
        &mib(most - least),
        "0 MiB",
    );
    Ok(())
}

/// Bytes that this process has allocated, in whatever language, and not freed: what it holds. Memory has gaps between
/// them as well.
fn allocated() -> u64 {
    // Safety: it has no requirements.
    let info = unsafe { libc::mallinfo2() };
    (info.uordblks + info.hblkhd) as u64
}

/// A file of ten thousand kernels.
pub fn many() -> anyhow::Result<()> {
    println!("\n{MANY} kernels in one file, target cpu\n");
    println!("{:<52} {:>10} {:>10}", "row", "ours", "bar");
    // What the compiler itself takes, whatever it compiles.
    compile(&CompileRequest {
        source: Source::text("k.mlir", "qd.grid.kernel @k() {}"),
        targets: vec!["cpu".parse()?],
        ..CompileRequest::default()
    })?;
    let empty = memory()?;
    let mut edited = Edited::new(MANY);
    edited.kernel = MANY / 2;
    let cpu: TargetSpec = edited.target.parse()?;
    let mut session = Session::new(edited.options(), None);
    let file = session.add("k.mlir", edited.text());
    let (all, took) = timed(|| session.compile(file, std::slice::from_ref(&cpu)));
    let all = all?.kernels.len();
    ensure!(all == MANY, "{all} kernels");
    row("all of it, nothing known", &ms(took), "");
    row("  a kernel of it", &ms(took / MANY as u32), "");
    let held = memory()?.saturating_sub(empty);
    row("memory of the session", &mib(held), "500 MB");
    row("  of 1000 kernels", &mib(held / 10), "50 MB");
    for (what, bar, edit) in [
        ("one body edited, to its artifact", "", KINDS[2].1),
        ("a comment edited, to a kernel's artifact", "", KINDS[0].1),
    ] {
        edit(&mut edited, 77);
        let (artifact, took) = timed(|| edited.ask(&mut session, file));
        ensure!(artifact? == edited.clean()?, "another artifact");
        row(what, &ms(took), bar);
    }
    Ok(())
}
