# The examples of the reference's page on mathematics, unchanged, a cell each. test_reference.py runs them.

# %% count_bits
@qd.kernel
def count_bits(masks: qd.types.NDArray[qd.u32, 1], total: qd.types.NDArray[qd.i32, 1]) -> None:
    n = 0
    for i in range(masks.shape[0]):
        n += qd.math.popcnt(masks[i])
    qd.atomic_add(total[0], n)

# %% msb
@qd.func
def msb(x: qd.i32) -> qd.i32:
    return 31 - qd.math.clz(x)

# %% lowest_set_bit_index
@qd.func
def lowest_set_bit_index(mask: qd.u32) -> qd.i32:
    # Returns -1 when mask == 0; otherwise the 0-indexed position of the lowest set bit.
    return qd.math.ffs(mask) - 1
