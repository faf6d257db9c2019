//! How many subgroups of a body a scheduler has resident at a time: as many as it has slots,
//! registers and shared memory for, by whole blocks.
//!
//! Registers are an estimate: the values of the body as it stands that are live at the same time, in
//! words of a lane. Values that are the same in a whole subgroup are held once for it and count
//! nothing. What a compiler adds (addresses, loads that it moves up) or saves is not known here.
//! Shared memory is that of the body's own arrays, without what expansions add.

use super::cost::Costs;
use crate::{convert::shared, targets::Target};
use qd_dialects::{
    builder::Builder,
    interfaces::{Collective, Scope},
    ir::{
        Block, InsertionPoint, Key, Op, OpExt, Value, ValueExt, arguments, bit_width, context_of,
        operations,
    },
    melior::ir::{TypeLike, ValueLike},
};
use qd_passes::uniformity::Uniformity;
use rustc_hash::FxHashMap as HashMap;

/// What a body needs of what limits its residency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Words of a lane that are live at the same time.
    pub live: u32,
    /// Bytes of a block's shared memory.
    pub shared: u64,
}

impl Needs {
    /// Of a body.
    pub fn of<'c>(
        op: Op<'c>,
        body: Block<'c>,
        uniformity: &Uniformity<'c>,
        target: &Target,
    ) -> Self {
        let mut reader = Reader {
            uniformity,
            position: 0,
            loops: Vec::new(),
            lives: HashMap::default(),
            order: Vec::new(),
        };
        reader.block(body);
        let b = Builder::new(context_of(op), op.location(), InsertionPoint::End(body));
        // Too much of it is an error of the conversion.
        let arrays = shared::arrays(&b, op, &target.capabilities).unwrap_or_default();
        Self {
            live: reader.most(),
            shared: arrays.last().map_or(0, |array| array.end),
        }
    }

    /// Subgroups of `wave` lanes that a scheduler has resident, in blocks of `threads`.
    pub fn resident(&self, costs: &Costs, threads: i64, wave: u32) -> Option<f64> {
        let limit = |name| costs.limit(name, wave);
        let slots = limit("resident")?;
        let in_block = (threads as f64 / f64::from(wave)).max(1.0);
        let schedulers = limit("schedulers").unwrap_or(1.0);
        let by_registers = limit("registers").map(|registers| {
            let granule = limit("granule").unwrap_or(1.0).max(1.0);
            let own = (f64::from(self.live.max(1)) / granule).ceil() * granule;
            (registers / own).floor()
        });
        let of_scheduler = by_registers.map_or(slots, |registers| slots.min(registers));
        let blocks = (of_scheduler * schedulers / in_block).floor();
        let by_shared = match (limit("bytes"), self.shared) {
            (Some(bytes), 1..) => (bytes / self.shared as f64).floor(),
            _ => f64::INFINITY,
        };
        Some((blocks.min(by_shared).max(1.0) * in_block / schedulers).clamp(1.0, slots.max(1.0)))
    }
}

/// From where to where a value is needed, as places of ops in pre-order.
struct Live {
    from: usize,
    to: usize,
    words: u32,
}

struct Reader<'a, 'c> {
    uniformity: &'a Uniformity<'c>,
    position: usize,
    /// The loops around: where each begins, and what is used in it and made before it.
    loops: Vec<(usize, Vec<Key>)>,
    lives: HashMap<Key, Live>,
    /// Values in the order of the body.
    order: Vec<Key>,
}

impl<'c> Reader<'_, 'c> {
    fn block(&mut self, block: Block<'c>) {
        arguments(block)
            .into_iter()
            .for_each(|value| self.made(value));
        for op in operations(block) {
            self.position += 1;
            op.operand_values()
                .into_iter()
                .for_each(|value| self.used(value));
            if op.region_count() > 0 && Collective::of(op).is_none() {
                let is_loop = matches!(op.full_name(), "scf.for" | "scf.while");
                if is_loop {
                    self.loops.push((self.position, Vec::new()));
                }
                for region in 0..op.region_count() {
                    let mut inner = op.region_block(region);
                    while let Some(current) = inner {
                        self.block(current);
                        inner = current.next_in_region();
                    }
                }
                if is_loop {
                    // Needed again in the next iteration.
                    let (_, kept) = self.loops.pop().unwrap_or_default();
                    for key in kept {
                        self.extend(&key);
                    }
                }
            }
            op.result_values()
                .into_iter()
                .for_each(|value| self.made(value));
        }
    }

    fn made(&mut self, value: Value<'c>) {
        let r#type = value.r#type();
        let is_number = r#type.is_integer() || r#type.is_index() || r#type.is_float();
        // A predicate is a bit of a mask.
        let words = match bit_width(r#type) {
            _ if !is_number || self.uniformity.is_uniform(value, Scope::Subgroup) => 0,
            1 => 0,
            bits => bits.div_ceil(32),
        };
        let (from, to) = (self.position, self.position);
        self.order.push(value.key());
        self.lives.insert(value.key(), Live { from, to, words });
    }

    fn used(&mut self, value: Value<'c>) {
        let key = value.key();
        let Some(from) = self.lives.get(&key).map(|live| live.from) else {
            return;
        };
        // The outermost loop that it was made in front of.
        let mut loops = self.loops.iter_mut();
        if let Some((_, kept)) = loops.find(|(begin, _)| from < *begin) {
            kept.push(value.key());
        }
        self.extend(&key);
    }

    fn extend(&mut self, key: &Key) {
        if let Some(live) = self.lives.get_mut(key) {
            live.to = self.position;
        }
    }

    /// The most words that are live at one place.
    fn most(&self) -> u32 {
        let mut change = vec![0i64; self.position + 2];
        for live in self.order.iter().filter_map(|key| self.lives.get(key)) {
            if live.to > live.from {
                change[live.from] += i64::from(live.words);
                change[live.to] -= i64::from(live.words);
            }
        }
        let mut now = 0;
        let sums = change.into_iter().map(|change| {
            now += change;
            now
        });
        sums.max().unwrap_or(0).max(0) as u32
    }
}
