"""What kernels take: `qd.profiler`."""

import json

import numpy as np
import pytest

import qd


@pytest.fixture
def profiled():
    qd.init(enable_fallback=False, kernel_profiler=True)


I32 = qd.types.NDArray[qd.i32, 1]


@qd.kernel
def steps(a: I32, n: qd.types.NDArray[qd.i32, 0]):
    qd.loop_config(name="fill")
    for i in a:
        a[i] = i
    qd.loop_config(name="some", block_dim=64)
    for i in range(n[()]):
        a[i] += 1
    for i in a:
        a[i] *= 2


def test_tasks_are_timed_by_their_names(profiled, capsys):
    a, n = np.zeros(1000, np.int32), np.array(10, np.int32)
    for _ in range(3):
        steps(a, n)
    qd.profiler.print_kernel_profiler_info()
    rows = [row.split() for row in capsys.readouterr().out.splitlines()[1:]]
    names = {row[-1] for row in rows}
    assert {"fill", "some"} < names and all(name.startswith("steps:") for name in names - {"fill", "some"})
    assert all(row[2] == "3" for row in rows)
    totals = [float(row[1]) for row in rows]
    assert totals == sorted(totals, reverse=True)
    fill = qd.profiler.query_kernel_profiler_info("fill")
    assert fill.counter == 3 and 0 <= fill.min <= fill.avg <= fill.max <= fill.total
    whole = qd.profiler.query_kernel_profiler_info("steps")
    assert whole.counter == 3 * len(names)
    np.testing.assert_allclose(whole.total, 1e3 * qd.profiler.get_kernel_profiler_total_time())
    assert qd.profiler.query_kernel_profiler_info("no such").counter == 0
    qd.profiler.print_kernel_profiler_info("trace")
    assert len(capsys.readouterr().out.splitlines()) == 1 + whole.counter
    qd.profiler.clear_kernel_profiler_info()
    assert qd.profiler.spans() == []
    steps(a, n)
    assert qd.profiler.query_kernel_profiler_info("fill").counter == 1


def test_tasks_lie_in_their_calls_in_a_trace(profiled, tmp_path):
    a, n = np.zeros(1000, np.int32), np.array(10, np.int32)
    for _ in range(2):
        steps(a, n)
    file = tmp_path / "trace.json"
    qd.profiler.write_trace(file)
    events = [event for event in json.loads(file.read_text())["traceEvents"] if event["ph"] == "X"]
    calls = [event for event in events if event["name"] == "steps"]
    assert len(calls) == 2
    tasks = [event for event in events if event["args"].get("kernel") == "steps"]
    assert [event["name"] for event in tasks].count("fill") == 2
    for task in tasks:
        inside = [call for call in calls if call["ts"] <= task["ts"] and task["ts"] + task["dur"] <= call["ts"] + call["dur"] + 1]
        assert len(inside) == 1 and inside[0]["tid"] == task["tid"]


def test_nothing_is_timed_unless_it_is_asked_for():
    with pytest.raises(qd.QuadrantsRuntimeError, match=r"kernel_profiler=True"):
        qd.profiler.spans()
    with pytest.raises(ValueError, match="'count' or 'trace'"):
        qd.profiler.print_kernel_profiler_info("table")


def test_another_init_begins_anew(profiled):
    steps(np.zeros(10, np.int32), np.array(1, np.int32))
    assert qd.profiler.spans()
    qd.init(enable_fallback=False, kernel_profiler=True)
    assert qd.profiler.spans() == []


def test_names_of_loops_are_texts(module):
    program = module("@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32]):\n    qd.loop_config(name=3)\n    for i in a: a[i] = 1\n")
    with pytest.raises(qd.QuadrantsCompilationError, match=r"(?s)\^.*name is a text, and not 3"):
        program.k(np.zeros(3, np.int32))
