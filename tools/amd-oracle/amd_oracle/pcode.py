"""Reads AMD's instruction pseudocode into a tree.

The tree is plain tuples, first the name of the node. Statements: `declare`, `assign`, `update`,
`if`, `for`, `while`, `break`, `return`, `lambda`, `expr`. Expressions: `number`, `name`, `member`,
`as` (a type suffix), `cast`, `index`, `slice`, `part` (`[base +: width]`), `call`, `join`,
`unary`, `binary`, `choose`. What is prose rather than pseudocode is a `PcodeError`.
"""

import re


class PcodeError(Exception):
    """The pseudocode says something that the translator does not understand."""


TOKEN = re.compile(
    r"""\s*(?:
      (?P<cast>\d+'(?:BF|[UIBF])\b)
    | (?P<sized>\d+'(?:0x[0-9a-fA-F]+|\d+\.\d+|\d+)U?)
    | (?P<number>(?:0x[0-9a-fA-F]+|\d+\.\d+|\d+)(?:ULL|LL|U|F|L)?)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<op><<=|>>=|\*\*|\+=|-=|&=|\|=|\^=|<<|>>|<=|>=|==|!=|<>|&&|\|\||\+:|[-+*/%&|^~!<>=?:;,(){}\[\].'])
    )""",
    re.X,
)
TYPE = re.compile(r"(bf|[uibf])(\d+)$")
LEVELS = [
    ["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!=", "<>"], ["<", ">", "<=", ">="],
    ["<<", ">>"], ["+", "-"], ["*", "/", "%"],
]


def tokens(text):
    text = re.sub(r"//[^\n]*", "", text)
    out, at = [], 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            raise PcodeError(f"cannot read {text[at:at + 24].strip()!r}")
        out.append((match.lastgroup, match.group(match.lastgroup)))
        at = match.end()
    return out


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)
        self.at = 0

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at][1] if at < len(self.tokens) else None

    def kind(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else None

    def next(self):
        if self.at >= len(self.tokens):
            raise PcodeError("ends too early")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, what):
        if self.peek() == what:
            self.at += 1
            return True
        return False

    def expect(self, what):
        if not self.accept(what):
            near = " ".join(t for _, t in self.tokens[max(0, self.at - 6):self.at + 3])
            raise PcodeError(f"{what!r} expected near {near!r}")

    def program(self):
        out = self.block(())
        if self.at != len(self.tokens):
            raise PcodeError(f"unexpected {self.peek()!r}")
        return out

    def block(self, ends):
        out = []
        while self.peek() is not None and self.peek() not in ends:
            if not self.accept(";"):
                out.append(self.statement())
        return out

    def statement(self):
        word = self.peek()
        if word == "declare":
            return self.declare()
        if word == "if":
            return self.branch()
        if word == "for":
            self.next()
            name = self.next()
            self.expect("in")
            first = self.expression()
            self.expect(":")
            last = self.expression()
            self.expect("do")
            body = self.block(("endfor",))
            self.expect("endfor")
            return ("for", name, first, last, body)
        if word == "break":
            self.next()
            return ("break",)
        if word == "return":
            self.next()
            return ("return", self.expression())
        if self.peek(1) == "=" and self.peek(2) == "lambda":
            return self.function()
        return self.assignment()

    def declare(self):
        self.next()
        name = self.next()
        self.expect(":")
        shape = self.next()
        match = re.match(r"(\d+)'(BF|[UIBF])$", shape)
        if not match:
            raise PcodeError(f"declaration of {name} as {shape!r}")
        count = None
        if self.accept("["):
            count = int(self.next())
            self.expect("]")
        return ("declare", name, match.group(2).lower(), int(match.group(1)), count)

    def branch(self):
        self.next()
        arms = [(self.condition(), self.block(("elsif", "else", "endif")))]
        while self.accept("elsif"):
            arms.append((self.condition(), self.block(("elsif", "else", "endif"))))
        rest = self.block(("endif",)) if self.accept("else") else []
        self.expect("endif")
        return ("if", arms, rest)

    def condition(self):
        out = self.expression()
        self.expect("then")
        return out

    def function(self):
        name = self.next()
        self.next()
        self.next()
        self.expect("(")
        names = []
        while not self.accept(")"):
            names.append(self.next())
            self.accept(",")
        self.expect("(")
        if self.peek() in ("if", "declare"):
            body = self.block((")",))
        else:
            body = [("return", self.expression())]
        self.expect(")")
        return ("lambda", name, names, body)

    def assignment(self):
        places = [self.expression()]
        if self.peek() in ("+=", "-=", "&=", "|=", "^=", "<<=", ">>="):
            op = self.next()[:-1]
            return ("update", places[0], op, self.expression())
        while self.accept("="):
            places.append(self.expression())
        if len(places) == 1:
            return ("expr", places[0])
        return ("assign", places[:-1], places[-1])

    def expression(self):
        test = self.binary(0)
        if self.accept("?"):
            yes = self.expression()
            self.expect(":")
            return ("choose", test, yes, self.expression())
        return test

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            op = self.next()
            left = ("binary", op, left, self.binary(level + 1))
        return left

    def unary(self):
        for op in ("~", "!", "-", "+"):
            if self.accept(op):
                return ("unary", op, self.unary())
        base = self.postfix(self.primary())
        if self.accept("**"):
            return ("binary", "**", base, self.unary())
        return base

    def primary(self):
        kind, word = self.kind(), self.next()
        if kind == "cast":
            self.expect("(")
            inner = self.expression()
            self.expect(")")
            width, letter = word.split("'")
            return ("cast", letter.lower(), int(width), inner)
        if kind == "sized":
            width, digits = word.split("'")
            if "." in digits:
                return ("number", "f", int(width), float(digits))
            letter = "u" if digits.endswith("U") else "i"
            return ("number", letter, int(width), int(digits.rstrip("U"), 0))
        if kind == "number":
            return self.number(word)
        if kind == "name":
            return ("name", word)
        if word == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if word == "{":
            parts = [self.expression()]
            while self.accept(","):
                parts.append(self.expression())
            self.expect("}")
            return ("join", parts)
        raise PcodeError(f"unexpected {word!r}")

    @staticmethod
    def number(word):
        if "." in word:
            return ("number", "f", 32 if word.endswith("F") else 64, float(word.rstrip("F")))
        hexadecimal = word.startswith("0x")
        digits = word.rstrip("UL") if hexadecimal else word.rstrip("ULF")
        suffix = word[len(digits):]
        width = {"U": 32, "ULL": 64, "LL": 64, "L": 64}.get(suffix)
        return ("number", "u" if "U" in suffix else "i", width, int(digits, 0))

    def postfix(self, base):
        while True:
            if self.peek() == ".":
                self.next()
                name = self.next()
                match = TYPE.match(name)
                if match:
                    base = ("as", base, match.group(1), int(match.group(2)))
                else:
                    base = ("member", base, name)
            elif self.peek() == "[":
                self.next()
                first = self.expression()
                if self.accept("+:"):
                    base = ("part", base, first, self.expression())
                elif self.accept(":"):
                    base = ("slice", base, first, self.expression())
                else:
                    base = ("index", base, first)
                self.expect("]")
            elif self.peek() == "(" and base[0] == "name":
                self.next()
                values = []
                while not self.accept(")"):
                    values.append(self.expression())
                    self.accept(",")
                base = ("call", base[1], values)
            else:
                return base


def parse(text):
    """The statements of a pseudocode text."""
    return Parser(text).program()
