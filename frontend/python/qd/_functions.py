"""Functions that kernels inline, and what is known while a kernel is traced."""

import functools
import inspect
import itertools
import math
import types
import typing
from collections.abc import Callable
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar, overload

from qd._indices import Indices
from qd._source import check_function, source_of
from qd.exception import QuadrantsRuntimeError, QuadrantsSyntaxError, QuadrantsTypeError

# The parameters of a function, those without its first, and its result: what type checkers know of what is made of it.
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")


if typing.TYPE_CHECKING:
    # To type checkers it may be of any type.
    from typing import Any as Template
else:

    class Template:
        """A parameter that takes an object of Python, such as a number, a type or a function. Each is compiled by itself."""


def template():
    """Annotates a parameter that takes an object of Python."""
    return Template()


def is_template(annotation):
    """Whether an annotation says so, in any of its spellings."""
    return annotation in (template, Template) or isinstance(annotation, Template)


def closure_of(function):
    """What a function uses of the functions around it, by name."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            # Nothing has been assigned to it yet.
            pass
    return found


def signature_of(function):
    """A function's signature, in which annotations that are text are what that means."""
    return inspect.signature(function, locals=closure_of(function), eval_str=True)


def _key(value):
    if isinstance(value, tuple):
        return type(value), tuple(map(_key, value))
    is_number_of_numpy = hasattr(value, "dtype") and getattr(value, "shape", None) == ()
    if value is None or isinstance(value, (bool, int, float, str)) or is_number_of_numpy:
        # By its digits: 0.0 is equal to -0.0.
        return type(value), repr(value)
    return id(value)


class Baked:
    """A value of a template parameter, as what a kernel is compiled for: numbers by value, objects by identity."""

    def __init__(self, value):
        self.value = value
        self.key = _key(value)

    def __str__(self):
        return getattr(self.value, "__name__", repr(self.value))

    def __eq__(self, other):
        return isinstance(other, Baked) and self.key == other.key

    def __hash__(self):
        return hash(self.key)


class ArrayOf(typing.NamedTuple):
    """An array, as what a kernel is compiled for."""

    dtype: object
    rank: int

    def __str__(self):
        return f"{self.dtype}[{self.rank}-D]"


class Members(typing.NamedTuple):
    """An object, as what a kernel is compiled for: its class, and names with what each of its members is. Of a list, a tuple or a
    dictionary these are its keys."""

    type: type
    fields: tuple

    def __str__(self):
        return f"{self.type.__name__}({', '.join(f'{name}={each}' for name, each in self.fields)})"


class Same(typing.NamedTuple):
    """An object that is an argument already, or a member of one, by its number among them."""

    number: int

    def __str__(self):
        return f"object {self.number}"


@functools.lru_cache
def container_of(kind):
    """As what a container of a type is in a kernel, whose members are arguments if some are arrays: its type, or a dictionary; None."""
    if kind in (list, tuple) or (issubclass(kind, tuple) and hasattr(kind, "_make")):
        return kind
    return dict if issubclass(kind, dict) else None


def filled(kind, members):
    """A container with members, which are pairs."""
    if kind is dict:
        return dict(members)
    values = [member for _, member in members]
    return kind(values) if kind in (list, tuple) else kind._make(values)


def data_oriented(cls=None, *, template_primitives=True):
    """Makes a class whose methods may be kernels. Arrays of an object are arguments of these; its numbers are compiled in,
    or, without `template_primitives`, are arguments, too."""
    if cls is None:
        return functools.partial(data_oriented, template_primitives=template_primitives)
    cls._qd_template_primitives = template_primitives
    return cls


def is_data_oriented(value):
    """Whether an object is of such a class."""
    return hasattr(type(value), "_qd_template_primitives")


@functools.lru_cache
def _slots(type):
    """The names that objects of a class have without a dictionary."""
    return [name for kind in type.__mro__ for name, member in vars(kind).items() if inspect.ismemberdescriptor(member)]


def members_of(value):
    """The names of an object's members, and what they are."""
    members = getattr(value, "__dict__", {})
    slots = {name: getattr(value, name) for name in _slots(type(value)) if hasattr(value, name)}
    return slots | members if slots else members


# Members of a class that Python, or a kernel, calls with the object.
_BOUND = (property, functools.cached_property, types.FunctionType)


class Bundle:
    """An object in a kernel: its members are those of the kernel; its methods, properties and constants are its class's."""

    def __init__(self, type):
        self._qd_type = type

    def __getattr__(self, name):
        # A static method is a function, too, when the class is asked for it.
        return _bound(self, getattr(self._qd_type, name), inspect.getattr_static(self._qd_type, name))


class Above:
    """What `super()` is in a kernel: an object with the members of the classes above one."""

    def __init__(self, cls, bundle):
        self._qd_class = cls
        self._qd_bundle = bundle

    def __getattr__(self, name):
        type = self._qd_bundle._qd_type
        found = getattr(super(self._qd_class, type), name)
        above = type.__mro__[type.__mro__.index(self._qd_class) + 1 :]
        member = next(vars(kind)[name] for kind in above if name in vars(kind))
        return _bound(self._qd_bundle, found, member)


def _bound(bundle, found, member):
    """What an object has of a class: what the class is asked for, and has itself."""
    if isinstance(member, Func):
        return Method(found, bundle)
    if isinstance(member, property) and isinstance(member.fget, Func):
        return Getter(Method(member.fget, bundle))
    return found.__get__(bundle) if isinstance(member, _BOUND) else found


class Getter(NamedTuple):
    """A property that is a function of kernels."""

    method: "Method"


class Func(Generic[P, R]):
    """A function that is inlined where a kernel calls it."""

    def __init__(self, function: Callable[P, R], requires_top_level=False):
        check_function(function)
        functools.update_wrapper(self, function)
        self.function = function
        self.requires_top_level = requires_top_level

    @functools.cached_property
    def source(self):
        return source_of(self.function)

    @functools.cached_property
    def has_source(self):
        """Whether it is known how it was written."""
        try:
            return self.source is not None
        except QuadrantsSyntaxError:
            return False

    @functools.cached_property
    def signature(self):
        try:
            return signature_of(self.function)
        except NameError:
            return inspect.signature(self.function)

    @functools.cached_property
    def templates(self):
        """The names of its template parameters."""
        return {name for name, each in self.signature.parameters.items() if is_template(each.annotation)}

    def given(self, call, skipped=0):
        """A call's arguments, each with the name of its parameter; `skipped` are given before."""
        positions = [*self.signature.parameters][skipped:]
        return [*zip(positions, call.args), *((keyword.arg, keyword.value) for keyword in call.keywords)]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        raise QuadrantsRuntimeError("Quadrants functions cannot be called from Python-scope")

    @overload
    def __get__(self, instance: None, owner: Any = None) -> "Func[P, R]": ...
    @overload
    def __get__(self: "Func[Concatenate[Any, Q], R]", instance: object, owner: Any = None) -> "Method[Q, R]": ...
    def __get__(self, instance, owner=None):
        return self if instance is None else Method(self, instance)


class PyFunc(Func[P, R]):
    """A function that is inlined in kernels, and that Python calls as it stands."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)


class Plain(Func[P, R]):
    """A function of the user that is inlined as it stands: its annotations say nothing to a kernel."""

    @functools.cached_property
    def signature(self):
        parameters = inspect.signature(self.function).parameters.values()
        return inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters])


def is_plain(value):
    """Whether it is a function of Python, or a method that is one, and none of this package."""
    is_function = isinstance(value, (types.FunctionType, types.MethodType))
    return is_function and (value.__module__ or "").partition(".")[0] != "qd"


class Method(Generic[P, R]):
    """A function of an object, which is its first argument."""

    def __init__(self, func, instance):
        self.func = func
        self.instance = instance

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.func(self.instance, *args, **kwargs)


@overload
def func(function: Callable[P, R], *, requires_top_level: bool = False) -> Func[P, R]: ...
@overload
def func(*, requires_top_level: bool = False) -> Callable[[Callable[P, R]], Func[P, R]]: ...
def func(function=None, *, requires_top_level=False):
    """Makes a function that kernels inline; `requires_top_level`: not under an `if` or a loop."""
    if function is None:
        return functools.partial(func, requires_top_level=requires_top_level)
    return Func(function, requires_top_level)


def pyfunc(function: Callable[P, R]) -> PyFunc[P, R]:
    """Makes a function that kernels inline and that Python may call, too."""
    return PyFunc(function)


def static(value, *values):
    """A value that is computed while a kernel is traced, by Python: `if` and `for` of it are done then."""
    return (value, *values) if values else value


def static_assert(condition, message=None):
    """Fails while a kernel is traced if something does not hold."""
    assert condition, message


def static_print(*values, **options):
    """Prints while a kernel is traced."""
    print(*values, **options)


class LoopConfig(NamedTuple):
    """What `loop_config` says of a loop."""

    block_dim: int | None = None
    name: str | None = None


NO_CONFIG = LoopConfig()


def loop_config(
    *, block_dim=None, serialize=False, parallelize=None, block_dim_adaptive=True, bit_vectorize=False, name=None
):
    """Says how the next loop of a kernel's top level is executed. `serialize`: by one thread, in order. `block_dim`: in blocks
    of so many threads; without it operations of blocks see 128. `name`: what profiles call it. The others change nothing that a program sees."""
    if block_dim is not None and not (isinstance(block_dim, int) and 1 <= block_dim <= MOST_THREADS):
        raise ValueError(f"block_dim is a number from 1 to {MOST_THREADS}, and not {block_dim!r}")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name is a text, and not {name!r}")
    return LoopConfig(block_dim, name)


def axes_of(axes, count):
    """The numbers of several dimensions from the outermost: as they are, or as `axes` says."""
    if axes is None:
        return range(count)
    if not isinstance(axes, tuple):
        raise QuadrantsSyntaxError(f"axes is a tuple of the numbers of all dimensions, and not {axes!r}")
    if not all(isinstance(axis, int) for axis in axes):
        raise QuadrantsTypeError(f"axes are numbers of dimensions, and not {axes!r}")
    if sorted(axes) != list(range(count)):
        raise QuadrantsSyntaxError(f"axes={axes!r} does not have the number of each of {count} dimensions once")
    return axes


class ndrange:
    """All tuples of indices of several ranges, the last varying fastest, or that which `axes` names last. An entry is an end,
    or a begin and an end."""

    def __init__(self, *dimensions, axes=None):
        self.bounds = []
        for entry in dimensions:
            begin, end = entry if isinstance(entry, tuple) else (0, entry)
            if not (isinstance(begin, int) and isinstance(end, int)):
                raise QuadrantsTypeError(f"a dimension is an integer, or a begin and an end, and not {entry!r}")
            self.bounds.append((begin, end))

        self.axes = axes_of(axes, len(self.bounds))

    def __iter__(self):
        inner = [self.axes.index(axis) for axis in range(len(self.bounds))]
        for indices in itertools.product(*(range(*self.bounds[axis]) for axis in self.axes)):
            yield tuple(indices[place] for place in inner)

    def __len__(self):
        return math.prod(max(end - begin, 0) for begin, end in self.bounds)


class grouped:
    """What a loop goes over, with its indices as one vector, `I` of `a[I]`, `a[I + 1]` and `I[0]`: an `ndrange`, or an array."""

    def __init__(self, x):
        if not isinstance(x, ndrange) and not isinstance(getattr(x, "shape", None), tuple):
            raise QuadrantsTypeError(f"qd.grouped takes an ndrange, or an array, and not {x!r}")
        self.x = x

    def __iter__(self):
        if isinstance(self.x, ndrange):
            return map(Indices, self.x)
        offset = getattr(self.x, "offset", None) or (0,) * len(self.x.shape)
        return map(Indices, itertools.product(*(range(first, first + extent) for first, extent in zip(offset, self.x.shape))))

    def __len__(self):
        return len(self.x) if isinstance(self.x, ndrange) else math.prod(self.x.shape)


# What Python evaluates as a whole while it traces.
STATIC = (static, static_assert, static_print)


# Threads of a block.
MOST_THREADS = 1024
# Those of a loop of which nothing is said, on every device.
DEFAULT_THREADS = 128

# Calls inside one another: a function that calls itself with ever other objects is stopped here.
MOST_CALLS = 50


class Frame:
    """A function that is being traced: its names, and what is open in it."""

    def __init__(self, function, source, depth=0, caller=None, call=None, func=None):
        self.source = source
        self.func = func
        self.caller = caller
        # Where it is called.
        self.call = call
        # How many runtime branches and loops are around the call.
        self.depth = depth
        # The names of the blocks that are open, innermost last.
        self.scopes = [{}]
        self.loops = []
        # At the top level, the names that several of its tasks have, and the scopes that are open there.
        self.spanning = set()
        self.top = 1
        # Of the statement of the top level that is traced: what those of its expressions are that tasks before it have computed; those
        # that are to be computed before the next call with tasks; and the names that they, or what they call, assign.
        self.kept = {}
        self.postponed = []
        self.changed = set()
        # Objects of Python among its arguments: what it is a specialisation for.
        self.objects = {}
        self.is_done = False
        self.returned = None
        # Whether other tasks than its own have what it returns.
        self.keeps = False
        self.closure = closure_of(function)
        self.globals = function.__globals__
        # Names that the function assigns, in whatever block: they are never those of its surroundings.
        self.locals = set(function.__code__.co_varnames)

    def calls(self):
        """The calls around, innermost first, each with the frame that it stands in."""
        frame = self
        while frame.caller is not None:
            yield frame.call, frame.caller
            frame = frame.caller
