"""The source of a function: its tree, and places in it for errors."""

import ast
import functools
import inspect
import os
import textwrap

from qd.exception import QuadrantsRuntimeError

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


class Source:
    """What a function was written as."""

    def __init__(self, function):
        self.name = function.__name__
        self.file = inspect.getsourcefile(function) or function.__code__.co_filename
        try:
            lines, self.first_line = inspect.getsourcelines(function)
        except OSError:
            message = f"the source of '{self.name}' cannot be read from {self.file}: kernels and functions are written in a file or a notebook"
            raise QuadrantsRuntimeError(message) from None
        text = textwrap.dedent("".join(lines))
        self.lines = [line.rstrip("\n") for line in lines]
        first = lines[0]
        self.indent = len(first) - len(first.lstrip())
        self.tree = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))

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
        return self.indent + node.col_offset + 1

    def shown(self, node):
        """Where a node is, its line, and carets below it."""
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return self._shown(self.line_of(node), self.column_of(node), end and end + self.indent)

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
