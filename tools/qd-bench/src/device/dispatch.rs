//! Tunings as variants of a dispatcher, for a device that nobody tuned for: the table's, and the
//! shapes that tuning would try.

use super::case::{self, Case, Prepared};
use anyhow::Context;
use qd_frontend::{
    Program,
    dispatch::{KernelDispatcher, KernelVariant, Policy, Settings},
    objects::{Arg, Kernel, Stream},
};
use std::iter;

/// Timed launches of each variant.
const TRIALS: u32 = 7;
/// Fewer blocks than these were never the best.
const SHARES: i64 = 792;

/// Kernels that do the same, by what their tunings are called.
pub fn variants(case: &Case, target: &str) -> anyhow::Result<Vec<(String, Kernel)>> {
    let source = (case.kernel)();
    let mut variants = super::plain(case, target)?;
    variants[0].0 = "table".into();
    let Some(subject) = case.subject() else {
        return Ok(variants);
    };
    for (threads, items, blocks_per_core) in subject.shapes {
        let shape =
            format!("threads = {threads}, items = {items}, blocks_per_core = {blocks_per_core}");
        let name = format!("{threads}x{items}x{blocks_per_core}");
        let shares = subject.blocks.iter().filter(|blocks| **blocks >= SHARES);
        let shared = shares.map(|blocks| {
            (
                format!("{name} in {blocks}"),
                format!("{shape}, blocks = {blocks}"),
            )
        });
        for (name, entries) in iter::once((name.clone(), shape.clone())).chain(shared) {
            let kernel = Program::compile(&case::with_tuning(&source, entries), target)
                .and_then(|program| program.kernel("main"));
            match kernel {
                Ok(kernel) => variants.push((name, kernel)),
                // Such as more shared memory than there is.
                Err(error) => eprintln!("{}, {name}: {error:#}", case.name()),
            }
        }
    }
    Ok(variants)
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
