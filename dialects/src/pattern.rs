//! Rewrite patterns and canonical forms written in Rust.

use crate::{
    diagnostic::Diagnostic,
    ir::{Context, Op, OpExt, Value, ValueExt, context_of},
    pass::panic_message,
};
use melior::{
    RewriterBase, StringRef,
    ir::{Attribute, Location, Operation, OperationRef, Type},
};
use mlir_sys::{MlirOperation, MlirRewriterBase, MlirValue};
use std::{
    cell::{Cell, RefCell},
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Why a pattern did not fire. Not an error.
#[derive(Clone, Copy, Debug)]
pub struct NoMatch;

/// The outcome of a rewrite: it fired, or it did not apply.
pub type Rewritten = Result<(), NoMatch>;

/// Changes IR on behalf of a driver, which is told of every change.
///
/// The operation that is rewritten exists as long as its pattern runs: it is replaced or erased when
/// the pattern has returned, and only if the pattern fired.
pub struct Rewriter<'c> {
    base: RewriterBase<'c, 'c>,
    root: Op<'c>,
    end: RefCell<Option<End<'c>>>,
}

/// The requested change of the operation that is rewritten.
enum End<'c> {
    Replaced(Vec<Value<'c>>),
    Erased,
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
        self.base.set_insertion_point_before(raw_ref(self.root));
        let inserted = self.base.insert(op.into());
        // Safety: the operation lives in the IR, not in the rewriter.
        unsafe { Op::from_raw(inserted.to_raw()) }
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
    ///
    /// # Panics
    ///
    /// There is not a value for each result, or the operation has been replaced or erased before.
    pub fn replace(&self, values: &[Value<'c>]) {
        assert_eq!(
            self.root.result_count(),
            values.len(),
            "'{}' is replaced by as many values as it has results",
            self.root.full_name()
        );
        self.finish(End::Replaced(values.to_vec()));
    }

    /// Erases the operation being rewritten, which has no uses.
    ///
    /// # Panics
    ///
    /// The operation has been replaced or erased before. The pattern also panics if the operation
    /// still has uses when it returns.
    pub fn erase(&self) {
        self.finish(End::Erased);
    }

    fn finish(&self, end: End<'c>) {
        let before = self.end.replace(Some(end));
        assert!(
            before.is_none(),
            "'{}' is replaced or erased twice",
            self.root.full_name()
        );
    }

    /// Makes the requested change of the operation.
    fn apply(self) {
        let root = raw_ref(self.root);
        match self.end.into_inner() {
            Some(End::Replaced(values)) => self.base.replace_op_with_values(root, &values),
            Some(End::Erased) => {
                let mut users = self.root.result_values().into_iter().flat_map(|v| v.uses());
                if let Some((user, _)) = users.next() {
                    panic!(
                        "'{}' is erased while '{}' uses it",
                        self.root.full_name(),
                        user.full_name()
                    );
                }
                self.base.erase_op(root);
            }
            None => {}
        }
    }
}

fn raw_ref<'c>(op: Op<'c>) -> OperationRef<'c, 'c> {
    // Safety: the operation is valid.
    unsafe { OperationRef::from_raw(op.to_raw()) }
}

/// A rewrite of one kind of operation. `operands` are the operation's.
pub trait Pattern: Send + Sync + 'static {
    /// The operation it rewrites, by full name.
    const ROOT: &'static str;
    /// Which of several patterns is tried first: the higher.
    const BENEFIT: u32 = 1;
    /// Rewrites `op`, or returns `NoMatch`, having changed nothing.
    fn rewrite<'c>(op: Op<'c>, operands: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten;
}

/// Adds a canonicalization pattern, which `canonicalize` then applies. Once a process.
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
                "may be only partly rewritten: a pattern panicked",
            ));
        }
        if result.value == 0 {
            return Err(Diagnostic::at(op, "patterns did not reach a fixed point"));
        }
        Ok(())
    }
}

thread_local! {
    /// Whether a pattern has panicked on this thread. The driver is told that it did
    /// not match, and continues, so that the driver's caller must check this.
    static PANICKED: Cell<bool> = const { Cell::new(false) };
    /// What the pattern that runs on this thread rewrites.
    static RUNNING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Whether a pattern has panicked on this thread since this was last asked.
pub(crate) fn take_panic() -> bool {
    PANICKED.take()
}

/// What the pattern that runs on this thread rewrites, if one does.
pub(crate) fn running() -> Option<&'static str> {
    RUNNING.get()
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
            Op::from_raw(op),
            if count == 0 {
                &[]
            } else {
                std::slice::from_raw_parts(operands.cast(), count as usize)
            },
            RewriterBase::from_raw(rewriter),
        )
    };
    let location = op.location();
    let rewriter = Rewriter {
        base,
        root: op,
        end: RefCell::default(),
    };
    let outer = RUNNING.replace(Some(P::ROOT));
    let rewritten = catch_unwind(AssertUnwindSafe(|| {
        P::rewrite(op, operands, &rewriter)?;
        rewriter.apply();
        Ok::<_, NoMatch>(())
    }));
    RUNNING.set(outer);
    match rewritten {
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
