"""Loops of kernels: what they go over, and how they are left."""

import ast

from qd._dtypes import BY_NAME
from qd._expressions import MISSING
from qd._functions import Func, Getter, Method, axes_of, grouped, ndrange
from qd._indices import Indices
from qd._limits import Limit
from qd._statements import SEVERAL, Statements, jumps
from qd._storage import MOST_ELEMENTS
from qd._values import Array, is_number
from qd.exception import (
    QuadrantsCompilationError,
    QuadrantsRuntimeError,
    QuadrantsSyntaxError,
    QuadrantsTypeError,
    QuadrantsValueError,
)

I32, I64 = BY_NAME["i32"], BY_NAME["i64"]


class Loop:
    """A loop that is open: the variables that say that its body, or all of it, is done."""

    def __init__(self, broken=None, continued=None, unrolled_at=None):
        self.broken = broken
        self.continued = continued
        # Of one that is unrolled, how deep it stands, and the jump by which its round has been left.
        self.unrolled_at = unrolled_at
        self.left = None
        # How often what has been traced of it may leave its round.
        self.jumps = 0


def _targets(node):
    """The variables of a loop."""
    return node.target.elts if isinstance(node.target, SEVERAL) else [node.target]


class Loops(Statements):
    """Traces loops."""

    def _check_loop(self, node):
        if node.orelse:
            raise self.error(QuadrantsSyntaxError, node.orelse[0], "'else' of a loop in a kernel is not supported")
        if isinstance(node, ast.For):
            names = set()
            for target in _targets(node):
                if not isinstance(target, ast.Name):
                    raise self.later(target, "a loop over anything but names")
                if target.id != "_" and (target.id in names or self.lookup(target.id) is not MISSING):
                    message = f'Variable "{target.id}" is already declared in the outer scope'
                    raise self.error(QuadrantsSyntaxError, target, message)
                names.add(target.id)

    def _range(self, node, dtype=I32, is_task=False):
        """The bounds of a `for`; and of a loop over several dimensions, which counts all their elements by a type, the number, the
        first index and the extent of each, from the outermost."""
        call, _ = self._over(node)
        zero = self.made(call, "integer", 0, "i32", is_host=True, is_pure=True)
        bounds = self._bounds(node, zero)
        if len(bounds) == 1:
            return *bounds[0], None
        if not bounds:
            # An array of no dimensions has one element.
            return zero, self.made(call, "integer", 1, "i32", is_host=True, is_pure=True), []
        if is_task:
            self._check_count(node, bounds)
        dimensions = []
        for axis in self._axes(call, len(bounds)):
            begin, end = bounds[axis]
            end = end if dtype is I32 else self.cast(call, end, dtype)
            extent = end if begin is zero else self.binary(call, "-", end, begin, on_host=True)
            extent = self.binary(call, "max", extent, zero, on_host=True)
            dimensions.append((axis, None if begin is zero else begin, extent))
        count = dimensions[0][-1]
        for *_, extent in dimensions[1:]:
            count = self.binary(call, "*", count, extent, on_host=True)
        return zero, count, dimensions

    def _check_count(self, node, bounds):
        """That a parallel loop over several dimensions has no more elements than are counted; each launch looks, if its arguments say."""
        if not all(bound.is_host for pair in bounds for bound in pair) or self.host.is_shape(bounds):
            return
        count, uses_arguments = self.host.counter(bounds, self.signature.parameters)
        message = f"a loop has more than {MOST_ELEMENTS} elements, which is the most that are counted"
        limit = Limit(count, str(self.error(QuadrantsRuntimeError, node.iter, message)))
        if uses_arguments:
            self.limits.append(limit)
        elif limit.is_exceeded(self.signature.parameters):
            raise self.error(QuadrantsValueError, node.iter, message)

    def _over(self, node):
        """What a loop goes over, and whether its indices are one vector."""
        is_grouped = isinstance(node.iter, ast.Call) and self.callee(node.iter) is grouped
        return (self._only(node.iter) if is_grouped else node.iter), is_grouped

    def _bounds(self, node, zero):
        """The bounds of a loop, as i32, of each of its dimensions."""
        call, is_grouped = self._over(node)
        iterated = self.callee(call) if isinstance(call, ast.Call) else self.expression(call)
        if isinstance(iterated, Array):
            extents = [self.lift(call, extent) for extent in iterated.shape]
            bounds = [(zero, extent) for extent in extents]
            if any(iterated.offset or ()):
                bounds = [self._shifted(call, first, extent) for first, extent in zip(iterated.offset, extents)]
        elif isinstance(call, ast.Call) and (iterated is range or iterated is ndrange):
            unknown = [each for each in call.keywords if iterated is range or each.arg != "axes"]
            if unknown:
                raise self.later(unknown[0].value, f"a keyword of {iterated.__name__} in a kernel")
            given = [*self.each(call.args)]
            bounds = self._range_of(call, given, zero) if iterated is range else [self._dimension(*each, zero) for each in given]
        else:
            raise self.later(call, "a loop over anything but range(…), qd.ndrange(…) and arrays")
        names = _targets(node)
        if is_grouped:
            self._check_grouped(node, call, iterated)
            return bounds
        if len(names) != len(bounds):
            message = f"a loop over {len(bounds)} dimension{'s' * (len(bounds) != 1)} has as many variables, and not {len(names)}"
            raise self.error(QuadrantsSyntaxError, node.target, message)
        return bounds

    def _check_grouped(self, node, call, iterated):
        """That a loop over grouped indices has some, and one variable."""
        if iterated is range:
            raise self.error(QuadrantsTypeError, call, "qd.grouped takes qd.ndrange(…), or an array, and no range")
        if isinstance(node.target, SEVERAL):
            message = f"a loop over qd.grouped(…) has one variable, which is a vector, and not {len(node.target.elts)}"
            raise self.error(QuadrantsSyntaxError, node.target, message)

    def _axes(self, call, count):
        """The dimensions of a loop from the outermost."""
        given = call.keywords[0].value if isinstance(call, ast.Call) and call.keywords else None
        try:
            return axes_of(None if given is None else self.python(given), count)
        except QuadrantsCompilationError as error:
            raise self.error(type(error), given, str(error)) from None

    def _shifted(self, node, first, extent):
        first = self.literal(node, first)
        return first, self.binary(node, "+", first, extent, on_host=True)

    def _range_of(self, call, given, zero):
        if not 1 <= len(given) <= 2:
            raise self.error(QuadrantsSyntaxError, call, f"Range should have 1 or 2 arguments, found {len(given)}")
        first, *second = [self._as_i32(node, self.lift(node, bound), bound) for node, bound in given]
        return [(first, second[0])] if second else [(zero, first)]

    def _dimension(self, node, given, zero):
        """An entry of an `ndrange`: an end, or a begin and an end."""
        if not isinstance(given, tuple):
            return zero, self._bound(node, given)
        if len(given) != 2:
            raise self.error(QuadrantsTypeError, node, f"a dimension is an end, or a begin and an end, and not {len(given)} values")
        return self._bound(node, given[0]), self._bound(node, given[1])

    def _bound(self, node, given):
        """A bound of an `ndrange`."""
        bound = self.lift(node, given)
        if bound.dtype.is_real:
            raise self.error(QuadrantsTypeError, node, f"a bound is an integer, and not '{bound.dtype}'")
        return self._as_i32(node, bound, given)

    def _as_i32(self, node, bound, given):
        """A bound in the type of indices, with a warning where it may be another number; `given` is what the kernel says."""
        if bound.dtype is I32:
            return bound
        # An integer that is known loses nothing.
        if not is_number(given) or bound.dtype.is_real or not I32.least <= given <= I32.most:
            self.warn(node, f"a bound of type '{bound.dtype}' is cast to i32")
        return self.literal(node, I32(given), I32) if is_number(given) else self.cast(node, bound, I32)

    def indices(self, node, number, dimensions):
        """The indices of a loop in its round with this number, by their axes."""
        indices = {} if dimensions == [] else {0: number}
        # The last varies fastest.
        for place, (axis, begin, extent) in reversed([*enumerate(dimensions or ())]):
            index = number if place == 0 else self.binary(node, "raw_mod", number, extent)
            number = number if place == 0 else self.binary(node, "raw_div", number, extent)
            index = index if index.dtype is I32 else self.cast(node, index, I32)
            indices[axis] = index if begin is None else self.binary(node, "+", begin, index)
        return indices

    def _nested(self, node, begin, end, dimensions):
        """Begins a serial loop, in itself for each dimension: the indices of a round, by their axes."""
        if dimensions is None:
            return {0: self.made(node, "begin_for", begin.number, end.number)}
        indices = {}
        for axis, first, extent in dimensions:
            index = self.made(node, "begin_for", begin.number, extent.number)
            indices[axis] = index if first is None else self.binary(node, "+", first, index)
        return indices

    def _flag(self, node):
        """A variable that is false."""
        return self.ask(node, "declare", self.ask(node, "boolean", False))

    def _body(self, node, loop, indices=None):
        """The body of a loop, in its round with these indices."""
        self.frame.scopes.append({})
        self.frame.loops.append(loop)
        if indices is not None:
            _, is_grouped = self._over(node)
            if is_grouped:
                self._declare(node.target, node.target.id, Indices(indices[axis] for axis in sorted(indices)))
            else:
                for axis, target in enumerate(_targets(node)):
                    self._declare(target, target.id, indices[axis])
        self.inside(lambda: self.block(node.body))
        self.frame.loops.pop()
        self.frame.scopes.pop()

    def _unroll(self, node, trace):
        """Traces the body of a static loop for each of its values."""
        if node.orelse:
            raise self.error(QuadrantsSyntaxError, node.orelse[0], "'else' of a loop in a kernel is not supported")
        values = list(self.python(node.iter))
        limit = self.config.unrolling_limit
        if 0 < limit < len(values):
            self.warn(node, f"a loop is unrolled {len(values)} times: compiling may take long", SyntaxWarning)
        for value in values:
            loop = Loop(unrolled_at=self.depth)
            self.frame.scopes.append({})
            self.frame.loops.append(loop)
            self._bind(node.target, value)
            trace(node.body)
            self.frame.loops.pop()
            self.frame.scopes.pop()
            if self.frame.is_done or loop.left is ast.Break:
                break

    def do_For(self, node):
        if self.is_static(node.iter):
            self._unroll(node, self.block)
            return
        breaks = jumps(node.body, ast.Break)
        # Of several dimensions it may count more than an i32 does.
        begin, end, dimensions = self._range(node, I64 if breaks else I32)
        self._check_loop(node)
        if not breaks:
            indices = self._nested(node, begin, end, dimensions)
            continued = self._flag(node) if jumps(node.body, ast.Continue) else None
            self._body(node, Loop(None, continued), indices)
            for _ in indices:
                self.ask(node, "end")
            return
        # One that may end early counts by itself.
        broken = self._flag(node)
        counter = self.ask(node, "declare", self.cast(node, begin, end.dtype).number)
        self.ask(node, "begin_while")
        goes_on = self.binary(node, "<", self.made(node, "get", counter), end)
        not_broken = self.made(node, "unary", "logic_not", self.ask(node, "get", broken))
        self.ask(node, "begin_do", self.binary(node, "&", goes_on, not_broken).number)
        number = self.made(node, "get", counter)
        one = self.made(node, "integer", 1, "i32")
        self.ask(node, "set", counter, self.binary(node, "+", number, one).number)
        continued = self._flag(node) if jumps(node.body, ast.Continue) else None
        self._body(node, Loop(broken, continued), self.indices(node, number, dimensions))
        self.ask(node, "end")

    def do_While(self, node):
        self._check_loop(node)
        broken = self._flag(node) if jumps(node.body, ast.Break) else None
        if self._may_assign(node.test):
            self._while_assigning(node, broken)
            return
        self.ask(node, "begin_while")
        if broken is None:
            condition = self.value(node.test)
        else:
            not_broken = self.made(node, "unary", "logic_not", self.ask(node, "get", broken))
            condition = self.logic(node, "and", not_broken, lambda: self.value(node.test))
        self.ask(node, "begin_do", condition.number)
        continued = self._flag(node) if jumps(node.body, ast.Continue) else None
        self._body(node, Loop(broken, continued))
        self.ask(node, "end")

    def _may_assign(self, node):
        """Whether an expression may assign variables, itself or by a function."""
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr):
                return True
            if isinstance(each, ast.Call) and isinstance(self.callee(each), (Func, Method)):
                return True
            if isinstance(each, ast.Attribute) and isinstance(self.known_as(each), Getter):
                return True
        return False

    def _while_assigning(self, node, broken):
        """A loop whose condition assigns variables. It is computed in the body: what a condition computes is not kept."""
        goes_on = self.ask(node, "declare", self.ask(node, "boolean", True))
        self.ask(node, "begin_while")
        condition = self.made(node, "get", goes_on)
        if broken is not None:
            not_broken = self.made(node, "unary", "logic_not", self.ask(node, "get", broken))
            condition = self.binary(node, "&", condition, not_broken)
        self.ask(node, "begin_do", condition.number)
        holds = self.ask(node, "truth", self.inside(lambda: self.value(node.test)).number)
        self.ask(node, "set", goes_on, holds)
        self.ask(node, "begin_if", holds)
        continued = self._flag(node) if jumps(node.body, ast.Continue) else None
        self._body(node, Loop(broken, continued))
        self.ask(node, "end")
        self.ask(node, "end")

    def do_Break(self, node):
        self._jump(node, "broken")

    def do_Continue(self, node):
        self._jump(node, "continued")

    def _jump(self, node, flag):
        loop = self.frame.loops[-1]
        if loop.unrolled_at is None:
            variable = getattr(loop, flag)
            if variable is None:
                raise self.error(QuadrantsSyntaxError, node, "Cannot break out of a parallel loop")
            loop.jumps += 1
            self.ask(node, "set", variable, self.ask(node, "boolean", True))
            return
        if self.depth > loop.unrolled_at:
            message = f"Cannot {type(node).__name__.lower()} an unrolled loop under an if that is not static"
            raise self.error(QuadrantsSyntaxError, node, message)
        loop.left = type(node)
