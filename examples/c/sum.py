"""A kernel from text, compiled and run by libqd.so through ctypes: python3 sum.py libqd.so [DEVICE]"""
import ctypes as c
import sys

qd = c.CDLL(sys.argv[1])
qd.qd_error_message.restype = c.c_char_p
TEXT = b"""qd.grid.kernel @sum(%x: memref<?xi32>, %out: memref<1xi32>, %scratch: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%x : memref<?xi32>) outs(%out : memref<1xi32>)
    scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 }"""


def call(name, *words, gives=c.c_void_p):  # what it gives is written to a place that is the last argument
    result = [gives()] if gives else []
    if getattr(qd, name)(*[c.c_uint64(word) if isinstance(word, int) else word for word in words], *map(c.byref, result)):
        raise RuntimeError(qd.qd_error_message().decode())
    return result[0] if result else None


call("qd_check", 1, 0, gives=None)  # QD_API_VERSION
device = call("qd_device_open", (sys.argv[2] if len(sys.argv) > 2 else "cpu").encode(), None)
stream = call("qd_stream_new", device, 0)
request, artifact, buffers, total = call("qd_request_new"), c.c_void_p(), [], c.c_int32()
call("qd_request_text", request, b"sum.mlir", TEXT, len(TEXT), gives=None)
call("qd_request_target", request, call("qd_device_describe", device, gives=c.c_char_p * 9)[3], gives=None)
call("qd_compile", request, None, c.byref(artifact), None, gives=None)
kernel = call("qd_kernel_get", call("qd_load", device, artifact), b"sum")
for values, shape in [(range(1000), [1000]), ([0], [1]), ([1000], [])]:  # of type 6, QD_I32
    buffers.append(call("qd_buffer_new", stream, 6, (c.c_uint64 * len(shape))(*shape), len(shape)))
    call("qd_buffer_write", buffers[-1], stream, (c.c_int32 * len(values))(*values), 4 * len(values), gives=None)
x, out, n = buffers
# Four times kind, pointer and word: buffers, which are of kind 1, and missing scratch, which the launch makes.
arguments = (c.c_uint64 * 12)(1, x.value, 0, 1, out.value, 0, 0, 0, 0, 1, n.value, 0)
call("qd_launch", kernel, stream, arguments, 4, None, gives=None)
call("qd_buffer_read", out, stream, c.byref(total), 4, gives=None)
print(total.value)
