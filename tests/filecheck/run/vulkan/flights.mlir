// The main job on Vulkan, at the smallest and the largest subgroup that lavapipe has: every number of it is NumPy's.

// REQUIRES: numpy, vulkan

// DEFINE: %{flights} = %S/../../../../examples/flights
// DEFINE: %{lanes} = 4
// DEFINE: %{width} = 128
// DEFINE: %{run} = mkdir -p %t.%{lanes} && cd %t.%{lanes} && \
// DEFINE:   env LP_NATIVE_VECTOR_WIDTH=%{width} qd-run %{flights}/flights.mlir --target=vulkan:1.3,subgroup=%{lanes} \
// DEFINE:     --arg delay=%{flights}/delay.npy --arg distance=%{flights}/distance.npy --arg 'n=len(delay)' \
// DEFINE:     --out num_late=num_late.npy --out 'late_distance[:num_late]=late_distance.npy' \
// DEFINE:     --out 'late_delay[:num_late]=late_delay.npy' --out num_distances=num_distances.npy \
// DEFINE:     --out 'distances[:num_distances]=distances.npy' --out 'totals[:num_distances]=totals.npy' \
// DEFINE:     --out 'counts[:num_distances]=counts.npy' --out 'offsets[:num_distances]=offsets.npy' \
// DEFINE:     --out 'means[:num_distances]=means.npy' --out worst_distance=worst_distance.npy \
// DEFINE:     --out worst_mean=worst_mean.npy --print num_late --print worst_distance --print worst_mean \
// DEFINE:   > printed && %python %{flights}/check.py . >> printed && FileCheck %s < printed

// RUN: %{run}

// REDEFINE: %{lanes} = 16
// REDEFINE: %{width} = 512
// RUN: %{run}

// CHECK: num_late = 43145
// CHECK-NEXT: worst_distance = [115]
// CHECK-NEXT: worst_mean = [154.33333]
// CHECK: All results agree with NumPy's
