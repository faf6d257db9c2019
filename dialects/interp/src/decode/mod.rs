//! Decoding of MLIR to [`Program`]: once, so that nothing is looked up by name
//! while threads run.

mod algo;
mod body;
mod control;
mod memory;
mod read;
mod scalar;
mod simt;
mod steps;

use crate::{
    fault::{Fault, Site, SiteId},
    program::Kernel,
};
use melior::ir::{BlockLike, Module, OperationRef, RegionLike, operation::OperationLike};
use std::collections::HashMap;

/// An operation of the module.
type Op<'c, 'm> = OperationRef<'c, 'm>;

/// A module, decoded from one kernel on.
#[derive(Debug)]
pub(crate) struct Program {
    /// What [`SiteId`]s stand for.
    pub sites: Vec<Site>,
    /// The entry is the first; others are what it dispatches to.
    pub kernels: Vec<Kernel>,
}

/// Decodes the kernel of this name and all it needs.
pub(crate) fn decode(module: &Module, entry: &str, wave: u32) -> Result<Program, Fault> {
    let mut decoder = Decoder {
        symbols: HashMap::new(),
        sites: Vec::new(),
        kernels: Vec::new(),
        numbers: HashMap::new(),
        wave,
    };
    let mut next = module.body().first_operation();
    while let Some(op) = next {
        if let Some(name) = read::string(op, "sym_name") {
            decoder.symbols.insert(name, op);
        }
        next = op.next_in_block();
    }
    let kernel = decoder.symbols.get(entry).copied();
    let Some(kernel) = kernel.filter(|op| read::text(op.name()) == "qd.grid.kernel") else {
        let mut known: Vec<_> = decoder
            .symbols
            .iter()
            .filter(|(_, op)| read::text(op.name()) == "qd.grid.kernel")
            .map(|(name, _)| format!("@{name}"))
            .collect();
        known.sort();
        let known = if known.is_empty() {
            "none".into()
        } else {
            known.join(", ")
        };
        return Err(Fault {
            operation: String::new(),
            ..read::fault(
                module.as_operation(),
                format!("there is no kernel @{entry} in this module; there is {known}"),
            )
        });
    };
    decoder.kernel(kernel, entry)?;
    let kernels = decoder.kernels.into_iter().flatten().collect();
    Ok(Program {
        sites: decoder.sites,
        kernels,
    })
}

/// What decoding needs at hand.
struct Decoder<'c, 'm> {
    symbols: HashMap<String, Op<'c, 'm>>,
    sites: Vec<Site>,
    /// None while a kernel is being decoded.
    kernels: Vec<Option<Kernel>>,
    numbers: HashMap<String, usize>,
    wave: u32,
}

impl<'c, 'm> Decoder<'c, 'm> {
    fn site(&mut self, op: Op) -> SiteId {
        self.sites.push(read::site(op));
        self.sites.len() as SiteId - 1
    }
}

/// The operations of a region's block; none if the region is empty.
fn operations<'c: 'm, 'm>(
    op: Op<'c, 'm>,
    region: usize,
) -> Result<impl Iterator<Item = Op<'c, 'm>>, Fault> {
    let block = block(op, region)?;
    let first = block.and_then(|block| block.first_operation());
    Ok(std::iter::successors(first, |op| op.next_in_block()))
}

/// The only block of a region; none if the region is empty.
fn block<'c: 'm, 'm>(
    op: Op<'c, 'm>,
    region: usize,
) -> Result<Option<melior::ir::BlockRef<'c, 'm>>, Fault> {
    let Some(block) = op
        .region(region)
        .ok()
        .and_then(|region| region.first_block())
    else {
        return Ok(None);
    };
    if block.next_in_region().is_some() {
        return Err(read::fault(
            op,
            "has no reference semantics with unstructured control flow",
        ));
    }
    Ok(Some(block))
}
