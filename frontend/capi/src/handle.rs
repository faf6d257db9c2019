//! What comes from C and goes there: handles, texts, arrays, places for results.

use crate::status::{Failure, Outcome};
use std::{
    ffi::{CStr, CString, c_char},
    slice,
};

/// What a C program holds a pointer to.
pub(crate) trait Handle {
    /// What messages call it.
    const KIND: &'static str;
}

macro_rules! handles {
    ($($type:ty => $kind:literal),* $(,)?) => {$(
        impl $crate::handle::Handle for $type {
            const KIND: &'static str = $kind;
        }
        // Any thread may use it, beside others.
        const _: () = {
            const fn is_shared<T: Send + Sync>() {}
            is_shared::<$type>();
        };
    )*};
}
pub(crate) use handles;

/// # Safety
///
/// It is null, or a handle that has not been freed; in debug builds it may be anything.
pub(crate) unsafe fn get<'a, T: Handle>(handle: *const T) -> Outcome<&'a T> {
    if handle.is_null() {
        return Err(Failure::handle(format!("the {} is null", T::KIND)));
    }
    known::check(handle)?;
    // Safety: by contract.
    Ok(unsafe { &*handle })
}

/// As [`get`], null being none.
///
/// # Safety
///
/// As for [`get`].
pub(crate) unsafe fn get_optional<'a, T: Handle>(handle: *const T) -> Outcome<Option<&'a T>> {
    match handle.is_null() {
        true => Ok(None),
        // Safety: by contract.
        false => unsafe { get(handle) }.map(Some),
    }
}

/// Frees a handle; null is none.
///
/// # Safety
///
/// As for [`get`], and nothing uses it any more.
pub(crate) unsafe fn free<T: Handle>(handle: *mut T) -> Outcome {
    if handle.is_null() {
        return Ok(());
    }
    known::check(handle)?;
    // Safety: by contract.
    unsafe { known::free(handle) };
    Ok(())
}

/// Where a new handle goes. It is null until then.
pub(crate) struct Place<T>(*mut *mut T);

/// # Safety
///
/// `to` is null or can be written.
pub(crate) unsafe fn place<T: Handle>(to: *mut *mut T) -> Outcome<Place<T>> {
    if to.is_null() {
        return Err(Failure::handle(format!(
            "the place for the {} is null",
            T::KIND
        )));
    }
    // Safety: by contract.
    unsafe { to.write(std::ptr::null_mut()) };
    Ok(Place(to))
}

impl<T: Handle> Place<T> {
    /// Gives the program a handle.
    pub fn give(self, what: T) {
        let handle = Box::into_raw(Box::new(what));
        known::made(handle);
        // Safety: it can be written, as whoever made this promised.
        unsafe { self.0.write(handle) };
    }
}

/// A handle that a callback gets, until this is dropped.
pub(crate) struct Lent<T: Handle>(*mut T);

impl<T: Handle> Lent<T> {
    pub fn new(what: T) -> Self {
        let handle = Box::into_raw(Box::new(what));
        known::made(handle);
        Self(handle)
    }

    pub fn handle(&self) -> *mut T {
        self.0
    }
}

impl<T: Handle> Drop for Lent<T> {
    fn drop(&mut self) {
        // Safety: it was made above, and callbacks keep none.
        unsafe { known::free(self.0) };
    }
}

/// Writes a result that is no handle.
///
/// # Safety
///
/// `to` is null or can be written.
pub(crate) unsafe fn write<T>(to: *mut T, what: T) -> Outcome {
    match to.is_null() {
        true => Err(Failure::handle("the place for the result is null")),
        false => {
            // Safety: by contract.
            unsafe { to.write(what) };
            Ok(())
        }
    }
}

/// A text; `what` is what messages call it.
///
/// # Safety
///
/// It is null, or text that ends in 0 and lives as long.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Outcome<&'a str> {
    if text.is_null() {
        return Err(Failure::handle(format!("{what} is null")));
    }
    // Safety: by contract.
    let text = unsafe { CStr::from_ptr(text) };
    let why = |error| Failure::value(format!("{what} is not UTF-8: {error}"));
    text.to_str().map_err(why)
}

/// An array of so many elements; null if there are none.
///
/// # Safety
///
/// It is null, or there are as many, which live as long.
pub(crate) unsafe fn array<'a, T>(first: *const T, count: usize, what: &str) -> Outcome<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_array(first, count, what)?;
    // Safety: by contract.
    Ok(unsafe { slice::from_raw_parts(first, count) })
}

/// As [`array`], to be written.
///
/// # Safety
///
/// As for [`array`], and nothing else uses it meanwhile.
pub(crate) unsafe fn array_mut<'a, T>(
    first: *mut T,
    count: usize,
    what: &str,
) -> Outcome<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_array(first, count, what)?;
    // Safety: by contract.
    Ok(unsafe { slice::from_raw_parts_mut(first, count) })
}

fn check_array<T>(first: *const T, count: usize, what: &str) -> Outcome {
    if first.is_null() {
        return Err(Failure::handle(format!("{what}: null, of {count}")));
    }
    if !first.is_aligned() {
        return Err(Failure::handle(format!("{what}: not aligned")));
    }
    match count.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Failure::value(format!("{what}: {count} are too many"))),
    }
}

/// A text for C. What could not be there is a blank.
pub(crate) fn c_text(text: impl AsRef<str>) -> CString {
    CString::new(text.as_ref().replace('\0', " ")).unwrap_or_default()
}

/// In debug builds, the handles that there are: one that was freed, or that is none, is an error. The memory of
/// those that were freed last is kept, so that no new handle is at their addresses.
#[cfg(debug_assertions)]
mod known {
    use super::{Failure, Handle, Outcome};
    use std::{
        alloc::{Layout, dealloc},
        collections::{HashMap, VecDeque},
        sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    };

    /// Freed handles whose addresses are not used again.
    const KEPT: usize = 4096;

    #[derive(Default)]
    struct Known {
        /// What is at an address, and whether it was freed.
        all: HashMap<usize, (&'static str, bool)>,
        freed: VecDeque<(usize, Layout)>,
    }

    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

    fn known() -> MutexGuard<'static, Known> {
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn made<T: Handle>(handle: *const T) {
        known().all.insert(handle as usize, (T::KIND, false));
    }

    /// A kind with its article.
    fn one(kind: &str) -> String {
        let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
            "an"
        } else {
            "a"
        };
        format!("{article} {kind}")
    }

    pub fn check<T: Handle>(handle: *const T) -> Outcome {
        let found = known().all.get(&(handle as usize)).copied();
        match found {
            Some((kind, false)) if kind == T::KIND => Ok(()),
            Some((kind, false)) => Err(Failure::handle(format!(
                "the {} is none: it is {}",
                T::KIND,
                one(kind)
            ))),
            Some((kind, true)) => Err(Failure::handle(format!(
                "the {} was freed: it was {}",
                T::KIND,
                one(kind)
            ))),
            None => Err(Failure::handle(format!(
                "the {} is no handle of this library, or was freed long ago",
                T::KIND
            ))),
        }
    }

    /// # Safety
    ///
    /// It is a handle, and nothing uses it any more.
    pub unsafe fn free<T: Handle>(handle: *mut T) {
        let mut known = known();
        if let Some(one) = known.all.get_mut(&(handle as usize)) {
            one.1 = true;
        }
        let layout = Layout::new::<T>();
        // No memory is behind what has no size.
        if layout.size() > 0 {
            known.freed.push_back((handle as usize, layout));
        }
        let oldest = (known.freed.len() > KEPT).then(|| known.freed.pop_front());
        if let Some((address, layout)) = oldest.flatten() {
            known.all.remove(&address);
            // Safety: it was a box of this layout, whose value is gone.
            unsafe { dealloc(address as *mut u8, layout) };
        }
        // What it holds may call back.
        drop(known);
        // Safety: by contract.
        unsafe { handle.drop_in_place() };
    }
}

#[cfg(not(debug_assertions))]
mod known {
    use super::{Handle, Outcome};

    pub fn made<T: Handle>(_: *const T) {}

    pub fn check<T: Handle>(_: *const T) -> Outcome {
        Ok(())
    }

    /// # Safety
    ///
    /// It is a handle, and nothing uses it any more.
    pub unsafe fn free<T: Handle>(handle: *mut T) {
        // Safety: by contract.
        drop(unsafe { Box::from_raw(handle) });
    }
}
