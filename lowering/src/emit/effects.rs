//! The effects of kernels on their arguments, for a module whose phases are outlined,
//! by the analysis that orders launches.

use melior::ir::ValueLike;
use qd_artifact::Access;
use qd_dialects::{
    ir::{Op, OpExt, arguments, element_type, operations},
    melior,
    ops::grid,
};
use qd_passes::{
    outline_phases::{is_sequence, steps},
    plan::access::{self, Accesses, Effect, Functions, Root},
};
use std::{collections::HashMap, rc::Rc};

/// The effects of a module's kernels.
pub struct Effects<'c> {
    kernels: HashMap<String, Op<'c>>,
    functions: Functions<'c>,
    /// Of those that have been asked for.
    known: HashMap<String, Rc<[Effect]>>,
}

impl<'c> Effects<'c> {
    /// Of these kernels, by name.
    pub fn new(kernels: HashMap<String, Op<'c>>) -> Self {
        Self {
            kernels,
            functions: Functions::default(),
            known: HashMap::new(),
        }
    }

    /// A kernel's effects on each of its arguments. An unused argument counts as
    /// read.
    pub fn accesses(&mut self, name: &str) -> Vec<Access> {
        let access = |effect: &Effect| match (effect.reads, effect.writes) {
            (_, false) => Access::Read,
            (false, true) => Access::Write,
            (true, true) => Access::ReadWrite,
        };
        self.of(name).iter().map(access).collect()
    }

    fn of(&mut self, name: &str) -> Rc<[Effect]> {
        if let Some(known) = self.known.get(name) {
            return Rc::clone(known);
        }
        let kernel = self.kernels.get(name).copied();
        let Some((kernel, body)) = kernel.and_then(|op| Some((op, op.body()?))) else {
            return Rc::default();
        };
        // What dispatches to itself is refused elsewhere.
        let mut effects = vec![Effect::BOTH; arguments(body).len()];
        self.known.insert(name.into(), effects.clone().into());
        effects.fill(Effect::NONE);
        let mut accesses = Accesses::new(kernel, &mut self.functions);
        self.sequence(kernel, &mut accesses, &mut effects);
        let effects: Rc<[_]> = effects.into();
        self.known.insert(name.into(), Rc::clone(&effects));
        effects
    }

    fn sequence(&mut self, sequence: Op<'c>, accesses: &mut Accesses<'c>, effects: &mut [Effect]) {
        for step in steps(sequence) {
            if is_sequence(step) {
                for word in step.operand_values() {
                    note(effects, &accesses.access(word, Effect::READ));
                }
                self.sequence(step, accesses, effects);
            } else if step.is(grid::Dispatch::NAME) {
                let variants = step.body().map(operations).unwrap_or_default();
                for variant in variants.into_iter().filter_map(grid::Variant::of) {
                    self.variant(step, variant, accesses, effects);
                }
            } else {
                for access in accesses.of(step) {
                    note(effects, &access);
                }
            }
        }
    }

    /// What a dispatched kernel does with what it is given.
    fn variant(
        &mut self,
        dispatch: Op<'c>,
        variant: grid::Variant<'c>,
        accesses: &mut Accesses<'c>,
        effects: &mut [Effect],
    ) {
        let of = self.of(&variant.callee());
        for (i, given) in dispatch.operand_values().into_iter().enumerate() {
            if element_type(given.r#type()).is_some() {
                let effect = of.get(i).copied().unwrap_or(Effect::BOTH);
                note(effects, &accesses.access(given, effect));
            }
        }
    }
}

/// Adds an access to what is known. Memory that cannot be told may be any argument's.
fn note(effects: &mut [Effect], access: &access::Access) {
    match access.root {
        Root::Argument { index, .. } => effects[index] = effects[index].or(access.effect),
        Root::Control(_) => {}
        Root::Unknown => {
            for effect in effects {
                *effect = effect.or(access.effect);
            }
        }
    }
}
