"""The source of a function: its tree, and places in it for errors."""

import ast
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


class Source:
    """What a function was written as."""

    def __init__(self, function):
        self.name = function.__name__
        self.file = inspect.getsourcefile(function) or function.__code__.co_filename
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
