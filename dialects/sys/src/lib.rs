//! FFI to the `qd` dialect and to functions that MLIR's C API lacks.
//!
//! Nothing here is safe to call directly: `qd-dialects` wraps it. Every function is
//! declared once here and defined once in `cpp/`.
#![allow(missing_docs)]

use mlir_sys::*;
use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
pub struct QdOption {
    pub name: MlirStringRef,
    pub description: MlirStringRef,
    pub initial: MlirStringRef,
}

pub type QdRunFn =
    unsafe extern "C" fn(MlirOperation, isize, *const MlirStringRef, *mut c_void) -> bool;

#[repr(C)]
pub struct QdPassSpec {
    pub id: MlirTypeID,
    pub name: MlirStringRef,
    pub argument: MlirStringRef,
    pub description: MlirStringRef,
    pub anchor: MlirStringRef,
    pub num_dialects: isize,
    pub dialects: *const MlirDialectHandle,
    pub num_options: isize,
    pub options: *const QdOption,
    pub run: QdRunFn,
    pub data: *mut c_void,
}

pub type QdSinkFn = unsafe extern "C" fn(MlirStringRef, *mut c_void);
pub type QdBuildFn =
    unsafe extern "C" fn(isize, *const MlirStringRef, QdSinkFn, *mut c_void, *mut c_void) -> bool;

#[repr(C)]
pub struct QdPipelineSpec {
    pub argument: MlirStringRef,
    pub description: MlirStringRef,
    pub num_options: isize,
    pub options: *const QdOption,
    pub build: QdBuildFn,
    pub data: *mut c_void,
}

/// Properties of an LLVM module that make passes slow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QdLlvmShape {
    /// Instructions of the longest block.
    pub longest_block: usize,
    /// Loops in one another.
    pub deepest_loop: usize,
}

/// How threads execute an op.
pub type QdConvergence = c_int;
pub const QD_CONVERGENCE_UNKNOWN: QdConvergence = 0;
pub const QD_CONVERGENCE_PER_THREAD: QdConvergence = 1;
pub const QD_CONVERGENCE_COLLECTIVE: QdConvergence = 2;

/// The interface of a collective.
#[repr(C)]
pub struct QdCollective {
    /// 0: the subgroup's threads execute it together; 1: the block's; 2: the device's.
    pub scope: u32,
    /// 0: results vary; 1: they come of the operands; 2: they are uniform.
    pub result_uniformity: u32,
    /// -1: all lanes are one cluster.
    pub log2_cluster_size: i32,
    pub supports_clusters: bool,
    /// Null: it has none.
    pub source_lane: MlirValue,
}

/// The interface of an algorithm.
#[repr(C)]
pub struct QdAlgorithm {
    /// -1: it has no capacity.
    pub log256_capacity: i32,
    /// Which formula says how many elements scratch has; 0: none.
    pub formula: u32,
}

/// The effects of an op, or on one of its operands: a sum of these.
pub const QD_EFFECT_READ: u32 = 1;
pub const QD_EFFECT_WRITE: u32 = 2;
/// It allocates, frees, or is not to be done twice for another reason.
pub const QD_EFFECT_OTHER: u32 = 4;
/// It does not say, or the operand lives on under another name.
pub const QD_EFFECT_UNKNOWN: u32 = 8;
/// The operand lives on as the op's result.
pub const QD_EFFECT_VIEW: u32 = 16;

/// Beyond which bodies are large.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct QdLarge {
    /// Ops in a phase, a loop or a branch.
    pub longest: usize,
    /// Levels of regions in one another.
    pub deepest: usize,
    /// Blocks in a region.
    pub widest: usize,
}

/// What to call when a pass begins and ends.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct QdSpans {
    pub begin: unsafe extern "C" fn(MlirStringRef),
    pub end: unsafe extern "C" fn(),
}

pub type QdRewriteFn = unsafe extern "C" fn(
    MlirOperation,
    isize,
    *const MlirValue,
    MlirRewriterBase,
    *mut c_void,
) -> bool;
pub type QdAddressFn = unsafe extern "C" fn(*const c_void, *mut c_void);
pub type QdOperationFn = unsafe extern "C" fn(MlirOperation, *mut c_void);
pub type QdAlgorithmOperandFn = unsafe extern "C" fn(MlirValue, u32, u32, *mut c_void);
pub type QdNamedValueFn = unsafe extern "C" fn(MlirStringRef, MlirValue, *mut c_void);
pub type QdWordsFn = unsafe extern "C" fn(*const u32, usize, *mut c_void);

unsafe extern "C" {
    pub fn qdDialectHandle() -> MlirDialectHandle;

    pub fn qdCaseOf(attribute: MlirAttribute) -> MlirStringRef;
    pub fn qdCase(
        context: MlirContext,
        mnemonic: MlirStringRef,
        name: MlirStringRef,
    ) -> MlirAttribute;
    pub fn qdRegisterPass(spec: *const QdPassSpec);
    pub fn qdRegisterPipeline(spec: *const QdPipelineSpec);
    pub fn qdRegisterCanonicalForm(root: MlirStringRef, rewrite: QdRewriteFn, data: *mut c_void);

    pub fn qdParse(context: MlirContext, source: MlirStringRef, name: MlirStringRef) -> MlirModule;

    pub fn qdContextOf(op: MlirOperation) -> *const MlirContext;
    pub fn qdOperations(block: MlirBlock, visit: QdOperationFn, data: *mut c_void);
    pub fn qdNested(op: MlirOperation, visit: QdOperationFn, data: *mut c_void);
    pub fn qdOperands(op: MlirOperation, to: *mut MlirValue);
    pub fn qdPreviousInBlock(op: MlirOperation) -> MlirOperation;
    pub fn qdUnlink(
        op: MlirOperation,
        visit: Option<QdAddressFn>,
        data: *mut c_void,
    ) -> MlirOperation;
    pub fn qdUserOf(op: MlirOperation) -> MlirOperation;
    pub fn qdDestroy(op: MlirOperation);
    pub fn qdIsWithin(op: MlirOperation, around: MlirOperation) -> bool;
    pub fn qdClean(root: MlirOperation, large: QdLarge, iterations: isize, with_regions: bool);
    pub fn qdExpandStridedMetadata(root: MlirOperation, large: QdLarge);
    pub fn qdHoistInvariants(root: MlirOperation, deepest: usize);

    pub fn qdConvergence(op: MlirOperation, said: *mut QdCollective) -> QdConvergence;
    pub fn qdUniformOperands(op: MlirOperation, visit: QdNamedValueFn, data: *mut c_void);
    pub fn qdCollectives(context: MlirContext, visit: QdSinkFn, data: *mut c_void);
    pub fn qdEffects(op: MlirOperation) -> u32;
    pub fn qdEffectsOn(op: MlirOperation, operand: isize) -> u32;
    pub fn qdOrdersMemory(op: MlirOperation) -> bool;
    pub fn qdIsPure(op: MlirOperation) -> bool;
    pub fn qdViewSource(op: MlirOperation) -> MlirValue;
    pub fn qdAlgorithm(
        op: MlirOperation,
        said: *mut QdAlgorithm,
        visit: QdAlgorithmOperandFn,
        data: *mut c_void,
    ) -> bool;
    pub fn qdScratchFormula(context: MlirContext, name: MlirStringRef) -> u32;
    pub fn qdHasOperandSegments(context: MlirContext, name: MlirStringRef) -> bool;

    pub fn qdHaveSameAttributes(left: MlirOperation, right: MlirOperation) -> bool;

    pub fn qdEmit(
        location: MlirLocation,
        severity: MlirDiagnosticSeverity,
        message: MlirStringRef,
        num_notes: isize,
        note_locations: *const MlirLocation,
        notes: *const MlirStringRef,
    );

    pub fn qdContextSkipPasses(context: *mut c_void, names: MlirStringRef);
    pub fn qdPrepareLlvm(module: *mut c_void, longest: usize, deepest: usize) -> QdLlvmShape;

    pub fn qdSerializeSpirv(operation: MlirOperation, sink: QdWordsFn, data: *mut c_void) -> bool;

    pub fn qdOptMain(
        argc: c_int,
        argv: *mut *mut c_char,
        name: MlirStringRef,
        registry: MlirDialectRegistry,
        spans: *const QdSpans,
    ) -> c_int;
    pub fn qdPassManagerTrace(manager: MlirPassManager, spans: QdSpans);
    pub fn qdLspServerMain(
        argc: c_int,
        argv: *mut *mut c_char,
        registry: MlirDialectRegistry,
    ) -> c_int;
    pub fn qdReduceMain(argc: c_int, argv: *mut *mut c_char, context: MlirContext) -> c_int;
    pub fn qdQueryMain(argc: c_int, argv: *mut *mut c_char, context: MlirContext) -> c_int;
    pub fn qdExitOnFatalErrors(tool: MlirStringRef);
}
