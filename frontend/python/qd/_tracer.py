"""The tracer: from a kernel's tree to its record. Names, tasks and control flow are decided here, types are
not."""

import ast

from qd import _core
from qd._algorithms import AlgorithmFunc
from qd._block import BlockFunc
from qd._expressions import MISSING
from qd._functions import DEFAULT_THREADS, NO_CONFIG, ArrayOf, Baked, Bundle, Func, Getter, Members, Method, Same, filled, is_plain
from qd._later import HINTS
from qd._loops import I32, I64, Loop
from qd._statements import is_text, jumps
from qd._storage import Field
from qd._subgroup import SubgroupFunc, is_deprecated
from qd._task_calls import TaskCalls
from qd._values import Array, Spanning, Value, Variable, is_number, is_variable
from qd.exception import (
    QuadrantsCompilationError,
    QuadrantsNotImplementedError,
    QuadrantsRuntimeError,
    QuadrantsStaticAssertionError,
    QuadrantsSyntaxError,
    QuadrantsTypeError,
    QuadrantsValueError,
)

_PURE = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword,
    ast.Tuple, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


# The classes of errors that have a place, by what algorithms raise.
_LOCATED = {
    ValueError: QuadrantsValueError, NotImplementedError: QuadrantsNotImplementedError, TypeError: QuadrantsTypeError,
}  # fmt: skip


# What ends a function, an unrolled loop or a round of it.
_LEAVING = (ast.Return, ast.Break, ast.Continue)

# Threads of a parallel loop whose bounds the host does not know.
STRIDE = 2**14


def _flat(bounds):
    """The bounds of a loop, and those of its dimensions, in a row."""
    begin, end, dimensions = bounds
    return [begin, end, *(bound for _, *pair in dimensions or () for bound in pair)]


def _is_computed(parameter, is_template):
    """Whether a parameter of a function is what one task alone has: a value that is not pure, or a variable that is no template."""
    if isinstance(parameter, tuple):
        return any(_is_computed(each, is_template) for each in parameter)
    return (isinstance(parameter, Variable) and not is_template) or (isinstance(parameter, Value) and not parameter.is_pure)


class Tracer(TaskCalls):
    """Traces one kernel for one set of types."""

    def __init__(self, function, source, signature, key, config):
        recorder = _core.Recorder(source.name, source.file, config.default_fp.name, config.default_ip.name)
        super().__init__(function, source, recorder, config)
        self.signature = signature
        # What a launch brings along after the parameters: fields, and None for a variable that several tasks have.
        self.appended = []
        self._fields = {}
        # The arrays with the counts of algorithms that are values which no task changes, by these.
        self._counts = {}
        # Those among the parameters, and their members, by their numbers.
        self._objects = []
        # Of arguments that overlap: those that may not, each pair by its numbers, with what is wrong then.
        self.apart = []
        # Of loops over several dimensions how many elements they have, where arguments say it.
        self.limits = []
        # Tasks of the source; and whether statements that are no loop were the last of them.
        self.tasks = 0
        self._ends_in_run = False
        # Loops of the top level that are no tasks.
        self._serialized = set()
        # Functions of which it is asked whether they have tasks; and, of those that were asked first, the answers, each with what they
        # were given.
        self._looked_into = []
        self._task_funcs = {}
        # What is said of the next loop; and threads of a block of that which is traced, where the host knows its bounds.
        self._config = NO_CONFIG
        self.block_dim = None
        # Whether a loop is traced that threads go over in strides.
        self.is_strided = False
        self._declare_parameters(*key)

    def _declare_parameters(self, *key):
        *types, overlapping = key
        for name, given in zip(self.signature.parameters, types):
            self.frame.scopes[0][name] = self._declared(name, given)
        for dtype in self.signature.results:
            self.ask(self.node, "result", dtype.name)
        self._overlapping = overlapping
        if overlapping:
            self.recorder.overlap()

    def _declared(self, name, given):
        """What a parameter is in the kernel, or a member of one."""
        if isinstance(given, Baked):
            return given.value
        if isinstance(given, Same):
            return self._objects[given.number]
        if isinstance(given, Members) and issubclass(given.type, (list, tuple, dict)):
            return filled(given.type, [(key, self._declared(f"{name}[{self.host.key(key)}]", each)) for key, each in given.fields])
        if isinstance(given, Members):
            bundle = Bundle(given.type)
            self._objects.append(bundle)
            vars(bundle).update((member, self._declared(f"{name}.{member}", each)) for member, each in given.fields)
            return bundle
        if isinstance(given, ArrayOf):
            number = self.ask(self.node, "array", name, given.dtype.name)
            shape = tuple(self._extents(name, number, given.rank))
            self.host.note_shape(name, shape)
            return Array(number, given.dtype, shape)
        is_host = not given.is_real and given.name != "u1"
        return self.made(self.node, "parameter", name, given.name, is_host=is_host, is_pure=True, parameter=name)

    def _extents(self, name, number, rank):
        """The extents of an array: an array of one dimension knows its own, all others lie in memory as such a one."""
        says = {"is_host": True, "is_pure": True}
        if rank == 1:
            return [self.made(self.node, "extent", number, **says)]
        names = [f"{name}.shape[{axis}]" for axis in range(rank)]
        return [self.made(self.node, "parameter", each, "i32", parameter=each, **says) for each in names]

    def trace(self):
        """The recorder, with all in it."""
        try:
            self._top_level(self.frame.source.tree.body)
            if self.signature.results and not self.frame.is_done:
                raise self.error(QuadrantsSyntaxError, self.frame.source.tree, "the kernel ends without a return")
        except QuadrantsCompilationError:
            raise
        except Exception as error:
            if self.config.print_full_traceback:
                raise
            message = f"{type(error).__name__}: {error}"
            kind = QuadrantsStaticAssertionError if isinstance(error, AssertionError) else QuadrantsCompilationError
            raise self.error(kind, self.node, message) from None
        return self.recorder

    # Tasks.

    def count_task(self, is_run=False):
        """Counts a task of the source: a loop, an algorithm, or a run of other statements. What their bounds and arguments
        take is part of them."""
        if not (is_run and self._ends_in_run):
            self.tasks += 1
        self._ends_in_run = is_run

    def _top_level(self, statements):
        """A loop is a task, and so is what lies between two of them."""
        self._configure(statements)
        constants = self._constants(statements)
        outer = self.frame.spanning, self.frame.top
        self.frame.spanning = outer[0] | self._spanning(statements, constants)
        self.frame.top = len(self.frame.scopes)
        self._each_task(statements, constants)
        self.frame.spanning, self.frame.top = outer

    def _configure(self, statements):
        """Finds the loops that one thread is to execute."""
        config = None
        for statement in statements:
            if self.is_loop_config(statement):
                config = statement
            elif config is not None and isinstance(statement, ast.For):
                given = {each.arg: each.value for each in config.value.keywords}
                if None in given:
                    raise self.later(given[None], "'**' of qd.loop_config")
                if "serialize" in given and self.python(given["serialize"]):
                    self._serialized.add(statement)
                config = None
        if config is not None:
            self.warn(config, "no loop follows this qd.loop_config")

    def _spanning(self, statements, constants):
        """The names that statements of the top level assign, and that a later task has, too."""
        found, assigned, here = set(), set(), set()
        for statement in statements:
            if statement in constants:
                continue
            is_apart = self._is_apart(statement)
            if is_apart:
                assigned |= here
                here = set()
            if assigned:
                found |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & assigned
            if is_apart and self.frame.source.has_named:
                # Of its expressions some may be evaluated by tasks before it.
                nodes = [each for node, _ in self.evaluated(statement) for each in ast.walk(node)]
                found |= {node.target.id for node in nodes if isinstance(node, ast.NamedExpr)}
            if is_apart and self.is_in_turn(statement):
                found |= self._assigned(statement)
            # What a static `if` assigns beside its tasks, those after it have.
            (assigned if is_apart else here).update(self._assigned(statement))
        return found

    def _assigned(self, statement):
        """The names that a statement of the top level assigns there."""
        if isinstance(statement, ast.If) and self.is_static(statement.test):
            return set().union(*map(self._assigned, statement.body + statement.orelse))
        if isinstance(statement, ast.For):
            return set()
        direct = [statement.target] if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) else getattr(statement, "targets", [])
        stored = [node for target in direct for node in ast.walk(target)]
        if self.frame.source.has_named:
            stored += [node.target for node in ast.walk(statement) if isinstance(node, ast.NamedExpr)]
        return {node.id for node in stored if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

    def temporary(self, node, name, dtype):
        """An array of one element that a launch brings along."""
        number = self.ask(node, "array", f"{name} of {self.frame.source.name}", dtype.name)
        self.appended.append(None)
        return Array(number, dtype, (1,))

    def captured(self, node, field):
        """A field as an array of the kernel."""
        if field not in self._fields:
            number = self.ask(node, "array", field.name or f"field {len(self._fields)}", field.dtype.name)
            self.appended.append(field)
            self._fields[field] = Array(number, field.dtype, field.shape, field.axes, field.offset)
        return self._fields[field]

    def _each_task(self, statements, constants):
        run = []
        for statement in statements:
            if self.is_loop_config(statement):
                self._config = self.python(statement.value)
                continue
            if not self._is_apart(statement):
                run.append(statement)
                if isinstance(statement, _LEAVING):
                    break
                continue
            self._serial_task(run, constants)
            run = []
            self._tasks(statement, constants)
            self._config = NO_CONFIG
            if self.frame.is_done or (self.frame.loops and self.frame.loops[-1].left):
                return
        self._serial_task(run, constants)

    def _is_apart(self, statement):
        """Whether a statement of the top level is no part of a task: it has some itself, or there may be none after it."""
        if self.has_tasks(statement):
            return True
        if isinstance(statement, (ast.If, ast.For)) and self.is_static(statement.test if isinstance(statement, ast.If) else statement.iter):
            leaves = any(isinstance(node, _LEAVING) for node in ast.walk(statement))
            return leaves and any(map(self.has_tasks, self.frame.source.tree.body))
        return False

    def has_tasks(self, statement):
        """Whether a statement of the top level is a loop, or has some at the top level, too."""
        if isinstance(statement, ast.For) and statement not in self._serialized:
            return not self.is_static(statement.iter) or any(map(self.has_tasks, statement.body))
        if isinstance(statement, ast.If) and self.is_static(statement.test):
            return any(map(self.has_tasks, statement.body + statement.orelse))
        return self._algorithm_of(statement) is not None or self.has_task_calls(statement)

    def _tasks(self, statement, constants):
        """The tasks of a statement that has some."""
        if isinstance(statement, ast.If) and self.is_static(statement.test):
            self._top_level(statement.body if self.python(statement.test) else statement.orelse)
            return
        if isinstance(statement, ast.For) and self.is_static(statement.iter):
            self._unroll(statement, self._top_level)
            return
        self.node = statement
        if self.is_in_turn(statement):
            self.assign_in_turn(statement)
            self.frame.kept.clear()
            return
        config, self._config = self._config, NO_CONFIG if isinstance(statement, ast.For) else self._config
        self.task_calls(statement)
        self._config = config
        algorithm = self._algorithm_of(statement)
        if algorithm is not None:
            self._step(statement.value, algorithm)
        elif isinstance(statement, ast.For) and statement not in self._serialized:
            self._parallel(statement)
        elif not isinstance(statement, ast.Expr) or statement.value not in self.frame.kept:
            self._serial_task([statement], constants)
        self.frame.kept.clear()

    def tasks_of_call(self, node, func, first, keeps):
        """Those of a function that is called. What it returns; if it is kept, other tasks have it."""
        caller, self.frame = self.frame, self._entered_apart(node, func, first)
        self.frame.keeps = keeps
        self._top_level(func.source.tree.body)
        returned, self.frame = self.frame.returned, caller
        return returned

    def _entered_apart(self, node, func, first):
        """The frame of a call of a function with tasks. Of its scalars those that any task can compute are values; others, and those
        that it assigns, one thread computes before."""
        before = self.effects
        frame = self.entered(node, func, first)
        names = frame.scopes[0]
        computed = [name for name, each in names.items() if _is_computed(each, name in func.templates)]
        if computed or self.effects != before:
            again = self.one_thread(node, lambda: self._kept_parameters(node, self.entered(node, func, first), computed))
            names.update(again)
        return frame

    def _kept_parameters(self, node, frame, names):
        """Those of the parameters of a function that is called which are variables of all its tasks, by their names."""
        return {name: self.kept(node, name, frame.scopes[0][name]) for name in names}

    # Algorithms.

    def _algorithm_of(self, statement):
        """The algorithm that a statement calls; None."""
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return None
        callee = self.callee(statement.value)
        return callee if isinstance(callee, AlgorithmFunc) else None

    def _step(self, node, algorithm):
        self.node = node
        self.count_task()

        def evaluate(name, argument):
            given = self._count(argument) if name == "n" else self._argument(argument)
            return self.signature.scalar(given) or given if name.endswith("dtype") else given

        given = self.bound(node, algorithm.signature, evaluate)
        try:
            step = algorithm.function(**given)
        except tuple(_LOCATED) as error:
            kind = next(kind for known, kind in _LOCATED.items() if isinstance(error, known))
            raise self.error(kind, node, str(error)) from None
        if self._overlapping:
            names = {value.number: name for name, value in reversed(given.items()) if isinstance(value, Array)}
            for one, other in step.apart():
                message = f"{algorithm.__name__}: '{names[one.number]}' and '{names[other.number]}' share memory"
                text = str(self.error(QuadrantsRuntimeError, node, message))
                self.apart.append((one.number, other.number, text))
        numbers = [[array.number for array in arrays] for arrays in (step.inputs, step.outputs)]
        array, index = given["n"]
        count = (array.number, index.number)
        self.task += 1
        self.ask(
            node, "algorithm", step.algorithm, step.combine, *numbers, step.scratch.number, count, step.log256_max_n,
            step.end_bit, step.deterministic,
        )  # fmt: skip

    def _argument(self, node):
        """An argument of an algorithm: an array, or what is known while tracing."""
        given = self.outside(node, lambda: self.expression(node))
        if isinstance(given, Value):
            raise self.error(QuadrantsTypeError, node, "an array is expected, or what is known while tracing, and not a value")
        return given

    def _count(self, node):
        """Where the number of elements is: an array, and the index in it."""
        zero = self.made(node, "integer", 0, "i32", is_host=True, is_pure=True)
        known = self.lookup(node.id) if isinstance(node, ast.Name) else None
        if isinstance(known, Spanning):
            return self._of_integers(node, known.array), zero
        if isinstance(node, ast.Subscript):
            array = self.expression(node.value)
            if isinstance(array, Array) and not any(isinstance(each, ast.Subscript) for each in ast.walk(node.slice)):
                before = self.effects
                index = self.index(node, array)
                if index.is_pure and self.effects == before:
                    return self._of_integers(node, array), index
        elif isinstance(node, (ast.Name, ast.Attribute, ast.Constant)):
            given = self.expression(node)
            if isinstance(given, Array):
                if len(given.shape) != 0:
                    raise self.error(QuadrantsTypeError, node, "'n' is a number, and not an array of them: which element?")
                return self._of_integers(node, given), zero
            if is_number(given) or (isinstance(given, Value) and given.is_pure):
                # What no task changes is written once.
                key = given.number if isinstance(given, Value) else Baked(given)
                if key not in self._counts:
                    self._counts[key] = self.one_thread(node, lambda: self._computed_count(node))
                return self._counts[key], zero
        # It is computed by one thread.
        return self.one_thread(node, lambda: self._computed_count(node)), zero

    def _computed_count(self, node):
        value = self.value(node)
        variable = self.spanning(node, f"n of line {self.frame.source.line_of(node)}", value)
        return self._of_integers(node, variable.array)

    def _of_integers(self, node, array):
        if array.dtype.is_real or array.dtype.name == "u1":
            raise self.error(QuadrantsTypeError, node, f"'n' is an integer, and not '{array.dtype}'")
        return array

    def _constants(self, statements):
        """The assignments of names that are assigned once, of what any task can compute, and those of what is static; none of
        a name that statements before it have."""
        stored = self._stored()
        in_part = {name for node in self.frame.source.nodes for name in self.in_part_assigned_by(node)}
        found, arrays = set(), set()
        # By names, the statements that have them first.
        first = {}
        for statement in statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name):
                    first.setdefault(node.id, statement)
        known = {name for scope in self.frame.scopes for name, value in scope.items() if not is_variable(value)}
        for statement in statements:
            if not isinstance(statement, ast.Assign):
                continue
            nodes = list(ast.walk(statement.value))
            if self.is_static(statement.value):
                # A comprehension has names of its own.
                own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
                read = {node.id for node in nodes if isinstance(node, ast.Name)} - own
                targets = [node for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)]
                is_first = all(first[node.id] is statement for node in targets)
                if is_first and all(name in known for name in read if name in stored):
                    found.add(statement)
                    known.update(node.id for node in targets)
                continue
            target = statement.targets[0]
            if len(statement.targets) != 1 or not isinstance(target, ast.Name):
                continue
            if stored[target.id] != 1 or target.id in known or first[target.id] is not statement:
                continue
            # Of what has members that are assigned a tuple is one of variables, and an array by another name is none.
            is_array = isinstance(self.known_as(statement.value), (Array, Field)) or getattr(statement.value, "id", None) in arrays
            if target.id in in_part and not is_array:
                continue
            if is_array:
                arrays.add(target.id)
            if all(isinstance(node, _PURE) for node in nodes) and self._reads_only(nodes, known, stored):
                found.add(statement)
                known.add(target.id)
        return found

    def _stored(self):
        """How often each name is assigned, by the function that is traced or by one that it is given to."""
        stored = {}
        for node in self.frame.source.nodes:
            for name in self.assigned_by(node):
                stored[name] = stored.get(name, 0) + 1
        return stored

    def _reads_only(self, nodes, known, stored):
        """Whether an expression reads no variable and no element."""
        for node in nodes:
            if isinstance(node, ast.Name) and (is_variable(self.lookup(node.id)) or (node.id in stored and node.id not in known)):
                return False
            if isinstance(node, ast.Compare) and len(node.ops) > 1:
                return False
            callee = self.callee(node) if isinstance(node, ast.Call) else None
            if isinstance(callee, (Func, Method, SubgroupFunc, BlockFunc)) or is_deprecated(callee) or is_plain(callee):
                return False
            if isinstance(node, ast.Attribute) and isinstance(self.known_as(node), Getter):
                return False
            if isinstance(node, ast.Subscript) and not self.has_no_elements(node.value):
                return False
        return True

    def has_no_elements(self, node):
        """Whether an expression is a shape, or an object of Python that is no array."""
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return True
        found = self.known_as(node)
        return found is not MISSING and not isinstance(found, (Array, Field, Value, Variable, Spanning))

    def outside(self, node, trace):
        """What is traced outside of tasks. If it has effects, one thread traces it again, and has them."""
        before = self.effects
        made = trace()
        if self.effects != before:
            self.one_thread(node, trace)
        return made

    def one_thread(self, node, trace):
        """A task of one thread; what it computes."""
        first, last = (self.ask(node, "integer", number, "i32") for number in (0, 1))
        self.task += 1
        self.ask(node, "task", first, last)
        made = trace()
        self.ask(node, "end")
        return made

    def _serial_task(self, statements, constants):
        """Statements that one thread executes; constants are computed where they are used."""
        rest = []
        for statement in statements:
            if statement in constants and self.is_static(statement.value):
                self.do_Assign(statement)
            elif statement in constants:
                value = self.outside(statement.value, lambda: self.expression(statement.value))
                is_number = not isinstance(value, (Array, tuple))
                name = statement.targets[0].id
                self.frame.scopes[-1][name] = self.lift(statement.value, value) if is_number else value
            elif not self._is_empty(statement):
                rest.append(statement)
        if not rest:
            return
        self.node = rest[0]
        self.count_task(is_run=True)
        self.one_thread(rest[0], lambda: self.block(rest))

    def _is_empty(self, statement):
        """Whether a statement does nothing: a hint on arrays, or a text."""
        if isinstance(statement, ast.Pass) or is_text(statement):
            return True
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call) or statement.value.keywords:
            return False
        func, _ = self.called(statement.value) or (None, None)
        if func is None or HINTS.get(func.function.__name__) is not func:
            return False
        is_array = [isinstance(self.known_as(each), (Array, Field)) for each in statement.value.args]
        return all(is_array) and all(map(is_text, func.source.tree.body))

    def _parallel(self, node):
        self.node = node
        self.count_task()
        before = self.effects
        begin, end, dimensions = bounds = self._range(node, is_task=True)
        self._check_loop(node)
        if not all(bound is None or bound.is_host for bound in _flat(bounds)):
            self._strided(node, bounds)
            return
        if self.effects != before:
            self.one_thread(node, lambda: self._range(node))
        self.task += 1
        self.uses_blocks = False
        said = self._config.block_dim
        self.block_dim = said or DEFAULT_THREADS
        number = self._loop_task(node, begin, end)
        continued = self._flag(node) if jumps(node.body, ast.Continue) else None
        self._body(node, Loop(None, continued), self.indices(node, number, dimensions))
        self.ask(node, "end")
        # A loop that does not look at its blocks, of which nothing is said, has the compiler's.
        if self.uses_blocks or said is not None:
            self.ask(node, "blocks", number.number, self.block_dim, self.uses_blocks)
        self.block_dim = None

    def _loop_task(self, node, begin, end):
        """Begins the task of a loop: the number of a thread's round."""
        number = self.made(node, "task", begin.number, end.number)
        if self._config.name is not None:
            self.ask(node, "named", number.number, self._config.name)
        return number

    def _strided(self, node, bounds):
        """A parallel loop of whose bounds some are computed on the device: by one thread, and then as many threads as the host
        knows go over it in strides."""
        zero, stride = [self.made(node, "integer", number, "i32", is_host=True, is_pure=True) for number in (0, STRIDE)]
        kept = self.one_thread(node, lambda: [self._kept(node, *each) for each in zip(_flat(bounds), _flat(self._range(node, I64)))])
        self.task += 1
        first = self.cast(node, self._loop_task(node, zero, stride), I64)
        begin, end, *others = [self.read(node, each) if isinstance(each, Spanning) else each for each in kept]
        dimensions = bounds[-1] and [(axis, others.pop(0), others.pop(0)) for axis, *_ in bounds[-1]]
        # In 64 bits: the last stride may go past the largest i32.
        begin, end = self.cast(node, begin, I64), self.cast(node, end, I64)
        counter = self.ask(node, "declare", self.binary(node, "+", begin, first).number)
        self.ask(node, "begin_while")
        present = self.made(node, "get", counter)
        self.ask(node, "begin_do", self.binary(node, "<", present, end).number)
        # That of one of several dimensions may be larger than an i32.
        number = present if dimensions else self.cast(node, present, I32)
        self.ask(node, "set", counter, self.binary(node, "+", present, stride).number)
        continued = self._flag(node) if jumps(node.body, ast.Continue) else None
        self.is_strided = True
        self._body(node, Loop(None, continued), self.indices(node, number, dimensions))
        self.is_strided = False
        self.ask(node, "end")
        self.ask(node, "end")

    def _kept(self, node, bound, computed):
        """A bound of a loop as the next task has it: as it is, if the host knows it, and else what this task has computed."""
        if bound is None or bound.is_host:
            return bound
        return self.spanning(node, f"bound of line {self.frame.source.line_of(node)}", computed)
