"""What is wrong is said with its place."""

import copy
import logging
import pickle
import traceback
import warnings

import numpy as np
import pytest

import qd


def fails(module, kind, body, message, marked, call=(), takes="a: qd.types.NDArray[qd.f32, 1], n: qd.i32", gives=""):
    """That a kernel is refused, and which part of which line carets mark."""
    text = f"@qd.kernel\ndef k({takes}){gives}:\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    kernel = module(text).k
    with pytest.raises(kind) as caught:
        kernel(*(call or (np.zeros(4, np.float32), 3)))
    assert type(caught.value) is kind
    assert caught.value.__cause__ is None
    place, line, carets, *rest = str(caught.value).split("\n")
    # The import, the decorator and the signature are before it.
    number = next(i for i, each in enumerate(("import qd\n" + text).split("\n")) if each == line) + 1
    assert place == f'File "{kernel.source.file}", line {number}, in k:'
    assert line[carets.index("^") : carets.rindex("^") + 1] == marked
    assert message in "\n".join(rest)


CASES = [
    (qd.QuadrantsNameError, "if n > 1:\n    m = n\na[0] = m", 'Name "m" is not defined', "m"),
    (qd.QuadrantsNameError, "a[0] = qd.sine(a[0])", "no attribute 'sine'", "qd.sine"),
    (qd.QuadrantsTypeError, "a[0] = n(2)", "a value of type 'i32' is not callable", "n(2)"),
    (qd.QuadrantsTypeError, "a[0] = a(2)", "'Array' is not callable", "a(2)"),
    (qd.QuadrantsSyntaxError, "a[0] = (lambda: n)()", 'Unsupported node "Lambda"', "lambda: n"),
    (qd.QuadrantsNameError, "for i in range(n):\n    a[i] = b + 1", 'Name "b" is not defined', "b"),
    (qd.QuadrantsTypeError, "for i in range(n):\n    a[i] = a[i] & i", "unsupported operand type(s) for '&': 'f32' and 'i32'", "a[i] & i"),
    (qd.QuadrantsTypeError, "for i in range(n):\n    a[i] = ~a[i]", "'bit_not' takes integral inputs only, however 'f32' is provided", "~a[i]"),
    (qd.QuadrantsTypeError, "for i in range(n):\n    a[i] = not a[i]", "'logic_not' takes integral inputs only, however 'f32' is provided", "not a[i]"),
    (qd.QuadrantsTypeError, "a[0] = qd.sin(n)", "'sin' takes real inputs only", "qd.sin(n)"),
    (qd.QuadrantsTypeError, "a[0] = qd.sin(2)", "'sin' takes real inputs only, however 'i32' is provided", "qd.sin(2)"),
    (qd.QuadrantsTypeError, "a[0] = qd.math.floor(n)", "'floor' takes real inputs only, however 'i32' is provided", "qd.math.floor(n)"),
    (qd.QuadrantsTypeError, "n = qd.math.popcnt(a[0])", "'popcnt' takes integral inputs only, however 'f32' is provided", "qd.math.popcnt(a[0])"),
    (qd.QuadrantsTypeError, "m = 1\nm += qd.clz(1.5)", "'clz' takes integral inputs only, however 'f32' is provided", "qd.clz(1.5)"),
    (qd.QuadrantsTypeError, "a[0] = qd.bit_cast(n, qd.f64)", "bit_cast is between types of one width, and not from 'i32' to 'f64'", "qd.bit_cast(n, qd.f64)"),
    (qd.QuadrantsTypeError, "a[0] = qd.bit_cast(qd.u8(n), qd.f32)", "and not from 'u8' to 'f32'", "qd.bit_cast(qd.u8(n), qd.f32)"),
    (qd.QuadrantsTypeError, "a[0] = qd.i32(0.5)", "literals must be annotated with", "qd.i32(0.5)"),
    (qd.QuadrantsTypeError, "a[0] = qd.f32(0)", "literals must be annotated with", "qd.f32(0)"),
    (qd.QuadrantsCompilationError, "a[0] = 9 ** 9 ** 9", "the result of '**' has more than 4096 bits", "9"),
    (qd.QuadrantsCompilationError, "a[0] = 1 << 10 ** 9", "the result of '<<' has more than 4096 bits", "9"),
    (qd.QuadrantsTypeError, "a[0] = 3000000000", "exceeded the range of default_ip", "3000000000"),
    (qd.QuadrantsTypeError, "a[0] = qd.u8(256)", "exceeded the range of specified dtype", "qd.u8(256)"),
    (qd.QuadrantsTypeError, "a[a[0]] = 1", "an index is an integer", "a[a[0]]"),
    (qd.QuadrantsTypeError, "a[0] |= 1", "requires integer operands", "a[0] |= 1"),
    (qd.QuadrantsIndexError, "a[0, 1] = 1", "an array of 1 dimension takes as many indices", "a[0, 1]"),
    (qd.QuadrantsSyntaxError, "n = 4", 'Kernel argument "n" is immutable in the kernel', "n"),
    (qd.QuadrantsSyntaxError, "n += 4", 'Kernel argument "n" is immutable in the kernel', "n"),
    (qd.QuadrantsSyntaxError, "a += 4", 'Kernel argument "a" is immutable in the kernel', "a"),
    (qd.QuadrantsSyntaxError, "t += 4", 'Kernel argument "t" is immutable in the kernel', "t", (3,), "t: qd.template()"),
    (qd.QuadrantsCompilationError, "x, *y = n, n", "the values that are left isn't there yet", "*y"),
    (qd.QuadrantsSyntaxError, "[x, y] = n", "2 names take as many values, and not 1", "[x, y]"),
    (qd.QuadrantsSyntaxError, "x, y = n, 1, 2", "2 names take as many values, and not 3", "x, y"),
    (qd.QuadrantsTypeError, "t = n, 1\nt = n, 1, 2", "'t' is a tuple of 2 values already", "n, 1, 2"),
    (qd.QuadrantsTypeError, "t = n, 1\nt = 2", "'t' is a tuple of 2 values already", "t"),
    (qd.QuadrantsTypeError, "t = n, 1\nt += 2", "'t' is a tuple of 2 values already", "t"),
    (qd.QuadrantsTypeError, "t = ()\nt = n, 1", "'t' is a tuple of 0 values already", "t"),
    (qd.QuadrantsCompilationError, "s = n, 1\nm = n > 1 and (t := s)[0] > 1", "':=' of a tuple that is not written out, where it may be", "t"),
    (qd.QuadrantsTypeError, "m = (t := (n, 1))[0] + (t := (n, 1, 2))[0]", "'t' is a tuple of 2 values already", "(n, 1, 2)"),
    (qd.QuadrantsTypeError, "m = (t := (n, 1))[0] + (t := n)", "'t' is a tuple of 2 values already", "t"),
    (qd.QuadrantsTypeError, "m = (t := a)[0]", "an array is no scalar", "a"),
    (qd.QuadrantsNameError, "m = t[0] + (t := (n, 1))[0]", 'Name "t" is not defined', "t"),
    (qd.QuadrantsSyntaxError, "t = 3, 4", 'Kernel argument "t" is immutable in the kernel', "t", ((1, 2),), "t: qd.template()"),
    (qd.QuadrantsTypeError, "t = (n, 1) if n > 1 else (n, 1, 2)", "a choice is of tuples of as many values", "(n, 1) if n > 1 else (n, 1, 2)"),
    (qd.QuadrantsTypeError, "t = n\nt = n, 2", "'t' is a scalar, and no tuple, already", "n, 2"),
    (qd.QuadrantsTypeError, "t = n, 1\nt[0] = 2", "elements of a tuple are not assigned", "t[0]"),
    (qd.QuadrantsIndexError, "t = n, 1\nqd.atomic_add(t[2], 1)", "tuple index out of range", "t[2]"),
    (qd.QuadrantsCompilationError, "t = n, 1\nqd.atomic_add(t[n], 1)", "an index that is computed, of a tuple, isn't there yet", "t[n]"),
    (qd.QuadrantsSyntaxError, "t = n, 1\nqd.atomic_add(t, 1)", "cannot use a non-writable target", "t"),
    (qd.QuadrantsSyntaxError, "t = n, (1, 2)\nqd.atomic_add(t[1], 1)", "cannot use a non-writable target", "t[1]"),
    (qd.QuadrantsSyntaxError, "t = n, qd.i32\nqd.atomic_add(t[1], 1)", "cannot use a non-writable target", "t[1]"),
    (qd.QuadrantsTypeError, "n[0] = 2", "'i32' is a scalar, and has no elements", "n[0]"),
    (qd.QuadrantsTypeError, "x = 1.5\nn = x[0]", "'f32' is a scalar, and has no elements", "x[0]"),
    (qd.QuadrantsTypeError, "t[0] = 2", "'int' is a scalar, and has no elements", "t[0]", (3,), "t: qd.template()"),
    (qd.QuadrantsTypeError, "a[0] = None", "'NoneType' is no type of a value that a kernel computes with", "None"),
    (qd.QuadrantsTypeError, "a[0] = n + 'x'", "'str' is no type of a value that a kernel computes with", "'x'"),
    (qd.QuadrantsSyntaxError, "t = n + 1, a[0]\nt = t\nfor i in qd.static(t):\n    pass", "is not known while tracing", "t"),
    (qd.QuadrantsTypeError, "x = n\nx: qd.f32 = 2.5", "'x' is of type 'i32' already", "qd.f32"),
    (qd.QuadrantsTypeError, "x: float = n\nfor i in range(n):\n    x: 'qd.f64' = 2.5", "'x' is of type 'f32' already", "'qd.f64'"),
    (qd.QuadrantsNameError, "qd.atomic_add(missing, 1)", 'Name "missing" is not defined', "missing"),
    (qd.QuadrantsTypeError, "x = a[0]\nqd.atomic_or(x, 1)", "requires integer operands", "qd.atomic_or(x, 1)"),
    (qd.QuadrantsTypeError, "x = a[0]\nqd.atomic_cas(x, 1.0, 2.0)", "requires integer operands", "qd.atomic_cas(x, 1.0, 2.0)"),
    (qd.QuadrantsTypeError, "a[0] = qd.cast(a[0], n)", "a type is expected", "n"),
    (qd.QuadrantsTypeError, "a[0] = qd.cast(n, to=qd.f32)", "'qd.cast' takes no keyword 'to': its parameters are x, dtype", "to=qd.f32"),
    (qd.QuadrantsTypeError, "a[0] = qd.sqrt(a[0], **n)", "'qd.sqrt' takes no '**': its parameters are x", "**n"),
    (qd.QuadrantsTypeError, "a[0] = qd.select(n, 1, x1=2)", "'x1' is given twice", "x1=2"),
    (qd.QuadrantsTypeError, "a[0] = qd.select(n, x2=2)", "'qd.select' takes 3 arguments, and not 2", "qd.select(n, x2=2)"),
    (qd.QuadrantsTypeError, "a[0] = abs(n, 2)", "'abs' takes 1 argument, and not 2", "abs(n, 2)"),
    (qd.QuadrantsTypeError, "a[0] = max(*n)", "'*' is for what has values that are known while tracing", "*n"),
    (qd.QuadrantsTypeError, "a[0] = qd.math.clamp(*a)", "'*' is for what has values that are known while tracing", "*a"),
    (qd.QuadrantsTypeError, "a[0] = qd.simt.subgroup.shuffle(*None)", "'*' is for what has values that are known while tracing", "*None"),
    (qd.QuadrantsNameError, "if qd.static(missing):\n    a[0] = 1", 'Name "missing" is not defined', "qd.static(missing)"),
    (qd.QuadrantsTypeError, "a[0] = max(n, 1, key=n)", "'max' takes no keywords", "key=n"),
    (qd.QuadrantsTypeError, "a[0] = qd.f32(x=n)", "takes no keywords", "x=n"),
    (qd.QuadrantsNameError, "a[(i := 2)] = i + 5.0", 'Name "i" is not defined', "i"),
    (qd.QuadrantsTypeError, "for i, j in qd.static(qd.ndrange(2, 2.5)):\n    pass", "a dimension is an integer", "qd.static(qd.ndrange(2, 2.5))"),
    (qd.QuadrantsSyntaxError, "for i in range(1, n, 2):\n    pass", "Range should have 1 or 2 arguments", "range(1, n, 2)"),
    (qd.QuadrantsSyntaxError, "for i in range(n):\n    for i in range(n):\n        pass", "already declared in the outer scope", "i"),
    (qd.QuadrantsSyntaxError, "a[0] = n is n", "in Quadrants scope is not supported", "n is n"),
    (qd.QuadrantsSyntaxError, "a[0] = n in (1, 2)", "in Quadrants scope is not supported", "n in (1, 2)"),
    (qd.QuadrantsSyntaxError, "raise ValueError", 'Unsupported node "Raise"', "raise ValueError"),
    (qd.QuadrantsSyntaxError, "if n > 1:\n    def f(x): return x", 'Unsupported node "FunctionDef"', "def f(x): return x"),
    (qd.QuadrantsSyntaxError, "m = n\ntry:\n    m = 1\nfinally:\n    pass", 'Unsupported node "Try"', "try:"),
    (qd.QuadrantsSyntaxError, "for i in range(n):\n    break", "Cannot break out of a parallel loop", "break"),
    (qd.QuadrantsSyntaxError, "for i in range(n):\n    if i > 1:\n        break", "Cannot break out of a parallel loop", "break"),
    (qd.QuadrantsSyntaxError, "for i in qd.static(range(3)):\n    if n > i:\n        break\n    a[i] = 1", "Cannot break an unrolled loop under an if", "break"),
    (qd.QuadrantsSyntaxError, "for i in qd.static(range(3)):\n    if n > i:\n        continue\n    a[i] = 1", "Cannot continue an unrolled loop under an if", "continue"),
    (qd.QuadrantsSyntaxError, "if n > 1:\n    return", "Return inside non-static if/for is not supported", "return"),
    (qd.QuadrantsSyntaxError, "return n", "must be annotated with a return type", "return n"),
    (qd.QuadrantsSyntaxError, "while n > 3:\n    pass\nelse:\n    a[0] = 1", "'else' of a loop", "a[0] = 1"),
    (qd.QuadrantsSyntaxError, "for i in range(n):\n    pass\nelse:\n    a[0] = 1", "'else' of a loop", "a[0] = 1"),
    (qd.QuadrantsSyntaxError, "for i in qd.static(range(3)):\n    pass\nelse:\n    a[0] = 1", "'else' of a loop", "a[0] = 1"),
    (qd.QuadrantsSyntaxError, "if n > 1:\n    for i in range(n):\n        pass\n    else:\n        a[0] = 1", "'else' of a loop", "a[0] = 1"),
    (qd.QuadrantsSyntaxError, "qd.atomic_add(a, 1)", "'atomic_add' does not take an array or Field directly", "a"),
    (qd.QuadrantsSyntaxError, "qd.atomic_cas(a, 1, 2)", "'atomic_cas' does not take an array or Field directly", "a"),
    (qd.QuadrantsSyntaxError, "n = qd.volatile_load(a)", "'volatile_load' does not take an array or Field directly", "a"),
    (qd.QuadrantsSyntaxError, "n = qd.volatile_load(a[0] + 1)", "volatile_load takes an lvalue", "a[0] + 1"),
    (qd.QuadrantsSyntaxError, "qd.atomic_add(n, 1)", "cannot use a non-writable target as the first operand of 'atomic_add'", "n"),
    (qd.QuadrantsTypeError, "qd.atomic_cas(a[0], 1, 2)", "requires integer operands", "qd.atomic_cas(a[0], 1, 2)"),
    (qd.QuadrantsTypeError, "qd.atomic_xor(a[0], 1)", "requires integer operands", "qd.atomic_xor(a[0], 1)"),
    (qd.QuadrantsCompilationError, "for i in (1, n):\n    pass", "isn't there yet", "(1, n)"),
    (qd.QuadrantsCompilationError, "print(n, file=n)", "'file' of print in a kernel isn't there yet", "n"),
    (qd.QuadrantsTypeError, "print(f'{n:.2e}')", "'.2e' is no format of 'i32'", "n"),
    (qd.QuadrantsSyntaxError, "qd.static_assert(n != 3)", "not known while tracing", "qd.static_assert(n != 3)"),
    (qd.QuadrantsCompilationError, "qd.loop_config(block_dim=n)\nfor i in a:\n    pass", "not a value of the kernel, 'i32'", "qd.loop_config(block_dim=n)"),
    (qd.QuadrantsCompilationError, "a[0] = a[1:2]", "isn't there yet", "1:2"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1].split("\n")[-1].strip())
def test_errors_have_a_line_and_carets(module, case):
    fails(module, *case)


def test_names_that_are_assigned_are_not_of_the_surroundings(module):
    text = "m = 5\n@qd.kernel\ndef k(n: qd.i32) -> qd.i32:\n    if n > 1:\n        m = n\n    return m\n"
    with pytest.raises(qd.QuadrantsNameError, match='Name "m" is not defined'):
        module(text).k(0)


@pytest.mark.parametrize(
    "asks", ["n == 3", "not n", "bool(n)", "n in (1, 3)", "n > 3", "range(n)", "a[0] > 0", "range(a.shape[0])", "a.shape[0] != 2", "a.shape[0]"]
)
def test_static_of_what_the_kernel_computes(module, asks):
    fails(module, qd.QuadrantsSyntaxError, f"x = qd.static({asks})", "not known while tracing", f"qd.static({asks})")


def test_static_of_what_is_known_of_values(module):
    text = "@qd.kernel\ndef k(x: qd.f64) -> qd.i32:\n    return 1 if qd.static(x is not None and x.dtype == qd.f64) else 0\n"
    assert module(text).k(0.5) == 1
    text = "@qd.kernel\ndef k() -> qd.i32:\n    i = 1\n    i += 1\n    return qd.static(sum(i * i for i in range(4))) + i\n"
    assert module(text).k() == 16


def test_static_of_numbers_that_are_arguments(module):
    text = "@qd.data_oriented(template_primitives=False)\nclass C:\n    n = 3\n    def __init__(self): self.m = 3\n"
    text += "    @qd.kernel\n    def k(self) -> qd.i32:\n        return 1 if qd.static(self.m == self.n) else 0\n"
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"qd.static\(self.m == self.n\)(.|\n)*\^(.|\n)*not known while tracing"):
        module(text).C().k()


RECURSIVE = """
@qd.func
def f(x):
    return g(x)

@qd.func
def g(x):
    return f(x) + 1

@qd.kernel
def k(n: qd.i32) -> qd.i32:
    return f(n)
"""


def test_recursion_is_marked_with_the_calls_that_led_there(module):
    kernel = module(RECURSIVE).k
    with pytest.raises(qd.QuadrantsCompilationError) as caught:
        kernel(1)
    file, text = kernel.source.file, str(caught.value)
    assert text.split("\n") == [
        f'File "{file}", line 9, in g:', "    return f(x) + 1", "           ^^^^",
        f'called from File "{file}", line 5, in f:', "    return g(x)", "           ^^^^",
        f'called from File "{file}", line 13, in k:', "    return f(n)", "           ^^^^",
        "functions are inlined, and cannot call themselves: f calls g calls f",
    ]  # fmt: skip


def test_symbolic_values_of_math(module):
    text = "import math\n@qd.kernel\ndef k(x: qd.f32) -> qd.f32:\n    return math.sin(x) + math.sqrt(4.0) * math.pi\n"
    with pytest.raises(qd.QuadrantsTypeError, match="qd.sin"):
        module(text).k(1.0)


def test_errors_are_of_the_builtin_classes():
    builtin = {"Syntax": SyntaxError, "Name": NameError, "Index": IndexError, "Type": TypeError, "StaticAssertion": AssertionError}
    for name, of_python in builtin.items():
        kind = getattr(qd, f"Quadrants{name}Error")
        assert issubclass(kind, qd.QuadrantsCompilationError) and issubclass(kind, of_python)
    assert issubclass(qd.QuadrantsRuntimeTypeError, (qd.QuadrantsRuntimeError, TypeError))
    assert not issubclass(qd.QuadrantsRuntimeError, qd.QuadrantsCompilationError)


def test_other_errors_while_tracing(module):
    text = "T = {}\n@qd.kernel\ndef k() -> qd.i32:\n    return T['no']\n"
    with pytest.raises(qd.QuadrantsCompilationError, match="line 5, in k(.|\n)*KeyError: 'no'"):
        module(text).k()
    qd.init(print_full_traceback=True)
    with pytest.raises(KeyError):
        module(text).k()


def test_tracebacks_have_no_frames_of_the_tracer(module):
    program = module("""
@qd.kernel
def wrong(n: qd.i32):
    missing

@qd.kernel
def fine(n: qd.i32):
    assert n > 0

@qd.data_oriented
class C:
    @qd.kernel
    def wrong(self):
        missing
""")
    qd.init(enable_fallback=False, debug=True)

    def frames(call, *args):
        with pytest.raises((qd.QuadrantsCompilationError, qd.QuadrantsRuntimeError)) as caught:
            call(*args)
        assert caught.value.__cause__ is None and (caught.value.__context__ is None or caught.value.__suppress_context__)
        return [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][1:]

    program.fine(1)
    for call, args in [(program.wrong, (3,)), (program.fine, ()), (program.fine, ("x",)), (program.fine, (0,))]:
        assert frames(call, *args) == ["__call__"]
    assert frames(program.C().wrong) == ["__call__", "__call__"]
    qd.init(enable_fallback=False, print_full_traceback=True)
    assert "trace" in frames(program.wrong, 3)


def test_arguments_of_wrong_types(module):
    k = module("@qd.kernel\ndef k(a: qd.types.NDArray[qd.f32, 1], n: qd.u8):\n    a[0] = n\n").k
    x = np.zeros(1, np.float32)
    for number, arguments in [(0, (x.astype(np.float64), 1)), (0, ([1.0], 1)), (0, (x.reshape(1, 1), 1)), (1, (x, 256)),
                              (1, (x, 1.5)), (1, (x, "1")), (1, (x, None)), (1, (x, np.ones(1, np.uint8))),
                              (1, (x, np.ones((1, 1), np.uint8))), (1, (x, qd.field(qd.u8, ())))]:  # fmt: skip
        with pytest.raises(qd.QuadrantsRuntimeTypeError, match=rf"Argument {number} \(type=.*\) cannot be converted into required type"):
            k(*arguments)
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match="required type u1"):
        module("@qd.kernel\ndef k(p: qd.u1): pass\n").k("no")
    with pytest.raises(TypeError, match="k: missing a required argument"):
        k(x)


@pytest.mark.parametrize("takes", ["n", "m: qd.i32 = 1, *, n", "n, /"])
def test_parameters_without_a_type(module, takes):
    kernel = module(f"@qd.kernel\ndef k({takes}):\n    pass\n").k
    with pytest.raises(qd.QuadrantsSyntaxError, match='line 3, in k:\n(.|\n)*"n" must be annotated') as caught:
        kernel()
    line, carets = str(caught.value).split("\n")[1:3]
    assert line[carets.index("^") :].rstrip("/),: ") == "n"


@pytest.mark.parametrize("takes", ["*n: qd.i32", "**n: qd.i32"])
def test_any_number_of_parameters(module, takes):
    with pytest.raises(qd.QuadrantsSyntaxError, match=r'\^(.|\n)*fixed number of parameters: "n"'):
        module(f"@qd.kernel\ndef k({takes}):\n    pass\n").k()


def test_bounds_that_are_not_i32_warn(module):
    k = module("@qd.kernel\ndef k(n: qd.i64, a: qd.types.NDArray[qd.i32]):\n    for i in range(n): a[i] = i\n").k
    a = np.zeros(3, np.int32)
    with pytest.warns(UserWarning, match="'i64' is cast to i32"):
        k(3, a)
    assert a.tolist() == [0, 1, 2]


@pytest.mark.parametrize("bounds", ["x", "1.9, x", "-1.5, n", "qd.f32(n) / 2", "2.5", "True, 3.99", "2 ** 31 - 5, 1e20", "qd.math.nan, n"])
@pytest.mark.parametrize("outer", ["if qd.static(True):", "for _ in range(1):"])
def test_real_bounds_are_cast_and_warn(module, bounds, outer):
    k = module(
        "@qd.kernel\ndef k(x: qd.f32, n: qd.i32) -> (qd.i32, qd.i32):\n    rounds, sum = 0, 0\n"
        f"    {outer}\n        for i in range({bounds}):\n            rounds += 1\n            sum += i % 10\n"
        "    return rounds, sum\n"
    ).k
    with pytest.warns(UserWarning, match=r"(?s)^File .*in k:.*range.*\^.*a bound of type 'f32' is cast to i32$"):
        k(1.0, 1)
    for x, n in [(3.9, 7), (-0.9, 1), (2.0, -3)]:
        numbers = range(*(qd.i32(bound) for bound in eval(f"[{bounds}]", {"qd": qd, "x": x, "n": n})))
        assert k(x, n) == (len(numbers), sum(i % 10 for i in numbers))


def test_real_bounds_that_are_known_are_known_to_the_host(module):
    k = module(
        "@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32]):\n    qd.loop_config(block_dim=64)\n"
        "    for i in range(64.5): a[i] = qd.simt.block.reduce_all_add(i, 64, qd.i32)\n"
    ).k
    a = np.zeros(64, np.int32)
    with pytest.warns(UserWarning, match="'f32' is cast to i32"):
        k(a)
    assert (a == 2016).all()


@pytest.mark.host
def test_bounds_that_are_known_do_not_warn(module):
    qd.init(arch=qd.cpu, default_ip=qd.i64)
    k = module(
        "@qd.func\ndef add(x, y): return x + y\n\n"
        "@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32]):\n"
        "    qd.loop_config(block_dim=64)\n"
        "    for i in range(64):\n"
        "        a[i] = qd.simt.block.reduce_all(qd.i32(i), 64, add, qd.i32) + qd.simt.block.inclusive_scan(qd.i32(1), 64, add, qd.i32)\n"
    ).k
    a = np.zeros(64, np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        k(a)
    assert a.tolist() == [2016 + i + 1 for i in range(64)]


@pytest.mark.host
def test_init():
    with pytest.raises(KeyError, match=r"Unrecognized keyword argument\(s\) for qd.init: colour"):
        qd.init(colour=1)
    with pytest.raises(KeyError, match="default_up is the unsigned type of default_ip"):
        qd.init(default_up=qd.u32)
    qd.init(fast_math=True, advanced_optimization=False, default_gpu_block_dim=64, require_version="1.2.0")
    qd.init(ad_stack_size=0, debug=1, unrolling_limit=None)
    assert qd.cfg.debug is True and qd.cfg.unrolling_limit == 32
    for options, message in [
        ({"debug": "yes"}, "debug='yes': 0 or 1 is expected"),
        ({"cpu_max_num_threads": -1}, "cpu_max_num_threads=-1: a number from 0 on is expected"),
        ({"debug_dump_path": 3}, "debug_dump_path=3: the path of a folder is expected"),
        ({"log_level": "loud"}, "log_level='loud': one of trace, debug, info, warn, error, critical is expected"),
        ({"log_level": 3}, "log_level=3: one of trace, "),
        ({"require_version": "new"}, "require_version='new': a version such as '1.0.0' is expected"),
        ({"unrolling_limit": 2.5}, "unrolling_limit=2.5: a number from 0 on is expected"),
    ]:
        with pytest.raises(ValueError, match=message):
            qd.init(**options)
    with pytest.raises(RuntimeError, match="require_version='2.1': programs for versions 1.x run here"):
        qd.init(require_version="2.1")
    for arch in ("cpu", [], [qd.cpu, "cuda"], 3):
        with pytest.raises(TypeError, match=r"arch=.*: one of qd\.cpu, .* is expected, or a list of these"):
            qd.init(arch=arch)
    with pytest.raises(RuntimeError, match="is not supported"):
        qd.init(arch=qd.cuda, enable_fallback=False)
    with pytest.warns(UserWarning, match="arch cuda, metal is not supported here .*metal: it has no driver.*: the cpu is used"):
        qd.init(arch=[qd.cuda, qd.metal])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        qd.init(arch=[qd.cuda, qd.cpu], offline_cache=False)
    assert qd.cfg.arch == qd.cpu


@pytest.mark.host
def test_init_from_the_environment(monkeypatch):
    monkeypatch.setenv("QD_DEFAULT_FP", "f64")
    monkeypatch.setenv("QD_ARCH", "x64")
    monkeypatch.setattr("qd._runtime.device_of", lambda arch, _: "cpu" if arch.name in ("cpu", "x64") else None)
    qd.init(arch=qd.cuda)
    assert (qd.cfg.arch, qd.cfg.default_fp) == (qd.x64, qd.f64)
    monkeypatch.setenv("QD_DEFAULT_FP", "32")
    monkeypatch.setenv("QD_DEFAULT_IP", "64")
    qd.init()
    assert (qd.cfg.default_fp, qd.cfg.default_ip) == (qd.f32, qd.i64)
    monkeypatch.setenv("QD_DEFAULT_IP", "16")
    with pytest.raises(ValueError, match="default_ip is i32 or i64, and not 16"):
        qd.init()


@pytest.fixture
def logger():
    """The package's, whose level a test may change."""
    logger = logging.getLogger("qd")
    before = logger.level
    yield logger
    logger.setLevel(before)


@pytest.mark.host
def test_levels_of_logs(logger, monkeypatch):
    levels = qd.TRACE, qd.DEBUG, qd.INFO, qd.WARN, qd.ERROR, qd.CRITICAL
    for number, level in enumerate(levels):
        qd.set_logging_level(level)
        assert [qd.is_logging_effective(each) for each in levels] == [False] * number + [True] * (len(levels) - number)
    qd.init(log_level="DEBUG")
    qd.init()
    assert logger.level == logging.DEBUG
    monkeypatch.setenv("QD_LOG_LEVEL", "error")
    qd.init()
    assert not qd.is_logging_effective("warn")
    with pytest.raises(ValueError, match="'loud' is no level of logs: expected one of trace, debug, "):
        qd.set_logging_level("loud")


def test_types_are_canonical():
    assert qd.float32 is qd.f32
    assert copy.deepcopy(qd.f32) is qd.f32 and copy.copy(qd.i8) is qd.i8
    assert pickle.loads(pickle.dumps(qd.u64)) is qd.u64
    assert len({qd.f32, qd.f64, qd.float32}) == 2
    assert (qd.i32(2.7), qd.f32(1)) == (2, 1.0)


def test_operations_are_of_kernels_alone():
    """But mathematics of numbers, which Python has, too."""
    for call in (lambda: qd.volatile_load(4), lambda: qd.atomic_add(1, 2), lambda: qd.cast("2", qd.i32), lambda: qd.popcnt(qd.i32), lambda: qd.sqrt(qd.field(qd.f32, ())), lambda: qd.max(1, "2")):
        with pytest.raises(qd.QuadrantsRuntimeError, match="cannot be called from Python-scope"):
            call()
    assert qd.sqrt(4) == 2.0


@pytest.mark.parametrize("decorator", ["kernel", "func"])
def test_what_is_no_function(decorator):
    @qd.kernel
    def k():
        pass

    for given in (len, int, k, staticmethod(len)):
        with pytest.raises(qd.QuadrantsSyntaxError, match="are made of functions, and not of <"):
            getattr(qd, decorator)(given)
    with pytest.raises(qd.QuadrantsSyntaxError, match="'@classmethod' stands above"):
        getattr(qd, decorator)(classmethod(len))


def test_functions_without_a_source(module):
    with pytest.raises(qd.QuadrantsSyntaxError, match=r'File "<string>", in k:\n.*could not get source code'):
        exec("@qd.kernel\ndef k(): pass", {"qd": qd})
    for text in ["k = qd.kernel(lambda: 1)\n", "@qd.kernel\nasync def k(): pass\n", "print(qd.kernel(lambda: 1),\n  1)\n"]:
        with pytest.raises(qd.QuadrantsSyntaxError, match=r"line 2, in (.|\n)*\^(.|\n)*is not defined by a 'def' of its own"):
            module(text)


def test_lines_that_are_indented_less(module):
    text = "class C:\n    @staticmethod\n    @qd.kernel\n    def k(n: qd.i32) -> qd.i32:\n        \"\"\"A text\nof lines.\n\"\"\"\n"
    text += "# And a comment.\n        m = n + 1\n        return {}\n"
    assert module(text.format("m")).C.k(4) == 5
    with pytest.raises(qd.QuadrantsNameError) as caught:
        module(text.format("m + é")).C.k(4)
    place, line, carets, message = str(caught.value).split("\n")
    assert place.endswith("line 11, in k:") and line[carets.index("^")] == "é" and carets.count("^") == 1


def test_lines_with_tabs(module):
    with pytest.raises(qd.QuadrantsNameError) as caught:
        module("if True:\n\t@qd.kernel\n\tdef k(n: qd.i32) -> qd.i32:\n\t\treturn\tn +\tmissing\n").k(4)
    place, line, carets, message = str(caught.value).split("\n")
    assert place.endswith("line 5, in k:") and line[carets.index("^") : carets.rindex("^") + 1] == "missing"


@pytest.mark.parametrize("text", ["1 +", "qd.i33"])
def test_an_annotation_in_text_that_is_none(module, text):
    with pytest.raises(qd.QuadrantsTypeError, match="Invalid annotation") as caught:
        module(f"@qd.kernel\ndef k(x: {text!r}) -> qd.i32:\n    return x\n").k(1)
    assert "in k:" in str(caught.value)


def test_an_object_without_one_of_its_members(module):
    text = "import dataclasses\n@dataclasses.dataclass\nclass D:\n    a: qd.i32\n    b: qd.i32\n@qd.kernel\ndef k(x: D) -> qd.i32:\n    return x.a\n"
    found = module(text)
    given = found.D(1, 2)
    del given.b
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match=r"Argument 0 \(D\) has no member 'b'"):
        found.k(given)


@pytest.mark.parametrize(("name", "advice"), [("sin", ": use qd.sin"), ("gamma", "")])
def test_functions_of_math_are_for_numbers(module, name, advice):
    text = f"import math\n@qd.kernel\ndef k(x: qd.f32) -> qd.f32:\n    return math.{name}(x)\n"
    with pytest.raises(qd.QuadrantsTypeError) as caught:
        module(text).k(1.0)
    assert str(caught.value).endswith(f"math.{name} takes no values of kernels{advice}")
