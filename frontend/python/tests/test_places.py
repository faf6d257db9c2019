"""Fields that are placed after they are made, and tensors."""

import numpy as np
import pytest

import qd


@pytest.mark.parametrize(
    "place, shape, layout",
    [
        (lambda f: qd.root.place(f), (), None),
        (lambda f: qd.root.dense(qd.i, 6).place(f), (6,), None),
        (lambda f: qd.root.dense(qd.ij, (2, 3)).place(f), (2, 3), None),
        (lambda f: qd.root.dense(qd.ijk, 2).place(f), (2, 2, 2), None),
        (lambda f: qd.root.dense(qd.j, 3).dense(qd.i, 2).place(f), (2, 3), (1, 0)),
        (lambda f: qd.root.dense(qd.ij, (2, 3)).dense(qd.ij, 4).place(f), (8, 12), None),
        (lambda f: qd.root.dense(qd.axes(1, 3), (2, np.int64(3))).place(f), (2, 3), None),
    ],
)
def test_fields_are_placed(place, shape, layout):
    f = qd.field(qd.i32, name="f")

    @qd.kernel
    def fill():
        for i in qd.static(range(3)):
            f[qd.static((1,) * len(shape))] += i

    if not shape:
        place(f)
        f[None] = 4
        assert f.shape == () and f.to_numpy() == 4
        return
    with pytest.raises(qd.QuadrantsCompilationError, match=r"(?s)File .*\^.*the field has no place yet"):
        fill()
    place(f)
    assert (f.shape, f.layout, f.offset) == (shape, layout, (0,) * len(shape))
    fill()
    assert f.to_numpy().sum() == f[(1,) * len(shape)] == 3


def test_several_fields_with_an_offset():
    f, g = (qd.field(qd.f32) for _ in range(2))
    node = qd.root.dense(qd.ij, (2, 4))
    assert node.place(f, g, offset=(-1, 10)).shape == (2, 4)

    @qd.kernel
    def fill():
        for i, j in f:
            f[i, j] = i
            g[i, j] = j

    fill()
    assert f.to_numpy().tolist() == [[-1] * 4, [0] * 4] and g[0, 13] == 13


def test_fields_end_with_their_builder():
    builder = qd.FieldsBuilder()
    f, later = qd.field(qd.i32), qd.field(qd.i32)
    builder.dense(qd.i, 4).place(f)
    tree = builder.finalize()

    @qd.kernel
    def fill():
        for i in f:
            f[i] = 1

    fill()
    assert f.to_numpy().tolist() == [1] * 4
    with pytest.raises(qd.QuadrantsRuntimeError, match="FieldsBuilder finalized"):
        builder.dense(qd.i, 4).place(later)
    with pytest.raises(qd.QuadrantsRuntimeError, match="the field has no place yet"):
        later.fill(1)
    tree.destroy()
    for use in (fill, f.to_numpy, lambda: f[0]):
        with pytest.raises(qd.QuadrantsRuntimeError, match="freed"):
            use()


def test_what_is_no_place():
    f = qd.field(qd.f32)
    assert repr(f) == "<Field of f32, without a place>"
    for use in (lambda: f[0], lambda: f.shape, lambda: f.to_numpy(), lambda: f.fill(1), lambda: f.layout):
        with pytest.raises(qd.QuadrantsRuntimeError, match="the field has no place yet"):
            use()
    assert f.grad is None and not hasattr(f, "colour")
    for wrong, kind, message in [
        (lambda: qd.root.place(3), TypeError, "a field that was made without a shape is expected, and not int"),
        (lambda: qd.root.place(f, f), qd.QuadrantsRuntimeError, "a field is given twice"),
        (lambda: qd.root.place(qd.field(qd.f32, 3)), qd.QuadrantsRuntimeError, "the field has a place already"),
        (lambda: qd.root.dense(qd.ij, (1, 2, 3)), ValueError, "an extent for each of several axes"),
        (lambda: qd.root.dense((0, 0), 3), ValueError, "an extent for each of several axes"),
        (lambda: qd.root.dense(qd.i, 0), ValueError, r"\(0,\) are no extents of dense"),
        (lambda: qd.root.dense(qd.ij, 2**16).place(f), ValueError, "is not a valid shape for a field"),
        (lambda: qd.root.dense(qd.i, 3).place(f, offset=(1, 2)), qd.QuadrantsTypeError, "offset"),
        (lambda: qd.field(qd.f32, order="ij"), ValueError, "order and offset go with a shape"),
        (lambda: qd.root.pointer(qd.i, 3), NotImplementedError, "qd.root.pointer isn't there yet"),
        (lambda: qd.root.dense(qd.i, 3).bitmasked(qd.i, 3), NotImplementedError, "qd.root.bitmasked isn't there yet"),
        (lambda: qd.field(qd.math.vec2), NotImplementedError, "arrays of qd.math.vec2 aren't there yet"),
    ]:
        with pytest.raises(kind, match=message):
            wrong()
    qd.root.dense(qd.i, 3).place(f)
    assert f.shape == (3,)


@pytest.mark.parametrize("backend", qd.Backend)
@pytest.mark.parametrize("layout", [None, (0, 1), (1, 0)])
def test_tensors(backend, layout):
    t = qd.tensor(qd.i32, (2, 3), backend=backend, layout=layout)
    assert isinstance(t, qd.Tensor) and isinstance(t, [qd.Field, qd.Ndarray][backend])
    assert qd.wrap(t) is qd.Tensor(t) is t and t.layout == (None if layout != (1, 0) else layout)

    @qd.kernel
    def fill(t: qd.Tensor):
        for i, j in t:
            t[i, j] = 10 * i + j

    fill(t)
    assert t.to_numpy().tolist() == [[0, 1, 2], [10, 11, 12]]
    t[1, 2] += 1
    assert t[1, 2] == 13
    a = np.zeros((2, 3), np.int32)
    fill(a)
    assert a[1, 2] == 12 and not isinstance(a, qd.Tensor)
    if qd.cfg.arch == qd.cpu and layout == (1, 0):
        assert t.to_numpy(copy=False).strides == (4, 8)
    for value in (3, 2.5, "t", None, [t], np.float32(1)):
        with pytest.raises(qd.QuadrantsRuntimeTypeError, match=r"Argument 0 \(type=.*\) cannot .* a field or an array is expected"):
            fill(value)


def test_what_is_no_tensor():
    for wrong, kind, message in [
        (lambda: qd.tensor(qd.i32, 3, backend=2), ValueError, "2 is not a valid Backend"),
        (lambda: qd.tensor(qd.i32, (2, 3), layout=(0, 2)), ValueError, r"layout=\(0, 2\) does not have the number"),
        (lambda: qd.tensor(qd.i32, (2, 3), layout=(0,)), ValueError, "of each of 2 dimensions"),
        (lambda: qd.tensor(qd.i32, -1), qd.QuadrantsRuntimeError, "is not a valid shape for ndarray"),
        (lambda: qd.tensor(qd.i32, 1, needs_grad=True), NotImplementedError, "gradients"),
        (lambda: qd.wrap(3), TypeError, "a field or an ndarray is expected, and not int"),
    ]:
        with pytest.raises(kind, match=message):
            wrong()
