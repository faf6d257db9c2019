"""Programs that people change and interrupt while they run, as in a notebook."""

import linecache
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import qd

CELL = """
{above}
@qd.func
def more(x):
    return x + {added}

@qd.kernel
def change(a: qd.types.NDArray):
    for i in a:
        {body}
"""


@pytest.fixture
def change():
    """Executes a cell, always of one name, which is no file: Python looks for its lines where notebooks put them. The kernel."""
    cell, names = "<cell 1>", {"__name__": "__main__", "qd": qd}

    def run(added=0, body="a[i] = more(a[i])", above=""):
        text = CELL.format(added=added, body=body, above=above)
        linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
        exec(compile(text, cell, "exec"), names)
        return names["change"]

    yield run
    linecache.cache.pop(cell, None)


def changed(kernel, dtype=np.int32):
    a = np.arange(3, dtype=dtype)
    kernel(a)
    return a.tolist()


def test_a_cell_that_is_run_again_is_a_new_kernel(change):
    first = change(added=5)
    assert changed(first) == [5, 6, 7]
    second = change(added=7)
    assert changed(second) == [7, 8, 9]
    assert changed(change(added=1, body="a[i] *= 2")) == [0, 2, 4]
    # An older one is as it was. Compiled for other types it has its own lines, and the function that has the name now.
    assert (changed(first), changed(second)) == ([5, 6, 7], [7, 8, 9])
    assert changed(first, np.float32) == [1, 2, 3]


@pytest.mark.parametrize(
    "body, error, message",
    [
        ("a[i] = wrong + 1", qd.QuadrantsNameError, 'Name "wrong" is not defined'),
        # Of the compiler, which knows lines and columns.
        ("if a[i] > 1: qd.simt.block.sync()", qd.QuadrantsCompilationError, "not uniform"),
    ],
)
def test_errors_show_the_line_of_the_cell_as_it_is_now(change, body, error, message):
    changed(change(added=5))
    kernel = change(body=body, above="# A line more.\n")
    with pytest.raises(error, match=rf'(?s)^File "<cell 1>", line 11, in change:\n *{re.escape(body)}\n *\^+\n.*{message}'):
        changed(kernel)
    assert changed(change(added=1)) == [1, 2, 3]


PROGRAM = """
import signal
from time import monotonic
import qd

@qd.kernel
def count(a: qd.types.NDArray[qd.i32, 1], rounds: qd.i32) -> qd.u32:
    x, done = qd.u32(1), 0
    while done < rounds:
        x = x * 1664525 + 1013904223
        done += 1
    for i in a:
        a[i] += 1
    return x

@qd.kernel
def total(a: qd.types.NDArray[qd.i32, 1]) -> qd.i32:
    s = 0
    for i in a:
        s += a[i]
    return s

# What starts in the background of a shell ignores interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
qd.init(enable_fallback=False)
a = qd.ndarray(qd.i32, 4)
a.fill(0)
count(a, 0)
calls, end = 1, monotonic() + 20
try:
    while monotonic() < end:
        # Tens of milliseconds: an interrupt comes during a launch.
        count(a, 2**24)
        calls += 1
        if calls == 3:
            print("begun", flush=True)
    print("not interrupted")
except KeyboardInterrupt:
    # The launch has ended, and is not counted.
    values = a.to_numpy().tolist()
    assert values in ([calls] * 4, [calls + 1] * 4), (values, calls)
    count(a, 0)
    assert total(a) == sum(values) + 4
    qd.init(enable_fallback=False)
    b = qd.ndarray(qd.i32, 2)
    b.fill(3)
    count(b, 0)
    assert total(b) == 8
    print("goes on")
"""


# A launch of the oracle takes minutes.
@pytest.mark.host
def test_interrupts_act_between_launches(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(qd.__file__))}
    with subprocess.Popen([sys.executable, str(path)], env=environment, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "begun\n"
        # Not while it prints.
        time.sleep(0.1)
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=120)[0] == "goes on\n"
    assert program.returncode == 0
