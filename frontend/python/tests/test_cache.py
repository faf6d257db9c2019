"""What one process has compiled, others find on disk."""

import linecache
import os
import subprocess
import sys

import numpy as np
import pytest

import qd

KERNEL = """
@qd.kernel
def scale(x: qd.types.ndarray(dtype=qd.i32, ndim=1), by: qd.i32):
    for i in x:
        x[i] = x[i] * by + {added}
"""
PROGRAM = """
import sys
import numpy as np
import qd

@qd.kernel
def count(x: qd.types.ndarray(dtype=qd.i32, ndim=1)):
    for i in x:
        x[i] = i

qd.init(offline_cache_file_path=sys.argv[1])
x = np.zeros(5, np.int32)
count(x)
assert x.tolist() == [0, 1, 2, 3, 4]
print(count.explain())
"""


@pytest.fixture
def ran(tmp_path):
    """Runs the kernel of a file after an `init` with these options, and returns how it was come by."""

    def run(added, folder, **options):
        path = tmp_path / "kernels.py"
        text = "import qd\n" + KERNEL.format(added=added)
        path.write_text(text)
        # A module of its own, as each process has it.
        names = {"__name__": "kernels", "__file__": str(path)}
        qd.init(qd.cfg.arch, enable_fallback=False, offline_cache_file_path=folder and os.fspath(folder), **options)
        linecache.checkcache(str(path))
        exec(compile(text, str(path), "exec"), names)
        x = np.arange(4, dtype=np.int32)
        names["scale"](x, 3)
        assert x.tolist() == [3 * i + added for i in range(4)]
        return "found in the cache" in names["scale"].explain()

    return run


def test_a_kernel_is_found_and_an_edited_one_is_not(ran, tmp_path):
    folder = tmp_path / "caches"
    assert [ran(1, folder), ran(1, folder), ran(2, folder), ran(1, folder)] == [False, True, False, True]


def test_without_a_cache_all_is_compiled(ran, tmp_path):
    folder = tmp_path / "caches"
    assert not ran(1, folder)
    assert not ran(1, folder, offline_cache=False)
    assert not ran(1, None)
    # What is checked is another kernel.
    assert not ran(1, folder, debug=True)


def test_a_damaged_entry_is_compiled_again(ran, tmp_path, caplog):
    folder = tmp_path / "caches"
    ran(1, folder)
    entries = [path for path in folder.rglob("*") if path.is_file()]
    assert entries
    for path in entries:
        path.write_bytes(path.read_bytes()[:-9])
    assert [ran(1, folder), ran(1, folder)] == [False, True]
    assert "is damaged: it is compiled again" in caplog.text


def test_a_folder_that_cannot_be_written_is_no_error(ran, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    assert not ran(1, tmp_path / "file" / "caches")
    assert "the cache cannot be" in caplog.text


@pytest.mark.host
def test_another_process_finds_it(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    folder = os.path.dirname(os.path.dirname(qd.__file__))
    environment = {**os.environ, "PYTHONPATH": folder}
    command = [sys.executable, str(path), str(tmp_path / "caches")]
    told = [subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout for _ in range(2)]
    assert ["found in the cache" in text for text in told] == [False, True]
