"""Calls of functions with tasks, in the expressions of a statement of the top level. Their tasks stand before the statement,
which has what they return; what Python evaluates before such a call, a task before it computes.

A call is one of these where its statement evaluates it once, and always. One thread executes the loops of others: on the right of
`and` and `or`, in a branch of a conditional expression, in a condition of `while`."""

import ast
import inspect

from qd._dtypes import DataType
from qd._expressions import _BINARY, MISSING
from qd._functions import STATIC, Bundle, Frame, Func, Method, Plain, is_plain
from qd._loops import Loops
from qd._operations import ASSIGNING, ATOMICS, BUILTINS, VOLATILE_LOAD, Operation
from qd._statements import SEVERAL
from qd._values import Array, Spanning, Value, Variable, is_tuple, leaves

# Expressions with names of their own.
_OWN_NAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _within(node):
    """A part of an expression, or those that are in it where it is no expression that is evaluated by itself."""
    if isinstance(node, (ast.Starred, ast.keyword, ast.FormattedValue)):
        yield from _within(node.value)
    elif isinstance(node, ast.JoinedStr):
        for each in node.values:
            yield from _within(each)
    elif isinstance(node, ast.expr):
        yield node


def places_of(statement):
    """The elements among the targets of an assignment."""
    pending = [*statement.targets]
    while pending:
        target = pending.pop(0)
        if isinstance(target, SEVERAL):
            pending[:0] = target.elts
        elif isinstance(target, ast.Subscript):
            yield target


class TaskCalls(Loops):
    """Traces statements with such calls. `self.frame.kept` has what their parts are."""

    # What is evaluated.

    def evaluated(self, statement):
        """The expressions that a statement of the top level evaluates once, in order, each with whether it is a place: of such a one
        its own parts are evaluated, and what it has is not read."""
        if isinstance(statement, ast.Assign):
            target, *others = statement.targets
            if not others and isinstance(target, ast.Subscript):
                return [(statement.value, False), (target, True)]
            found = [(statement.value, False), *((place, True) for place in places_of(statement) if self._has_task_calls(place, True))]
            return found if not self.is_static(statement.value) else []
        if isinstance(statement, ast.AugAssign):
            is_atomic = _BINARY.get(type(statement.op)) in ASSIGNING
            return [(statement.target, True), *([] if is_atomic else [(statement.target, False)]), (statement.value, False)]
        if isinstance(statement, ast.AnnAssign):
            found = [(statement.value, False), (statement.target, True)]
        elif isinstance(statement, (ast.Expr, ast.Return)):
            found = [(statement.value, False)]
        elif isinstance(statement, ast.If) or (isinstance(statement, ast.Assert) and self.config.debug):
            found = [(statement.test, False)]
        elif isinstance(statement, ast.For):
            found = [(statement.iter, False)]
        else:
            found = []
        return [(node, is_place) for node, is_place in found if node is not None and not self.is_static(node)]

    def _parts(self, node):
        """The parts of an expression that are evaluated whenever it is, in order, each with whether it is a place."""
        if isinstance(node, _OWN_NAMES):
            return []
        if isinstance(node, ast.Call):
            return self._parts_of_call(node)
        if isinstance(node, ast.IfExp):
            found = [node.body, node.orelse] if self.is_static(node.test) else [node.test]
        elif isinstance(node, ast.BoolOp):
            found = node.values[:1] if self.config.short_circuit_operators else node.values
        elif isinstance(node, ast.Compare):
            others = node.comparators
            found = [node.left, *(others[:1] if self.config.short_circuit_operators else others)]
        elif isinstance(node, ast.NamedExpr):
            found = [node.value]
        else:
            found = ast.iter_child_nodes(node)
        return [(part, False) for each in found for part in _within(each)]

    def _parts_of_call(self, node):
        callee = self.callee(node)
        if any(callee is each for each in STATIC):
            return []
        places = []
        if isinstance(callee, Operation) and (callee.name in ATOMICS or callee is VOLATILE_LOAD):
            places = node.args[:1] or [each.value for each in node.keywords if each.arg == "x"]
        elif (called := self.called(node)) is not None:
            func, first = called
            # A variable that is given to a template is no value.
            places = [each for name, each in func.given(node, len(first)) if name in func.templates and isinstance(each, ast.Name)]
        parts = [part for each in (node.func, *node.args, *node.keywords) for part in _within(each)]
        return [(part, part in places) for part in parts]

    def called(self, node):
        """The function that is inlined for an expression, and the arguments before those of the call; None."""
        if isinstance(node, ast.Attribute):
            bundle = self.known_as(node.value)
            if not isinstance(bundle, Bundle) or node.attr in vars(bundle):
                return None
            member = inspect.getattr_static(bundle._qd_type, node.attr, None)
            is_func = isinstance(member, property) and isinstance(member.fget, Func)
            return (member.fget, [bundle]) if is_func else None
        callee = self._returned(node.func) if isinstance(node, ast.Call) else None
        if isinstance(callee, Method):
            return callee.func, [callee.instance]
        if is_plain(callee):
            return self.inlined_plain(node, callee, self.may_be_of_kernel)
        return (callee, []) if isinstance(callee, Func) else None

    def _returned(self, node):
        """What an expression is, as `known_as` says, also where it is what a function returns, or a part of that; MISSING."""
        found = self.known_as(node)
        if found is not MISSING:
            return found
        if isinstance(node, ast.Tuple):
            return tuple(map(self._returned, node.elts))
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)):
            around = self._returned(node.value)
            if around is MISSING or isinstance(around, (Value, Variable, Spanning, Array)):
                return MISSING
            if isinstance(node, ast.Attribute):
                return getattr(around, node.attr, MISSING)
            number = node.slice.value
            return around[number] if is_tuple(around) and isinstance(number, int) and number < len(around) else MISSING
        called = self.called(node) if isinstance(node, ast.Call) else None
        if called is None or called[0] in self._looked_into or not called[0].has_source:
            return MISSING
        # Where there are several, it is not known which it reaches.
        returns = [each.value for each in called[0].source.nodes if isinstance(each, ast.Return)]
        if len(returns) != 1 or returns[0] is None:
            return MISSING
        frame, _ = self._frame_of(node, *called)
        return self._looking_into(frame, lambda: self._returned(returns[0]))

    def _frame_of(self, node, func, first):
        """The frame of a call that is looked into, with what is known of its arguments: a function may be known only as what is given to a
        template. And what these are."""
        given = func.given(node, len(first)) if isinstance(node, ast.Call) else []
        names = [*func.signature.parameters][: len(first)] + [name for name, _ in given if name in func.templates]
        known = [*first, *(self._returned(each) for name, each in given if name in func.templates)]
        frame = Frame(func.function, func.source, 0, self.frame, node, func)
        frame.scopes[0].update((name, each) for name, each in zip(names, known) if each is not MISSING)
        return frame, known

    def _looking_into(self, frame, look):
        """What is found in a function that is called."""
        caller, self.frame = self.frame, frame
        self._looked_into.append(frame.func)
        found = look()
        self._looked_into.pop()
        self.frame = caller
        return found

    # Which calls have tasks.

    def has_task_calls(self, statement):
        """Whether a statement of the top level evaluates calls with tasks."""
        return any(self._has_task_calls(node, is_place) for node, is_place in self.evaluated(statement))

    def _has_task_calls(self, node, is_place=False):
        return (not is_place and self._is_task_call(node)) or any(self._has_task_calls(*part) for part in self._parts(node))

    def _is_task_call(self, node):
        """Whether an expression is a call of a function that has tasks at its top level. One that calls itself has those that it has
        besides."""
        called = self.called(node)
        if called is None or called[0] in self._looked_into:
            return False
        func, first = called
        if isinstance(func, Plain) and not func.has_source:
            return False
        frame, known = self._frame_of(node, func, first)
        if not self._looked_into and func in self._task_funcs:
            before, has_tasks = self._task_funcs[func]
            if len(before) == len(known) and all(one is other for one, other in zip(before, known)):
                return has_tasks
        has_tasks = self._looking_into(frame, lambda: any(map(self.has_tasks, func.source.tree.body)))
        if not self._looked_into:
            self._task_funcs[func] = known, has_tasks
        return has_tasks

    # Their tasks.

    def task_calls(self, statement):
        """The tasks of the calls in a statement, in order, and those that compute what is evaluated before a call."""
        evaluated = self.evaluated(statement)
        self._note_changed(evaluated)
        self._in_order(evaluated, statement)

    def _note_changed(self, evaluated):
        """Notes the names that the expressions of a statement assign."""
        self.frame.changed = set()
        for each in (each for node, _ in evaluated for each in ast.walk(node)):
            if isinstance(each, ast.NamedExpr):
                self.frame.changed.add(each.target.id)
            elif isinstance(each, ast.Call):
                self.frame.changed.update(self.assigned_by(each))
                # An array is the same one when its elements are others.
                self.frame.changed.update(name for name in self.in_part_assigned_by(each) if is_tuple(self.lookup(name)))

    # Several targets, of which some have such calls.

    def is_in_turn(self, statement):
        """Whether a statement has several targets, with tasks between them."""
        if not isinstance(statement, ast.Assign) or (len(statement.targets) == 1 and not isinstance(statement.targets[0], SEVERAL)):
            return False
        return any(is_place for _, is_place in self.evaluated(statement))

    def assign_in_turn(self, statement):
        """Assigns to targets in order: what is assigned one thread computes first, and each call comes after the targets before it."""
        evaluated = self.evaluated(statement)
        self._note_changed(evaluated)
        self._in_order(evaluated[:1], statement)
        with_tasks = {place for place, is_place in evaluated if is_place}
        name = f"what line {self.frame.source.line_of(statement)} assigns"
        value = self.one_thread(statement, lambda: self.kept(statement.value, name, self.expression(statement.value)))
        run = []
        for target, each in [pair for target in statement.targets for pair in self._paired(target, value)]:
            if target in with_tasks:
                self._assign_run(run, statement)
                self._in_order([(target, True)], statement)
            run.append((target, each))
        self._assign_run(run, statement)

    def _paired(self, target, value):
        """The targets in a target, each with what it is assigned."""
        if not isinstance(target, SEVERAL):
            yield target, value
            return
        values = value if isinstance(value, tuple) else (value,)
        self.check_names(target, values)
        for pair in zip(target.elts, values):
            yield from self._paired(*pair)

    def _assign_run(self, run, statement):
        """One thread assigns to targets in a row."""
        if run:
            pairs = [*run]
            run.clear()
            self.count_task(is_run=True)
            self.one_thread(statement, lambda: [self.assign(target, self._present(target, value), statement.value) for target, value in pairs])

    def _in_order(self, parts, statement):
        """The tasks of the calls in expressions that are evaluated one after the other."""
        have = [self._has_task_calls(*part) for part in parts]
        while have and not have[-1]:
            have.pop()
        for i, (has, (node, is_place)) in enumerate(zip(have, parts)):
            if has:
                self._of_expression(node, is_place, statement)
            if i < len(have) - 1:
                self._postpone(node, is_place)

    def _of_expression(self, node, is_place, statement):
        """The tasks of the calls in an expression."""
        if isinstance(node, ast.IfExp) and self.is_static(node.test):
            self._in_order([(node.body if self.python(node.test) else node.orelse, False)], statement)
            return
        self._in_order(self._parts(node), statement)
        if is_place or not self._is_task_call(node):
            return
        self._compute_postponed()
        is_alone = isinstance(statement, ast.Expr) and statement.value is node
        call = node if isinstance(node, ast.Call) else ast.copy_location(ast.Call(node, [], []), node)
        func, first = self.called(node)
        if isinstance(func, Plain):
            self.warn_of_plain(node, func)
        if isinstance(node, ast.Call) and self.callee(node) is MISSING and node.func not in self.frame.kept:
            # It returns the function, and may do something besides.
            self.outside(node.func, lambda: self.expression(node.func))
        self.frame.kept[node] = self.tasks_of_call(call, func, first, keeps=not is_alone)

    def _postpone(self, node, is_place):
        """Notes an expression that stands before a call with tasks: a task computes it before that, if it may be another thereafter."""
        left = node.left if isinstance(node, ast.BinOp) else None
        is_format = isinstance(left.value if isinstance(left, ast.Constant) else left and self.known_as(left), str)
        if is_place or is_format:
            for part in self._parts(node):
                self._postpone(*part)
        elif self._varies(node):
            self.frame.postponed.append(node)

    def _varies(self, node):
        """Whether an expression may be another after a call, or does something besides."""
        if node in self.frame.kept or self.is_static(node):
            return False
        if isinstance(node, ast.Name):
            return self._is_changed(node.id)
        if isinstance(node, ast.Call):
            callee = self.callee(node)
            if isinstance(callee, Operation):
                is_pure = callee.name not in ATOMICS and callee is not VOLATILE_LOAD
            else:
                is_pure = isinstance(callee, DataType) or any(callee is each for each in (*BUILTINS, int, float, bool))
            if not is_pure:
                return True
        elif isinstance(node, ast.NamedExpr) or self.called(node) is not None:
            return True
        elif isinstance(node, ast.Subscript) and not self.has_no_elements(node.value):
            return True
        return any(map(self._varies, (part for each in ast.iter_child_nodes(node) for part in _within(each))))

    def _is_changed(self, name):
        """Whether an expression of the statement may assign a variable, by its name or by another that it has in a function."""
        return any(name == other or not self._variables(name).isdisjoint(self._variables(other)) for other in self.frame.changed)

    def _variables(self, name):
        return {each for each in leaves(self.lookup(name)) if isinstance(each, Spanning)}

    def _compute_postponed(self):
        """One thread computes what stands before a call."""
        postponed, self.frame.postponed = self.frame.postponed, []
        if postponed:
            self.one_thread(postponed[0], lambda: [self._compute(node) for node in postponed])

    def _compute(self, node):
        name = f"a part of line {self.frame.source.line_of(node)}"
        self.frame.kept[node] = self.kept(node, name, self.expression(node))
