"""Kernels on PyTorch's and CuPy's arrays, streams and graphs, through libqd.so.

    python3 pytorch.py libqd.so kernels.qd

kernels.qd is kernels.mlir, translated for the device: docs/how-to/use-from-c.md says how.
"""

import ctypes
import sys
import threading
import time


class Tensor(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Arg(ctypes.Structure):
    """qd_arg of qd.h."""

    _fields_ = [
        ("kind", ctypes.c_uint32),
        ("dtype", ctypes.c_uint32),
        ("pointer", ctypes.c_void_p),
        ("word", ctypes.c_uint64),
    ]


MISSING = None
API_VERSION, TENSOR, CUDA = 1, 3, 2
# DLPack's code and the bits of each type of elements.
TYPES = {"i4": (0, 32), "u4": (1, 32), "i8": (0, 64), "f4": (2, 32)}


class Library:
    """Kernels of a file on a device. Arrays are anything with __cuda_array_interface__."""

    def __init__(self, path, artifact, device="cuda:0"):
        self.c = ctypes.CDLL(path)
        self.c.qd_error_message.restype = ctypes.c_char_p
        self.call("qd_check", API_VERSION, ctypes.c_uint64(0))
        self.device = self.handle("qd_device_open", device.encode(), None)
        self.executable = self.handle("qd_load_file", self.device, artifact.encode())
        self.kernels, self.streams = {}, {}

    def call(self, name, *words):
        if getattr(self.c, name)(*words):
            raise RuntimeError(self.c.qd_error_message().decode())

    def handle(self, name, *words):
        made = ctypes.c_void_p()
        self.call(name, *words, ctypes.byref(made))
        return made

    def kernel(self, name):
        if name not in self.kernels:
            self.kernels[name] = self.handle("qd_kernel_get", self.executable, name.encode())
        return self.kernels[name]

    def stream(self, raw):
        if raw not in self.streams:
            self.streams[raw] = self.handle("qd_stream_wrap", self.device, ctypes.c_void_p(raw))
        return self.streams[raw]

    def args(self, arrays):
        """The arguments, and the tensors that they point to, which the caller holds during the call."""
        made, held = (Arg * len(arrays))(), []
        for arg, array in zip(made, arrays):
            if array is MISSING:
                continue
            it = array.__cuda_array_interface__
            rank = len(it["shape"])
            code, bits = TYPES[it["typestr"][1:]]
            tensor = Tensor(it["data"][0], CUDA, 0, rank, code, bits, 1)
            tensor.shape = (ctypes.c_int64 * rank)(*it["shape"])
            if it.get("strides"):
                tensor.strides = (ctypes.c_int64 * rank)(*(s // (bits // 8) for s in it["strides"]))
            held.append(tensor)
            arg.kind, arg.pointer = TENSOR, ctypes.addressof(tensor)
        return made, held

    def minimum(self, kernel, argument, arrays):
        rows = ctypes.c_uint64()
        given, _held = self.args(arrays)
        self.call("qd_kernel_minimum", self.kernel(kernel), argument.encode(), given,
                  ctypes.c_size_t(len(given)), ctypes.byref(rows))
        return rows.value

    def launch(self, kernel, stream, *arrays, max_iterations=0):
        given, _held = self.args(arrays)
        options = ctypes.c_uint64(max_iterations)  # qd_launch_options
        self.call("qd_launch", self.kernel(kernel), self.stream(stream), given,
                  ctypes.c_size_t(len(given)), ctypes.byref(options))

    def synchronize(self, stream):
        self.call("qd_stream_synchronize", self.stream(stream))

    def close(self):
        """Frees all handles. What a captured graph needs is held by it."""
        for kernel in self.kernels.values():
            self.call("qd_kernel_free", kernel)
        for stream in self.streams.values():
            self.call("qd_stream_free", stream)
        self.call("qd_executable_free", self.executable)
        self.call("qd_device_free", self.device)


def check(what, is_right):
    if not is_right:
        sys.exit(f"{what}: WRONG")


def refused(what, call, text):
    try:
        call()
    except RuntimeError as error:
        check(f"{what} says '{error}', not '{text}'", text in str(error))
    else:
        sys.exit(f"{what}: was not refused")


def with_torch(library, replays):
    import torch

    gpu = torch.device("cuda:0")
    length = 100_003
    generator = torch.Generator(device=gpu).manual_seed(1)

    def ints(*shape):
        return torch.randint(-(2**31), 2**31, shape, dtype=torch.int32, device=gpu, generator=generator)

    keys, tmp = ints(length), torch.empty(length, dtype=torch.int32, device=gpu)
    sums = torch.empty_like(keys)
    n = torch.tensor(length, dtype=torch.int32, device=gpu)
    rounds, left, goes_on = (torch.zeros((), dtype=torch.int32, device=gpu) for _ in range(3))
    side = torch.cuda.Stream()
    raw = side.cuda_stream
    def scratch_of(kernel, *arrays):
        rows = library.minimum(kernel, "scratch", arrays)
        return torch.empty(max(rows, 1), dtype=torch.int32, device=gpu)

    sort_scratch = scratch_of("sort", keys, tmp, MISSING, n)
    scan_scratch = scratch_of("scan", keys, sums, MISSING, n)
    side.wait_stream(torch.cuda.current_stream())

    # On torch's stream, behind what torch put there.
    with torch.cuda.stream(side):
        source = ints(length)
        keys.copy_(source)
        library.launch("sort", raw, keys, tmp, sort_scratch, n)
        library.launch("scan", raw, keys, sums, scan_scratch, n)
        expected = torch.sort(source).values
        check("a sort on torch's stream", torch.equal(keys, expected))
        check("a scan on torch's stream", torch.equal(sums, torch.cumsum(expected, 0, dtype=torch.int32)))
    torch.cuda.synchronize()

    # In torch's graph, with work of torch before and after it.
    source, doubled = ints(length), torch.empty(length, dtype=torch.int32, device=gpu)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        keys.copy_(source)
        keys.add_(1)
        library.launch("sort", raw, keys, tmp, sort_scratch, n)
        library.launch("scan", raw, keys, sums, scan_scratch, n)
        left.fill_(1000)
        rounds.zero_()
        library.launch("halve", raw, left, rounds, goes_on)
        # What is refused leaves the capture as it was.
        refused("a launch without arguments", lambda: library.launch("sort", raw), "takes 4 arguments")
        refused("waiting", lambda: library.synchronize(raw), "is being captured")
        refused("an overlap", lambda: library.launch("sort", raw, keys, keys, sort_scratch, n), "overlaps")
        doubled.copy_(sums).mul_(2)
    lengths = [length, 0, 1, 77, 4096, 99_999]
    begin = time.perf_counter()
    for i in range(replays):
        source.copy_(ints(length))
        live = lengths[i % len(lengths)]
        n.fill_(live)
        graph.replay()
        expected = torch.sort(source[:live] + 1).values
        totals = torch.cumsum(expected, 0, dtype=torch.int32)
        check(f"sort of {live} in replay {i}", torch.equal(keys[:live], expected))
        check(f"scan of {live} in replay {i}", torch.equal(sums[:live], totals))
        check(f"what is behind it in replay {i}", torch.equal(doubled[:live], totals * 2))
        check(f"the loop in replay {i}", rounds.item() == 10)
    print(f"torch.cuda.graph: {replays} replays in {time.perf_counter() - begin:.1f} s")
    del graph
    torch.cuda.synchronize()

    # Its handles may go before the graph does, and other threads may call meanwhile.
    other = Library(sys.argv[1], sys.argv[2])
    beside = torch.cuda.Stream()
    arrays = [(ints(m), torch.empty(m, dtype=torch.int32, device=gpu), torch.tensor(m, dtype=torch.int32, device=gpu))
              for m in (10, 5000, length)]
    failed = []
    torch.cuda.synchronize()

    def work():
        try:
            for a, out, m in arrays:
                library.launch("scan", beside.cuda_stream, a, out, scan_scratch, m)
            library.synchronize(beside.cuda_stream)
        except RuntimeError as error:
            failed.append(str(error))

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        thread = threading.Thread(target=work)
        other.launch("sort", raw, source, tmp, sort_scratch, n)
        thread.start()
        thread.join()
        other.launch("scan", raw, source, sums, scan_scratch, n)
    check(f"another thread's calls: {failed}", not failed)
    for a, out, _ in arrays:
        check("another thread's scan", torch.equal(out, torch.cumsum(a, 0, dtype=torch.int32)))
    other.close()
    n.fill_(length)
    for i in range(10):
        source.copy_(ints(length))
        expected = torch.sort(source).values
        graph.replay()
        check(f"a sort without its handles, replay {i}", torch.equal(source, expected))
        check(f"a scan without its handles, replay {i}", torch.equal(sums, torch.cumsum(expected, 0, dtype=torch.int32)))
    del graph
    torch.cuda.synchronize()

    # A loop that goes on too long is stopped by the device.
    with torch.cuda.stream(side):
        left.fill_(1 << 30)
        rounds.zero_()
    library.launch("halve", raw, left, rounds, goes_on, max_iterations=7)
    refused("a long loop", lambda: library.synchronize(raw), "still running after 7 iterations")
    check("a loop that was stopped", rounds.item() == 7)
    with torch.cuda.stream(side):
        left.fill_(1 << 30)
        rounds.zero_()
    library.launch("halve", raw, left, rounds, goes_on, max_iterations=31)
    library.synchronize(raw)
    check("a loop that was not stopped", rounds.item() == 31)

    refused("strides", lambda: library.launch("sort", raw, ints(2 * length)[::2], tmp, sort_scratch, n),
            "are not contiguous")

    # Elements that are aligned as elements, and not as vectors.
    for offset in range(1, 5):
        odd = ints(length + offset)[offset:]
        out = torch.empty(length + 7, dtype=torch.int32, device=gpu)[3 : length + 3]
        expected = torch.sort(odd).values
        n.fill_(length)
        torch.cuda.synchronize()
        library.launch("sort", raw, odd, out, sort_scratch, n)
        library.launch("scan", raw, odd, out, scan_scratch, n)
        library.synchronize(raw)
        check(f"a sort from element {offset} on", torch.equal(odd, expected))
        check(f"a scan from element {offset} on", torch.equal(out, torch.cumsum(expected, 0, dtype=torch.int32)))
    print("torch: streams, graphs, loops, alignment")


def with_cupy(library):
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        for length in (1, 1000, 65_537):
            keys = cupy.random.randint(-(10**9), 10**9, length, dtype=cupy.int32)
            expected = cupy.sort(keys)
            tmp, sums = cupy.empty_like(keys), cupy.empty_like(keys)
            n = cupy.array(length, dtype=cupy.int32)
            arrays = (keys, tmp, MISSING, n)
            rows = max(library.minimum("sort", "scratch", arrays), 1)
            scratch = cupy.empty(rows, dtype=cupy.int32)
            library.launch("sort", stream.ptr, keys, tmp, scratch, n)
            rows = max(library.minimum("scan", "scratch", (keys, sums, MISSING, n)), 1)
            scan_scratch = cupy.empty(rows, dtype=cupy.int32)
            library.launch("scan", stream.ptr, keys, sums, scan_scratch, n)
            check("a sort on CuPy's stream", bool((keys == expected).all()))
            totals = cupy.cumsum(expected, dtype=cupy.int32)
            check("a scan on CuPy's stream", bool((sums == totals).all()))
    stream.synchronize()
    print("CuPy: streams")


def main():
    library = Library(sys.argv[1], sys.argv[2])
    replays = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    for module, use in [("torch", lambda: with_torch(library, replays)), ("cupy", lambda: with_cupy(library))]:
        try:
            __import__(module)
        except ImportError:
            print(f"{module} is not there: left out")
            continue
        use()


if __name__ == "__main__":
    main()
