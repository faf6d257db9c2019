"""Programs for properties: each is a text and what it computes, by NumPy and the rules of types."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from test_operators import NUMPY, REALS, floor_divide, modulo, promoted, real

DTYPES = "u8 i16 i32 u32 i64 f32 f64".split()
SYMBOLS = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
COMPARISONS = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
# How a loop is left.
BREAK, CONTINUE = "break", "continue"


@dataclass
class Expression:
    """A text, its type, and its value where names have these."""

    text: str
    dtype: str
    value: Callable[[dict], Any]

    @property
    def is_real(self):
        return self.dtype in REALS

    def cast(self, dtype):
        """As it is converted where it takes part."""
        return lambda names: self.value(names).astype(NUMPY[dtype])


@dataclass
class Statement:
    """Lines, and what they do to names; how they leave the loop around, if they do."""

    lines: list[str]
    run: Callable[[dict], str | None]


def combined(text, dtype, function, *operands, by=None):
    """An operation on operands that are all converted to its type, or another."""
    given = [each.cast(by or dtype) for each in operands]
    return Expression(text, dtype, lambda names: function(*(each(names) for each in given)))


def constant(number, dtype):
    text = f"({number})" if number < 0 else str(number)
    return Expression(text, dtype, lambda names: np.array([number], NUMPY[dtype]))


def binary(op, a, b):
    both = promoted(a.dtype, b.dtype)
    return combined(f"({a.text} {op} {b.text})", both, SYMBOLS[op], a, b)


def small(a):
    """An integer from 1 to 8."""
    return binary("+", binary("&", a, constant(7, "i32")), constant(1, "i32"))


def quotient(a, b):
    """Of what is no 0."""
    by = binary("+", binary("*", b, b), constant(1.0, "f32")) if b.is_real else small(b)
    dtype = promoted(real(a.dtype), real(by.dtype))
    x, y = (each.cast(real(each.dtype)) for each in (a, by))
    kind = NUMPY[dtype]
    return Expression(f"({a.text} / {by.text})", dtype, lambda names: x(names).astype(kind) / y(names).astype(kind))


def divided(op, a, b):
    """Floor division and remainder of integers."""
    by = small(b)
    function = {"//": floor_divide, "%": modulo}[op]
    return combined(f"({a.text} {op} {by.text})", promoted(a.dtype, by.dtype), function, a, by)


def comparison(op, a, b):
    return combined(f"({a.text} {op} {b.text})", "u1", COMPARISONS[op], a, b, by=promoted(a.dtype, b.dtype))


def choice(condition, a, b):
    both = promoted(a.dtype, b.dtype)
    x, y = a.cast(both), b.cast(both)
    text = f"({a.text} if {condition.text} else {b.text})"
    return Expression(text, both, lambda names: np.where(condition.value(names), x(names), y(names)))


def as_dtype(a, dtype):
    """For a variable of a type. Reals are no integers before they are known to fit: whether they are positive is asked."""
    if a.is_real and dtype not in REALS:
        a = comparison(">", a, constant(0, "i32"))
    return combined(f"qd.cast({a.text}, qd.{dtype})", dtype, lambda x: x, a)


@st.composite
def conditions(draw, names, depth):
    kind = draw(st.sampled_from(["compare", "compare", "and", "or", "not"] if depth else ["compare"]))
    if kind == "compare":
        return comparison(draw(st.sampled_from(list(COMPARISONS))), *(draw(expressions(names, max(depth - 1, 0))) for _ in range(2)))
    a = draw(conditions(names, depth - 1))
    if kind == "not":
        return Expression(f"(not {a.text})", "u1", lambda names: np.logical_not(a.value(names)))
    b = draw(conditions(names, depth - 1))
    function = np.logical_and if kind == "and" else np.logical_or
    return Expression(f"({a.text} {kind} {b.text})", "u1", lambda names: function(a.value(names), b.value(names)))


@st.composite
def expressions(draw, names, depth):
    """Of names, by their types."""
    if depth == 0:
        if draw(st.integers(0, 3)) == 0:
            number = draw(st.integers(-9, 9) | st.sampled_from([0.25, -1.5, 3.0]))
            return constant(number, "f32" if isinstance(number, float) else "i32")
        name = draw(st.sampled_from(sorted(names)))
        return Expression(name, names[name], lambda known: known[name])
    a, b = (draw(expressions(names, depth - 1)) for _ in range(2))
    kinds = ["arithmetic", "arithmetic", "/", "min", "max", "choice", "cast", "-", "abs"]
    if not (a.is_real or b.is_real):
        kinds += ["bits", "//", "%", "~", "call"]
    kind = draw(st.sampled_from(kinds))
    if kind in ("arithmetic", "bits"):
        return binary(draw(st.sampled_from("+-*" if kind == "arithmetic" else "&|^")), a, b)
    if kind == "/":
        return quotient(a, b)
    if kind in ("//", "%"):
        return divided(kind, a, b)
    if kind in ("min", "max"):
        # NaN is passed over.
        return combined(f"{kind}({a.text}, {b.text})", promoted(a.dtype, b.dtype), {"min": np.fmin, "max": np.fmax}[kind], a, b)
    if kind == "choice":
        return choice(draw(conditions(names, 0)), a, b)
    if kind == "cast":
        return as_dtype(a, draw(st.sampled_from(DTYPES)))
    if kind == "call":
        # What the function of every program returns.
        made = binary("-", binary("*", a, b), a)
        return Expression(f"helper({a.text}, {b.text})", made.dtype, made.value)
    function = {"-": np.negative, "~": np.invert, "abs": np.abs}[kind]
    return combined(f"{kind}({a.text})", a.dtype, function, a)


def indented(statements):
    return ["    " + line for each in statements for line in each.lines] or ["    pass"]


def run_all(statements, names):
    for each in statements:
        if (left := each.run(names)) is not None:
            return left
    return None


def branch(condition, then, other):
    def run(names):
        return run_all(then if condition.value(names)[0] else other, names)

    return Statement([f"if {condition.text}:", *indented(then), "else:", *indented(other)], run)


def loop(head, variable, rounds, body):
    """A `for` whose number of rounds is from 0 to 8."""

    def run(names):
        for number in range(int(rounds.value(names)[0])):
            names[variable] = np.array([number], np.int32)
            if run_all(body, names) == BREAK:
                break
        names.pop(variable, None)

    return Statement([head, *indented(body)], run)


@st.composite
def statements(draw, names, variables, depth, in_loop=False):
    """At most three, which assign some of the names."""
    made = []
    for _ in range(draw(st.integers(1, 3))):
        kinds = ["assign", "assign", "augment"] + ["if", "for"] * (depth > 0) + ["leave"] * in_loop
        kind = draw(st.sampled_from(kinds))
        if kind == "leave":
            how = draw(st.sampled_from([BREAK, CONTINUE]))
            leaves = Statement([how], lambda names, how=how: how)
            made.append(branch(draw(conditions(names, 0)), [leaves], []))
        elif kind == "if":
            ways = [draw(statements(names, variables, depth - 1, in_loop)) for _ in range(2)]
            made.append(branch(draw(conditions(names, 1)), *ways))
        elif kind == "for":
            variable = f"i{depth}"
            rounds = draw(st.integers(0, 4).map(lambda n: constant(n, "i32")) | expressions(names, 0).filter(lambda e: not e.is_real).map(small))
            rounds = as_dtype(rounds, "i32")
            body = draw(statements(names | {variable: "i32"}, variables, depth - 1, True))
            made.append(loop(f"for {variable} in range({rounds.text}):", variable, rounds, body))
        else:
            made.append(draw(assignments(names, variables, kind == "augment")))
    return made


@st.composite
def assignments(draw, names, variables, augments):
    name = draw(st.sampled_from(variables))
    dtype = names[name]
    value = draw(expressions(names, 2))
    if value.is_real and dtype not in REALS:
        value = as_dtype(value, dtype)
    line = f"{name} = {value.text}"
    if augments:
        op = draw(st.sampled_from("+-*"))
        line = f"{name} {op}= {value.text}"
        value = binary(op, Expression(name, dtype, lambda known: known[name]), value)
    given = value.cast(dtype)

    def run(known):
        known[name] = given(known)

    return Statement([line], run)


@dataclass
class Program:
    """A kernel's text, the types of what it reads and writes, and what it does with an element of each."""

    text: str
    reads: list[str]
    writes: list[str]
    run: Callable[[list], list]


@st.composite
def programs(draw):
    reads = draw(st.lists(st.sampled_from(DTYPES), min_size=2, max_size=3))
    names = {f"p{i}": dtype for i, dtype in enumerate(reads)}
    first = [draw(expressions(names, 2)) for _ in range(draw(st.integers(1, 3)))]
    variables = [f"v{i}" for i in range(len(first))]
    typed = names | {name: each.dtype for name, each in zip(variables, first)}
    body = draw(statements(typed, variables, 2))
    writes = [each.dtype for each in first]

    arrays = [*(f"a{i}: qd.types.NDArray[qd.{dtype}, 1]" for i, dtype in enumerate(reads))]
    arrays += [f"b{i}: qd.types.NDArray[qd.{dtype}, 1]" for i, dtype in enumerate(writes)]
    lines = [f"p{i} = a{i}[i]" for i in range(len(reads))]
    lines += [f"{name} = {each.text}" for name, each in zip(variables, first)]
    lines += [line[4:] for line in indented(body)]
    lines += [f"b{i}[i] = {name}" for i, name in enumerate(variables)]
    text = "@qd.func\ndef helper(x, y):\n    return x * y - x\n\n"
    text += f"@qd.kernel\ndef k({', '.join(arrays)}):\n    for i in a0:\n" + "".join(f"        {line}\n" for line in lines)

    def run(given):
        known = dict(zip(names, given))
        known.update([(name, each.value(known)) for name, each in zip(variables, first)])
        run_all(body, known)
        return [known[name] for name in variables]

    return Program(text, reads, writes, run)
