"""Turns the tree of one instruction's pseudocode into C.

Every value has a twin, the mask of its bits that were never written. The C text is compiled twice:
with twins, and with `SH(x)` as 0, so that the compiler removes them. A value is an unsigned C
integer masked to its width; floats are bits. Only V_MAD_{U,I}64 is wider than 64 bits.
"""

import re
import struct
from dataclasses import dataclass

from .pcode import PcodeError, parse

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


class Emitter:
    """Emits one function body. `lookup` gives the pseudocode of another instruction by name."""

    def __init__(self, text, lookup, saturate=False):
        self.lookup, self.saturate = lookup, saturate
        self.lines, self.count, self.depth = [], 0, 0
        self.locals, self.arrays, self.lambdas, self.scopes = {}, {}, {}, []
        self.outputs = set()
        self.returns = []
        # The address operand holds no offset when the pseudocode adds it.
        self.raw_address = bool(re.search(r"\b(OFFSET[01]?|offset|CalcDsAddr)\b", text)) or "ADDR_BASE" in text
        self.registers_of_lanes = "VGPR[" in text
        self.has_lanes = not self.registers_of_lanes or "VGPR[laneId]" in text
        self.block(parse(text))

    # Lines and temporaries.
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

    # Statements.
    def block(self, statements):
        for statement in statements:
            getattr(self, "do_" + statement[0])(*statement[1:])

    def do_expr(self, expression):
        if expression[0] == "call" and expression[1] in ("s_nop", "nop"):
            return
        raise PcodeError(f"call of {expression[1] if expression[0] == 'call' else expression[0]}")

    def do_break(self):
        self.line("if (ct) poison = 1;")
        self.line("break;")

    def do_declare(self, name, kind, width, count):
        if name in GIVEN or name in WIDE or name in ("ADDR", "S"):
            if name == "S":
                self.arrays["S"] = ("operands", 32, "S")
            return
        if count:
            self.arrays[name] = (kind, width)
            c = self.name("a_")
            self.arrays[name] = (kind, width, c)
            self.line(f"u64 {c}[64] = {{0}}, u{c}[64] = {{0}}; (void)u{c};")
        else:
            self.local(name, kind, width)

    def do_lambda(self, name, names, body):
        self.lambdas[name] = (names, body)

    def do_return(self, expression):
        result, label = self.returns[-1]
        v = self.expression(expression)
        if result.get("type") is None:
            result["type"] = (v.kind, v.width or 32)
        v = self.convert(v, *result["type"])
        self.line(f"{result['name']} = {v.text}; u{result['name']} = SH({v.undefined}) | (ct ? ~0ull : 0); goto {label};")

    def do_for(self, name, first, last, body):
        low, high = self.expression(first), self.expression(last)
        c = self.name("i_")
        width = low.width or high.width or 32
        self.scopes.append({name: Value("i" if low.kind == "i" else "u", width, f"(u64){c}")})
        self.line(f"for (i64 {c} = (i64){low.text}; {c} <= (i64){high.text}; {c}++) {{")
        self.block(body)
        self.line("}")
        self.scopes.pop()

    def do_if(self, arms, rest):
        outer = self.name("ct")
        self.line(f"{{ const u64 {outer} = ct;")
        closing = 0
        for test, body in arms:
            v = self.truth(self.expression(test))
            self.line(f"if ({v.undefined}) ct = 1;")
            self.line(f"if ({v.text}) {{")
            self.block(body)
            self.line("} else {")
            closing += 1
        self.block(rest)
        self.line("}" * closing)
        # What any arm assigns is unknown when the condition is.
        self.line(f"if (ct && !{outer}) {{")
        for place in self.assigned([s for _, b in arms for s in b] + list(rest)):
            self.taint(place)
        self.line(f"}} ct = {outer}; (void){outer}; }}")

    def assigned(self, statements):
        for s in statements:
            if s[0] == "assign":
                yield from s[1]
            elif s[0] == "update":
                yield s[1]
            elif s[0] == "for":
                yield from self.assigned(s[4])
            elif s[0] == "if":
                for _, b in s[1]:
                    yield from self.assigned(b)
                yield from self.assigned(s[2])

    def taint(self, place):
        base = place
        index = None
        while base[0] in ("as", "slice", "index", "part", "member"):
            if base[0] == "index":
                index = base[2]
            base = base[1]
        name = base[1] if base[0] == "name" else None
        if name in self.arrays and index and index[0] in ("name", "number"):
            i = self.expression(index)
            self.line(f"u{self.arrays[name][2]}[{i.text} & 63] = ~0ull;")
        elif name in self.locals:
            self.line(f"u{self.locals[name][2]} = ~0ull;")
        else:
            self.line("poison = 1;")

    def do_update(self, place, op, expression):
        self.do_assign([place], ("binary", op, place, expression))

    def do_assign(self, places, expression):
        if places[0][0] == "join":
            return self.assign_carry(places[0], expression)
        v = self.expression(expression)
        for place in reversed(places):
            self.store(place, v)

    def assign_carry(self, place, expression):
        """`{ D1.u1, D0.u64 } = …`: a sum and its carry."""
        v = self.expression(expression)
        if [p[1] for p in place[1]] != [("name", "D1"), ("name", "D0")]:
            raise PcodeError("assignment to parts")
        self.store(("name", "D0"), self.value("u", 64, v.text, f"(u64)({v.undefined})"))
        self.mask_out("VCC", self.value("u", 1, f"{v.text} >> 64", f"(u64)(({v.undefined}) >> 64)"))

    def mask_out(self, name, v):
        self.outputs.add("mask " + name)
        out = "out_" + OUT_MASKS[name]
        self.line(f"o->{out} = (o->{out} & ~(1ull << lane)) | ((u64)({v.text} & 1) << lane);")
        self.line(f"if (SH(1)) o->{out}u = (o->{out}u & ~(1ull << lane)) | ((u64)((({v.undefined}) != 0) | ct) << lane);")

    def local(self, name, kind, width):
        if name not in self.locals:
            self.locals[name] = (kind, width, "x_" + name)
        else:
            self.locals[name] = (kind, width, self.locals[name][2])
        return self.locals[name]

    def taken(self, v):
        return f"(SH({v.undefined}) | (ct ? ~0ull : 0))"

    def store(self, place, v):
        kind = width = None
        if place[0] == "as":
            kind, width = place[2], place[3]
            if kind == "b":
                kind = "u" if v.kind != "f" else "f"
            inner = place[1]
        else:
            inner = place
        if inner[0] == "member":
            if inner[1] == ("name", "TRAPSTS"):
                return
            raise PcodeError(f"assignment to {inner[2]}")
        if inner[0] == "name":
            return self.store_name(inner[1], kind, width, v)
        base = inner[1]
        bare = base[1] if base[0] == "as" else base
        if inner[0] == "index" and bare == ("name", "MEM"):
            return self.store_memory(inner[2], kind, width, v)
        if inner[0] == "index" and bare[0] == "index" and bare[1] == ("name", "VGPR"):
            lane, register = self.expression(bare[2]), self.expression(inner[2])
            v = self.convert(v, "u", 32)
            self.line(f"vset(o, {lane.text}, {lane.undefined}, {register.text}, {v.text}, {self.taken(v)} & 0xffffffff);")
            self.outputs.add("VGPR")
            return None
        if inner[0] == "index" and bare[0] == "name" and bare[1] in self.arrays:
            array = self.arrays[bare[1]]
            index, v = self.expression(inner[2]), self.convert(v, array[0], array[1])
            self.line(f"if ({index.undefined}) poison = 1;")
            self.line(f"{array[2]}[{index.text} & 63] = {v.text}; u{array[2]}[{index.text} & 63] = {self.taken(v)};")
            return None
        if inner[0] == "index" and bare[0] == "name" and bare[1] in OUT_MASKS and inner[2] in (("name", "laneId"),):
            return self.mask_out(bare[1], self.truth(v))
        if bare[0] != "name":
            raise PcodeError(f"assignment to {bare[0]}")
        return self.store_bits(bare[1], inner, kind, v)

    def store_bits(self, name, inner, kind, v):
        if inner[0] == "slice":
            (high, low), width = self.ends(inner[2], inner[3]), None
            if low is None:
                base, reach = self.expression(inner[3]), 8
                at, width = base.text, reach
            elif high < low:
                width = low - high + 1
                v = self.value("u", width, f"reverse({v.text}, {width})", f"reverse({v.undefined}, {width})")
                at = str(high)
            else:
                at, width = str(low), high - low + 1
        elif inner[0] == "index":
            index = self.expression(inner[2])
            at, width = f"({index.text} & 63)", 1
            self.line(f"if ({index.undefined}) poison = 1;")
        else:
            raise PcodeError("assignment to a part")
        v = self.convert(v, kind or v.kind, width) if kind != "f" else self.convert(v, "f", width)
        if name in WIDE:
            self.line(f"dset(o->data[{WIDE[name]}], lane, {at}, {width}, {v.text}); if (SH(1)) dset(o->datau[{WIDE[name]}], lane, {at}, {width}, {self.taken(v)});")
            self.outputs.add(name)
            return
        c = self.target(name)
        m = f"({(1 << width) - 1:#x}ull << {at})"
        self.line(f"{c} = ({c} & ~{m}) | ({v.text} << {at}); u{c} = SH((u{c} & ~{m}) | (({self.taken(v)} << {at}) & {m}));")

    def target(self, name):
        if name == "D0":
            self.outputs.add("D0")
            return "d0"
        if name in ("S0", "SCC", "PC"):
            self.outputs.add(name)
            return {"S0": "s0", "SCC": "scc", "PC": "pc"}[name]
        if name in GIVEN or name in WIDE or name in CONSTANT:
            raise PcodeError(f"assignment to {name}")
        if name not in self.locals:
            self.local(name, "u", 64)
        return self.locals[name][2]

    def store_name(self, name, kind, width, v):
        if name == "ROUND_MODE":
            self.line(f"o->round = {v.text};")
            return
        if name in WIDE:
            v = self.convert(v, kind or v.kind, width or v.width or 32)
            self.line(f"dset(o->data[{WIDE[name]}], lane, 0, {v.width}, {v.text}); if (SH(1)) dset(o->datau[{WIDE[name]}], lane, 0, {v.width}, {self.taken(v)});")
            self.outputs.add(name)
            return
        if name == "VCC":
            return self.mask_out("VCC", self.truth(v))
        if name == "EXEC":
            v = self.convert(v, "u", width or 64)
            self.outputs.add("EXEC")
            # The low half alone is written by instructions of wave32.
            keep = "0" if (width or 64) == 64 else "(o->exec & ~0xffffffffull)"
            self.line(f"o->exec = {keep} | {v.text}; o->out_exec = o->exec; o->out_execu = {self.taken(v)};")
            return
        if name == "SCC":
            v = self.truth(v)
            kind, width = "u", 1
        elif name in ("D0", "S0", "PC"):
            width = width or v.width or 32
            v = self.convert(v, kind or v.kind, width)
        else:
            v = self.convert(v, kind or v.kind, width or v.width or 32)
            if kind is None and name in self.locals and v.literal is None:
                self.local(name, v.kind, v.width)
            elif name not in self.locals or kind is not None:
                self.local(name, v.kind, v.width)
            width = 64
        c = self.target(name)
        if (width or 64) >= 64:
            self.line(f"{c} = {v.text}; u{c} = {self.taken(v)} & {(1 << v.width) - 1:#x}ull;" if v.width < 64 else f"{c} = {v.text}; u{c} = {self.taken(v)};")
        else:
            m = f"{(1 << width) - 1:#x}ull"
            self.line(f"{c} = ({c} & ~{m}) | {v.text}; u{c} = SH((u{c} & ~{m}) | ({self.taken(v)} & {m}));")

    def store_memory(self, address, kind, width, v):
        a = self.expression(address)
        v = self.convert(v, kind, width)
        self.outputs.add("MEM")
        self.line(f"o->store(o, lane, {a.text}, {width}, {v.text}, {self.taken(v)} & ones({width}));")

    # Expressions.
    def expression(self, e):
        return getattr(self, "of_" + e[0])(*e[1:])

    def of_number(self, kind, width, number):
        if kind == "f":
            return Value("f", width, f"{bits_of(number, width):#x}ull", "0", number)
        return constant(kind, width, number)

    def of_name(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
            if "." in scope:
                break
        if name in self.locals:
            kind, width, c = self.locals[name]
            return self.value(kind, width, c, f"u{c}")
        if name in ("S0", "S1", "S2"):
            return self.value("u", 64, f"s{name[1]}", f"us{name[1]}")
        if name in ("D0", "SCC", "PC"):
            c = {"D0": "d0", "SCC": "scc", "PC": "pc"}[name]
            return self.value("u" if name != "PC" else "i", 1 if name == "SCC" else 64, c, f"u{c}")
        if name == "ADDR":
            if self.registers_of_lanes:
                return Value("u", 32, "o->reg_addr")
            return self.value("u", 64, "o->addr[lane]" + ("" if self.raw_address else " + o->offset"))
        if name in GIVEN:
            text, twin, width = GIVEN[name]
            return self.value("u", width, text, twin)
        if name in CONSTANT:
            return constant(*CONSTANT[name])
        if name in FLOATS:
            return self.of_number("f", 64, FLOATS[name])
        if name in NAMED_FLOATS:
            width, number = NAMED_FLOATS[name]
            return Value("f", width, f"{number:#x}ull")
        raise PcodeError(f"unknown name {name}")

    def of_member(self, base, name):
        return self.of_name(f"{base[1]}.{name}")

    def of_as(self, inner, kind, width):
        if inner[0] == "name" and inner[1] in WIDE:
            return self.value("u" if kind == "b" else kind, width,
                              f"dget(o->data[{WIDE[inner[1]]}], lane, 0, {width})", f"dget(o->datau[{WIDE[inner[1]]}], lane, 0, {width})")
        if inner[0] == "name" and inner[1] in FLOATS:
            return self.of_number("f", width, FLOATS[inner[1]])
        if inner[0] == "index" and inner[1] == ("name", "MEM"):
            a = self.expression(inner[2])
            name, twin = self.name("t_"), self.name("u_")
            self.line(f"u64 {twin} = 0; const u64 {name} = o->load(o, lane, {a.text}, {width}, &{twin}); (void){twin};")
            return Value("u" if kind == "b" else kind, width, name, twin)
        if kind not in "uibf" and kind != "bf":
            raise PcodeError(f"type {kind}")
        v = self.expression(inner)
        kind = "u" if kind == "b" else kind
        if v.width == width or (v.literal is None and v.width and v.width < width and kind != "i"):
            return Value(kind, width, v.text, v.undefined)
        if v.width is not None and v.width < width:
            # A wider name of a narrower value: the missing bits are 0.
            return Value(kind, width, v.text, v.undefined)
        return self.value(kind, width, v.text, v.undefined)

    def of_cast(self, kind, width, inner):
        v = self.expression(inner)
        if kind == "f":
            if v.kind == "f" and v.width != width:
                if width == 64 or (width == 32 and v.width == 16):
                    if width == 64:
                        return self.value("f", 64, f"widen({v.text}, {v.width})", self.any(64, v))
                return self.value("f", width, f"narrow(f64_of(widen({v.text}, {v.width})), {width}, o->round)", self.any(width, v))
            return self.value("f", width, v.text, v.undefined)
        return self.convert(v, "u" if kind == "b" else kind, width)

    def convert(self, v, kind, width):
        """Another integer type, by value; floats and bits keep their bits."""
        if kind in ("f", "bf") or v.kind in ("f", "bf"):
            if v.kind == "f" and kind == "f" and v.width != width:
                return self.of_converted_float(v, width)
            if v.width == width:
                return Value(kind, width, v.text, v.undefined, v.literal)
            return self.value(kind, width, v.text, v.undefined)
        if v.width == 127:
            return self.value(kind, width, f"saturate_{kind if kind == 'i' else 'u'}((i128){v.text}, {width})", self.any(width, v))
        if v.literal is not None:
            return constant(kind, width, int(v.literal))
        if v.width == width:
            return Value(kind, width, v.text, v.undefined)
        if v.width and v.width < width and v.kind == "i":
            if width > 64:
                return self.value(kind, width, f"(u128)(i128)sx({v.text}, {v.width})", f"(u128)(i128)sx({v.undefined}, {v.width})")
            return self.value(kind, width, f"sx({v.text}, {v.width})", f"sx({v.undefined}, {v.width})")
        return self.value(kind, width, v.text, v.undefined)

    def of_converted_float(self, v, width):
        if v.literal is not None:
            return self.of_number("f", width, v.literal)
        return self.value("f", width, f"narrow(f64_of(widen({v.text}, {v.width})), {width}, o->round)", self.any(width, v))

    def ends(self, first, last):
        def fold(e):
            if e[0] == "number":
                return e[3]
            return None
        return fold(first), fold(last)

    def wide_slice(self, name, first, last):
        high, low = self.ends(first, last)
        if high is None or low is None or high - low > 63:
            raise PcodeError(f"slice of {name}")
        width = high - low + 1
        return self.value("u", width, f"dget(o->data[{WIDE[name]}], lane, {low}, {width})", f"dget(o->datau[{WIDE[name]}], lane, {low}, {width})")

    def of_slice(self, base, first, last):
        if base[0] == "name" and base[1] in WIDE:
            return self.wide_slice(base[1], first, last)
        v = self.expression(base)
        high, low = self.ends(first, last)
        if high is not None and low is not None:
            if low > high:
                width = low - high + 1
                return self.value("u", width, f"reverse({v.text} >> {high}, {width})", f"reverse({v.undefined} >> {high}, {width})")
            return self.value("u", high - low + 1, f"{v.text} >> {low}", f"{v.undefined} >> {low}")
        # `x[k * n + m : k * n]`: the width is the difference of the constants.
        width = self.span(first, last)
        at = self.expression(last)
        return self.value("u", width, f"shr({v.text}, {at.text})", f"{at.undefined} ? ~0ull : shr({v.undefined}, {at.text})")

    @staticmethod
    def span(first, last):
        if first[0] == "binary" and first[1] == "+" and first[2] == last and first[3][0] == "number":
            return first[3][3] + 1
        raise PcodeError("slice of unknown width")

    def of_part(self, base, first, width):
        if width[0] != "number":
            raise PcodeError("part of unknown width")
        v, at = self.expression(base), self.expression(first)
        return self.value("u", width[3], f"shr({v.text}, {at.text})", f"{at.undefined} ? ~0ull : shr({v.undefined}, {at.text})")

    def of_index(self, base, index):
        bare = base[1] if base[0] == "as" and base[1][0] == "name" else base
        if base[0] == "index" and base[1] == ("name", "VGPR"):
            lane, register = self.expression(base[2]), self.expression(index)
            name, twin = self.name("t_"), self.name("u_")
            self.line(f"u64 {twin} = 0; const u64 {name} = vget(o, {lane.text}, {lane.undefined}, {register.text}, &{twin}); (void){twin};")
            return Value("u", 32, name, twin)
        if base[0] == "name" and base[1] in self.arrays:
            array = self.arrays[base[1]]
            i = self.expression(index)
            if array[0] == "operands":
                if i.literal is None and not i.text.startswith("(u64)i_"):
                    raise PcodeError("operand by number")
                return self.value("u", 32, f"{i.text} == 0 ? s0 : {i.text} == 1 ? s1 : s2", f"{i.text} == 0 ? us0 : {i.text} == 1 ? us1 : us2")
            return self.value(array[0] if array[0] != "b" else "u", array[1], f"{array[2]}[{i.text} & 63]", f"{i.undefined} ? ~0ull : u{array[2]}[{i.text} & 63]")
        if bare[0] == "name" and bare[1] in WIDE:
            i = self.expression(index)
            if i.literal is None:
                raise PcodeError("bit of wide data")
            return self.value("u", 1, f"dget(o->data[{WIDE[bare[1]]}], lane, {int(i.literal)}, 1)", f"dget(o->datau[{WIDE[bare[1]]}], lane, {int(i.literal)}, 1)")
        v, i = self.expression(base), self.expression(index)
        return self.value("u", 1, f"shr({v.text}, {i.text})", f"{i.undefined} ? 1 : shr({v.undefined}, {i.text})")

    def of_join(self, parts):
        values = [self.expression(p) for p in parts]
        width = sum(v.width or 32 for v in values)
        if width > 64:
            raise PcodeError("joined value of more than 64 bits")
        text, twin, at = [], [], width
        for v in values:
            at -= v.width or 32
            text.append(f"({v.text} << {at})")
            twin.append(f"((u64)({v.undefined}) << {at})")
        return self.value("u", width, " | ".join(text), " | ".join(twin))

    def truth(self, v):
        if v.width == 1:
            return v
        if v.kind == "f":
            raise PcodeError("a float as a condition")
        return self.value("u", 1, f"{v.text} != 0", f"{v.undefined} && !({v.text} & ~({v.undefined}))" if v.undefined != "0" else "0")

    def of_choose(self, test, yes, no):
        c, a, b = self.truth(self.expression(test)), self.expression(yes), self.expression(no)
        a, b = self.same(a, b, promote=False)
        return self.value(a.kind, a.width, f"{c.text} ? {a.text} : {b.text}",
                          f"{c.undefined} ? ({a.undefined} | {b.undefined} | ({a.text} ^ {b.text})) : {c.text} ? {a.undefined} : {b.undefined}")

    def of_unary(self, op, inner):
        if op == "+":
            return self.expression(inner)
        v = self.expression(inner)
        if op == "!":
            v = self.truth(v)
            return self.value("u", 1, f"!{v.text}", v.undefined)
        if op == "~":
            return self.value(v.kind, v.width or 32, f"~{v.text}", v.undefined)
        if v.kind == "f":
            if v.literal is not None:
                return self.of_number("f", v.width, -v.literal)
            return self.value("f", v.width, f"{v.text} ^ {1 << (v.width - 1):#x}ull", v.undefined)
        if v.literal is not None:
            return constant("i", v.width, -v.literal)
        return self.value("i", v.width, f"-{v.text}", f"smear({v.undefined})")

    def same(self, a, b, promote=True):
        """Both operands in their common type."""
        if "f" in (a.kind, b.kind):
            if a.kind != "f" or b.kind != "f":
                raise PcodeError("float and integer mixed")
            width = max(a.width, b.width)
            if a.width != b.width:
                a, b = (self.of_converted_float(x, width) if x.width != width else x for x in (a, b))
            return a, b
        widths = [v.width for v in (a, b) if v.width is not None]
        width = max(widths + ([32] if promote or not widths else []))
        if promote and a.literal is not None and a.width is None and b.width and b.width > width:
            width = b.width
        typed = [v.kind for v in (a, b) if not (v.literal is not None and v.width is None)]
        kind = "i" if all(k == "i" for k in (typed or ["i"])) else "u"
        return self.convert(a, a.kind, width) if a.kind == kind or a.literal is not None else self.widened(a, kind, width), \
            self.convert(b, b.kind, width) if b.kind == kind or b.literal is not None else self.widened(b, kind, width)

    def widened(self, v, kind, width):
        v = self.convert(v, v.kind, width)
        return Value(kind, width, v.text, v.undefined, v.literal)

    def of_binary(self, op, left, right):
        if op == "**":
            return self.power(left, right)
        if op in ("==", "!=") and right[0] == "as" and right[1] == ("name", "DENORM"):
            v = self.expression(left)
            return self.value("u", 1, f"is_denorm({v.text}, {v.width})", self.any(1, v))
        if op == "*" and right[0] == "binary" and right[1] == "**":
            return self.scaled(left, right[3])
        if op == "*" and left[0] == "binary" and left[1] == "**":
            return self.scaled(right, left[3])
        a, b = self.expression(left), self.expression(right)
        if op in ("&&", "||"):
            a, b = self.truth(a), self.truth(b)
            sign = "" if op == "&&" else "!"
            twin = f"({a.undefined} & {b.undefined}) | ({a.undefined} & {sign}{b.text}) | ({b.undefined} & {sign}{a.text})"
            return self.value("u", 1, f"{a.text} {op[0]} {b.text}", twin)
        if op in ("<<", ">>"):
            return self.shift(op, a, b)
        if op in ("==", "!=", "<>", "<", ">", "<=", ">="):
            return self.compare(op, a, b)
        if self.saturate and op in "+-*" and a.kind != "f":
            text = " ".join((f"(i128){self.signed(a)}" if a.width != 127 else f"(i128){a.text}", op,
                             f"(i128){self.signed(b)}" if b.width != 127 else f"(i128){b.text}"))
            name, twin = self.name("t_"), self.name("u_")
            self.line(f"const u128 {name} = (u128)({text}); const u64 {twin} = SH({self.both(a, b)}); (void){twin};")
            return Value("i", 127, name, twin)
        a, b = self.same(a, b, promote=op in "+-*/%")
        if a.literal is not None and b.literal is not None and a.kind != "f" and op in "+-*":
            number = {"+": a.literal + b.literal, "-": a.literal - b.literal, "*": a.literal * b.literal}[op]
            return constant(a.kind, None if a.width is None else a.width, number)
        return self.arithmetic(op, a, b)

    def arithmetic(self, op, a, b):
        if a.kind == "f":
            name = {"+": "f_add", "-": "f_sub", "*": "f_mul", "/": "f_div"}.get(op)
            if not name:
                raise PcodeError(f"{op} of floats")
            return self.value("f", a.width, f"{name}(o, {a.text}, {b.text}, {a.width})", self.any(a.width, a, b))
        if a.kind == "bf":
            raise PcodeError("arithmetic of bf16")
        kind, width = a.kind, a.width
        if op in "+-*":
            if width > 64:
                twin = f"{self.both(a, b)} ? ~(u128)0 : 0"
            else:
                twin = f"smear({self.both(a, b)})"
            return self.value(kind, width, f"{a.text} {op} {b.text}", twin if self.both(a, b) != "(0 | 0)" else "0")
        if op == "&":
            twin = f"({a.undefined} & {b.undefined}) | ({a.undefined} & {b.text}) | ({b.undefined} & {a.text})"
            return self.value(kind, width, f"{a.text} & {b.text}", twin)
        if op == "|":
            twin = f"({a.undefined} & {b.undefined}) | ({a.undefined} & ~{b.text}) | ({b.undefined} & ~{a.text})"
            return self.value(kind, width, f"{a.text} | {b.text}", twin)
        if op == "^":
            return self.value(kind, width, f"{a.text} ^ {b.text}", self.both(a, b))
        name = {"/": "floor_div", "%": "floor_mod"}[op]
        return self.value(kind, width, f"{name}((i64){self.signed(a)}, (i64){self.signed(b)})", self.any(width, a, b))

    def shift(self, op, a, b):
        width = max(32, a.width or 32)
        if width == 127:
            raise PcodeError("shift of a saturated value")
        a = self.convert(a, a.kind, width)
        if width > 64:
            raise PcodeError("shift of more than 64 bits")
        twin = f"{b.undefined} ? ~0ull : "
        if op == "<<":
            return self.value(a.kind, width, f"shl({a.text}, {b.text})", twin + f"shl({a.undefined}, {b.text})")
        if a.kind == "i":
            return self.value("i", width, f"sar(sx({a.text}, {width}), {b.text})", twin + f"sar(sx({a.undefined}, {width}), {b.text})")
        return self.value(a.kind, width, f"shr({a.text}, {b.text})", twin + f"shr({a.undefined}, {b.text})")

    def compare(self, op, a, b):
        a, b = self.same(a, b)
        if a.kind == "f":
            if op in (">", ">="):
                a, b, op = b, a, {">": "<", ">=": "<="}[op]
            name = {"<": "f_lt", "<=": "f_le", "==": "f_eq", "!=": "f_ne", "<>": "f_lg"}[op]
            return self.value("u", 1, f"{name}(o, {a.text}, {b.text}, {a.width})", self.any(1, a, b))
        if op in ("==", "!=", "<>"):
            return self.value("u", 1, f"{a.text} {'==' if op == '==' else '!='} {b.text}",
                              f"eq_undefined({a.text}, {a.undefined}, {b.text}, {b.undefined})")
        negate = op in (">=", "<=")
        if op in (">", "<="):
            a, b = b, a
        flip = f" ^ {1 << (a.width - 1):#x}ull" if a.kind == "i" else ""
        x, y = f"({a.text}{flip})", f"({b.text}{flip})"
        return self.value("u", 1, f"{'!' if negate else ''}({x} < {y})", f"lt_undefined({x}, {a.undefined}, {y}, {b.undefined})")

    def power(self, left, right):
        one = self.expression(left)
        return self.scaled(("number", "f", one.width, 1.0), right)

    def scaled(self, left, exponent):
        """x · 2ⁿ, rounded once."""
        v, n = self.expression(left), self.expression(exponent)
        return self.value("f", v.width, f"f_ldexp(o, {v.text}, {self.signed(self.convert(n, 'i', 32))}, {v.width})", self.any(v.width, v, n))

    # Calls.
    def of_call(self, name, arguments):
        if name.startswith("Calc"):
            plain = name == "CalcDsAddr" and arguments[1] != ("number", "i", None, 0)
            width = 32 if name == "CalcDsAddr" else 64
            return self.value("u", width, "o->addr[lane]" + (" + o->offset" if plain else ""))
        if name in self.lambdas:
            names, body = self.lambdas[name]
            return self.inline(body, dict(zip(names, [self.expression(a) for a in arguments])))
        values = [self.expression(a) for a in arguments]
        if name.startswith("v_"):
            return self.other(name, values)
        v = values[0] if values else None
        match = re.match(r"(bf16|[fui]\d+)_to_(bf16|[fui]\d+|snorm|unorm)$", name)
        if match:
            return self.conversion(match.group(1), match.group(2), v)
        if name == "signext":
            if v.kind != "i":
                v = Value("i", v.width, v.text, v.undefined)
            return self.convert(v, "i", 64)
        if name == "signext_from_bit":
            n = values[1]
            text = f"{n.text} ? sx({v.text}, {n.text} > {v.width} ? {v.width} : {n.text}) : 0"
            return self.value("i", v.width, text, f"{n.undefined} ? ~0ull : {n.text} ? sx({v.undefined}, {n.text} > {v.width} ? {v.width} : {n.text}) : 0")
        if name == "abs" and v.kind == "f":
            return self.value("f", v.width, f"{v.text} & {(1 << (v.width - 1)) - 1:#x}ull", v.undefined)
        if name == "sign":
            return self.value("u", 1, f"{v.text} >> {v.width - 1}", f"{v.undefined} >> {v.width - 1}")
        if name == "exponent":
            return self.value("i", 32, f"exponent_of({v.text}, {v.width})", self.any(32, v))
        tests = {"isNAN": "is_nan", "isQuietNAN": "is_quiet", "isSignalNAN": "is_signal", "isEven": "f_even"}
        if name in tests:
            return self.value("u", 1, f"{tests[name]}({v.text}, {v.width})", self.any(1, v))
        if name == "cvtToQuietNAN":
            return self.value("f", v.width, f"quiet({v.text}, {v.width})", self.any(v.width, v))
        if name in UNARY and v.kind == "f":
            return self.value("f", v.width, f"{UNARY[name]}(o, {v.text}, {v.width})", self.any(v.width, v))
        if name == "fma":
            return self.value("f", v.width, f"f_fma(o, {', '.join(x.text for x in values)}, {v.width})", self.any(v.width, *values))
        if name == "pow":
            return self.value("f", v.width, f"f_pow(o, {v.text}, {values[1].text}, {v.width})", self.any(v.width, *values))
        if name == "ldexp":
            return self.scaled(arguments[0], arguments[1])
        if name in ("s_ff1_i32_b64", "s_ff1_i32_b32"):
            return self.value("i", 32, f"{v.text} ? (u64)__builtin_ctzll({v.text}) : ~0ull", self.any(32, v))
        if name in ("bitCount", "countbits"):
            return self.value("u", 32, f"(u64)__builtin_popcountll({v.text})", self.any(32, v))
        raise PcodeError(f"unknown function {name}")

    def conversion(self, source, to, v):
        width = int(re.sub(r"\D", "", source))
        if to in ("snorm", "unorm"):
            return self.value("u", 16, f"f_to_norm({v.text}, {width}, {int(to == 'snorm')})", self.any(16, v))
        wide = int(re.sub(r"\D", "", to))
        if source == "bf16":
            return self.value("f", 32, f"{v.text} << 16", f"{v.undefined} << 16")
        if to == "bf16":
            return self.value("u", 16, f"f32_to_bf({v.text})", self.any(16, v))
        a, b = source[0], to[0]
        if a == "f" and b == "f":
            text = f"f_to_f(o, {v.text}, {width}, {wide})"
        elif a == "f":
            text = f"f_to_{b}({v.text}, {width}, {wide})"
        elif b == "f":
            text = f"i_to_f(o, sx({v.text}, {width}), {wide})" if a == "i" else f"u_to_f(o, {v.text} & ones({width}), {wide})"
        elif wide < width:
            text = f"saturate_{b}((i128){self.signed(v)}, {wide})"
        else:
            text = f"sx({v.text}, {width})" if a == "i" else f"{v.text} & ones({width})"
        return self.value(b, wide, text, self.any(wide, v))

    def other(self, name, values):
        """The result of another instruction, `v_min_i32(a, b)`."""
        text = self.lookup(name)
        if text is None:
            raise PcodeError(f"unknown function {name}")
        match = re.search(r"D0\.([uif])(\d+)", text)
        kind, width = (match.group(1), int(match.group(2))) if match else ("u", 32)
        scope = {f"S{i}": v for i, v in enumerate(values)}
        return self.inline(parse(text), scope, (kind, width))

    def inline(self, body, scope, result=None):
        saved = self.locals, self.arrays, self.lambdas
        self.locals, self.arrays, self.lambdas = {}, {}, dict(self.lambdas)
        c, label, fresh = self.name("r"), self.name("end"), {}
        start = len(self.lines)
        self.scopes.append({**scope, ".": None})
        self.returns.append(({"name": c, "type": None}, label))
        if result:
            # What it assigns to D0 is the result.
            inner = _Inline(self, c)
            inner.block(body)
            kind, width = result
        else:
            prefix = self.name("n")
            self.block(body)
            kind, width = self.returns[-1][0]["type"]
            fresh = {name: (k, w, old, f"{prefix}_{name}") for name, (k, w, old) in self.locals.items()}
            for i in range(start, len(self.lines)):
                for _, _, old, new in fresh.values():
                    self.lines[i] = re.sub(rf"\b(u?){old}\b", rf"\g<1>{new}", self.lines[i])
        head = [f"u64 {c} = 0, u{c} = 0; (void)u{c};"] + [f"u64 {new} = 0, u{new} = 0; (void){new}; (void)u{new};" for _, _, _, new in fresh.values()]
        self.lines[start:start] = head + ["{"]
        self.line(f"goto {label}; {label}:; }}")
        self.returns.pop()
        self.scopes.pop()
        self.locals, self.arrays, self.lambdas = saved
        return self.value(kind, width, c, f"u{c}")


class _Inline:
    """Emits the body of another instruction into the same function: D0 becomes a variable."""

    def __init__(self, emitter, result):
        self.emitter, self.result = emitter, result

    def block(self, body):
        e = self.emitter
        start = len(e.lines)
        outputs = set(e.outputs)
        e.block(body)
        if e.locals:
            prefix = e.name("n")
            e.lines[start:start] = [f"u64 {prefix}_{n} = 0, u{prefix}_{n} = 0; (void)u{prefix}_{n};" for n in e.locals]
            for i in range(start, len(e.lines)):
                for n in e.locals:
                    e.lines[i] = re.sub(rf"\b(u?)x_{n}\b", rf"\g<1>{prefix}_{n}", e.lines[i])
        for i in range(start, len(e.lines)):
            e.lines[i] = re.sub(r"\b(u?)d0\b", rf"\g<1>{self.result}", e.lines[i])
        e.outputs = outputs


def function(name, text, lookup, saturate=False):
    """The C text of an instruction, and the set of what it writes."""
    e = Emitter(text, lookup, saturate)
    body = []
    body.append(f"void NAME({name})(oracle_operands *o) {{")
    if e.has_lanes:
        body.append("for (u64 todo = o->lanes; todo; todo &= todo - 1) { const u64 lane = (u64)__builtin_ctzll(todo); (void)lane;")
    else:
        body.append("{ const u64 lane = 0; (void)lane;")
    body.append("u64 ct = 0, poison = 0; (void)ct; (void)poison;")
    for k in range(3):
        body.append(f"u64 s{k} = o->s[{k}][lane], us{k} = SH(o->su[{k}][lane]); (void)s{k}; (void)us{k};")
    body.append("u64 d0 = o->d[lane], ud0 = SH(o->du[lane]); (void)d0; (void)ud0;")
    body.append("u64 scc = o->scc, uscc = SH(o->sccu), pc = o->pc, upc = 0; (void)scc; (void)uscc; (void)pc; (void)upc;")
    for _, _, c in {v[2]: v for v in e.locals.values()}.values():
        body.append(f"u64 {c} = 0, u{c} = 0; (void){c}; (void)u{c};")
    body.extend(e.lines)
    if "D0" in e.outputs:
        body.append("o->d[lane] = d0; if (SH(1)) o->du[lane] = poison ? ~0ull : ud0;")
    if "S0" in e.outputs:
        body.append("o->s[0][lane] = s0; if (SH(1)) o->su[0][lane] = poison ? ~0ull : us0;")
    if "SCC" in e.outputs:
        body.append("o->scc = scc; o->sccu = SH(poison ? 1 : uscc);")
    if "PC" in e.outputs:
        body.append("o->pc = pc; o->pc_written = 1; if (SH(upc | poison)) o->bad_index = 1;")
    for mask in ("D0", "VCC", "EXEC"):
        if "mask " + mask in e.outputs:
            body.append(f"if (SH(poison)) o->out_{OUT_MASKS[mask]}u |= 1ull << lane;")
    for wide in ("RETURN_DATA", "VDATA"):
        if wide in e.outputs:
            body.append(f"if (SH(poison)) for (int i = 0; i < ORACLE_WORDS; i++) o->datau[{WIDE[wide]}][i][lane] = ~0u;")
    body.append("} }")
    return "\n".join(body), e.outputs
