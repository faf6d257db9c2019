"""Whole programs for properties: a kernel of several tasks, with what each thread of them does in turn."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st
from programs import (
    DTYPES,
    INDICES,
    LENGTH,
    ORDERLESS,
    SHAPES,
    Scope,
    assignments,
    element,
    expressions,
    functions,
    indented,
    joined,
    named,
    place,
    run_all,
    shape_of,
    statements,
)
from test_algorithms import combined
from test_operators import NUMPY


@dataclass
class Program:
    """A module's text, the types of its kernel's arrays and of its fields by their names, and what the kernel does to all of them.
    Of scratch, which comes after the arrays, it leaves what it likes."""

    text: str
    arrays: dict[str, str]
    scratch: dict[str, str]
    fields: dict[str, str]
    run: Callable[[dict], None]


@dataclass
class Task:
    """Lines of the top level, the arrays that they need besides, by their types, and what they do to all of them and to the variables."""

    lines: list[str]
    arrays: dict[str, str]
    run: Callable[[dict], None]
    scratch: dict[str, str] = field(default_factory=dict)


def index_of(scope, name):
    """An element of an array for a round of a loop, which has it for itself where both have as many dimensions."""
    names = [each for each in INDICES if each in scope.names]
    is_own = len(names) == len(shape_of(name))
    return joined([named(scope, each) for each in names]) if is_own else place(name, named(scope, "i"))


@st.composite
def loops(draw, scope, number, heads):
    """A loop: `scope` has the arrays that are read, and what is combined into. A round has elements of others for itself."""
    dimensions, head, first = draw(st.sampled_from(heads))
    indices = dict.fromkeys(INDICES[: len(dimensions)], "i32")
    prefix = next((letter for letter, shape in SHAPES.items() if len(shape) == len(dimensions)), "")
    own = {f"{prefix}c{number}": dtype for dtype in draw(st.lists(st.sampled_from(DTYPES[1:]), max_size=1))}
    read = {f"p{i}": name for i, name in enumerate(scope.arrays)}
    scope = scope.having(**indices, **{each: scope.arrays[name] for each, name in read.items()})
    places = {each: index_of(scope, name) for each, name in read.items()}
    values = [draw(expressions(scope, 2)) for _ in range(draw(st.integers(1, 3)))]
    variables = [f"v{i}" for i in range(len(values))]
    own_index = joined([named(scope, each) for each in indices])
    elements = {f"{name}[{own_index.text}]": dtype for name, dtype in own.items()}
    scope = scope.having(**elements, **{name: each.dtype for name, each in zip(variables, values)})
    # Variables of the top level are combined into, or read.
    body = draw(statements(replace(scope, variables=(*variables, *elements)), 2))
    results = {f"{prefix}b{number}_{i}": each.dtype for i, each in enumerate(values)}

    lines = [*first, *(f"{each} = {name}[{places[each].text}]" for each, name in read.items())]
    lines += [f"{name} = {each.text}" for name, each in zip(variables, values)]
    lines += [line[4:] for line in indented(body)]
    lines += [f"{name}[{own_index.text}] = {each}" for name, each in zip(results, variables)]

    def run(known):
        for at in np.ndindex(*dimensions):
            names = dict(known)
            names |= {each: np.array([index], np.int32) for each, index in zip(indices, at)}
            names |= {each: element(name, scope.arrays[name], places[each]).value(names) for each, name in read.items()}
            names |= {f"{name}[{own_index.text}]": known[name][at].reshape(1) for name in own}
            names.update([(name, each.value(names)) for name, each in zip(variables, values)])
            run_all(body, names)
            for name in own:
                known[name][at] = names[f"{name}[{own_index.text}]"][0]
            for name, each in zip(results, variables):
                known[name][at] = names[each][0]

    return Task([head, *(f"    {line}" for line in lines)], own | results, run)


@st.composite
def serial(draw, scope):
    """What one thread does between two loops, to variables that all tasks have."""
    made = [draw(assignments(scope, draw(st.booleans()))) for _ in range(draw(st.integers(1, 2)))]
    return Task([line for each in made for line in each.lines], {}, lambda known: run_all(made, known))


# What algorithms combine without rounding, and the scratch for it.
COMBINED = {"i32": "u32", "u32": "u32", "i64": "u64", "u64": "u64"}


@st.composite
def algorithms(draw, arrays, number):
    """A scan or a reduction of the first elements of an array; none where no array is of such a type."""
    names = [name for name, dtype in arrays.items() if len(shape_of(name)) == 1 and dtype in COMBINED]
    if not names:
        return None
    name, how, kind = (draw(st.sampled_from(each)) for each in (names, ["reduce", "exclusive_scan"], ["add", "min", "max"]))
    dtype, count = arrays[name], draw(st.integers(0, LENGTH))
    out, scratch = f"scan{number}", f"slots{number}"
    line = f"qd.algorithms.{how}_{kind}({name}, {out}, {scratch}, {count}, qd.{dtype}, 1)"

    def run(known):
        prefixes = combined(kind, known[name][:count])
        if how == "reduce":
            known[out][0] = prefixes[count]
        else:
            known[out][:count] = prefixes[:count]

    return Task([line], {out: dtype}, run, {scratch: COMBINED[dtype]})


def heads_of(arrays, is_over_arrays):
    """The heads of loops, each with its extents and the lines that its body begins with."""
    heads = [(shape_of("a0"), "for i in a0:", [])]
    for name in arrays:
        if name[0] in SHAPES:
            extents = shape_of(name)
            indices = ", ".join(INDICES[: len(extents)])
            heads += [(extents, f"for {indices} in {name}:", []), (extents, f"for I in qd.grouped({name}):", [f"{indices} = I"])]
    if not is_over_arrays:
        heads += [(shape_of("a0"), "for i in range(a0.shape[0]):", []), ((3,), "for i in range(3):", [])]
        for extents in SHAPES.values():
            indices, sizes = list(INDICES[: len(extents)]), [*map(str, extents)]
            for turn in (1, -1):
                heads.append((extents, f"for {', '.join(indices[::turn])} in qd.ndrange({', '.join(sizes[::turn])}):", []))
    return heads


@st.composite
def programs(draw, has_fields=True):
    """Without fields the extents of all loops are those of arrays, and nothing else is done to elements."""
    numbers = itertools.count()
    kinds = ["a0", *draw(st.lists(st.sampled_from(["a", *SHAPES]), min_size=1, max_size=2))]
    reads = {"a0" if i == 0 else f"{kind}{i}": draw(st.sampled_from(DTYPES)) for i, kind in enumerate(kinds)}
    # What threads combine into: arrays, and variables of the top level.
    forms = st.tuples(st.sampled_from(["i32", "u32", "i64"]), st.sampled_from(ORDERLESS))
    into = {f"{draw(st.sampled_from(['d', 'md', 'hd']))}{i}": each for i, each in enumerate(draw(st.lists(forms, max_size=2)))}
    totals = {f"z{i}": each for i, each in enumerate(draw(st.lists(forms, max_size=2)))}
    begin = {name: draw(st.integers(-3, 9)) for name in totals}

    arrays = reads | {name: dtype for name, (dtype, _) in into.items()}
    fields = {name for name in arrays if has_fields and name != "a0" and draw(st.integers(0, 2)) == 0}
    # Functions find fields by their names, and the functions before them.
    made = []
    for i in range(draw(st.integers(0, 2))):
        scope = Scope({}, numbers, arrays={name: dtype for name, dtype in reads.items() if name in fields}, functions=tuple(made))
        made.append(draw(functions(scope, f"f{i}")))

    known = Scope({}, numbers, functions=tuple(made))
    of_totals = {name: dtype for name, (dtype, _) in totals.items()}
    tasks, is_combined = [], True
    for number in range(draw(st.integers(1, 3))):
        if tasks and totals and draw(st.booleans()):
            # Loops of functions would be tasks there, whose threads assign to what is one variable here.
            scope = Scope(of_totals, numbers, variables=(*totals,), arrays=dict(arrays) if has_fields else {})
            tasks.append(draw(serial(scope)))
        if tasks:
            # What is combined into in one loop may be read in another.
            is_combined = draw(st.booleans())
        available = arrays if not is_combined else {name: dtype for name, dtype in arrays.items() if name not in into}
        some = draw(st.lists(st.sampled_from(sorted(available)), min_size=1, max_size=3, unique=True)) if tasks else [*reads]
        scope = replace(known, arrays={name: available[name] for name in some}, combined=into | totals if is_combined else {})
        scope = scope if is_combined else scope.having(**of_totals)
        tasks.append(draw(loops(scope, number, heads_of(arrays, not has_fields))))
        arrays = arrays | tasks[-1].arrays
        # Where arrays have no elements there is nothing to combine.
        if has_fields and draw(st.booleans()) and (task := draw(algorithms(arrays, number))):
            tasks.append(task)
            arrays = arrays | task.arrays

    parameters = [f"{name}: qd.types.NDArray[qd.{dtype}, {len(shape_of(name))}]" for name, dtype in arrays.items() if name not in fields]
    lines = [f"{name} = qd.cast({begin[name]}, qd.{dtype})" for name, dtype in of_totals.items()]
    lines += [line for each in tasks for line in each.lines]
    results = {f"r{name}": dtype for name, dtype in of_totals.items()}
    # Of an array without elements none is written.
    lines += [line for name in totals for line in (f"for i in r{name}:", f"    r{name}[i] = {name}")]
    scratch = {name: dtype for each in tasks for name, dtype in each.scratch.items()}
    parameters += [f"{name}: qd.types.NDArray[qd.{dtype}, 1]" for name, dtype in (results | scratch).items()]
    turned = {letter: f', order="{"ijk"[: len(shape)][::-1]}"' for letter, shape in SHAPES.items()}
    orders = {name: draw(st.sampled_from(["", turned[name[0]]])) if name[0] in turned else "" for name in sorted(fields)}
    text = "".join(f"{name} = qd.field(qd.{arrays[name]}, shape={shape_of(name)}{orders[name]})\n" for name in sorted(fields))
    text += "@qd.func\ndef helper(x, y):\n    return x * y - x\n\n"
    text += "".join("\n".join([*each.lines, ""]) for each in made)
    text += f"@qd.kernel\ndef k({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in lines)

    def run(values):
        names = values | {name: np.array([begin[name]]).astype(NUMPY[dtype]) for name, dtype in of_totals.items()}
        for each in tasks:
            each.run(names)
        for name in totals:
            values[f"r{name}"][:] = names[name][0]

    arrays |= results
    given, global_ = ({name: dtype for name, dtype in arrays.items() if (name in fields) == is_field} for is_field in (False, True))
    return Program(text, given, scratch, global_, run)
