"""Expressions of kernels: from Python's tree to nodes of the record."""

import ast
import builtins
import math

from qd import _core
from qd._dtypes import BY_NAME, DataType
from qd._operations import BUILTINS, BIT_CAST, CAST, MAX, MIN, SELECT, Operation
from qd._values import Array, Value, Variable
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


def is_number(value):
    """Whether it is a number of Python or NumPy."""
    return isinstance(value, (bool, int, float)) or (hasattr(value, "dtype") and hasattr(value, "item") and value.ndim == 0)


class Expressions:
    """Traces expressions into a recorder."""

    def __init__(self, function, source, recorder, config):
        self.source = source
        self.recorder = recorder
        self.config = config
        # The names of the blocks that are open, innermost last.
        self.scopes = [{}]
        self.task = 0
        # What is traced, for errors of any kind.
        self.node = source.tree
        cells = zip(function.__code__.co_freevars, function.__closure__ or ())
        self.closure = {}
        for name, cell in cells:
            try:
                self.closure[name] = cell.cell_contents
            except ValueError:
                # Nothing has been assigned to it yet.
                pass
        self.globals = function.__globals__
        # Names that the function assigns, in whatever block: they are never those of its surroundings.
        self.locals = set(function.__code__.co_varnames)

    # Errors.

    def error(self, kind, node, message):
        """An error with a place."""
        return kind(f"{self.source.shown(node)}\n{message}")

    def later(self, node, what):
        """An error of something that does not exist yet."""
        return self.error(QuadrantsCompilationError, node, f"{what} isn't there yet")

    def ask(self, node, method, *args):
        """Has the recorder write something at a node's place."""
        self.recorder.locate(self.source.line_of(node), self.source.column_of(node))
        try:
            return getattr(self.recorder, method)(*args)
        except _core.Rejected as error:
            message = str(error)
        raise self.error(QuadrantsTypeError, node, message)

    def made(self, node, method, *args, **says):
        """A value that the recorder writes."""
        number = self.ask(node, method, *args)
        return Value(number, BY_NAME[self.recorder.dtype(number)], **says)

    # Names.

    def lookup(self, name):
        """What a name in the kernel means; None."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def name(self, node):
        found = self.lookup(node.id)
        if isinstance(found, Variable):
            if found.task != self.task:
                raise self.later(node, f"a variable that one task computes and another uses ('{node.id}')")
            return self.made(node, "get", found.number)
        if found is not None:
            return found
        for names in (self.closure, self.globals, vars(builtins)):
            if node.id in names and node.id not in self.locals:
                return names[node.id]
        raise self.error(QuadrantsNameError, node, f'Name "{node.id}" is not defined')

    # Values.

    def lift(self, node, value):
        """A value of a kernel, of what an expression is."""
        if isinstance(value, Value):
            return value
        if is_number(value):
            return self.literal(node, value)
        if isinstance(value, Array):
            raise self.error(QuadrantsTypeError, node, "an array is no scalar: it wants an index")
        raise self.later(node, f"a value of type '{type(value).__name__}' in a kernel")

    def literal(self, node, value, dtype=None):
        """A number of Python as a constant."""
        plain = value.item() if hasattr(value, "item") else value
        named = dtype and dtype.name
        if isinstance(plain, bool):
            return self.made(node, "boolean", plain, is_host=True, is_pure=True)
        if isinstance(plain, int):
            return self.made(node, "integer", plain, named, is_host=True, is_pure=True)
        return self.made(node, "real", plain, named, is_pure=True)

    def value(self, node):
        """The value of an expression."""
        return self.lift(node, self.expression(node))

    def expression(self, node):
        """What an expression is: a value, an array, or an object of Python."""
        self.node = node
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            raise self.error(QuadrantsSyntaxError, node, f'Unsupported node "{type(node).__name__}"')
        return method(node)

    def on_Constant(self, node):
        return node.value

    def on_Name(self, node):
        return self.name(node)

    def on_Tuple(self, node):
        return tuple(self.expression(each) for each in node.elts)

    def on_Attribute(self, node):
        base = self.expression(node.value)
        if isinstance(base, (Value, Array)):
            known = ("dtype",) if isinstance(base, Value) else ("dtype", "shape")
            if node.attr not in known:
                raise self.later(node, f"the attribute '{node.attr}' of a value in a kernel")
        try:
            return getattr(base, node.attr)
        except AttributeError as error:
            message = str(error)
        raise self.error(QuadrantsNameError, node, message)

    def on_Subscript(self, node):
        base = self.expression(node.value)
        if isinstance(base, Array):
            index = self.index(node)
            return self.made(node, "load", base.number, index.number)
        if isinstance(base, Value):
            raise self.error(QuadrantsTypeError, node, f"'{base.dtype}' is a scalar, and has no elements")
        key = self.expression(node.slice)
        if isinstance(key, Value):
            raise self.later(node, "an index that is computed, of an object of Python,")
        return base[key]

    def index(self, node):
        """The index of an element of an array of one dimension."""
        if isinstance(node.slice, ast.Slice):
            raise self.later(node.slice, "a slice in a kernel")
        index = self.expression(node.slice)
        if isinstance(index, tuple):
            if len(index) != 1:
                raise self.error(QuadrantsIndexError, node, f"an array of 1 dimension takes 1 index, and not {len(index)}")
            index = index[0]
        return self.lift(node.slice, index)

    def on_BinOp(self, node):
        a, b = self.value(node.left), self.value(node.right)
        return self.binary(node, _BINARY.get(type(node.op), type(node.op).__name__), a, b, type(node.op) in _HOST)

    def binary(self, node, name, a, b, on_host=False):
        is_pure = a.is_pure and b.is_pure
        is_host = on_host and a.is_host and b.is_host
        return self.made(node, "binary", name, a.number, b.number, is_host=is_host, is_pure=is_pure)

    def on_UnaryOp(self, node):
        operand = self.expression(node.operand)
        if isinstance(node.op, (ast.USub, ast.UAdd)) and is_number(operand) and not isinstance(operand, bool):
            return -operand if isinstance(node.op, ast.USub) else operand
        operand = self.lift(node.operand, operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        is_host = operand.is_host and isinstance(node.op, ast.USub)
        name = _UNARY[type(node.op)]
        return self.made(node, "unary", name, operand.number, is_host=is_host, is_pure=operand.is_pure)

    def on_Compare(self, node):
        for op in node.ops:
            if type(op) not in _COMPARE:
                names = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}
                message = f"Operator \"{names[type(op)]}\" in Quadrants scope is not supported"
                raise self.error(QuadrantsSyntaxError, node, message)
        left = self.value(node.left)
        return self._compared(node, left, node.ops, node.comparators)

    def _compared(self, node, left, ops, comparators):
        right = self.value(comparators[0])
        first = self.binary(node, _COMPARE[type(ops[0])], left, right)
        if len(ops) == 1:
            return first
        return self.logic(node, "and", first, lambda: self._compared(node, right, ops[1:], comparators[1:]))

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
        second = self.ask(node, "truth", rest().number)
        self.ask(node, "set", result, second)
        self.ask(node, "end")
        return self.made(node, "get", result)

    def on_IfExp(self, node):
        condition = self.value(node.test)
        result = self.ask(node, "declare_later")
        self.ask(node, "begin_if", condition.number)
        a = self.value(node.body)
        self.ask(node, "set", result, a.number)
        self.ask(node, "begin_else")
        b = self.value(node.orelse)
        self.ask(node, "set", result, b.number)
        self.ask(node, "end")
        self.ask(node, "settle", result, a.number, b.number)
        return self.made(node, "get", result)

    # Calls.

    def on_Call(self, node):
        callee = self.expression(node.func)
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            raise self.later(node, "a call with keywords or '*' in a kernel")
        if isinstance(callee, DataType) or callee in (int, float, bool):
            return self._cast_call(node, callee)
        if callee is len:
            return self._length(node)
        operation = callee if isinstance(callee, Operation) else None
        if operation is None and callable(callee) and getattr(callee, "__hash__", None):
            operation = BUILTINS.get(callee)
        if operation is not None:
            return self._operation(node, operation)
        name = getattr(callee, "__name__", repr(callee))
        if getattr(callee, "__module__", None) == "math":
            args = [self.expression(arg) for arg in node.args]
            if all(map(is_number, args)):
                return getattr(math, name)(*args)
            raise self.error(QuadrantsTypeError, node, f"math.{name} takes no values of kernels: use qd.{name}")
        raise self.later(node, f"a call of '{name}' in a kernel")

    def _arguments(self, node, arity):
        if arity is not None and len(node.args) != arity:
            raise self.error(QuadrantsTypeError, node, f"it takes {arity} arguments, and not {len(node.args)}")
        return node.args

    def _cast_call(self, node, callee):
        (argument,) = self._arguments(node, 1)
        given = self.expression(argument)
        if isinstance(callee, DataType):
            if is_number(given) and not isinstance(given, bool):
                return self.literal(node, given, callee)
            dtype = callee
        else:
            dtype = {int: self.config.default_ip, float: self.config.default_fp, bool: BY_NAME["u1"]}[callee]
        return self.cast(node, self.lift(argument, given), dtype)

    def cast(self, node, value, dtype):
        is_host = value.is_host and not dtype.is_real and dtype.name != "u1"
        return self.made(node, "cast", value.number, dtype.name, is_host=is_host, is_pure=value.is_pure)

    def _length(self, node):
        (argument,) = self._arguments(node, 1)
        given = self.expression(argument)
        if isinstance(given, Array):
            return given.shape[0]
        if isinstance(given, Value):
            raise self.error(QuadrantsTypeError, node, f"'{given.dtype}' is a scalar, and has no length")
        return len(given)

    def _operation(self, node, operation):
        arguments = self._arguments(node, operation.arity)
        if operation.dtype_last:
            value, dtype = self.value(arguments[0]), self.expression(arguments[1])
            dtype = {int: self.config.default_ip, float: self.config.default_fp, bool: BY_NAME["u1"]}.get(dtype, dtype)
            if not isinstance(dtype, DataType):
                raise self.error(QuadrantsTypeError, arguments[1], "a type is expected")
            if operation is BIT_CAST:
                return self.made(node, "bit_cast", value.number, dtype.name, is_pure=value.is_pure)
            return self.cast(node, value, dtype)
        values = [self.value(argument) for argument in arguments]
        is_pure = all(value.is_pure for value in values)
        if operation is SELECT:
            return self.made(node, "select", *(value.number for value in values), is_pure=is_pure)
        if operation in (MIN, MAX):
            if len(values) < 2:
                raise self.error(QuadrantsTypeError, node, f"'{operation.name}' takes at least 2 scalars")
            result = values[0]
            for value in values[1:]:
                result = self.binary(node, operation.name, result, value, on_host=True)
            return result
        if len(values) == 1:
            return self.made(node, "unary", operation.name, values[0].number, is_pure=is_pure)
        return self.binary(node, operation.name, *values)
