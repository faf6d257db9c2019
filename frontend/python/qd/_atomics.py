"""Atomics: of elements of arrays, and of variables of kernels."""

import ast

from qd._expressions import MISSING, Expressions
from qd._operations import CAS, OF_BITS, SIGNS, VOLATILE_LOAD
from qd._storage import Field
from qd._values import Array, Spanning, Value, Variable, is_tuple, is_variable
from qd.exception import QuadrantsIndexError, QuadrantsSyntaxError, QuadrantsTypeError


class Atomics(Expressions):
    """What is done to memory in one step."""

    def _atomic(self, node, operation):
        """Combines a value into an element or a variable; the old value."""
        place, *given = self._arguments(node, operation.parameters)
        message = f"cannot use a non-writable target as the first operand of '{operation.name}'"
        variable, array, index = self._place(node, operation, place, message)
        if variable is not None:
            return self._alone(node, operation, place, variable, given)
        values = [self.value(each) for each in given]
        if operation is CAS:
            return self.made(node, "compare_exchange", array.number, index.number, *(value.number for value in values))
        return self.combined(node, SIGNS[operation.name], array, index.number, *values)

    def _place(self, node, operation, place, message):
        """A variable that one thread alone has, or an array and an index, None for what it is not."""
        array, variable = None, self.variable_at(place)
        if variable is MISSING and isinstance(place, ast.Subscript):
            array = self.expression(place.value)
        elif not isinstance(variable, (Variable, Spanning)) and isinstance(self.expression(place), (Array, Field)):
            text = ast.unparse(place)
            whole = f"'{operation.name}' does not take an array or Field directly: give it an element, such as {text}[i]"
            raise self.error(QuadrantsSyntaxError, place, whole)
        if isinstance(variable, Variable):
            return variable, None, None
        if isinstance(variable, Spanning):
            return None, variable.array, self.made(node, "integer", 0, "i32")
        if not isinstance(array, Array):
            raise self.error(QuadrantsSyntaxError, place, message)
        return None, array, self.index(place, array)

    def variable_at(self, place):
        """What a name is, or a member of a tuple of variables by its number, which is known while tracing; MISSING."""
        if isinstance(place, ast.Name):
            return self.lookup(place.id)
        around = self.variable_at(place.value) if isinstance(place, ast.Subscript) else MISSING
        if not is_tuple(around) or not is_variable(around):
            return MISSING
        number = self.expression(place.slice)
        if isinstance(number, Value):
            raise self.later(place, "an index that is computed, of a tuple,")
        try:
            return around[number]
        except (IndexError, TypeError) as error:
            message = str(error)
        raise self.error(QuadrantsIndexError, place, message)

    def _volatile_load(self, node):
        """An element as other threads see it now. A variable that one thread alone has is as it is."""
        (place,) = self._arguments(node, VOLATILE_LOAD.parameters)
        message = "volatile_load takes an lvalue, which memory has: an element of an array, or a variable"
        variable, array, index = self._place(node, VOLATILE_LOAD, place, message)
        if variable is not None:
            return self._present(place, variable)
        return self.made(node, "volatile_load", array.number, index.number)

    def _alone(self, node, operation, place, variable, given):
        """An atomic of a variable that one thread alone has."""
        old = self._present(place, variable)
        new, *desired = [self.value(each) for each in given]
        sign = SIGNS.get(operation.name)
        if old.dtype.is_real and (operation is CAS or sign in ("&", "|", "^")):
            raise self.error(QuadrantsTypeError, node, f"{operation.name} requires integer operands, and not '{old.dtype}'")
        if operation is CAS:
            same = self.binary(node, "==", old, new)
            new = self.made(node, "select", same.number, desired[0].number, old.number)
        elif sign != "exchange":
            new = self.binary(node, self._of_type(node, sign, old.dtype, new), old, new)
        self.write(place, variable, new)
        return old

    def combined(self, node, sign, array, index, value):
        """Combines a value into an element; the old value."""
        return self.made(node, "atomic", self._of_type(node, sign, array.dtype, value), array.number, index, value.number)

    def _of_type(self, node, sign, dtype, value):
        """The sign of an atomic of a type. Sums of bits are of bits alone: `x + 1` is an `i32`, which as a `u1` is whether it is 0, and
        that no operation of bits says."""
        if dtype.name != "u1" or sign not in OF_BITS:
            return sign
        if value.dtype != dtype:
            raise self.error(QuadrantsTypeError, node, f"an atomic '{sign}' of a 'u1' takes a 'u1', and not '{value.dtype}': cast it")
        return OF_BITS[sign]

    def atomic(self, node, sign, variable, value):
        """Combines a value into a variable that several tasks have."""
        return self.combined(node, sign, variable.array, self.ask(node, "integer", 0, "i32"), value)
