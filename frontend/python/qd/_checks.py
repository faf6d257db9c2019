"""What is checked in debug of integers that operators of the program make: that results fit their types, that shifts are by less than
the width, and that nothing is divided by 0.

Atomics, powers and conversions wrap and saturate as the language says, and are not checked. Neither is what the package's own functions
compute, which may wrap on purpose, nor functions that these are given: they call those in lanes whose results do not count, too.
"""

from qd._dtypes import BY_NAME

_SHIFTS = ("<<", ">>", "bit_shr")
_QUOTIENTS = ("//", "raw_div")
_DIVISIONS = (*_QUOTIENTS, "%", "raw_mod")


class Check:
    """Writes the conditions of one operation."""

    def __init__(self, tracer, node):
        self.tracer = tracer
        self.node = node

    def of(self, name, a, b):
        return self.tracer.binary(self.node, name, a, b)

    def number(self, value, like):
        return self.tracer.literal(self.node, value, like.dtype)

    def cast(self, value, dtype):
        return value if value.dtype is dtype else self.tracer.cast(self.node, value, dtype)

    def holds(self, condition, text):
        self.tracer.assert_holds(self.node, condition, text)

    def unary(self, name, x):
        """Of `-` and `abs`: the least integer has no counterpart."""
        if x.dtype.name.startswith("i"):
            self.holds(self.of("!=", x, self.number(x.dtype.least, x)), f"'{name}' of {x.dtype} does not overflow")

    def binary(self, name, a, b, result):
        dtype = result.dtype
        if name in _SHIFTS:
            self._shift(name, b, dtype)
        elif not dtype.is_real and dtype.name != "u1":
            a, b = self.cast(a, dtype), self.cast(b, dtype)
            if name in _DIVISIONS:
                self.holds(self.of("!=", b, self.number(0, b)), f"the divisor of '{name}' is not 0")
            fits = self._fits(name, a, b, result)
            if fits is not None:
                self.holds(fits, f"'{name}' of {dtype} does not overflow")

    def _shift(self, name, amount, dtype):
        # One that is negative is large without its sign.
        amount = self.cast(amount, BY_NAME[f"u{8 * amount.dtype.size}"])
        width = 1 if dtype.name == "u1" else 8 * dtype.size
        self.holds(self.of("<", amount, self.number(width, amount)), f"the amount of '{name}' is below {width}, and not negative")

    def _fits(self, name, a, b, result):
        """Whether the result of two integers of its type is exact; None of an operation that is, always."""
        is_signed = result.dtype.name.startswith("i")
        if name == "*":
            return self._product_fits(a, b, result, is_signed)
        if name == "+" and is_signed:
            # It overflows where both have a sign that the result has not (Warren, Hacker's Delight, 2-13).
            return self._not_negative(self.of("&", self.of("^", a, result), self.of("^", b, result)))
        if name == "-" and is_signed:
            return self._not_negative(self.of("&", self.of("^", a, b), self.of("^", a, result)))
        if name == "+":
            return self.of(">=", result, a)
        if name == "-":
            return self.of(">=", a, b)
        return self._negates_no_least(a, b) if name in _QUOTIENTS and is_signed else None

    def _not_negative(self, value):
        return self.of(">=", value, self.number(0, value))

    def _negates_no_least(self, a, b):
        return self.of("|", self.of("!=", b, self.number(-1, b)), self.of("!=", a, self.number(a.dtype.least, a)))

    def _product_fits(self, a, b, result, is_signed):
        bits = 16 * result.dtype.size
        if bits <= 64:
            wide = BY_NAME[f"{'i' if is_signed else 'u'}{max(bits, 32)}"]
            exact = self.of("*", self.cast(a, wide), self.cast(b, wide))
            return self.of("==", exact, self.cast(result, wide))
        # Divided again it is what it was, but of −1 and the least integer, whose quotient wraps as well.
        is_zero = self.of("==", b, self.number(0, b))
        one = self.number(1, b)
        divisor = self.tracer.made(self.node, "select", is_zero.number, one.number, b.number)
        fits = self.of("|", is_zero, self.of("==", self.of("raw_div", result, divisor), a))
        return self.of("&", fits, self._negates_no_least(a, b)) if is_signed else fits
