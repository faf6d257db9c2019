// The main job: a group-by over 200,000 flights, and every number of it is NumPy's, on the cpu at the smallest and the
// largest subgroup and by the reference interpreter.

// REQUIRES: numpy

// DEFINE: %{flights} = %S/../../../examples/flights
// DEFINE: %{out} = %t.interpreted
// DEFINE: %{how} = --interpret
// DEFINE: %{run} = mkdir -p %{out} && cd %{out} && \
// DEFINE:   qd-run %{flights}/flights.mlir %{how} --arg delay=%{flights}/delay.npy \
// DEFINE:     --arg distance=%{flights}/distance.npy --arg 'n=len(delay)' \
// DEFINE:     --out num_late=num_late.npy --out 'late_distance[:num_late]=late_distance.npy' \
// DEFINE:     --out 'late_delay[:num_late]=late_delay.npy' --out num_distances=num_distances.npy \
// DEFINE:     --out 'distances[:num_distances]=distances.npy' --out 'totals[:num_distances]=totals.npy' \
// DEFINE:     --out 'counts[:num_distances]=counts.npy' --out 'offsets[:num_distances]=offsets.npy' \
// DEFINE:     --out 'means[:num_distances]=means.npy' --out worst_distance=worst_distance.npy \
// DEFINE:     --out worst_mean=worst_mean.npy --print num_late --print worst_distance --print worst_mean \
// DEFINE:   > printed && %python %{flights}/check.py . >> printed && FileCheck %s < printed

// RUN: %{run}

// REDEFINE: %{out} = %t.wave4
// REDEFINE: %{how} = --target=cpu,wave=4 --threads=3
// RUN: %{run}

// REDEFINE: %{out} = %t.wave64
// REDEFINE: %{how} = --target=cpu,wave=64 --threads=1
// RUN: %{run}

// CHECK: num_late = 43145
// CHECK-NEXT: worst_distance = [115]
// CHECK-NEXT: worst_mean = [154.33333]
// CHECK: All results agree with NumPy's
