//! Code that is on a device already: artifacts with the same modules share it.

use super::driver::{Code, Driver};
use crate::{Error, program::Program, validate::most_shared};
use qd_artifact::{Hash, Requirements, Step, StepKind};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// A body's symbol, and the threads of a block.
pub(super) type Launched = (String, u32);

/// What code is made of.
#[derive(PartialEq)]
struct Origin {
    target: String,
    modules: Vec<Hash>,
    needs: Vec<Requirements>,
    bodies: BTreeSet<Launched>,
    /// Shared memory that each may be given besides what it declares.
    shared: BTreeMap<String, u32>,
}

/// The code on a device that somebody still holds.
#[derive(Default)]
pub(super) struct Codes(Mutex<Vec<(Origin, Weak<dyn Code>)>>);

impl Codes {
    /// A program's code, which may be there, and what its plans launch.
    pub fn load(
        &self,
        driver: &dyn Driver,
        program: Program<'_>,
    ) -> Result<(Arc<dyn Code>, BTreeSet<Launched>), Error> {
        let mut bodies = BTreeSet::new();
        for kernel in program.kernels() {
            add_launched(&kernel.plan.steps, &mut bodies);
        }
        let origin = Origin {
            target: program.target().into(),
            modules: program.modules().map(|module| module.id()).collect(),
            needs: program.needs().into_iter().cloned().collect(),
            bodies: bodies.clone(),
            shared: most_shared(program)
                .into_iter()
                .map(|(body, most)| (body.into(), most.dynamic_shared_bytes))
                .collect(),
        };
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let there = lock()
            .iter()
            .find(|(other, _)| *other == origin)
            .and_then(|(_, code)| code.upgrade());
        if let Some(code) = there {
            return Ok((code, bodies));
        }
        // Without the lock: it may take long, and others load other code.
        let code: Arc<dyn Code> = driver.load(program)?.into();
        let mut codes = lock();
        codes.retain(|(_, code)| code.strong_count() > 0);
        codes.push((origin, Arc::downgrade(&code)));
        Ok((code, bodies))
    }
}

/// Adds what steps launch.
fn add_launched(steps: &[Step], bodies: &mut BTreeSet<Launched>) {
    for step in steps {
        match &step.kind {
            StepKind::Launch { body, threads, .. } => {
                bodies.insert((body.clone(), *threads));
            }
            StepKind::DoWhile { steps, .. } | StepKind::If { steps, .. } => {
                add_launched(steps, bodies);
            }
            StepKind::Fill { .. } | StepKind::Dispatch { .. } => {}
        }
    }
}
