"""Programs that import `quadrants`."""

import os
import pathlib
import subprocess
import sys

import pytest

import qd

DISTRIBUTION = pathlib.Path(__file__).parents[2] / "quadrants"


def run(program, *path):
    """What a program prints, in a process of its own."""
    here = pathlib.Path(qd.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, here)))}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr.strip().rpartition("\n")[2]


SAME = """
import quadrants
import quadrants.math, quadrants.types as types
from quadrants import exception
from quadrants.lang.simt import subgroup
import quadrants.simt.subgroup as known
import quadrants.lang.exception
import quadrants._lib.core, quadrants.algorithms._reduce, quadrants.types.annotations
from quadrants.lang import impl
import sys, qd
print(quadrants is qd, quadrants.math is qd.math, types is qd.types, exception is qd.exception)
print(qd.__spec__.name, qd.math.__spec__.name, sys.modules["quadrants.math"] is sys.modules["qd.math"])
print(subgroup is known is qd.simt.subgroup, quadrants.lang.exception is qd.exception)
print(impl is quadrants.lang.impl is qd.lang.impl, qd._lib.__spec__.name)
"""


@pytest.mark.parametrize(
    "before, path",
    [("", [DISTRIBUTION]), ("import qd; qd.install_as_quadrants(); qd.install_as_quadrants()\n", [])],
    ids=["distribution", "call"],
)
def test_both_names_are_the_same_modules(before, path):
    assert run(before + SAME, *path) == "True True True True\nqd qd.math True\nTrue True\nTrue qd._lib\n"


def test_it_is_opt_in():
    assert run("import qd, quadrants") == "ModuleNotFoundError: No module named 'quadrants'"


def test_another_one_is_not_replaced(tmp_path):
    (tmp_path / "quadrants.py").write_text("mine = 1")
    program = "import quadrants, qd\nqd.install_as_quadrants()"
    assert run(program, tmp_path).startswith("ImportError: another 'quadrants' is loaded already, from ")


def test_what_is_not_there_is_named_as_it_was_asked_for():
    asked = "import quadrants.nothing"
    assert run(asked, DISTRIBUTION) == "ModuleNotFoundError: No module named 'quadrants.nothing'"
