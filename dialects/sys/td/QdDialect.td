//===- QdDialect.td - the qd dialect: base, enums, constraints ------------===//
//
// One dialect, four families of ops (simt, algo, grid, math), one file each.
// What all of them share is here.
//
//===----------------------------------------------------------------------===//

#ifndef QD_DIALECT_TD
#define QD_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "QdInterfaces.td"

def Qd_Dialect : Dialect {
  let name = "qd";
  let cppNamespace = "::qd";
  let summary = "Portable GPU kernels: device algorithms, launch phases, subgroup ops";
  let description = [{
    A kernel is written against three families of ops and rewritten step by
    step: `qd.algo` (device-wide algorithms), `qd.grid` (phases and launches)
    and `qd.simt` (subgroup and block operations). `qd.math` adds the bit
    operations whose contract differs from upstream's.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// The context, at a place that lives as long as it does: what Rust's references to
    /// contexts point to.
    ::mlir::MLIRContext *const self = getContext();
  }];
}

class Qd_Op<string mnemonic, list<Trait> traits = []>
    : Op<Qd_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

// Cases and spelling follow upstream's `vector.kind`; `minimumf`/`maximumf`
// (NaN-propagating) are left out: no target has them for subgroups.
def Qd_CombiningKindEnum : I32EnumAttr<"CombiningKind", "kind of combining function", [
  I32EnumAttrCase<"ADD", 0, "add">,
  I32EnumAttrCase<"MUL", 1, "mul">,
  I32EnumAttrCase<"MINSI", 2, "minsi">,
  I32EnumAttrCase<"MINUI", 3, "minui">,
  I32EnumAttrCase<"MINNUMF", 4, "minnumf">,
  I32EnumAttrCase<"MAXSI", 5, "maxsi">,
  I32EnumAttrCase<"MAXUI", 6, "maxui">,
  I32EnumAttrCase<"MAXNUMF", 7, "maxnumf">,
  I32EnumAttrCase<"AND", 8, "and">,
  I32EnumAttrCase<"OR", 9, "or">,
  I32EnumAttrCase<"XOR", 10, "xor">]> {
  let cppNamespace = "::qd";
  let genSpecializedAttr = 0;
}
def Qd_CombiningKind : EnumAttr<Qd_Dialect, Qd_CombiningKindEnum, "kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def Qd_ScopeEnum : I32EnumAttr<"Scope", "the threads that an atomic or a fence is ordered with", [
  I32EnumAttrCase<"Subgroup", 0, "subgroup">,
  I32EnumAttrCase<"Block", 1, "block">,
  I32EnumAttrCase<"Device", 2, "device">]> {
  let cppNamespace = "::qd";
  let genSpecializedAttr = 0;
}
def Qd_Scope : EnumAttr<Qd_Dialect, Qd_ScopeEnum, "scope"> {
  let assemblyFormat = "`<` $value `>`";
}

def Qd_OrderEnum : I32EnumAttr<"Order", "memory ordering", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">,
  I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">,
  I32EnumAttrCase<"AcqRel", 3, "acq_rel">]> {
  let cppNamespace = "::qd";
  let genSpecializedAttr = 0;
}
def Qd_Order : EnumAttr<Qd_Dialect, Qd_OrderEnum, "order"> {
  let assemblyFormat = "`<` $value `>`";
}

def Qd_SubgroupFillEnum : I32EnumAttr<"SubgroupFill", "whether elements fill every subgroup", [
  I32EnumAttrCase<"Full", 0, "full">,
  I32EnumAttrCase<"Partial", 1, "partial">]> {
  let cppNamespace = "::qd";
  let genSpecializedAttr = 0;
}
def Qd_SubgroupFill : EnumAttr<Qd_Dialect, Qd_SubgroupFillEnum, "subgroup_fill"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

// Those of less than 32 bits are widened by `qd-expand-narrow`.
def Qd_Scalar : AnyTypeOf<[I1, I8, I16, I32, I64, F16, BF16, F32, F64],
                          "i1, i8, i16, i32, i64, f16, bf16, f32 or f64">;
def Qd_AnyInt : AnyTypeOf<[I1, I8, I16, I32, I64], "i1, i8, i16, i32 or i64">;
// Of counts and masks.
def Qd_Int : AnyTypeOf<[I32, I64], "i32 or i64">;

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

// What a collective reads: the set of lanes that execute it together. An
// effect-free op that is merely not speculatable is still merged by CSE across
// regions and sunk into `scf.if`; a read of this resource prevents both.
def Qd_ConvergenceResource : Resource<"::qd::ConvergenceResource">;

// Written by ops whose reads must not be moved, merged or duplicated, because other threads may
// write the memory concurrently. It is not memory, so that two such reads do not conflict.
def Qd_ConcurrencyResource : Resource<"::qd::ConcurrencyResource">;

//===----------------------------------------------------------------------===//
// qd.yield
//===----------------------------------------------------------------------===//

def Qd_YieldOp : Qd_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "ends a combiner or a predicate region";
  let description = [{
    Hands the region's values to the op that owns it: the combined scalars of
    a combiner, or the `i1` of a variant's predicate.

    ```mlir
    qd.yield %sum : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let hasVerifier = 1;
}

#endif // QD_DIALECT_TD
