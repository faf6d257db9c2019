//===- QdAlgo.td - device-wide algorithms -----------------------------------===//

#ifndef QD_ALGO_TD
#define QD_ALGO_TD

include "QdDialect.td"

def Qd_AlgorithmEnum : I32EnumAttr<"Algorithm", "device-wide algorithm", [
  I32EnumAttrCase<"Reduce", 0, "reduce">,
  I32EnumAttrCase<"ExclusiveScan", 1, "exclusive_scan">,
  I32EnumAttrCase<"InclusiveScan", 2, "inclusive_scan">,
  I32EnumAttrCase<"Select", 3, "select">,
  I32EnumAttrCase<"Sort", 4, "sort">,
  I32EnumAttrCase<"ReduceByKey", 5, "reduce_by_key">,
  I32EnumAttrCase<"Partition", 6, "partition">,
  I32EnumAttrCase<"Unique", 7, "unique">]> {
  let cppNamespace = "::qd";
  let genSpecializedAttr = 0;
}
def Qd_Algorithm : EnumAttr<Qd_Dialect, Qd_AlgorithmEnum, "algorithm"> {
  let assemblyFormat = "`<` $value `>`";
}

// 256^D elements at most: D from 1 to 4.
defvar Qd_Log256MaxN = I32Attr;

// `roles` are the `OperandRole`s of the operands, one each; `formula` is the `ScratchFormula`. From
// these follows what is verified for all algorithms alike: where the op is legal, its capacity, that
// no buffer that is written is passed twice, and lengths.
class Algo_Op<string mnemonic, list<string> roles, string formula, list<Trait> traits = []>
    : Qd_Op<"algo." # mnemonic, !listconcat(traits, [AlgorithmOpInterface])> {
  assert !or(!ne(formula, "None"), !empty(!filter(role, roles, !eq(role, "Scratch")))),
      "qd.algo." # mnemonic # " has scratch and no formula of how much";
  let cppNamespace = "::qd::algo";
  // For tools that read definitions.
  list<string> operandRoles = roles;
  // Whether there is a `log256_max_n`.
  bit hasCapacity = 1;
  let extraClassDeclaration =
    "static ::qd::ScratchFormula getScratchFormula() { return ::qd::ScratchFormula::" # formula # "; }\n" #
    "::std::optional<uint32_t> getLog256Capacity() { return " #
      !if(hasCapacity, "getLog256MaxN()", "::std::nullopt") # "; }\n" #
    "::llvm::SmallVector<::qd::AlgorithmOperand> getAlgorithmOperands() {\n" #
      "return ::qd::operandsWithRoles(*this, {" #
      !interleave(!foreach(i, !range(!size(roles)),
        "{::qd::OperandRole::" # roles[i] # ", \"" # !getdagname(arguments, i) # "\"}"), ", ") # "}); }\n";
}

def Qd_Inputs : Arg<Variadic<MemRefRankOf<[Qd_Scalar], [1]>>, "inputs", [MemRead]>;
def Qd_Outputs : Arg<Variadic<MemRefRankOf<[Qd_Scalar], [1]>>, "outputs", [MemWrite]>;
def Qd_Totals : Arg<Variadic<MemRefRankOf<[Qd_Scalar], [0, 1]>>, "results", [MemWrite]>;
// Scalars, or fixed-size rows of them as a trailing static dimension.
def Qd_Rows : MemRefRankOf<[AnyType], [1, 2]>;
def Qd_Scratches : Arg<Variadic<MemRefRankOf<[I32, I64], [1]>>, "scratch", [MemRead, MemWrite]>;
def Qd_Scratch : Arg<MemRefRankOf<[I32], [1]>, "scratch", [MemRead, MemWrite]>;
// One element, of rank 0 or 1: `verifyOneElement`.
def Qd_Count : Arg<MemRefRankOf<[Qd_Int], [0, 1]>, "live count", [MemRead]>;
def Qd_CountOut : Arg<MemRefRankOf<[I32], [0, 1]>, "count written", [MemWrite]>;

// Options every algorithm takes.
defvar Algo_Options = (ins Qd_Log256MaxN:$log256_max_n, OptionalAttr<StrAttr>:$strategy,
                           UnitAttr:$deterministic, UnitAttr:$checked);

//===----------------------------------------------------------------------===//
// Reduce and scans
//===----------------------------------------------------------------------===//

// The contract of every op with a live count.
defvar Algo_CountText = [{The live count `n` is the one element of `count`, a buffer of rank 0 or of
    one element, or an element of a longer one by
    [`qd.grid.view`](grid.md#qdgridview-qdgridviewop). It is read on the device;
    any `0 ≤ n ≤ 256^log256_max_n` within the buffers is valid. Any other is an error, which the interpreter
    always reports. A device clamps it: a negative count is taken as 0, and one
    that is too large as the least of the capacity and the buffers' lengths, for
    which there must be scratch. `checked` makes it an error on a device as well: what
    it is told is that of [an assertion](../rationale/asserts.md).}];

class Algo_Combine<string mnemonic, string output, dag outputs, string what, string text>
    : Algo_Op<mnemonic, ["Input", output, "Scratch", "Count"], "Levels",
              [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let hasVerifier = 1;
  let summary = what;
  let description = !strconcat(text, [{

    The combiner is a kind, or a region over K scalars with K inputs, outputs,
    scratch buffers and identities: any associative function of its operands
    alone, commutative or not. It is pure and has no op that depends on the
    executing thread (`qd.simt.lane_id`, `block.id`, …). Its left operand is
    always the lower index. NaNs and zeros are treated as by
    [`qd.simt.reduce`](simt.md#qdsimtreduce-qdsimtreduceop).

    }], Algo_CountText, [{ `scratch` arrives uninitialised and holds at least
    `qd.algo.scratch_slots` slots: `i32` for elements of up to 4 bytes, `i64` for
    8-byte ones.

    Float sums depend on the shape of the tree; `deterministic` requires
    [one for all targets](algo.md#qdalgoreduce-qdalgoreduceop).
  }]);
  let arguments = !con((ins Qd_Inputs:$inputs), outputs, (ins Qd_Scratches:$scratch, Qd_Count:$count,
                            OptionalAttr<Qd_CombiningKind>:$kind, OptionalAttr<ArrayAttr>:$identities),
                       Algo_Options);
  let regions = (region MaxSizedRegion<1>:$combiner);
  let assemblyFormat = [{
    (custom<CombiningKind>($kind)^)?
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)`
    `scratch` `(` $scratch `:` type($scratch) `)` `count` `(` $count `:` type($count) `)`
    `log256_max_n` `=` $log256_max_n (`strategy` `=` $strategy^)? (`deterministic` $deterministic^)?
    (`checked` $checked^)? attr-dict
    (`identity` $identities^)? (`combiner` custom<Nested>($combiner)^)?
  }];
}

def Algo_ReduceOp : Algo_Combine<"reduce", "Total", (ins Qd_Totals:$outputs),
    "combine the first n elements of a buffer", [{
  `out[0] = in[0] ∘ … ∘ in[n − 1]`; the identity for `n = 0`. An output may be of
  rank 0, so that a result is the next count.

  ```mlir
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  ```

  `deterministic` requires a tree that depends on the number of elements alone: results have the same bits on every
  target, at every subgroup size, whatever the capacity (NaNs are any NaN). With
  floats it holds for `add`, `mul` and regions; other kinds, and integers, have the
  same bits in any case. The tree is of *runs* of consecutive elements, *groups* of
  32 consecutive runs, *tiles* of 8 groups, and *bands* of 32 consecutive tiles:

  | bytes of an element | 1–4 | 5–8 | 9–12 | 13–20 | 21–24 | 25–28 | more |
  |---|---:|---:|---:|---:|---:|---:|---:|
  | elements of a run | 31 | 23 | 17 | 11 | 9 | 7 | 5 |

  An element is the K scalars of an index, for `reduce_by_key` its key and value; a
  scalar of less than 4 bytes counts as 4.
  Below, `Σ` combines from the left, one after the other. Of tile `k`, `S(r)` is
  `Σ` of run `r`, `G(g)` is `Σ` of `S` of group `g`, and `T(k)` is `Σ` of its `G`.
  `B(0)` is the identity, and `B(j + 1) = B(j) ∘ Σ of T of band j`. Of tile `k` of
  band `j`, `P(k) = B(j) ∘ Σ of T of the band's tiles before k`, and an inclusive
  scan yields for an element of run `r` in group `g`

  ```text
  P(k) ∘ ((Σ of G(0 … g − 1) ∘ Σ of S of the group's runs before r) ∘ Σ of r up to the element)
  ```

  and an exclusive scan the same up to the element before. `reduce` combines the
  identity and `T(0)` of a single tile. Otherwise the `T(k)` take the elements'
  place, until they are a single tile. Where it has a kind, which commutes, run `r`
  of a `reduce` has the elements `r`, `r + 256`, `r + 512`, … of a tile.
  What does not exist changes nothing; a `Σ` of nothing is −0 for a float's `add`.
}]>;
def Algo_ExclusiveScanOp : Algo_Combine<"exclusive_scan", "Output", (ins Qd_Outputs:$outputs),
    "combine all elements before each", [{
  `out[i] = in[0] ∘ … ∘ in[i − 1]` for `i < n`, and `out[0]` is the identity.
  The output must not be the input.

  ```mlir
  qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  ```
}]>;
def Algo_InclusiveScanOp : Algo_Combine<"inclusive_scan", "Output", (ins Qd_Outputs:$outputs),
    "combine all elements up to each", [{
  `out[i] = in[0] ∘ … ∘ in[i]` for `i < n`. The output must not be the input.

  ```mlir
  qd.algo.inclusive_scan maxsi ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  ```
}]>;

//===----------------------------------------------------------------------===//
// Select and partition
//===----------------------------------------------------------------------===//

class Algo_Compact<string mnemonic, string what, string text>
    : Algo_Op<mnemonic, ["Input", "Input", "Output", "Total", "Scratch", "Count"], "Compaction"> {
  let hasVerifier = 1;
  let summary = what;
  let description = !strconcat(text, [{

    An element is flagged if its flag is not 0. Elements are moved as opaque
    data: scalars, or rows of a trailing static dimension (`memref<?x3xf32>`). A
    struct of mixed types is a row of its words, or of its bytes
    (`memref<?x6xi8>` of a float and an `i16`).

    }], Algo_CountText, [{ `scratch` holds
    at least `qd.algo.scratch_slots` slots of `i32`, uninitialised.
  }]);
  let arguments = !con((ins Arg<Qd_Rows, "input", [MemRead]>:$input,
                            Arg<MemRefRankOf<[I32], [1]>, "flags", [MemRead]>:$flags,
                            Arg<Qd_Rows, "output", [MemWrite]>:$output, Qd_CountOut:$num_out,
                            Qd_Scratch:$scratch, Qd_Count:$count), Algo_Options);
  let assemblyFormat = [{
    `ins` `(` $input `,` $flags `:` type($input) `,` type($flags) `)`
    `outs` `(` $output `,` $num_out `:` type($output) `,` type($num_out) `)`
    `scratch` `(` $scratch `:` type($scratch) `)` `count` `(` $count `:` type($count) `)`
    `log256_max_n` `=` $log256_max_n (`strategy` `=` $strategy^)? (`deterministic` $deterministic^)?
    (`checked` $checked^)? attr-dict
  }];
}

def Algo_SelectOp : Algo_Compact<"select", "keep the flagged elements", [{
  Copies each `in[i]`, `i < n`, whose `flags[i]` is not 0 to a dense prefix of
  the output, in input order, and writes their number to `num_out`. The rest of
  the output is unchanged.

  ```mlir
  qd.algo.select ins(%a, %flags : memref<?xf32>, memref<?xi32>)
      outs(%out, %num : memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  ```
}]>;
def Algo_PartitionOp : Algo_Compact<"partition", "flagged elements first, the others after them", [{
  Copies the flagged elements to the front of the output and the others
  after them, both in input order, and writes the number of flagged ones to
  `num_out`.

  ```mlir
  qd.algo.partition ins(%a, %below : memref<?xi32>, memref<?xi32>)
      outs(%out, %num : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  ```
}]>;

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

def Algo_SortOp : Algo_Op<"sort",
    ["Key", "Workspace", "Value", "Workspace", "Scratch", "Count"], "Histograms",
    [AttrSizedOperandSegments]> {
  let hasVerifier = 1;
  let summary = "stable radix sort of keys, or of keys and values";
  let description = !strconcat([{
    Sorts the first `n` keys ascending and in place, and moves the values with
    them. Stable. Integer keys order as signed, or as unsigned with `unsigned`;
    float keys by their bits with the sign bit flipped for positives and all
    bits for negatives: −NaN first, −0 before +0, NaN last. `end_bit` is the
    number of low bits of the (unsigned, mapped) key that are compared: a
    positive multiple of 8, the key's width by default.

    `tmp` buffers have the shape and type of their keys or values. Their
    contents afterwards are undefined, as are those of `scratch`, which has at
    least `qd.algo.scratch_slots` slots of `i32`, uninitialised. All buffers are
    distinct.

    }], Algo_CountText, [{

    ```mlir
    qd.algo.sort keys(%k, %tk : memref<?xi32>, memref<?xi32>)
        values(%v, %tv : memref<?xf32>, memref<?xf32>) scratch(%s : memref<?xi32>)
        count(%n : memref<i32>) log256_max_n = 3 unsigned end_bit = 16
    ```
  }]);
  let arguments = !con((ins
      Arg<MemRefRankOf<[Qd_Scalar], [1]>, "keys", [MemRead, MemWrite]>:$keys,
      Arg<MemRefRankOf<[Qd_Scalar], [1]>, "workspace for keys", [MemRead, MemWrite]>:$tmp_keys,
      Arg<Optional<Qd_Rows>, "values", [MemRead, MemWrite]>:$values,
      Arg<Optional<Qd_Rows>, "workspace for values", [MemRead, MemWrite]>:$tmp_values,
      Qd_Scratch:$scratch, Qd_Count:$count,
      OptionalAttr<I32Attr>:$end_bit, UnitAttr:$is_unsigned), Algo_Options);
  let assemblyFormat = [{
    `keys` `(` $keys `,` $tmp_keys `:` type($keys) `,` type($tmp_keys) `)`
    (`values` `(` $values^ `,` $tmp_values `:` type($values) `,` type($tmp_values) `)`)?
    `scratch` `(` $scratch `:` type($scratch) `)` `count` `(` $count `:` type($count) `)`
    `log256_max_n` `=` $log256_max_n (`unsigned` $is_unsigned^)? (`end_bit` `=` $end_bit^)?
    (`strategy` `=` $strategy^)? (`deterministic` $deterministic^)? (`checked` $checked^)? attr-dict
  }];
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Reduce by key
//===----------------------------------------------------------------------===//

def Algo_ReduceByKeyOp : Algo_Op<"reduce_by_key",
    ["Key", "Value", "Output", "Output", "Total", "Scratch", "Count"], "Runs",
    [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let hasVerifier = 1;
  let summary = "combine the values of each run of equal keys";
  let description = !strconcat([{
    Each run of adjacent equal keys becomes one entry: its key in `keys_out`,
    the combination of its values in `values_out`, in order; `num_runs` gets the
    number of runs. Elements after the last run are unchanged. A NaN key equals
    nothing, itself included. To combine equal keys that are not adjacent, sort first.

    Keys and values are scalars. A kind combines one value, a region K of them, as for `reduce`: a struct
    of mixed types is a buffer for each of its members. With `deterministic` a run's value is that of an
    inclusive scan, in which a run's first element discards what is before it, and the last run's that of
    all tiles. `scratch` is `i32` and of at least `qd.algo.scratch_slots` slots, uninitialised.

    }], Algo_CountText, [{

    ```mlir
    qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>)
        outs(%ko, %vo, %runs : memref<?xi32>, memref<?xf32>, memref<i32>)
        scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3

    // Of each run the sum and the number of elements.
    qd.algo.reduce_by_key ins(%k, %v, %ones : memref<?xi32>, memref<?xf32>, memref<?xi32>)
        outs(%ko, %vo, %lengths, %runs : memref<?xi32>, memref<?xf32>, memref<?xi32>, memref<i32>)
        scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
        identity [0.0 : f32, 0 : i32] combiner {
      ^bb0(%sum: f32, %length: i32, %x: f32, %one: i32):
        %s1 = arith.addf %sum, %x : f32
        %l1 = arith.addi %length, %one : i32
        qd.yield %s1, %l1 : f32, i32
    }
    ```
  }]);
  let arguments = !con((ins
      Arg<MemRefRankOf<[Qd_Scalar], [1]>, "keys", [MemRead]>:$keys,
      Arg<Variadic<MemRefRankOf<[Qd_Scalar], [1]>>, "values", [MemRead]>:$values,
      Arg<MemRefRankOf<[Qd_Scalar], [1]>, "runs' keys", [MemWrite]>:$keys_out,
      Arg<Variadic<MemRefRankOf<[Qd_Scalar], [1]>>, "runs' values", [MemRead, MemWrite]>:$values_out,
      Qd_CountOut:$num_runs, Qd_Scratch:$scratch, Qd_Count:$count,
      OptionalAttr<Qd_CombiningKind>:$kind, OptionalAttr<ArrayAttr>:$identities), Algo_Options);
  let regions = (region MaxSizedRegion<1>:$combiner);
  let assemblyFormat = [{
    (custom<CombiningKind>($kind)^)?
    `ins` `(` $keys `,` $values `:` type($keys) `,` type($values) `)`
    `outs` `(` custom<Runs>($keys_out, $values_out, $num_runs, type($keys_out), type($values_out), type($num_runs)) `)`
    `scratch` `(` $scratch `:` type($scratch) `)` `count` `(` $count `:` type($count) `)`
    `log256_max_n` `=` $log256_max_n (`strategy` `=` $strategy^)? (`deterministic` $deterministic^)?
    (`checked` $checked^)? attr-dict
    (`identity` $identities^)? (`combiner` custom<Nested>($combiner)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Unique
//===----------------------------------------------------------------------===//

def Algo_UniqueOp : Algo_Op<"unique",
    ["Input", "Output", "Output", "Total", "Scratch", "Count"], "Compaction",
    [AllElementTypesMatch<["input", "output"]>]> {
  let summary = "keep the first element of each run of equal ones";
  let description = !strconcat([{
    Of each run of adjacent equal elements among the first `n`, copies the first to
    a dense prefix of the output, in input order, and writes the number of runs to
    `num_runs`. With `counts`, the number of elements of a run is written at the same
    index of `counts`: a run-length encoding. The rest of both outputs is unchanged.

    Elements are equal as by `==`: a NaN equals nothing, itself included, and is a run
    of its own; −0 equals 0, and the first of them is kept. Sort first to keep each
    distinct value once.

    }], Algo_CountText, [{ `scratch` holds
    at least `qd.algo.scratch_slots` slots of `i32`, uninitialised.

    ```mlir
    qd.algo.unique ins(%in : memref<?xf32>) outs(%out, %runs : memref<?xf32>, memref<i32>)
        counts(%lengths : memref<?xi32>)
        scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
    ```
  }]);
  let arguments = !con((ins
      Arg<MemRefRankOf<[Qd_Scalar], [1]>, "input", [MemRead]>:$input,
      Arg<MemRefRankOf<[Qd_Scalar], [1]>, "first elements of runs", [MemWrite]>:$output,
      Arg<Optional<MemRefRankOf<[I32], [1]>>, "lengths of runs", [MemWrite]>:$counts,
      Qd_CountOut:$num_runs, Qd_Scratch:$scratch, Qd_Count:$count), Algo_Options);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    `outs` `(` $output `,` $num_runs `:` type($output) `,` type($num_runs) `)`
    (`counts` `(` $counts^ `:` type($counts) `)`)?
    `scratch` `(` $scratch `:` type($scratch) `)` `count` `(` $count `:` type($count) `)`
    `log256_max_n` `=` $log256_max_n (`strategy` `=` $strategy^)? (`deterministic` $deterministic^)?
    (`checked` $checked^)? attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Parallel sort (deprecated)
//===----------------------------------------------------------------------===//

def Algo_ParallelSortOp : Algo_Op<"parallel_sort", ["Key", "Value"], "None"> {
  let hasCapacity = 0;
  let hasVerifier = 1;
  let summary = "odd-even merge sort, in place (deprecated: use sort)";
  let description = [{
    Batcher's odd–even merge sort of all keys, ascending, with their values. Not
    stable. Keys are ordered as by [`qd.algo.sort`](algo.md#qdalgosort-qdalgosortop),
    NaNs and zeros among them. It has no count and no scratch. It is kept for
    existing code; use `qd.algo.sort`.

    ```mlir
    qd.algo.parallel_sort keys(%k : memref<?xi32>) values(%v : memref<?xf32>)
    ```
  }];
  let arguments = (ins
      Arg<MemRefRankOf<[Qd_Scalar], [1]>, "keys", [MemRead, MemWrite]>:$keys,
      Arg<Optional<MemRefRankOf<[Qd_Scalar], [1]>>, "values", [MemRead, MemWrite]>:$values,
      UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    `keys` `(` $keys `:` type($keys) `)` (`values` `(` $values^ `:` type($values) `)`)?
    (`unsigned` $is_unsigned^)? attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Sizing
//===----------------------------------------------------------------------===//

def Algo_ScratchSlotsOp : Qd_Op<"algo.scratch_slots", [Pure]> {
  let cppNamespace = "::qd::algo";
  let summary = "scratch slots an algorithm needs";
  let description = [{
    The number of scratch slots that `algorithm` needs for `n` elements at
    capacity `256^log256_max_n`; at least 1. Without a capacity it is the number
    that suffices at any, which is that of the largest, `256^4`. It counts slots, whatever their
    width. Plain arithmetic, on host or device; folds for a constant `n`. With
    `c(x) = ⌈x / 256⌉`:

    | algorithm | slots |
    |---|---|
    | `reduce` | t₁ + … + t_{D−1}, t₀ = n, t_{i+1} = c(t_i) |
    | scans | 1 if D = 1, else c(n) and its D − 2 further ceilings, summed |
    | `sort` | h = 256·c(n), plus c(h), c(c(h)), … D − 1 terms |
    | `select`, `partition`, `unique` | n + b + (the ceilings of b that exceed 1, summed), b = c(n) |
    | `reduce_by_key` | n for 0 < n ≤ 256, else as `select` |

    ```mlir
    %slots = qd.algo.scratch_slots sort %n, 3
    %enough = qd.algo.scratch_slots reduce %n
    ```
  }];
  let arguments = (ins Qd_Algorithm:$algorithm, Index:$n, OptionalAttr<Qd_Log256MaxN>:$log256_max_n);
  let results = (outs Index:$slots);
  let assemblyFormat = "custom<Case>($algorithm) $n (`,` $log256_max_n^)? attr-dict";
  let hasVerifier = 1;
}

#endif // QD_ALGO_TD
