"""Performance dispatch: which implementation runs in which call."""

import importlib
import inspect
import logging

import numpy as np
import pytest

import qd
from qd import _perf_dispatch

Floats = qd.types.NDArray[qd.f32, 1]


class Clock:
    """Time as tests say it."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(_perf_dispatch, "perf_counter", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def dispatcher(clock, costs, **options):
    """One of functions that take so many seconds, and the calls that they had."""
    calls = []

    @qd.perf_dispatch(get_geometry_hash=lambda size: size, **options)
    def work(size): ...

    for name, cost in costs.items():

        def implementation(size, name=name, cost=cost):
            calls.append(name)
            clock.now += cost[size] if isinstance(cost, dict) else cost
            return name

        def wrapped(size, run=implementation):
            return run(size)

        wrapped.__name__ = name
        wrapped.__signature__ = inspect.signature(lambda size: size)
        work.register(wrapped)
    return work, calls


def test_the_program_of_the_reference():
    @qd.perf_dispatch(get_geometry_hash=lambda data, out: hash(data.shape), repeat_after_seconds=0)
    def transform(data: Floats, out: Floats): ...

    @transform.register
    @qd.kernel
    def transform_v1(data: Floats, out: Floats) -> None:
        for i in range(data.shape[0]):
            out[i] = data[i] * 2

    @transform.register
    @qd.kernel
    def transform_v2(data: Floats, out: Floats) -> None:
        i = 0
        while i < data.shape[0]:
            out[i] = data[i] + data[i]
            i += 1

    data, out = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    for _ in range(100):
        out[:] = 0
        transform(data, out=out)
        np.testing.assert_array_equal(out, 2 * data)
    (winner,) = transform._fastest_dispatch_impl_by_geometry_hash.values()
    assert winner in (transform_v1, transform_v2)
    assert transform._trial_count_by_dispatch_impl_by_geometry_hash == {hash(data.shape): {transform_v1: 2, transform_v2: 2}}


def test_calls_1_and_2_warm_up_3_and_4_are_timed_and_304_tries_again(clock):
    work, calls = dispatcher(clock, {"slow": 2.0, "fast": 1.0})
    assert [work(8) for _ in range(4)] == ["slow", "fast", "slow", "fast"]
    assert [work(8) for _ in range(299)] == ["fast"] * 299
    assert work._first_eval_completed == {8}
    # The second evaluation warms nothing up.
    assert 8 in work._fastest_dispatch_impl_by_geometry_hash
    assert work(8) == "slow"
    assert 8 not in work._fastest_dispatch_impl_by_geometry_hash
    assert work(8) == "fast"
    assert [work(8) for _ in range(299)] == ["fast"] * 299
    assert work(8) == "slow"


def test_each_later_evaluation_is_a_line_of_the_log(clock, caplog):
    work, _ = dispatcher(clock, {"slow": 2.0, "fast": 1.0})
    alone, _ = dispatcher(clock, {"only": 1.0}, repeat_after_count=2)
    caplog.set_level(logging.INFO, "qd")
    for _ in range(303):
        # Not the same object each time, which would not be looked at.
        work(8), work(9), alone(float("8"))
    assert caplog.messages == []
    for _ in range(302):
        work(8)
    work(9)
    line = "perf_dispatch 'work': all are measured again for geometry {}, where 'fast' was chosen"
    assert caplog.messages == [line.format(geometry) for geometry in (8, 8, 9)]
    assert {each.levelname for each in caplog.records} == {"INFO"}


def test_geometries_are_measured_apart(clock):
    work, _ = dispatcher(clock, {"a": {1: 1.0, 2: 5.0}, "b": {1: 2.0, 2: 4.0}})
    for _ in range(4):
        work(1), work(2)
    names = {geometry: impl.__name__ for geometry, impl in work._fastest_dispatch_impl_by_geometry_hash.items()}
    assert names == {1: "a", 2: "b"}


def test_the_least_mean_wins(clock):
    times = iter([0, 0, 1.0, 2.0, 5.0, 2.0])
    calls = []

    @qd.perf_dispatch(get_geometry_hash=lambda: 0, active=2)
    def work(): ...

    def run(name):
        calls.append(name)
        clock.now += next(times, 0)
        return name

    @work.register
    def once():
        return run("once")

    @work.register
    def steady():
        return run("steady")

    assert [work() for _ in range(7)] == ["once", "steady"] * 3 + ["steady"]


def test_triggers(clock):
    def given(**options):
        work, _ = dispatcher(clock, {"a": 1.0, "b": 2.0}, **options)
        return work.repeat_after_count, work.repeat_after_seconds

    assert given() == (300, None)
    assert given(repeat_after_count=7) == (7, None)
    assert given(repeat_after_seconds=0.5) == (None, 0.5)
    assert given(repeat_after_count=0) == (0, None)
    work, calls = dispatcher(clock, {"a": 1.0, "b": 2.0}, repeat_after_seconds=10, first_warmup=0)
    assert [work(0) for _ in range(12)] == ["a", "b"] + ["a"] * 10
    assert [work(0) for _ in range(3)] == ["a", "b", "a"]
    never, calls = dispatcher(clock, {"a": 1.0, "b": 2.0}, repeat_after_count=-1)
    assert [never(0) for _ in range(1000)][4:] == ["a"] * 996
    for options in ({"repeat_after_count": float("inf")}, {"repeat_after_seconds": float("inf")}):
        never, calls = dispatcher(clock, {"a": 1.0, "b": 2.0}, **options)
        assert [never(0) for _ in range(1000)][4:] == ["a"] * 996


def test_the_references_older_defaults(clock, monkeypatch):
    monkeypatch.setattr(_perf_dispatch, "NUM_FIRST_WARMUP", 3)
    monkeypatch.setattr(_perf_dispatch, "NUM_WARMUP", 3)
    monkeypatch.setattr(_perf_dispatch, "DEFAULT_REPEAT_AFTER_SECONDS", 1.0)
    work, _ = dispatcher(clock, {"a": 0.25, "b": 0.5})
    assert (work.num_first_warmup, work.num_warmup, work.num_active, work.repeat_after_seconds) == (3, 3, 1, 1.0)
    assert [work(0) for _ in range(8)] == ["a", "b"] * 4
    assert [work(0) for _ in range(4)] == ["a"] * 4
    assert [work(0) for _ in range(9)] == ["a", "b"] * 4 + ["a"]


def test_what_is_compatible():
    @qd.perf_dispatch(get_geometry_hash=lambda a: 0)
    def work(a): ...

    @work.register(is_compatible=lambda a: len(a) >= 4)
    def large(a):
        return "large"

    @work.register(is_compatible=lambda a: len(a) >= 2)
    def middle(a):
        return "middle"

    alone = [1, 2, 3]
    assert [work(alone) for _ in range(3)] == ["middle"] * 3
    assert work._trial_count_by_dispatch_impl_by_geometry_hash == {}
    with pytest.raises(qd.QuadrantsRuntimeError, match="No suitable functions were found."):

        @qd.perf_dispatch(get_geometry_hash=lambda a: 0)
        def nothing(a): ...

        nothing.register(is_compatible=lambda a: False)(lambda a: a)
        nothing(1)


def test_implementations_that_fail_are_tried_once(clock):
    @qd.perf_dispatch(get_geometry_hash=lambda: 0)
    def work(): ...

    @work.register
    def bad():
        raise ValueError("no")

    @work.register
    def good():
        clock.now += 1
        return "good"

    results = []
    for _ in range(6):
        try:
            results.append(work())
        except ValueError as error:
            results.append(str(error))
    assert results == ["no", "good", "no", "good", "good", "good"]


def test_registration_is_checked():
    @qd.perf_dispatch(get_geometry_hash=lambda a, b: 0)
    def work(a, b): ...

    with pytest.raises(qd.QuadrantsSyntaxError, match=r"PERFDISPATCH_ANNOTATION_SEQUENCE_MISMATCH.*\(a, c\).*\(a, b\)"):
        work.register(lambda a, c: 0)
    with pytest.raises(qd.QuadrantsSyntaxError, match="KERNEL_ANNOTATION_ORDER"):

        @qd.kernel
        @work.register
        def k(a: qd.i32, b: qd.i32):
            pass

    impl = work.register(lambda a, b: a + b)
    assert isinstance(impl, _perf_dispatch.DispatchImpl) and impl(1, 2) == 3
    with pytest.raises(ValueError, match="at least 1 timed round"):
        qd.perf_dispatch(get_geometry_hash=hash, active=0)
    with pytest.raises(ValueError, match="first_warmup=1, warmup=-1: numbers of rounds are not negative"):
        qd.perf_dispatch(get_geometry_hash=hash, warmup=-1)


def test_the_environment_forces(monkeypatch, capsys, caplog):
    parse = _perf_dispatch._parse_force_map
    assert parse(None) == parse("") == parse(" ? ") == {}
    assert parse(" sort : radix ,, sum:a::b, ") == {"sort": "radix", "sum": "a::b"}
    for wrong in ("sort", "sort:radix, ?", ":a", "a:"):
        with pytest.raises(ValueError, match="Malformed QD_PERFDISPATCH_FORCE entry"):
            parse(wrong)

    def reloaded(force, debug=""):
        monkeypatch.setenv("QD_PERFDISPATCH_FORCE", force)
        monkeypatch.setenv("QD_PERFDISPATCH_PRINT_DEBUG", debug)
        importlib.reload(_perf_dispatch)

        @_perf_dispatch.perf_dispatch(get_geometry_hash=lambda: 0, repeat_after_count=0)
        def work(): ...

        work.register(one)
        work.register(two)
        return [work() for _ in range(5)]

    def one():
        return 1

    def two():
        return 2

    listed = [
        "perf_dispatch 'work': registered 'one'",
        "perf_dispatch 'work': registered 'two'",
        "perf_dispatch 'work': available implementations: ['one', 'two']",
    ]
    try:
        assert reloaded("work:two, other:x") == [2] * 5
        assert capsys.readouterr().out.split("\n")[:-1] == [*listed, "perf_dispatch 'work': forced to 'two'"]
        assert reloaded("work:three")[:4] == [1, 2, 1, 2]
        assert "no implementation 'three'" in caplog.text and caplog.records[0].levelname == "WARNING"
        assert capsys.readouterr().out.split("\n")[:-1] == listed
        reloaded("?")
        assert capsys.readouterr().out.split("\n")[:-1] == listed
        reloaded("", "1")
        assert "chose '" in capsys.readouterr().out
        reloaded("")
        assert capsys.readouterr().out == ""
    finally:
        monkeypatch.undo()
        importlib.reload(_perf_dispatch)
