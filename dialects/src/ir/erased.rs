//! Detection of uses of erased operations, in debug builds.
//!
//! Release builds destroy an operation when it is erased. Debug builds unlink it and keep its
//! memory, so that the address is not used for another operation. The addresses of the operation, of
//! the operations in it and of its blocks are recorded as erased, and any use of a handle with such
//! an address panics. [`Edit`] determines how long. No two threads share a handle, so one table for
//! each thread is enough.

use super::{Op, name_of};
use crate::diagnostic::{Diagnostic, Result};
use mlir_sys::{self as sys, MlirBlock, MlirOperation, MlirValue};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    ffi::c_void,
    hash::{BuildHasherDefault, Hasher},
    marker::PhantomData,
    panic::Location,
};

thread_local! {
    /// Whether the table holds anything: what every access asks.
    static ANY: Cell<bool> = const { Cell::new(false) };
    static TABLE: RefCell<Table> = RefCell::default();
}

/// What was erased on this thread and not destroyed.
#[derive(Default)]
struct Table {
    /// The number of the erasure, by the address of an operation or a block.
    numbers: HashMap<usize, usize, BuildHasherDefault<OfAddress>>,
    erasures: Vec<Erasure>,
    /// What each edit is of that is under way.
    edited: Vec<Option<MlirOperation>>,
}

#[derive(Clone, Copy)]
struct Erasure {
    root: MlirOperation,
    at: &'static Location<'static>,
}

/// Addresses are as good as random but in their last bits.
#[derive(Default)]
struct OfAddress(u64);

impl Hasher for OfAddress {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_usize((*byte).into()));
    }
    fn write_usize(&mut self, address: usize) {
        self.0 = (self.0 ^ address as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32);
    }
}

/// A time in which operations are erased. When the outermost of a thread ends, what was erased
/// meanwhile is destroyed. What is erased outside of any is kept forever, in debug builds.
pub(crate) struct Edit<'c> {
    /// Erasures before the outermost.
    before: usize,
    _root: PhantomData<Op<'c>>,
    ended: bool,
}

impl<'c> Edit<'c> {
    /// Begins to change what is in an operation, which is not to be erased meanwhile.
    pub(crate) fn of(root: Option<Op<'c>>) -> Self {
        TABLE.with_borrow_mut(|table| {
            table.edited.push(root.map(Op::to_raw));
            Self {
                before: table.erasures.len(),
                _root: PhantomData,
                ended: false,
            }
        })
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// What was erased is used by what was not: it was given to it after it had been erased, by
    /// other means than this crate's.
    pub(crate) fn end(mut self) -> Result<'c> {
        self.finish()
    }

    fn finish(&mut self) -> Result<'c> {
        self.ended = true;
        let is_outermost = TABLE.with_borrow_mut(|table| {
            table.edited.pop();
            table.edited.is_empty()
        });
        if !is_outermost {
            return Ok(());
        }
        let ended = TABLE.with_borrow_mut(|table| {
            table.numbers.retain(|_, number| *number < self.before);
            table.erasures.split_off(self.before)
        });
        ANY.set(self.before > 0);
        let mut result = Ok(());
        for erasure in ended {
            // Safety: the operation was unlinked and not destroyed. What is used leaks.
            unsafe {
                let Some(user) = Op::from_option_raw(qd_sys::qdUserOf(erasure.root)) else {
                    qd_sys::qdDestroy(erasure.root);
                    continue;
                };
                let (name, at) = (spelled(erasure.root), erasure.at);
                let message = format!("uses what is of {name}, which was erased at {at}");
                result = Err(Diagnostic::at(user, message));
            }
        }
        result
    }
}

impl Drop for Edit<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.finish();
        }
    }
}

/// Changes IR outside of a pass: a debug build destroys what `edit` erases when it is done, and
/// keeps what is erased elsewhere forever. A pass needs none.
///
/// # Panics
///
/// In debug builds, where what was erased is used by what was not.
pub fn edit<R>(edit: impl FnOnce() -> R) -> R {
    let open = Edit::of(None);
    let result = edit();
    if let Err(error) = open.end() {
        panic!("{}", error.message());
    }
    result
}

/// Erases an operation.
#[track_caller]
pub(super) fn erase(op: Op<'_>) {
    let raw = op.to_raw();
    if cfg!(debug_assertions)
        && let Some(pattern) = crate::pattern::running()
    {
        panic!(
            "{} is erased by the pattern of '{pattern}' and not by its rewriter: use \
             Rewriter::erase or Rewriter::replace",
            spelled(raw)
        );
    }
    // Safety: the operation is valid.
    let is_owned = unsafe { sys::mlirOperationGetBlock(raw) }.ptr.is_null();
    assert!(
        !is_owned,
        "{} is erased and is in no block: its owner destroys it",
        spelled(raw)
    );
    let holds_edited = TABLE.with_borrow(|table| {
        let mut edited = table.edited.iter().flatten();
        // Safety: passes are over before what they run on is destroyed.
        edited.any(|edited| unsafe { qd_sys::qdIsWithin(*edited, raw) })
    });
    assert!(
        !holds_edited,
        "{} is erased by a pass that runs on it or on what is in it",
        spelled(raw)
    );

    // Safety: the operation is valid and in a block.
    let user = unsafe {
        match cfg!(debug_assertions) {
            true => bury(raw, Location::caller()),
            false => qd_sys::qdUnlink(raw, None, std::ptr::null_mut()),
        }
    };
    // Safety: the user is valid, or null.
    if let Some(user) = unsafe { Op::from_option_raw(user) } {
        panic!(
            "{} is erased, and a value or a block of it is still used by {} at {}",
            spelled(raw),
            spelled(user.to_raw()),
            user.location()
        );
    }
    if cfg!(not(debug_assertions)) {
        // Safety: it is unlinked, and nothing uses it.
        unsafe { qd_sys::qdDestroy(raw) }
    }
}

/// Unlinks an operation and remembers it and what is in it. What uses it still, or null.
///
/// # Safety
///
/// The operation is valid and in a block.
unsafe fn bury(root: MlirOperation, at: &'static Location<'static>) -> MlirOperation {
    unsafe extern "C" fn visit(address: *const c_void, data: *mut c_void) {
        // Safety: `data` is the vector below.
        unsafe { &mut *data.cast::<Vec<usize>>() }.push(address as usize);
    }
    let mut addresses: Vec<usize> = Vec::new();
    let data = std::ptr::from_mut(&mut addresses).cast();
    // Safety: by contract; `visit` is called before the call returns.
    let user = unsafe { qd_sys::qdUnlink(root, Some(visit), data) };
    TABLE.with_borrow_mut(|table| {
        let number = table.erasures.len();
        let all = addresses.into_iter().map(|address| (address, number));
        table.numbers.extend(all);
        table.erasures.push(Erasure { root, at });
    });
    ANY.set(true);
    user
}

/// Panics if an operation was erased.
#[inline]
#[track_caller]
pub(super) fn check_op(op: MlirOperation) {
    if cfg!(debug_assertions) && ANY.get() {
        refuse(op.ptr as usize, || (op, ""));
    }
}

/// Panics if an operation around a block was erased.
#[inline]
#[track_caller]
pub(super) fn check_block(block: MlirBlock) {
    if cfg!(debug_assertions) && ANY.get() {
        refuse(block.ptr as usize, || (parent(block), "a block of "));
    }
}

/// Panics if the operation that yields a value, or one around the block that has it, was erased.
#[inline]
#[track_caller]
pub(super) fn check_value(value: MlirValue) {
    if cfg!(debug_assertions) && ANY.get() {
        // Safety: what was erased is not destroyed, so the value is valid.
        unsafe {
            if sys::mlirValueIsAOpResult(value) {
                let op = sys::mlirOpResultGetOwner(value);
                refuse(op.ptr as usize, || (op, "a result of "));
            } else {
                let block = sys::mlirBlockArgumentGetOwner(value);
                let whose = || (parent(block), "an argument of a block of ");
                refuse(block.ptr as usize, whose);
            }
        }
    }
}

fn parent(block: MlirBlock) -> MlirOperation {
    // Safety: what was erased is not destroyed.
    unsafe { sys::mlirBlockGetParentOperation(block) }
}

/// Panics if what is at an address was erased; `what` says what that is.
#[track_caller]
fn refuse(address: usize, what: impl FnOnce() -> (MlirOperation, &'static str)) {
    let erasure = TABLE.with_borrow(|table| {
        let number = table.numbers.get(&address)?;
        Some(table.erasures[*number])
    });
    let Some(Erasure { root, at }) = erasure else {
        return;
    };
    let (op, part) = what();
    let erased = match op.ptr == root.ptr {
        true => "the operation".into(),
        false => format!("{} around it", spelled(root)),
    };
    let (name, used) = (spelled(op), Location::caller());
    panic!("{part}{name} is used at {used} after {erased} was erased at {at}");
}

/// The name of an operation that was not destroyed.
fn spelled(op: MlirOperation) -> String {
    // Safety: by contract; nothing is asked but its name.
    let name = unsafe { name_of(op) };
    format!("'{}'", String::from_utf8_lossy(name))
}
