"""Statements of kernels but for loops: blocks, assignments, branches."""

import ast

from qd._calls import Calls
from qd._expressions import _BINARY, MISSING
from qd._functions import loop_config
from qd._indices import Indices, places
from qd._operations import ASSIGNING
from qd._storage import Field
from qd._values import Array, Spanning, Value, Variable, is_number, is_tuple, is_variable, leaves
from qd.exception import QuadrantsSyntaxError, QuadrantsTypeError


# What several names are assigned as.
SEVERAL = (ast.Tuple, ast.List)


def jumps(statements, kinds):
    """The first of statements of these kinds, which leave the loop that they are in, or its round; None. It may be in a branch that
    is not taken."""
    for statement in statements:
        if isinstance(statement, kinds):
            return statement
        if isinstance(statement, ast.If) and (found := jumps(statement.body + statement.orelse, kinds)):
            return found
    return None


def is_text(statement):
    """Whether it is a docstring, or another constant that stands alone."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class Statements(Calls):
    """Traces statements. `self.signature` is the kernel's."""

    def block(self, statements):
        """Statements in order. What follows one that may leave the round is done only if it did not."""
        loop = self.frame.loops[-1] if self.frame.loops else None
        for i, statement in enumerate(statements):
            jumps_before = loop and loop.jumps
            self.statement(statement)
            rest = statements[i + 1 :]
            if isinstance(statement, (ast.Break, ast.Continue)) or self.frame.is_done or (loop and loop.left):
                return
            # A branch that is not taken has none.
            if rest and loop and loop.jumps > jumps_before:
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
        if self.frame.source.has_named:
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    self._declare_named(part)
        method(node)

    def _declare_named(self, node):
        """Declares what an expression assigns: some of it may be in a branch, and its names are of the block around."""
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr) and not self._spans(each.target.id) and self.lookup(each.target.id) is MISSING:
                self.frame.scopes[-1][each.target.id] = self._pending(each, each.value)

    def _pending(self, node, value):
        """A variable of what an expression is; of a tuple that is written out one for each of its members."""
        if isinstance(value, ast.Tuple) and value.elts and not any(isinstance(each, ast.Starred) for each in value.elts):
            return tuple(self._pending(node, each) for each in value.elts)
        return Variable(self.ask(node, "declare_later"), self.task, is_pending=True, depth=self.depth)

    def do_Pass(self, node):
        pass

    def do_Expr(self, node):
        if self.is_loop_config(node):
            self.warn(node, "qd.loop_config is for loops of a kernel's top level, and changes nothing here")
        elif not is_text(node):
            self.expression(node.value)

    def is_loop_config(self, node):
        """Whether a statement is `qd.loop_config(…)`."""
        return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and self.callee(node.value) is loop_config

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
        if isinstance(target, SEVERAL):
            values = tuple(value)
            self.check_names(target, values)
            for each, one in zip(target.elts, values):
                self._bind(each, one)
        elif not isinstance(target, ast.Name):
            raise self.error(QuadrantsSyntaxError, target, "what is static is given to names alone")
        elif any(isinstance(each, (Value, Variable, Spanning)) for each in leaves(self.lookup(target.id))):
            raise self.error(QuadrantsSyntaxError, target, f'"{target.id}" is a value of the kernel already')
        else:
            self.frame.scopes[-1][target.id] = value

    def check_names(self, target, values):
        """That there is a name for each value."""
        for each in target.elts:
            if isinstance(each, ast.Starred):
                raise self.later(each, "a name of the values that are left")
        if len(values) != len(target.elts):
            raise self.error(QuadrantsSyntaxError, target, f"{len(target.elts)} names take as many values, and not {len(values)}")

    def assign(self, target, value, node):
        if isinstance(target, SEVERAL):
            values = value if isinstance(value, tuple) else (value,)
            self.check_names(target, values)
            for each, one in zip(target.elts, values):
                self.assign(each, one, node)
        elif isinstance(target, ast.Name):
            self._assign_name(target, value, node)
        elif (member := self._member(target)) is not None:
            self.write(target, member, self.lift(node, value))
        elif isinstance(target, ast.Subscript):
            array = self._array(target)
            index = self.index(target, array)
            value = self.lift(node, value)
            self.ask(target, "store", array.number, index.number, value.number)
        else:
            raise self.later(target, "an assignment to this")

    def _member(self, target):
        """The variable that a member of a vector of indices is; none of another target."""
        known = self.lookup(target.value.id) if isinstance(getattr(target, "value", None), ast.Name) else None
        if not isinstance(known, Indices) or not is_variable(known):
            return None
        if isinstance(target, ast.Attribute):
            # What it has not is an error of reading it, too.
            self.expression(target)
            if len(target.attr) > 1:
                raise self.later(target, "an assignment to several members of a vector of indices")
            (place,) = places(known, target.attr)
        else:
            place = self.expression(target.slice)
            if isinstance(place, Value):
                raise self.later(target.slice, "a member of a vector of indices by a number that is computed")
            if not isinstance(place, int) or not -len(known) <= place < len(known):
                raise self.error(QuadrantsTypeError, target.slice, f"a member of a vector of {len(known)} indices is one of 0 to {len(known) - 1}")
        variable = known[place]
        if isinstance(variable, Variable):
            # One of another task is an error.
            self._variable(target.value, variable)
        return variable

    def _array(self, target):
        array = self.expression(target.value)
        if isinstance(array, tuple):
            raise self.error(QuadrantsTypeError, target, "elements of a tuple are not assigned: assign all of it")
        self.check_elements(target, array)
        if not isinstance(array, Array):
            raise self.later(target, "an assignment to an element of what is no array")
        return array

    def _assign_name(self, target, value, node):
        known = self.lookup(target.id)
        if isinstance(value, Array) and known is MISSING:
            self.frame.scopes[-1][target.id] = value
            return
        if any(getattr(each, "is_pending", False) for each in leaves(known)):
            value = value if is_tuple(value) else self.lift(node, value)
            scope = next(scope for scope in reversed(self.frame.scopes) if target.id in scope)
            scope[target.id] = self._settled(target, known, value, node)
            return
        if is_tuple(value):
            self._assign_tuple(target, known, value, node)
            return
        value = self.lift(node, value)
        if known is MISSING:
            self._declare(target, target.id, value)
            return
        if isinstance(known, Spanning):
            self.write(target, known, value)
            return
        self.ask(target, "set", self._variable(target, known), value.number)

    def _settled(self, target, pending, value, node):
        """What a name is from its first assignment on, which says of what types its variables are."""
        if isinstance(pending, tuple) and is_tuple(value) and len(pending) == len(value):
            return type(value)(self._settled(target, *pair, node) for pair in zip(pending, value))
        if isinstance(pending, Variable) and (isinstance(value, Value) or is_number(value)):
            value = self.lift(node, value)
            self.ask(target, "settle", pending.number, value.number, value.number)
            self.ask(target, "set", pending.number, value.number)
            return Variable(pending.number, self.task)
        # How many variables it is shows only here. In a branch they would end with it.
        if is_tuple(value) and self.depth > min(each.depth for each in leaves(pending)):
            raise self.later(target, "':=' of a tuple that is not written out, where it may be skipped or repeated,")
        return self.declared_as(target, target.id, value)

    def _assign_tuple(self, target, known, value, node):
        if known is MISSING:
            self._declare(target, target.id, value)
        elif not is_variable(known):
            self._variable(target, known)
        elif not isinstance(known, tuple) or len(known) != len(value):
            what = f"a tuple of {len(known)} values" if isinstance(known, tuple) else "a scalar, and no tuple,"
            raise self.error(QuadrantsTypeError, node, f"'{target.id}' is {what} already")
        else:
            for variable, one in zip(known, value):
                self._set_member(target, variable, one, node)

    def _set_member(self, target, variable, value, node):
        """Sets a variable that is a member of a tuple."""
        if isinstance(variable, tuple) and is_tuple(value):
            self._assign_tuple(target, variable, value, node)
        elif isinstance(variable, (Variable, Spanning)):
            self.write(target, variable, self.lift(node, value))
        elif variable is not value:
            raise self.later(target, f"another object of Python in the tuple '{target.id}'")

    def on_NamedExpr(self, node):
        self._assign_name(node.target, self.expression(node.value), node.value)
        return self.expression(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))

    def _spans(self, name):
        """Whether several tasks have what is declared here."""
        return name in self.frame.spanning and len(self.frame.scopes) == self.frame.top

    def _declare(self, node, name, value):
        self.frame.scopes[-1][name] = self.declared_as(node, name, value, self._spans(name))

    def declared_as(self, node, name, value, spans=False):
        """A new variable of a value; of a tuple one for each that is in it. Objects of Python stay what they are."""
        if is_tuple(value):
            return type(value)(self.declared_as(node, name, each, spans) for each in value)
        if not isinstance(value, Value) and not is_number(value):
            return value
        value = self.lift(node, value)
        return self.spanning(node, name, value) if spans else Variable(self.ask(node, "declare", value.number), self.task)

    def spanning(self, node, name, value):
        """A new variable that several tasks have."""
        variable = Spanning(self.temporary(node, name, value.dtype))
        self.write(node, variable, value)
        return variable

    def kept(self, node, name, value):
        """What later tasks have of something that a task computes: what any of them can compute is as it is."""
        if is_tuple(value):
            return type(value)(self.kept(node, name, each) for each in value)
        if isinstance(value, Variable):
            value = self.read(node, value)
        return self.spanning(node, name, value) if isinstance(value, Value) and not value.is_pure else value

    def _variable(self, target, known):
        """The variable that a name is, which is to be assigned."""
        if isinstance(known, Variable):
            if known.task != self.task:
                raise self.later(target, f"a variable of one task that another assigns ('{target.id}')")
            return known.number
        is_parameter = self.frame.caller is None and target.id in self.signature.parameters
        if is_parameter or isinstance(known, Array) or getattr(known, "parameter", None):
            message = f'Kernel argument "{target.id}" is immutable in the kernel'
            raise self.error(QuadrantsSyntaxError, target, message)
        if isinstance(known, tuple):
            message = f"'{target.id}' is a tuple of {len(known)} values already: it is assigned as a whole, and another of as many"
            raise self.error(QuadrantsTypeError, target, message)
        raise self.later(target, f"another assignment to '{target.id}'")

    def do_AnnAssign(self, node):
        if node.value is None:
            raise self.error(QuadrantsSyntaxError, node, "a variable begins with a value")
        value = self.value(node.value)
        dtype = self.signature.scalar(self._annotation(node.annotation))
        if dtype is None:
            raise self.later(node.annotation, "a variable that is no scalar")
        known = self.lookup(node.target.id) if isinstance(node.target, ast.Name) else MISSING
        if isinstance(known, (Variable, Spanning)) and (has := self.read(node, known).dtype) != dtype:
            raise self.error(QuadrantsTypeError, node.annotation, f"'{node.target.id}' is of type '{has}' already")
        self.assign(node.target, self.cast(node, value, dtype), node.value)

    def _annotation(self, node):
        """What an annotation says, which may be text."""
        said = self.expression(node)
        if not isinstance(said, str):
            return said
        meant = ast.parse(said, mode="eval").body
        for each in ast.walk(meant):
            ast.copy_location(each, node)
        return self.expression(meant)

    def do_AugAssign(self, node):
        name = _BINARY.get(type(node.op), type(node.op).__name__)
        if isinstance(node.target, ast.Name):
            known = self.lookup(node.target.id)
            if isinstance(known, Indices) and is_variable(known):
                self._augment(node, name, known)
                return
            if isinstance(known, Spanning) and name in ASSIGNING:
                self.atomic(node, name, known, self.value(node.value))
                return
            if known is not MISSING and not isinstance(known, Spanning):
                self._variable(node.target, known)
            old = self.value(node.target)
            new = self.operated(node, name, old, self.value(node.value))
            self.write(node.target, known, new)
            return
        if (member := self._member(node.target)) is not None:
            if isinstance(member, Spanning) and name in ASSIGNING:
                self.atomic(node, name, member, self.value(node.value))
                return
            old = self.read(node.target, member)
            self.write(node.target, member, self.operated(node, name, old, self.value(node.value)))
            return
        if not isinstance(node.target, ast.Subscript):
            raise self.later(node.target, "an assignment to this")
        array = self._array(node.target)
        index = self.index(node.target, array)
        if name in ASSIGNING:
            self.combined(node, name, array, index.number, self.value(node.value))
            return
        # It is read before tasks of the value.
        is_kept = node.target in self.frame.kept
        old = self.value(node.target) if is_kept else self.made(node.target, "load", array.number, index.number)
        new = self.operated(node, name, old, self.value(node.value))
        self.ask(node, "store", array.number, index.number, new.number)

    def _augment(self, node, name, known):
        """`+=` and the like of a vector of indices, which is that of each of its variables."""
        if isinstance(known[0], Spanning) and name in ASSIGNING:
            given = self.operand(node.value)
            self.by_members(node, lambda variable, each: self.atomic(node, name, variable, self.lift(node.value, each)), known, given)
            return
        old, given = self.expression(node.target), self.operand(node.value)
        new = self.by_members(node, lambda a, b: self.operated(node, name, a, self.lift(node.value, b)), old, given)
        self._assign_tuple(node.target, known, new, node.value)

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

    def do_Assert(self, node):
        """What is checked in debug alone."""
        if not self.config.debug:
            return
        condition = self.value(node.test)
        text = "assertion"
        if node.msg is not None and self._has_values(node.msg):
            # What fails has a text that is known; with its values it is printed.
            self.ask(node, "begin_if", self.made(node, "unary", "logic_not", self.made(node, "truth", condition.number).number).number)
            self.inside(lambda: self.print_all([node.msg]))
            self.ask(node, "end")
            text = ast.unparse(node.msg)
        elif node.msg is not None:
            text = str(self.python(node.msg))
        self.assert_holds(node, condition, text)

    def _has_values(self, node):
        """Whether an f-string, or what `%` formats, has names that the kernel computes, or elements of arrays."""
        is_indexed = any(isinstance(each, ast.Subscript) for each in ast.walk(node))
        return self.has(node, Value, Variable, Spanning) or (is_indexed and self.has(node, Array, Field))

    def do_Return(self, node):
        if self.depth > self.frame.depth:
            raise self.error(QuadrantsSyntaxError, node, "Return inside non-static if/for is not supported")
        self.frame.is_done = True
        if self.frame.caller is not None:
            returned = None if node.value is None else self.expression(node.value)
            if self.frame.keeps:
                returned = self.kept(node, "what is returned", returned)
            self.frame.returned = returned
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
