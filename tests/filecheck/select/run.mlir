// What was selected computes what it did, and is the same each time.

// DEFINE: %{flights} = %S/../../../examples/flights
// RUN: qd-run %{flights}/flights.mlir --target=cpu,select --arg delay=%{flights}/delay.npy \
// RUN:     --arg distance=%{flights}/distance.npy --arg 'n=len(delay)' \
// RUN:     --print num_late --print worst_distance --print worst_mean | FileCheck %s
// RUN: qd-translate %{flights}/flights.mlir --target=amdgpu:gfx1100,select --emit=plan -o %t.json
// RUN: qd-opt %{flights}/flights.mlir --to=subgroup --target=amdgpu:gfx1100,select -o %t.first
// RUN: qd-opt %{flights}/flights.mlir --to=subgroup --target=amdgpu:gfx1100,select -o %t.second
// RUN: cmp %t.first %t.second

// CHECK: num_late = 43145
// CHECK: worst_distance = [115]
// CHECK: worst_mean = [154.33333]
