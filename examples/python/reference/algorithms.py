# The examples of the reference's page on algorithms, unchanged, a cell each. test_reference.py runs them.

# %% capacity
def log256_max_n(capacity: int) -> int:
    d = 1
    while 256 ** d < capacity:
        d += 1
    return d

# %% scratch
import quadrants as qd

N = 1_000_000   # capacity: an upper bound on the live count you will feed the captured graph
D = 3           # log256_max_n: 256**3 = 16,777,216 >= N

# 4-byte reduce: u32 scratch, sized for the same depth D the func is compiled for.
scratch = qd.ndarray(qd.u32, shape=qd.algorithms.reduce_scratch_slots(N, D))

# 8-byte reduce: same slot count, u64 buffer.
scratch64 = qd.ndarray(qd.u64, shape=qd.algorithms.reduce_scratch_slots(N, D))

# %% prelude
import numpy as np
import quadrants as qd

qd.init(arch=qd.gpu)

N, D = 8, 1   # 8 elements; D = log256_max_n = 1 -> capacity 256**1 = 256 >= N

# %% composition
@qd.kernel
def my_pipeline(
    arr: qd.types.ndarray(dtype=qd.f32, ndim=1),
    out: qd.types.ndarray(dtype=qd.f32, ndim=1),
    scratch: qd.types.ndarray(dtype=qd.u32, ndim=1),
    count: qd.types.ndarray(dtype=qd.i32, ndim=1),
):
    # ... other top-level phases ...
    qd.algorithms.reduce_add(arr, out, scratch, count[0], qd.f32, log256_max_n)
    # ... more top-level phases ...

# %% reduce
arr     = qd.field(qd.i32, shape=N)
out     = qd.field(qd.i32, shape=1)
scratch = qd.field(qd.u32, shape=qd.algorithms.reduce_scratch_slots(N, D))
count   = qd.field(qd.i32, shape=1)

arr.from_numpy(np.array([3, 1, 4, 1, 5, 9, 2, 6], dtype=np.int32))
count.from_numpy(np.array([N], dtype=np.int32))

@qd.kernel
def run():
    qd.algorithms.reduce_add(arr, out, scratch, count[0], qd.i32, D)

run()
print(out.to_numpy()[0])   # 31   (3 + 1 + 4 + 1 + 5 + 9 + 2 + 6)

# %% exclusive scan
arr     = qd.field(qd.i32, shape=N)
out     = qd.field(qd.i32, shape=N)   # must be a distinct buffer from arr
scratch = qd.field(qd.u32, shape=qd.algorithms.exclusive_scan_scratch_slots(N, D))
count   = qd.field(qd.i32, shape=1)

arr.from_numpy(np.array([3, 1, 4, 1, 5, 9, 2, 6], dtype=np.int32))
count.from_numpy(np.array([N], dtype=np.int32))

@qd.kernel
def run():
    qd.algorithms.exclusive_scan_add(arr, out, scratch, count[0], qd.i32, D)

run()
print(out.to_numpy())   # [ 0  3  4  8  9 14 23 25 ]   (out[i] = sum(arr[:i]))

# %% select
arr     = qd.field(qd.i32, shape=N)
flags   = qd.field(qd.i32, shape=N)
out     = qd.field(qd.i32, shape=N)   # len(out) >= len(arr)
num_out = qd.field(qd.i32, shape=1)
scratch = qd.field(qd.u32, shape=qd.algorithms.select_scratch_slots(N))
count   = qd.field(qd.i32, shape=1)

arr.from_numpy(np.array([10, 11, 12, 13, 14, 15, 16, 17], dtype=np.int32))
flags.from_numpy(np.array([1,  0,  1,  1,  0,  0,  1,  0], dtype=np.int32))
count.from_numpy(np.array([N], dtype=np.int32))

@qd.kernel
def run():
    qd.algorithms.select(arr, flags, out, num_out, scratch, count[0], D)

run()
k = int(num_out.to_numpy()[0])
print(k)                    # 4
print(out.to_numpy()[:k])   # [10 12 13 16]   (the flagged elements, in input order)

# %% sort
i32_1d = qd.types.ndarray(qd.i32, ndim=1)
u32_1d = qd.types.ndarray(qd.u32, ndim=1)
i32_0d = qd.types.ndarray(qd.i32, ndim=0)

@qd.kernel
def run(keys: i32_1d, tmp_keys: i32_1d, values: i32_1d, tmp_values: i32_1d, scratch: u32_1d, n: i32_0d):
    qd.algorithms.sort(keys, tmp_keys, values, tmp_values, scratch, n, qd.i32, True, 32, D)

keys       = qd.ndarray(qd.i32, shape=(N,))
tmp_keys   = qd.ndarray(qd.i32, shape=(N,))
values     = qd.ndarray(qd.i32, shape=(N,))
tmp_values = qd.ndarray(qd.i32, shape=(N,))
scratch    = qd.ndarray(qd.u32, shape=(qd.algorithms.sort_scratch_slots(N, D),))
n          = qd.ndarray(qd.i32, shape=())

keys.from_numpy(np.array([3, 1, 4, 1, 5, 9, 2, 6], dtype=np.int32))
values.from_numpy(np.arange(N, dtype=np.int32))   # payload: each key's original index
n.fill(N)

run(keys, tmp_keys, values, tmp_values, scratch, n)
print(keys.to_numpy())     # [1 1 2 3 4 5 6 9]
print(values.to_numpy())   # [1 3 6 0 2 4 7 5]   (original indices; stable for the tied 1s)

# %% reduce by key
keys_in    = qd.field(qd.i32, shape=N)
values_in  = qd.field(qd.i32, shape=N)
keys_out   = qd.field(qd.i32, shape=N)
values_out = qd.field(qd.i32, shape=N)
num_runs   = qd.field(qd.i32, shape=1)
scratch    = qd.field(qd.u32, shape=qd.algorithms.reduce_by_key_scratch_slots(N))
count      = qd.field(qd.i32, shape=1)

keys_in.from_numpy(np.array([1, 1, 1, 2, 2, 3, 3, 3], dtype=np.int32))
values_in.from_numpy(np.array([5, 2, 1, 4, 4, 6, 1, 1], dtype=np.int32))
count.from_numpy(np.array([N], dtype=np.int32))

@qd.kernel
def run():
    qd.algorithms.reduce_by_key_add(keys_in, values_in, keys_out, values_out, num_runs, scratch, count[0], qd.i32, D)

run()
r = int(num_runs.to_numpy()[0])
print(r)                          # 3
print(keys_out.to_numpy()[:r])    # [1 2 3]
print(values_out.to_numpy()[:r])  # [8 8 8]   (5+2+1, 4+4, 6+1+1)

# %% parallel sort
import quadrants as qd

keys = qd.field(qd.i32, shape=(N,))
qd.algorithms.parallel_sort(keys)
keys = qd.field(qd.i32, shape=(N,))
vals = qd.field(qd.f32, shape=(N,))
qd.algorithms.parallel_sort(keys, vals)

# %% prefix sum
psum = qd.algorithms.PrefixSumExecutor(N)
arr  = qd.field(qd.i32, shape=(N,))
# ... fill arr ...
psum.run(arr)
# arr now holds the inclusive prefix sum: arr[i] = sum(arr_original[0..=i]).
