"""The source of a function: its tree, and places in it for errors."""

import ast
import dis
import functools
import inspect
import os

from qd.exception import QuadrantsSyntaxError

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def check_function(value):
    """That a decorator has got what Python's `def` makes."""
    if not inspect.isfunction(value):
        hint = f": '@{type(value).__name__}' stands above" if isinstance(value, (classmethod, staticmethod, property)) else ""
        raise QuadrantsSyntaxError(f"kernels, and functions of them, are made of functions, and not of {value!r}{hint}")


def source_of(function):
    """The source of a function, which may be a lambda."""
    return (SourceOfLambda if function.__code__.co_name == "<lambda>" else Source)(function)


class Source:
    """What a function was written as."""

    def __init__(self, function):
        self.name = function.__name__
        self.file = inspect.getsourcefile(function) or function.__code__.co_filename
        self._read(function)

    def _read(self, function):
        try:
            lines, self.first_line = inspect.getsourcelines(function)
        except OSError as error:
            message = f'File "{self.file}", in {self.name}:\nkernels, and functions of them, are read from files or cells: {error}'
            raise QuadrantsSyntaxError(message) from None
        self.lines = [line.rstrip("\n") for line in lines]
        self.tree = self._tree("".join(lines))
        if self.tree is None:
            raise QuadrantsSyntaxError(f"{self._shown(self.first_line, 1, None)}\n'{self.name}' is not defined by a 'def' of its own")

    @staticmethod
    def _tree(text):
        """The definition in a text, which may be indented; None."""
        is_indented = text[0].isspace()
        try:
            tree = ast.parse("if True:\n" + text if is_indented else text)
        except SyntaxError:
            # A part of a statement, such as a lambda.
            return None
        # As if the first line were not there.
        ast.increment_lineno(tree, -is_indented)
        return next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)

    @functools.cached_property
    def nodes(self):
        """All nodes of the tree."""
        return list(ast.walk(self.tree))

    @functools.cached_property
    def is_own(self):
        """Whether the package has it."""
        return os.path.dirname(os.path.abspath(self.file)) == _PACKAGE

    @functools.cached_property
    def has_named(self):
        """Whether expressions assign names."""
        return any(isinstance(node, ast.NamedExpr) for node in self.nodes)

    def line_of(self, node):
        """The line of a node in the file."""
        return self.first_line + node.lineno - 1

    def column_of(self, node):
        """The column of a node in the file, from 1."""
        return node.col_offset + 1

    def shown(self, node):
        """Where a node is, its line, and carets below it."""
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return self._shown(self.line_of(node), self.column_of(node), end)

    def shown_at(self, line, column):
        """The same for a line and a column that the compiler says."""
        return self._shown(line, column, column)

    def _shown(self, line, column, end):
        place = f'File "{self.file}", line {line}, in {self.name}:'
        index = line - self.first_line
        if not 0 <= index < len(self.lines):
            return place
        text = self.lines[index]
        # A tree counts bytes.
        start = len(text.encode()[: column - 1].decode(errors="ignore"))
        stop = len(text) if end is None else len(text.encode()[:end].decode(errors="ignore"))
        carets = " " * start + "^" * max(1, stop - start)
        return f"{place}\n{text}\n{carets}"


class SourceOfLambda(Source):
    """What a lambda was written as: a function that returns its expression. It is found in its file by its place."""

    def _read(self, function):
        # What `qd.static` makes has no module, and no place in a file.
        if function.__module__ is None:
            raise QuadrantsSyntaxError("a lambda that qd.static makes is not called with what the kernel computes: make it outside")
        code = function.__code__
        try:
            lines, _ = inspect.findsource(function)
            tree = ast.parse("".join(lines))
            is_current = code in _codes(compile(tree, self.file, "exec", dont_inherit=True))
        except (OSError, SyntaxError) as error:
            raise QuadrantsSyntaxError(f"a lambda that a kernel calls is read from its file, or cell: {error}") from None
        self.first_line, self.lines = 1, [line.rstrip("\n") for line in lines]
        found = _lambda(tree, code) if is_current else None
        if found is None:
            message = f"which lambda it is, of those in line {code.co_firstlineno} of {self.file}, does not show: give it a line of its own"
            if not is_current:
                message = f"the lambda of line {code.co_firstlineno} of {self.file} is not there: has the file changed?"
            raise QuadrantsSyntaxError(message)
        returned = ast.copy_location(ast.Return(found.body), found.body)
        self.tree = ast.copy_location(ast.FunctionDef(self.name, found.args, [returned], [], None), found)


def _codes(code):
    """The code in some other code."""
    for each in code.co_consts:
        if isinstance(each, type(code)):
            yield each
            yield from _codes(each)


def _lambda(tree, code):
    """The lambda of a file that has become some code; None if several may have. There is one."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    if len(found) == 1:
        return found[0]
    # Not known before Python 3.11, and where Python is told to leave them out.
    places = [getattr(each, "positions", None) for each in dis.get_instructions(code) if each.opname not in _AROUND]
    if not places or any(place is None or None in place for place in places):
        return None

    def has_all(body):
        begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
        return all(begin <= (line, column) and (end_line, end_column) <= end for line, end_line, column, end_column in places)

    # What is in a lambda is in those around it, too.
    return min((node for node in found if has_all(node.body)), key=lambda node: _size(node.body), default=None)


# Instructions that no part of a lambda's expression is.
_AROUND = ("RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_VALUE")


def _size(node):
    """What is larger for a node around another."""
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset
