"""The tracer: from a kernel's tree to its record. Names, tasks and control flow are decided here, types are
not."""

import ast
import warnings

from qd import _core
from qd._dtypes import BY_NAME
from qd._expressions import _BINARY, Expressions
from qd._values import Array, Value, Variable
from qd.exception import QuadrantsCompilationError, QuadrantsSyntaxError, QuadrantsTypeError
from qd.types import NdarrayType

_PURE = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Tuple,
    ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


class Loop:
    """A loop that is open: the variables that say that its body, or all of it, is done."""

    def __init__(self, is_parallel, broken=None, continued=None):
        self.is_parallel = is_parallel
        self.broken = broken
        self.continued = continued


def jumps(statements, kinds=(ast.Break, ast.Continue)):
    """Whether statements may leave the loop that they are in, or its round."""
    for statement in statements:
        if isinstance(statement, kinds):
            return True
        if isinstance(statement, ast.If) and jumps(statement.body + statement.orelse, kinds):
            return True
    return False


class Tracer(Expressions):
    """Traces one kernel for one set of types."""

    def __init__(self, function, source, signature, key, config):
        recorder = _core.Recorder(source.name, source.file, config.default_fp.name, config.default_ip.name)
        super().__init__(function, source, recorder, config)
        self.signature = signature
        self.loops = []
        self._declare_parameters(*key)

    def _declare_parameters(self, *key):
        *types, overlapping = key
        names = self.scopes[0]
        numbers = enumerate(zip(self.signature.parameters.items(), types))
        for number, ((name, parameter), dtype) in numbers:
            if isinstance(parameter, NdarrayType):
                self.ask(self.node, "array", name, dtype.name)
                extent = self.made(self.node, "extent", number, is_host=True, is_pure=True)
                names[name] = Array(number, dtype, (extent,))
            else:
                is_host = not dtype.is_real and dtype.name != "u1"
                says = {"is_host": is_host, "is_pure": True, "parameter": name}
                names[name] = self.made(self.node, "parameter", name, dtype.name, **says)
        for dtype in self.signature.results:
            self.ask(self.node, "result", dtype.name)
        if overlapping:
            self.recorder.overlap()

    def trace(self):
        """The recorder, with all in it."""
        try:
            self._top_level(self.source.tree.body)
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
        returned = False
        for statement in statements:
            if isinstance(statement, ast.For):
                self._serial_task(run, constants)
                run = []
                self._parallel(statement)
                continue
            run.append(statement)
            if isinstance(statement, ast.Return):
                returned = True
                break
        self._serial_task(run, constants)
        if self.signature.results and not returned:
            raise self.error(QuadrantsSyntaxError, self.source.tree, "the kernel ends without a return")

    def _constants(self, statements):
        """The assignments of names that are assigned once, of what any task can compute."""
        stored = {}
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stored[node.id] = stored.get(node.id, 0) + 1
        found = {}
        known = set(self.scopes[0])
        for statement in statements:
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            (target,) = statement.targets
            if not isinstance(target, ast.Name) or stored[target.id] != 1 or target.id in known:
                continue
            nodes = list(ast.walk(statement.value))
            if all(isinstance(node, _PURE) for node in nodes) and self._reads_only(nodes, known, stored):
                found[statement] = target.id
                known.add(target.id)
        return found

    def _reads_only(self, nodes, known, stored):
        """Whether an expression reads no variable and no element."""
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in stored and node.id not in known:
                return False
            if isinstance(node, ast.Compare) and len(node.ops) > 1:
                return False
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in known:
                return False
        return True

    def _serial_task(self, statements, constants):
        """Statements that one thread executes; constants are computed where they are used."""
        rest = []
        for statement in statements:
            if statement in constants:
                value = self.expression(statement.value)
                is_number = not isinstance(value, (Array, tuple))
                self.scopes[0][constants[statement]] = self.lift(statement.value, value) if is_number else value
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
        begin, end = self._range(node)
        for bound in (begin, end):
            if not bound.is_host:
                raise self.later(node.iter, "a parallel loop whose bound is computed on the device")
        self._check_loop(node)
        self.task += 1
        number = self.made(node, "task", begin.number, end.number)
        if jumps(node.body, ast.Break):
            raise self.error(QuadrantsSyntaxError, node, "Cannot break out of a parallel loop")
        continued = self._flag(node) if jumps(node.body, ast.Continue) else None
        self._body(node, Loop(True, None, continued), number)
        self.ask(node, "end")

    # Blocks and statements.

    def block(self, statements):
        """Statements in order. What follows one that may leave the round is done only if it did not."""
        for i, statement in enumerate(statements):
            self.statement(statement)
            rest = statements[i + 1 :]
            if isinstance(statement, (ast.Break, ast.Continue)):
                return
            if rest and self.loops and jumps([statement]):
                loop = self.loops[-1]
                flags = [self.made(statement, "get", flag) for flag in (loop.broken, loop.continued) if flag is not None]
                left = flags[0] if len(flags) == 1 else self.binary(statement, "|", *flags)
                self.ask(statement, "begin_if", self.ask(statement, "unary", "logic_not", left.number))
                self.block(rest)
                self.ask(statement, "end")
                return

    def scoped(self, statements):
        """A block with names of its own."""
        self.scopes.append({})
        self.block(statements)
        self.scopes.pop()

    def statement(self, node):
        self.node = node
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is None:
            raise self.error(QuadrantsSyntaxError, node, f'Unsupported node "{type(node).__name__}"')
        method(node)

    def do_Pass(self, node):
        pass

    def do_Expr(self, node):
        if not _is_text(node):
            self.expression(node.value)

    def do_Assign(self, node):
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value, node.value)

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
            index = self.index(target)
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
        if isinstance(value, Array) and known is None:
            self.scopes[-1][target.id] = value
            return
        value = self.lift(node, value)
        if known is None:
            self._declare(target, target.id, value)
            return
        self.ask(target, "set", self._variable(target, known), value.number)

    def _declare(self, node, name, value):
        self.scopes[-1][name] = Variable(self.ask(node, "declare", value.number), self.task)

    def _variable(self, target, known):
        """The variable that a name is, which is to be assigned."""
        if isinstance(known, Variable):
            if known.task != self.task:
                raise self.later(target, f"a variable of one task that another assigns ('{target.id}')")
            return known.number
        if isinstance(known, Array) or known.parameter:
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
        index = self.index(node.target)
        value = self.value(node.value)
        if name in ("+", "-", "&", "|", "^"):
            self.ask(node, "atomic", name, array.number, index.number, value.number)
            return
        old = self.made(node.target, "load", array.number, index.number)
        new = self.binary(node, name, old, value)
        self.ask(node, "store", array.number, index.number, new.number)

    def do_If(self, node):
        condition = self.value(node.test)
        self.ask(node, "begin_if", condition.number)
        self.scoped(node.body)
        if node.orelse:
            self.ask(node, "begin_else")
            self.scoped(node.orelse)
        self.ask(node, "end")

    def do_Return(self, node):
        if len(self.scopes) > 1:
            raise self.error(QuadrantsSyntaxError, node, "Return inside non-static if/for is not supported")
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
            if not isinstance(node.target, ast.Name):
                raise self.later(node.target, "a loop over several variables")
            if node.target.id != "_" and self.lookup(node.target.id) is not None:
                message = f'Variable "{node.target.id}" is already declared in the outer scope'
                raise self.error(QuadrantsSyntaxError, node.target, message)

    def _range(self, node):
        """The bounds of a `for`, as i32."""
        call = node.iter
        if not isinstance(call, ast.Call) or call.keywords or self.expression(call.func) is not range:
            raise self.later(call, "a loop over anything but range(…)")
        if not 1 <= len(call.args) <= 2:
            raise self.error(QuadrantsSyntaxError, call, f"Range should have 1 or 2 arguments, found {len(call.args)}")
        bounds = [self._bound(argument) for argument in call.args]
        if len(bounds) == 1:
            bounds.insert(0, self.made(call, "integer", 0, "i32", is_host=True, is_pure=True))
        return bounds

    def _bound(self, node):
        bound = self.value(node)
        if bound.dtype.is_real:
            raise self.error(QuadrantsTypeError, node, f"a bound is an integer, and not '{bound.dtype}'")
        if bound.dtype.name != "i32":
            shown = self.source.shown(node)
            warnings.warn(f"{shown}\na bound of type '{bound.dtype}' is cast to i32", stacklevel=2)
            bound = self.cast(node, bound, BY_NAME["i32"])
        return bound

    def _flag(self, node):
        """A variable that is false."""
        return self.ask(node, "declare", self.ask(node, "boolean", False))

    def _body(self, node, loop, number=None):
        """The body of a loop whose variable is `number`."""
        self.scopes.append({})
        self.loops.append(loop)
        if number is not None:
            self._declare(node.target, node.target.id, number)
        self.block(node.body)
        self.loops.pop()
        self.scopes.pop()

    def do_For(self, node):
        begin, end = self._range(node)
        self._check_loop(node)
        if not jumps(node.body, ast.Break):
            number = self.made(node, "begin_for", begin.number, end.number)
            continued = self._flag(node) if jumps(node.body, ast.Continue) else None
            self._body(node, Loop(False, None, continued), number)
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
        self._body(node, Loop(False, broken, continued), number)
        self.ask(node, "end")

    def do_While(self, node):
        self._check_loop(node)
        broken = self._flag(node) if jumps(node.body, ast.Break) else None
        self.ask(node, "begin_while")
        if broken is None:
            condition = self.value(node.test)
        else:
            not_broken = self.made(node, "unary", "logic_not", self.ask(node, "get", broken))
            condition = self.logic(node, "and", not_broken, lambda: self.value(node.test))
        self.ask(node, "begin_do", condition.number)
        continued = self._flag(node) if jumps(node.body, ast.Continue) else None
        self._body(node, Loop(False, broken, continued))
        self.ask(node, "end")

    def do_Break(self, node):
        self.ask(node, "set", self.loops[-1].broken, self.ask(node, "boolean", True))

    def do_Continue(self, node):
        self.ask(node, "set", self.loops[-1].continued, self.ask(node, "boolean", True))


def _is_text(statement):
    """Whether it is a docstring, or another constant that stands alone."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
