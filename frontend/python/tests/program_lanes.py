"""Programs of a subgroup's lanes: texts, and what they compute, by NumPy, subgroup by subgroup."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from test_operators import NUMPY

DTYPES = ["i32", "u32", "i64", "u64"]
ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
COMBINED = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
VOTES = {"all_true": np.all, "any_true": np.any}


@dataclass
class Lines:
    """Statements, and what they do to the names of one subgroup, whose values are arrays with an element for each lane."""

    lines: list[str]
    run: Callable[[dict], None]


def read(values, lanes):
    """Of other lanes; of one that is not there it is the lane's own."""
    own = np.arange(len(values))
    return values[np.where((lanes >= 0) & (lanes < len(values)), lanes, own)]


def by_tiles(values, log2_size, function):
    """An array of as many elements for each tile, put together."""
    size = len(values) if log2_size is None else 1 << log2_size
    return np.concatenate([function(values[at : at + size]) for at in range(0, len(values), size)])


def in_order(name, form, dtype):
    """A reduction to all lanes of a tile, or a scan."""
    function, of = COMBINED[name], NUMPY[dtype]
    limits = np.iinfo(of)
    identity = of({"add": 0, "or": 0, "xor": 0, "mul": 1, "and": np.invert(of(0)), "min": limits.max, "max": limits.min}[name])

    def tile(values):
        upto = function.accumulate(values, dtype=of)
        if form == "reduce_all":
            return np.repeat(upto[-1:], len(values))
        return upto if form == "inclusive" else np.append(identity, upto[:-1]).astype(of)

    return tile


def segments(name, values, heads):
    """From the last head up to each lane, or from lane 0."""
    begins = np.maximum.accumulate(np.where(heads != 0, np.arange(len(values)), 0))
    return np.array([COMBINED[name].reduce(values[begin : at + 1], dtype=values.dtype) for at, begin in enumerate(begins)])


@st.composite
def values(draw, names, dtype, log2_lanes):
    """What one line computes of some names: its text, and a function of their arrays."""
    a, b = (draw(st.sampled_from(names)) for _ in range(2))
    tile = draw(st.none() | st.integers(0, log2_lanes))
    suffix, more = ("", "") if tile is None else ("_tiled", f", {tile}")
    kind = draw(st.sampled_from(["arithmetic", "constant", "lane", "move", "index", "reduce_all", "inclusive", "exclusive", "segments", "vote", "ballot"]))
    cast = lambda text: f"qd.cast({text}, qd.{dtype})"  # noqa: E731
    of = NUMPY[dtype]
    if kind == "arithmetic":
        op = draw(st.sampled_from(list(ARITHMETIC)))
        return f"{a} {op} {b}", lambda known: ARITHMETIC[op](known[a], known[b])
    if kind == "constant":
        number = draw(st.integers(0, 9))
        return f"{a} + {cast(number)}", lambda known: known[a] + of(number)
    if kind == "lane":
        return f"{a} ^ {cast('subgroup.invocation_id()')}", lambda known: known[a] ^ np.arange(len(known[a])).astype(of)
    if kind == "move":
        how, by = draw(st.sampled_from(["up", "down", "xor"])), draw(st.integers(0, (1 << log2_lanes) - 1))
        other = {"up": lambda lane: lane - by, "down": lambda lane: lane + by, "xor": lambda lane: lane ^ by}[how]
        return f"subgroup.shuffle_{how}({a}, {by})", lambda known: read(known[a], other(np.arange(len(known[a]))))
    if kind == "index":
        most = (1 << log2_lanes) - 1
        if draw(st.booleans()):
            lane = draw(st.integers(0, most))
            return f"subgroup.broadcast({a}, {lane})", lambda known: read(known[a], np.full(len(known[a]), lane))
        return f"subgroup.shuffle({a}, qd.cast({b}, qd.i32) & {most})", lambda known: read(known[a], known[b].astype(np.int32) & most)
    if kind in ("reduce_all", "inclusive", "exclusive"):
        name = draw(st.sampled_from(list(COMBINED)[: 4 if kind == "reduce_all" else None]))
        name = "add" if (kind, name) == ("reduce_all", "mul") else name
        function = in_order(name, kind, dtype)
        return f"subgroup.{kind}_{name}{suffix}({a}{more})", lambda known: by_tiles(known[a], tile, function)
    if kind == "segments":
        name = draw(st.sampled_from(["add", "min", "max"]))
        return f"subgroup.segmented_reduce_{name}({a}, {b} & {cast(3)})", lambda known: segments(name, known[a], known[b] & of(3))
    if kind == "vote":
        name = draw(st.sampled_from(list(VOTES)))
        vote = lambda each: np.repeat(VOTES[name](each), len(each))  # noqa: E731
        return cast(f"subgroup.{name}{suffix}({a} < {b}{more})"), lambda known: by_tiles(known[a] < known[b], tile, vote).astype(of)
    bits = lambda known: np.uint64(sum(1 << int(lane) for lane in np.flatnonzero(known[a] & of(1))))  # noqa: E731
    return cast(f"subgroup.ballot({a} & {cast(1)})"), lambda known: np.full(len(known[a]), bits(known)).astype(of)


@st.composite
def lines(draw, names, dtype, log2_lanes, depth):
    """Assignments, in loops that all lanes do as often, and under what all lanes of a subgroup agree on."""
    made = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["assign", "assign", *["for", "if"] * (depth > 0)]))
        if kind == "assign":
            name = draw(st.sampled_from(names))
            text, value = draw(values(names, dtype, log2_lanes))
            made.append(Lines([f"{name} = {text}"], lambda known, name=name, value=value: known.update({name: value(known)})))
            continue
        body = draw(lines(names, dtype, log2_lanes, depth - 1))
        inner = ["    " + line for line in body.lines]
        if kind == "for":
            rounds = draw(st.integers(0, 3))
            made.append(Lines([f"for _ in range({rounds}):", *inner], lambda known, body=body, rounds=rounds: [body.run(known) for _ in range(rounds)]))
            continue
        a, b = (draw(st.sampled_from(names)) for _ in range(2))
        holds = lambda known, a=a, b=b: (known[a] < known[b]).any()  # noqa: E731
        made.append(Lines([f"if subgroup.any_true({a} < {b}):", *inner], lambda known, body=body, holds=holds: holds(known) and body.run(known)))
    return Lines([line for each in made for line in each.lines], lambda known: [each.run(known) for each in made])


@st.composite
def lane_programs(draw, log2_lanes):
    """A kernel's text, its type, the names of its arrays, and what it makes of their values."""
    dtype = draw(st.sampled_from(DTYPES))
    names = ["x", "y", "z"]
    body = draw(lines(names, dtype, log2_lanes, 2))
    text = "from qd.simt import subgroup\n@qd.kernel\ndef k("
    text += ", ".join(f"{name}s: qd.types.NDArray[qd.{dtype}, 1]" for name in names) + "):\n    for i in xs:\n"
    text += "".join(f"        {name} = {name}s[i]\n" for name in names)
    text += "".join(f"        {line}\n" for line in body.lines)
    text += "".join(f"        {name}s[i] = {name}\n" for name in names)

    def run(arrays):
        for at in range(0, len(arrays["x"]), 1 << log2_lanes):
            known = {name: array[at : at + (1 << log2_lanes)] for name, array in arrays.items()}
            body.run(known)
            for name, array in arrays.items():
                array[at : at + (1 << log2_lanes)] = known[name]

    return text, dtype, names, run
