"""Shapes, types and programs that nobody has thought of, against NumPy."""

import re

import numpy as np
import pytest

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import example, given, note, settings
from hypothesis import strategies as st
from program_lanes import lane_programs
from program_tasks import programs
from programs import LENGTH, shape_of
from test_operators import NUMPY

import qd
from qd._kernel import Kernel
from qd.exception import QuadrantsCompilationError, QuadrantsRuntimeError
from qd.simt import subgroup

TYPES = [dtype for dtype in NUMPY if dtype != "u1"]
SHAPES = st.lists(st.sampled_from([1, 2, 3, 5, 7]), min_size=1, max_size=4).map(tuple)
COPY = """
@qd.kernel
def k(x: qd.types.ndarray(dtype=qd.{dtype}, ndim={rank}), y: qd.types.ndarray(dtype=qd.{dtype}, ndim={rank})):
    for {places} in x:
        y[{places}] = x[{mirrored}]
"""


def numbers(dtype, shape):
    """Of a type, all of them different where it has so many."""
    return (np.arange(np.prod(shape)) * 3 - 50).astype(NUMPY[dtype]).reshape(shape)


@given(st.sampled_from(TYPES), SHAPES)
@example("u8", (0, 3))
def test_storage_of_any_shape_and_type(dtype, shape):
    value = numbers(dtype, shape)
    stored = [qd.ndarray(getattr(qd, dtype), shape)]
    if value.size > 0:
        stored.append(qd.field(getattr(qd, dtype), shape=shape))
    for each in stored:
        each.from_numpy(value)
        np.testing.assert_array_equal(each.to_numpy(), value)
        each.fill(3)
        np.testing.assert_array_equal(each.to_numpy(), np.full(shape, 3, value.dtype))


# By rank and type, as a kernel is compiled once.
_COPIES = {}


@given(st.sampled_from(TYPES), SHAPES, st.sampled_from(["plain", "turned", "every other"]))
@example("f32", (0, 3), "plain")
def test_kernels_of_any_shape_and_type(module, dtype, shape, lies):
    rank = len(shape)
    if (rank, dtype) not in _COPIES:
        places = [f"i{axis}" for axis in range(rank)]
        mirrored = [f"x.shape[{axis}] - 1 - {place}" for axis, place in enumerate(places)]
        text = COPY.format(dtype=dtype, rank=rank, places=", ".join(places), mirrored=", ".join(mirrored))
        _COPIES[rank, dtype] = module(text).k
    value = numbers(dtype, shape)
    if qd.cfg.arch == qd.cpu and lies == "turned":
        value = value.T
    elif qd.cfg.arch == qd.cpu and lies == "every other":
        value = np.repeat(value, 2, axis=-1)[..., ::2]
    wanted = np.flip(value)
    given = [value, np.zeros(value.shape, value.dtype)]
    _COPIES[rank, dtype](*given)
    np.testing.assert_array_equal(given[1], wanted)
    arrays = [qd.ndarray(getattr(qd, dtype), value.shape) for _ in given]
    arrays[0].from_numpy(np.ascontiguousarray(value))
    _COPIES[rank, dtype](*arrays)
    np.testing.assert_array_equal(arrays[1].to_numpy(), wanted)


def samples(dtype):
    if dtype == "u1":
        return np.array([True, False] * 3)
    if np.issubdtype(NUMPY[dtype], np.floating):
        return np.array([1.5, -2.25, 0.0, 100.0, -0.5, 7.0], NUMPY[dtype])
    limits = np.iinfo(NUMPY[dtype])
    return np.array([1, limits.max, limits.min, 5, 0, limits.max // 3], NUMPY[dtype])


@given(programs(), st.randoms(use_true_random=False))
def test_programs_compute_what_numpy_does(module, program, random):
    note(program.text)
    # What is written to is not 0 before, either.
    values = {}
    for name, dtype in (program.arrays | program.fields).items():
        values[name] = np.array(random.choices(list(samples(dtype)), k=LENGTH)).reshape(shape_of(name))
    made = module(program.text)
    for name in program.fields:
        getattr(made, name).from_numpy(values[name])
    given = {name: values[name].copy() for name in program.arrays}
    scratch = [np.empty(LENGTH, NUMPY[dtype]) for dtype in program.scratch.values()]
    made.k(*given.values(), *scratch)
    given |= {name: getattr(made, name).to_numpy() for name in program.fields}
    with np.errstate(all="ignore"):
        program.run(values)
    for name, value in values.items():
        np.testing.assert_array_equal(given[name], value, name)


@settings(max_examples=settings().max_examples // 2)
@given(st.data(), st.sampled_from([1, 31, 32, 64, 77]))
def test_programs_of_lanes_compute_what_numpy_does(module, data, length):
    text, dtype, names, run = data.draw(lane_programs(subgroup.log2_group_size()))
    note(text)
    random = np.random.default_rng(length)
    wanted = {name: random.integers(0, 200, length).astype(NUMPY[dtype]) for name in names}
    given = {name: array.copy() for name, array in wanted.items()}
    module(text).k(*given.values())
    with np.errstate(over="ignore"):
        run(wanted)
    for name in names:
        np.testing.assert_array_equal(given[name], wanted[name], name)


WORDS = re.compile(r"\w+|[^\w\s]")


@pytest.mark.host
@given(programs(has_fields=False), st.data())
def test_what_is_wrong_is_told_with_its_line(module, program, data):
    lines = program.text.split("\n")
    words = sorted(set(WORDS.findall(program.text)))
    at = data.draw(st.sampled_from([i for i, line in enumerate(lines) if line.strip()]))
    how = data.draw(st.sampled_from(["line", "word", "other"]))
    found = list(WORDS.finditer(lines[at]))
    word = data.draw(st.sampled_from(found))
    other = "" if how == "word" else data.draw(st.sampled_from(words))
    lines[at] = "" if how == "line" else lines[at][: word.start()] + other + lines[at][word.end() :]
    text = "\n".join(lines)
    note(text)
    try:
        kernel = module(text).k
    # Python itself refuses it, or what stands where a decorator does.
    except (SyntaxError, NameError, TypeError, AttributeError, QuadrantsCompilationError, QuadrantsRuntimeError):
        return
    if not isinstance(kernel, Kernel):
        # Python would execute it.
        return
    # No element is there, so that nothing goes on without end or beyond an array.
    arrays = [np.zeros((0,) * len(shape_of(name)), NUMPY[dtype]) for name, dtype in program.arrays.items()]
    try:
        kernel(*arrays)
    except (QuadrantsCompilationError, QuadrantsRuntimeError) as error:
        assert re.search(r"\bline \d+|[Aa]rgument|parameter", str(error)), error
        assert not re.search(r"^(KeyError|IndexError|AttributeError|AssertionError|ValueError):", str(error), re.MULTILINE), error
