"""The tracer: from a kernel's tree to its record. Names, tasks and control flow are decided here, types are
not."""

import ast
import warnings

from qd import _core
from qd._dtypes import BY_NAME
from qd._expressions import _BINARY, MISSING, Expressions
from qd._functions import Baked, Frame, Func, Method, ndrange
from qd._values import Array, Value, Variable
from qd.exception import QuadrantsCompilationError, QuadrantsSyntaxError, QuadrantsTypeError
from qd.types import NdarrayType

_PURE = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Tuple,
    ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


class Loop:
    """A loop that is open: the variables that say that its body, or all of it, is done."""

    def __init__(self, broken=None, continued=None, unrolled_at=None):
        self.broken = broken
        self.continued = continued
        # Of one that is unrolled, how deep it stands, and the jump by which its round has been left.
        self.unrolled_at = unrolled_at
        self.left = None


def jumps(statements, kinds=(ast.Break, ast.Continue)):
    """Whether statements may leave the loop that they are in, or its round."""
    for statement in statements:
        if isinstance(statement, kinds):
            return True
        if isinstance(statement, ast.If) and jumps(statement.body + statement.orelse, kinds):
            return True
    return False


def extent_names(name, rank):
    """The parameters that hold an array's extents, which are those after the array."""
    return [] if rank == 1 else [f"{name}.shape[{axis}]" for axis in range(rank)]


class Tracer(Expressions):
    """Traces one kernel for one set of types."""

    def __init__(self, function, source, signature, key, config):
        recorder = _core.Recorder(source.name, source.file, config.default_fp.name, config.default_ip.name)
        super().__init__(function, source, recorder, config)
        self.signature = signature
        self._declare_parameters(*key)

    def _declare_parameters(self, *key):
        *types, overlapping = key
        names = self.frame.scopes[0]
        number = 0
        for (name, parameter), dtype in zip(self.signature.parameters.items(), types):
            if isinstance(dtype, Baked):
                names[name] = dtype.value
                continue
            if isinstance(parameter, NdarrayType):
                dtype, rank = dtype
                self.ask(self.node, "array", name, dtype.name)
                names[name] = Array(number, dtype, tuple(self._extents(name, number, rank)))
                number += len(extent_names(name, rank))
            else:
                is_host = not dtype.is_real and dtype.name != "u1"
                says = {"is_host": is_host, "is_pure": True, "parameter": name}
                names[name] = self.made(self.node, "parameter", name, dtype.name, **says)
            number += 1
        for dtype in self.signature.results:
            self.ask(self.node, "result", dtype.name)
        if overlapping:
            self.recorder.overlap()

    def _extents(self, name, number, rank):
        """The extents of an array: an array of one dimension knows its own, all others lie in memory as such a one."""
        says = {"is_host": True, "is_pure": True}
        if rank == 1:
            return [self.made(self.node, "extent", number, **says)]
        return [self.made(self.node, "parameter", each, "i32", parameter=each, **says) for each in extent_names(name, rank)]

    def trace(self):
        """The recorder, with all in it."""
        try:
            self._top_level(self.frame.source.tree.body)
            if self.signature.results and not self.frame.is_done:
                raise self.error(QuadrantsSyntaxError, self.frame.source.tree, "the kernel ends without a return")
        except QuadrantsCompilationError as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            if self.config.print_full_traceback:
                raise
            message = f"{type(error).__name__}: {error}"
            located = self.error(QuadrantsCompilationError, self.node, message)
            raise located from None
        return self.recorder

    # Tasks.

    def _top_level(self, statements):
        """A loop is a task, and so is what lies between two of them."""
        constants = self._constants(statements)
        run = []
        for statement in statements:
            if not self._has_tasks(statement):
                run.append(statement)
                if isinstance(statement, ast.Return):
                    break
                continue
            self._serial_task(run, constants)
            run = []
            self._tasks(statement)
            if self.frame.is_done:
                return
        self._serial_task(run, constants)

    def _has_tasks(self, statement):
        """Whether a statement of the top level is a loop, or has some at the top level, too."""
        if isinstance(statement, ast.For):
            return not self.is_static(statement.iter) or any(map(self._has_tasks, statement.body))
        if isinstance(statement, ast.If) and self.is_static(statement.test):
            return any(map(self._has_tasks, statement.body + statement.orelse))
        func, _ = self._called(statement)
        if func is None or any(frame.func is func for _, frame in self.frame.calls()) or self.frame.func is func:
            return False
        caller, self.frame = self.frame, Frame(func.function, func.source, 0, self.frame, statement.value, func)
        has_tasks = any(map(self._has_tasks, func.source.tree.body))
        self.frame = caller
        return has_tasks

    def _called(self, statement):
        """The function that a statement calls, and the arguments before those of the call."""
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return None, ()
        callee = self.callee(statement.value)
        if isinstance(callee, Method):
            return callee.func, [callee.instance]
        return (callee, ()) if isinstance(callee, Func) else (None, ())

    def _tasks(self, statement):
        """The tasks of a statement that has some."""
        if isinstance(statement, ast.If):
            self._top_level(statement.body if self.python(statement.test) else statement.orelse)
        elif isinstance(statement, ast.Expr):
            func, first = self._called(statement)
            self.node = statement
            frame = self.entered(statement.value, func, first)
            for argument in frame.scopes[0].values():
                if isinstance(argument, Variable) or (isinstance(argument, Value) and not argument.is_pure):
                    raise self.later(statement, "an argument that is computed on the device, of a function with parallel loops,")
            caller, self.frame = self.frame, frame
            self._top_level(func.source.tree.body)
            self.frame = caller
        elif self.is_static(statement.iter):
            self._unroll(statement, self._top_level)
        else:
            self._parallel(statement)

    def _constants(self, statements):
        """The assignments of names that are assigned once, of what any task can compute, and those of what is static."""
        stored = self._stored()
        found = set()
        known = {name for scope in self.frame.scopes for name, value in scope.items() if not isinstance(value, Variable)}
        for statement in statements:
            if not isinstance(statement, ast.Assign):
                continue
            nodes = list(ast.walk(statement.value))
            if self.is_static(statement.value):
                # A comprehension has names of its own.
                own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
                read = {node.id for node in nodes if isinstance(node, ast.Name)} - own
                if all(name in known for name in read if name in stored):
                    found.add(statement)
                    targets = [node for target in statement.targets for node in ast.walk(target)]
                    known.update(node.id for node in targets if isinstance(node, ast.Name))
                continue
            target = statement.targets[0]
            if len(statement.targets) != 1 or not isinstance(target, ast.Name):
                continue
            if stored[target.id] != 1 or target.id in known:
                continue
            if all(isinstance(node, _PURE) for node in nodes) and self._reads_only(nodes, known, stored):
                found.add(statement)
                known.add(target.id)
        return found

    def _stored(self):
        """How often each name is assigned, by the function that is traced or by one that it is given to."""
        stored = {}
        for node in ast.walk(self.frame.source.tree):
            names = []
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names = [node.id]
            elif isinstance(node, ast.Call):
                callee = self.callee(node)
                if isinstance(callee, (Func, Method)):
                    names = callee.assigned_of(node)
            for name in names:
                stored[name] = stored.get(name, 0) + 1
        return stored

    def _reads_only(self, nodes, known, stored):
        """Whether an expression reads no variable and no element."""
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in stored and node.id not in known:
                return False
            if isinstance(node, ast.Compare) and len(node.ops) > 1:
                return False
            if isinstance(node, ast.Call) and isinstance(self.callee(node), (Func, Method)):
                return False
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in known:
                return False
        return True

    def _serial_task(self, statements, constants):
        """Statements that one thread executes; constants are computed where they are used."""
        rest = []
        for statement in statements:
            if statement in constants and self.is_static(statement.value):
                self.do_Assign(statement)
            elif statement in constants:
                value = self.expression(statement.value)
                is_number = not isinstance(value, (Array, tuple))
                name = statement.targets[0].id
                self.frame.scopes[-1][name] = self.lift(statement.value, value) if is_number else value
            elif not isinstance(statement, ast.Pass) and not _is_text(statement):
                rest.append(statement)
        if not rest:
            return
        self.node = rest[0]
        first = self.ask(rest[0], "integer", 0, "i32")
        last = self.ask(rest[0], "integer", 1, "i32")
        self.task += 1
        self.ask(rest[0], "task", first, last)
        self.block(rest)
        self.ask(rest[-1], "end")

    def _parallel(self, node):
        begin, end, dimensions = self._range(node)
        for bound in (begin, end):
            if not bound.is_host:
                raise self.later(node.iter, "a parallel loop whose bound is computed on the device")
        self._check_loop(node)
        self.task += 1
        number = self.made(node, "task", begin.number, end.number)
        if jumps(node.body, ast.Break):
            raise self.error(QuadrantsSyntaxError, node, "Cannot break out of a parallel loop")
        continued = self._flag(node) if jumps(node.body, ast.Continue) else None
        self._body(node, Loop(None, continued), number, dimensions)
        self.ask(node, "end")

    # Blocks and statements.

    def block(self, statements):
        """Statements in order. What follows one that may leave the round is done only if it did not."""
        for i, statement in enumerate(statements):
            self.statement(statement)
            rest = statements[i + 1 :]
            loop = self.frame.loops[-1] if self.frame.loops else None
            if isinstance(statement, (ast.Break, ast.Continue)) or self.frame.is_done or (loop and loop.left):
                return
            if rest and loop and loop.unrolled_at is None and jumps([statement]):
                flags = [self.made(statement, "get", flag) for flag in (loop.broken, loop.continued) if flag is not None]
                left = flags[0] if len(flags) == 1 else self.binary(statement, "|", *flags)
                self.ask(statement, "begin_if", self.ask(statement, "unary", "logic_not", left.number))
                self.block(rest)
                self.ask(statement, "end")
                return

    def scoped(self, statements):
        """A block with names of its own, which is a branch."""
        self.frame.scopes.append({})
        self.inside(lambda: self.block(statements))
        self.frame.scopes.pop()

    def statement(self, node):
        self.node = node
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is None:
            raise self.error(QuadrantsSyntaxError, node, f'Unsupported node "{type(node).__name__}"')
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self._declare_named(part)
        method(node)

    def _declare_named(self, node):
        """Declares what an expression assigns: some of it may be in a branch, and its names are of the block around."""
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr) and self.lookup(each.target.id) is MISSING:
                number = self.ask(each, "declare_later")
                self.frame.scopes[-1][each.target.id] = Variable(number, self.task, is_pending=True)

    def do_Pass(self, node):
        pass

    def do_Expr(self, node):
        if not _is_text(node):
            self.expression(node.value)

    def do_Assign(self, node):
        value = self.expression(node.value)
        is_static = self.is_static(node.value)
        for target in node.targets:
            if is_static:
                self._bind(target, value)
                continue
            self.assign(target, value, node.value)

    def _bind(self, target, value):
        """Gives an object of Python a name."""
        if isinstance(target, ast.Tuple):
            values = tuple(value)
            if len(values) != len(target.elts):
                raise self.error(QuadrantsSyntaxError, target, f"{len(target.elts)} names take as many values")
            for each, one in zip(target.elts, values):
                self._bind(each, one)
        elif not isinstance(target, ast.Name):
            raise self.error(QuadrantsSyntaxError, target, "what is static is given to names alone")
        elif isinstance(self.lookup(target.id), (Value, Variable)):
            raise self.error(QuadrantsSyntaxError, target, f'"{target.id}" is a value of the kernel already')
        else:
            self.frame.scopes[-1][target.id] = value

    def assign(self, target, value, node):
        if isinstance(target, ast.Tuple):
            values = value if isinstance(value, tuple) else ()
            if len(values) != len(target.elts):
                raise self.error(QuadrantsSyntaxError, target, f"{len(target.elts)} names take as many values")
            for each, one in zip(target.elts, values):
                self.assign(each, one, node)
        elif isinstance(target, ast.Name):
            self._assign_name(target, value, node)
        elif isinstance(target, ast.Subscript):
            array = self._array(target)
            index = self.index(target, array)
            value = self.lift(node, value)
            self.ask(target, "store", array.number, index.number, value.number)
        else:
            raise self.later(target, "an assignment to this")

    def _array(self, target):
        array = self.expression(target.value)
        if not isinstance(array, Array):
            raise self.later(target, "an assignment to an element of what is no array")
        return array

    def _assign_name(self, target, value, node):
        known = self.lookup(target.id)
        if isinstance(value, Array) and known is MISSING:
            self.frame.scopes[-1][target.id] = value
            return
        value = self.lift(node, value)
        if known is MISSING:
            self._declare(target, target.id, value)
            return
        number = self._variable(target, known)
        if getattr(known, "is_pending", False):
            self.ask(target, "settle", number, value.number, value.number)
            scope = next(scope for scope in reversed(self.frame.scopes) if target.id in scope)
            scope[target.id] = Variable(number, self.task)
        self.ask(target, "set", number, value.number)

    def on_NamedExpr(self, node):
        self._assign_name(node.target, self.expression(node.value), node.value)
        return self.expression(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))

    def _declare(self, node, name, value):
        self.frame.scopes[-1][name] = Variable(self.ask(node, "declare", value.number), self.task)

    def _variable(self, target, known):
        """The variable that a name is, which is to be assigned."""
        if isinstance(known, Variable):
            if known.task != self.task:
                raise self.later(target, f"a variable of one task that another assigns ('{target.id}')")
            return known.number
        if isinstance(known, Array) or getattr(known, "parameter", None):
            message = f'Kernel argument "{target.id}" is immutable in the kernel'
            raise self.error(QuadrantsSyntaxError, target, message)
        raise self.later(target, f"another assignment to '{target.id}'")

    def do_AnnAssign(self, node):
        if node.value is None:
            raise self.error(QuadrantsSyntaxError, node, "a variable begins with a value")
        value = self.value(node.value)
        dtype = self.signature.scalar(self.expression(node.annotation))
        if dtype is None:
            raise self.later(node.annotation, "a variable that is no scalar")
        self.assign(node.target, self.cast(node, value, dtype), node.value)

    def do_AugAssign(self, node):
        name = _BINARY.get(type(node.op), type(node.op).__name__)
        if isinstance(node.target, ast.Name):
            known = self.lookup(node.target.id)
            old = self.lift(node.target, self.name(node.target))
            new = self.binary(node, name, old, self.value(node.value))
            self.ask(node.target, "set", self._variable(node.target, known), new.number)
            return
        if not isinstance(node.target, ast.Subscript):
            raise self.later(node.target, "an assignment to this")
        array = self._array(node.target)
        index = self.index(node.target, array)
        value = self.value(node.value)
        if name in ("+", "-", "&", "|", "^"):
            self.ask(node, "atomic", name, array.number, index.number, value.number)
            return
        old = self.made(node.target, "load", array.number, index.number)
        new = self.binary(node, name, old, value)
        self.ask(node, "store", array.number, index.number, new.number)

    def do_If(self, node):
        if self.is_static(node.test):
            self.block(node.body if self.python(node.test) else node.orelse)
            return
        condition = self.value(node.test)
        self.ask(node, "begin_if", condition.number)
        self.scoped(node.body)
        if node.orelse:
            self.ask(node, "begin_else")
            self.scoped(node.orelse)
        self.ask(node, "end")

    def do_Return(self, node):
        if self.depth > self.frame.depth:
            raise self.error(QuadrantsSyntaxError, node, "Return inside non-static if/for is not supported")
        self.frame.is_done = True
        if self.frame.caller is not None:
            self.frame.returned = None if node.value is None else self.expression(node.value)
            return
        results = self.signature.results
        if not results:
            if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
                return
            message = "A kernel with a return value must be annotated with a return type"
            raise self.error(QuadrantsSyntaxError, node, message)
        value = None if node.value is None else self.expression(node.value)
        values = value if isinstance(value, tuple) else (value,)
        if len(values) != len(results) or value is None:
            message = f"{len(results)} values are to be returned, and not {len(values)}"
            raise self.error(QuadrantsSyntaxError, node, message)
        for number, one in enumerate(values):
            self.ask(node, "give", number, self.lift(node.value, one).number)

    # Loops.

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

    def _range(self, node):
        """The bounds of a `for`, as i32; and of a loop over several dimensions, which counts all their elements, the first
        index and the extent of each."""
        call = node.iter
        zero = self.made(call, "integer", 0, "i32", is_host=True, is_pure=True)
        iterated = self.callee(call) if isinstance(call, ast.Call) else self.expression(call)
        if isinstance(iterated, Array):
            bounds = [(zero, extent) for extent in iterated.shape]
        elif isinstance(call, ast.Call) and iterated in (range, ndrange):
            if call.keywords:
                raise self.later(call.keywords[0].value, f"a keyword of {iterated.__name__} in a kernel")
            bounds = self._range_of(call, zero) if iterated is range else [self._dimension(each, zero) for each in call.args]
        else:
            raise self.later(call, "a loop over anything but range(…), qd.ndrange(…) and arrays")
        names = _targets(node)
        if len(names) != len(bounds):
            message = f"a loop over {len(bounds)} dimensions has as many variables, and not {len(names)}"
            raise self.error(QuadrantsSyntaxError, node.target, message)
        if len(bounds) == 1:
            return *bounds[0], None
        dimensions = []
        for begin, end in bounds:
            extent = end if begin is zero else self.binary(call, "-", end, begin, on_host=True)
            dimensions.append((begin, self.binary(call, "max", extent, zero, on_host=True)))
        count = dimensions[0][1]
        for _, extent in dimensions[1:]:
            count = self.binary(call, "*", count, extent, on_host=True)
        return zero, count, [(None if begin is zero else begin, extent) for begin, extent in dimensions]

    def _range_of(self, call, zero):
        if not 1 <= len(call.args) <= 2:
            raise self.error(QuadrantsSyntaxError, call, f"Range should have 1 or 2 arguments, found {len(call.args)}")
        first, *second = [self._bound(argument, self.expression(argument)) for argument in call.args]
        return [(first, second[0])] if second else [(zero, first)]

    def _dimension(self, node, zero):
        """An entry of an `ndrange`: an end, or a begin and an end."""
        given = self.expression(node)
        if not isinstance(given, tuple):
            return zero, self._bound(node, given)
        if len(given) != 2:
            raise self.error(QuadrantsTypeError, node, f"a dimension is an end, or a begin and an end, and not {len(given)} values")
        return self._bound(node, given[0]), self._bound(node, given[1])

    def _bound(self, node, given):
        bound = self.lift(node, given)
        if bound.dtype.is_real:
            raise self.error(QuadrantsTypeError, node, f"a bound is an integer, and not '{bound.dtype}'")
        if bound.dtype.name != "i32":
            shown = self.frame.source.shown(node)
            warnings.warn(f"{shown}\na bound of type '{bound.dtype}' is cast to i32", stacklevel=2)
            bound = self.cast(node, bound, BY_NAME["i32"])
        return bound

    def _declare_indices(self, node, number, dimensions):
        """The variables of a loop, in its round with this number."""
        indices = [number]
        if dimensions is not None:
            indices = []
            # The last varies fastest.
            for begin, extent in reversed(dimensions[1:]):
                indices.append((begin, self.binary(node, "raw_mod", number, extent)))
                number = self.binary(node, "raw_div", number, extent)
            indices.append((dimensions[0][0], number))
            indices = [index if begin is None else self.binary(node, "+", begin, index) for begin, index in reversed(indices)]
        for target, index in zip(_targets(node), indices):
            self._declare(target, target.id, index)

    def _flag(self, node):
        """A variable that is false."""
        return self.ask(node, "declare", self.ask(node, "boolean", False))

    def _body(self, node, loop, number=None, dimensions=None):
        """The body of a loop, in its round with this number."""
        self.frame.scopes.append({})
        self.frame.loops.append(loop)
        if number is not None:
            self._declare_indices(node, number, dimensions)
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
            message = f"{self.frame.source.shown(node)}\na loop is unrolled {len(values)} times: compiling may take long"
            warnings.warn(message, SyntaxWarning, stacklevel=2)
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
        begin, end, dimensions = self._range(node)
        self._check_loop(node)
        if not jumps(node.body, ast.Break):
            number = self.made(node, "begin_for", begin.number, end.number)
            continued = self._flag(node) if jumps(node.body, ast.Continue) else None
            self._body(node, Loop(None, continued), number, dimensions)
            self.ask(node, "end")
            return
        # One that may end early counts by itself.
        broken = self._flag(node)
        counter = self.ask(node, "declare", begin.number)
        self.ask(node, "begin_while")
        goes_on = self.binary(node, "<", self.made(node, "get", counter), end)
        not_broken = self.made(node, "unary", "logic_not", self.ask(node, "get", broken))
        self.ask(node, "begin_do", self.binary(node, "&", goes_on, not_broken).number)
        number = self.made(node, "get", counter)
        one = self.made(node, "integer", 1, "i32")
        self.ask(node, "set", counter, self.binary(node, "+", number, one).number)
        continued = self._flag(node) if jumps(node.body, ast.Continue) else None
        self._body(node, Loop(broken, continued), number, dimensions)
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
            self.ask(node, "set", getattr(loop, flag), self.ask(node, "boolean", True))
            return
        if self.depth > loop.unrolled_at:
            message = f"Cannot {type(node).__name__.lower()} an unrolled loop under an if that is not static"
            raise self.error(QuadrantsSyntaxError, node, message)
        loop.left = type(node)


def _targets(node):
    """The variables of a loop."""
    return node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]


def _is_text(statement):
    """Whether it is a docstring, or another constant that stands alone."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
