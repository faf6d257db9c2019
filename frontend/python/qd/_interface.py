"""Arrays that say where they are by `__cuda_array_interface__`, and have no DLPack: a capsule of DLPack says the same."""

import ctypes

from qd._dtypes import OF_NUMPY

# DLPack's codes of types, by the first letter of ours.
_CODES = {"i": 0, "u": 1, "f": 2}
_BOOLEAN = 6


class _Tensor(ctypes.Structure):
    """`DLManagedTensor`, of before version 1."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


# Tensors that somebody uses, by their addresses, each with what it is of.
_used = {}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(address):
    _used.pop(address, None)


# What is freed last, while Python ends, calls it still.
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_delete))

_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def _strides(said, size):
    """The steps between elements, in elements; None where they are in a row."""
    strides = said.get("strides")
    if strides is None:
        return None
    if any(stride % size for stride in strides):
        raise BufferError(f"its strides {strides} are no multiples of {size} bytes")
    return [stride // size for stride in strides]


def capsule_of(value, device_type):
    """A capsule of an array's memory, which a consumer has to take, and whether it is read-only."""
    said = value.__cuda_array_interface__
    order, dtype = said["typestr"][0], OF_NUMPY.get(said["typestr"][1:])
    if dtype is None or order not in "<|" or said.get("mask") is not None:
        raise BufferError(f"arrays of '{said['typestr']}', or with a mask, aren't there yet")
    shape, strides = said["shape"], _strides(said, dtype.size)
    numbers = ctypes.c_int64 * len(shape)
    extents, steps = numbers(*shape), strides and numbers(*strides)
    code = _BOOLEAN if dtype.name == "u1" else _CODES[dtype.name[0]]
    address, is_read_only = said["data"]
    tensor = _Tensor(
        address, device_type, 0, len(shape), code, 8 * dtype.size, 1, ctypes.addressof(extents), steps and ctypes.addressof(steps),
        0, None, ctypes.cast(_delete, ctypes.c_void_p),
    )  # fmt: skip
    _used[ctypes.addressof(tensor)] = tensor, extents, steps, value
    return _capsule(ctypes.addressof(tensor), b"dltensor", None), is_read_only
