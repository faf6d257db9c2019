"""What programs for properties have: expressions, statements and functions, each a text and what it computes, by NumPy and the rules of types."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from test_operators import NUMPY, REALS, computed, floor_divide, logical_shift, modulo, power, promoted, real

DTYPES = "u1 u8 i16 i32 u32 i64 u64 f32 f64".split()
SYMBOLS = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
SHIFTS = {"({} << {})": np.left_shift, "({} >> {})": np.right_shift, "qd.bit_shr({}, {})": logical_shift}
COMPARISONS = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
# What combines values in any order to the same: those of one line.
ORDERLESS = [
    {"{} += {}": np.add, "{} -= {}": np.subtract, "qd.atomic_add({}, {})": np.add, "qd.atomic_sub({}, {})": np.subtract},
    {"{} &= {}": np.bitwise_and, "qd.atomic_and({}, {})": np.bitwise_and},
    {"{} |= {}": np.bitwise_or, "qd.atomic_or({}, {})": np.bitwise_or},
    {"{} ^= {}": np.bitwise_xor, "qd.atomic_xor({}, {})": np.bitwise_xor},
    {"qd.atomic_min({}, {})": np.minimum},
    {"qd.atomic_max({}, {})": np.maximum},
]
# How a loop is left.
BREAK, CONTINUE = "break", "continue"
# Of each array, whose name says how many dimensions it has: elements are more than a vector has of 32 bits each.
SHAPES = {"m": (4, 5), "h": (2, 2, 5)}
LENGTH = 20
# Of the elements that a round of a loop has.
INDICES = "ijl"


def shape_of(name):
    return SHAPES.get(name[0], (LENGTH,))


@dataclass
class Expression:
    """A text, its type, and its value where names have these. Python computes with what is known while tracing."""

    text: str
    dtype: str
    value: Callable[[dict], Any]
    is_known: bool = False

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


@dataclass
class Function:
    """A function's text, the types of what it takes and returns, and what it computes."""

    name: str
    lines: list[str]
    takes: list[str]
    gives: list[str]
    run: Callable[[list, dict], list]


@dataclass(frozen=True)
class Scope:
    """What statements find: names by their types, and which of them are assigned, or known while tracing; tuples by the types of
    their members; arrays that are read anywhere; those that atomics combine into, with how; functions."""

    names: dict
    numbers: Any
    variables: tuple = ()
    known: tuple = ()
    tuples: dict = field(default_factory=dict)
    arrays: dict = field(default_factory=dict)
    combined: dict = field(default_factory=dict)
    functions: tuple = ()

    def having(self, **names):
        return replace(self, names=self.names | names)

    def new(self, letter):
        """A name that nothing has."""
        return f"{letter}{next(self.numbers)}"


def combined(text, dtype, function, *operands, by=None, is_known=False):
    """An operation on operands that are all converted to its type, or another."""
    kind = NUMPY[dtype]
    return Expression(text, dtype, lambda names: computed(function, by or dtype, *(each.value(names) for each in operands)).astype(kind), is_known)


def constant(number, dtype):
    text = f"({number})" if number < 0 else str(number)
    return Expression(text, dtype, lambda names: np.array([number], NUMPY[dtype]), True)


def binary(op, a, b):
    both = promoted(a.dtype, b.dtype)
    return combined(f"({a.text} {op} {b.text})", both, SYMBOLS[op], a, b, is_known=a.is_known and b.is_known)


def masked(a, most):
    """An integer from 0 to a power of 2 less 1."""
    return binary("&", a, constant(most, "i32"))


def small(a):
    """An integer from 1 to 8."""
    return binary("+", masked(a, 7), constant(1, "i32"))


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
    is_known = a.is_known and b.is_known
    return combined(f"({a.text} {op} {by.text})", promoted(a.dtype, by.dtype), function, a, by, is_known=is_known)


def shifted(form, a, b):
    n = masked(b, 7)
    return combined(form.format(a.text, n.text), a.dtype, SHIFTS[form], a, n, is_known=form.startswith("(") and a.is_known and b.is_known)


def raised(a, n):
    """A power by an integer."""

    def value(names):
        return computed(lambda x: power(x, n.value(names)), a.dtype, a.value(names)).astype(NUMPY[a.dtype])

    return Expression(f"({a.text} ** {n.text})", a.dtype, value, a.is_known and n.is_known)


def comparison(op, a, b):
    return combined(f"({a.text} {op} {b.text})", "u1", COMPARISONS[op], a, b, by=promoted(a.dtype, b.dtype))


def between(ops, a, b, c):
    """A chain of comparisons."""
    first, second = comparison(ops[0], a, b), comparison(ops[1], b, c)
    text = f"({a.text} {ops[0]} {b.text} {ops[1]} {c.text})"
    return Expression(text, "u1", lambda names: np.logical_and(first.value(names), second.value(names)))


def truth(a):
    """Whether a value is not 0, where a condition is asked for."""
    return Expression(a.text, "u1", lambda names: a.value(names) != 0)


def choice(condition, a, b):
    both = promoted(a.dtype, b.dtype)
    x, y = a.cast(both), b.cast(both)
    text = f"({a.text} if {condition.text} else {b.text})"
    return Expression(text, both, lambda names: np.where(condition.value(names), x(names), y(names)))


def as_dtype(a, dtype):
    """For a variable of a type. Reals are no integers before they are known to fit: whether they are positive is asked."""
    if a.is_real and dtype not in REALS:
        a = comparison(">", a, constant(0, "i32"))
    return Expression(f"qd.cast({a.text}, qd.{dtype})", dtype, a.cast(dtype))


def fitting(a, dtype):
    """What is converted to a type without being asked."""
    return as_dtype(a, dtype) if a.is_real and dtype not in REALS else a


def joined(indices):
    """The index of an element, by all of its dimensions."""
    return Expression(", ".join(each.text for each in indices), "i32", lambda names: tuple(each.value(names) for each in indices))


def place(name, a):
    """Where an integer leads to in an array."""
    kind = promoted(a.dtype, "i32")
    return joined([combined(f"({a.text}) % {extent}", kind, modulo, a, constant(extent, "i32")) for extent in shape_of(name)])


def element(name, dtype, index):
    return Expression(f"{name}[{index.text}]", dtype, lambda names: names[name][index.value(names)])


def named(scope, name):
    return Expression(name, scope.names[name], lambda known: known[name], name in scope.known)


def called(function, arguments, which):
    """One of the values that a function returns."""
    text = f"{function.name}({', '.join(each.text for each in arguments)})"
    text += f"[{which}]" * (len(function.gives) > 1)
    given = [each.cast(dtype) for each, dtype in zip(arguments, function.takes)]
    return Expression(text, function.gives[which], lambda names: function.run([each(names) for each in given], names)[which])


@st.composite
def conditions(draw, scope, depth, is_value=False):
    kinds = ["compare", "compare", "and", "or", "not", "chain"] + ["truth"] * (not is_value)
    kind = draw(st.sampled_from(kinds if depth else ["compare"]))
    if kind in ("compare", "chain", "truth"):
        count = {"compare": 2, "chain": 3, "truth": 1}[kind]
        operands = [draw(expressions(scope, max(depth - 1, 0))) for _ in range(count)]
        ops = [draw(st.sampled_from(list(COMPARISONS))) for _ in range(count - 1)]
        return truth(*operands) if kind == "truth" else between(ops, *operands) if kind == "chain" else comparison(*ops, *operands)
    a = draw(conditions(scope, depth - 1))
    if kind == "not":
        return Expression(f"(not {a.text})", "u1", lambda names: np.logical_not(a.value(names)))
    b = draw(conditions(scope, depth - 1))
    function = np.logical_and if kind == "and" else np.logical_or
    return Expression(f"({a.text} {kind} {b.text})", "u1", lambda names: function(a.value(names), b.value(names)))


@st.composite
def integers(draw, scope, depth):
    """An expression that is no real."""
    return fitting(draw(expressions(scope, depth)), "i32")


@st.composite
def calls(draw, scope):
    function = draw(st.sampled_from(scope.functions))
    arguments = [fitting(draw(expressions(scope, 0)), dtype) for dtype in function.takes]
    return function, arguments


@st.composite
def expressions(draw, scope, depth):
    """Of names, by their types."""
    if depth == 0:
        kind = draw(st.integers(0, 9))
        if kind < 2:
            number = draw(st.integers(-9, 9) | st.sampled_from([0.25, -1.5, 3.0]))
            return constant(number, "f32" if isinstance(number, float) else "i32")
        if kind == 2 and scope.arrays:
            name = draw(st.sampled_from(sorted(scope.arrays)))
            first = named(scope, draw(st.sampled_from(sorted(scope.names))))
            by, more = (constant(draw(st.integers(0, most)), "i32") for most in (3, 5))
            return element(name, scope.arrays[name], place(name, binary("+", binary("*", fitting(first, "i32"), by), more)))
        return named(scope, draw(st.sampled_from(sorted(scope.names))))
    a, b = (draw(expressions(scope, depth - 1)) for _ in range(2))
    # What is known is divided by Python, with more digits than the kernel has.
    kinds = ["arithmetic", "arithmetic", "min", "max", "choice", "cast", "-", "abs", "**", "condition"]
    kinds += ["/"] * (not (a.is_known and b.is_known)) + ["call"] * bool(scope.functions) + ["element"] * bool(scope.arrays)
    if not (a.is_real or b.is_real):
        kinds += ["bits", "//", "%", "~", "helper"] + ["shift"] * (a.dtype != "u1")
    kind = draw(st.sampled_from(kinds))
    if kind in ("arithmetic", "bits"):
        return binary(draw(st.sampled_from("+-*" if kind == "arithmetic" else "&|^")), a, b)
    if kind == "/":
        return quotient(a, b)
    if kind in ("//", "%"):
        return divided(kind, a, b)
    if kind == "shift":
        return shifted(draw(st.sampled_from(list(SHIFTS))), a, b)
    if kind == "**":
        # Python has reals of known integers, for negative exponents, where a kernel has none.
        exponent = constant(draw(st.sampled_from([0, 1, 2, 3] if a.is_known else [-2, 0, 1, 2, 3])), "i32")
        return raised(a, exponent if b.is_real or draw(st.booleans()) else masked(b, 3))
    if kind in ("min", "max"):
        # NaN is passed over.
        return combined(f"{kind}({a.text}, {b.text})", promoted(a.dtype, b.dtype), {"min": np.fmin, "max": np.fmax}[kind], a, b)
    if kind == "choice":
        return choice(draw(conditions(scope, depth - 1)), a, b)
    if kind == "condition":
        return draw(conditions(scope, depth - 1, is_value=True))
    if kind == "cast":
        return as_dtype(a, draw(st.sampled_from(DTYPES)))
    if kind == "helper":
        # What the function of every program returns.
        made = binary("-", binary("*", a, b), a)
        return Expression(f"helper({a.text}, {b.text})", made.dtype, made.value)
    if kind == "call":
        function, arguments = draw(calls(scope))
        return called(function, arguments, draw(st.integers(0, len(function.gives) - 1)))
    if kind == "element":
        name = draw(st.sampled_from(sorted(scope.arrays)))
        return element(name, scope.arrays[name], place(name, fitting(a, "i32")))
    function = {"-": np.negative, "~": np.invert, "abs": np.abs}[kind]
    return combined(f"({kind}({a.text}))", a.dtype, function, a, is_known=kind == "-" and a.is_known)


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


def loop_while(counter, form, most, condition, body):
    """A `while` that counts its rounds, which are at most so many: where it asks for them, or in its body."""
    counts = ":=" in form
    text = form.format(counter, most, condition.text)

    def goes_on(names):
        if counts:
            names[counter] = names[counter] + np.int32(1)
        return names[counter][0] < most and bool(condition.value(names)[0])

    def run(names):
        names[counter] = np.array([0], np.int32)
        while goes_on(names):
            if not counts:
                names[counter] = names[counter] + np.int32(1)
            if run_all(body, names) == BREAK:
                break

    return Statement([f"{counter} = 0", f"while {text}:", *[f"    {counter} += 1"][counts:], *indented(body)], run)


WHILES = ["{0} < {1} and {2}", "{2} and {0} < {1}", "({0} := {0} + 1) < {1} and {2}"]


@st.composite
def statements(draw, scope, depth, in_loop=False):
    """At most three, which assign some of the names."""
    made = []
    for _ in range(draw(st.integers(1, 3))):
        kinds = ["assign", "assign", "augment", "several", "declare"] + ["if", "for", "while", "static for"] * (depth > 0) + ["leave"] * in_loop
        kinds += ["atomic", "atomic"] * bool(scope.combined) + ["static if"] * bool(scope.known and depth > 0)
        kind = draw(st.sampled_from(kinds))
        if kind == "leave":
            how = draw(st.sampled_from([BREAK, CONTINUE]))
            leaves = Statement([how], lambda names, how=how: how)
            made.append(branch(draw(conditions(scope, 0)), [leaves], []))
        elif kind == "if":
            ways = [draw(statements(scope, depth - 1, in_loop)) for _ in range(2)]
            made.append(branch(draw(conditions(scope, 1)), *ways))
        elif kind == "static if":
            name = draw(st.sampled_from(scope.known))
            asked = comparison(draw(st.sampled_from(list(COMPARISONS))), named(scope, name), constant(draw(st.integers(0, 2)), "i32"))
            ways = [draw(statements(scope, depth - 1)) for _ in range(2)]
            made.append(branch(replace(asked, text=f"qd.static{asked.text}"), *ways))
        elif kind == "for":
            variable = f"i{depth}"
            rounds = draw(st.integers(0, 4).map(lambda n: constant(n, "i32")) | integers(scope, 0).map(small))
            rounds = as_dtype(rounds, "i32")
            body = draw(statements(scope.having(**{variable: "i32"}), depth - 1, True))
            made.append(loop(f"for {variable} in range({rounds.text}):", variable, rounds, body))
        elif kind == "static for":
            variable = scope.new("s")
            rounds = constant(draw(st.integers(0, 3)), "i32")
            inner = replace(scope.having(**{variable: "i32"}), known=(*scope.known, variable))
            body = draw(statements(inner, depth - 1))
            made.append(loop(f"for {variable} in qd.static(range({rounds.text})):", variable, rounds, body))
        elif kind == "while":
            counter = scope.new("w")
            scope = scope.having(**{counter: "i32"})
            condition = draw(conditions(scope, 1))
            body = draw(statements(scope, depth - 1, True))
            made.append(loop_while(counter, draw(st.sampled_from(WHILES)), draw(st.integers(1, 4)), condition, body))
        elif kind == "declare":
            statement, scope = draw(declarations(scope))
            made.append(statement)
        elif kind == "several":
            made.append(draw(assignments_of_several(scope)))
        elif kind == "atomic":
            made.append(draw(atomics(scope)))
        else:
            made.append(draw(assignments(scope, kind == "augment")))
    return made


@st.composite
def assignments(draw, scope, augments):
    name = draw(st.sampled_from(scope.variables))
    dtype = scope.names[name]
    value = fitting(draw(expressions(scope, 2)), dtype)
    line = f"{name} = {value.text}"
    if augments:
        op = draw(st.sampled_from("+-*" if value.is_real or dtype in REALS else "+-*&|^"))
        line = f"{name} {op}= {value.text}"
        if name.endswith("]") and op != "*":
            # In memory it is atomic, in the type of the element.
            value = Expression(value.text, dtype, value.cast(dtype))
        value = binary(op, named(scope, name), value)
    given = value.cast(dtype)

    def run(known):
        known[name] = given(known)

    return Statement([line], run)


def assigned(targets, values, text):
    """Several names that are assigned together."""

    def run(known):
        known.update([*zip(targets, [value(known) for value in values])])

    return Statement([text], run)


@st.composite
def declarations(draw, scope):
    """A variable of the block, or a tuple; and what there is then."""
    values = [draw(expressions(scope, 1)) for _ in range(draw(st.integers(1, 3)))]
    name = scope.new("t")
    if len(values) == 1:
        names = {name: values[0].dtype}
        scope = replace(scope, variables=(*scope.variables, name))
    else:
        names = {f"{name}[{i}]": each.dtype for i, each in enumerate(values)}
        scope = replace(scope, tuples=scope.tuples | {name: [*names.values()]})
    text = f"{name} = {', '.join(each.text for each in values)}"
    return assigned(names, [each.value for each in values], text), scope.having(**names)


@st.composite
def assignments_of_several(draw, scope):
    """Variables, or a tuple, by values that are computed before, or that one call returns."""
    several = [each for each in scope.functions if len(each.gives) > 1]
    if scope.tuples and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(scope.tuples)))
        targets, text = [f"{name}[{i}]" for i in range(len(scope.tuples[name]))], name
    else:
        targets = draw(st.lists(st.sampled_from(scope.variables), min_size=1, max_size=2, unique=True))
        text = ", ".join(targets)
    dtypes = [scope.names[each] for each in targets]
    fits = [each for each in several if len(each.gives) == len(targets) and all(a in REALS or b not in REALS for a, b in zip(dtypes, each.gives))]
    if fits and draw(st.booleans()):
        function = draw(st.sampled_from(fits))
        arguments = [fitting(draw(expressions(scope, 0)), dtype) for dtype in function.takes]
        values = [called(function, arguments, i) for i in range(len(targets))]
        text += f" = {values[0].text.removesuffix('[0]')}"
    else:
        values = [fitting(draw(expressions(scope, 1)), dtype) for dtype in dtypes]
        text += f" = {', '.join(each.text for each in values)}"
    return assigned(targets, [each.cast(dtype) for each, dtype in zip(values, dtypes)], text)


@st.composite
def atomics(draw, scope):
    """What threads combine into elements that others have, too, or into a variable of theirs."""
    name = draw(st.sampled_from(sorted(scope.combined)))
    dtype, forms = scope.combined[name]
    form = draw(st.sampled_from(list(forms)))
    if name.startswith("z"):
        index, target = constant(0, "i32"), name
    else:
        own = joined([named(scope, each) for each in INDICES[: len(shape_of(name))] if each in scope.names])
        is_own = own.text.count(",") == len(shape_of(name)) - 1 and draw(st.booleans())
        index = own if is_own else place(name, draw(integers(scope, 1)))
        target = f"{name}[{index.text}]"
    value = fitting(draw(expressions(scope, 1)), dtype)

    def run(names):
        at = index.value(names)
        names[name][at] = forms[form](names[name][at], value.cast(dtype)(names))

    return Statement([form.format(target, value.text)], run)


@st.composite
def functions(draw, scope, name):
    """A function of scalars with branches and loops, which returns one value or two."""
    takes = draw(st.lists(st.sampled_from(DTYPES), min_size=1, max_size=2))
    names = {f"x{i}": dtype for i, dtype in enumerate(takes)}
    inner = replace(scope, names=names, variables=tuple(names))
    body = draw(statements(inner, 1))
    returned = [draw(expressions(inner, 1)) for _ in range(draw(st.integers(1, 2)))]
    parameters = ", ".join(f"{each}: qd.{dtype}" for each, dtype in names.items())
    lines = ["@qd.func", f"def {name}({parameters}):", *indented(body), f"    return {', '.join(each.text for each in returned)}", ""]

    def run(given, around):
        known = {each: around[each] for each in scope.arrays} | dict(zip(names, given))
        run_all(body, known)
        return [each.value(known) for each in returned]

    return Function(name, lines, takes, [each.dtype for each in returned], run)
