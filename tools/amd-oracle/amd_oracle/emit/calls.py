"""Calls: functions of the pseudocode, its lambdas, and other instructions, which are emitted in place."""

import re

from ..pcode import PcodeError, parse
from .values import UNARY, Value


class Calls:
    """Emits calls."""

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
