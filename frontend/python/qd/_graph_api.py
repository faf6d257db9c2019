"""How programs spell the names of `qd.graph`, by what is called in a tree."""

import ast
import warnings

_NAMES = ("do_while", "parallel", "parallel_context")


def _names_of(node):
    """`qd.graph.do_while` as its names, the last ones if others are no names."""
    if isinstance(node, ast.Attribute):
        return [*_names_of(node.value), node.attr]
    return [node.id] if isinstance(node, ast.Name) else []


def _deprecated(node):
    """The name that `qd.graph_do_while` stands for, which is `do_while`; None of what is spelled otherwise."""
    return next((name for name in _NAMES if _names_of(node)[-1:] == [f"graph_{name}"]), None)


def matches(func_node, name):
    """Whether a name of `qd.graph` is called, in either spelling."""
    return _deprecated(func_node) == name or (name in _NAMES and _names_of(func_node)[-2:] == ["graph", name])


def is_deprecated_spelling(func_node):
    """Whether a name of `qd.graph` is called by its older name, such as `qd.graph_do_while`."""
    return _deprecated(func_node) is not None


def warn_if_deprecated(func_node):
    """Warns of an older name."""
    name = _deprecated(func_node)
    if name is not None:
        warnings.warn(f"qd.graph_{name}() is deprecated: use qd.graph.{name}()", DeprecationWarning, stacklevel=2)
