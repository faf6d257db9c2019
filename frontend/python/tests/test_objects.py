"""Objects with arrays: dataclasses, data_oriented classes, and arrays as templates."""

import collections
import dataclasses
import functools
import typing

import numpy as np
import pytest

import qd


@dataclasses.dataclass
class Grid:
    cells: qd.types.NDArray[qd.i32, 2]
    scale: qd.i32


@dataclasses.dataclass
class State:
    grid: Grid
    mask: "qd.types.NDArray[qd.u8, 2]" = None
    op: qd.template() = None


@qd.kernel
def step(state: State, by: qd.i32):
    for i, j in state.grid.cells:
        value = state.grid.cells[i, j] * state.grid.scale + by
        if qd.static(state.mask is not None):
            value *= state.mask[i, j]
        if qd.static(state.op is not None):
            value = state.op(value)
        state.grid.cells[i, j] = value


def test_dataclasses_are_flattened():
    @qd.func
    def negate(x):
        return -x

    cells = np.arange(12, dtype=np.int32).reshape(3, 4)
    mask = (np.arange(12) % 2).astype(np.uint8).reshape(3, 4)
    step(State(Grid(cells, 3)), 1)
    np.testing.assert_array_equal(cells, 3 * np.arange(12).reshape(3, 4) + 1)
    step(State(Grid(cells[:2], 1), mask[:2], negate), 0)
    wanted = 3 * np.arange(12).reshape(3, 4) + 1
    wanted[:2] *= -mask[:2].astype(np.int32)
    np.testing.assert_array_equal(cells, wanted)
    assert len(step._compiled) == 2
    step(State(Grid(cells, 5)), 2)
    assert len(step._compiled) == 2


@qd.data_oriented
class Life:
    """The Game of Life, with two grids in turns."""

    NEIGHBOURS = 8

    def __init__(self, cells):
        self.now = cells
        self.next = np.zeros_like(cells)
        self.n = cells.shape[0]

    @qd.func
    def alive(self, i, j):
        count = 0
        for di, dj in qd.static(qd.ndrange((-1, 2), (-1, 2))):
            if qd.static((di, dj) != (0, 0)):
                count += self.now[(i + di) % self.n, (j + dj) % self.n]
        return count

    @qd.kernel
    def step(self):
        qd.static_assert(self.NEIGHBOURS == 8)
        for i, j in self.now:
            count = self.alive(i, j)
            self.next[i, j] = 1 if count == 3 or (count == 2 and self.now[i, j] == 1) else 0

    def run(self, steps):
        for _ in range(steps):
            self.step()
            self.now, self.next = self.next, self.now
        return self.now


def test_the_game_of_life():
    cells = np.random.default_rng(0).integers(0, 2, (40, 40)).astype(np.int32)
    wanted = cells.copy()
    for _ in range(30):
        count = sum(np.roll(wanted, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        wanted = ((count == 3) | ((count == 2) & (wanted == 1))).astype(np.int32)
    life = Life(cells)
    np.testing.assert_array_equal(life.run(30), wanted)
    assert len(Life.step._compiled) == 1
    # Another object of the same shape of members needs no compilation, but its numbers are compiled in.
    Life(np.zeros((40, 40), np.int32)).step()
    assert len(Life.step._compiled) == 1
    Life(np.zeros((3, 3), np.int32)).step()
    assert len(Life.step._compiled) == 2


def test_numbers_of_objects_may_be_arguments():
    @qd.data_oriented(template_primitives=False)
    class Scaled:
        def __init__(self, by):
            self.by = by

        @qd.kernel
        def apply(self, x: qd.f32) -> qd.f32:
            return self.by * x

    assert [Scaled(by).apply(3) for by in (2, 5)] == [6, 15]
    assert len(Scaled.apply._compiled) == 1
    assert Scaled(0.5).apply(3) == 1.5


def test_arrays_as_templates():
    @qd.kernel
    def fill(a: qd.template(), value: qd.i32):
        for i in a:
            a[i] = value

    a = np.zeros(10, np.int16)
    fill(a, 7)
    assert a.tolist() == [7] * 10
    fill(np.zeros(20, np.int16), 3)
    assert len(fill._compiled) == 1
    fill(np.zeros(20, np.float64), 3)
    assert len(fill._compiled) == 2


def test_properties():
    @qd.data_oriented
    class Ring:
        def __init__(self, cells, start):
            self.cells, self.start = cells, start

        @property
        def size(self):
            return self.cells.shape[0]

        @property
        def first(self):
            return self.start + 1

        @functools.cached_property
        def other(self):
            return [self.cells][0]

        @staticmethod
        def scale():
            return 10

        @qd.kernel
        def run(self):
            for i in range(self.size):
                self.other[i] = self.first + i * qd.static(self.scale())

    cells = np.zeros(5, np.int32)
    Ring(cells, 2).run()
    assert cells.tolist() == [3, 13, 23, 33, 43]


def test_arrays_in_lists():
    @qd.data_oriented
    class Layers:
        def __init__(self, *arrays):
            more = qd.ndarray(qd.i64, 4)
            more.fill(1)
            self.arrays, self.pairs = list(arrays), [(more, 3), (qd.field(qd.i32, 4), 4)]

        @qd.func
        def put(self, array, i, value):
            array[i] = value

        @qd.kernel
        def run(self, at: qd.template()):
            for i in range(self.arrays[at].shape[0]):
                self.arrays[at][i] += 1
            for array, value in qd.static(self.pairs):
                for i in range(4):
                    self.put(array, i, array[i] * 100 + value)
            for i in range(1):
                self.arrays[1][i, 0] = len(self.arrays)

    a, b = np.arange(4, dtype=np.int32), np.zeros((2, 2), np.float32)
    layers = Layers(a, b)
    layers.run(0)
    assert a.tolist() == [1, 2, 3, 4] and b.tolist() == [[2, 0], [0, 0]]
    assert [array.to_numpy().tolist() for array, _ in layers.pairs] == [[103] * 4, [4] * 4]
    # Lists are compared by what is in them.
    layers.arrays = [np.zeros(9, np.int32), b]
    layers.run(0)
    assert layers.arrays[0].tolist() == [1] * 9 and len(Layers.run._compiled) == 1
    layers.arrays = [np.zeros(9, np.int64), b]
    layers.run(0)
    assert len(Layers.run._compiled) == 2
    layers.arrays = [np.zeros(9, np.complex64), b]
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match=r"Argument 0.arrays\[0\] .*complex64"):
        layers.run(0)


def test_objects_in_lists_may_lead_back():
    @qd.data_oriented
    class Part:
        def __init__(self, whole, number):
            self.whole, self.number = whole, number

        @qd.kernel
        def read(self) -> qd.i32:
            return self.number + len(self.whole.parts)

    @qd.data_oriented
    class Whole:
        def __init__(self):
            self.parts = [Part(self, number) for number in range(3)]

    assert [part.read() for part in Whole().parts] == [3, 4, 5]


def test_wrong_objects():
    class Plain:
        @qd.kernel
        def k(self):
            pass

    with pytest.raises(qd.QuadrantsSyntaxError, match="'Plain.k' is a kernel: the class has to be @qd.data_oriented"):
        Plain().k()
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match="Argument 0 .* cannot be converted into required type State"):
        step(3, 1)
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match=r"Argument 0.grid.cells .* required type i32\[2-D\]"):
        step(State(Grid(np.zeros(3, np.int32), 1)), 1)

    @qd.data_oriented
    class Counter:
        def __init__(self):
            self.count = 0

        @qd.kernel
        def k(self):
            self.count = 1

    with pytest.raises(qd.QuadrantsCompilationError, match="isn't there yet"):
        Counter().k()


def test_objects_that_lead_back():
    @qd.data_oriented
    class Node:
        def __init__(self, value):
            self.values, self.number, self.next, self.others = np.full(3, value, np.int32), value, self, [self]

        @qd.func
        def add(self, value):
            for i in self.values:
                self.values[i] += value

        @qd.kernel
        def k(self) -> qd.i32:
            self.next.add(self.number)
            self.others[-1].next.next.add(100)
            return self.others[0].values[0]

    one, two = Node(1), Node(2)
    assert one.k() == 102
    one.next, two.next = two, one
    two.others = [one, two]
    assert two.k() == 104
    assert (one.values[1], two.values[1]) == (104, 102)
    # By what is the same in them.
    assert one.k() == 204 and len(Node.k._compiled) == 3


def test_arrays_in_dictionaries_and_in_objects_in_lists():
    @qd.data_oriented
    class Layer:
        def __init__(self, size, scale):
            self.weights, self.scale = np.arange(size, dtype=np.int32), scale

        @qd.func
        def sum(self):
            s = 0
            for i in range(self.weights.shape[0]):
                s += self.weights[i] * self.scale
            return s

    @qd.data_oriented
    class Net:
        def __init__(self):
            self.layers = [Layer(3, 1), Layer(4, 10)]
            self.named = {"first": self.layers[0], "out": np.zeros(2, np.int32), 7: [3, "x"]}

        @qd.kernel
        def k(self) -> qd.i32:
            for i in range(1):
                for layer in qd.static(self.layers):
                    self.named["out"][0] += layer.sum()
                self.layers[1].weights[0] += 5
            for key in qd.static(self.named):
                if qd.static(key == 7):
                    self.named["out"][1] = self.named[key][0]
            return self.named["first"].weights[2]

    net = Net()
    for total in (3 + 60, 2 * (3 + 60) + 50):
        assert net.k() == 2
        assert net.named["out"].tolist() == [total, 3]
    net.layers[0].weights = np.ones(9, np.int32)
    assert net.k() == 1 and net.named["out"][0] == 2 * 63 + 50 + 9 + 160
    assert len(Net.k._compiled) == 1


class Pair(typing.NamedTuple):
    left: np.ndarray
    right: int


@dataclasses.dataclass
class Entry:
    values: np.ndarray
    scale: int = 2

    @qd.func
    def first(self):
        return self.values[0] * self.scale


def test_arrays_in_other_members():
    @qd.data_oriented
    class Holder:
        def __init__(self):
            self.pair, self.entry = Pair(np.zeros(2, np.int32), 5), Entry(np.zeros(2, np.int32))
            self.ordered = collections.OrderedDict(a=self.entry)

        @qd.kernel
        def k(self) -> qd.i32:
            self.pair.left[0] += self.pair.right + self.pair[0][1]
            self.ordered["a"].values[0] += 10
            return self.entry.first()

    @qd.kernel
    def k(entry: qd.template(), plain: qd.template()) -> qd.i32:
        entry.values[1] = entry.scale
        return entry.first() + plain.scale

    holder = Holder()
    holder.k()
    holder.pair.left[1] = 100
    assert holder.k() == 40
    assert holder.pair.left.tolist() == [110, 100] and holder.entry.values.tolist() == [20, 0]
    assert len(Holder.k._compiled) == 1
    assert k(holder.entry, Entry(3, 7)) == 47 and holder.entry.values[1] == 2


def test_objects_with_slots():
    class Base:
        __slots__ = ("values", "missing")

    @qd.data_oriented
    class Slotted(Base):
        __slots__ = ("_n", "__dict__")

        def __init__(self, n):
            self._n, self.values, self.rest = n, np.arange(n, dtype=np.int32), 1000

        @qd.kernel
        def k(self) -> qd.i32:
            for i in self.values:
                self.values[i] += self._n
            return self.values[1] + self.rest

    one = Slotted(3)
    assert (one.k(), Slotted(4).k()) == (1004, 1005)
    assert one.values.tolist() == [3, 4, 5]


def test_static_methods_that_are_kernel_functions():
    @qd.data_oriented
    class Scale:
        @staticmethod
        @qd.func
        def twice(x, y=2):
            return x * y

        @qd.kernel
        def k(self, x: qd.i32) -> (qd.i32, qd.i32):
            return self.twice(x), Scale.twice(x, y=3)

    assert Scale().k(5) == (10, 15)


@qd.data_oriented
class Counter:
    step = 1

    def __init__(self):
        self.values = np.arange(4, dtype=np.int32)

    @qd.func
    def add(self, x):
        for i in self.values:
            self.values[i] += x

    @property
    @qd.func
    def total(self):
        s = 0
        for i in range(self.values.shape[0]):
            s += self.values[i]
        return s

    @property
    def twice(self):
        return 2 * self.step

    @property
    def first(self):
        return self.values[0]

    @qd.kernel
    def read(self) -> qd.i32:
        return self.first

    @classmethod
    @qd.kernel
    def scaled(cls, n: qd.i32) -> qd.i32:
        return cls.step * n + cls.of_class()

    @classmethod
    @qd.func
    def of_class(cls):
        return cls.step


@qd.data_oriented
class Steps(Counter):
    step = 10

    @qd.func
    def add(self, x):
        super().add(x * 2)

    @property
    @qd.func
    def total(self):
        return super().total + 1000

    @qd.kernel
    def run(self) -> (qd.i32, qd.i32, qd.i32):
        before = self.total
        self.add(self.step)
        super(Steps, self).add(5)
        while self.total < 2000:
            self.values[0] += 1
        return before, self.total, super().twice

    @qd.kernel
    def bare(self) -> qd.i32:
        return plain_add(self)


@qd.func
def plain_add(x):
    return super().add(x)


def test_super_and_properties_that_are_kernel_functions():
    counter = Steps()
    assert counter.run() == (1006, 2000, 20)
    assert counter.values.tolist()[1:] == [26, 27, 28]
    # Loops of what is called so are tasks: two, and what is before and after them.
    assert counter.run._kernel.record().count(": Task(") == 4
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)in plain_add:.*\^.*super\(\) is for methods.*"):
        counter.bare()
    with pytest.raises(qd.QuadrantsCompilationError, match=r"(?s)in read:.*\^.*elements of arrays are read in kernels and .* below @property"):
        counter.read()


def test_class_methods_that_are_kernels():
    assert (Counter.scaled(3), Steps.scaled(3), Steps().scaled(4)) == (4, 40, 50)


@qd.data_oriented
class Sizes:
    lanes = 4

    def __init__(self):
        self.factor = 3

    @property
    def doubled(self):
        return self.factor * 2

    @property
    @qd.func
    def computed(self):
        return 1 + self.factor

    def of(self, n):
        return n + self.factor

    @classmethod
    def shifted(cls):
        return cls.lanes + 1


@qd.data_oriented
class Wider(Sizes):
    lanes = 8

    @qd.kernel
    def run(self, out: qd.types.NDArray[qd.i32, 1]):
        for i in qd.static(range(super().lanes)):
            out[i] += i
        if qd.static(super(Wider, self).doubled == 6):
            x = qd.static([super().of(n) for n in (1, 2)][0] + super().shifted() * 100)
            out[4] = x
        out[5] = self.lanes

    @classmethod
    @qd.kernel
    def of_class(cls) -> qd.i32:
        return qd.static(super().lanes * 10 + super(Wider, cls).shifted())

    @qd.kernel
    def too_late(self) -> qd.i32:
        return qd.static(super().computed)


@qd.func
def plain_static(x):
    return qd.static(super().lanes)


@qd.kernel
def of_no_class(x: qd.template()) -> qd.i32:
    return plain_static(x)


def test_super_in_static():
    out = np.zeros(6, np.int32)
    Wider().run(out)
    assert out.tolist() == [0, 1, 2, 3, 904, 8]
    assert Wider.of_class() == 49
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)super\(\)\.computed.*\^.*computed by the kernel: it is not known while tracing"):
        Wider().too_late()
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)in plain_static:.*\^.*super\(\) is for methods"):
        of_no_class(Wider())
