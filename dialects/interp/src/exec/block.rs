//! Block collectives, once all threads have arrived.

use super::{
    combine::{Tuples, combine_group},
    lanes::Lanes,
    subgroup::{collect, spread},
};
use crate::{
    fault::{Outcome, SiteId, Trap},
    memory::{Allocation, Memrefs, Space},
    program::{BlockOp, Reg},
    race::{AccessKind, BlockClock, Who, Window},
};

/// The block's side of an operation.
pub(crate) struct Meeting<'a> {
    /// The subgroups' registers, in order.
    pub subgroups: Vec<&'a mut Lanes>,
    pub shared: &'a mut [Allocation],
    pub clock: &'a mut BlockClock,
    pub memrefs: &'a Memrefs,
    pub window: &'a Window,
    pub site: SiteId,
}

impl Meeting<'_> {
    pub fn run(&mut self, op: &BlockOp) -> Outcome {
        match op {
            BlockOp::Sync => {
                self.clock.sync_block();
                Ok(())
            }
            BlockOp::Combine {
                combining,
                dst,
                values,
                combiner,
            } => {
                let mut tuples = Tuples::new(values.len());
                for lanes in &self.subgroups {
                    collect(lanes, values, 0..lanes.present(), &mut tuples);
                }
                let results = combine_group(*combining, combiner, tuples, |_| false)?;
                let mut first = 0;
                for lanes in &mut self.subgroups {
                    spread(lanes, dst, 0..lanes.present(), &results, first);
                    first += lanes.present();
                }
                Ok(())
            }
            BlockOp::RadixRank {
                dst,
                digit,
                histogram,
                prefix,
                valid,
                bits,
            } => self.radix_rank(*dst, *digit, *histogram, *prefix, *valid, *bits),
        }
    }

    fn radix_rank(
        &mut self,
        dst: Reg,
        digit: Reg,
        histogram: Reg,
        prefix: Reg,
        valid: Option<Reg>,
        radix_bits: u32,
    ) -> Outcome {
        let radix = 1usize << radix_bits;
        let threads: usize = self.subgroups.iter().map(|lanes| lanes.present()).sum();
        if !threads.is_multiple_of(radix) {
            return Err(Trap::new(format!(
                "ranks by {radix} digits in a block of {threads} threads, which is not a multiple"
            )));
        }
        let mut digits = Vec::with_capacity(threads);
        for (subgroup, lanes) in self.subgroups.iter().enumerate() {
            if let Some(valid) = valid {
                lanes.need(valid, "a 'where' predicate")?;
            }
            for lane in 0..lanes.present() {
                if valid.is_some_and(|valid| lanes.get(valid, lane) == 0) {
                    digits.push(None);
                    continue;
                }
                let value = lanes.get(digit, lane);
                if lanes.is_poison(digit, lane) || value >= radix as u64 {
                    let what = if lanes.is_poison(digit, lane) {
                        "poison".to_string()
                    } else {
                        format!("digit {}", value as u32 as i32)
                    };
                    return Err(Trap::new(format!(
                        "ranks {what} of thread {}, but digits are below {radix}",
                        subgroup * lanes.width + lane
                    )));
                }
                digits.push(Some(value as usize));
            }
        }
        let mut counts = vec![0u64; radix];
        digits
            .iter()
            .flatten()
            .for_each(|&digit| counts[digit] += 1);
        let starts: Vec<u64> = counts
            .iter()
            .scan(0, |sum, count| {
                *sum += count;
                Some(*sum - count)
            })
            .collect();
        self.publish(histogram, &counts)?;
        self.publish(prefix, &starts)?;
        let mut next = starts;
        let mut digits = digits.into_iter();
        for lanes in &mut self.subgroups {
            for lane in 0..lanes.present() {
                match digits.next().flatten() {
                    Some(digit) => {
                        lanes.set(dst, lane, next[digit]);
                        next[digit] += 1;
                    }
                    None => lanes.set_poison_lane(dst, lane),
                }
            }
        }
        Ok(())
    }

    /// Writes counters into shared memory, visible to the whole block.
    ///
    /// Which thread writes which of them is not said, so each one's earlier
    /// accesses must be ordered before all threads of the block. Nor is it said
    /// which still read them for their ranks: two of the first subgroup and two of
    /// the last stand for all, so that the thread that writes next without a barrier
    /// between is not the only one.
    fn publish(&mut self, buffer: Reg, counters: &[u64]) -> Outcome {
        let first = &self.subgroups[0];
        first.need(buffer, "a memref")?;
        let number = first.get(buffer, 0);
        let same = |lanes: &&mut Lanes| lanes.values(buffer).iter().all(|&value| value == number);
        if !self.subgroups.iter().all(same) {
            return Err(Trap::new("is given different arrays by different threads"));
        }
        let memref = self.memrefs.get(number);
        if memref.space != Space::Shared {
            return Err(Trap::new("needs its arrays in shared memory"));
        }
        let size = memref.element.bytes();
        let last = self.subgroups.len() - 1;
        let readers = [0, last]
            .into_iter()
            .flat_map(|subgroup| [0, 1].map(|lane| Who { subgroup, lane }))
            .filter(|who| who.lane < self.subgroups[who.subgroup].present());
        for (index, &counter) in counters.iter().enumerate() {
            let byte = memref.address(std::iter::once(index as i64))?;
            let allocation = &mut self.shared[memref.slot as usize];
            let units = allocation.units(byte, size)?;
            for cell in allocation.cells(units) {
                let common = cell.is_common(self.clock, self.window);
                let unsure = if common { &[][..] } else { &self.subgroups[..] };
                for (subgroup, lanes) in unsure.iter().enumerate() {
                    for lane in 0..lanes.present() {
                        let who = Who { subgroup, lane };
                        cell.check(self.clock, self.window, who, AccessKind::Store, self.site)?;
                    }
                }
                for who in readers.clone() {
                    cell.access(self.clock, self.window, who, AccessKind::Load, self.site)?;
                }
            }
            allocation.write(byte, size, counter);
        }
        Ok(())
    }
}
