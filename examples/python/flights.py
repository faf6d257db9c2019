"""Which distance has the worst delays? A group-by over 200,000 flights in one kernel: those that were more than 15 minutes late,
and of each distance the mean of their delays. flights_picture.py draws them, and checks them against NumPy."""

import pathlib
import numpy as np
import qd

DATA = pathlib.Path(__file__).parents[1] / "flights"
D = 3  # There are at most 256 ** 3 flights.
I32, U32, F32 = (qd.types.NDArray[dtype, 1] for dtype in (qd.i32, qd.u32, qd.f32))

@qd.kernel
def worst_distance(delay: I32, distance: I32, ones: I32, flags: I32, late: I32, delays: I32, tmp: I32, more_tmp: I32, distances: I32,
                   totals: I32, counts: I32, means: F32, num_late: I32, num_distances: I32, scratch: U32) -> (qd.i32, qd.f32):
    for i in delay:
        flags[i] = delay[i] > 15
    qd.algorithms.select(delay, flags, delays, num_late, scratch, delay.shape[0], D)
    qd.algorithms.select(distance, flags, late, num_late, scratch, delay.shape[0], D)
    qd.algorithms.sort(late, tmp, delays, more_tmp, scratch, num_late[0], qd.i32, True, 16, D)  # Distances are below 2 ** 16.
    qd.algorithms.reduce_by_key_add(late, delays, distances, totals, num_distances, scratch, num_late[0], qd.i32, D)
    qd.algorithms.reduce_by_key_add(late, ones, tmp, counts, num_distances, scratch, num_late[0], qd.i32, D)
    worst, mean = 2**31 - 1, 0.0
    for i in range(num_distances[0]):
        means[i] = totals[i] / counts[i]
        qd.atomic_max(mean, means[i])
    for i in range(num_distances[0]):
        if means[i] == mean:
            qd.atomic_min(worst, distances[i])
    return worst, mean

def run(delay, distance):
    n = len(delay)
    arrays = [np.empty(n, np.int32) for _ in range(8)] + [np.empty(n, np.float32)] + [np.empty(1, np.int32) for _ in range(2)]
    slots = max(qd.algorithms.sort_scratch_slots(n, D), qd.algorithms.reduce_by_key_scratch_slots(n))
    worst, mean = worst_distance(delay, distance, np.ones(n, np.int32), *arrays, np.empty(slots, np.uint32))
    return worst, mean, arrays[5][: arrays[10][0]], arrays[8][: arrays[10][0]]

if __name__ == "__main__":
    qd.init()
    print("%d miles: %.1f minutes" % run(np.load(DATA / "delay.npy"), np.load(DATA / "distance.npy"))[:2])
