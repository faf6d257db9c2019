"""Expressions of kernels: from Python's tree to nodes of the record."""

import ast
import builtins
import warnings
from collections.abc import Iterable

from qd import _core
from qd._checks import Check
from qd._dtypes import BY_NAME
from qd._functions import Bundle, Frame, Getter, static
from qd._indices import Indices, by_member
from qd._limits import Host
from qd._storage import Field, Ndarray
from qd._values import Array, Spanning, Value, Variable, is_number, is_tuple, is_variable, leaves, plain
from qd.exception import (
    QuadrantsCompilationError,
    QuadrantsIndexError,
    QuadrantsNameError,
    QuadrantsSyntaxError,
    QuadrantsTypeError,
)

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_UNARY = {ast.USub: "neg", ast.Invert: "bit_not", ast.Not: "logic_not"}
# What the host computes, of integers.
_HOST = {ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor}

# What the recorder writes that is done to memory, or seen otherwise.
_EFFECTS = ("store", "atomic", "compare_exchange", "print", "assert_holds")


# What a name means that means nothing.
MISSING = object()


# Bits of a number that is known: what has more takes long to compute, and is no number of a kernel's.
LONGEST = 4096


def of_numbers(name, a, b):
    """What Python computes of two numbers; None where it has no number for it, or another than kernels."""
    a, b = plain(a), plain(b)
    if isinstance(a, int) and isinstance(b, int):
        if name == "**" and b < 0:
            return None
        bits = {"**": a.bit_length() * b * (abs(a) > 1), "<<": (a.bit_length() + b) * (a != 0)}.get(name, 0)
        if bits > LONGEST:
            raise OverflowError(f"the result of '{name}' has more than {LONGEST} bits")
    try:
        made = eval(f"a {name} b", {"a": a, "b": b})
    except (ArithmeticError, TypeError, ValueError):
        return None
    return made if is_number(made) else None


class Expressions:
    """Traces expressions into a recorder."""

    def __init__(self, function, source, recorder, config):
        self.recorder = recorder
        self.config = config
        self.frame = Frame(function, source)
        self.task = 0
        # How values are computed that the host knows.
        self.host = Host()
        # Functions of Python that are inlined, by themselves.
        self.plain = {}
        # By functions, the names that they assign.
        self._assigning = {}
        # How many runtime branches and loops are open, in all frames.
        self.depth = 0
        # How much has been written that has an effect.
        self.effects = 0
        # What is traced, for errors of any kind.
        self.node = source.tree

    # Errors.

    def error(self, kind, node, message):
        """An error with a place, and the calls that led there: those of the program, as far as the package's own functions go."""
        places = [(node, self.frame), *self.frame.calls()]
        first, *calls = [frame.source.shown(place) for place, frame in places if not frame.source.is_own]
        return kind("\n".join([first, *(f"called from {call}" for call in calls), message]))

    def later(self, node, what):
        """An error of something that does not exist yet."""
        return self.error(QuadrantsCompilationError, node, f"{what} isn't there yet")

    def ask(self, node, method, *args):
        """Has the recorder write something at a node's place."""
        # What is inlined stands where the kernel calls it.
        place, frame = node, self.frame
        for place, frame in self.frame.calls():
            pass
        self.recorder.locate(frame.source.line_of(place), frame.source.column_of(place))
        self.effects += method in _EFFECTS
        try:
            return getattr(self.recorder, method)(*args)
        except _core.Rejected as error:
            message = str(error)
        raise self.error(QuadrantsTypeError, node, message)

    def made(self, node, method, *args, **says):
        """A value that the recorder writes."""
        number = self.ask(node, method, *args)
        value = Value(number, BY_NAME[self.recorder.dtype(number)], **says)
        if value.is_host:
            self.host.note(value, method, *args)
        return value

    # Names.

    def lookup(self, name):
        """What a name in the function means; MISSING."""
        for scope in reversed(self.frame.scopes):
            if name in scope:
                return scope[name]
        return MISSING

    def name(self, node):
        found = self.lookup(node.id)
        if is_variable(found):
            return self._present(node, found)
        if found is MISSING:
            found = self._around(node.id)
        if found is not MISSING:
            return self.known(node, found)
        raise self.error(QuadrantsNameError, node, f'Name "{node.id}" is not defined')

    def _present(self, node, found):
        """The present value of a name; of a tuple those of its variables."""
        if is_tuple(found):
            return type(found)(self._present(node, each) for each in found)
        if not isinstance(found, (Variable, Spanning)):
            return found
        if isinstance(found, Variable) and found.task != self.task:
            raise self.later(node, f"a variable that one task computes and another uses ('{ast.unparse(node)}')")
        if isinstance(found, Variable) and found.is_pending:
            raise self.error(QuadrantsNameError, node, f'Name "{ast.unparse(node)}" is not defined')
        return self.read(node, found)

    def known(self, node, found):
        """An object of Python in a kernel: a field is an array of it."""
        if isinstance(found, Field):
            return self.captured(node, found)
        if isinstance(found, Ndarray):
            message = "only fields are found by their names: an ndarray is given to a kernel, as a parameter or a template"
            raise self.error(QuadrantsTypeError, node, message)
        return found

    def read(self, node, variable):
        """The present value of a variable."""
        if isinstance(variable, Variable):
            return self.made(node, "get", variable.number)
        return self.made(node, "load", variable.array.number, self.ask(node, "integer", 0, "i32"))

    def write(self, node, variable, value):
        """Sets a variable."""
        if isinstance(variable, Variable):
            self.ask(node, "set", variable.number, value.number)
        else:
            self.ask(node, "store", variable.array.number, self.ask(node, "integer", 0, "i32"), value.number)

    def _around(self, name):
        """What a name means to Python; MISSING."""
        for names in (self.frame.closure, self.frame.globals, vars(builtins)):
            if name in names and name not in self.frame.locals:
                return names[name]
        return MISSING

    # What is known while tracing.

    def callee(self, node):
        """What a call calls, where that is known without tracing anything; MISSING."""
        return self.known_as(node.func)

    def known_as(self, node):
        """What a name is, or a part of what it is, where that is known without tracing anything; MISSING."""
        parts = []
        while isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)):
            parts.append(node)
            node = node.value
        if isinstance(node, ast.Call) and self.known_as(node.func) is super:
            found = self.above(node)
        elif isinstance(node, ast.Name):
            found = self.lookup(node.id)
            found = self._around(node.id) if found is MISSING else found
        else:
            return MISSING
        for part in reversed(parts):
            if isinstance(found, (Value, Variable, Spanning, Array)):
                return MISSING
            if isinstance(part, ast.Attribute):
                found = getattr(found, part.attr, MISSING)
            elif isinstance(found, (tuple, list, dict)):
                try:
                    found = found[part.slice.value]
                except (LookupError, TypeError):
                    return MISSING
            else:
                return MISSING
        return found

    def warn(self, node, message, category=UserWarning):
        """Warns of a place in a kernel."""
        warnings.warn(f"{self.frame.source.shown(node)}\n{message}", category, stacklevel=2)

    def has(self, node, *kinds):
        """Whether an expression has names of these kinds."""
        for each in ast.walk(node):
            if isinstance(each, ast.Name):
                found = self.lookup(each.id)
                found = self._around(each.id) if found is MISSING else found
                if any(isinstance(part, kinds) for part in leaves(found)):
                    return True
        return False

    def is_static(self, node):
        """Whether an expression is `qd.static(…)`."""
        return isinstance(node, ast.Call) and self.callee(node) is static

    def python(self, node):
        """What Python makes of an expression."""
        self.node = node
        used = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        # A comprehension has names of its own.
        own = {each.id for each in used if isinstance(each.ctx, ast.Store)}
        names = {}
        for each in used:
            if each.id in names:
                continue
            found = self.lookup(each.id)
            if is_variable(found):
                if each.id in own:
                    continue
                message = f'"{each.id}" is computed by the kernel: it is not known while tracing'
                raise self.error(QuadrantsSyntaxError, each, message)
            found = self._around(each.id) if found is MISSING else found
            if found is super:
                found = self.super_in_python()
            if found is not MISSING:
                names[each.id] = found
        kind, message = QuadrantsSyntaxError, "it is computed by the kernel: it is not known while tracing"
        try:
            made = eval(compile(ast.Expression(node), self.frame.source.file, "eval"), names)
        except QuadrantsCompilationError as error:
            # Of the package's own objects, which do not know where they are made.
            kind, message = type(error), str(error)
        except NameError as error:
            # One that a function of Python lacks is not the kernel's.
            if not any(each.id == error.name for each in used):
                raise
            kind, message = QuadrantsNameError, f'Name "{error.name}" is not defined'
        except TypeError as error:
            if not any(isinstance(each, (Value, Array, Bundle)) for each in names.values()):
                raise
            message = f"{error}: {message}"
        else:
            if not isinstance(made, (Value, Getter)):
                return made
        raise self.error(kind, node, message)

    # Values.

    def lift(self, node, value):
        """A value of a kernel, of what an expression is."""
        if isinstance(value, Value):
            return value
        if is_number(value):
            return self.literal(node, value)
        if isinstance(value, Array):
            raise self.error(QuadrantsTypeError, node, "an array is no scalar: it wants an index")
        if isinstance(value, Indices):
            raise self.error(QuadrantsTypeError, node, "a vector of indices is no scalar: it wants an index")
        name = type(value).__name__
        if value is None or isinstance(value, (str, bytes)):
            raise self.error(QuadrantsTypeError, node, f"'{name}' is no type of a value that a kernel computes with")
        raise self.later(node, f"a value of type '{name}' in a kernel")

    def literal(self, node, value, dtype=None):
        """A number of Python as a constant."""
        number = plain(value)
        named = dtype and dtype.name
        if isinstance(number, bool):
            return self.made(node, "boolean", number, is_host=True, is_pure=True)
        if isinstance(number, int):
            return self.made(node, "integer", number, named, is_host=True, is_pure=True)
        return self.made(node, "real", number, named, is_pure=True)

    def value(self, node):
        """The value of an expression."""
        return self.lift(node, self.expression(node))

    def expression(self, node):
        """What an expression is: a value, an array, or an object of Python."""
        self.node = node
        if node in self.frame.kept:
            return self._present(node, self.frame.kept[node])
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            raise self.error(QuadrantsSyntaxError, node, f'Unsupported node "{type(node).__name__}"')
        return method(node)

    def on_Constant(self, node):
        return node.value

    def on_Name(self, node):
        return self.name(node)

    def on_Tuple(self, node):
        return tuple(value for _, value in self.each(node.elts))

    def each(self, nodes):
        """What expressions in a row are, each with its node; one after a `*` is several."""
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from ((node, value) for value in self.unpacked(node))
            else:
                yield node, self.expression(node)

    def unpacked(self, node):
        """What is in what stands after a `*`."""
        given = self.expression(node.value)
        if isinstance(given, (Value, Array)) or not isinstance(given, Iterable):
            raise self.error(QuadrantsTypeError, node, "'*' is for what has values that are known while tracing, such as a tuple")
        return given

    def on_Slice(self, node):
        bounds = (node.lower, node.upper, node.step)
        return slice(*(None if each is None else self.expression(each) for each in bounds))

    def on_Attribute(self, node):
        base = self.expression(node.value)
        if isinstance(base, (Value, Array)):
            known = ("dtype",) if isinstance(base, Value) else ("dtype", "shape")
            if node.attr not in known:
                raise self.later(node, f"the attribute '{node.attr}' of a value in a kernel")
            if node.attr == "shape":
                return tuple(self.lift(node, extent) for extent in base.shape)
        try:
            found = getattr(base, node.attr)
        except AttributeError as error:
            message = str(error)
        else:
            if isinstance(found, Getter):
                call = ast.copy_location(ast.Call(node, [], []), node)
                return self.inline(call, found.method.func, [found.method.instance])
            return self.known(node, found)
        raise self.error(QuadrantsNameError, node, message)

    def on_Subscript(self, node):
        base = self.expression(node.value)
        if isinstance(base, Array):
            index = self.index(node, base)
            return self.made(node, "load", base.number, index.number)
        self.check_elements(node, base)
        key = self.expression(node.slice)
        if isinstance(key, Value):
            raise self.later(node, "an index that is computed, of an object of Python,")
        return self.known(node, base[key])

    def check_elements(self, node, base):
        """That something may have elements."""
        if isinstance(base, Value) or is_number(base):
            name = base.dtype if isinstance(base, Value) else type(base).__name__
            raise self.error(QuadrantsTypeError, node, f"'{name}' is a scalar, and has no elements")

    def index(self, node, array):
        """The index of an element, as the array lies in memory: the last dimension is contiguous."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(each, ast.Slice) for each in parts):
            raise self.later(node.slice, "a slice in a kernel")
        given = self.expression(node.slice)
        indices = () if given is None else given if isinstance(given, tuple) else (given,)
        indices = [one for each in indices for one in (each if isinstance(each, Indices) else (each,))]
        rank = len(array.shape)
        if len(indices) != rank:
            message = f"an array of {rank} dimension{'s' * (rank != 1)} takes as many indices, and not {len(indices)}"
            raise self.error(QuadrantsIndexError, node, message)
        if not indices:
            return self.made(node, "integer", 0, "i32")
        indices = [self.lift(node.slice, index) for index in indices]
        axes = range(rank)
        if array.axes is not None:
            axes = array.axes
            firsts = zip(indices, array.offset)
            indices = [self.binary(node.slice, "-", one, self.literal(node, first)) if first else one for one, first in firsts]
        if rank > 1 and (self.config.debug or self.config.check_out_of_bound):
            # Of an array of one dimension the compiler checks its index.
            for axis, index in enumerate(indices):
                self._check_index(node, axis, index, array)
        place = indices[axes[0]]
        for axis in axes[1:]:
            index, extent = indices[axis], self.lift(node.slice, array.shape[axis])
            place = self.binary(node.slice, "+", self.binary(node.slice, "*", place, extent), index)
        return place

    def _check_index(self, node, axis, index, array):
        inside = self.binary(node, "<", index, self.lift(node, array.shape[axis]))
        if not index.dtype.name.startswith("u"):
            inside = self.binary(node, "&", inside, self.binary(node, ">=", index, self.literal(node, 0)))
        self.assert_holds(node, inside, f"index {axis} is within the extent")

    def assert_holds(self, node, condition, text):
        """Checks a condition. Where it stands in what is inlined its text says, with the calls that led there but the kernel's own."""
        *inlined, _ = [(node, self.frame), *self.frame.calls()]
        places = [f"{frame.source.name} at {frame.source.file}:{frame.source.line_of(place)}" for place, frame in inlined]
        where = f" (in {', called from '.join(places)})" if places else ""
        self.ask(node, "assert_holds", condition.number, text + where)

    def on_BinOp(self, node):
        a, b = self.operand(node.left), self.operand(node.right)
        name = _BINARY.get(type(node.op), type(node.op).__name__)
        return self.by_members(node, lambda a, b: self.of_scalars(node, name, a, b), a, b)

    def operand(self, node):
        """What an operand is. A list that is written out has values for a vector of indices, as a tuple has."""
        return self.on_Tuple(node) if isinstance(node, ast.List) else self.expression(node)

    def by_members(self, node, compute, *operands):
        """What is computed of operands; where one is a vector of indices, of each of its members."""
        if not any(isinstance(each, Indices) for each in operands):
            return compute(*operands)
        try:
            rows = by_member(*operands)
        except ValueError as error:
            message = str(error)
        else:
            made = Indices(compute(*row) for row in rows)
            if any(each.dtype.is_real if isinstance(each, Value) else isinstance(plain(each), float) for each in made):
                raise self.later(node, "a vector of reals")
            return made
        raise self.error(QuadrantsTypeError, node, message)

    def of_scalars(self, node, name, a, b):
        """Of numbers that are known while tracing another such one: a template, or a type, may be given it."""
        known = of_numbers(name, a, b) if is_number(a) and is_number(b) and name in _BINARY.values() else None
        if known is not None:
            return known
        return self.operated(node, name, self.lift(node.left, a), self.lift(node.right, b), type(node.op) in _HOST)

    def operated(self, node, name, a, b, on_host=False):
        """What an operator of the program makes of two values, which is checked in debug."""
        result = self.binary(node, name, a, b, on_host)
        if self._checks():
            Check(self, node).binary(name, a, b, result)
        return result

    def operated_alone(self, node, name, operand, is_host=False):
        """The same of one value."""
        if name in ("neg", "abs") and self._checks():
            Check(self, node).unary("-" if name == "neg" else name, operand)
        return self.made(node, "unary", name, operand.number, is_host=is_host, is_pure=operand.is_pure)

    def _checks(self):
        """Whether operators are checked here: in debug, but not in the package's own functions."""
        return self.config.debug and not any(frame.source.is_own for frame in (self.frame, *(frame for _, frame in self.frame.calls())))

    def binary(self, node, name, a, b, on_host=False):
        is_pure = a.is_pure and b.is_pure
        is_host = on_host and a.is_host and b.is_host
        return self.made(node, "binary", name, a.number, b.number, is_host=is_host, is_pure=is_pure)

    def on_UnaryOp(self, node):
        operand = self.expression(node.operand)
        if isinstance(operand, Indices) and not isinstance(node.op, ast.Not):
            return Indices(self._of_scalar(node, each) for each in operand)
        return self._of_scalar(node, operand)

    def _of_scalar(self, node, operand):
        if isinstance(node.op, (ast.USub, ast.UAdd)) and is_number(operand) and not isinstance(operand, bool):
            return -plain(operand) if isinstance(node.op, ast.USub) else operand
        operand = self.lift(node.operand, operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        is_host = operand.is_host and isinstance(node.op, ast.USub)
        return self.operated_alone(node, _UNARY[type(node.op)], operand, is_host)

    def on_Compare(self, node):
        for op in node.ops:
            if type(op) not in _COMPARE:
                names = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}
                message = f"Operator \"{names[type(op)]}\" in Quadrants scope is not supported"
                raise self.error(QuadrantsSyntaxError, node, message)
        return self._compared(node, self.operand(node.left), node.ops, [node.left, *node.comparators])

    def _compared(self, node, left, ops, operands):
        """What comparisons in a row are, of operands of which the first is known."""
        right = self.operand(operands[1])

        def compared(a, b):
            return self.binary(node, _COMPARE[type(ops[0])], self.lift(operands[0], a), self.lift(operands[1], b))

        first = self.by_members(node, compared, left, right)
        if len(ops) == 1:
            return first

        def rest():
            return self._compared(node, right, ops[1:], operands[1:])

        if isinstance(first, Indices):
            # All are computed: what does not matter for one member may for another.
            return self.by_members(node, lambda a, b: self.binary(node, "&", a, b), first, rest())
        return self.logic(node, "and", first, rest)

    def on_BoolOp(self, node):
        name = "and" if isinstance(node.op, ast.And) else "or"
        return self._joined(node, name, node.values)

    def _joined(self, node, name, operands):
        first = self.value(operands[0])
        if len(operands) == 1:
            return first
        return self.logic(node, name, first, lambda: self._joined(node, name, operands[1:]))

    def logic(self, node, name, first, rest):
        """`and` or `or`, of which the second operand is computed only if it matters."""
        first = self.made(node, "truth", first.number)
        if not self.config.short_circuit_operators:
            second = self.made(node, "truth", rest().number)
            return self.binary(node, "&" if name == "and" else "|", first, second)
        result = self.ask(node, "declare", first.number)
        condition = first if name == "and" else self.made(node, "unary", "logic_not", first.number)
        self.ask(node, "begin_if", condition.number)
        second = self.ask(node, "truth", self.inside(rest).number)
        self.ask(node, "set", result, second)
        self.ask(node, "end")
        return self.made(node, "get", result)

    def inside(self, trace):
        """What is traced in a branch or a loop."""
        self.depth += 1
        made = trace()
        self.depth -= 1
        return made

    def on_IfExp(self, node):
        if self.is_static(node.test):
            return self.expression(node.body if self.python(node.test) else node.orelse)
        return self._chosen(node, self.value(node.test), node.body, node.orelse)

    def _chosen(self, node, condition, body, orelse):
        """What one of two expressions is; of tuples that are written out each of their members."""
        if all(isinstance(each, ast.Tuple) for each in (body, orelse)):
            pairs = [*zip(body.elts, orelse.elts)]
            if len(body.elts) != len(orelse.elts) or any(isinstance(each, ast.Starred) for pair in pairs for each in pair):
                raise self.error(QuadrantsTypeError, node, "a choice is of tuples of as many values, without '*'")
            return tuple(self._chosen(node, condition, *pair) for pair in pairs)
        result = self.ask(node, "declare_later")
        self.ask(node, "begin_if", condition.number)
        a = self.inside(lambda: self.value(body))
        self.ask(node, "set", result, a.number)
        self.ask(node, "begin_else")
        b = self.inside(lambda: self.value(orelse))
        self.ask(node, "set", result, b.number)
        self.ask(node, "end")
        self.ask(node, "settle", result, a.number, b.number)
        return self.made(node, "get", result)
