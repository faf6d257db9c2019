"""The scalar types: canonical objects, which kernels call as casts."""

import math
import struct
from typing import TYPE_CHECKING


class DataType:
    """A scalar type."""

    _formats = {
        "u1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
        "f16": "e", "f32": "f", "f64": "d",
    }  # fmt: skip

    def __init__(self, name):
        self.name = name
        self.is_real = name.startswith("f")
        # What is larger rounds to an infinity.
        self._largest = {"f16": 65519.99, "f32": 3.4028235677973362e38}.get(name, math.inf)
        self._format = "<" + self._formats[name]
        # In bytes.
        self.size = struct.calcsize(self._format)
        bits = 0 if name == "u1" or self.is_real else int(name[1:])
        self._mask = (1 << bits) - 1
        # The least integer and the largest; of other types there is none between them.
        half = 1 << bits >> 1
        self.least, self.most = (-half, half - 1) if name[0] == "i" else (0, self._mask if bits else -1)

    def __repr__(self):
        return self.name

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return self.name

    def __call__(self, value):
        """What a cast in a kernel makes of a number, as one of Python's."""
        value = value.item() if hasattr(value, "item") else value
        if self.name == "u1":
            return bool(value)
        if self.is_real:
            return self.of_bits(self.bits_of(float(self._rounding_once(value))))
        if isinstance(value, float):
            # A NaN is neither above nor below the limits.
            return int(min(max(value, self.least), self.most)) if value == value else 0
        bits = int(value) & self._mask
        return bits if bits <= self.most else bits - self._mask - 1

    def _rounding_once(self, value):
        """A number that does not change when it is rounded to 64 bits first: of the bits that these lack there is one."""
        lacking = value.bit_length() - 53 if isinstance(value, int) and self.size < 8 else 0
        if lacking <= 0:
            return value
        return (value >> lacking | (value % (1 << lacking) != 0)) << lacking

    def bits_of(self, value):
        """The bits of a number; struct.error if it has none here."""
        if type(value) is int and self.least <= value <= self.most:
            return value & self._mask
        if self.is_real and isinstance(value, (int, float)) and abs(value) > self._largest:
            value = math.inf if value > 0 else -math.inf
        return int.from_bytes(struct.pack(self._format, value), "little")

    def of_bits(self, bits):
        """The number of bits."""
        return struct.unpack(self._format, bits.to_bytes(8, "little")[: self.size])[0]


ALL = tuple(map(DataType, DataType._formats))
if TYPE_CHECKING:
    # Type checkers read annotations: to them these are Python's numbers.
    from builtins import bool as u1
    from builtins import float as f16, float as f32, float as f64
    from builtins import int as i8, int as i16, int as i32, int as i64, int as u8, int as u16, int as u32, int as u64
else:
    u1, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64 = ALL

BY_NAME = {dtype.name: dtype for dtype in ALL}

# NumPy's type strings, without the byte order.
OF_NUMPY = {
    "b1": u1, "i1": i8, "i2": i16, "i4": i32, "i8": i64, "u1": u8, "u2": u16, "u4": u32, "u8": u64, "f2": f16,
    "f4": f32, "f8": f64,
}  # fmt: skip


def scalar_of(given, defaults):
    """A scalar type, as it is or as the default of `int`, `float` or `bool`; None of what is none."""
    if isinstance(given, DataType):
        return given
    return defaults.get(given) if isinstance(given, type) else None
