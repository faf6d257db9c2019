//! The active threads of a parallel region, and how control flow around
//! collectives selects them.
//!
//! Parallel regions are loops over the active threads. Those are all threads of
//! the block under uniform control flow. Under control flow that is uniform only
//! within a subgroup, a loop over the subgroups goes around the control op, and
//! the threads of one subgroup are active in it.

use super::BodyLowering;
use qd_dialects::{
    builder::V,
    diagnostic::{Diagnostic, Result},
    interfaces::{Collective, Scope},
    ir::{Op, OpExt, Value},
};

/// The threads that code is emitted for.
#[derive(Clone, Copy)]
pub(super) enum Active<'b, 'c> {
    /// All of the block.
    Block,
    /// Those of one subgroup.
    Subgroup {
        /// The number of the first.
        first: V<'b, 'c>,
        /// The number after the last.
        end: V<'b, 'c>,
    },
}

impl Active<'_, '_> {
    fn scope(self) -> Scope {
        match self {
            Self::Block => Scope::Block,
            Self::Subgroup { .. } => Scope::Subgroup,
        }
    }
}

impl<'b, 'c> BodyLowering<'b, 'c> {
    /// The numbers of the active threads: the first, and the one after the last.
    pub fn range(&self) -> (V<'b, 'c>, V<'b, 'c>) {
        match self.active {
            Active::Block => (self.b.index(0), self.b.index(self.threads)),
            Active::Subgroup { first, end } => (first, end),
        }
    }

    /// A loop over the active threads.
    pub fn for_threads(&self, body: impl FnOnce(V<'b, 'c>)) {
        let b = self.b;
        let (first, end) = self.range();
        b.for_(first, end, b.index(1), [], |t, []| {
            body(t);
            []
        });
    }

    /// A value that is uniform in the active threads, as the first of them has
    /// it.
    pub(super) fn common(&self, value: Value<'c>) -> V<'b, 'c> {
        self.uniform_value(value).unwrap_or_else(|| {
            let first = match self.active {
                Active::Block => self.b.index(0),
                Active::Subgroup { first, .. } => first,
            };
            self.read(value, first)
        })
    }

    /// Whether a value is uniform in the active threads.
    pub(super) fn is_common(&self, value: Value<'c>) -> bool {
        self.once.has(value) || self.uniformity.is_uniform(value, self.active.scope())
    }

    /// Emits control flow around parallel regions.
    pub(super) fn structure(&mut self, op: Op<'c>) -> Result<'c> {
        if self.meets_at(op, self.active.scope()) {
            return self.control_flow(op);
        }
        if !self.meets_at(op, Scope::Subgroup) {
            let message =
                "holds a collective, but its control varies between the lanes of a subgroup";
            return Err(self.varies(op, op, message, Scope::Subgroup));
        }
        let of_block =
            |inner: &Op<'c>| Collective::of(*inner).is_some_and(|c| c.scope == Scope::Block);
        if let Some(inner) = op.nested().into_iter().find(of_block) {
            let message = "stands under control that varies between the threads of a block";
            return Err(self.varies(op, inner, message, Scope::Block));
        }
        self.each_subgroup(|this| this.control_flow(op))
    }

    /// Whether control flow is uniform in a scope, or in the whole block, at a
    /// control op.
    fn meets_at(&self, op: Op<'c>, scope: Scope) -> bool {
        [Scope::Block, scope]
            .into_iter()
            .any(|scope| self.uniformity.enters_together(op, scope))
    }

    /// An error at `op`, with why the control flow of `control` varies in a
    /// scope.
    fn varies(&self, control: Op<'c>, op: Op<'c>, message: &str, scope: Scope) -> Diagnostic<'c> {
        let steps = self.uniformity.explain_branch(control, scope);
        steps
            .into_iter()
            .fold(Diagnostic::at(op, message), |error, step| {
                error.note(step.location, step.text)
            })
    }

    fn control_flow(&mut self, op: Op<'c>) -> Result<'c> {
        match op.full_name() {
            "scf.for" => self.for_loop(op),
            "scf.while" => self.while_loop(op),
            _ => self.branch(op),
        }
    }

    /// A loop over the subgroups of the block.
    fn each_subgroup(&mut self, body: impl FnOnce(&mut Self) -> Result<'c>) -> Result<'c> {
        let b = self.b;
        let (first, end) = self.range();
        let mut outcome = Ok(());
        b.for_(first, end, b.index(self.wave), [], |first, []| {
            let active = Active::Subgroup {
                first,
                end: first + self.wave,
            };
            let before = std::mem::replace(&mut self.active, active);
            outcome = body(self);
            self.active = before;
            []
        });
        outcome
    }
}
