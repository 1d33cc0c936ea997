"""Random programs over integers with functions of their binary digits, and over complex numbers.

T[i] = A[i]*exp(B[i,j]*1j);  Y[k] = abs(T[k+1])^2;     Y[i] = bitwise_and(I[i-1], i+2)*A[i]
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Apply, Const, Node, Number, Scope, Tensor
from einderive.ta.ir.subst import stages, walk
from tests.derivations.seeds import points
from tests.fuzz.generator import MOST_POINTS, Program, Statement

DIGITS = tuple(n for n, f in FUNCTIONS.items() if f.digits and n != "bitwise_invert")
"""Functions of two integers; of one, the parser writes -1 - x."""
PARTS = tuple(name for name, known in FUNCTIONS.items() if known.part)
COMPLEX = (*PARTS, *PARTS, "abs", "exp", "sin", "cos", "tanh")


def typed_program(random: Random) -> tuple[Scope, ...]:
    """The outputs, with all that they read nested in them, of at most MOST_POINTS points."""
    while True:
        try:
            kind = _OfDigits if random.random() < 0.5 else OfComplex
            roots = kind(random).roots()
        except ValueError:  # a constructor refuses
            continue
        if sum(map(points, roots)) > MOST_POINTS or isinstance(roots[0].body, Const):
            continue
        if not any(map(_part_of_a_real, stages(*roots))):
            return roots


def _part_of_a_real(stage: Scope) -> bool:
    """Whether it takes the part of what became real, which the parser never writes."""
    applied = (node for node in walk(stage.body) if isinstance(node, Apply))
    return any(node.function in PARTS and not may_be_complex(node.args[0]) for node in applied)


class _OfDigits(Program):
    def statement(self) -> Scope:
        return _DigitsStatement(self).scope()


class OfComplex(Program):
    def statement(self) -> Scope:
        return ComplexStatement(self).scope()

    def new_tensor(self, shape: tuple[int, ...]) -> Tensor:
        made = super().new_tensor(shape)
        if self.random.random() < 0.6:
            made = self.tensors[-1] = expr.tensor(made.name, shape, "complex64")
        return made


class _DigitsStatement(Statement):
    def function(self, height: int) -> Node:
        return self.digits(height) if self.random.random() < 0.6 else super().function(height)

    def digits(self, height: int) -> Node:
        random = self.random
        few = expr.const(random.randint(0, 3))
        second = few if random.random() < 0.4 else self.integer(height)
        return expr.apply(random.choice(DIGITS), self.integer(height), second)

    def integer(self, height: int) -> Node:
        """Data, or an iterator, or what is computed from these."""
        random = self.random
        kind = random.random()
        if kind < 0.2 and height:
            return self.digits(height - 1)
        if kind < 0.35:
            return self.position()
        rows = [self.row() for _ in range(random.choice((0, 1, 1, 2)))]
        tensor = self.program.new_index(self.shape(rows), "int64")
        read = expr.access(tensor, rows, Fraction(random.choice((0, 0, 0, 1, 2))))
        if kind < 0.7:
            return read
        return expr.add(read, self.position() if kind < 0.8 else expr.const(random.randint(-1, 3)))


class ComplexStatement(Statement):
    """Without what has an order, and without infinities."""

    def scope(self) -> Scope:
        loops, sums = self.domain[: self.first], self.domain[self.first :]
        reducer = "prod" if self.reducer == "prod" else "sum"
        kind = self.random.random()
        if kind < 0.25:
            body = self.contraction(range(len(self.domain)))
        else:
            body = self.function(2) if kind < 0.75 else self.expression(2)
        return make_scope(loops, sums, body, reducer)

    def function(self, height: int) -> Node:
        random = self.random
        argument = self.expression(height - 1)
        if random.random() < 0.4:
            argument = expr.mul(argument, expr.apply("1j"))
        if random.random() < 0.2:
            return argument
        name = random.choice(COMPLEX)
        if name in PARTS and not may_be_complex(argument):
            return argument  # as the parser has it
        return expr.apply(name, argument)

    def number(self) -> Number:
        return Fraction(self.random.choice((-3, -2, -1, 1, 2, 2, 3)))

    def infinity(self) -> float:
        raise ValueError("no infinities")

    def fill(self) -> Number:
        return Fraction(self.random.choice((0, 0, 0, 1, 2)))

    def otherwise(self, height: int) -> Node:
        return self.expression(height - 1) if self.random.random() < 0.4 else expr.const(0)
