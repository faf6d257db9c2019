//! What was computed last: as much as is held.
//!
//! Salsa keeps what it is asked for by several arguments until the session ends, also that of symbols which are there no
//! more, and so would grow with every edit. What takes memory is here instead, where the least recently used goes first.

use blake3::Hash as Text;
use lru::LruCache;
use std::{
    hash::Hash,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// Values by keys, one each: that of the text that was asked for last.
pub struct Recent<K, V>(Mutex<LruCache<K, Slot<V>>>);

/// A value, once it is there, of a text.
type Slot<V> = (Text, Arc<OnceLock<V>>);

impl<K: Hash + Eq, V: Clone> Recent<K, V> {
    /// That holds as many, or one if that is none.
    pub fn new(held: usize) -> Self {
        Self(Mutex::new(LruCache::new(at_least_one(held))))
    }

    /// Holds as many from now on.
    pub fn hold(&self, held: usize) {
        self.locked().resize(at_least_one(held));
    }

    /// Notes that what is known of a key is used.
    pub fn touch(&self, key: &K) {
        self.locked().promote(key);
    }

    /// What is known of a key with this text, or is computed, once: others who ask for it meanwhile wait. One
    /// that panics leaves it to the next.
    pub fn get_or(&self, key: K, text: Text, compute: impl FnOnce() -> V) -> V {
        let mut all = self.locked();
        let known = all.get(&key).filter(|(of, _)| *of == text);
        let value = match known {
            Some((_, value)) => value.clone(),
            None => {
                let value = Arc::default();
                all.put(key, (text, Arc::clone(&value)));
                value
            }
        };
        drop(all);
        value.get_or_init(compute).clone()
    }

    /// How many values are held.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.locked().len()
    }

    /// Forgets all.
    pub fn clear(&self) {
        self.locked().clear();
    }

    fn locked(&self) -> MutexGuard<'_, LruCache<K, Slot<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn at_least_one(held: usize) -> NonZeroUsize {
    NonZeroUsize::new(held).unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn the_least_recently_used_goes_first_and_other_texts_take_its_place() {
        let recent = Recent::new(2);
        let (first, second) = (blake3::hash(b"first"), blake3::hash(b"second"));
        let mut computed = Vec::new();
        let mut ask = |key: u32, text| {
            recent.get_or(key, text, || {
                computed.push(key);
                text
            });
        };
        for key in [1, 2, 1, 3, 1] {
            ask(key, first);
        }
        recent.touch(&3);
        ask(2, first);
        ask(3, first);
        recent.hold(3);
        for key in [1, 2, 3] {
            ask(key, first);
        }
        ask(3, second);
        ask(3, first);
        assert_eq!(computed, [1, 2, 3, 2, 1, 3, 3]);
    }

    #[test]
    fn what_was_not_finished_is_computed_by_the_next() {
        let recent = Recent::new(2);
        let text = blake3::hash(b"text");
        let work = || recent.get_or(1, text, || panic!("on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
        assert_eq!(recent.get_or(1, text, || 7), 7);
    }
}
