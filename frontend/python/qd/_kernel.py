"""Kernels: what they are called with, and what is compiled for that."""

import ctypes
import functools

from qd import _core, _runtime
from qd._arguments import Signature
from qd._functions import is_data_oriented
from qd._perf_dispatch import DispatchImpl
from qd._source import Source
from qd._tracer import Tracer
from qd.exception import QuadrantsCompilationError, QuadrantsRuntimeError, QuadrantsSyntaxError


def kernel(function=None, **options):
    """Makes a kernel of a function."""
    if options:
        raise NotImplementedError(f"kernel options aren't there yet: {', '.join(options)}")
    if function is None:
        return kernel
    if isinstance(function, DispatchImpl):
        raise QuadrantsSyntaxError(
            f"[KERNEL_ANNOTATION_ORDER] '{function.__name__}': '@….register' stands above '@qd.kernel', and not below it"
        )
    return Kernel(function)


class Kernel:
    """A function that runs on the device."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
        self.source = Source(function)
        self._signature = None
        # Compiled kernels, each with what it takes beyond its arguments, by the types of their arguments.
        self._compiled = {}
        self._generation = None
        self._recorder = None

    def __call__(self, *args, **kwargs):
        runtime = _runtime.current()
        if self._generation != runtime.generation:
            self._compiled.clear()
            self._generation = runtime.generation
            # Annotations may mean other types by default.
            self._signature = Signature(self.function, self.source, runtime.config)
        given = self._signature.bind(args, kwargs)
        compiled = self._compiled.get(given.key)
        if compiled is None:
            compiled = self._compiled[given.key] = self._compile(given, runtime)
        kernel, appended = compiled
        # A word for each variable, where the kernel sets it before it reads it.
        memory = (ctypes.c_uint64 * len(appended))()
        for number, field in enumerate(appended):
            is_variable = field is None
            given.packed.append((ctypes.addressof(memory) + 8 * number, 1, False) if is_variable else field.packed())
        try:
            bits = kernel.launch(given.packed)
        except _core.Failed as error:
            raise QuadrantsRuntimeError(str(error)) from None
        for number, _, copy, original in given.copies:
            if kernel.written[number]:
                original[...] = copy
        return self._signature.returned(bits)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if not is_data_oriented(instance):
            name = type(instance).__name__
            raise QuadrantsSyntaxError(f"'{name}.{self.__name__}' is a kernel: the class has to be @qd.data_oriented")
        return Bound(self, instance)

    def _compile(self, given, runtime):
        tracer = Tracer(self.function, self.source, self._signature, given.key, runtime.config)
        self._recorder = tracer.trace()
        try:
            return runtime.device.compile(self._recorder), tracer.appended
        except _core.Diagnosed as error:
            line, column, message = error.args[0][0]
            where = self.source.shown_at(line, column)
        raise QuadrantsCompilationError(f"{where}\n{message}")

    def record(self):
        """The record of what was compiled last, as text."""
        if self._recorder is None:
            raise QuadrantsRuntimeError(f"{self.__name__} has not been compiled")
        return self._recorder.text()


class Bound:
    """A kernel of an object, which is its first argument."""

    def __init__(self, kernel, instance):
        self._kernel = kernel
        self._instance = instance

    def __call__(self, *args, **kwargs):
        return self._kernel(self._instance, *args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._kernel, name)
