//! Tunings as variants of a dispatcher, for a device that nobody tuned for: the table's, and what
//! tuning would try, one thing at a time.

use super::{
    case::{self, Case, Prepared, Subject},
    tune::{AHEAD, BACKOFFS},
};
use anyhow::Context;
use qd_frontend::{
    Program,
    dispatch::{KernelDispatcher, KernelVariant, Policy, Settings},
    objects::{Arg, Kernel, Stream},
};

/// Timed launches of each variant.
const TRIALS: u32 = 7;
/// Fewer blocks than these were never the best.
const SHARES: i64 = 792;

/// Kernels that do the same, by what their tunings are called.
pub fn variants(case: &Case, target: &str) -> anyhow::Result<Vec<(String, Kernel)>> {
    let source = (case.kernel)();
    let mut variants = super::plain(case, target)?;
    variants[0].0 = "table".into();
    let tunings = match source.contains("deterministic") {
        true => of_fixed_tiles,
        false => tunings,
    };
    for (name, entries) in case.subject().map(tunings).unwrap_or_default() {
        let kernel = Program::compile(&case::with_tuning(&source, entries), target)
            .and_then(|program| program.kernel("main"));
        match kernel {
            Ok(kernel) => variants.push((name, kernel)),
            // Such as more shared memory than there is.
            Err(error) => eprintln!("{}, {name}: {error:#}", case.name()),
        }
    }
    Ok(variants)
}

/// What a subject's tunings are called, and their entries. What an entry does not name is as in the
/// table.
fn tunings(subject: &Subject) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (threads, items, blocks_per_core) in subject.shapes {
        let name = format!("{threads}x{items}x{blocks_per_core}");
        let shape =
            format!("threads = {threads}, items = {items}, blocks_per_core = {blocks_per_core}");
        for blocks in subject.blocks.iter().filter(|blocks| **blocks >= SHARES) {
            let shared = format!("{shape}, blocks = {blocks}");
            all.push((format!("{name} in {blocks}"), shared));
        }
        all.push((name, shape));
    }
    if subject.blocks.is_empty() {
        all.extend(one("ahead", &AHEAD));
        all.extend(one("pause", &BACKOFFS));
    }
    all
}

/// The same where threads and items are fixed.
fn of_fixed_tiles(subject: &Subject) -> Vec<(String, String)> {
    let mut all = one("blocks_per_core", &[1, 2, 3, 4]);
    all.extend(one("ahead", &AHEAD));
    match subject.blocks {
        [] => all.extend(one("pause", &BACKOFFS)),
        blocks => {
            all.extend(one("blocks", &[0]));
            all.extend(one("blocks", blocks));
        }
    }
    all
}

/// Tunings that differ from the table's in one setting.
fn one(setting: &str, values: &[i64]) -> Vec<(String, String)> {
    let of = |value| (format!("{setting} {value}"), format!("{setting} = {value}"));
    values.iter().map(of).collect()
}

/// Calls a dispatcher as a program would, until it has chosen.
pub fn fastest(
    variants: &[(String, Kernel)],
    stream: &Stream,
    prepared: &Prepared,
) -> anyhow::Result<usize> {
    let policy = Policy {
        active: TRIALS,
        ..Policy::default()
    };
    let settings = Settings {
        policy,
        ..Settings::default()
    };
    let named = variants.iter();
    let named = named.map(|(name, kernel)| KernelVariant::named(name, kernel));
    let dispatcher = KernelDispatcher::new(
        "bench",
        stream.device(),
        |_: &[Arg<'_>]| 0_u32,
        named.collect(),
        settings,
    )?;
    let arguments = prepared.arguments();
    for _ in 0..variants.len() * (TRIALS + 1) as usize {
        prepared.restore(stream)?;
        if let Err(error) = dispatcher.launch(stream, &arguments) {
            eprintln!("{error}");
        }
    }
    let winner = dispatcher.dispatcher().winner(&0);
    winner.context("no variant could be launched")
}
