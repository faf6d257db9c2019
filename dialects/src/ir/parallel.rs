//! IR that several threads read at once.
//!
//! MLIR allows that while nobody changes the IR. Handles are not `Send`, as by them it can be changed: what is run here
//! promises not to.

use rayon::prelude::*;

/// What other threads may use, by the contract of the functions below.
struct Shared<T>(T);

// Safety: the functions below have it as their contract that nothing is changed meanwhile.
unsafe impl<T> Send for Shared<T> {}
// Safety: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> &T {
        &self.0
    }

    fn into_inner(self) -> T {
        self.0
    }
}

/// What `read` returns of each item, in the order of the items. It is called in several threads at once, and for one item
/// alone in this one: another would first have to wake up, and to fetch what this one has at hand.
///
/// Debug builds do not detect uses of erased operations in these.
///
/// # Safety
///
/// Until it returns nothing changes IR of the context, but that `read` may make IR of its own, in a module that no other
/// call uses. `read` uses nothing else of which two threads must not use the same.
pub unsafe fn read_each<T, R>(items: Vec<T>, read: impl Fn(T) -> R) -> Vec<R> {
    if items.len() < 2 {
        return items.into_iter().map(read).collect();
    }
    let read = Shared(read);
    let items: Vec<Shared<T>> = items.into_iter().map(Shared).collect();
    let all = items.into_par_iter();
    let all = all.map(|item| Shared(read.get()(item.into_inner())));
    let all: Vec<Shared<R>> = all.collect();
    all.into_iter().map(Shared::into_inner).collect()
}

/// What both return, of which one may be called in another thread.
///
/// # Safety
///
/// As of [`read_each`].
pub unsafe fn read_both<A, B>(one: impl FnOnce() -> A, other: impl FnOnce() -> B) -> (A, B) {
    let (one, other) = (Shared(one), Shared(other));
    let (one, other) = rayon::join(
        || Shared(one.into_inner()()),
        || Shared(other.into_inner()()),
    );
    (one.into_inner(), other.into_inner())
}
