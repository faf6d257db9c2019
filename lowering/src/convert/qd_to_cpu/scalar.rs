//! Per-thread ops of the dialect as upstream ops.

use crate::convert::{
    classes::CLASSES,
    memory::{self, Scopes},
};
use qd_dialects::{
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt},
    ops::{self, grid, simt},
};

/// Threads of the host are the only ones there are, and their scope is LLVM's
/// widest.
const HOST: &Scopes = &Scopes {
    block: None,
    device: None,
    rmw_has_order: true,
    rmw_orders_zeros: false,
    by_words: false,
    adds_shared_doubles: true,
};

/// Rewrites every op of ours that is left below `root`, and ops without an
/// upstream conversion.
pub fn lower<'c>(root: Op<'c>) -> Result<'c> {
    for op in root.nested() {
        let name = op.full_name();
        if let Some((_, conversion)) = CLASSES.iter().find(|(known, _)| *known == name) {
            let results = conversion(&Builder::before(op), op)?;
            op.replace_with(&results);
            continue;
        }
        // A yield is reached with its op, when that is cloned or rewritten.
        if !name.starts_with(ops::PREFIX) || name == ops::Yield::NAME {
            continue;
        }
        let b = Builder::before(op);
        let value = match name {
            grid::View::NAME => Some(memory::view(&b, op)),
            grid::AtomicRmw::NAME => Some(memory::atomic_rmw(&b, op, HOST)),
            grid::AtomicLoad::NAME => Some(memory::atomic_load(&b, op, HOST)),
            grid::AtomicStore::NAME => {
                memory::atomic_store(&b, op, HOST);
                None
            }
            grid::AtomicExchange::NAME => Some(memory::atomic_exchange(&b, op, HOST)),
            grid::AtomicCas::NAME => Some(memory::atomic_cas(&b, op, HOST)),
            simt::MemFence::NAME | simt::BlockMemFence::NAME | grid::MemFence::NAME => {
                fence(&b, name);
                None
            }
            // A backoff has no effect: the thread is the only one that could
            // progress.
            simt::Pause::NAME => None,
            _ => {
                return Err(Diagnostic::at(
                    op,
                    "has no lowering to the cpu target here: it belongs to an earlier level",
                ));
            }
        };
        match value {
            Some(value) => op.replace_with(&[value.value()]),
            None => op.erase(),
        }
    }
    Ok(())
}

/// One host thread runs a block, so only a device-scope fence does anything.
fn fence(b: &Builder<'_>, name: &str) {
    if name == grid::MemFence::NAME {
        memory::fence(b, memory::SEQ_CST, HOST.device);
    }
}
