"""Prints of kernels."""

import numpy as np
import pytest

import qd


def test_values_and_texts(capsys):
    @qd.func
    def show(name, x):
        print(name, "is", x, sep="|", end="!\n")

    @qd.kernel
    def k(n: qd.i32, x: qd.f32, big: qd.u64, small: qd.i8, tag: qd.template()):
        print()
        print("100%", n, x)
        print(n, (x, n), (n,), big, small, n > 3, tag, 3)
        show("x", x)

    k(-7, 0.5, 2**63, -3, "tag %d")
    qd.sync()
    assert capsys.readouterr().out == (
        "\n100% -7 0.500000\n-7 (0.500000, -7) (-7,) 9223372036854775808 -3 0 tag %d 3\nx|is|0.500000!\n"
    )


def test_formats(capsys):
    width = 3

    @qd.kernel
    def k(n: qd.u32, x: qd.f64):
        print(f"{n:5d}|{n:x}|{x:.2e}|{x:+08.3f}|{x:g}|{qd.static(width):03}|{'text':>6}")

    k(3000000000, 1234.5)
    qd.sync()
    assert capsys.readouterr().out == f"3000000000|b2d05e00|1.23e+03|+1234.500|1234.5|003|{'text':>6}\n"


def test_texts_formatted_with_percent(capsys):
    width = "|%3d%%"

    @qd.kernel
    def k(n: qd.i32, x: qd.f32, unit: qd.template()):
        print("%d%% of %-5d|%06.2f%s" % (n, n, x, unit), "%s" % x, "%i %x" % (n, 255), "%s" % ((n, x),))
        print(width % n, width % 5, f"{'%+d' % n} {n}", end=".\n")

    k(42, 1.5, " %d")
    qd.sync()
    assert capsys.readouterr().out == "42% of 42   |001.50 %d 1.500000 42 ff (42, 1.500000)\n| 42% |  5% +42 42.\n"


@pytest.mark.parametrize(
    "text, carets, message",
    [
        ('"%d %d" % n', "^" * 11, "not enough arguments"),
        ('"%d" % (n, n)', "^" * 13, "not all arguments converted"),
        ('"%q" % n', "       ^", "'q' is no format of 'i32' that a kernel has"),
        ('"%.2f" % n', "         ^", "'.2f' is no format of 'i32' that a kernel has"),
    ],
)
def test_wrong_formats(module, text, carets, message):
    of = module(f"@qd.kernel\ndef k(n: qd.i32):\n    print({text})\n")
    with pytest.raises(qd.QuadrantsCompilationError) as caught:
        of.k(3)
    _, line, below, *_, said = str(caught.value).split("\n")
    assert (line, below) == (f"    print({text})", " " * 10 + carets) and message in said


def test_threads_of_a_loop_print_under_a_condition(capsys):
    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 1]):
        for i in range(a.shape[0]):
            if a[i] < 0:
                print(f"a[{i}] = {a[i]}")

    a = np.arange(10000, dtype=np.int32)
    a[[3, 999, 4242]] *= -1
    k(a)
    qd.sync()
    assert sorted(capsys.readouterr().out.split("\n")) == ["", "a[3] = -3", "a[4242] = -4242", "a[999] = -999"]
    k(abs(a))
    qd.sync()
    assert capsys.readouterr().out == ""
