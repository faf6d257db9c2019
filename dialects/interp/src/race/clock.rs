//! The happens-before relation: vector clocks, compressed at barriers.

use super::{Access, Who, Window};
use crate::program::Scope;
use std::{cmp::Reverse, collections::HashMap, rc::Rc};

/// What is known of one block's threads: everything up to a time.
#[derive(Clone, Debug)]
struct Known {
    /// For each subgroup, of all its lanes.
    subgroups: Box<[u32]>,
    /// More than that, of single threads: subgroup, lane, time. In order, and each thread once.
    threads: Vec<(u32, u32, u32)>,
}

impl Known {
    fn covers(&self, subgroup: u32, lanes: u64, time: u32) -> bool {
        let of = |lane: u32| {
            let thread = (subgroup, lane);
            let at = self
                .threads
                .binary_search_by_key(&thread, |&(s, l, _)| (s, l));
            at.is_ok_and(|at| self.threads[at].2 >= time)
        };
        self.subgroups[subgroup as usize] >= time
            || crate::exec::bits(lanes).all(|lane| of(lane as u32))
    }

    fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.subgroups.iter_mut().zip(&other.subgroups) {
            *mine = (*mine).max(*theirs);
        }
        // Two runs in order, which a stable sort merges; then of each thread the latest time.
        self.threads.extend(&other.threads);
        self.threads
            .sort_by_key(|&(s, l, time)| (s, l, Reverse(time)));
        self.threads.dedup_by_key(|&mut (s, l, _)| (s, l));
        let subgroups = &self.subgroups;
        self.threads
            .retain(|&(s, _, time)| time > subgroups[s as usize]);
    }
}

/// What is known of other threads, by the first subgroup of their block.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    blocks: HashMap<u32, Rc<Known>>,
}

impl View {
    fn covers(&self, window: &Window, access: &Access) -> bool {
        let block = window.block_of(access.subgroup);
        self.blocks
            .get(&block)
            .is_some_and(|known| known.covers(access.subgroup - block, access.lanes, access.time))
    }

    fn join(&mut self, other: &Self) {
        for (&block, theirs) in &other.blocks {
            self.add(block, theirs);
        }
    }

    fn add(&mut self, block: u32, theirs: &Rc<Known>) {
        self.blocks
            .entry(block)
            .and_modify(|mine| {
                if !Rc::ptr_eq(mine, theirs) {
                    Rc::make_mut(mine).join(theirs);
                }
            })
            .or_insert_with(|| theirs.clone());
    }
}

/// The clock that a release stores with the value it writes.
#[derive(Clone, Debug)]
pub(crate) struct Released {
    view: Rc<View>,
    scope: Scope,
    subgroup: u32,
}

impl Released {
    /// Adds this to what a value carries.
    pub fn add_to(self, all: &mut Vec<Released>) {
        let mergeable =
            |other: &Released| self.scope == Scope::Device && other.scope == Scope::Device;
        match all.iter_mut().find(|other| mergeable(other)) {
            Some(other) => {
                let mut view = (*self.view).clone();
                view.join(&other.view);
                *other = Released {
                    view: Rc::new(view),
                    ..self
                };
            }
            None => all.push(self),
        }
    }
}

/// A thread's clock at a fence.
#[derive(Clone, Debug)]
struct Fence {
    scope: Scope,
    time: u32,
    joined: u32,
    known: Rc<[u32]>,
    acquired: Option<Rc<View>>,
}

#[derive(Clone, Debug, Default)]
struct LaneClock {
    acquired: Option<Rc<View>>,
    /// The last view that went into `acquired`.
    latest: Option<Rc<View>>,
    /// What relaxed loads saw released, to be acquired by a fence.
    pending: Vec<Released>,
    fence: Option<Fence>,
}

#[derive(Debug)]
struct SubgroupClock {
    /// Advances at every barrier and release, so that what was before and what
    /// comes after have different times.
    time: u32,
    /// Up to here, every lane knows what every other did.
    joined: u32,
    lanes: Vec<LaneClock>,
}

/// The clocks of one block's threads.
#[derive(Debug)]
pub(crate) struct BlockClock {
    /// Number of the first subgroup.
    first: u32,
    /// Up to here, every thread of the block knows what each subgroup did.
    known: Rc<[u32]>,
    subgroups: Vec<SubgroupClock>,
}

impl BlockClock {
    pub fn new(first: u32, subgroups: usize, lanes: usize) -> Self {
        let clock = || SubgroupClock {
            time: 1,
            joined: 0,
            lanes: vec![LaneClock::default(); lanes],
        };
        Self {
            first,
            known: vec![0; subgroups].into(),
            subgroups: std::iter::repeat_with(clock).take(subgroups).collect(),
        }
    }

    /// Number of a subgroup among all.
    pub fn number(&self, subgroup: usize) -> u32 {
        self.first + subgroup as u32
    }

    pub fn time(&self, subgroup: usize) -> u32 {
        self.subgroups[subgroup].time
    }

    pub fn joined(&self, subgroup: usize) -> u32 {
        self.subgroups[subgroup].joined
    }

    /// Whether an access is ordered before the next one of `who`.
    pub fn knows(&self, window: &Window, who: Who, access: &Access) -> bool {
        if access.subgroup < window.base() {
            return window.is_subgroup_ordered(access.subgroup);
        }
        let local = access.subgroup.wrapping_sub(self.first) as usize;
        let mine = &self.subgroups[who.subgroup];
        let mut lanes = access.lanes;
        if local == who.subgroup {
            lanes &= !(1 << who.lane);
            if lanes == 0 || access.time <= mine.joined {
                return true;
            }
        } else if self
            .known
            .get(local)
            .is_some_and(|&known| access.time <= known)
        {
            return true;
        }
        let others = Access { lanes, ..*access };
        mine.lanes[who.lane]
            .acquired
            .as_ref()
            .is_some_and(|view| view.covers(window, &others))
    }

    /// Whether a block barrier has made an access of this block known to all of
    /// it.
    pub fn is_common(&self, access: &Access) -> bool {
        let local = access.subgroup.wrapping_sub(self.first) as usize;
        self.known
            .get(local)
            .is_some_and(|&known| access.time <= known)
    }

    /// A subgroup's lanes have met.
    pub fn sync_subgroup(&mut self, subgroup: usize) {
        let clock = &mut self.subgroups[subgroup];
        clock.joined = clock.time;
        clock.time += 1;
        share(clock.lanes.iter_mut());
    }

    /// The block's threads have met.
    pub fn sync_block(&mut self) {
        self.known = self.subgroups.iter().map(|clock| clock.time).collect();
        for clock in &mut self.subgroups {
            clock.joined = clock.time;
            clock.time += 1;
        }
        share(self.subgroups.iter_mut().flat_map(|clock| &mut clock.lanes));
    }

    /// A thread passes a fence: it acquires what it has read, and what it
    /// writes from now on releases what it has done until now.
    pub fn fence(&mut self, window: &Window, who: Who, scope: Scope) {
        let number = self.number(who.subgroup);
        let clock = &mut self.subgroups[who.subgroup];
        let lane = &mut clock.lanes[who.lane];
        for released in std::mem::take(&mut lane.pending) {
            if window.covers(scope, released.subgroup, number) {
                lane.acquire(&released.view);
            } else {
                lane.pending.push(released);
            }
        }
        lane.fence = Some(Fence {
            scope,
            time: clock.time,
            joined: clock.joined,
            known: self.known.clone(),
            acquired: lane.acquired.clone(),
        });
        clock.time += 1;
    }

    /// What an atomic write leaves with its value: if it releases, all that the
    /// thread knows; else what it knew at its last fence, if there was one.
    pub fn release(&mut self, who: Who, scope: Scope, releases: bool) -> Option<Released> {
        let number = self.number(who.subgroup);
        let clock = &mut self.subgroups[who.subgroup];
        let lane = &clock.lanes[who.lane];
        let now = Fence {
            scope: Scope::Device,
            time: clock.time,
            joined: clock.joined,
            known: self.known.clone(),
            acquired: lane.acquired.clone(),
        };
        let from = if releases { &now } else { lane.fence.as_ref()? };
        let mut subgroups: Box<[u32]> = (*from.known).into();
        let mine = &mut subgroups[who.subgroup];
        *mine = (*mine).max(from.joined);
        let own = (who.subgroup as u32, who.lane as u32, from.time);
        let mut view = from.acquired.as_deref().cloned().unwrap_or_default();
        view.add(
            self.first,
            &Rc::new(Known {
                subgroups,
                threads: vec![own],
            }),
        );
        let released = Released {
            view: Rc::new(view),
            scope: scope.min(from.scope),
            subgroup: number,
        };
        if releases {
            clock.time += 1;
        }
        Some(released)
    }

    /// A thread reads a value with which something was released.
    pub fn observe(
        &mut self,
        window: &Window,
        who: Who,
        scope: Scope,
        acquires: bool,
        released: &Released,
    ) {
        let number = self.number(who.subgroup);
        let within = |scope| window.covers(scope, released.subgroup, number);
        if !within(scope) || !within(released.scope) {
            return;
        }
        let lane = &mut self.subgroups[who.subgroup].lanes[who.lane];
        if acquires {
            lane.acquire(&released.view);
        } else if !lane
            .pending
            .iter()
            .any(|old| Rc::ptr_eq(&old.view, &released.view))
        {
            lane.pending.push(released.clone());
        }
    }
}

impl LaneClock {
    fn acquire(&mut self, view: &Rc<View>) {
        if self
            .latest
            .as_ref()
            .is_some_and(|latest| Rc::ptr_eq(latest, view))
        {
            return;
        }
        match &mut self.acquired {
            None => self.acquired = Some(view.clone()),
            Some(mine) => Rc::make_mut(mine).join(view),
        }
        self.latest = Some(view.clone());
    }
}

/// What one of these threads has acquired, all have.
fn share<'a>(lanes: impl Iterator<Item = &'a mut LaneClock>) {
    let lanes: Vec<_> = lanes.collect();
    let mut all: Option<Rc<View>> = None;
    for lane in &lanes {
        match (&mut all, &lane.acquired) {
            (_, None) => {}
            (None, Some(view)) => all = Some(view.clone()),
            (Some(mine), Some(view)) if Rc::ptr_eq(mine, view) => {}
            (Some(mine), Some(view)) => Rc::make_mut(mine).join(view),
        }
    }
    if all.is_some() {
        for lane in lanes {
            lane.acquired.clone_from(&all);
        }
    }
}
