"""Values of the C text, and the names that stand for them in pseudocode."""

import struct
from dataclasses import dataclass

WIDE = {"DATA": "ORACLE_DATA", "VDATA": "ORACLE_DATA", "SDATA": "ORACLE_DATA",
        "DATA2": "ORACLE_DATA2", "RETURN_DATA": "ORACLE_RETURN"}
# Names that the engine supplies: C value, C twin, width.
GIVEN = {
    "VCC": ("o->vcc", "o->vccu", 64), "EXEC": ("o->exec", "0", 64),
    "EXEC_LO": ("(o->exec & 0xffffffff)", "0", 32), "VCCZ": ("o->vccz", "o->vcczu", 1),
    "EXECZ": ("o->execz", "0", 1), "M0": ("o->m0", "o->m0u", 32), "laneId": ("lane", "0", 32),
    "laneID": ("lane", "0", 32), "SIMM16": ("o->simm16", "0", 16), "SIMM32": ("o->simm32", "0", 32),
    "WAVE64": ("o->wave64", "0", 1), "WAVE32": ("!o->wave64", "0", 1), "wave32": ("!o->wave64", "0", 1),
    "OPSEL": ("o->opsel", "0", 4), "OPSEL_HI": ("o->opsel_hi", "0", 3), "NEG": ("o->neg", "0", 3),
    "SRC0": ("o->reg_src0", "0", 32), "SRC1": ("o->reg_src1", "0", 32), "VDST": ("o->reg_dst", "0", 32), "DST": ("o->reg_dst", "0", 32),
    "DATA0": ("o->reg_data0", "0", 32), "OFFSET0": ("o->offset0", "0", 32),
    "OFFSET1": ("o->offset1", "0", 32), "OFFSET": ("o->offset", "0", 32), "offset": ("o->offset", "0", 32),
    "ADDR_BASE": ("o->addr[lane]", "0", 32), "ROUND_MODE": ("o->round", "0", 2),
    "WAVE_MODE.IEEE": ("o->ieee", "0", 1), "MODE.IEEE": ("o->ieee", "0", 1),
}
CONSTANT = {"ROUND_TOWARD_ZERO": ("u", 2, 3), "ROUND_NEAREST_EVEN": ("u", 2, 0)}
FLOATS = {"INF": float("inf"), "NAN": float("nan"), "PI": 3.141592653589793}
NAMED_FLOATS = {"MAX_FLOAT_F32": (32, 0x7F7FFFFF), "OVERFLOW_F32": (32, 0x7F800000), "UNDERFLOW_F32": (32, 0),
                "OVERFLOW_F64": (64, 0x7FF << 52), "UNDERFLOW_F64": (64, 0)}
UNARY = {"floor": "f_floor", "trunc": "f_trunc", "sqrt": "f_sqrt", "log2": "f_log2", "sin": "f_sin",
         "cos": "f_cos", "fract": "f_fract", "mantissa": "f_mantissa", "rint": "f_rint"}
OUT_MASKS = {"D0": "d", "VCC": "vcc", "EXEC": "exec"}


@dataclass
class Value:
    kind: str
    width: int | None
    text: str
    undefined: str = "0"
    literal: float | int | None = None


def bits_of(value, width):
    if width == 64:
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if width == 32:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<H", struct.pack("<e", value))[0]


def constant(kind, width, number):
    return Value(kind, width, f"{number & ((1 << (width or 64)) - 1):#x}ull", "0", number)


class Lines:
    """The lines of a body, and its temporaries."""

    def line(self, text):
        self.lines.append(text)

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def value(self, kind, width, text, undefined="0"):
        name = self.name("t_")
        if width is not None and width > 64:
            self.line(f"const u128 {name} = (u128)({text}) & M128({width});")
            twin = self.name("u_")
            self.line(f"const u128 {twin} = SH({undefined}) & M128({width});")
            return Value(kind, width, name, twin)
        mask = "" if (width or 64) == 64 else f" & {(1 << width) - 1:#x}ull"
        self.line(f"const u64 {name} = (u64)({text}){mask};")
        if undefined == "0":
            return Value(kind, width, name)
        twin = self.name("u_")
        self.line(f"const u64 {twin} = SH({undefined}){mask};")
        return Value(kind, width, name, twin)

    @staticmethod
    def signed(v):
        if v.width and v.width > 64:
            return f"((i128)({v.text} << {128 - v.width}) >> {128 - v.width})" if v.kind == "i" else f"(i128){v.text}"
        return f"sx({v.text}, {v.width or 64})" if v.kind == "i" else f"(i64)({v.text})"

    @staticmethod
    def both(*values):
        return "(" + " | ".join(v.undefined for v in values) + ")"

    def any(self, width, *values):
        return f"any({self.both(*values)} != 0, {width})"
