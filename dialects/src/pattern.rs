//! Rewrite patterns and canonical forms written in Rust.

use crate::{
    diagnostic::Diagnostic,
    ir::{Context, Op, Value, context_of},
    pass::panic_message,
};
use melior::{
    RewriterBase, StringRef,
    ir::{Attribute, Location, Operation, OperationRef, Type, operation::OperationLike},
};
use mlir_sys::{MlirOperation, MlirRewriterBase, MlirValue};
use std::{
    cell::Cell,
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Why a pattern did not fire. Not an error.
#[derive(Clone, Copy, Debug)]
pub struct NoMatch;

/// What a rewrite says: it fired, or it did not apply.
pub type Rewritten = Result<(), NoMatch>;

/// Changes IR on behalf of a driver, which is told of every change.
#[derive(Clone, Copy)]
pub struct Rewriter<'c> {
    base: RewriterBase<'c, 'c>,
    root: Op<'c>,
}

impl<'c> Rewriter<'c> {
    /// The context.
    pub fn context(&self) -> &'c Context {
        context_of(self.root)
    }

    /// The location of the operation being rewritten.
    pub fn location(&self) -> Location<'c> {
        self.root.location()
    }

    /// Inserts an operation before the one being rewritten.
    pub fn insert(&self, op: impl Into<Operation<'c>>) -> Op<'c> {
        self.base.set_insertion_point_before(self.root);
        let inserted = self.base.insert(op.into());
        // Safety: the operation lives in the IR, not in the rewriter.
        unsafe { OperationRef::from_raw(inserted.to_raw()) }
    }

    /// Builds and inserts an operation by name.
    pub fn build(
        &self,
        name: &str,
        operands: &[Value<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> Op<'c> {
        self.insert(crate::ir::build(
            name,
            self.location(),
            operands,
            results,
            attributes,
            Vec::new(),
        ))
    }

    /// Replaces the operation being rewritten by values.
    pub fn replace(&self, values: &[Value<'c>]) {
        self.base.replace_op_with_values(self.root, values);
    }

    /// Erases the operation being rewritten, which has no uses.
    pub fn erase(&self) {
        self.base.erase_op(self.root);
    }
}

/// A rewrite of one kind of operation. `operands` are the operation's, or in a
/// dialect conversion their converted values.
pub trait Pattern: Send + Sync + 'static {
    /// The operation it rewrites, by full name.
    const ROOT: &'static str;
    /// Which of several patterns is tried first: the higher.
    const BENEFIT: u32 = 1;
    /// Rewrites `op`, or says that it does not apply, having changed nothing.
    fn rewrite<'c>(op: Op<'c>, operands: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten;
}

/// Adds a canonical form, which `canonicalize` then applies. Once a process.
pub fn register_canonical_form<P: Pattern>() {
    let root = StringRef::new(P::ROOT);
    // Safety: the shim copies the name; the function is static.
    unsafe {
        qd_sys::qdRegisterCanonicalForm(root.to_raw(), call::<P>, std::ptr::null_mut());
    }
}

/// Patterns to be applied together, to a fixed point.
#[derive(Default)]
pub struct PatternSet {
    add: Vec<fn(&Context, &melior::RewritePatternSet)>,
}

impl PatternSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pattern.
    pub fn add<P: Pattern>(mut self) -> Self {
        self.add.push(|context, set| {
            set.add(melior::create_op_rewrite_pattern(
                P::ROOT,
                P::BENEFIT,
                context,
                |_, op, rewriter| {
                    // Safety: the driver hands valid handles.
                    unsafe {
                        let base = mlir_sys::mlirPatternRewriterAsBase(rewriter);
                        let count = mlir_sys::mlirOperationGetNumOperands(op);
                        let operands: Vec<MlirValue> = (0..count)
                            .map(|i| mlir_sys::mlirOperationGetOperand(op, i))
                            .collect();
                        call::<P>(
                            op,
                            operands.len() as isize,
                            operands.as_ptr(),
                            base,
                            std::ptr::null_mut(),
                        )
                    }
                },
                &[],
            ));
        });
        self
    }

    /// Applies the patterns and folds below `op` until nothing changes.
    pub fn apply<'c>(self, op: Op<'c>) -> crate::diagnostic::Result<'c> {
        let context = context_of(op);
        let set = melior::RewritePatternSet::new(context);
        for add in &self.add {
            add(context, &set);
        }
        let _ = take_panic();
        // Safety: the frozen set and the configuration live through the call.
        let result = unsafe {
            let frozen = set.freeze().into_raw();
            let config = mlir_sys::mlirGreedyRewriteDriverConfigCreate();
            let result =
                mlir_sys::mlirApplyPatternsAndFoldGreedilyWithOp(op.to_raw(), frozen, config);
            mlir_sys::mlirGreedyRewriteDriverConfigDestroy(config);
            mlir_sys::mlirFrozenRewritePatternSetDestroy(frozen);
            result
        };
        if take_panic() {
            return Err(Diagnostic::at(
                op,
                "is left as a pattern that panicked left it",
            ));
        }
        if result.value == 0 {
            return Err(Diagnostic::at(op, "patterns did not reach a fixed point"));
        }
        Ok(())
    }
}

thread_local! {
    /// Whether a pattern has panicked on this thread. To the driver it did not
    /// match, and so the driver goes on: who called the driver must ask.
    static PANICKED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a pattern has panicked on this thread since this was last asked.
pub(crate) fn take_panic() -> bool {
    PANICKED.take()
}

/// The trampoline of every pattern: a panic becomes a diagnostic.
pub(crate) unsafe extern "C" fn call<P: Pattern>(
    op: MlirOperation,
    count: isize,
    operands: *const MlirValue,
    rewriter: MlirRewriterBase,
    _: *mut c_void,
) -> bool {
    // Safety: the driver hands valid handles that live through the call.
    let (op, operands, base): (Op, &[Value], _) = unsafe {
        (
            OperationRef::from_raw(op),
            if count == 0 {
                &[]
            } else {
                std::slice::from_raw_parts(operands.cast(), count as usize)
            },
            RewriterBase::from_raw(rewriter),
        )
    };
    let location = op.location();
    let rewriter = Rewriter { base, root: op };
    match catch_unwind(AssertUnwindSafe(|| P::rewrite(op, operands, &rewriter))) {
        Ok(outcome) => outcome.is_ok(),
        Err(panic) => {
            PANICKED.set(true);
            Diagnostic::new(
                location,
                format!(
                    "the pattern of '{}' panicked: {}; this is a bug in the pattern",
                    P::ROOT,
                    panic_message(&*panic)
                ),
            )
            .emit();
            false
        }
    }
}
