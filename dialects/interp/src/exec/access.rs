//! Loads, stores, atomics and fences of a subgroup's lanes.

use super::{
    arithmetic as math,
    lanes::{Lanes, bits},
};
use crate::{
    fault::{Outcome, SiteId, Trap},
    memory::{Allocation, Memrefs, Space},
    program::{Atomic, AtomicOp, Binary, Order, Reg, Scope},
    race::{AccessKind, BlockClock, Who, Window},
    value::Element,
};

/// The memory that a subgroup sees, and what orders its accesses.
pub(crate) struct Reach<'a> {
    pub device: &'a mut [Allocation],
    pub shared: &'a mut [Allocation],
    pub private: &'a mut [Allocation],
    pub memrefs: &'a Memrefs,
    pub clock: &'a mut BlockClock,
    pub window: &'a Window,
    pub subgroup: usize,
    pub site: SiteId,
    /// Whether lanes take their turn at atomics from the last to the first.
    pub backwards: bool,
}

/// Where an element lies.
#[derive(Clone, Copy)]
struct Place {
    space: Space,
    slot: usize,
    byte: i64,
    size: usize,
}

impl Reach<'_> {
    /// Loads in each active lane; poison where nothing was ever written, but for
    /// scratch that a kernel owns.
    pub fn load(&mut self, lanes: &mut Lanes, dst: Reg, memref: Reg, indices: &[Reg]) -> Outcome {
        self.need_address(lanes, memref, indices)?;
        for lane in bits(lanes.active) {
            let place = self.place(lanes, lane, memref, indices)?;
            let allocation = self.access(place, lane, AccessKind::Load)?;
            match allocation.read(place.byte, place.size) {
                Some(value) => lanes.set(dst, lane, value),
                None if allocation.owned.contains(&place.byte) => {
                    return Err(Trap::new("loads 'qd.scratch' that was never written"));
                }
                None => lanes.set_poison_lane(dst, lane),
            }
        }
        Ok(())
    }

    /// Stores in each active lane.
    pub fn store(&mut self, lanes: &Lanes, value: Reg, memref: Reg, indices: &[Reg]) -> Outcome {
        self.need_address(lanes, memref, indices)?;
        lanes.need(value, "the value it stores")?;
        for lane in bits(lanes.active) {
            let place = self.place(lanes, lane, memref, indices)?;
            let bits = lanes.get(value, lane);
            self.access(place, lane, AccessKind::Store)?
                .write(place.byte, place.size, bits);
        }
        Ok(())
    }

    /// One atomic after another, in each active lane.
    pub fn atomic(&mut self, lanes: &mut Lanes, op: &Atomic) -> Outcome {
        self.need_address(lanes, op.memref, &op.indices)?;
        for operand in [op.value, op.expected].into_iter().flatten() {
            lanes.need(operand, "an operand of an atomic")?;
        }
        let mut order: Vec<usize> = bits(lanes.active).collect();
        if self.backwards {
            order.reverse();
        }
        for lane in order {
            self.atomic_in(lanes, lane, op)?;
        }
        Ok(())
    }

    /// A fence in each active lane.
    pub fn fence(&mut self, lanes: &Lanes, scope: Scope) {
        for lane in bits(lanes.active) {
            let who = Who {
                subgroup: self.subgroup,
                lane,
            };
            self.clock.fence(self.window, who, scope);
        }
    }

    fn atomic_in(&mut self, lanes: &mut Lanes, lane: usize, op: &Atomic) -> Outcome {
        let place = self.place(lanes, lane, op.memref, &op.indices)?;
        let operand = |reg: Option<Reg>| reg.map_or(0, |reg| lanes.get(reg, lane));
        let (value, expected) = (operand(op.value), operand(op.expected));
        let (element, size) = (op.element, place.size);
        let old = self.allocation(place).read(place.byte, size);
        if old.is_none() && !matches!(op.op, AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange)
        {
            return Err(Trap::new("combines with memory that was never written"));
        }
        let new = match op.op {
            AtomicOp::Load => None,
            AtomicOp::Store | AtomicOp::Exchange => Some(value),
            AtomicOp::CompareSwap => (old == Some(expected)).then_some(value),
            AtomicOp::Combine(kind) => old.map(|old| math::combine(kind, element, old, value)),
            AtomicOp::Minimum => old.map(|old| total(Binary::Minimum, element, old, value)),
            AtomicOp::Maximum => old.map(|old| total(Binary::Maximum, element, old, value)),
        };
        let kind = match new {
            Some(_) => AccessKind::AtomicStore(op.scope),
            None => AccessKind::AtomicLoad(op.scope),
        };
        self.access(place, lane, kind)?;
        if op.op != AtomicOp::Store {
            self.observe(place, lane, op);
        }
        if let Some(new) = new {
            self.release(place, lane, op);
            self.allocation(place).write(place.byte, size, new);
        }
        if let Some(dst) = op.dst {
            match old {
                Some(old) => lanes.set(dst, lane, old),
                None => lanes.set_poison_lane(dst, lane),
            }
        }
        Ok(())
    }

    /// A read-modify-write or load sees what was released with the value.
    fn observe(&mut self, place: Place, lane: usize, op: &Atomic) {
        if place.space == Space::Private {
            return;
        }
        let who = Who {
            subgroup: self.subgroup,
            lane,
        };
        let acquires = matches!(op.order, Order::Acquire | Order::AcqRel);
        let (window, clock) = (self.window, &mut *self.clock);
        let allocation = pick(self.device, self.shared, self.private, place);
        for released in &allocation.cell(place.byte).released {
            clock.observe(window, who, op.scope, acquires, released);
        }
    }

    /// A write leaves what it releases with its value. What a read-modify-write
    /// finds there goes on with it.
    fn release(&mut self, place: Place, lane: usize, op: &Atomic) {
        if place.space == Space::Private {
            return;
        }
        let who = Who {
            subgroup: self.subgroup,
            lane,
        };
        let releases = matches!(op.order, Order::Release | Order::AcqRel);
        let released = self.clock.release(who, op.scope, releases);
        let allocation = pick(self.device, self.shared, self.private, place);
        let cell = allocation.cell(place.byte);
        if op.op == AtomicOp::Store {
            cell.released.clear();
        }
        if let Some(released) = released {
            released.add_to(&mut cell.released);
        }
    }

    fn need_address(&self, lanes: &Lanes, memref: Reg, indices: &[Reg]) -> Outcome {
        lanes.need(memref, "a memref")?;
        indices
            .iter()
            .try_for_each(|&index| lanes.need(index, "an index"))
    }

    /// Where a lane's element lies.
    fn place(&self, lanes: &Lanes, lane: usize, memref: Reg, indices: &[Reg]) -> Outcome<Place> {
        let memref = self.memrefs.get(lanes.get(memref, lane));
        let (slot, size) = (memref.slot as usize, memref.element.bytes());
        let mut byte = memref.address(indices.iter().map(|&reg| lanes.get(reg, lane) as i64))?;
        if memref.space == Space::Private {
            let share = (self.private[slot].len() / lanes.width) as i64;
            if byte < 0 || byte + size as i64 > share {
                return Err(Trap::new("is out of bounds of the thread's array"));
            }
            byte += lane as i64 * share;
        }
        Ok(Place {
            space: memref.space,
            slot,
            byte,
            size,
        })
    }

    fn allocation(&mut self, place: Place) -> &mut Allocation {
        pick(self.device, self.shared, self.private, place)
    }

    /// Checks bounds and races; gives the allocation.
    fn access(&mut self, place: Place, lane: usize, kind: AccessKind) -> Outcome<&mut Allocation> {
        let allocation = pick(self.device, self.shared, self.private, place);
        let units = allocation.units(place.byte, place.size)?;
        if place.space != Space::Private {
            let who = Who {
                subgroup: self.subgroup,
                lane,
            };
            for cell in allocation.cells(units) {
                cell.access(self.clock, self.window, who, kind, self.site)?;
            }
        }
        Ok(allocation)
    }
}

fn total(op: Binary, element: Element, x: u64, y: u64) -> u64 {
    math::total(op, element, x, y)
}

fn pick<'a>(
    device: &'a mut [Allocation],
    shared: &'a mut [Allocation],
    private: &'a mut [Allocation],
    place: Place,
) -> &'a mut Allocation {
    match place.space {
        Space::Device => &mut device[place.slot],
        Space::Shared => &mut shared[place.slot],
        Space::Private => &mut private[place.slot],
    }
}
