"""What type checkers are told."""

import __future__
import importlib
import inspect
import os
import pathlib
import re
import sys

import pytest

import qd
from qd import _core

PACKAGE = pathlib.Path(qd.__file__).parent
DISTRIBUTION = pathlib.Path(__file__).parents[2] / "quadrants"


def told(value):
    """The parameters of a function, and the members of a class."""
    if isinstance(value, type):
        made = [value] if "__new__" in vars(value) and not issubclass(value, Exception) else []
        members = {name: told(each) for name, each in vars(value).items() if not name.startswith("_")}
        return value.__base__.__name__, [told_of_call(each) for each in made], members
    return told_of_call(value) if callable(value) else "property"


def told_of_call(value):
    return [(each.name, each.default) for each in inspect.signature(value).parameters.values()]


def test_the_stub_is_what_the_extension_has():
    stub = {"__name__": "stub"}
    text = (PACKAGE / "_core.pyi").read_text()
    exec(compile(text, "_core.pyi", "exec", __future__.annotations.compiler_flag), stub)
    of_stub = {name: told(each) for name, each in stub.items() if getattr(each, "__module__", None) == "stub"}
    assert of_stub == {name: told(each) for name, each in vars(_core).items() if not name.startswith("__")}


PROGRAM = """
@qd.func
def add(op: qd.Template, a: int, b: int) -> int:
    return op(a, b)

@qd.pyfunc
def half(a: float) -> float:
    return a / 2

@qd.kernel
def scaled(a: qd.types.NDArray[qd.f32, 1], by: qd.i32, plus: float = 0) -> tuple[qd.i32, qd.f32]:
    for i in range(a.shape[0]):
        qd.atomic_add(a[i], by * qd.math.popcnt(by) * qd.simt.subgroup.reduce_add(a[i]))
    return add(max, by, 1), half(plus)

@qd.data_oriented
class Box:
    @qd.kernel
    def run(self, n: int) -> int:
        return self.twice(n)

    @qd.func(requires_top_level=True)
    def twice(self, n: int) -> int:
        return 2 * n

@qd.kernel
def either(a: qd.Tensor, n: int) -> None: ...

either(qd.ndarray(qd.i32, 3), 1)

@qd.perf_dispatch(get_geometry_hash=lambda a, n: 0)
def work(a: qd.types.NDArray[qd.f32, 1], n: int) -> None: ...

@work.register(is_compatible=lambda a, n: n > 1)
@qd.kernel
def implementation(a: qd.types.NDArray[qd.f32, 1], n: int) -> None: ...

@work.register
def python(a: qd.types.NDArray[qd.f32, 1], n: int) -> None: ...

x = qd.ndarray(qd.f32, 4)
first, second = scaled(x, by=2, plus=1.0)
qd.i32(first), qd.f32(second), x.to_numpy(), scaled.explain().upper()
work(x, Box().run(3))

scaled(x)  # Missing positional argument "by"
scaled(x, "2")  # incompatible type "str"; expected "int"
scaled(x, 2, speed=3)  # Unexpected keyword argument "speed"
scaled(x, 2).append  # "tuple[int, float]" has no attribute "append"
half("1")  # incompatible type "str"; expected "float"
Box().run("3")  # incompatible type "str"; expected "int"
work(x)  # Missing positional argument "n"
add(max, 1)  # Missing positional argument "b"
python(x)  # Missing positional argument "n"
implementation(n=1)  # Missing positional argument "a"
work.register(half)  # incompatible type "PyFunc[[float], float]"
"""


@pytest.mark.parametrize("imported", ["qd", "quadrants as qd"])
def test_signatures_are_kept(imported, tmp_path, monkeypatch):
    pytest.importorskip("mypy.version", minversion="1.8")
    from mypy import api

    (tmp_path / "program.py").write_text(f"import {imported}\n" + PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MYPYPATH", os.pathsep.join(map(str, (PACKAGE.parent, DISTRIBUTION))))
    found, _, _ = api.run(["--follow-imports=silent", "program.py"])
    wanted = [(number, said) for number, line in enumerate(PROGRAM.split("\n"), 2) if (said := line.partition("  # ")[2])]
    errors = re.findall(r"^program\.py:(\d+): error: (.*)$", found, re.MULTILINE)
    assert [int(number) for number, _ in errors] == [number for number, _ in wanted], found
    for (_, error), (_, said) in zip(errors, wanted):
        assert said in error


def modules_of_stubs():
    """The modules that the distribution tells type checkers of, and where the stub of each has its names from."""
    folder = DISTRIBUTION / "quadrants"
    for stub in folder.rglob("*.pyi"):
        parts = stub.relative_to(folder).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        source = re.search(r"^from (qd\.\w+) import \*$", stub.read_text(), re.MULTILINE)
        if name:
            yield f"qd.{name}", source and source[1]


def test_stubs_are_of_the_modules_that_there_are():
    stubs = dict(modules_of_stubs())
    for name, source in stubs.items():
        assert source is None or importlib.import_module(name) is importlib.import_module(source), name
    aliases = {name for name in sys.modules if re.match(r"qd\.(lang|_lib|types|simt|algorithms)(\.|$)", name)}
    assert aliases <= set(stubs)


def test_modules_are_found(tmp_path, monkeypatch):
    pytest.importorskip("mypy.version", minversion="1.8")
    from mypy import api

    names = [name.replace("qd.", "quadrants.", 1) for name, _ in modules_of_stubs()]
    lines = ["from quadrants.lang.impl import current_cfg", "from quadrants._lib.core import data_type_size", "current_cfg(1)", "data_type_size()", *(f"import {name}" for name in names)]
    (tmp_path / "program.py").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MYPYPATH", os.pathsep.join(map(str, (PACKAGE.parent, DISTRIBUTION))))
    found, _, _ = api.run(["--follow-imports=silent", "program.py"])
    assert re.findall(r"^program\.py:(\d+): error: (Too many|Missing)", found, re.MULTILINE) == [("3", "Too many"), ("4", "Missing")], found
    assert found.count("error:") == 2, found
