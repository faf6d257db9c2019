//! Data races: two accesses of one element by different threads, one of them a
//! write, not both atomic, and neither ordered before the other.
//!
//! What is ordered follows from barriers, from releases that are acquired, and
//! from the order of launches; [`clock`] keeps account of it. Each element has
//! a [`Cell`] that remembers the accesses a later one may conflict with.

mod clock;
mod window;

pub(crate) use clock::{BlockClock, Released};
pub(crate) use window::Window;

use crate::{
    fault::{Outcome, SiteId, Trap},
    program::Scope,
};
use std::collections::HashMap;

/// A thread: its subgroup within the block, and its lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub subgroup: usize,
    pub lane: usize,
}

/// Accesses by lanes of one subgroup that count as one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// Number of the subgroup among all of the window's launches.
    pub subgroup: u32,
    pub time: u32,
    pub lanes: u64,
    pub site: SiteId,
    pub scope: Scope,
    pub store: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Load,
    Store,
    AtomicLoad(Scope),
    /// Also what reads and writes.
    AtomicStore(Scope),
}

#[derive(Debug, Default)]
enum Accesses {
    #[default]
    None,
    One(Access),
    /// By subgroup.
    Many(HashMap<u32, Vec<Access>>),
}

/// The accesses of one element that are remembered.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    /// The last launch that accessed it.
    launch: u32,
    /// Whether launches that are not ordered did.
    mixed: bool,
    writer: Option<Access>,
    loads: Accesses,
    atomics: Accesses,
    /// What an acquiring load of the present value learns.
    pub released: Vec<Released>,
}

impl Accesses {
    /// The first access that is not `ordered` and for which `conflicts` holds.
    fn find(&self, mut conflict: impl FnMut(&Access) -> bool) -> Option<&Access> {
        match self {
            Self::None => None,
            Self::One(access) => Some(access).filter(|access| conflict(access)),
            Self::Many(all) => all.values().flatten().find(|access| conflict(access)),
        }
    }

    /// Adds an access and drops those that conflict with nothing that it does
    /// not conflict with.
    fn add(&mut self, new: Access, clock: &BlockClock, window: &Window, who: Who) {
        let joined = clock.joined(who.subgroup);
        let covered = |old: &Access| {
            old.scope >= new.scope
                && new.store >= old.store
                && (old.subgroup == new.subgroup && (old.time <= joined || old.lanes == new.lanes))
        };
        let same = |old: &Access| {
            (old.subgroup, old.time, old.scope, old.store)
                == (new.subgroup, new.time, new.scope, new.store)
        };
        match self {
            Self::None => *self = Self::One(new),
            Self::One(old) if covered(old) => *old = new,
            Self::One(old) if same(old) => old.lanes |= new.lanes,
            Self::One(old)
                if old.scope >= new.scope
                    && new.store >= old.store
                    && clock.knows(window, who, old) =>
            {
                *old = new;
            }
            Self::One(old) => {
                let mut all = HashMap::from([(old.subgroup, vec![*old])]);
                all.entry(new.subgroup).or_default().push(new);
                *self = Self::Many(all);
            }
            Self::Many(all) => {
                let of_subgroup = all.entry(new.subgroup).or_default();
                of_subgroup.retain(|old| !covered(old));
                match of_subgroup.iter_mut().find(|old| same(old)) {
                    Some(old) => old.lanes |= new.lanes,
                    None => of_subgroup.push(new),
                }
            }
        }
    }
}

impl Cell {
    /// Notes an access; an error if it races with an earlier one.
    pub fn access(
        &mut self,
        clock: &BlockClock,
        window: &Window,
        who: Who,
        kind: AccessKind,
        site: SiteId,
    ) -> Outcome {
        let new = self.check(clock, window, who, kind, site)?;
        match kind {
            AccessKind::Load => self.loads.add(new, clock, window, who),
            AccessKind::Store => {
                self.writer = Some(new);
                self.loads = Accesses::None;
                self.atomics = Accesses::None;
                self.released.clear();
            }
            AccessKind::AtomicLoad(_) | AccessKind::AtomicStore(_) => {
                self.atomics.add(new, clock, window, who);
            }
        }
        Ok(())
    }

    /// Whether every thread of the block knows of all accesses, by barriers.
    pub fn is_common(&self, clock: &BlockClock, window: &Window) -> bool {
        let unknown = |access: &Access| !clock.is_common(access);
        self.launch != window.launch()
            || !(self.writer.as_ref().is_some_and(unknown)
                || self.loads.find(unknown).is_some()
                || self.atomics.find(unknown).is_some())
    }

    /// Whether an access would race with an earlier one.
    pub fn check(
        &mut self,
        clock: &BlockClock,
        window: &Window,
        who: Who,
        kind: AccessKind,
        site: SiteId,
    ) -> Outcome<Access> {
        if self.launch != window.launch() {
            self.enter(window);
        }
        let (scope, store) = match kind {
            AccessKind::Load => (Scope::Device, false),
            AccessKind::Store => (Scope::Device, true),
            AccessKind::AtomicLoad(scope) => (scope, false),
            AccessKind::AtomicStore(scope) => (scope, true),
        };
        let atomic = !matches!(kind, AccessKind::Load | AccessKind::Store);
        let new = Access {
            subgroup: clock.number(who.subgroup),
            time: clock.time(who.subgroup),
            lanes: 1 << who.lane,
            site,
            scope,
            store,
        };
        let unordered = |old: &Access| !clock.knows(window, who, old);
        // Atomics whose scopes hold each other do not race.
        let apart = |old: &Access| {
            let together = atomic
                && old.subgroup >= window.base()
                && window.covers(scope, old.subgroup, new.subgroup)
                && window.covers(old.scope, old.subgroup, new.subgroup);
            !together && unordered(old)
        };
        let writer = self.writer.as_ref().filter(|old| unordered(old));
        let conflict = writer
            .map(|old| (old, "store"))
            .or_else(|| {
                self.atomics
                    .find(|old| (store || old.store) && apart(old))
                    .map(|old| (old, "atomic access"))
            })
            .or_else(|| {
                store
                    .then(|| self.loads.find(unordered))
                    .flatten()
                    .map(|old| (old, "load"))
            });
        if let Some((old, what)) = conflict {
            return Err(race(kind, old, what, new, window));
        }
        Ok(new)
    }

    /// Forgets accesses that are ordered before all of the present launch.
    fn enter(&mut self, window: &Window) {
        let stale = window.is_settled(self.launch) || !self.mixed && window.is_ordered(self.launch);
        if stale {
            *self = Self::default();
        } else {
            self.mixed = true;
        }
        self.launch = window.launch();
    }
}

fn race(kind: AccessKind, old: &Access, what: &str, new: Access, window: &Window) -> Box<Trap> {
    let this = match kind {
        AccessKind::Load => "load",
        AccessKind::Store => "store",
        AccessKind::AtomicLoad(_) | AccessKind::AtomicStore(_) => "atomic access",
    };
    let why = if old.subgroup < window.base() {
        "the launches are not ordered by 'after'".to_string()
    } else if old.subgroup == new.subgroup {
        "lanes of one subgroup, with no barrier in between".to_string()
    } else if window.covers(Scope::Block, old.subgroup, new.subgroup) {
        "subgroups of one block, with no block barrier in between".to_string()
    } else {
        "different blocks, with no release and acquire in between".to_string()
    };
    Box::new(Trap {
        message: format!(
            "data race: this {this} is not ordered with another thread's {what} of the same element ({why})"
        ),
        other: Some((
            old.site,
            format!(
                "is the other access, a{} {what}",
                if what.starts_with('a') { "n" } else { "" }
            ),
        )),
        site: None,
    })
}
