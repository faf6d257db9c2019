"""A kernel from text, compiled and run by libqd.so through ctypes: python3 sum.py libqd.so [DEVICE]"""
import ctypes as c
import sys

qd = c.CDLL(sys.argv[1])
qd.qd_error_message.restype = c.c_char_p
qd.qd_artifact_free.argtypes = [c.c_void_p]


class Arg(c.Structure):
    _fields_ = [("kind", c.c_uint32), ("dtype", c.c_uint32), ("pointer", c.c_void_p), ("word", c.c_uint64)]


def call(name, *words):
    if getattr(qd, name)(*words):
        raise RuntimeError(qd.qd_error_message().decode())


def make(name, *words):  # calls a function whose last argument is the place for a handle
    handle = c.c_void_p()
    call(name, *words, c.byref(handle))
    return handle


BUFFER, I32, VERSION = 1, 6, 1
TEXT = b"""qd.grid.kernel @sum(%x: memref<?xi32>, %out: memref<1xi32>, %scratch: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%x : memref<?xi32>) outs(%out : memref<1xi32>)
    scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 }"""

call("qd_check", VERSION, c.c_uint64(0))
device_id = sys.argv[2].encode() if len(sys.argv) > 2 else b"cpu"
device = make("qd_device_open", device_id, None)
stream = make("qd_stream_new", device, 0)
request = make("qd_request_new")
call("qd_request_text", request, b"sum.mlir", TEXT, c.c_size_t(len(TEXT)))
call("qd_request_target", request, {"cpu": b"cpu", "cuda": b"nvptx:sm_90"}[device_id.decode().split(":")[0]])
artifact = c.c_void_p()
call("qd_compile", request, None, c.byref(artifact), None)
kernel = make("qd_kernel_get", make("qd_load", device, artifact), b"sum")


def array(values, *shape):
    data = (c.c_int32 * len(values))(*values)
    buffer = make("qd_buffer_new", stream, I32, (c.c_uint64 * len(shape))(*shape), c.c_size_t(len(shape)))
    call("qd_buffer_write", buffer, stream, data, c.c_size_t(c.sizeof(data)))
    return buffer


values, out = list(range(1000)), array([0], 1)
arguments = (Arg * 4)(*(Arg(BUFFER, 0, b.value) for b in (array(values, 1000), out)), Arg(), Arg(BUFFER, 0, array([1000]).value))
call("qd_launch", kernel, stream, arguments, c.c_size_t(4), None)
total = c.c_int32()
call("qd_buffer_read", out, stream, c.byref(total), c.c_size_t(4))
print(total.value)
assert total.value == sum(values)
