// Memory that SPIR-V cannot express is one error at the op.

// RUN: qd-opt %s --qd-convert-to-spirv --split-input-file --verify-diagnostics

module {
func.func private @chosen(%a: memref<?xf32>, %b: memref<?xf32>, %c: i1, %i: index, %v: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  // expected-error @+1 {{'arith.select' op passes on a 'memref<?xf32>', which SPIR-V has no form for: each access must name the memory it is to}}
  %chosen = arith.select %c, %a, %b : memref<?xf32>
  memref.store %v, %chosen[%i] : memref<?xf32>
  return
}
}

// -----

module {
func.func private @branch(%a: memref<?xf32>, %b: memref<?xf32>, %c: i1, %i: index, %v: f32) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  // expected-error @+1 {{'scf.if' op passes on a 'memref<?xf32>'}}
  %chosen = scf.if %c -> memref<?xf32> {
    scf.yield %a : memref<?xf32>
  } else {
    scf.yield %b : memref<?xf32>
  }
  memref.store %v, %chosen[%i] : memref<?xf32>
  return
}
}

// -----

module {
func.func private @shared() attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  // expected-error @+1 {{makes the block's shared memory 16388 bytes, but target 'vulkan:1.3' has 16384}}
  %a = qd.simt.block.shared : memref<4097xf32, #gpu.address_space<workgroup>>
  return
}
}

// -----

module {
func.func private @extent(%a: memref<?x3xf32>, %o: memref<?xindex>, %d: index) attributes {qd.threads = 64 : i64, qd.wave = 8 : i64} {
  // expected-error @+1 {{'memref.dim' op takes the extent of a dimension that is not a constant}}
  %n = memref.dim %a, %d : memref<?x3xf32>
  memref.store %n, %o[%n] : memref<?xindex>
  return
}
}
