//! The collectives on which control flow around collectives depends.
//!
//! Such control has to be the same in a subgroup, which is known of a collective's result and of none of
//! its expansion's: of shuffles and sums nobody can tell. Where a target has a form of such an op, that is
//! kept, though the expansion may be cheaper; and a term takes the place of such an op only where it is seen to be the same.

use qd_dialects::{
    interfaces::Collective,
    ir::{Block, Key, Op, OpExt, Value, ValueExt, Values, arguments},
};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The ops of a body, by key, of which a branch or loop that holds a collective is made. Too many are of
/// them where several values go through one op with regions.
pub fn deciding(body: Op<'_>) -> HashSet<Key> {
    let all = body.nested();
    let mut owners: HashMap<Key, Op<'_>> = HashMap::default();
    let mut stack: Vec<Value<'_>> = Vec::new();
    for op in all.iter().copied().filter(|op| op.region_count() > 0) {
        if Collective::of(op).is_some() {
            continue;
        }
        for block in blocks(op) {
            for argument in arguments(block) {
                owners.insert(argument.key(), op);
            }
        }
        if op
            .nested()
            .iter()
            .any(|inner| Collective::of(*inner).is_some())
        {
            stack.extend(sources(op));
        }
    }
    let mut seen = HashSet::default();
    while let Some(value) = stack.pop() {
        let from = value
            .defining_op()
            .or_else(|| owners.get(&value.key()).copied());
        if let Some(op) = from
            && seen.insert(op.key())
        {
            stack.extend(sources(op));
        }
    }
    seen
}

fn blocks(op: Op<'_>) -> Vec<Block<'_>> {
    let mut all = Vec::new();
    for region in 0..op.region_count() {
        let mut block = op.region_block(region);
        while let Some(current) = block {
            all.push(current);
            block = current.next_in_region();
        }
    }
    all
}

/// What an op is given, and what its regions hand on.
fn sources(op: Op<'_>) -> Values<'_> {
    let mut all = op.operand_values();
    if op.region_count() > 0 && Collective::of(op).is_none() {
        let ends = blocks(op)
            .into_iter()
            .filter_map(|block| block.terminator());
        all.extend(ends.flat_map(|end| end.operand_values()));
    }
    all
}
