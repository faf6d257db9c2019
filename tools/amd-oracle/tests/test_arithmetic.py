"""Integer and float instructions against Python's own arithmetic, on every chip and wave."""

import ctypes
import ctypes.util
import math
import random
import struct
import unittest

from .harness import Buffer, Module, TARGETS, compile_ir, elementwise, read, values

LANES = 128
LOADED = {}
LIBM = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
LIBM.fmaf.restype, LIBM.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
LIBM.fma.restype, LIBM.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3


def signed(x, width):
    x &= (1 << width) - 1
    return x - (1 << width) if x >> (width - 1) else x


def quotient(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


INTEGER = {
    "add": lambda a, b, w: a + b, "sub": lambda a, b, w: a - b, "mul": lambda a, b, w: a * b,
    "and": lambda a, b, w: a & b, "or": lambda a, b, w: a | b, "xor": lambda a, b, w: a ^ b,
    "udiv": lambda a, b, w: a // b, "urem": lambda a, b, w: a % b,
    "sdiv": lambda a, b, w: quotient(signed(a, w), signed(b, w)),
    "srem": lambda a, b, w: signed(a, w) - signed(b, w) * quotient(signed(a, w), signed(b, w)),
}
SHIFTS = {"shl": lambda a, n, w: a << n, "lshr": lambda a, n, w: a >> n, "ashr": lambda a, n, w: signed(a, w) >> n}
CALLS = {
    "umin": lambda a, b, w: min(a, b), "umax": lambda a, b, w: max(a, b),
    "smin": lambda a, b, w: min(signed(a, w), signed(b, w)), "smax": lambda a, b, w: max(signed(a, w), signed(b, w)),
    "uadd.sat": lambda a, b, w: min(a + b, (1 << w) - 1), "usub.sat": lambda a, b, w: max(a - b, 0),
    "sadd.sat": lambda a, b, w: max(-(1 << w - 1), min((1 << w - 1) - 1, signed(a, w) + signed(b, w))),
    "ssub.sat": lambda a, b, w: max(-(1 << w - 1), min((1 << w - 1) - 1, signed(a, w) - signed(b, w))),
}
UNARY = {
    "ctpop": lambda a, w: bin(a).count("1"), "bitreverse": lambda a, w: int(f"{a:0{w}b}"[::-1], 2),
    "ctlz": lambda a, w: w - a.bit_length(), "cttz": lambda a, w: (a & -a).bit_length() - 1 if a else w,
    "bswap": lambda a, w: int.from_bytes(a.to_bytes(w // 8, "little"), "big"),
}
FORMS = {16: "H", 32: "I", 64: "Q"}
FLOATS = {16: ("half", "e", "H"), 32: ("float", "f", "I"), 64: ("double", "d", "Q")}


def interesting(width, random_numbers):
    top = 1 << width
    edges = [0, 1, 2, 3, top - 1, top - 2, top >> 1, (top >> 1) - 1, (top >> 1) + 1, 255, 256, 0x5555 % top]
    return edges + [random_numbers.randrange(top) >> random_numbers.randrange(width) for _ in range(LANES - len(edges))]


def run(image, name, out_form, columns, count=LANES):
    out = Buffer(bytes(struct.calcsize(out_form) * count), written=False)
    if image not in LOADED:
        LOADED.clear()
        LOADED[image] = Module(image)
    LOADED[image].launch(name, 1, count, [out, *columns])
    return read(out_form, out)


class Integers(unittest.TestCase):
    def check(self, chip, wave, width):
        draw, mask = random.Random(width), (1 << width) - 1
        a, b = interesting(width, draw), interesting(width, draw)
        draw.shuffle(b)
        overflow = 1 << width - 1
        b = [x or 1 for x in b]
        b = [3 if x == mask and y == overflow else x for x, y in zip(b, a)]
        n = [x % width for x in b]
        text, declared = "", ""
        kind = f"i{width}"
        for op in INTEGER:
            text += elementwise(f"k_{op}", kind, kind, f"  %r = {op} {kind} %a, %b")
        for op in SHIFTS:
            text += elementwise(f"k_{op}", kind, kind, f"  %r = {op} {kind} %a, %c")
        for op in CALLS:
            declared += f"declare {kind} @llvm.{op}.{kind}({kind}, {kind})\n"
            text += elementwise(f"k_{op}", kind, kind, f"  %r = call {kind} @llvm.{op}.{kind}({kind} %a, {kind} %b)")
        for op in UNARY:
            extra = ", i1 false" if op in ("ctlz", "cttz") else ""
            declared += f"declare {kind} @llvm.{op}.{kind}({kind}{', i1' if extra else ''})\n"
            text += elementwise(f"k_{op}", kind, kind, f"  %r = call {kind} @llvm.{op}.{kind}({kind} %a{extra})")
        image = compile_ir(declared + text, chip, wave)
        columns = [values(FORMS[width], x) for x in (a, b, n)]
        for op, f in {**INTEGER, **CALLS}.items():
            self.assertEqual(run(image, f"k_{op}", FORMS[width], columns), [f(x, y, width) & mask for x, y in zip(a, b)], f"{op} of {kind}")
        for op, f in SHIFTS.items():
            self.assertEqual(run(image, f"k_{op}", FORMS[width], columns), [f(x, y, width) & mask for x, y in zip(a, n)], f"{op} of {kind}")
        for op, f in UNARY.items():
            self.assertEqual(run(image, f"k_{op}", FORMS[width], columns), [f(x, width) & mask for x in a], f"{op} of {kind}")

    def test_all(self):
        for chip, wave in TARGETS:
            for width in FORMS:
                with self.subTest(chip=chip, wave=wave, width=width):
                    self.check(chip, wave, width)

    def test_multiplied_high_and_wide(self):
        body = "  %x = zext i64 %a to i128\n  %y = zext i64 %b to i128\n  %m = mul i128 %x, %y\n  %h = lshr i128 %m, 64\n  %r = trunc i128 %h to i64"
        draw = random.Random(7)
        a, b = interesting(64, draw), interesting(64, draw)[::-1]
        for chip, wave in TARGETS:
            image = compile_ir(elementwise("high", "i64", "i64", body), chip, wave)
            self.assertEqual(run(image, "high", "Q", [values("Q", a), values("Q", b), values("Q", b)]), [x * y >> 64 for x, y in zip(a, b)], chip)


def rounded(x, width):
    """A Python float rounded to a width; what overflows is an infinity."""
    form = FLOATS[width][1]
    try:
        return struct.unpack(f"<{form}", struct.pack(f"<{form}", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def same(got, want):
    if math.isnan(want):
        return math.isnan(got)
    return got == want and math.copysign(1, got) == math.copysign(1, want)


def floats(width, draw):
    kind, form, raw = FLOATS[width]
    special = {16: [0, 0x8000, 0x3C00, 0xBC00, 1, 0x8001, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00],
               32: [0, 1 << 31, 0x3F800000, 0xBF800000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x4B000001, 0x3EFFFFFF],
               64: [0, 1 << 63, 0x3FF << 52, 0xBFF << 52, 1, 1 << 63 | 1, (1 << 52) - 1, 1 << 52, 0x7FEFFFFFFFFFFFFF, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48]}[width]
    near = [draw.uniform(-100, 100) for _ in range(40)]
    bits = special + [draw.randrange(1 << width) for _ in range(LANES - len(special) - len(near))]
    return [struct.unpack(f"<{form}", struct.pack(f"<{raw}", x))[0] for x in bits] + [rounded(x, width) for x in near]


def divided(a, b):
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


class Floats(unittest.TestCase):
    def compare(self, got, want, what):
        for lane, (x, y) in enumerate(zip(got, want)):
            self.assertTrue(same(x, y), f"{what}: lane {lane}: {x!r} instead of {y!r}")

    def check(self, chip, wave, width):
        kind, form, _ = FLOATS[width]
        draw = random.Random(width)
        a, b, c = floats(width, draw), floats(width, draw), floats(width, draw)
        draw.shuffle(b)
        draw.shuffle(c)
        ops = {"fadd": lambda x, y: x + y, "fsub": lambda x, y: x - y, "fmul": lambda x, y: x * y, "fdiv": divided}
        text = "".join(elementwise(f"k_{op}", kind, kind, f"  %r = {op} {kind} %a, %b") for op in ops)
        calls = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round, "sqrt": None}
        suffix = f"f{width}"
        declared = f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})\n"
        for op in (*calls, "fabs"):
            declared += f"declare {kind} @llvm.{op}.{suffix}({kind})\n"
            text += elementwise(f"k_{op}", kind, kind, f"  %r = call {kind} @llvm.{op}.{suffix}({kind} %a)")
        for op in ("minnum", "maxnum"):
            declared += f"declare {kind} @llvm.{op}.{suffix}({kind}, {kind})\n"
            text += elementwise(f"k_{op}", kind, kind, f"  %r = call {kind} @llvm.{op}.{suffix}({kind} %a, {kind} %b)")
        text += elementwise("k_fma", kind, kind, f"  %r = call {kind} @llvm.fma.{suffix}({kind} %a, {kind} %b, {kind} %c)")
        orders = {"olt": lambda x, y: x < y, "oge": lambda x, y: x >= y, "oeq": lambda x, y: x == y,
                  "une": lambda x, y: x != y, "uno": lambda x, y: math.isnan(x) or math.isnan(y)}
        for op in orders:
            text += elementwise(f"k_{op}", kind, "i32", f"  %q = fcmp {op} {kind} %a, %b\n  %r = zext i1 %q to i32")
        image = compile_ir(declared + text, chip, wave)
        columns = [values(form, x) for x in (a, b, c)]
        for op, f in ops.items():
            self.compare(run(image, f"k_{op}", form, columns), [rounded(f(x, y), width) for x, y in zip(a, b)], op)
        for op, f in calls.items():
            if op == "sqrt":
                want = [math.nan if x < 0 else rounded(math.sqrt(x), width) for x in a]
            else:
                want = [x if not math.isfinite(x) else math.copysign(float(f(x)), x) for x in a]
            self.compare(run(image, f"k_{op}", form, columns), want, op)
        self.compare(run(image, "k_fabs", form, columns), [abs(x) for x in a], "fabs")
        if width != 16:
            fma = LIBM.fmaf if width == 32 else LIBM.fma
            self.compare(run(image, "k_fma", form, columns), [fma(x, y, z) for x, y, z in zip(a, b, c)], "fma")
        for op, f in orders.items():
            self.assertEqual(run(image, f"k_{op}", "I", columns), [int(f(x, y)) for x, y in zip(a, b)], op)
        for op, f in (("minnum", min), ("maxnum", max)):
            got = run(image, f"k_{op}", form, columns)
            for x, y, r in zip(a, b, got):
                want = y if math.isnan(x) else x if math.isnan(y) else f(x, y)
                self.assertTrue(math.isnan(r) if math.isnan(want) else r == want, f"{op} of {x} and {y}: {r}")

    def test_all(self):
        for chip, wave in TARGETS:
            for width in FLOATS:
                with self.subTest(chip=chip, wave=wave, width=width):
                    self.check(chip, wave, width)

    def test_flushed_denormals(self):
        text = elementwise("flush", "float", "float", "  %r = fadd float %a, %b")
        for chip, wave in TARGETS:
            image = compile_ir(text, chip, wave, '"denormal-fp-math-f32"="preserve-sign,preserve-sign"')
            small, zero = values("f", [2.0 ** -140] * LANES), values("f", [0.0] * LANES)
            self.assertEqual(run(image, "flush", "f", [small, zero, zero]), [0.0] * LANES, chip)

    def test_conversions(self):
        draw = random.Random(5)
        wide = [draw.uniform(-1e5, 1e5) for _ in range(LANES)]
        text = elementwise("narrow", "double", "float", "  %r = fptrunc double %a to float")
        text += elementwise("to_i32", "double", "i32", "  %r = fptosi double %a to i32")
        text += elementwise("to_i64", "double", "i64", "  %r = fptosi double %a to i64")
        text += elementwise("of_i64", "i64", "double", "  %r = sitofp i64 %a to double")
        text += elementwise("of_u32", "i32", "float", "  %r = uitofp i32 %a to float")
        text += elementwise("half", "float", "half", "  %r = fptrunc float %a to half")
        text += elementwise("brain", "float", "bfloat", "  %r = fptrunc float %a to bfloat")
        d = values("d", wide)
        ints = [draw.randrange(-(1 << 63), 1 << 63) for _ in range(LANES)]
        words = [draw.randrange(1 << 32) for _ in range(LANES)]
        singles = [rounded(x, 32) for x in wide]
        for chip, wave in TARGETS:
            image = compile_ir(text, chip, wave)
            self.assertEqual(run(image, "narrow", "f", [d, d, d]), singles)
            self.assertEqual(run(image, "to_i32", "i", [d, d, d]), [int(x) for x in wide])
            self.assertEqual(run(image, "to_i64", "q", [d, d, d]), [int(x) for x in wide])
            q = values("q", ints)
            self.assertEqual(run(image, "of_i64", "d", [q, q, q]), [float(x) for x in ints])
            u = values("I", words)
            self.assertEqual(run(image, "of_u32", "f", [u, u, u]), [rounded(float(x), 32) for x in words])
            s = values("f", singles)
            self.assertEqual(run(image, "half", "e", [s, s, s]), [rounded(x, 16) for x in singles])

            def brain(x):
                bits, = struct.unpack("<I", struct.pack("<f", x))
                return bits + 0x7FFF + (bits >> 16 & 1) >> 16
            self.assertEqual(run(image, "brain", "H", [s, s, s]), [brain(x) for x in singles])


if __name__ == "__main__":
    unittest.main()
