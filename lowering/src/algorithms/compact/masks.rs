//! Flags in scratch, one bit an element. For each item of a subgroup tile there is the
//! ballot of the lanes whose element is flagged: one word, or two where there are more
//! than 32 lanes. A mask's place follows from its elements, so that neighbouring subgroup
//! tiles have neighbouring masks. Masks without an element that exists are not stored.

use super::{FEWEST_LANES, ceil_div, pack::Flags, subgroup_tile::SubgroupTile};
use qd_dialects::builder::{Builder, V};

/// The masks of some elements.
pub(super) struct Masks<'b, 'c> {
    pub b: &'b Builder<'c>,
    /// Where they are; they begin at the first slot.
    pub scratch: V<'b, 'c>,
}

impl<'b, 'c> Masks<'b, 'c> {
    /// Slots that the masks of `elements` elements take.
    pub fn slots(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        ceil_div(elements, self.b.subgroup_size().to_index()) * self.words()
    }

    /// Words of a mask.
    fn words(&self) -> V<'b, 'c> {
        let b = self.b;
        b.subgroup_size().gt(32).select(b.index(2), b.index(1))
    }

    /// Stores the masks of a subgroup tile, which all lanes know. Each lane stores one,
    /// and neighbouring lanes store neighbours.
    pub fn store(
        &self,
        number: V<'b, 'c>,
        subgroup_tile: &SubgroupTile<'b, 'c>,
        masks: &[V<'b, 'c>],
    ) {
        let b = self.b;
        let (lane, lanes) = (b.lane_id(), b.subgroup_size());
        let mut own = b.zero(b.int_type(64));
        for (nth, mask) in (0..).zip(masks) {
            let turn = b.i32(nth as i32) & (lanes - 1);
            own = lane.eq(turn).select(*mask, own);
            let is_end = nth + 1 == subgroup_tile.items;
            // Every lane before this one has a mask to store.
            if (nth + 1) % FEWEST_LANES != 0 && !is_end {
                continue;
            }
            let all_have = turn.eq(lanes - 1) | b.bool(is_end);
            let own_nth = b.i32(nth as i32) - turn + lane;
            let exists = lane.le(turn) & (own_nth * lanes).slt(subgroup_tile.length);
            b.if_(all_have & exists, || {
                let nth = number * subgroup_tile.items + own_nth.to_index();
                let slot = nth * self.words();
                self.scratch.set(slot, own.to_i32());
                b.if_(lanes.gt(32), || {
                    self.scratch.set(slot + 1, (own >> 32).to_i32());
                });
            });
        }
    }

    /// The flags of a subgroup tile.
    pub fn load(
        &self,
        number: V<'b, 'c>,
        subgroup_tile: &SubgroupTile<'b, 'c>,
    ) -> Vec<Flags<'b, 'c>> {
        let b = self.b;
        let (lane, lanes) = (b.lane_id(), b.subgroup_size());
        let nothing = || b.zero(b.int_type(32));
        let load = |(nth, half): (i64, i64)| {
            let slot = (number * subgroup_tile.items + nth) * self.words() + half;
            let there = || [self.scratch.at(slot)];
            let [word] = b.if_else(lanes.gt(32 * half), there, || [nothing()]);
            word
        };
        let halves = (0..subgroup_tile.items).flat_map(|nth| [(nth, 0), (nth, 1)]);
        let exists = |(nth, _): (i64, i64)| (lanes * nth).slt(subgroup_tile.length);
        let words = subgroup_tile.of_each(halves.collect(), load, exists, |_| nothing());
        // The select is on words and not on masks, so that nothing takes 64 bits where 32
        // are enough.
        let is_high = lanes.gt(32) & lane.ge(32);
        let flags = |halves: &[V<'b, 'c>]| Flags {
            mask: halves[0].to_i64() | (halves[1].to_i64() << 32),
            own: ((is_high.select(halves[1], halves[0]) >> (lane & 31)) & 1).ne(0),
        };
        words.chunks(2).map(flags).collect()
    }
}
