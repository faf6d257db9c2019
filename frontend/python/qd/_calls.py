"""Calls in kernels: of operations, casts, prints, and functions that are inlined."""

import ast
import inspect
import math
import re
import sys
import types

from qd import _block, _subgroup
from qd._algorithms import MOST_LEVELS, AlgorithmFunc, SlotsFunc, check_depth
from qd._atomics import Atomics
from qd._dtypes import DataType
from qd._expressions import MISSING
from qd._functions import MOST_CALLS, STATIC, Above, Baked, Bundle, Frame, Func, Method, Plain, is_plain, is_template
from qd._indices import Indices
from qd._operations import ATOMICS, BIT_CAST, BUILTINS, MAX, MIN, SELECT, VOLATILE_LOAD, Operation
from qd._storage import Field
from qd._values import Array, Spanning, Value, Variable, is_number, is_tuple
from qd.exception import (
    QuadrantsCompilationError,
    QuadrantsStaticAssertionError,
    QuadrantsSyntaxError,
    QuadrantsTypeError,
    QuadrantsValueError,
)
from qd.types import NdarrayType

# A part of a text that `%` replaces: flags and width, and the letter.
_PERCENT = re.compile(r"%([-+ 0#]*\d*(?:\.\d+)?)(.?)", re.DOTALL)

_NO_SUPER = "super() is for methods, and their object, of a class that is @qd.data_oriented"


def _tuple_of(place):
    """The name of the tuple, or array, of which a place is a member, or one of a member; None."""
    while isinstance(place, ast.Subscript):
        place = place.value
    return place.id if isinstance(place, ast.Name) else None


def _stored_by(node):
    """The names that a comprehension, or a lambda, has for itself."""
    if isinstance(node, ast.arguments):
        return {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    return {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}


class Calls(Atomics):
    """Traces expressions with calls."""

    def on_Call(self, node):
        callee = self.expression(node.func)
        if isinstance(callee, Value):
            raise self.error(QuadrantsTypeError, node, f"a value of type '{callee.dtype}' is not callable")
        if any(callee is each for each in (*STATIC, *_subgroup.STATIC)):
            return self.python(node)
        if _subgroup.is_deprecated(callee):
            callee = _subgroup.current(callee)
        if callee is print:
            return self._print(node)
        if callee is super:
            return self._super(node)
        if isinstance(callee, Method):
            return self.inline(node, callee.func, [callee.instance])
        if isinstance(callee, Func):
            return self.inline(node, callee)
        if isinstance(callee, AlgorithmFunc):
            message = f"'{callee.__name__}' has requires_top_level=True and must be called at the top level"
            raise self.error(QuadrantsSyntaxError, node, message)
        if isinstance(callee, SlotsFunc):
            return self._slots(node, callee)
        if isinstance(callee, _subgroup.SubgroupFunc):
            return self._of_subgroup(node, callee)
        if isinstance(callee, _block.BlockFunc):
            return self._of_block(node, callee)
        if callee is _block.SharedArray:
            return self._shared(node)
        if is_plain(callee):
            return self._of_python(node, callee)
        if isinstance(callee, types.MethodType) and isinstance(callee.__self__, Indices):
            return self._of_indices(node, callee)
        operation = callee if isinstance(callee, Operation) else None
        if operation is None and callable(callee) and getattr(callee, "__hash__", None):
            operation = BUILTINS.get(callee)
        if operation in (MIN, MAX):
            return self._extreme(node, operation)
        if any(isinstance(arg, ast.Starred) for arg in node.args):
            raise self.later(node, "'*' in a call of this")
        if operation is not None:
            return self._operation(node, operation)
        name = getattr(callee, "__name__", repr(callee))
        if node.keywords:
            raise self.error(QuadrantsTypeError, node.keywords[0], f"'{name}' takes no keywords in a kernel")
        if isinstance(callee, DataType) or callee in (int, float, bool):
            return self._cast_call(node, callee)
        if callee is len:
            return self._length(node)
        if callee is all or callee is any:
            return self._of_all(node, callee)
        if getattr(callee, "__module__", None) == "math":
            args = [self.expression(arg) for arg in node.args]
            if all(map(is_number, args)):
                return getattr(math, name)(*args)
            advice = f": use qd.{name}" if hasattr(sys.modules["qd"], name) else ""
            raise self.error(QuadrantsTypeError, node, f"math.{name} takes no values of kernels{advice}")
        if not callable(callee):
            raise self.error(QuadrantsTypeError, node, f"'{type(callee).__name__}' is not callable")
        raise self.later(node, f"a call of '{name}' in a kernel")

    def _super(self, node):
        above = self.above(node)
        if above is MISSING:
            raise self.error(QuadrantsSyntaxError, node, _NO_SUPER)
        return above

    def above(self, node):
        """What `super()` is, or `super(cls, self)`; MISSING."""
        if node.args:
            cls, bundle = [self.known_as(each) for each in node.args] if len(node.args) == 2 else (MISSING, MISSING)
        else:
            cls, bundle = self._around_super()
        return self._above(cls, bundle)

    def _around_super(self):
        """The class and the object that `super()` finds by itself; MISSING."""
        given = self.frame.source.tree.args
        parameters = given.posonlyargs + given.args
        return self.frame.closure.get("__class__", MISSING), self.lookup(parameters[0].arg) if parameters else MISSING

    @staticmethod
    def _above(cls, bundle):
        if not isinstance(bundle, Bundle) or cls not in bundle._qd_type.__mro__:
            return MISSING
        return Above(cls, bundle)

    def super_in_python(self):
        """What `super` is where Python computes an expression: there it has no frame of the function."""

        def super_in_function(*given):
            cls, instance = given if len(given) == 2 else self._around_super() if not given else (MISSING, MISSING)
            above = self._above(cls, instance)
            if above is not MISSING:
                return above
            if isinstance(cls, type) and instance is not MISSING and not isinstance(instance, (Bundle, Value, Array)):
                return super(cls, instance)
            raise QuadrantsSyntaxError(_NO_SUPER)

        return super_in_function

    def _print(self, node):
        """A print: a format of C, and the values in it."""
        says = {}
        for keyword in node.keywords:
            if keyword.arg not in ("sep", "end"):
                raise self.later(keyword.value, f"'{keyword.arg}' of print in a kernel")
            says[keyword.arg] = str(self.python(keyword.value))
        self.print_all(node.args, **says)

    def print_all(self, nodes, sep=" ", end="\n"):
        """Prints what expressions are."""
        values = []
        parts = [self._printed(each, values) for each in nodes]
        format = sep.replace("%", "%%").join(parts) + end.replace("%", "%%")
        self.ask(self.node, "print", format, [value.number for value in values])

    def _printed(self, node, values):
        """The format of an argument of a print."""
        if isinstance(node, ast.JoinedStr):
            return "".join(self._printed(part, values) for part in node.values)
        spec = ""
        if isinstance(node, ast.FormattedValue):
            if node.conversion != -1:
                raise self.later(node, "a conversion such as '!r' in a kernel")
            spec = self.python(node.format_spec) if node.format_spec else ""
            node = node.value
        if not spec and self._is_percent(node):
            return self._percent(node, values)
        return self._shown(node, self.expression(node), spec, values)

    def _is_percent(self, node):
        """Whether an expression is a text that `%` formats."""
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
            return False
        is_known = isinstance(node.left, (ast.Constant, ast.Name, ast.Attribute))
        return is_known and isinstance(self.expression(node.left), str)

    def _percent(self, node, values):
        """The format of a text that `%` formats."""
        text, given = self.expression(node.left), self.expression(node.right)
        rest = list(given) if isinstance(given, tuple) else [given]
        if not any(isinstance(each, (Value, Array, tuple)) for each in rest):
            return (text % given).replace("%", "%%")

        def shown(match):
            spec, letter = match.groups()
            if letter == "%":
                return "%%"
            if not rest:
                raise self.error(QuadrantsTypeError, node, "not enough arguments for format string")
            value = rest.pop(0)
            if not isinstance(value, (Value, Array, tuple)):
                return (match[0] % (value,)).replace("%", "%%")
            if letter in "iu":
                letter = "d"
            is_plain = letter == "s" and "." not in spec
            return self._shown(node.right, value, spec if is_plain else spec + letter, values)

        made = _PERCENT.sub(shown, text)
        if rest:
            raise self.error(QuadrantsTypeError, node, "not all arguments converted during string formatting")
        return made

    def _shown(self, node, value, spec, values):
        if isinstance(value, tuple):
            inner = [self._shown(node, one, spec, values) for one in value]
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        if not isinstance(value, (Value, Array)):
            return format(value, spec).replace("%", "%%")
        value = self.lift(node, value)
        conversions = "fFeEgG" if value.dtype.is_real else "dxXo"
        known = re.fullmatch(r"([-+ 0]*\d*(?:\.\d+)?)([a-zA-Z]?)", spec)
        if known is None or known[2] not in conversions:
            raise self.error(QuadrantsTypeError, node, f"'{spec}' is no format of '{value.dtype}' that a kernel has")
        values.append(value)
        usual = "f" if value.dtype.is_real else "u" if value.dtype.name.startswith("u") else "d"
        letter = known[2] if known[2] not in ("", "d") else usual
        return f"%{known[1]}{letter}"

    def inline(self, node, func, first=()):
        """What a call of a function returns."""
        caller, self.frame = self.frame, self.entered(node, func, first)
        self.block(func.source.tree.body)
        returned = self.frame.returned
        self.frame = caller
        return returned

    def _of_python(self, node, callee):
        """What a function of Python returns. Python calls it, but with what the kernel computes it is inlined."""
        self.warn_of_plain(node, callee)
        found = self.inlined_plain(node, callee)
        if found is None:
            return self.known(node, self.python(node))
        func, first = found
        if func.function.__code__.co_name == "<lambda>":
            self._find_lambda(node, func)
        return self.inline(node, func, first)

    def warn_of_plain(self, node, function):
        """Warns of a call of a function of Python."""
        self.warn(node, f"Calling non-quadrants function '{function.__name__}': @qd.func makes it one", SyntaxWarning)

    def inlined_plain(self, node, callee, is_given=None):
        """A function of Python as one that is inlined in a call, and the arguments before those of the call; None if Python calls it, with
        arguments of which none is of the kernel, as `is_given` says of an expression."""
        function, first = getattr(callee, "__func__", callee), [callee.__self__] if inspect.ismethod(callee) else []
        if not any(isinstance(each, Bundle) for each in first):
            is_given = is_given or self._is_of_kernel
            if not any(map(is_given, [*node.args, *(keyword.value for keyword in node.keywords)])):
                return None
        return self.plain.setdefault(function, Plain(function)), first

    def _is_of_kernel(self, node):
        """Whether an expression has something that the kernel has."""
        return self.has(node, Value, Variable, Spanning, Array, Field, Bundle)

    def may_be_of_kernel(self, node):
        """The same before all names are known that it has: one that is not may be something that the kernel has."""
        inner = [each for each in ast.walk(node) if isinstance(each, (ast.comprehension, ast.arguments))]
        own = {name for each in inner for name in _stored_by(each)}
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - own
        return self._is_of_kernel(node) or any(self.lookup(name) is MISSING and self._around(name) is MISSING for name in names)

    def _find_lambda(self, node, func):
        """Reads the source of a lambda that is called."""
        try:
            func.source  # noqa: B018
        except QuadrantsSyntaxError as error:
            # It does not know where it is called.
            message = str(error)
        else:
            return
        raise self.error(QuadrantsSyntaxError, node, message)

    def entered(self, node, func, first=()):
        """The frame of a call, with its arguments."""
        if func.requires_top_level and self.depth > 0:
            message = f"'{func.__name__}' has requires_top_level=True and must be called at the top level"
            raise self.error(QuadrantsSyntaxError, node, message)
        given, names = [*first], [*func.signature.parameters]
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                given.extend(self.unpacked(argument))
            else:
                given.append(self._given(argument, len(given) < len(names) and names[len(given)] in func.templates))
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.later(keyword.value, "a call with '**' in a kernel")
            keywords[keyword.arg] = self._given(keyword.value, keyword.arg in func.templates)
        try:
            bound = func.signature.bind(*given, **keywords)
        except TypeError as error:
            message = f"{func.__name__}: {error}"
        else:
            bound.apply_defaults()
            frame = Frame(func.function, func.source, self.depth, self.frame, node, func)
            for name, argument in bound.arguments.items():
                made = frame.scopes[0][name] = self._parameter(node, func, name, argument)
                if not isinstance(made, (Value, Variable, Spanning, Array)):
                    frame.objects[name] = Baked(made)
            self._check_cycle(node, frame)
            return frame
        raise self.error(QuadrantsTypeError, node, message)

    def assigned(self, func):
        """The names that a function assigns, itself or by the functions that it gives them to."""
        if func not in self._assigning:
            # Of one that calls itself, those that are known so far.
            found = self._assigning[func] = set()
            caller, self.frame = self.frame, Frame(func.function, func.source)
            for node in func.source.nodes:
                found.update(self.assigned_by(node))
            self.frame = caller
        return self._assigning[func]

    def _in_part_assigned(self, func):
        """The names of which a function assigns members."""
        caller, self.frame = self.frame, Frame(func.function, func.source)
        found = {name for node in func.source.nodes for name in self.in_part_assigned_by(node)}
        self.frame = caller
        return found

    def assigned_by(self, node):
        """The names that a node assigns: a target, a call's arguments for templates that are assigned, and what is atomic."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            return [node.id]
        if not isinstance(node, ast.Call):
            return []
        callee, given = self.callee(node), []
        if isinstance(callee, Operation) and callee.name in ATOMICS:
            given = node.args[:1] or [each.value for each in node.keywords if each.arg == "x"]
        elif isinstance(callee, (Func, Method)):
            func, skipped = (callee.func, 1) if isinstance(callee, Method) else (callee, 0)
            names = func.templates & self.assigned(func)
            given = [argument for name, argument in func.given(node, skipped) if name in names]
        return [each.id for each in given if isinstance(each, ast.Name)]

    def in_part_assigned_by(self, node):
        """The names of which a node may assign members, if they are tuples: a target is one, and what is atomic does."""
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            return [node.value.id] if isinstance(node.value, ast.Name) else []
        callee = self.callee(node) if isinstance(node, ast.Call) else None
        if not isinstance(callee, Operation) or callee.name not in ATOMICS:
            return []
        places = node.args[:1] or [each.value for each in node.keywords if each.arg == "x"]
        names = [_tuple_of(place) for place in places if isinstance(place, ast.Subscript)]
        return [name for name in names if name is not None]

    def _check_cycle(self, node, entered):
        """That a function does not call itself, but for other objects."""
        names = [entered.source.name]
        for _, frame in entered.calls():
            names.append(frame.source.name)
            if frame.func is entered.func and frame.objects == entered.objects:
                cycle = " calls ".join(reversed(names))
                message = f"functions are inlined, and cannot call themselves: {cycle}"
                raise self.error(QuadrantsCompilationError, node, message)
        if len(names) > MOST_CALLS:
            message = f"calls of functions are more than {MOST_CALLS} deep: does this one end?"
            raise self.error(QuadrantsCompilationError, node, message)

    def _given(self, node, is_template):
        """An argument: a variable as such for a template, which may assign it, and else what it is before later ones are computed."""
        known = self.lookup(node.id) if is_template and isinstance(node, ast.Name) else MISSING
        if isinstance(known, Spanning) or (isinstance(known, Variable) and known.task == self.task):
            return known
        return self.expression(node)

    def _parameter(self, node, func, name, argument):
        """What a parameter of a function is: a copy of a scalar, and all else as it is."""
        annotation = func.signature.parameters[name].annotation
        if is_template(annotation):
            return argument
        dtype = self.signature.scalar(annotation)
        kind = NdarrayType.of(annotation, self.signature.defaults)
        self._check_parameter(node, f"'{name}' of '{func.__name__}'", kind, dtype, argument)
        if is_tuple(argument) and (name in self.assigned(func) or name in self._in_part_assigned(func)):
            return self.declared_as(node, name, argument)
        if not isinstance(argument, Value) and not is_number(argument):
            return argument
        value = self.lift(node, argument)
        if dtype is not None:
            value = self.cast(node, value, dtype)
        if name in self.assigned(func):
            return Variable(self.ask(node, "declare", value.number), self.task)
        return value

    def _check_parameter(self, node, what, kind, dtype, argument):
        """That an argument is an array where an annotation asks for such a kind, and none where it asks for a scalar."""
        if kind is not None and isinstance(argument, Array):
            rank = len(argument.shape)
            if not kind.takes(argument.dtype, rank):
                message = f"{what} ({argument.dtype}[{rank}-D]) cannot be converted into required type {kind.required(rank)}"
                raise self.error(QuadrantsTypeError, node, message)
        elif kind is not None and argument is not None:
            raise self.error(QuadrantsTypeError, node, f"{what} is an array, and not {self._named(argument)}")
        elif dtype is not None and isinstance(argument, (Array, tuple)):
            raise self.error(QuadrantsTypeError, node, f"{what} is a scalar of type '{dtype}', and not {self._named(argument)}")

    @staticmethod
    def _named(argument):
        """What an argument is, for errors."""
        if isinstance(argument, Value):
            return f"a scalar of type '{argument.dtype}'"
        return "an array" if isinstance(argument, Array) else f"'{argument!r}'"

    def _arguments(self, node, parameters):
        """The arguments of a call in the order of its parameters."""
        given = dict(zip(parameters, node.args))
        for keyword in node.keywords:
            if keyword.arg in given:
                raise self.error(QuadrantsTypeError, keyword, f"'{keyword.arg}' is given twice")
            if keyword.arg not in parameters:
                what = "'**'" if keyword.arg is None else f"keyword '{keyword.arg}'"
                raise self.error(QuadrantsTypeError, keyword, f"'{ast.unparse(node.func)}' takes no {what}: its parameters are {', '.join(parameters)}")
            given[keyword.arg] = keyword.value
        count = len(node.args) + len(node.keywords)
        if count != len(parameters):
            takes = f"'{ast.unparse(node.func)}' takes {len(parameters)} argument{'s' * (len(parameters) != 1)}, and not {count}"
            raise self.error(QuadrantsTypeError, node, takes)
        return [given[name] for name in parameters]

    def _only(self, node):
        """The argument of a call that takes one."""
        (argument,) = self._arguments(node, ("x",))
        return argument

    def _cast_call(self, node, callee):
        argument = self._only(node)
        given = self.expression(argument)
        if isinstance(given, str) and callee in (int, float):
            # `float("inf")`
            return callee(given)
        if isinstance(callee, DataType):
            if is_number(given) and not isinstance(given, bool):
                return self.literal(node, given, callee)
        return self._cast_members(node, argument, given, self.signature.scalar(callee))

    def _cast_members(self, node, argument, given, dtype):
        """A cast of what an argument is, by members of a vector of indices."""
        return self.by_members(node, lambda each: self.cast(node, self.lift(argument, each), dtype), given)

    def cast(self, node, value, dtype):
        is_host = value.is_host and not dtype.is_real and dtype.name != "u1"
        return self.made(node, "cast", value.number, dtype.name, is_host=is_host, is_pure=value.is_pure)

    def _length(self, node):
        argument = self._only(node)
        given = self.expression(argument)
        if isinstance(given, Array) and given.shape:
            return self.lift(node, given.shape[0])
        if isinstance(given, Array):
            raise self.error(QuadrantsTypeError, node, "an array of 0 dimensions has no length")
        if isinstance(given, Value):
            raise self.error(QuadrantsTypeError, node, f"'{given.dtype}' is a scalar, and has no length")
        return len(given)

    def bound(self, node, signature, evaluate):
        """The arguments of a call by the names of its parameters, each as `evaluate` has it of a name and a node."""
        given = []
        for each in node.args:
            if not isinstance(each, ast.Starred):
                given.append(each)
                continue
            numbers = self.unpacked(each)
            if not all(map(is_number, numbers)):
                raise self.later(each, "'*' of values")
            given.extend(ast.copy_location(ast.Constant(number), each) for number in numbers)
        keywords = {each.arg: each.value for each in node.keywords}
        if None in keywords:
            raise self.later(keywords[None], "a call with '**' in a kernel")
        try:
            bound = signature.bind(*given, **keywords)
        except TypeError as error:
            message = str(error)
        else:
            found = {name: evaluate(name, argument) for name, argument in bound.arguments.items()}
            defaults = {name: each.default for name, each in signature.parameters.items() if name not in found}
            return found | defaults
        raise self.error(QuadrantsTypeError, node, message)

    def _slots(self, node, callee):
        """How much scratch an algorithm takes: a number, or a value of the kernel."""
        count, *depth = self.bound(node, callee.signature, lambda _, argument: self.expression(argument)).values()
        try:
            if is_number(count):
                return callee(count, *depth)
            # Those that depend on no capacity are the same for each.
            depth = depth[0] if depth else MOST_LEVELS
            check_depth(depth)
        except ValueError as error:
            raise self.error(QuadrantsValueError, node, f"{callee.__name__}: {error}") from None
        count = self.lift(node, count)
        says = {"is_host": count.is_host, "is_pure": count.is_pure}
        return self.made(node, "scratch_slots", callee.algorithm, count.number, depth, **says)

    def _of_subgroup(self, node, operation):
        """What lanes compute together."""

        def evaluate(name, argument):
            return self.expression(argument) if name == "log2_size" else self.value(argument)

        given = self.bound(node, operation.signature, evaluate)
        tile = given.pop("log2_size", None)
        if operation.is_tiled:
            self._check_tile(node, tile)
        if self.is_strided and not operation.is_of_lane:
            message = "operations of subgroups are for parallel loops whose bounds the host knows: here some lanes have a round more than others"
            raise self.error(QuadrantsSyntaxError, node, message)
        operands = [value.number for value in given.values()]
        value = self.made(node, "subgroup", operation.operation, operands, operation.combine, tile)
        return value if operation.result is None else self.cast(node, value, operation.result)

    def _of_block(self, node, operation):
        """What the threads of a block do together."""
        operation = operation.current()

        def evaluate(name, argument):
            return self.value(argument) if name == "value" else self.expression(argument)

        given = self.bound(node, operation.signature, evaluate)
        if operation.needs_blocks:
            self._in_block(node)
        if "block_dim" in given:
            self._check_block_dim(node, given["block_dim"])
        value = given.get("value")
        if "dtype" in given:
            dtype = self.signature.scalar(given["dtype"])
            if dtype is None:
                raise self.error(QuadrantsTypeError, node, "'dtype' is a type")
            value = self.cast(node, value, dtype)
        number = None if value is None else value.number
        return self.made(node, "block", operation.operation, number, operation.combine)

    def _in_block(self, node):
        """That the program says how large the loop's blocks are."""
        if self.block_dim is None:
            message = "operations of blocks are for parallel loops whose bounds the host knows"
            raise self.error(QuadrantsSyntaxError, node, message)
        self.uses_blocks = True

    def _check_block_dim(self, node, block_dim):
        """That the loop has blocks of so many threads, which are whole subgroups."""
        if isinstance(block_dim, Value):
            raise self.error(QuadrantsStaticAssertionError, node, "block_dim is a number that is known while tracing")
        if block_dim != self.block_dim:
            message = f"block_dim={block_dim!r}, and the loop has blocks of {self.block_dim} threads: qd.loop_config(block_dim=…) says how many"
            raise self.error(QuadrantsValueError, node, message)
        lanes = _subgroup.group_size()
        if block_dim % lanes:
            raise self.error(QuadrantsStaticAssertionError, node, f"block_dim={block_dim} is no multiple of a subgroup's {lanes} lanes")

    def _shared(self, node):
        """An array in the memory of a block."""
        given = self.bound(node, inspect.signature(_block.SharedArray), lambda _, argument: self.expression(argument))
        shape, dtype = given["shape"], self.signature.scalar(given["dtype"])
        shape = shape if isinstance(shape, tuple) else (shape,)
        if not all(type(extent) is int and extent > 0 for extent in shape):
            raise self.error(QuadrantsValueError, node, "the shape of a SharedArray is of numbers above 0, known while tracing")
        if dtype is None:
            raise self.later(node, "a SharedArray of what is no scalar type")
        self._in_block(node)
        number = self.ask(node, "shared", dtype.name, math.prod(shape))
        return Array(number, dtype, shape)

    def _check_tile(self, node, log2_size):
        if not isinstance(log2_size, int) or log2_size < 0:
            raise self.error(QuadrantsTypeError, node, "log2_size is a number that is known while tracing, from 0 on")
        assert log2_size <= 6, "log2_size <= 6"
        most = _subgroup.log2_group_size()
        if log2_size > most:
            message = f"log2_size={log2_size}: a subgroup has 2 ** {most} lanes here"
            raise self.error(QuadrantsValueError, node, message)

    def _of_all(self, node, callee):
        """Whether all values of a tuple are true, or any: a scalar is one of itself."""
        argument = self._only(node)
        given = self.expression(argument)
        values = [given] if isinstance(given, Value) or is_number(given) else list(given)
        if not any(isinstance(value, Value) for value in values):
            return callee(values)
        truths = [self.made(node, "truth", self.lift(node, value).number) for value in values]
        result = truths[0]
        for truth in truths[1:]:
            result = self.binary(node, "&" if callee is all else "|", result, truth)
        return result

    def _extreme(self, node, operation):
        """The least or the greatest of any number of values; where one is a vector of indices, of each of its members."""
        if node.keywords:
            raise self.error(QuadrantsTypeError, node.keywords[0], f"'{operation.name}' takes no keywords in a kernel")
        (first, result), *others = [*self.each(node.args)] or [(node, None)]
        if not others:
            raise self.error(QuadrantsTypeError, node, f"'{operation.name}' takes at least 2 scalars")
        for place, value in others:

            def extreme(a, b):
                return self.binary(node, operation.name, self.lift(first, a), self.lift(place, b), on_host=True)

            result = self.by_members(node, extreme, result, value)
        return result

    def _of_indices(self, node, method):
        """What a method of a vector of indices is: its sum, or its least or greatest member."""
        name, members = method.__name__, method.__self__
        if node.args or node.keywords:
            raise self.error(QuadrantsTypeError, node, f"'{name}' of a vector of indices takes no arguments")
        if not any(isinstance(each, Value) for each in members):
            return method()
        result, *others = [self.lift(node, each) for each in members]
        for each in others:
            result = self.operated(node, "+" if name == "sum" else name, result, each, on_host=True)
        return result

    def _operation(self, node, operation):
        if operation.name in ATOMICS:
            return self._atomic(node, operation)
        if operation is VOLATILE_LOAD:
            return self._volatile_load(node)
        arguments = self._arguments(node, operation.parameters)
        if operation.dtype_last:
            given, dtype = self.expression(arguments[0]), self.signature.scalar(self.expression(arguments[1]))
            if dtype is None:
                raise self.error(QuadrantsTypeError, arguments[1], "a type is expected")
            if operation is BIT_CAST:
                value = self.lift(arguments[0], given)
                return self.made(node, "bit_cast", value.number, dtype.name, is_pure=value.is_pure)
            return self._cast_members(node, arguments[0], given, dtype)
        # In the order of the program, which that of keywords may not be.
        in_order = sorted(arguments, key=lambda node: (node.lineno, node.col_offset))
        if operation is SELECT:
            computed = {each: self.operand(each) for each in in_order}
            return self.by_members(node, lambda *given: self._selected(node, arguments, given), *(computed[each] for each in arguments))
        computed = {each: self.value(each) for each in in_order}
        values = [computed[argument] for argument in arguments]
        if len(values) == 1:
            return self.operated_alone(node, operation.name, *values)
        return self.operated(node, operation.name, *values)

    def _selected(self, node, arguments, given):
        """One of two scalars."""
        values = [self.lift(argument, each) for argument, each in zip(arguments, given)]
        return self.made(node, "select", *(value.number for value in values), is_pure=all(value.is_pure for value in values))
