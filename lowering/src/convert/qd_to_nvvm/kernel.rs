//! The attributes that make a function a kernel in PTX, and its occupancy
//! (`.minnctapersm`).

use crate::convert::gpu_to_llvm::{Attributes, Launch, Setting};
use melior::ir::attribute::DenseI32ArrayAttribute;
use qd_dialects::{attributes, ir::Context, melior};

/// Threads that a multiprocessor should have room for where blocks wait at
/// barriers: others work meanwhile. It leaves each 80 registers; without a limit
/// `ptxas` spends more on the order of instructions than that gains. Larger
/// blocks are limited by their size, and fewer of them at least would only allow
/// more.
const BUSY_THREADS: i32 = 768;

pub(super) fn attributes<'c>(
    context: &'c Context,
    launch: &Launch,
    _: &Setting<'_>,
) -> Attributes<'c> {
    let dimensions = [launch.threads, 1, 1];
    let dimensions = DenseI32ArrayAttribute::new(context, &dimensions);
    let mut all = vec![
        ("nvvm.kernel", attributes::unit(context)),
        ("nvvm.reqntid", dimensions.into()),
    ];
    let blocks = blocks_per_core(launch);
    if blocks > 1 {
        all.push(("nvvm.minctasm", attributes::i32(context, blocks)));
    }
    all
}

/// How many blocks a multiprocessor is to have room for: as the body has it, or else
/// what keeps it busy while blocks wait at barriers.
fn blocks_per_core(launch: &Launch) -> i32 {
    launch
        .blocks_per_core
        .unwrap_or(match launch.has_shared_arrays {
            true => BUSY_THREADS / launch.threads.max(1),
            false => 0,
        })
}

/// Why PTX cannot spell a symbol.
pub(super) fn refuses_name(name: &str) -> Option<&'static str> {
    (!is_ptx_identifier(name)).then_some("letters, digits, '_' and '$' can be")
}

/// What a symbol may be called in PTX.
fn is_ptx_identifier(name: &str) -> bool {
    let mut rest = name.chars();
    let letter = |c: char| c.is_ascii_alphabetic();
    let follows = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    match rest.next() {
        Some(c) if letter(c) => rest.all(follows),
        // These need something after them.
        Some('_' | '$') => name.len() > 1 && rest.all(follows),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_ptx_identifier;

    #[test]
    fn names_that_ptx_can_spell() {
        for name in ["a", "sum_reduce_0", "_x", "$1", "K9"] {
            assert!(is_ptx_identifier(name), "{name}");
        }
        for name in ["", "_", "9a", "a.b", "a b", "größe"] {
            assert!(!is_ptx_identifier(name), "{name}");
        }
    }
}
