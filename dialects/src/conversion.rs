//! Dialect conversion written in Rust: what is legal, how types change, and a
//! plain table of patterns.

use crate::{
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, context_of},
    pattern::{Pattern, call, take_panic},
};
use melior::{
    StringRef,
    ir::{OperationRef, Type, TypeLike},
};
use mlir_sys::{MlirOperation, MlirType};
use qd_sys::QdConversion;
use std::ffi::c_void;

/// How a type is converted; `None`: not by this rule.
pub type TypeRule = for<'c> fn(Type<'c>) -> Option<Type<'c>>;

/// A dialect conversion under construction.
pub struct Conversion<'c> {
    raw: *mut QdConversion,
    root: Op<'c>,
}

impl<'c> Conversion<'c> {
    /// A conversion of everything below `root`, in which nothing is legal yet.
    pub fn new(root: Op<'c>) -> Self {
        let context = context_of(root).to_raw();
        // Safety: the context outlives the conversion.
        let raw = unsafe { qd_sys::qdConversionCreate(context) };
        Self { raw, root }
    }

    /// Every op of a dialect may stay.
    pub fn legal_dialect(self, name: &str) -> Self {
        // Safety: the shim copies the name.
        unsafe { qd_sys::qdConversionLegalDialect(self.raw, StringRef::new(name).to_raw()) };
        self
    }

    /// An op may stay.
    pub fn legal_op(self, name: &str) -> Self {
        // Safety: as above.
        unsafe { qd_sys::qdConversionLegalOp(self.raw, StringRef::new(name).to_raw()) };
        self
    }

    /// Ops with this prefix must go: a family such as `qd.simt.`; all else may
    /// stay unless another rule says otherwise.
    pub fn illegal_prefix(self, prefix: &'static str) -> Self {
        unsafe extern "C" fn legal(op: MlirOperation, data: *mut c_void) -> bool {
            // Safety: `data` is the boxed prefix leaked below.
            unsafe {
                let prefix = &*data.cast::<&'static str>();
                let op: Op = OperationRef::from_raw(op);
                !op.full_name().starts_with(prefix)
            }
        }
        let data: &'static mut &'static str = Box::leak(Box::new(prefix));
        // Safety: `data` lives for ever.
        unsafe {
            qd_sys::qdConversionUnknownOps(self.raw, legal, std::ptr::from_mut(data).cast());
        }
        self
    }

    /// Adds a type rule; later rules are tried first.
    pub fn types(self, rule: TypeRule) -> Self {
        unsafe extern "C" fn convert(r#type: MlirType, data: *mut c_void) -> MlirType {
            // Safety: `data` is a `TypeRule`.
            unsafe {
                let rule: TypeRule = std::mem::transmute(data);
                rule(Type::from_raw(r#type)).map_or(
                    MlirType {
                        ptr: std::ptr::null_mut(),
                    },
                    |t| t.to_raw(),
                )
            }
        }
        // Safety: a function pointer round-trips through a data pointer on every
        // platform LLVM supports.
        unsafe { qd_sys::qdConversionAddType(self.raw, convert, rule as *mut c_void) };
        self
    }

    /// Adds a pattern.
    pub fn pattern<P: Pattern>(self) -> Self {
        // Safety: the shim copies the name; the function is static.
        unsafe {
            qd_sys::qdConversionAddPattern(
                self.raw,
                StringRef::new(P::ROOT).to_raw(),
                P::BENEFIT,
                call::<P>,
                std::ptr::null_mut(),
            );
        }
        self
    }

    /// Converts what the rules make illegal, and leaves the rest.
    pub fn apply_partial(self) -> Result<'c> {
        self.apply(false)
    }

    /// Converts everything: an op that nothing made legal is an error.
    pub fn apply_full(self) -> Result<'c> {
        self.apply(true)
    }

    fn apply(self, full: bool) -> Result<'c> {
        let _ = take_panic();
        // Safety: the root is valid.
        let applied = unsafe { qd_sys::qdConversionApply(self.raw, self.root.to_raw(), full) };
        if applied && !take_panic() {
            return Ok(());
        }
        Err(Diagnostic::at(self.root, "could not be converted"))
    }
}

impl Drop for Conversion<'_> {
    fn drop(&mut self) {
        // Safety: created in `new`, destroyed once.
        unsafe { qd_sys::qdConversionDestroy(self.raw) }
    }
}
