//! Code that is on a device already: artifacts with equal modules share it.

use super::driver::{Code, Driver};
use crate::{Error, program::Part};
use qd_artifact::{Body, Format, Hash};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// What code is made of.
#[derive(PartialEq, Eq, Hash)]
struct Origin {
    target: String,
    module: Hash,
    format: Format,
    bodies: Vec<Body>,
    /// Shared memory that each may be given besides what it declares.
    shared: BTreeMap<String, u32>,
}

impl Origin {
    fn of(part: &Part<'_>) -> Self {
        let shared = part.shared.iter();
        Self {
            target: part.target.into(),
            module: part.module.id(),
            format: part.module.format,
            bodies: part.module.bodies.clone(),
            shared: shared
                .map(|(body, most)| (body.to_string(), most.bytes))
                .collect(),
        }
    }
}

/// The code on a device that is still referenced.
#[derive(Default)]
pub(super) struct Codes(Mutex<HashMap<Origin, Weak<dyn Code>>>);

impl Codes {
    fn lock(&self) -> MutexGuard<'_, HashMap<Origin, Weak<dyn Code>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A module's code, which may be there.
    pub fn load(&self, driver: &dyn Driver, part: &Part<'_>) -> Result<Arc<dyn Code>, Error> {
        let origin = Origin::of(part);
        let found = self.lock().get(&origin).and_then(Weak::upgrade);
        if let Some(code) = found {
            return Ok(code);
        }
        // Without the lock: it may take long, and others load other code.
        let code: Arc<dyn Code> = driver.load(part)?.into();
        let mut codes = self.lock();
        // Unreferenced entries are removed when there is no room for more.
        if codes.len() == codes.capacity() {
            codes.retain(|_, code| code.strong_count() > 0);
        }
        codes.insert(origin, Arc::downgrade(&code));
        Ok(code)
    }
}
