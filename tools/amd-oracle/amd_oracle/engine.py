"""The engine from Python: load a code object, run a launch on NumPy arrays or bytearrays."""

import ctypes
import os
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent


class OracleError(Exception):
    """What the engine refused or found wrong."""


class Region(ctypes.Structure):
    _fields_ = [("base", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("defined", ctypes.c_void_p)]


class Properties(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint32) for n in ("kernarg_bytes", "shared_bytes", "private_bytes", "wave", "max_threads")]


def library():
    """The engine: `QD_AMD_ORACLE_LIBRARY`, or where the README builds it."""
    path = os.environ.get("QD_AMD_ORACLE_LIBRARY") or HERE.parents[2] / "target" / "amd-oracle" / "liboracle.so"
    lib = ctypes.CDLL(str(path))
    lib.oracle_load.restype = ctypes.c_void_p
    lib.oracle_load.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    lib.oracle_unload.argtypes = [ctypes.c_void_p]
    lib.oracle_architecture.restype = ctypes.c_char_p
    lib.oracle_architecture.argtypes = [ctypes.c_void_p]
    lib.oracle_find.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Properties)]
    lib.oracle_launch.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_char_p,
                                  ctypes.c_size_t, ctypes.POINTER(Region), ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return lib


class Buffer:
    """Memory of a launch. `written`: whether all of it counts as written."""

    def __init__(self, data, written=True):
        self.memory = (ctypes.c_uint8 * max(1, len(data))).from_buffer_copy(bytes(data) or b"\0")
        self.size = len(data)
        self.defined = (ctypes.c_uint8 * max(1, len(data)))(*([0xFF if written else 0] * len(data)))

    @property
    def address(self):
        return ctypes.addressof(self.memory)

    def __bytes__(self):
        return bytes(self.memory)[:self.size]

    def region(self):
        return Region(self.address, self.size, ctypes.addressof(self.defined))


class Module:
    def __init__(self, image):
        os.environ.setdefault("QD_AMD_ORACLE", str(HERE.parent))
        os.environ.setdefault("QD_AMD_ORACLE_PYTHON", __import__("sys").executable)
        self.lib, error = library(), ctypes.create_string_buffer(4096)
        self.handle = self.lib.oracle_load(image, len(image), error, len(error))
        if not self.handle:
            raise OracleError(error.value.decode(errors="replace"))

    def close(self):
        if self.handle:
            self.lib.oracle_unload(self.handle)
            self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def architecture(self):
        return self.lib.oracle_architecture(self.handle).decode()

    def properties(self, kernel):
        out = Properties()
        if not self.lib.oracle_find(self.handle, kernel.encode(), ctypes.byref(out)):
            raise OracleError(f"no kernel {kernel}")
        return out

    def launch(self, kernel, blocks, threads, arguments, shared=0):
        """Runs a kernel. An argument is a `Buffer`, or a (format of `struct`, value); C alignment."""
        packed, buffers = b"", []
        for a in arguments:
            if isinstance(a, Buffer):
                form, value = "<Q", a.address
                buffers.append(a)
            else:
                form, value = "<" + a[0], a[1]
            size = struct.calcsize(form)
            packed += b"\0" * (-len(packed) % size) + struct.pack(form, value)
        regions = (Region * max(1, len(buffers)))(*(b.region() for b in buffers))
        error = ctypes.create_string_buffer(4096)
        if self.lib.oracle_launch(self.handle, kernel.encode(), blocks, threads, shared, packed, len(packed), regions, len(buffers), error, len(error)):
            raise OracleError(error.value.decode(errors="replace"))
