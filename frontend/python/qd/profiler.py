"""How long kernels take on the device: `init(kernel_profiler=True)` has each task timed, which makes calls slower.

What is timed is on the stream of `qd`, and not on one that is given by another library.
"""

import json
from dataclasses import dataclass

from qd import _later, _runtime
from qd.exception import QuadrantsRuntimeError

globals().update(_later.PROFILER)


@dataclass(frozen=True)
class Span:
    """Something that the device did; times in seconds, `start` from `init` on."""

    stream: int
    name: str
    # Whether it is a task of the call in whose time it lies.
    is_task: bool
    start: float
    duration: float
    details: dict


@dataclass(frozen=True)
class Times:
    """The times of what has one name, in milliseconds."""

    name: str
    counter: int
    min: float
    max: float
    total: float

    @property
    def avg(self):
        return self.total / self.counter if self.counter else 0.0


# Those of each call of `init` are its own.
_spans: list[Span] = []
_of = None


def spans():
    """All that was timed since `init` or `clear_kernel_profiler_info`, by the time it began. Waits until it has ended."""
    global _of
    current = _runtime.current()
    if current.profiler is None:
        raise QuadrantsRuntimeError("nothing is timed: qd.init(kernel_profiler=True) has tasks timed")
    _runtime.sync()
    if _of != current.generation:
        _spans.clear()
        _of = current.generation
    with _runtime.Failures():
        for stream, name, is_task, start, duration, details in current.profiler.take():
            _spans.append(Span(stream, name, is_task, start * 1e-9, duration * 1e-9, dict(details)))
    return list(_spans)


def clear_kernel_profiler_info():
    """Forgets what was timed."""
    spans()
    _spans.clear()


def _times():
    """The tasks' times, by their names, those first that took longest."""
    of = {}
    for span in spans():
        if span.is_task:
            of.setdefault(span.name, []).append(span.duration * 1e3)
    times = [Times(name, len(all), min(all), max(all), sum(all)) for name, all in of.items()]
    return sorted(times, key=lambda each: -each.total)


def query_kernel_profiler_info(name):
    """The times of the tasks of a kernel, or of a task: `counter`, and `min`, `max` and `avg` in milliseconds."""
    found = [span.duration * 1e3 for span in spans() if span.is_task and name in (span.name, span.details.get("kernel"))]
    return Times(name, len(found), min(found, default=0.0), max(found, default=0.0), sum(found))


def get_kernel_profiler_total_time():
    """The time of all tasks, in seconds."""
    return sum(span.duration for span in spans() if span.is_task)


def print_kernel_profiler_info(mode="count"):
    """Prints what tasks took: a row for each name, or, with `trace`, one for each time that it ran."""
    if mode not in ("count", "trace"):
        raise ValueError(f"mode is 'count' or 'trace', and not {mode!r}")
    if mode == "trace":
        print(f"{'start, ms':>12} {'time, ms':>10}  task")
        for span in spans():
            if span.is_task:
                print(f"{span.start * 1e3:12.3f} {span.duration * 1e3:10.3f}  {span.name}")
        return
    times = _times()
    total = sum(each.total for each in times)
    print(f"{'share':>6} {'total, ms':>10} {'count':>7} {'min, ms':>9} {'avg, ms':>9} {'max, ms':>9}  task")
    for each in times:
        share = each.total / total if total else 0.0
        print(
            f"{share:6.1%} {each.total:10.3f} {each.counter:7} {each.min:9.3f} {each.avg:9.3f} {each.max:9.3f}  {each.name}"
        )


def write_trace(file):
    """Writes what the device did as a Chrome trace, which chrome://tracing and Perfetto show: calls, with their tasks below."""
    arch = _runtime.current().config.arch.name
    events = [{"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": arch}}]
    for span in spans():
        times = {"ts": span.start * 1e6, "dur": span.duration * 1e6}
        events.append({"ph": "X", "name": span.name, "pid": 0, "tid": span.stream, **times, "args": span.details})
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"traceEvents": events, "displayTimeUnit": "ns"}, out)
