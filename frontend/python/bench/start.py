"""What starting takes: the import with `init`, the first kernel, and tracing by the number of statements: a table in Markdown.

    python start.py [--arch cpu|cuda|vulkan] [--repeats N]

The first two are each in a new process, with nothing kept from an earlier one. Traced are kernels whose statements depend on one
another, and kernels of many loops; what the compiler takes is not in it.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import qd

STARTED = """
import time
begin = time.perf_counter()
import qd
qd.init(arch=qd.{arch})
ready = time.perf_counter()
import numpy as np

@qd.kernel
def twice(a: qd.types.NDArray[qd.f32, 1]):
    for i in range(a.shape[0]):
        a[i] = 2 * a[i]

values = np.arange(5, dtype=np.float32)
defined = time.perf_counter()
twice(values)
done = time.perf_counter()
assert list(values) == [0, 2, 4, 6, 8]
print(ready - begin, done - defined)
"""

STRAIGHT = """
@qd.kernel
def many(a: qd.types.NDArray[qd.i32, 1]):
    for i in range(a.shape[0]):
        x = a[i]
        {}
        a[i] = x
"""

APART = """
@qd.kernel
def many(a: qd.types.NDArray[qd.i32, 1]):
    {}
"""


def started(folder, arch):
    """Seconds of the import with `init`, and of the first kernel."""
    # Kernels are read from their files.
    file = pathlib.Path(folder, "started.py")
    file.write_text(STARTED.format(arch=arch))
    environment = {**os.environ, "QD_CACHE_DIR": ""}
    run = subprocess.run([sys.executable, file], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [float(word) for word in run.stdout.split()]


def traced(folder, text, statement, separator, count):
    """Milliseconds in which a kernel of so many statements is traced."""
    file = pathlib.Path(folder, f"many_{count}.py")
    file.write_text("import qd\n" + text.format(separator.join([statement] * count)))
    names = {}
    exec(compile(file.read_text(), file, "exec"), names)
    names["many"](np.zeros(8, np.int32))
    return float(re.search(r"traced in ([\d.]+) ms", names["many"].explain()).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="cpu", help="cpu, cuda or vulkan")
    parser.add_argument("--repeats", type=int, default=9, help="runs, of which the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = [started(folder, options.arch) for _ in range(options.repeats)]
        of_import, of_kernel = (statistics.median(times) for times in zip(*runs, strict=True))
        print("| | ms | at most |\n|---|---:|---:|")
        print(f"| import and init | {1e3 * of_import:.0f} | 300 |")
        print(f"| first kernel | {1e3 * of_kernel:.0f} | 500 |")
        qd.init(arch=getattr(qd, options.arch))
        for what, text, statement, separator, most, bar in [
            ("statements of one thread", STRAIGHT, "x = x * 3 + 1", "\n        ", 10_000, 1000),
            ("loops, each a task", APART, "for i in range(a.shape[0]): a[i] += 1", "\n    ", 400, ""),
        ]:
            for count in (most // 4, most // 2, most):
                took = traced(folder, text, statement, separator, count)
                print(f"| traced: {count:,} {what} | {took:.0f} | {bar if count == most else ''} |", flush=True)


main()
