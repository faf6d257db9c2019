// At level grid a kernel holds types and ops that targets can lower, and the error is at the op, before a conversion leaves it behind.
// RUN: qd-opt %s --split-input-file --verify-diagnostics --qd-verify-level=level=grid -o /dev/null

// Legal types and ops are accepted; functions of other dialects are not checked.
llvm.func @other() {
  llvm.return
}
qd.grid.kernel @good(%a: memref<?xi32>, %f: f32, %n: index) {
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xi32>
    %x = math.ctpop %v : i32
    memref.store %x, %a[%t] : memref<?xi32>
  }
}

// -----

qd.grid.kernel @vector(%a: memref<?xf32>, %n: index) {
  qd.grid.phase blocks(%n) threads(64) {
    %t = qd.simt.block.thread_id
    %v = memref.load %a[%t] : memref<?xf32>
    // expected-error@+1 {{'vector.broadcast' op is not legal in a body: no target has it}}
    %w = vector.broadcast %v : f32 to vector<4xf32>
    // One error says enough.
    %x = vector.extract %w[0] : f32 from vector<4xf32>
    memref.store %x, %a[%t] : memref<?xf32>
  }
}

// -----

func.func @frees(%a: memref<?xi32>) {
  // expected-error@+1 {{'memref.dealloc' op is not legal in a body}}
  memref.dealloc %a : memref<?xi32>
  return
}

// -----

func.func @called(%x: i32) -> i32 {
  // expected-error@+1 {{'llvm.add' op is not legal in a body}}
  %y = llvm.add %x, %x : i32
  return %y : i32
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 1 is of type 'memref<?xf80>', which no kernel takes: expected elements of i1, i8, i16, i32, i64, f16, bf16, f32, f64, index}}
qd.grid.kernel @half(%a: memref<?xf32>, %b: memref<?xf80>) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 0 is of type 'i2', which no kernel takes}}
qd.grid.kernel @flag(%b: i2) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 0 is of type 'memref<?xf32, 1>', but a buffer lies in the default memory space}}
qd.grid.kernel @space(%a: memref<?xf32, 1>) {
}

// -----

// expected-error@+1 {{'qd.grid.kernel' op argument 0 is of type 'memref<4294967296x4294967296xf32>', which no address reaches the end of}}
qd.grid.kernel @huge(%a: memref<4294967296x4294967296xf32>) {
}

// -----

qd.grid.kernel @private(%n: index) {
  qd.grid.phase blocks(%n) threads(64) {
    // expected-error@+1 {{'memref.alloca' op is 524292 bytes of private memory for each thread, but 524288 are the most that a target has for one}}
    %m = memref.alloca() : memref<131073xi32>
  }
}
