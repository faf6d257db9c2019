//===- QdGrid.td - phases and launches -------------------------------------===//

#ifndef QD_GRID_TD
#define QD_GRID_TD

include "QdDialect.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Grid_Op<string mnemonic, list<Trait> traits = []>
    : Qd_Op<"grid." # mnemonic, traits> {
  let cppNamespace = "::qd::grid";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Grid_KernelOp : Grid_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "what a caller launches: phases, algorithms and loops over them";
  let description = [{
    A function-like op without results. Its arguments are buffers (contiguous
    memrefs, any of whose dimensions may be dynamic) and scalars. Its body is a
    sequence of phases, algorithms, `do_while` loops over them, `if`s around
    them, and arithmetic that the host can evaluate before launching (constants,
    buffer lengths, scalar arguments). The host does not read a buffer's
    contents.

    Views are arithmetic, too: `view`, and upstream's `memref.subview`,
    `memref.collapse_shape` and `memref.reinterpret_cast`, with offsets, extents
    and strides that the host evaluates. Phases load from them and store to
    them, and take subviews of them. What takes a buffer whole, as algorithms,
    `fill`, counts, flags and conditions do, takes a view of rank 0, or of rank
    1 and stride 1. A `reinterpret_cast` is of a buffer without a layout.

    Buffers passed as different arguments are assumed not to overlap, unless
    both have the unit attribute `qd.may_alias`. The contents of a buffer with
    the unit attribute `qd.scratch` are undefined before and after the kernel,
    and so is a load of an element that the kernel has not written. An
    elementwise phase that only fills scratch can thus be fused into those that
    read it (`qd-fuse-producers`). Two more attributes of an argument are for
    tools: `qd.name` names it, and `qd.dtype = "u32"` gives the type in which
    its elements are printed and read, since the kernel's integers are signless:
    `i8` may be `bool`, of 0 and 1, and `i16` a float, `f16` or `bf16`, whose bits
    it is.

    Elements and scalars are `i1`, `i8`, `i16`, `i32`, `i64`, `f16`, `bf16`, `f32`,
    `f64` or `index`. An `i1` is a byte in memory, of 0 or 1. Arithmetic on `f16` and
    `bf16` is that on `f32`, with each result rounded to nearest, ties to even:
    sums, differences, products, quotients and square roots are exactly rounded so,
    and an `fma` and functions are rounded twice. It is the same on all targets, but
    which NaN is unspecified.

    ```mlir
    qd.grid.kernel @sum(%a: memref<?xf32>, %out: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
      qd.algo.reduce add ins(%a : memref<?xf32>) outs(%out : memref<1xf32>)
          scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

def Grid_PhaseOp : Grid_Op<"phase", [
    AutomaticAllocationScope, NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "one launch: a body run by every thread of every block";
  let description = [{
    The body runs once per thread, in all threads of all `blocks`, so that
    collectives and barriers are legal at its top level. `threads` is the block size,
    from 1 to 1024; where it is no multiple of the subgroup size, the block's last
    subgroup is filled in part (see `qd.simt.num_subgroups`). Work beyond one grid is an
    explicit, uniform loop over tiles with an in-bounds predicate per element. A
    phase sees the effects of every phase before it: a grid-wide barrier stands
    between phases whose effects conflict. A `memref.alloca` in the body is
    private memory: it belongs to the thread and ends with it.

    `blocks` is evaluated by the host. A phase of no blocks does nothing.

    ```mlir
    qd.grid.phase "scale" blocks(%blocks) threads(256) {
      %b = qd.simt.block.id
      ...
    }
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, Index:$blocks, I64Attr:$threads);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    ($name^)? `blocks` `(` $blocks `)` `threads` `(` $threads `)` attr-dict-with-keyword custom<Body>($body)
  }];
  let hasVerifier = 1;
}

def Grid_ForEachOp : Grid_Op<"for_each", [
    AutomaticAllocationScope, NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "an elementwise phase";
  let description = [{
    Runs its body once for each index below `extent` and, where `count` is
    given, below the live count it holds. It is shorthand for a `phase`:
    `qd-expand-for-each` expands it to a grid, a loop over tiles and a predicate.
    So it contains no ops that depend on the executing thread, such as
    `qd.simt.block.id` and `grid.dim`, nor barriers of the block. Collectives of
    subgroups need `subgroups`, see below. Fences are legal. `extent` is evaluated by the
    host and should not be far above the live count. A count above the extent is
    taken as the extent; a negative count or extent is an error, which the
    interpreter reports, and 0 on a device. The count is the one element of a
    buffer of rank 0 or 1; `qd.grid.view` makes one of any element.

    ```mlir
    qd.grid.for_each "scale" %i to %len count(%n : memref<i32>) {
      %x = memref.load %a[%i] : memref<?xf32>
      ...
    }
    ```

    `threads` says how many elements in a row are a block, of 1 to 1024; the
    expansion chooses where it is not given.

    With `subgroups`, elements in a row are a subgroup: that of index `i` is in
    lane `i` modulo the subgroup size. Where `threads` do not fill subgroups, each
    block begins with a new one, and its last has the first lanes alone. The body
    may then hold the collectives of a subgroup, and `lane_id`, `elect`, `lanemask`, `subgroup_size` and
    `log2_subgroup_size`. `subgroups(partial)` is for any number of elements:
    the last subgroup has its first lanes, as that of a block that is
    [filled in part](simt.md#qdsimtnum_subgroups-qdsimtnumsubgroupsop).
    `subgroups(full)` promises that there are as many as fill subgroups, which
    spares predicates, and takes `threads` that are a multiple of 64; the
    interpreter reports a promise that is not kept, and on a device lanes beyond
    the elements run the body.

    ```mlir
    qd.grid.for_each "sums" %i to %len subgroups(partial) {
      %x = memref.load %a[%i] : memref<?xi32>
      %sum = qd.simt.reduce_all add %x : i32
      memref.store %sum, %b[%i] : memref<?xi32>
    }
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, Index:$extent,
                       Arg<Optional<MemRefRankOf<[Qd_Int], [0, 1]>>, "live count", [MemRead]>:$count,
                       OptionalAttr<I64Attr>:$threads,
                       OptionalAttr<Qd_SubgroupFill>:$subgroups);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Grid_DoWhileOp : Grid_Op<"do_while", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "repeat phases while a device-resident flag is set";
  let description = [{
    Runs its body, and repeats it while the `i32` that `flag` holds is not zero
    afterwards. The flag is the one element of a buffer of rank 0 or 1 in device
    memory, of which `qd.grid.view` makes one of any element; the host does not
    read it on a target that can avoid that.

    ```mlir
    qd.grid.do_while %flag : memref<i32> {
      qd.grid.phase ...
    }
    ```

    With `swap`, pairs of buffers are exchanged after each iteration, the last
    included: what an iteration wrote to the second of a pair is in the first
    when the next begins, and when the loop has ended. The body's names are the
    region's arguments. So a body that reads `%from` and writes `%to` leaves its
    result in `%a`, and in `%b` what was read last:

    ```mlir
    qd.grid.do_while %flag : memref<i32> swap(%from = %a, %to = %b : memref<?xi32>, memref<?xi32>) {
      qd.grid.phase ...
    }
    ```

    An exchange between iterations moves nothing (`qd-expand-swaps`): two
    iterations are expanded, in which the names are exchanged. If the number of
    iterations is odd, the buffers' elements are exchanged once, behind the
    loop. The two buffers of a pair have the same type and the same extents:
    where they are arguments, a launch with fewer rows in one is an error. They
    do not overlap. The interpreter and kernels compiled with `checked` check
    all extents, and that. None is in two pairs, none is `qd.scratch`, since all
    elements are read, and the flag is in none of them. The body uses them by
    the region's arguments alone.
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32], [0, 1]>, "whether to go on", [MemRead]>:$flag,
                       Arg<Variadic<AnyMemRef>, "pairs that are exchanged", [MemRead, MemWrite]>:$swap);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Grid_IfOp : Grid_Op<"if", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "run phases if a device-resident condition is set";
  let description = [{
    Runs its body once if the `i32` that `condition` holds is not zero. The
    condition is one word in device memory, of a buffer (an element by
    `qd.grid.view`) or of `control`, read once, before the body; the host does not read it on a target that can avoid
    that.

    ```mlir
    %is_long = qd.grid.control : memref<1xi32>
    ...
    qd.grid.if %is_long : memref<1xi32> {
      qd.grid.phase ...
    }
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32], [0, 1]>, "whether to run", [MemRead]>:$condition);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$condition `:` type($condition) attr-dict-with-keyword custom<Body>($body)";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Launches: the result of planning
//===----------------------------------------------------------------------===//

def Grid_LaunchOp : Grid_Op<"launch", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launch an outlined body";
  let description = [{
    Launches `body`, a `func.func` with the attribute `qd.threads`, over
    `blocks` blocks with the given arguments, once the launches named by `after`
    have finished. `id` numbers the launches of a kernel in program order;
    `after` lists the ids of its dependencies, already reduced transitively.

    ```mlir
    qd.grid.launch 1 @sum_tile blocks(%g) args(%a, %s : memref<?xf32>, memref<?xi32>) after [0]
    ```
  }];
  let arguments = (ins I64Attr:$id, FlatSymbolRefAttr:$body, Index:$blocks,
                       Variadic<AnyType>:$args, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$after);
  let assemblyFormat = [{
    $id $body `blocks` `(` $blocks `)` (`args` `(` $args^ `:` type($args) `)`)?
    (`after` $after^)? attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

def Grid_FillOp : Grid_Op<"fill", [
    AttrSizedOperandSegments,
    TypesMatchWith<"value's type is the buffer's element type", "dest", "value",
                   "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "set a range of a buffer to one value";
  let description = [{
    Sets `dest[lower … upper)`, or the one element of a buffer of rank 0, which
    has no bounds. Nothing is set where `upper` is not above `lower`; that one is
    negative is an error of the launch. Legal where a phase is; the host evaluates the bounds and the
    value.

    ```mlir
    qd.grid.fill %scratch[%lower to %upper] = %zero : memref<?xi32>
    qd.grid.fill %count = %zero : memref<i32>
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[Qd_Scalar], [0, 1]>, "buffer", [MemWrite]>:$dest,
                       Optional<Index>:$lower, Optional<Index>:$upper, Qd_Scalar:$value);
  let assemblyFormat = "$dest (`[` $lower^ `to` $upper `]`)? `=` $value attr-dict `:` type($dest)";
  let hasVerifier = 1;
}

def Grid_ViewOp : Grid_Op<"view", [Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "part of a buffer, perhaps seen as another element type";
  let description = [{
    `size` elements of the result's type, starting at element `offset` of
    `source`, of whatever rank, whose elements are counted in the order of
    memory; without a size the one element at `offset`, as a buffer of rank 0.
    A result with a second, static dimension has `size` rows. The element types
    have the same width, or the result's is a multiple of the source's.
    (`memref.view` takes only bytes.)

    ```mlir
    %partials = qd.grid.view %scratch[%offset] [%size] : memref<?xi32> to memref<?xf32>
    %count = qd.grid.view %counts[%i] : memref<?xi32> to memref<i32>
    %points = qd.grid.view %all[%offset] [%rows] : memref<?xf32> to memref<?x3xf32>
    ```
  }];
  let arguments = (ins MemRefOf<[Qd_Scalar]>:$source, Index:$offset, Optional<Index>:$size);
  let results = (outs MemRefRankOf<[Qd_Scalar], [0, 1, 2]>:$result);
  let assemblyFormat = "$source `[` $offset `]` (`[` $size^ `]`)? attr-dict `:` type($source) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Grid_ControlOp : Grid_Op<"control"> {
  let summary = "control words: zero-initialised workspace";
  let description = [{
    A few words of memory that the runtime owns, `i32` or other scalars. They are 0 when the
    kernel begins, and the kernel must leave them 0 when it ends, so that nothing
    has to be cleared between launches. They are for counters that blocks share,
    as in a last-block reduction. Different `control` ops have different words. A
    kernel has at most 4 KiB of them. After a run that ended in an error they may
    hold any values; the runtime then clears them.

    Legal at the top of a kernel, of an `if` or of a `do_while`, where it yields
    the same words in each iteration. What takes them is what takes `scratch`.

    ```mlir
    %finished = qd.grid.control : memref<1xi32>
    ```
  }];
  let results = (outs Res<MemRefRankOf<[Qd_Scalar], [1]>, "words", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Grid_ScratchOp : Grid_Op<"scratch"> {
  let summary = "a few elements that outlive a phase";
  let description = [{
    Memory of the runtime's for what one phase leaves to the next, such as a
    pivot, a total or a flag, without an argument for it. Its contents are
    undefined when the kernel begins and when it has ended, and a load of an
    element that the kernel has not written is undefined, as of an argument that
    is `qd.scratch`. Its size is constant: with the kernel's `control` at most
    4 KiB, of which it is part (`qd-expand-scratch`), so that each run of the
    kernel clears it in a last phase. What is longer is an argument.

    Legal at the top of a kernel, of an `if` or of a `do_while`, where it yields
    the same elements in each iteration. Phases, counts, flags and conditions
    take it, and algorithms for their results. `fill`, `dispatch` and views that
    the host makes do not: an element that is a count by itself is `scratch` by
    itself. A phase may take views of it.

    ```mlir
    %pivot = qd.grid.scratch : memref<1xf32>
    ```
  }];
  let results = (outs Res<MemRefRankOf<[Qd_Scalar], [1]>, "elements", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Grid_FaultsOp : Grid_Op<"faults"> {
  let summary = "the device's fault record, for one launch";
  let description = [{
    Sixteen words of the device in which a launch notes the first assertion that
    fails (`qd-expand-asserts`), and the number of the launch's first site. The
    record is the runtime's, and all kernels of the device share it: what claims
    word 0 writes the others, and word 1 last, and the runtime reports it at the
    next synchronisation and sets both to 0.

    | word | holds |
    |---|---|
    | 0 | 1 once it is claimed |
    | 1 | 1 once it is complete |
    | 2 | the number of the site: that of the launch's first, and its place in `sites` |
    | 3, 4 | the block and the thread in it |
    | 5, 6 | the left operand of the comparison that failed, low word first |
    | 7, 8 | the right one |

    `sites` describes each assertion of the launch's body: its `text`, where it is
    `at`, and the predicate of its comparison, `relation`, if it has one. So
    nothing of that is in the code.

    ```mlir
    %record, %first = qd.grid.faults [{at = "k.mlir:6:5", text = "more"} ] : memref<16xi32>
    ```
  }];
  let arguments = (ins DictArrayAttr:$sites);
  let results = (outs Res<MemRefRankOf<[I32], [1]>, "the record", [MemAlloc]>:$record, I32:$first);
  let assemblyFormat = "$sites attr-dict `:` type($record)";
  let hasVerifier = 1;
}

def Grid_PrintsOp : Grid_Op<"prints"> {
  let summary = "the device's ring of prints, for one launch";
  let description = [{
    Words of the device into which a launch writes what `gpu.printf` prints
    (`qd-expand-prints`), and the number of the launch's first site. The ring is
    the runtime's, and all kernels of the device share it. Words 0 to 3 are its
    head; 2,048 records of 32 words follow.

    | word | holds |
    |---|---|
    | 0 | how many records were claimed so far, modulo 2^32 |
    | 1 | how many of them were dropped, since the ring was full |
    | 2 | how many were read or dropped: the runtime writes it at a synchronisation |

    | word of a record | holds |
    |---|---|
    | 0 | the number of claims up to its own, once it is complete |
    | 1 | the number of the site: that of the launch's first, and its place in `sites` |
    | 2, 3 | the block and the thread in it |
    | 4 to 31 | up to 14 values, low word first |

    A record's place is the number of claims before it, modulo 2,048. A claim
    that is 2,048 or more after what was read is dropped, and counted.

    `sites` describes each print of the launch's body: its format, `text`, where it
    is `at`, and the `types` of its values. So nothing of that is in the code.

    ```mlir
    %ring, %first = qd.grid.prints [{at = "k.mlir:6:5", text = "%d\0A", types = "i32"} ] : memref<65540xi32>
    ```
  }];
  let arguments = (ins DictArrayAttr:$sites);
  let results = (outs Res<MemRefRankOf<[I32], [1]>, "the ring", [MemAlloc]>:$ring, I32:$first);
  let assemblyFormat = "$sites attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory ordering
//===----------------------------------------------------------------------===//

def Grid_MemFenceOp : Grid_Op<"mem_fence", [OrdersMemory, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "device-scope memory fence";
  let description = [{
    Orders memory operations as seen by the whole device.

    ```mlir
    qd.grid.mem_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Grid_AtomicRmwOp : Grid_Op<"atomic.rmw", [OrdersMemory, AllTypesMatch<["value", "result"]>]> {
  let summary = "atomic read-modify-write";
  let description = [{
    Combines `value` into the element and yields its former value. NaNs and
    zeros are treated as by
    [`qd.simt.reduce`](simt.md#qdsimtreduce-qdsimtreduceop).

    ```mlir
    %old = qd.grid.atomic.rmw add %v, %a[%i] device relaxed : memref<?xi32>
    ```
  }];
  let arguments = (ins Qd_CombiningKind:$kind, Qd_Scalar:$value,
                       Arg<AnyMemRef, "buffer", [MemRead, MemWrite]>:$memref, Variadic<Index>:$indices,
                       Qd_Scope:$scope, Qd_Order:$order);
  let results = (outs Qd_Scalar:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Grid_AtomicLoadOp : Grid_Op<"atomic.load", [OrdersMemory, MemoryEffects<[MemWrite<Qd_ConcurrencyResource>]>]> {
  let summary = "atomic load";
  let description = [{
    Order `relaxed` or `acquire`.

    ```mlir
    %v = qd.grid.atomic.load %a[%i] device acquire : memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "buffer", [MemRead]>:$memref, Variadic<Index>:$indices,
                       Qd_Scope:$scope, Qd_Order:$order);
  let results = (outs Qd_Scalar:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Grid_AtomicStoreOp : Grid_Op<"atomic.store", [OrdersMemory]> {
  let summary = "atomic store";
  let description = [{
    Order `relaxed` or `release`.

    ```mlir
    qd.grid.atomic.store %v, %a[%i] device release : memref<?xi32>
    ```
  }];
  let arguments = (ins Qd_Scalar:$value, Arg<AnyMemRef, "buffer", [MemWrite]>:$memref, Variadic<Index>:$indices,
                       Qd_Scope:$scope, Qd_Order:$order);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Grid_AtomicExchangeOp : Grid_Op<"atomic.exchange", [OrdersMemory, AllTypesMatch<["value", "result"]>]> {
  let summary = "atomic exchange";
  let description = [{
    Stores `value` into the element and yields its former value, both bit for bit.

    ```mlir
    %old = qd.grid.atomic.exchange %v, %a[%i] device acq_rel : memref<?xf32>
    ```
  }];
  let arguments = (ins Qd_Scalar:$value,
                       Arg<AnyMemRef, "buffer", [MemRead, MemWrite]>:$memref, Variadic<Index>:$indices,
                       Qd_Scope:$scope, Qd_Order:$order);
  let results = (outs Qd_Scalar:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Grid_AtomicCasOp : Grid_Op<"atomic.cas", [OrdersMemory, AllTypesMatch<["expected", "desired", "result"]>]> {
  let summary = "atomic compare and swap";
  let description = [{
    Stores `desired` if the element has the bits of `expected`, and yields its
    former value, so that it has been stored where both have the same bits. So of
    floats: −0 is not +0 here, and a NaN is what has its bits. Compare bits, by
    `arith.bitcast`, to see whether it has.

    ```mlir
    %old = qd.grid.atomic.cas %expected, %desired, %a[%i] device acq_rel : memref<?xi32>
    ```
  }];
  let arguments = (ins Qd_Scalar:$expected, Qd_Scalar:$desired,
                       Arg<AnyMemRef, "buffer", [MemRead, MemWrite]>:$memref, Variadic<Index>:$indices,
                       Qd_Scope:$scope, Qd_Order:$order);
  let results = (outs Qd_Scalar:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

def Grid_DispatchOp : Grid_Op<"dispatch", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "one of several interchangeable kernels";
  let description = [{
    Runs one of its `variant`s with `args`. All must have the same results, side
    effects included; that is not checked. A variant whose predicate is false is
    not eligible; one without a predicate always is. The first eligible one
    runs; having none is an error when the kernel is launched.

    ```mlir
    qd.grid.dispatch(%a, %b : memref<?xf32>, memref<?xf32>) {
      qd.grid.variant @large when {
        %d = memref.dim %a, %c0 : memref<?xf32>
        %p = arith.cmpi uge, %d, %c1024 : index
        qd.yield %p : i1
      }
      qd.grid.variant @any_size
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$args);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` ($args^ `:` type($args))? `)` attr-dict-with-keyword custom<Body>($body)";
  let hasVerifier = 1;
}

def Grid_VariantOp : Grid_Op<"variant", [
    HasParent<"DispatchOp">, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one kernel that a dispatch may choose";
  let description = [{
    `callee` is a kernel with the dispatch's argument types. The host evaluates
    the predicate from buffer lengths and scalar arguments.

    ```mlir
    qd.grid.variant @large when { ... qd.yield %p : i1 }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee);
  let regions = (region MaxSizedRegion<1>:$predicate);
  let assemblyFormat = "$callee (`when` custom<Nested>($predicate)^)? attr-dict";
  let hasVerifier = 1;
}

#endif // QD_GRID_TD
