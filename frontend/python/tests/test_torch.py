"""Tensors of PyTorch: what `to_torch` and `from_torch` copy and share."""

import sys

import numpy as np
import pytest

import qd


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def numbers(shape=(2, 3), order=None, dtype=qd.f32):
    """A field of the numbers from 0 on."""
    made = qd.field(dtype, shape, order=order)
    made.from_numpy(np.arange(np.prod(shape)).reshape(shape))
    return made


@pytest.mark.parametrize("order", ["ij", "ji"])
@pytest.mark.parametrize("dtype", [qd.u1, qd.u8, qd.i16, qd.i64, qd.f16, qd.f64])
def test_copies_are_of_the_same_elements(torch, dtype, order):
    f = numbers(order=order, dtype=dtype)
    tensor = f.to_torch()
    assert tensor.device == torch.empty(0).device and tensor.is_contiguous()
    np.testing.assert_array_equal(tensor.numpy(), f.to_numpy())
    assert tensor.numpy().dtype == f.to_numpy().dtype
    tensor[0, 0] = 1
    assert f[0, 0] == 0
    other = qd.field(dtype, (2, 3), order=order)
    other.from_torch(tensor)
    np.testing.assert_array_equal(other.to_numpy(), tensor.numpy())


def test_shapes_of_any_rank(torch):
    for shape in [(), (0,), (2, 0, 3)]:
        a = qd.ndarray(qd.i32, shape)
        a.fill(5)
        tensor = a.to_torch()
        assert tensor.shape == shape and (tensor == 5).all()
        a.from_torch(tensor + 1)
        assert (a.to_numpy() == 6).all()


def test_what_is_shared(torch):
    a = numbers()
    if qd.cfg.arch not in (qd.cpu, qd.cuda):
        with pytest.raises(ValueError, match="not shared with PyTorch"):
            a.to_torch(copy=False)
        tensor = a.to_torch(copy=None)
        tensor[0, 0] = 7
        assert a[0, 0] == 0
        return
    for copy in (False, None):
        tensor = a.to_torch(copy=copy)
        assert tensor.device.type == qd.cfg.arch.name
        tensor += 1
        assert a.to_torch(tensor.device, copy=copy).data_ptr() == tensor.data_ptr()
    del tensor
    np.testing.assert_array_equal(a.to_numpy(), np.arange(6).reshape(2, 3) + 2)
    with pytest.raises(ValueError, match="is not shared with meta"):
        a.to_torch("meta", copy=False)
    assert a.to_torch("meta", copy=None).is_meta


def test_tensors_are_converted(torch):
    a = qd.ndarray(qd.i32, (2, 3))
    a.from_torch(torch.arange(6, dtype=torch.float64).reshape(3, 2).t() + 0.5)
    assert a.to_numpy().tolist() == [[0, 2, 4], [1, 3, 5]]
    a.from_torch(torch.ones(2, 3, requires_grad=True))
    assert (a.to_numpy() == 1).all()
    for wrong, kind, message in [
        (torch.zeros(3, 2), ValueError, r"Mismatch shape: \(3, 2\) is given, and the array has \(2, 3\)"),
        (np.zeros((2, 3)), TypeError, "a tensor of PyTorch is expected, and not ndarray"),
    ]:
        with pytest.raises(kind, match=message):
            a.from_torch(wrong)


def test_copies_on_a_device_are_ordered(torch):
    if qd.cfg.arch != qd.cuda or not torch.cuda.is_available():
        pytest.skip("of NVIDIA's devices")
    n = 1 << 22
    a = qd.ndarray(qd.i64, n)
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            a.fill(0)
            tensor = a.to_torch("cuda")
            for turn in range(20):
                a.fill(turn)
                copied = a.to_torch("cuda")
                tensor += copied
                copied += 1
                a.from_torch(copied)
                copied.zero_()
                tensor += a.to_torch("cuda")
            assert tensor.is_cuda and (tensor == 400).all().item()


def test_where_there_is_no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    a = numbers()
    for call in (a.to_torch, lambda: a.from_torch(a)):
        with pytest.raises(ImportError, match="for PyTorch, which is not there"):
            call()
