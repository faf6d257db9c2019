"""Expressions: names, numbers, parts of values, and conversions between types."""

from ..pcode import PcodeError
from .values import CONSTANT, FLOATS, GIVEN, NAMED_FLOATS, WIDE, Value, bits_of, constant


class Expressions:
    """Emits what a value is read from."""

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
