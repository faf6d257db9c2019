"""What several tasks share: variables, and bounds that are computed on the device."""

import dataclasses
import types

import numpy as np
import pytest

import qd

Ints = qd.types.NDArray[qd.i32, 1]


@qd.kernel
def total(n: qd.types.NDArray[qd.i32, 0]) -> qd.i32:
    s = 0
    for i in range(n[None]):
        qd.atomic_add(s, i)
    return s


@pytest.mark.parametrize("n", [-5, 0, 1, 1000, 2**14 - 1, 2**14, 2**14 + 1, 50000])
def test_the_program_of_the_design(n):
    wanted = sum(range(n)) & 0xFFFFFFFF
    assert total(np.array(n, np.int32)) & 0xFFFFFFFF == wanted


@qd.kernel
def follow(a: Ints, b: Ints, first: qd.i32):
    for i in range(first, a.shape[0]):
        t = a[i]
        t += 2 * b[i]
        a[i] = t - i
        b[i] += a[i]


@pytest.mark.parametrize("n", [2**20 - 1, 2**20, 2**20 + 1, 2**20 + 2, 3 * 2**19 + 257])
@pytest.mark.parametrize("first", [0, 3])
def test_threads_of_long_loops_do_two_rounds(n, first):
    """Those of short rounds, on devices."""
    # In memory of the device; the last element stands for what is behind the array.
    a, b = qd.ndarray(qd.i32, n), qd.ndarray(qd.i32, n + 1)
    old = np.arange(n, dtype=np.int32) % 1009, np.arange(n + 1, dtype=np.int32) % 13
    a.from_numpy(old[0])
    b.from_numpy(old[1])
    follow(a, b, first)
    new = old[0] + 2 * old[1][:-1] - np.arange(n, dtype=np.int32)
    new[:first] = old[0][:first]
    np.testing.assert_array_equal(a.to_numpy(), new)
    new[:first] = 0
    np.testing.assert_array_equal(b.to_numpy(), old[1] + np.append(new, 0))


@pytest.mark.parametrize("dtype", [qd.i32, qd.u64, qd.f32])
def test_atomics_on_elements_of_the_rounds_own(dtype):
    """They return what was there, as others do."""
    n = 5000

    @qd.kernel
    def k(a: qd.types.NDArray[dtype, 1], b: qd.types.NDArray[dtype, 1], c: qd.types.NDArray[dtype, 1]):
        for i in a:
            c[i] = qd.atomic_add(a[i], b[i])
            if i % 3 == 0:
                a[i] += c[i]
            b[i] = qd.atomic_mul(a[i], 3)
            for j in range(3):
                a[i] -= 1
            c[i] += qd.atomic_exchange(a[i], b[i]) + qd.atomic_max(b[i], 5)

    a, b, c = (np.random.default_rng(seed).integers(10, 99, n).astype(qd.lang.util.to_numpy_type(dtype)) for seed in range(3))
    third = np.arange(n) % 3 == 0
    total = a + b + np.where(third, a, 0)
    wanted = total, np.maximum(total, 5), a + (3 * total - 3) + total
    k(a, b, c)
    for ours, numpys in zip((a, b, c), wanted):
        np.testing.assert_array_equal(ours, numpys)


def test_atomics_on_elements_of_other_rounds():
    """With the round's own beside them, and by a number that changes."""
    n = 1 << 20

    @qd.kernel
    def beside(a: Ints):
        for i in a:
            a[i] += 1
            a[i % 7] += 1

    @qd.kernel
    def changed(a: Ints):
        for i in a:
            j = i
            j //= 16
            a[j] += 1

    a = np.zeros(n, np.int32)
    beside(a)
    assert a.sum() == 2 * n and (a[7:] == 1).all()
    a[:] = 0
    changed(a)
    assert (a[: n // 16] == 16).all() and a.sum() == n


@pytest.mark.host
def test_atomics_on_elements_of_two_arrays_that_overlap():
    """What one thread has of the first, another has of the second at the same time."""
    n = 1 << 20

    @qd.kernel
    def k(a: Ints, b: Ints):
        for i in a:
            a[i] += 1
            b[i] += 1

    x = np.zeros(n + n // 2, np.int32)
    for _ in range(50):
        k(x[:n], x[n // 2 :])
    assert (x[: n // 2] == 50).all() and (x[n // 2 : n] == 100).all() and (x[n:] == 50).all()


def test_variables_of_any_type_span_tasks():
    @qd.kernel
    def k(a: Ints, x: qd.f64) -> (qd.f64, qd.i32, qd.u1):
        scale = x * a[0]
        count = qd.u32(3)
        seen = False
        for i in range(a.shape[0]):
            a[i] += qd.cast(scale, qd.i32)
            if a[i] == 17:
                seen = True
        scale *= 2
        count += 254
        for i in range(1):
            scale = scale - 1
        return scale, count, seen

    a = np.arange(5, 25, dtype=np.int32)
    assert k(a, 1.5) == (14.0, 257, True)
    assert a.tolist() == list(range(12, 32))
    assert k(a[-1:], 0.5) == (30.0, 257, False)


@pytest.mark.parametrize("has_loops", [False, True])
def test_variables_of_static_branches_span_tasks(has_loops):
    @qd.kernel
    def k(a: Ints, has_loops: qd.template()) -> (qd.i32, qd.i32, qd.i32):
        if qd.static(True):
            if qd.static(has_loops):
                for i in a:
                    a[i] += 10
                count = a[0]
                last = 0
            else:
                count, last = a[0], 0
        for i in a:
            count += a[i]
        a[0] = (seen := a[1] + 1)
        for i in a:
            seen += 1
            if i == a.shape[0] - 1:
                last = i
        return count, seen, last

    a = np.arange(1, 101, dtype=np.int32)
    more = 10 if has_loops else 0
    assert k(a, has_loops) == (5051 + 101 * more, 103 + more, 99)
    assert a[0] == 3 + more


def test_static_branches_that_leave_before_a_loop():
    @qd.func
    def add(a, is_left: qd.template()):
        if qd.static(is_left):
            return
        for i in a:
            a[i] += 1

    @qd.kernel
    def k(a: Ints, is_left: qd.template()) -> qd.i32:
        sum = 5
        for n in qd.static(range(5)):
            sum += 1
            if qd.static(n == 1):
                continue
            if qd.static(n == 3):
                break
            add(a, qd.static(n == 2))
            for i in a:
                a[i] += 10
        if qd.static(is_left):
            return -sum
        for i in a:
            sum += a[i]
        return sum

    a = np.zeros(10, np.int32)
    assert k(a, True) == -9
    assert (a == 21).all()
    assert k(a, False) == 9 + 420


def test_elements_are_read_where_a_program_says():
    """Whatever the array is, and wherever the kernel finds it."""
    holder = types.SimpleNamespace(field=qd.field(qd.i32, shape=()), sizes=(2, 3))
    field, fields = qd.field(qd.i32, shape=()), [qd.field(qd.i32, shape=(2,))]

    @dataclasses.dataclass
    class Arrays:
        a: Ints

    @qd.kernel
    def k(given: Arrays, template: qd.template(), out: Ints):
        u = field[None]
        v = holder.field[None] + holder.sizes[1] * out.shape[0]
        w = fields[0][1] + 1
        x = given.a[0]
        y = template[None]
        field[None] = holder.field[None] = template[None] = 100
        fields[0][1] = given.a[0] = 100
        for i in out:
            out[i] = u + 2 * v + 4 * w + 8 * x + 16 * y

    out = np.zeros(5, np.int32)
    k(Arrays(np.zeros(1, np.int32)), qd.field(qd.i32, shape=()), out)
    assert out.tolist() == [2 * 15 + 4] * 5


def test_names_mean_what_was_assigned_before():
    sizes = {"a": [4, 8]}

    @qd.kernel
    def k(out: Ints):
        n = qd.static(3)
        out[0] = n
        n = qd.static(n + 1)
        out[1] = n
        for i in range(2, sizes["a"][0]):
            out[i] = n
        n = qd.static(n + 1)
        for i in range(4, sizes["a"][1]):
            out[i] = n

    @qd.kernel
    def unknown(out: Ints):
        out[0] = later
        later = 5

    out = np.zeros(8, np.int32)
    k(out)
    assert out.tolist() == [3, 4, 4, 4, 5, 5, 5, 5]
    with pytest.raises(qd.QuadrantsNameError, match='Name "later" is not defined'):
        unknown(out)


def test_plain_assignments_and_operations_that_are_atomic():
    @qd.kernel
    def k(a: Ints) -> (qd.i32, qd.i32, qd.i32, qd.u32, qd.i32):
        count = 0
        less = 10000
        bits = 0
        odd = qd.u32(0xFFFFFFFF)
        last = -1
        for i in a:
            count += a[i] % 3
            less -= 1
            bits |= 1 << (a[i] % 31)
            qd.atomic_and(odd, ~(qd.u32(1) << qd.u32(a[i] % 31)))
            if i == a.shape[0] - 1:
                last = a[i]
        return count, less, bits, odd, last

    a = np.random.default_rng(0).integers(0, 10**6, 5000).astype(np.int32)
    bits = int(np.bitwise_or.reduce(1 << (a % 31)))
    assert k(a) == ((a % 3).sum(), 5000, bits, ~bits & 0xFFFFFFFF, a[-1])


def test_atomics_return_the_old_value():
    @qd.kernel
    def compact(a: Ints, out: Ints) -> qd.i32:
        count = 0
        for i in a:
            if a[i] > 0:
                out[qd.atomic_add(count, 1)] = a[i]
        return count

    @qd.kernel
    def local(x: qd.i32) -> (qd.i32, qd.i32, qd.i32):
        y = x + 0
        old = qd.atomic_mul(y, 3)
        older = qd.atomic_max(y, 100)
        qd.atomic_cas(y, 5, 6)
        qd.atomic_cas(y, 100, 8)
        return old, older, qd.atomic_exchange(y, 3) + y

    @qd.kernel
    def element(a: Ints) -> qd.i32:
        return qd.atomic_xor(a[1], 5)

    a = np.random.default_rng(1).integers(-9, 9, 5000).astype(np.int32)
    out = np.zeros_like(a)
    count = compact(a, out)
    assert count == (a > 0).sum()
    np.testing.assert_array_equal(np.sort(out[:count]), np.sort(a[a > 0]))
    assert local(7) == (7, 21, 11)
    b = np.array([1, 6], np.int32)
    assert element(b) == 6 and b.tolist() == [1, 3]


def test_functions_and_variables_that_span_tasks():
    @qd.func
    def add(to: qd.template(), x):
        to += x

    @qd.func
    def doubled(x):
        return 2 * x

    @qd.kernel
    def k(a: Ints) -> qd.i32:
        s = 1
        for i in a:
            add(s, a[i])
        add(s, 100)
        return doubled(s)

    assert k(np.arange(1000, dtype=np.int32)) == 2 * (499500 + 101)


def test_both_bounds_may_be_computed():
    @qd.kernel
    def k(a: Ints, bounds: Ints):
        first = bounds[0]
        for i in range(first, bounds[1]):
            if i % 5 == 0:
                continue
            a[i] = i

    for first, last in [(0, 100), (99, 100), (50, 50), (70, 30), (3, 20000)]:
        a = np.zeros(20000, np.int32)
        k(a, np.array([first, last], np.int32))
        wanted = np.zeros(20000, np.int32)
        each = np.arange(first, last)
        wanted[each] = np.where(each % 5, each, 0)
        np.testing.assert_array_equal(a, wanted)


def test_the_largest_bounds_end():
    @qd.kernel
    def k(bounds: Ints) -> qd.i32:
        count = 0
        for i in range(bounds[0], bounds[1]):
            count += 1
        return count

    most = 2**31 - 1
    assert k(np.array([most - 3, most], np.int32)) == 3


TYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", TYPES)
def test_every_atomic_on_every_type(dtype):
    @qd.kernel
    def k(a: qd.types.ndarray(), out: qd.types.ndarray()):
        for i in a:
            qd.atomic_add(out[0], a[i])
            qd.atomic_sub(out[1], a[i])
            qd.atomic_min(out[2], a[i])
            qd.atomic_max(out[3], a[i])
            if i < 3:
                qd.atomic_mul(out[4], a[i])
            if i == 7:
                out[5] = qd.atomic_exchange(out[6], a[i])

    @qd.kernel
    def bits(a: qd.types.ndarray(), out: qd.types.ndarray()):
        for i in a:
            qd.atomic_and(out[0], a[i])
            qd.atomic_or(out[1], a[i])
            qd.atomic_xor(out[2], a[i])
            if i == 7:
                out[4] = qd.atomic_cas(out[3], 1, a[i])
                out[5] = qd.atomic_cas(out[3], 1, 9)

    # Whose sums are exact, in whichever order.
    limits = (2, 100) if np.issubdtype(dtype, np.unsignedinteger) else (-1, 2) if dtype == np.float16 else (-100, 100)
    a = np.random.default_rng(0).integers(*limits, 1000).astype(dtype)
    out = np.ones(7, dtype)
    k(a, out)
    one = dtype(1)
    with np.errstate(over="ignore"):
        wanted = [a.sum(dtype=dtype) + one, one - a.sum(dtype=dtype), min(a.min(), one), max(a.max(), one), a[:3].prod(dtype=dtype), 1, a[7]]
    assert out.tolist() == [each.item() if hasattr(each, "item") else each for each in wanted]
    if np.issubdtype(dtype, np.integer):
        out = np.array([-1, 0, 0, 1, 0, 0]).astype(dtype)
        bits(a, out)
        wanted = [np.bitwise_and.reduce(a), np.bitwise_or.reduce(a), np.bitwise_xor.reduce(a), a[7], 1, a[7]]
        assert out.tolist() == [int(each) for each in wanted]


def test_a_loop_that_one_thread_executes():
    @qd.kernel
    def k(a: Ints) -> qd.i32:
        qd.loop_config(serialize=True)
        for i in range(1, a.shape[0]):
            a[i] += a[i - 1]
            if a[i] > 1000:
                break
        last = 0
        qd.loop_config(block_dim=128, name="the largest")
        for i in a:
            qd.atomic_max(last, a[i])
        return last

    a = np.ones(5000, np.int32)
    assert k(a) == 1001
    assert a[:1001].tolist() == list(range(1, 1002)) and set(a[1001:]) == {1}


def test_only_the_next_loop_is_configured():
    @qd.kernel
    def k(a: Ints):
        qd.loop_config(serialize=True)
        for i in range(2):
            a[i] = i
        for i in range(2):
            if i == 1:
                break

    with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)break\n *\^{5}\nCannot break out of a parallel loop"):
        k(np.zeros(2, np.int32))


def test_configurations_of_no_loop_are_warned_of():
    @qd.kernel
    def nested(a: Ints):
        for i in range(2):
            qd.loop_config(block_dim=64)
            for j in range(2):
                a[i] += j

    @qd.kernel
    def last(a: Ints):
        a[0] = 3
        qd.loop_config(block_dim=64)

    a = np.zeros(2, np.int32)
    with pytest.warns(UserWarning, match="(?s)loop_config.block_dim=64.*is for loops of a kernel's top level"):
        nested(a)
    assert a.tolist() == [1, 1]
    with pytest.warns(UserWarning, match="(?s)loop_config.block_dim=64.*no loop follows"):
        last(a)
    assert a.tolist() == [3, 1]


def test_a_configuration_is_checked():
    @qd.kernel
    def threads(a: Ints):
        qd.loop_config(block_dim=1025)
        for i in a:
            a[i] = 1

    @qd.kernel
    def unknown(a: Ints):
        qd.loop_config(blocks=3)
        for i in a:
            a[i] = 1

    for k, message in [(threads, "block_dim is a number from 1 to 1024, and not 1025"), (unknown, "unexpected keyword argument 'blocks'")]:
        with pytest.raises(qd.QuadrantsCompilationError, match=f"(?s)qd.loop_config.*{message}"):
            k(np.zeros(2, np.int32))


def test_effects_of_what_is_computed_before_a_loop():
    @qd.func
    def counted(a, n):
        a[0] += 1
        if n > 2:
            qd.atomic_add(a[1], n)
        return n

    @qd.func
    def known(a):
        a[2] += 1
        return 3

    @qd.func
    def fill(a, first, last):
        for i in range(first, last):
            a[i] += 10

    @qd.kernel
    def k(a: Ints, n: qd.i32, m: Ints):
        for i in range(counted(a, n)):
            a[i] += 100
        for i, j in qd.ndrange(counted(a, n), (1, known(a))):
            qd.atomic_add(a[i], 1000)
        fill(a, known(a), counted(a, n))
        # Whose bounds are computed on the device.
        for i in range(counted(a, m[0])):
            a[i] += 5000

    a = np.zeros(6, np.int32)
    k(a, 5, np.array([2], np.int32))
    assert a.tolist() == [7104, 7115, 2102, 2110, 2110, 0]


def test_effects_of_the_arguments_of_algorithms():
    @qd.func
    def counted(a, n: qd.template()):
        a[0] += 1
        return n

    @qd.kernel
    def k(a: Ints, out: Ints, scratch: qd.types.NDArray[qd.u32, 1], count: Ints):
        qd.algorithms.reduce_add(a, out, scratch, count[counted(count, 1)], qd.i32, counted(count, 1))

    a, count = np.arange(5, dtype=np.int32), np.array([0, 4], np.int32)
    out, scratch = np.zeros(1, np.int32), np.zeros(8, np.uint32)
    k(a, out, scratch, count)
    assert out[0] == 6 and count.tolist() == [2, 4]
