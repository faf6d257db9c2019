"""`perf_dispatch`: of several implementations of one function, the fastest runs, as measured. When which of them is
tried is decided by the runtime, as for dispatchers of any language."""

import functools
import inspect
import os
from collections.abc import Callable
from math import inf
from time import perf_counter
from typing import Any, Generic, overload

from qd import _core, _runtime
from qd._functions import P, R
from qd._logging import logger
from qd.exception import QuadrantsRuntimeError, QuadrantsSyntaxError

NUM_FIRST_WARMUP, NUM_WARMUP, NUM_ACTIVE, DEFAULT_REPEAT_AFTER_COUNT = _core.dispatch_defaults()
DEFAULT_REPEAT_AFTER_SECONDS = None

_FORCE = "QD_PERFDISPATCH_FORCE"


def _parse_force_map(text):
    """The implementation that each dispatcher is to take: `dispatcher:implementation,…`; a lone `?` names none."""
    forced = {}
    entries = [entry.strip() for entry in (text or "").split(",")]
    for entry in entries:
        if not entry or entries == ["?"]:
            continue
        dispatcher, colon, implementation = (part.strip() for part in entry.partition(":"))
        if not (dispatcher and colon and implementation):
            raise ValueError(f"Malformed {_FORCE} entry '{entry}': expected 'dispatcher:implementation'")
        forced[dispatcher] = implementation
    return forced


_FORCE_MAP = _parse_force_map(os.environ.get(_FORCE))
_ANY_FORCE_ACTIVE = bool(os.environ.get(_FORCE, "").strip())
_PRINT_DEBUG = os.environ.get("QD_PERFDISPATCH_PRINT_DEBUG", "").strip() == "1"


class DispatchImpl(Generic[P, R]):
    """An implementation: a kernel, or a function of Python."""

    def __init__(self, function: Callable[P, R], is_compatible: Callable[P, bool] | None):
        functools.update_wrapper(self, function)
        self.function = function
        self.is_compatible = is_compatible

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)


class PerformanceDispatcher(Generic[P, R]):
    """A function of which the fastest implementation runs."""

    def __init__(self, prototype, get_geometry_hash, first_warmup, warmup, active, repeat_after_count, repeat_after_seconds):
        functools.update_wrapper(self, prototype)
        self.get_geometry_hash = get_geometry_hash
        self.num_first_warmup = first_warmup
        self.num_warmup = warmup
        self.num_active = active
        self.repeat_after_count = repeat_after_count
        self.repeat_after_seconds = repeat_after_seconds
        self._parameters = list(inspect.signature(prototype).parameters)
        self._impls = []
        # By geometry: what the runtime knows, and the same as programs look it up.
        self._evaluations = {}
        self._fastest_dispatch_impl_by_geometry_hash = {}
        self._trial_count_by_dispatch_impl_by_geometry_hash = {}
        self._first_eval_completed = set()
        # The arguments of the last call for which there was one implementation alone, and that.
        self._alone = None
        self._is_started = False
        self._forced = None

    def _say(self, what):
        print(f"perf_dispatch '{self.__name__}': {what}")

    @overload
    def register(
        self, function: Callable[P, R], *, is_compatible: Callable[P, bool] | None = None
    ) -> DispatchImpl[P, R]: ...
    @overload
    def register(
        self, *, is_compatible: Callable[P, bool] | None = None
    ) -> Callable[[Callable[P, R]], DispatchImpl[P, R]]: ...
    def register(self, function=None, *, is_compatible=None):
        """Adds an implementation, which has the prototype's parameters. `is_compatible` takes a call's arguments, and says
        whether it may run for these."""
        if function is None:
            return functools.partial(self.register, is_compatible=is_compatible)
        parameters = list(inspect.signature(function).parameters)
        if parameters != self._parameters:
            raise QuadrantsSyntaxError(
                f"[PERFDISPATCH_ANNOTATION_SEQUENCE_MISMATCH] the parameters of '{function.__name__}' are "
                f"({', '.join(parameters)}), and those of '{self.__name__}' ({', '.join(self._parameters)})"
            )
        impl = DispatchImpl(function, is_compatible)
        self._impls.append(impl)
        if _ANY_FORCE_ACTIVE or _PRINT_DEBUG:
            self._say(f"registered '{impl.__name__}'")
        return impl

    def _start(self):
        """What the environment says, read at the first call."""
        self._is_started = True
        if not (_ANY_FORCE_ACTIVE or _PRINT_DEBUG):
            return
        names = [impl.__name__ for impl in self._impls]
        self._say(f"available implementations: {names}")
        name = _FORCE_MAP.get(self.__name__) if _ANY_FORCE_ACTIVE else None
        if name is None:
            return
        self._forced = next((impl for impl in self._impls if impl.__name__ == name), None)
        if self._forced is None:
            logger.warning("%s: perf_dispatch '%s' has no implementation '%s', but %s", _FORCE, self.__name__, name, names)
        else:
            self._say(f"forced to '{name}'")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if not self._is_started:
            self._start()
        if self._forced is not None:
            return self._forced(*args, **kwargs)
        if self._alone is not None:
            known, named, impl = self._alone
            if _are_same(known, args) and _are_same(named.values(), kwargs.values()) and list(named) == list(kwargs):
                return impl(*args, **kwargs)
        geometry = self.get_geometry_hash(*args, **kwargs)
        evaluation = self._evaluations.get(geometry)
        if evaluation is not None:
            winner = evaluation.steady(perf_counter())
            if winner is not None:
                return self._impls[winner](*args, **kwargs)
        return self._evaluate(geometry, evaluation, args, kwargs)

    def _evaluate(self, geometry, evaluation, args, kwargs):
        """A call of a geometry without a winner that stays."""
        holds = [impl.is_compatible is None or impl.is_compatible(*args, **kwargs) for impl in self._impls]
        eligible = [number for number, one in enumerate(holds) if one]
        if not eligible:
            raise QuadrantsRuntimeError("No suitable functions were found.")
        if evaluation is None:
            evaluation = self._evaluations[geometry] = _core.Evaluation(
                self.num_first_warmup, self.num_warmup, self.num_active, *_triggers(self.repeat_after_count, self.repeat_after_seconds)
            )
        number, is_timed = evaluation.next(eligible, len(self._impls), perf_counter())
        impl = self._impls[number]
        if is_timed is None:
            if len(eligible) == 1:
                self._alone = args, kwargs, impl
            self._fastest_dispatch_impl_by_geometry_hash[geometry] = impl
            return impl(*args, **kwargs)
        before = self._fastest_dispatch_impl_by_geometry_hash.pop(geometry, None)
        if before is not None:
            # The calls that follow take longer.
            logger.info("perf_dispatch '%s': all are measured again for geometry %s, where '%s' was chosen", self.__name__, geometry, before.__name__)
        time = None
        try:
            if is_timed:
                _wait()
                start = perf_counter()
                result = impl(*args, **kwargs)
                _wait()
                time = perf_counter() - start
            else:
                result = impl(*args, **kwargs)
        finally:
            winner = evaluation.end(eligible, number, time, perf_counter())
            counts = zip(self._impls, evaluation.trials())
            self._trial_count_by_dispatch_impl_by_geometry_hash[geometry] = {one: count for one, count in counts if count}
        if winner is not None:
            self._fastest_dispatch_impl_by_geometry_hash[geometry] = self._impls[winner]
            self._first_eval_completed.add(geometry)
            if _PRINT_DEBUG:
                self._say(f"chose '{self._impls[winner].__name__}' for geometry {geometry}")
        return result


def _wait():
    """Waits for the device, where there is one: functions of Python need none."""
    if _runtime.config() is not None:
        _runtime.sync()


def _triggers(count, seconds):
    """What begins another evaluation, if not off."""
    return tuple(each if each and 0 < each < inf else None for each in (count, seconds))


def _are_same(known, given):
    """Whether arguments are the same objects."""
    return len(known) == len(given) and all(a is b for a, b in zip(known, given))


def perf_dispatch(
    *,
    get_geometry_hash: Callable[..., Any],
    first_warmup: int | None = None,
    warmup: int | None = None,
    active: int | None = None,
    repeat_after_count: int | None = None,
    repeat_after_seconds: float | None = None,
) -> Callable[[Callable[P, R]], PerformanceDispatcher[P, R]]:
    """Makes a dispatcher of a prototype, to which implementations are added with `register`.

    The first calls of each geometry try its implementations in turns: `first_warmup` untimed rounds, or `warmup` in later
    evaluations, then `active` timed ones. The least mean time wins, until `repeat_after_count` calls or
    `repeat_after_seconds` seconds have passed; 0 or less is never. If one of the two is given, the other is never.
    Defaults: 1, 0, 1, 300 calls.
    """
    if repeat_after_count is None and repeat_after_seconds is None:
        repeat_after_count, repeat_after_seconds = DEFAULT_REPEAT_AFTER_COUNT, DEFAULT_REPEAT_AFTER_SECONDS
    first_warmup = NUM_FIRST_WARMUP if first_warmup is None else first_warmup
    warmup = NUM_WARMUP if warmup is None else warmup
    active = NUM_ACTIVE if active is None else active
    if active < 1:
        raise ValueError(f"active={active}: an evaluation has at least 1 timed round")
    if min(first_warmup, warmup) < 0:
        raise ValueError(f"first_warmup={first_warmup}, warmup={warmup}: numbers of rounds are not negative")
    return functools.partial(
        PerformanceDispatcher,
        get_geometry_hash=get_geometry_hash,
        first_warmup=first_warmup,
        warmup=warmup,
        active=active,
        repeat_after_count=repeat_after_count,
        repeat_after_seconds=repeat_after_seconds,
    )
