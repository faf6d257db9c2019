"""Statements: control flow, and what is written to registers, masks and memory."""

from ..pcode import PcodeError
from .values import CONSTANT, GIVEN, OUT_MASKS, WIDE, Value


class Statements:
    """Emits the statements of a body."""

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
