"""The errors of kernels."""


class QuadrantsCompilationError(Exception):
    """A kernel cannot be compiled."""


class QuadrantsSyntaxError(QuadrantsCompilationError, SyntaxError):
    """A kernel has syntax that kernels do not have."""

    # As all others: that of SyntaxError knows of files and lines itself.
    __str__ = Exception.__str__


class QuadrantsNameError(QuadrantsCompilationError, NameError):
    """A name is unknown."""


class QuadrantsIndexError(QuadrantsCompilationError, IndexError):
    """The number of indices is wrong."""


class QuadrantsTypeError(QuadrantsCompilationError, TypeError):
    """An operation does not take a type."""


class QuadrantsValueError(QuadrantsCompilationError, ValueError):
    """What is known while tracing has a value that is not allowed."""


class QuadrantsNotImplementedError(QuadrantsCompilationError, NotImplementedError):
    """A combination that is not supported."""


class QuadrantsStaticAssertionError(QuadrantsCompilationError, AssertionError):
    """What is asserted of what is known while tracing does not hold."""


class QuadrantsRuntimeError(RuntimeError):
    """A kernel cannot be run."""


class QuadrantsAssertionError(QuadrantsRuntimeError, AssertionError):
    """An assertion in a kernel does not hold."""


class QuadrantsRuntimeTypeError(QuadrantsRuntimeError, TypeError):
    """An argument is not of its parameter's type."""
