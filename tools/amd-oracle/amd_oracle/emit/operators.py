"""Operators: arithmetic, logic, shifts and comparisons, and which bits of their results are unknown."""

from ..pcode import PcodeError
from .values import Value, constant


class Operators:
    """Emits operators, each with its twin."""

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
            smear = "smear" if width <= 64 else "smear_wide"
            twin = f"{smear}({self.both(a, b)})"
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
