"""Arrays that have `__cuda_array_interface__` and no DLPack, as capsules of DLPack, which NumPy takes from memory of the host."""

import gc
import sys
import types

import numpy as np
import pytest

import qd
from qd import _core, _foreign, _interface

HOST = 1


class Said:
    """An array that says where it is."""

    def __init__(self, array, **says):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, **says}


class Holder:
    """What NumPy takes a capsule from."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return HOST, 0


@pytest.fixture
def base():
    return np.arange(24).reshape(4, 6)


@pytest.mark.parametrize("part", [np.s_[:], np.s_[::2, 1:], np.s_[::-1], np.s_[:0], np.s_[2, 3:4]], ids=str)
@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "f2", "f8"])
def test_capsules_are_of_the_same_memory(base, part, dtype):
    array = base.astype(dtype)[part]
    capsule, is_read_only = _interface.capsule_of(Said(array), HOST)
    taken = np.from_dlpack(Holder(capsule))
    assert not is_read_only and taken.dtype == array.dtype
    np.testing.assert_array_equal(taken, array)
    array += 1
    np.testing.assert_array_equal(taken, array)


def test_they_keep_the_array_as_long_as_they_are_used(base):
    said = Said(base)
    unused, before = sys.getrefcount(said), len(_interface._used)
    taken = np.from_dlpack(Holder(_interface.capsule_of(said, HOST)[0]))
    assert (sys.getrefcount(said), len(_interface._used)) == (unused + 1, before + 1)
    del taken
    gc.collect()
    assert (sys.getrefcount(said), len(_interface._used)) == (unused, before)


@pytest.mark.parametrize("says, message", [({"typestr": "<c8"}, "'<c8'"), ({"typestr": ">i8"}, "'>i8'"), ({"mask": 1}, "a mask"), ({"strides": (48, 3)}, "multiples of 8 bytes")])
def test_what_no_kernel_takes(base, says, message):
    with pytest.raises(BufferError, match=message):
        _interface.capsule_of(Said(base, **says), HOST)


@pytest.mark.parametrize("stream, handle", [(None, 1), (1, 1), (77, 77)])
def test_launches_are_on_the_stream_that_it_names(base, stream, handle, monkeypatch):
    monkeypatch.setattr(_core, "Stream", lambda device, handle, owner: types.SimpleNamespace(handle=handle, owner=owner))
    seen = []

    def imported(capsule, stream, is_read_only):
        seen.append((stream.handle, stream.owner, is_read_only))
        return "memory", "i64", [4, 6]

    monkeypatch.setattr(_core, "imported", imported)
    said = Said(base, stream=stream, data=(base.ctypes.data, True))
    monkeypatch.setattr("qd._runtime._runtime", types.SimpleNamespace(device=types.SimpleNamespace(is_host=False), streams={}))
    assert _foreign.is_on_device(said)
    taken = _foreign.Taken(said)
    assert seen == [(handle, said if handle > 2 else None, True)] and (taken.dtype, taken.shape, taken.is_ordered) == (qd.i64, [4, 6], False)
    # Nobody has taken the capsule.
    _interface._used.clear()
    monkeypatch.undo()


def test_elsewhere_they_are_no_arrays(base):
    @qd.kernel
    def k(a: qd.types.ndarray()):
        pass

    if qd.cfg.arch != qd.cuda:
        with pytest.raises(qd.QuadrantsRuntimeTypeError, match="an array in memory of the host is expected, and it has no '__dlpack__'"):
            k(Said(base))


def test_ours_say_where_they_are_on_nvidias_devices(monkeypatch):
    arrays = [qd.ndarray(qd.u1, (2, 3)), qd.field(qd.f32, 4)]
    if qd.cfg.arch != qd.cuda:
        assert not any(hasattr(array, "__cuda_array_interface__") for array in arrays)
        if qd.cfg.arch == qd.cpu:
            return
        monkeypatch.setattr("qd._storage._arch", lambda: "cuda")
    for array, typestr in zip(arrays, ("|b1", "<f4")):
        said = array.__cuda_array_interface__
        assert said == {"shape": array.shape, "typestr": typestr, "data": (array.elements().address, False), "version": 3}
    assert not hasattr(qd.field(qd.i32, (2, 3), order="ji"), "__cuda_array_interface__")
