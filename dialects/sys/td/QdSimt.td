//===- QdSimt.td - one subgroup, one block ---------------------------------===//

#ifndef QD_SIMT_TD
#define QD_SIMT_TD

include "QdDialect.td"

def Qd_ShuffleModeEnum : I32EnumAttr<"ShuffleMode", "where a shuffle reads from", [
  I32EnumAttrCase<"Idx", 0, "idx">,
  I32EnumAttrCase<"Up", 1, "up">,
  I32EnumAttrCase<"Down", 2, "down">,
  I32EnumAttrCase<"Xor", 3, "xor">]> {
  let cppNamespace = "::qd";
  let genSpecializedAttr = 0;
}
def Qd_ShuffleMode : EnumAttr<Qd_Dialect, Qd_ShuffleModeEnum, "shuffle_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

def Qd_LaneRelationEnum : I32EnumAttr<"LaneRelation", "which lanes a mask holds", [
  I32EnumAttrCase<"Lt", 0, "lt">,
  I32EnumAttrCase<"Le", 1, "le">,
  I32EnumAttrCase<"Eq", 2, "eq">,
  I32EnumAttrCase<"Gt", 3, "gt">,
  I32EnumAttrCase<"Ge", 4, "ge">]> {
  let cppNamespace = "::qd";
  let genSpecializedAttr = 0;
}
def Qd_LaneRelation : EnumAttr<Qd_Dialect, Qd_LaneRelationEnum, "lane_relation"> {
  let assemblyFormat = "`<` $value `>`";
}

// log2 of the cluster size of a collective, tile(3) for 8 lanes; absent: the whole subgroup.
def Qd_TileSize : ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<6>]> {
  let summary = "log2 of the cluster size, an i32 from 0 to 6 (64 lanes)";
}
def Qd_Tile : OptionalAttr<Qd_TileSize>;

class Simt_Op<string mnemonic, list<Trait> traits = []>
    : Qd_Op<"simt." # mnemonic, traits> {
  let cppNamespace = "::qd::simt";
}

// Ops that each thread executes independently.
class Simt_PerThreadOp<string mnemonic, list<Trait> traits = []>
    : Simt_Op<mnemonic, !listconcat(traits, [PerThread])>;

// The uniformity of a collective's results, a `ResultUniformity`.
defvar Simt_Varying = "::qd::ResultUniformity::Varying";
defvar Simt_FromOperands = "::qd::ResultUniformity::FromOperands";
defvar Simt_Uniform = "::qd::ResultUniformity::Uniform";

// Ops that the threads of a scope, "Subgroup" or "Block", execute together. `effects` are the op's
// own accesses to memory.
class Simt_Collective<string mnemonic, string scope, list<Trait> traits = [],
                      list<MemoryEffect> effects = []>
    : Simt_Op<mnemonic, !listconcat(traits, [
        CollectiveOpInterface,
        MemoryEffects<!listconcat(effects, [MemRead<Qd_ConvergenceResource>])>])> {
  // Whether it takes a `tile`, and then exchanges values within clusters of that size.
  bit hasClusters = 0;
  // Operands that must be the same in all threads of the scope.
  list<string> uniformOperands = [];
  // What `getResultUniformity` and `getSourceLane` return.
  string resultUniformity = Simt_Varying;
  string sourceLane = "::mlir::Value()";
  let extraClassDeclaration =
    "::qd::Scope getExecutionScope() { return ::qd::Scope::" # scope # "; }\n" #
    "::qd::ResultUniformity getResultUniformity() { return " # resultUniformity # "; }\n" #
    "::mlir::Value getSourceLane() { return " # sourceLane # "; }\n" #
    !if(hasClusters,
        "bool supportsClusters() { return true; }\n"
        "::std::optional<uint32_t> getLog2ClusterSize() { return getTile(); }\n", "") #
    "::llvm::SmallVector<::qd::UniformOperand> getUniformOperands() { return {" #
    !interleave(!foreach(name, uniformOperands, "{\"" # name # "\", get" #
      !toupper(!substr(name, 0, 1)) # !substr(name, 1) # "()}"), ", ") # "}; }\n";
}

//===----------------------------------------------------------------------===//
// Thread and lane ids, and sizes
//===----------------------------------------------------------------------===//

class Simt_IdOp<string mnemonic, Type type, string what, string text>
    : Simt_PerThreadOp<mnemonic, [Pure]> {
  let summary = what;
  let description = text;
  let results = (outs type:$result);
  let assemblyFormat = "attr-dict";
}

def Simt_LaneIdOp : Simt_IdOp<"lane_id", I32, "this lane's number in its subgroup", [{
  `0 … subgroup_size − 1`, as `i32`.

  ```mlir
  %lane = qd.simt.lane_id
  ```
}]>;
def Simt_SubgroupSizeOp : Simt_IdOp<"subgroup_size", I32, "lanes in a subgroup", [{
  A power of two from 4 to 64. Folds to a constant once the wave is chosen
  (`qd-select-subgroup-size`).

  The host has it, too, for a grid that follows it: at the top level of a kernel,
  whose phases then all have that size.

  ```mlir
  %size = qd.simt.subgroup_size
  ```
}]>;
def Simt_Log2SubgroupSizeOp : Simt_IdOp<"log2_subgroup_size", I32, "base-2 logarithm of the subgroup size", [{
  Folds to a constant once the wave is chosen (`qd-select-subgroup-size`). Legal
  where `subgroup_size` is.

  ```mlir
  %log = qd.simt.log2_subgroup_size
  ```
}]>;
def Simt_SubgroupIdOp : Simt_IdOp<"subgroup_id", I32, "this subgroup's number in its block", [{
  Thread ids follow subgroup order: `thread_id = subgroup_id · subgroup_size + lane_id`.

  ```mlir
  %sg = qd.simt.subgroup_id
  ```
}]>;
def Simt_NumSubgroupsOp : Simt_IdOp<"num_subgroups", I32, "subgroups in a block", [{
  `block.dim / subgroup_size`, rounded up. Where the division leaves a remainder, the
  last subgroup has that many lanes, its first ones, and the others are absent: they
  contribute nothing to reductions, scans, votes and sorts, and 0 to a ballot, and
  a lane that reads one of them gets its own value, as from a `shuffle up` beyond the
  subgroup. `subgroup_size` is the same in all subgroups, and `tile` cuts clusters as if
  all lanes were there.

  ```mlir
  %n = qd.simt.num_subgroups
  ```
}]>;

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

def Simt_ShuffleOp : Simt_Collective<"shuffle", "Subgroup", [AllTypesMatch<["value", "result"]>]> {
  // With `idx` and `xor` the source lane exists, so that a uniform value stays uniform; with `up` and
  // `down` it may not.
  let resultUniformity = !strconcat("getMode() == ShuffleMode::Idx || getMode() == ShuffleMode::Xor ? ",
                                    Simt_FromOperands, " : ", Simt_Varying);
  let sourceLane = "getMode() == ShuffleMode::Idx ? getLane() : ::mlir::Value()";
  let summary = "read another lane's value";
  let description = [{
    Lane `i` gets the value held by lane `lane` (`idx`), `i − lane` (`up`), `i +
    lane` (`down`) or `i xor lane` (`xor`). Lanes are numbered within the whole
    subgroup, and `lane` is unsigned.

    Where there is no such lane, `up` and `down` yield the lane's own value. With
    `in_range`, for code that does not use the results of these lanes, they yield poison
    there, which saves an instruction on some targets. `idx` and `xor` always yield
    poison there. The interpreter reports poison that is used.

    ```mlir
    %r = qd.simt.shuffle xor %v, %mask : f32
    %s = qd.simt.shuffle up %v, %delta in_range : f32
    ```
  }];
  let arguments = (ins Qd_Scalar:$value, I32:$lane, Qd_ShuffleMode:$mode, UnitAttr:$in_range);
  let results = (outs Qd_Scalar:$result);
  let assemblyFormat = [{
    custom<Case>($mode) $value `,` $lane (`in_range` $in_range^)? attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Simt_BroadcastOp : Simt_Collective<"broadcast", "Subgroup", [AllTypesMatch<["value", "result"]>]> {
  let uniformOperands = ["lane"];
  let resultUniformity = Simt_Uniform;
  let sourceLane = "getLane()";
  let summary = "every lane reads one lane's value";
  let description = [{
    `lane` must be the same in every lane of the subgroup (dynamically
    uniform); use `qd.simt.shuffle idx` where it is not.

    ```mlir
    %r = qd.simt.broadcast %v, %lane : f32
    ```
  }];
  let arguments = (ins Qd_Scalar:$value, I32:$lane);
  let results = (outs Qd_Scalar:$result);
  let assemblyFormat = "$value `,` $lane attr-dict `:` type($value)";
}

def Simt_BroadcastFirstOp : Simt_Collective<"broadcast_first", "Subgroup", [AllTypesMatch<["value", "result"]>]> {
  let resultUniformity = Simt_Uniform;
  let summary = "every lane reads lane 0's value";
  let description = [{
    ```mlir
    %r = qd.simt.broadcast_first %v : i64
    ```
  }];
  let arguments = (ins Qd_Scalar:$value);
  let results = (outs Qd_Scalar:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Simt_RotateOp : Simt_Collective<"rotate", "Subgroup", [AllTypesMatch<["value", "result"]>]> {
  let hasClusters = 1;
  let uniformOperands = ["delta"];
  let resultUniformity = Simt_FromOperands;
  let summary = "read the value a fixed distance ahead, cyclically";
  let description = [{
    Lane `i` gets the value of lane `(i + delta) mod size`, where the size is
    that of the subgroup or of the tile (`tile(4)` is a `cluster_size` of 16),
    and lanes are numbered within it. `delta` must be the same in every lane.

    ```mlir
    %r = qd.simt.rotate %v, %delta tile(4) : f32
    ```
  }];
  let arguments = (ins Qd_Scalar:$value, I32:$delta, Qd_Tile:$tile);
  let results = (outs Qd_Scalar:$result);
  let assemblyFormat = "$value `,` $delta (`tile` `(` $tile^ `)`)? attr-dict `:` type($value)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

def Simt_ElectOp : Simt_PerThreadOp<"elect", [Pure]> {
  let summary = "true in lane 0 alone";
  let description = [{
    Lane 0 is elected on every target (narrower than SPIR-V's
    `OpGroupNonUniformElect`, so that results do not depend on the target).

    ```mlir
    %leader = qd.simt.elect
    ```
  }];
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
}

def Simt_SyncOp : Simt_Collective<"sync", "Subgroup", [OrdersMemory], [MemRead, MemWrite]> {
  let summary = "subgroup barrier";
  let description = [{
    No lane of the subgroup continues before all have arrived. Writes to memory
    before the barrier are visible to the subgroup's lanes after it. All lanes
    must reach it.

    ```mlir
    qd.simt.sync
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Simt_MemFenceOp : Simt_PerThreadOp<"mem_fence", [OrdersMemory, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "subgroup-scope memory fence";
  let description = [{
    Orders memory operations as seen by the subgroup. It does not synchronize the
    lanes: it is not a barrier.

    ```mlir
    qd.simt.mem_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Simt_PauseOp : Simt_PerThreadOp<"pause", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "backoff: suspends the subgroup for a while";
  let description = [{
    A hint that this subgroup has nothing to do for about that many nanoseconds,
    because it polls memory that other blocks will write (`nanosleep` in PTX). A
    target may ignore it, or wait longer.

    ```mlir
    qd.simt.pause 1000
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntPositive]>:$nanoseconds);
  let assemblyFormat = "$nanoseconds attr-dict";
}

//===----------------------------------------------------------------------===//
// Votes and masks
//===----------------------------------------------------------------------===//

class Simt_VoteOp<string mnemonic, string what, string text> : Simt_Collective<mnemonic, "Subgroup"> {
  let hasClusters = 1;
  let resultUniformity = Simt_Uniform;
  let summary = what;
  let description = text;
  let arguments = (ins I1:$predicate, Qd_Tile:$tile);
  let results = (outs I1:$result);
  let assemblyFormat = "$predicate (`tile` `(` $tile^ `)`)? attr-dict";
}
def Simt_AllOp : Simt_VoteOp<"all", "whether every lane's predicate holds", [{
  The result is in every lane of the subgroup, or of the tile.

  ```mlir
  %r = qd.simt.all %p
  ```
}]> { let hasFolder = 1; }
def Simt_AnyOp : Simt_VoteOp<"any", "whether some lane's predicate holds", [{
  The result is in every lane of the subgroup, or of the tile; `tile(3)` has a
  `cluster_size` of 8.

  ```mlir
  %r = qd.simt.any %p tile(3)
  ```
}]> { let hasFolder = 1; }

def Simt_AllEqualOp : Simt_Collective<"all_equal", "Subgroup"> {
  let hasClusters = 1;
  let resultUniformity = Simt_Uniform;
  let summary = "whether every lane holds the same value";
  let description = [{
    The result is in every lane of the subgroup, or of the tile. Floats are
    compared by `==`: a NaN equals nothing, so one NaN makes the result false,
    and +0 equals −0. Bitcast to integers to compare bits. Of an `i1` it says whether
    all lanes vote alike, as CUDA's `vote.uni` does.

    ```mlir
    %r = qd.simt.all_equal %v : f32
    ```
  }];
  let arguments = (ins Qd_Scalar:$value, Qd_Tile:$tile);
  let results = (outs I1:$result);
  let assemblyFormat = "$value (`tile` `(` $tile^ `)`)? attr-dict `:` type($value)";
  let hasFolder = 1;
}

def Simt_BallotOp : Simt_Collective<"ballot", "Subgroup"> {
  let resultUniformity = Simt_Uniform;
  let summary = "mask of the lanes whose predicate holds";
  let description = [{
    Bit `i` of the `i64` is lane `i`'s predicate; bits at and beyond the
    subgroup size are zero.

    ```mlir
    %mask = qd.simt.ballot %p
    ```
  }];
  let arguments = (ins I1:$predicate);
  let results = (outs I64:$mask);
  let assemblyFormat = "$predicate attr-dict";
  let hasFolder = 1;
}

def Simt_BallotFirstNOp : Simt_Collective<"ballot_first_n", "Subgroup"> {
  let resultUniformity = Simt_Uniform;
  let summary = "mask of those of the first n lanes whose predicate holds";
  let description = [{
    Bit `i` of the `i32` is lane `i`'s predicate for `i < n`; all other bits
    are zero. `n` is a constant from 1 to 32.

    ```mlir
    %mask = qd.simt.ballot_first_n 32 %p
    ```
  }];
  let arguments = (ins I1:$predicate, I32Attr:$n);
  let results = (outs I32:$mask);
  let assemblyFormat = "$n $predicate attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Simt_CountTrueOp : Simt_Collective<"count_true", "Subgroup"> {
  let hasClusters = 1;
  let resultUniformity = Simt_Uniform;
  let summary = "number of lanes whose predicate holds";
  let description = [{
    The result, from 0 to the number of lanes in the subgroup or tile, is in every
    lane of it.

    ```mlir
    %n = qd.simt.count_true %p tile(3)
    ```
  }];
  let arguments = (ins I1:$predicate, Qd_Tile:$tile);
  let results = (outs I32:$count);
  let assemblyFormat = "$predicate (`tile` `(` $tile^ `)`)? attr-dict";
}

def Simt_LanemaskOp : Simt_PerThreadOp<"lanemask", [Pure]> {
  let summary = "mask of the lanes below, at or above a lane";
  let description = [{
    Bit `i` is set iff `i` stands in the relation to `lane` (`lt`, `le`, `eq`,
    `gt`, `ge`), over all 32 or 64 bits of the result whatever the subgroup's
    size. `lane` must be less than the width of the result. Plain arithmetic:
    legal anywhere, with any lane.

    ```mlir
    %below = qd.simt.lanemask lt %lane : i64
    ```
  }];
  let arguments = (ins I32:$lane, Qd_LaneRelation:$relation);
  let results = (outs Qd_Int:$mask);
  let assemblyFormat = "custom<Case>($relation) $lane attr-dict `:` type($mask)";
  let hasFolder = 1;
}

def Simt_MatchAnyOp : Simt_Collective<"match_any", "Subgroup"> {
  let resultUniformity = Simt_FromOperands;
  let summary = "mask of the lanes that hold the same value";
  let description = [{
    Bit `i` is set iff lane `i` holds the same bits as this lane. Integers only:
    bitcast floats first. With `bits(n)` only the lowest `n` bits are compared,
    which is cheaper in proportion where a target takes one ballot for each bit.

    ```mlir
    %peers = qd.simt.match_any %value : i32
    %same_digit = qd.simt.match_any %digit bits(8) : i32
    ```
  }];
  let arguments = (ins Qd_AnyInt:$value, OptionalAttr<I32Attr>:$bits);
  let results = (outs I64:$mask);
  let assemblyFormat = "$value (`bits` `(` $bits^ `)`)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Simt_MatchAllOp : Simt_Collective<"match_all", "Subgroup"> {
  let resultUniformity = Simt_Uniform;
  let summary = "mask of all lanes if they hold the same value, else 0";
  let description = [{
    The mask has the lanes that the subgroup has, as that of
    `qd.simt.active_mask`. Bits are compared. Integers only: bitcast floats first;
    `qd.simt.all_equal` compares floats as numbers.

    Where some lanes alone take part, the others bring the value of one that does:

    ```mlir
    %lanes = qd.simt.match_all %value : i32

    %part = qd.simt.ballot %takes_part
    %one = math.cttz %part : i64
    %lane = arith.trunci %one : i64 to i32
    %theirs = qd.simt.broadcast %value, %lane : i32
    %brought = arith.select %takes_part, %value, %theirs : i32
    %all = qd.simt.match_all %brought : i32
    %of_part = arith.andi %all, %part : i64
    ```
  }];
  let arguments = (ins Qd_AnyInt:$value);
  let results = (outs I64:$mask);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Simt_ActiveMaskOp : Simt_Collective<"active_mask", "Subgroup"> {
  let resultUniformity = Simt_Uniform;
  let summary = "mask of the lanes that the subgroup has";
  let description = [{
    All lanes come to it, as to every collective. The last subgroup of a block whose
    threads are no multiple of the subgroup size has its first lanes alone; of a
    full one the mask has as many bits as the subgroup has lanes.

    ```mlir
    %lanes = qd.simt.active_mask
    ```
  }];
  let results = (outs I64:$mask);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

// A kind, or any associative combiner as a region over K scalars. The region
// takes the K scalars of the left operand (the lower index) and then the K of
// the right; it is pure and isolated from above.
class Simt_Combine<string mnemonic, string scope>
    : Simt_Collective<mnemonic, scope, [
        IsolatedFromAbove, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let regions = (region MaxSizedRegion<1>:$combiner);
  let results = (outs Variadic<Qd_Scalar>:$results);
  let hasVerifier = 1;
}

class Simt_SubgroupCombine<string mnemonic, string what, string text> : Simt_Combine<mnemonic, "Subgroup"> {
  let summary = what;
  let description = text;
  let hasClusters = 1;
  let arguments = (ins Variadic<Qd_Scalar>:$values, OptionalAttr<Qd_CombiningKind>:$kind,
                       Qd_Tile:$tile, OptionalAttr<ArrayAttr>:$identities);
  let assemblyFormat = [{
    (custom<CombiningKind>($kind)^)? $values (`tile` `(` $tile^ `)`)? attr-dict `:` type($values)
    (`identity` $identities^)? (`combiner` custom<Nested>($combiner)^)?
  }];
}

def Simt_ReduceOp : Simt_SubgroupCombine<"reduce", "combine all lanes' values, to lane 0", [{
  Lane 0 of the subgroup, or of each tile, gets the combination of all its
  lanes' values in lane order; the other lanes' results are undefined (poison in
  the interpreter). Use `reduce_all` where every lane needs it.

  The kinds `minnumf` and `maxnumf` are IEEE 754-2019's minimumNumber and
  maximumNumber, on every target and in every op that takes a kind: NaNs are
  ignored unless all values are NaN, when the result is a NaN, and −0 is below
  +0. Which NaN is unspecified.

  A sum or a product of `f16` or `bf16` is rounded to that type after each
  combination, as by `arith.addf` on it; to round once, extend the values to `f32`
  before.

  A combiner region is any associative function of its operands alone, the left
  scalars and then the right ones: it is pure, isolated from above, and has no
  op that depends on the executing thread (`qd.simt.lane_id`, `block.id`, …).

  ```mlir
  %sum = qd.simt.reduce add %v : f32
  %m, %i = qd.simt.reduce %a, %b : f32, i32 identity [0.0 : f32, 0 : i32] combiner {
  ^bb0(%la: f32, %lb: i32, %ra: f32, %rb: i32):
    ...
    qd.yield %x, %y : f32, i32
  }
  ```
}]> { let hasFolder = 1; }
def Simt_ReduceAllOp : Simt_SubgroupCombine<"reduce_all", "combine all lanes' values, to every lane", [{
  As `reduce`, with the result in every lane of the subgroup or tile; `tile(3)`
  has a `cluster_size` of 8.

  ```mlir
  %sum = qd.simt.reduce_all add %v tile(3) : i32
  ```
}]> {
  let hasFolder = 1;
  let resultUniformity = Simt_Uniform;
}
def Simt_InclusiveScanOp : Simt_SubgroupCombine<"inclusive_scan", "combine the values of this lane and those below", [{
  Lane `i` gets `v₀ ∘ v₁ ∘ … ∘ vᵢ` over the subgroup, or from the first lane
  of its tile.

  ```mlir
  %prefix = qd.simt.inclusive_scan add %v : i32
  ```
}]> { let hasFolder = 1; }
def Simt_ExclusiveScanOp : Simt_SubgroupCombine<"exclusive_scan", "combine the values of the lanes below", [{
  Lane `i` gets `v₀ ∘ … ∘ vᵢ₋₁`; lane 0 gets the identity: 0 for `add`, `or` and
  `xor`, 1 for `mul`, all ones for `and`, +inf or the largest integer for a
  minimum, −inf or the smallest for a maximum, or the one that a region names.
  The identity is not combined with any value: if all lanes below hold NaNs,
  `minnumf` yields a NaN and not +inf.

  ```mlir
  %offset = qd.simt.exclusive_scan add %count : i32
  ```
}]>;

def Simt_SegmentedReduceOp : Simt_Combine<"segmented_reduce", "Subgroup"> {
  let hasClusters = 1;
  let summary = "inclusive scan that restarts at every head";
  let description = [{
    Lane `i` gets the inclusive scan from the nearest lane at or below it whose
    `head` is set, or from lane 0 of the subgroup (or tile) if none is. Values
    of another segment are never combined.

    ```mlir
    %s = qd.simt.segmented_reduce add %v heads %head : f32
    ```
  }];
  let arguments = (ins Variadic<Qd_Scalar>:$values, I1:$head, OptionalAttr<Qd_CombiningKind>:$kind,
                       Qd_Tile:$tile, OptionalAttr<ArrayAttr>:$identities);
  let assemblyFormat = [{
    (custom<CombiningKind>($kind)^)? $values `heads` $head (`tile` `(` $tile^ `)`)? attr-dict `:` type($values)
    (`identity` $identities^)? (`combiner` custom<Nested>($combiner)^)?
  }];
  let hasFolder = 1;
}

def Simt_BitonicSortKvOp : Simt_Collective<"bitonic_sort_kv", "Subgroup", [
    AllTypesMatch<["key", "sorted_key"]>, AllTypesMatch<["value", "sorted_value"]>]> {
  let hasClusters = 1;
  let summary = "sort the lanes' (key, value) pairs";
  let description = [{
    Ascending in `(key, value)` over the subgroup, or within each tile: lane 0
    gets the smallest pair. Equal keys are ordered by value, not by lane.
    Integers compare as signed unless `unsigned_key` or `unsigned_value` is set.
    Floats are in the order of their bits, as `qd.algo.sort` has them: −0 before
    +0, and NaNs first or last by their sign.

    ```mlir
    %k1, %v1 = qd.simt.bitonic_sort_kv %k, %v : f32, i32
    ```
  }];
  let arguments = (ins Qd_Scalar:$key, Qd_Scalar:$value, Qd_Tile:$tile,
                       UnitAttr:$unsigned_key, UnitAttr:$unsigned_value);
  let results = (outs Qd_Scalar:$sorted_key, Qd_Scalar:$sorted_value);
  let assemblyFormat = [{
    $key `,` $value (`tile` `(` $tile^ `)`)? (`unsigned_key` $unsigned_key^)?
    (`unsigned_value` $unsigned_value^)? attr-dict `:` type($key) `,` type($value)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

def Simt_BlockIdOp : Simt_IdOp<"block.id", Index, "this block's number in its grid", [{
  `0 … blocks − 1`. Grids are one-dimensional in the IR; a target that limits
  the size of a dimension maps them to two.

  ```mlir
  %b = qd.simt.block.id
  ```
}]>;
def Simt_BlockDimOp : Simt_IdOp<"block.dim", Index, "threads in a block", [{
  Folds to the phase's `threads`.

  ```mlir
  %d = qd.simt.block.dim
  ```
}]> { let hasFolder = 1; }
def Simt_BlockThreadIdOp : Simt_IdOp<"block.thread_id", Index, "this thread's number in its block", [{
  `0 … block.dim − 1`, in subgroup order.

  ```mlir
  %t = qd.simt.block.thread_id
  ```
}]>;
def Simt_GridDimOp : Simt_IdOp<"grid.dim", Index, "blocks in the grid", [{
  The stride of a grid-stride loop, in blocks.

  ```mlir
  %g = qd.simt.grid.dim
  ```
}]>;

def Simt_BlockSyncOp : Simt_Collective<"block.sync", "Block", [OrdersMemory], [MemRead, MemWrite]> {
  let summary = "block barrier";
  let description = [{
    No thread of the block continues before all have arrived. Writes to shared and
    device memory before the barrier are visible to the block's threads after it.

    ```mlir
    qd.simt.block.sync
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Simt_BlockMemFenceOp : Simt_PerThreadOp<"block.mem_fence", [OrdersMemory, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "block-scope memory fence";
  let description = [{
    Orders memory operations as seen by the block. It does not synchronize the
    threads: it is not a barrier.

    ```mlir
    qd.simt.block.mem_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Simt_BlockSharedOp : Simt_PerThreadOp<"block.shared", [
    MemoryEffects<[MemAlloc<DefaultResource>]>]> {
  let summary = "an array in the block's shared memory";
  let description = [{
    One array for the whole block, uninitialised, living as long as the block.
    Its shape is static, its memory space is `#gpu.address_space<workgroup>`,
    and it must be at the top level of a phase or an outlined body, where every
    thread executes it once.

    ```mlir
    %tile = qd.simt.block.shared : memref<256xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let results = (outs AnyMemRef:$memref);
  let assemblyFormat = "attr-dict `:` type($memref)";
  let hasVerifier = 1;
}

class Simt_BlockCombine<string mnemonic, string what, string text> : Simt_Combine<mnemonic, "Block"> {
  let summary = what;
  let description = text;
  let arguments = (ins Variadic<Qd_Scalar>:$values, OptionalAttr<Qd_CombiningKind>:$kind,
                       OptionalAttr<ArrayAttr>:$identities);
  let assemblyFormat = [{
    (custom<CombiningKind>($kind)^)? $values attr-dict `:` type($values)
    (`identity` $identities^)? (`combiner` custom<Nested>($combiner)^)?
  }];
}

def Simt_BlockReduceOp : Simt_BlockCombine<"block.reduce", "combine all threads' values, to thread 0", [{
  Thread 0 gets the combination of the whole block's values in thread order;
  the others' results are undefined.

  ```mlir
  %sum = qd.simt.block.reduce add %v : i64
  ```
}]>;
def Simt_BlockReduceAllOp : Simt_BlockCombine<"block.reduce_all", "combine all threads' values, to every thread", [{
  As `block.reduce`, with the result in every thread.

  ```mlir
  %max = qd.simt.block.reduce_all maxnumf %v : f32
  ```
}]> { let resultUniformity = Simt_Uniform; }
def Simt_BlockInclusiveScanOp : Simt_BlockCombine<"block.inclusive_scan", "combine the values of this thread and those below", [{
  ```mlir
  %prefix = qd.simt.block.inclusive_scan add %v : i32
  ```
}]>;
def Simt_BlockExclusiveScanOp : Simt_BlockCombine<"block.exclusive_scan", "combine the values of the threads below", [{
  Thread 0 gets the identity, as `exclusive_scan`.

  ```mlir
  %offset = qd.simt.block.exclusive_scan add %v : i32
  ```
}]>;

def Simt_BlockRadixRankOp : Simt_Collective<"block.radix_rank", "Block"> {
  let summary = "stable rank of each thread's digit within the block";
  let description = [{
    Thread `t` with digit `d` gets the number of the block's valid threads whose
    digit is below `d`, plus those below `t` whose digit is `d`: its place in a
    stable counting sort of the block by digit. After it `histogram[d]` holds
    the number of threads with digit `d` and `prefix[d]` those with a digit
    below `d`, visible to the whole block: no barrier is needed before any
    thread reads them. Their earlier contents do not matter.

    The op does not wait for earlier accesses to the two arrays: a
    `qd.simt.block.sync` must be between any thread's access to them and the
    op, as where an array is used for one ranking after another. Writing to the
    arrays after it takes a barrier as well, since other threads may still be
    reading their ranks. It orders no other memory.

    A thread whose `where` predicate is false is not ranked, and its rank is
    undefined. Digits of the other threads must be below `2^radix_bits`. The
    block has `2^radix_bits` threads or a multiple of them, which is verified
    where the block size is known; both arrays hold `2^radix_bits` of `i32` in
    shared memory.

    ```mlir
    %rank = qd.simt.block.radix_rank %digit, %hist, %prefix where %valid {radix_bits = 8 : i32}
        : memref<256xi32, #gpu.address_space<workgroup>>, memref<256xi32, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins I32:$digit,
                       Arg<MemRefRankOf<[I32], [1]>, "digits' counts", [MemRead, MemWrite]>:$histogram,
                       Arg<MemRefRankOf<[I32], [1]>, "digits' exclusive prefix", [MemRead, MemWrite]>:$prefix,
                       Optional<I1>:$valid, I32Attr:$radix_bits);
  let results = (outs I32:$rank);
  let assemblyFormat = [{
    $digit `,` $histogram `,` $prefix (`where` $valid^)? attr-dict `:` type($histogram) `,` type($prefix)
  }];
  let hasVerifier = 1;
}

#endif // QD_SIMT_TD
