// Minima and maxima of floats order −0 below +0; minnumf and maxnumf are NaN of NaNs alone, and the identity of nothing.

// DEFINE: %{way} = --interpret
// DEFINE: %{pairs} = qd-run %s %{way} -q --entry=pairs --arg 'x=[-0.0, 0.0, nan, 1, nan, -0.0]' \
// DEFINE:   --arg 'y=[0.0, -0.0, 1, nan, nan, -0.0]' --arg 'min=zeros[6]' --arg 'max=zeros[6]' --arg 'minnum=zeros[6]' \
// DEFINE:   --arg 'maxnum=zeros[6]' --print min --print max --print minnum --print maxnum | FileCheck %s --check-prefix=PAIRS
// DEFINE: %{arrays} = qd-run %s %{way} -q --entry=arrays --arg 'least=7' --arg 'before=zeros[len(x)]' --arg 'upto=zeros[len(x)]' \
// DEFINE:   --arg 'scratch=poison[300]' --print least --print before --print upto
// DEFINE: %{nans} = %{arrays} --arg 'x=[nan, nan, nan]' --arg n=3 | FileCheck %s --check-prefix=NANS
// DEFINE: %{zeros} = %{arrays} --arg 'x=[nan, 0.0, -0.0, 0.0]' --arg n=4 | FileCheck %s --check-prefix=ZEROS
// DEFINE: %{none} = %{arrays} --arg 'x=[2]' --arg n=0 | FileCheck %s --check-prefix=NONE
// DEFINE: %{atomic} = qd-run %s %{way} -q --entry=atomic --arg 'x=[0.0, -0.0, nan, 0.0]' --arg 'o=[0.0, -0.0]' --print o | \
// DEFINE:   FileCheck %s --check-prefix=ATOMIC
// DEFINE: %{all} = %{pairs} && %{nans} && %{zeros} && %{none} && %{atomic}
// RUN: %{all}
// REDEFINE: %{way} = --target=cpu
// RUN: %{all}
// REDEFINE: %{way} = --target=vulkan:1.3
// RUN: %if vulkan %{ %{all} %}

// PAIRS: min = [-0, -0, NaN, NaN, NaN, -0]
// PAIRS-NEXT: max = [0, 0, NaN, NaN, NaN, -0]
// PAIRS-NEXT: minnum = [-0, -0, 1, 1, NaN, -0]
// PAIRS-NEXT: maxnum = [0, 0, 1, 1, NaN, -0]
qd.grid.kernel @pairs(%x: memref<?xf32> {qd.name = "x"}, %y: memref<?xf32> {qd.name = "y"},
                      %o0: memref<?xf32> {qd.name = "min"}, %o1: memref<?xf32> {qd.name = "max"},
                      %o2: memref<?xf32> {qd.name = "minnum"}, %o3: memref<?xf32> {qd.name = "maxnum"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  qd.grid.for_each %i to %n {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %r0 = arith.minimumf %a, %b : f32
    memref.store %r0, %o0[%i] : memref<?xf32>
    %r1 = arith.maximumf %a, %b : f32
    memref.store %r1, %o1[%i] : memref<?xf32>
    %r2 = arith.minnumf %a, %b : f32
    memref.store %r2, %o2[%i] : memref<?xf32>
    %r3 = arith.maxnumf %a, %b : f32
    memref.store %r3, %o3[%i] : memref<?xf32>
  }
}

// NANS: least = [NaN]
// NANS-NEXT: before = [inf, NaN, NaN]
// NANS-NEXT: upto = [NaN, NaN, NaN]
// ZEROS: least = [-0]
// ZEROS-NEXT: before = [inf, NaN, 0, -0]
// ZEROS-NEXT: upto = [NaN, 0, 0, 0]
// NONE: least = [inf]
// NONE-NEXT: before = [0]
qd.grid.kernel @arrays(%x: memref<?xf32> {qd.name = "x"}, %least: memref<1xf32> {qd.name = "least"},
                       %before: memref<?xf32> {qd.name = "before"}, %upto: memref<?xf32> {qd.name = "upto"},
                       %s: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce minnumf ins(%x : memref<?xf32>) outs(%least : memref<1xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  qd.algo.exclusive_scan minnumf ins(%x : memref<?xf32>) outs(%before : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
  qd.algo.inclusive_scan maxnumf ins(%x : memref<?xf32>) outs(%upto : memref<?xf32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// ATOMIC: o = [-0, 0]
qd.grid.kernel @atomic(%x: memref<?xf32> {qd.name = "x"}, %o: memref<?xf32> {qd.name = "o"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  qd.grid.for_each %i to %n {
    %a = memref.load %x[%i] : memref<?xf32>
    %0 = qd.grid.atomic.rmw minnumf %a, %o[%c0] device relaxed : memref<?xf32>
    %1 = qd.grid.atomic.rmw maxnumf %a, %o[%c1] device relaxed : memref<?xf32>
  }
}
