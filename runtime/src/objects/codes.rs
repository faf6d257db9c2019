//! Code that is on a device already: artifacts with the same modules share it.

use super::driver::{Code, Driver};
use crate::{Error, program::Part};
use qd_artifact::{Body, Format, Hash};
use std::{
    collections::BTreeMap,
    num::NonZero,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// What code is made of.
#[derive(PartialEq)]
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
                .map(|(body, most)| (body.to_string(), most.dynamic_shared_bytes))
                .collect(),
        }
    }
}

/// The code on a device that somebody still holds.
#[derive(Default)]
pub(super) struct Codes(Mutex<Vec<(Origin, Weak<dyn Code>)>>);

impl Codes {
    fn lock(&self) -> MutexGuard<'_, Vec<(Origin, Weak<dyn Code>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The code of modules, which may be there. What is not is loaded side by side.
    pub fn load(
        &self,
        driver: &dyn Driver,
        parts: &[Part<'_>],
    ) -> Result<Vec<Arc<dyn Code>>, Error> {
        let found: Vec<_> = parts.iter().map(|part| self.find(part)).collect();
        let missing: Vec<_> = parts.iter().zip(&found).collect();
        let missing: Vec<_> = missing
            .into_iter()
            .filter(|(_, code)| code.is_none())
            .collect();
        // Without the lock: it may take long, and others load other code.
        let made = side_by_side(&missing, |(part, _)| driver.load(part));
        let mut made = made.into_iter();
        let mut all = Vec::new();
        for (part, code) in parts.iter().zip(found) {
            all.push(match code {
                Some(code) => code,
                None => self.add(part, made.next().expect("one for each")?.into()),
            });
        }
        Ok(all)
    }

    fn find(&self, part: &Part<'_>) -> Option<Arc<dyn Code>> {
        let origin = Origin::of(part);
        let codes = self.lock();
        let mut same = codes.iter().filter(|(other, _)| *other == origin);
        same.find_map(|(_, code)| code.upgrade())
    }

    fn add(&self, part: &Part<'_>, code: Arc<dyn Code>) -> Arc<dyn Code> {
        let mut codes = self.lock();
        codes.retain(|(_, code)| code.strong_count() > 0);
        codes.push((Origin::of(part), Arc::downgrade(&code)));
        code
    }
}

/// Does something with each, on as many threads as there is use for; in their order.
fn side_by_side<T: Sync, R: Send>(each: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    if threads.min(each.len()) < 2 {
        return each.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = each.get(place) else {
                return done;
            };
            done.push((place, work(one)));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(each.len()))
            .map(|_| scope.spawn(take))
            .collect();
        let mut done = take();
        for other in others {
            match other.join() {
                Ok(theirs) => done.extend(theirs),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
