"""Kernels: what they are called with, and what is compiled for that."""

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from threading import Timer
from time import perf_counter
from types import SimpleNamespace
from typing import Any, Concatenate, Generic, overload

from qd import _core, _foreign, _runtime
from qd._arguments import Signature
from qd._functions import ArrayOf, P, Q, R, is_data_oriented
from qd._later import Later
from qd._logging import logger
from qd._perf_dispatch import DispatchImpl
from qd._source import Source, check_function
from qd._tracer import Tracer
from qd.exception import (
    QuadrantsCompilationError,
    QuadrantsRuntimeError,
    QuadrantsSyntaxError,
)


# Seconds after which a compilation says that it goes on.
SLOW = 2


@overload
def kernel(function: Callable[P, R]) -> "Kernel[P, R]": ...
@overload
def kernel(**options: Any) -> "Callable[[Callable[P, R]], Kernel[P, R]]": ...
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


@dataclass(frozen=True)
class Compiled:
    """A kernel for some types of arguments."""

    kernel: _core.Kernel
    # What it takes beyond its arguments: fields, and None for a variable that several tasks have.
    appended: list
    # What arguments that overlap are checked for.
    apart: list
    # Loops whose number of elements is looked at.
    limits: list
    # How many the source has.
    tasks: int
    # In seconds.
    traced: float
    compiled: float


class _Primal:
    """What programs for the peer ask of a kernel: none repeats anything on the device, and none is found by its source."""

    graph_do_while_arg = None
    graph_do_while_levels = ()
    src_ll_cache_observations = SimpleNamespace(cache_key_generated=False, cache_validated=False, cache_loaded=False, cache_stored=False)


class Kernel(Generic[P, R]):
    """A function that runs on the device."""

    _primal = _Primal()
    _adjoint, grad = Later("kernel._adjoint"), Later("kernel.grad")

    def __init__(self, function: Callable[P, R]):
        check_function(function)
        functools.update_wrapper(self, function)
        self.function = function
        self.source = Source(function)
        self._signature = None
        # By the types of their arguments.
        self._compiled = {}
        self._generation = None
        # Those that Rust can look at alone; None if there are none.
        self._calls = None
        # The limits of all of these.
        self._limits = []
        # Tasks of each of these.
        self._tasks = None
        self._recorder = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            # Where the arguments say all, Python has nothing to find out.
            if self._calls is not None and not kwargs and not (self._limits and self._exceeds(args)):
                try:
                    bits = self._calls.call(_runtime.generation(), args)
                except _core.Failed as error:
                    # Rust does not compare arguments with fields: nothing has been launched if they share memory.
                    if not self._meets_fields(args):
                        raise _runtime.told(error) from None
                    bits = None
                if bits is not None:
                    _runtime.last_tasks = self._tasks
                    return self._signature.returned(bits) if bits else None
            return self._call(args, kwargs)
        except (QuadrantsCompilationError, QuadrantsRuntimeError) as error:
            config = _runtime.config()
            if config and config.print_full_traceback:
                raise
            # Of the package's frames this one is left: what is wrong is the program's.
            raise error.with_traceback(None) from None

    def _call(self, args, kwargs):
        runtime = _runtime.current()
        if self._generation != runtime.generation:
            self._compiled.clear()
            self._generation = runtime.generation
            # Annotations may mean other types by default.
            self._signature = Signature(self.function, self.source, runtime.config)
            parameters = self._signature.plain()
            self._calls = None
            self._limits.clear()
            self._tasks = None
            if parameters is not None:
                self._calls = _core.Calls(runtime.generation, runtime.device.is_host, parameters)
        given = self._signature.bind(args, kwargs)
        compiled = self._compiled_for(given, runtime)
        if given.meets(compiled.appended) and not given.overlap:
            given.share()
            compiled = self._compiled_for(given, runtime)
        if self._calls is not None and given.stream is not None and (torch := _foreign.torch()):
            self._calls.ask_torch(torch)
        kernel = compiled.kernel
        for limit in compiled.limits:
            if limit.is_exceeded(given.arguments):
                raise QuadrantsRuntimeError(limit.text)
        given.check_apart(compiled.apart)
        if given.overlap and not runtime.device.is_host:
            given.check_copies(kernel.written)
        if given.copies or given.moved:
            given.check_alone(kernel.written, compiled.appended)
        # None is a variable.
        given.packed += [None if field is None else field.packed() for field in compiled.appended]
        with _runtime.Failures():
            bits = kernel.launch(given.packed, given.stream, given.waits)
        for number, _, copy, original in given.copies:
            if kernel.written[number]:
                original[...] = copy
        for number, _, copy, elements in given.moved:
            if kernel.written[number]:
                elements.assign(copy)
        _runtime.last_tasks = compiled.tasks
        return self._signature.returned(bits)

    def _exceeds(self, args):
        """Whether a loop may have too many elements, or arguments are not such that they say it."""
        try:
            return any(limit.is_exceeded(args) for limit in self._limits)
        except Exception:
            # Of what kind they are is looked at later.
            return True

    def _meets_fields(self, args):
        """Whether a call that failed was given memory of a field that the kernel finds by its name, and was not compiled for that."""
        given = self._signature.bind(args, {})
        compiled = self._compiled.get(given.key)
        return compiled is not None and not given.overlap and given.meets(compiled.appended)

    def _compiled_for(self, given, runtime):
        """The kernel for the types of a call, which is compiled once."""
        compiled = self._compiled.get(given.key)
        if compiled is None:
            compiled = self._compiled[given.key] = self._compile(given, runtime)
            if self._tasks is None:
                self._tasks = compiled.tasks
            # Rust looks for no pairs, and does not say which of them it has called: what has other tasks is left to Python.
            if self._calls is not None and not compiled.apart and compiled.tasks == self._tasks:
                arrays = [(each.dtype.name, each.rank) for each in given.key if isinstance(each, ArrayOf)]
                numpy = sys.modules.get("numpy")
                self._limits += compiled.limits
                self._calls.add(arrays, given.overlap, compiled.kernel, compiled.appended, numpy and numpy.ndarray)
        return compiled

    @overload
    def __get__(self, instance: None, owner: Any = None) -> "Kernel[P, R]": ...
    @overload
    def __get__(self: "Kernel[Concatenate[Any, Q], R]", instance: object, owner: Any = None) -> "Bound[Q, R]": ...
    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        # Of a class method it is the class.
        if isinstance(instance, type):
            return Bound(self, instance)
        if not is_data_oriented(instance):
            name = type(instance).__name__
            raise QuadrantsSyntaxError(f"'{name}.{self.__name__}' is a kernel: the class has to be @qd.data_oriented")
        return Bound(self, instance)

    def _compile(self, given, runtime):
        start = perf_counter()
        says = Timer(SLOW, self._say_slow)
        says.daemon = True
        says.start()
        try:
            tracer = Tracer(self.function, self.source, self._signature, given.key, runtime.config)
            self._recorder = tracer.trace()
            traced = perf_counter()
            self._dump(runtime)
            kernel = runtime.device.compile(self._recorder)
            for trouble in runtime.device.troubles():
                logger.warning("%s", trouble)
            return Compiled(kernel, tracer.appended, tracer.apart, tracer.limits, tracer.tasks, traced - start, perf_counter() - traced)
        except _core.Diagnosed as error:
            line, column, message = error.args[0][0]
            where = self.source.shown_at(line, column)
        finally:
            says.cancel()
        raise QuadrantsCompilationError(f"{where}\n{message}")

    def _dump(self, runtime):
        """Shows what the kernel is lowered to where `init` is told to."""
        folder = runtime.config.debug_dump_path
        if not (folder or runtime.config.print_ir):
            return
        levels = _core.levels(runtime.device, self._recorder)
        if runtime.config.print_ir:
            print(levels[0][1])
        if folder:
            os.makedirs(folder, exist_ok=True)
            # Each of its forms has files of its own.
            name = f"{self.__name__}-{len(self._compiled)}"
            for end, text in [("record.txt", self._recorder.text()), *levels]:
                with open(os.path.join(folder, f"{name}.{end}"), "w", encoding="utf-8") as file:
                    file.write(text)

    def _say_slow(self):
        print(f"qd: compiling '{self.__name__}' takes more than {SLOW:g} s", file=sys.stderr, flush=True)

    def explain(self) -> str:
        """What has been compiled since `init`, for which types, or was found in the cache on disk, and how long that took, as text."""
        lines = [f"{self.__name__}: {len(self._compiled)} compiled in this process"]
        for (*types, overlapping), compiled in self._compiled.items():
            what = ", ".join(map(str, types)) + (", with arrays that overlap" if overlapping else "")
            came = "found in the cache" if compiled.kernel.was_kept else "compiled"
            times = f"traced in {compiled.traced * 1e3:.1f} ms, {came} in {compiled.compiled * 1e3:.1f} ms"
            lines.append(f"  ({what}): {times}")
        return "\n".join(lines)

    def record(self) -> str:
        """The record of what was compiled last, as text."""
        if self._recorder is None:
            raise QuadrantsRuntimeError(f"{self.__name__} has not been compiled")
        return self._recorder.text()


class Bound(Generic[P, R]):
    """A kernel of an object, which is its first argument."""

    def __init__(self, kernel, instance):
        self._kernel = kernel
        self._instance = instance

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._kernel(self._instance, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)
