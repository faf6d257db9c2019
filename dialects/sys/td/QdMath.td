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

#endif // QD_MATH_TD
