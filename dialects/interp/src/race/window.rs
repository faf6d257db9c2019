//! The launches that may run at the same time, and their subgroups' numbers.

use crate::program::Scope;
use std::collections::HashSet;

/// Everything since the last step that all launches wait for.
///
/// A phase, an algorithm or a fill is ordered with everything before and after
/// it; a `launch` only with what it names, and what that names.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// The present launch, counted from 1.
    launch: u32,
    /// Launches before this one are settled.
    floor: u32,
    /// Number of the present launch's first subgroup.
    base: u32,
    /// Number of the next launch's first subgroup.
    next: u32,
    per_block: u32,
    /// The launches that the present one waits for.
    before: HashSet<u32>,
    /// Since the floor: first subgroup, launch, and what it waits for.
    launches: Vec<(u32, u32, HashSet<u32>)>,
    /// The launch that an id stands for.
    ids: Vec<(i64, u32)>,
}

impl Window {
    /// A step that is ordered with everything before it.
    pub fn barrier(&mut self) {
        self.floor = self.launch + 1;
        self.next = 0;
        self.launches.clear();
        self.ids.clear();
    }

    /// Starts a launch; none if it has more subgroups than can be told apart.
    pub fn start(&mut self, blocks: u64, per_block: u32, id: Option<(i64, &[i64])>) -> Option<()> {
        let subgroups = u32::try_from(blocks.checked_mul(per_block as u64)?).ok()?;
        self.base = self.next;
        self.next = self.base.checked_add(subgroups)?;
        self.launch += 1;
        self.per_block = per_block;
        self.before.clear();
        if let Some((id, after)) = id {
            for &(other, launch) in &self.ids {
                if after.contains(&other) {
                    self.before.insert(launch);
                }
            }
            for (_, launch, its) in &self.launches {
                if self.before.contains(launch) {
                    self.before.extend(its);
                }
            }
            self.ids.push((id, self.launch));
        }
        self.launches
            .push((self.base, self.launch, self.before.clone()));
        Some(())
    }

    pub fn launch(&self) -> u32 {
        self.launch
    }

    pub fn base(&self) -> u32 {
        self.base
    }

    /// Whether all launches up to this one are ordered before the present one.
    pub fn is_settled(&self, launch: u32) -> bool {
        launch < self.floor
    }

    /// Whether a launch is ordered before the present one.
    pub fn is_ordered(&self, launch: u32) -> bool {
        self.is_settled(launch) || self.before.contains(&launch)
    }

    /// Whether the launch of a subgroup is ordered before the present one.
    pub fn is_subgroup_ordered(&self, subgroup: u32) -> bool {
        let after = self
            .launches
            .partition_point(|(base, ..)| *base <= subgroup);
        after == 0 || self.is_ordered(self.launches[after - 1].1)
    }

    /// The first subgroup of the block that a subgroup of the present launch
    /// belongs to.
    pub fn block_of(&self, subgroup: u32) -> u32 {
        let local = subgroup - self.base;
        self.base + local - local % self.per_block
    }

    /// Whether a scope holds both subgroups of the present launch.
    pub fn covers(&self, scope: Scope, a: u32, b: u32) -> bool {
        match scope {
            Scope::Subgroup => a == b,
            Scope::Block => a.min(b) >= self.base && self.block_of(a) == self.block_of(b),
            Scope::Device => true,
        }
    }
}
