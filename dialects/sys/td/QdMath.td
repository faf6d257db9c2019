//===- QdMath.td - bit operations ------------------------------------------===//

#ifndef QD_MATH_TD
#define QD_MATH_TD

include "QdDialect.td"

class Math_Op<string mnemonic, list<Trait> traits = []>
    : Qd_Op<"math." # mnemonic, !listconcat(traits, [Pure])> {
  let cppNamespace = "::qd::math";
}

class Math_BitOp<string mnemonic, string what, string text> : Math_Op<mnemonic> {
  let summary = what;
  let description = text;
  let arguments = (ins Qd_Int:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasFolder = 1;
}

def Math_PopcntOp : Math_BitOp<"popcnt", "number of set bits", [{
  An `i32` whatever the operand's width.

  ```mlir
  %n = qd.math.popcnt %mask : i64
  ```
}]>;
def Math_ClzOp : Math_BitOp<"clz", "number of leading zero bits", [{
  An `i32` whatever the operand's width; the width itself for 0.

  ```mlir
  %n = qd.math.clz %x : i32
  ```
}]>;
def Math_FfsOp : Math_BitOp<"ffs", "1-based position of the lowest set bit", [{
  An `i32` whatever the operand's width; 0 for 0.

  ```mlir
  %p = qd.math.ffs %mask : i64
  ```
}]>;

def Math_FnsOp : Math_Op<"fns"> {
  let summary = "find the n-th set bit";
  let description = [{
    The position of the `|offset|`-th set bit of the 32-bit `mask`, counting
    from bit `base` (inclusive) upwards if `offset` is positive and downwards
    if it is negative; `offset = 0` gives `base` if that bit is set.
    0xFFFFFFFF when there is none. `base` must be below 32.

    ```mlir
    %p = qd.math.fns %mask, %base, %offset
    ```
  }];
  let arguments = (ins I32:$mask, I32:$base, I32:$offset);
  let results = (outs I32:$position);
  let assemblyFormat = "$mask `,` $base `,` $offset attr-dict";
  let hasFolder = 1;
}

def Math_PhiloxOp : Math_Op<"philox"> {
  let summary = "four random numbers of a counter and a key";
  let description = [{
    Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw
    (*Parallel random numbers: as easy as 1, 2, 3*, SC 2011): ten rounds of
    multiplications and exclusive ors turn a counter of four words and a key of
    two into four words that pass statistical tests as independent and uniform.
    Equal operands give equal results, on every target; different counters or
    keys give different streams. A kernel takes the element's index, and
    perhaps an iteration, as its counter, and a seed as its key, so that no
    state is stored and the numbers do not depend on which thread makes them.
    It is not for cryptography.

    ```mlir
    %r:4 = qd.math.philox %i, %zero, %zero, %zero key %seed, %stream
    ```
  }];
  let arguments = (ins I32:$counter0, I32:$counter1, I32:$counter2, I32:$counter3, I32:$key0, I32:$key1);
  let results = (outs I32:$random0, I32:$random1, I32:$random2, I32:$random3);
  let assemblyFormat = [{
    $counter0 `,` $counter1 `,` $counter2 `,` $counter3 `key` $key0 `,` $key1 attr-dict
  }];
}

#endif // QD_MATH_TD
