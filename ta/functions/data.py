"""Functions and reducers of the notation as data: one in each file `*.toml` of this folder.

    f()                   a constant                       pi
    f(x)                  a function of one operand        exp(A[i]), relu(A[i])
    f(x, y)               of two                           maximum(A[i], B[i]), A[i] < B[i]
    f(x, y, z)            of three                         where(A[i] < 0, B[i], C[i])
    r[k] f(k)             a reducer over iterators         sum[k](A[i,k]), max[k](A[i,k])

The parser takes names and numbers of operands from here, the interpreter values, the kernel and the
checker facts, printers and emitters spellings.  Code that a function needs of its own stands in the
Python file of the same name (`ta.functions.stated`).  Code relies on a fact without a proof of its
own: `tests/ta/functions/test_function_facts.py` has a test for each fact of each function, and
`docs/guarantees.md` counts those that the checker reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from einderive.ta.functions.helper import Helper

HALF = Fraction(1, 2)
USUAL = 4
"""The cost of most functions: the time of a pass over memory hides it."""

TRIED = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, math.inf, -math.inf)
"""Operands by which a function that hides NaN is found."""


class Interval(NamedTuple):
    """The domain `least < x < greatest`, or `least <= x <= greatest` with the ends `included`."""

    least: int
    greatest: float = math.inf
    included: bool = False

    @property
    def ends(self) -> tuple[float, ...]:
        """The ends that are numbers."""
        return tuple(float(end) for end in self[:2] if math.isfinite(end))

    def holds(self, x: float) -> bool:
        within = self.least <= x <= self.greatest
        return within and (self.included or x not in (self.least, self.greatest))


@dataclass(frozen=True)
class Pieces:
    """A function that is linear on either side of where `gap` is 0.

        f(x) = above.x + step   where gap.x > 0
               below.x - step   where gap.x < 0
               their mean       where gap.x = 0

    Each of `gap`, `above` and `below` holds an integer coefficient for every operand.
    """

    gap: tuple[int, ...]
    above: tuple[int, ...]
    below: tuple[int, ...]
    step: int = 0

    def __call__(self, *operands: Any) -> Any:
        """The value at rational or infinite operands."""
        positive, negative, above, below = self._parts
        up, down = positive(operands), negative(operands)  # both may be infinite: no difference
        if up == down:
            return HALF * (above(operands) + below(operands))
        value = above(operands) if up > down else below(operands)
        return value + (self.step if up > down else -self.step) if self.step else value

    @cached_property
    def _parts(self) -> list[Callable[[Sequence[Any]], Any]]:
        """The terms of the gap with positive coefficients, the opposite of the others, `above` and
        `below`, as functions of all operands."""
        sides = ([max(c, 0) for c in self.gap], [max(-c, 0) for c in self.gap])
        rows = (*sides, self.above, self.below)
        return [
            itemgetter(row.index(1))
            if sum(map(abs, row)) == max(row) == 1
            else partial(combined, row)
            for row in rows
        ]

    @cached_property
    def continuous(self) -> bool:
        """Whether both pieces agree where the gap is 0: their difference is a multiple of it."""
        apart = [a - b for a, b in zip(self.above, self.below, strict=True)]
        pairs = list(zip(apart, self.gap, strict=True))
        return not self.step and all(a * h == b * g for a, g in pairs for b, h in pairs)

    @cached_property
    def flat(self) -> bool:
        """Whether the function is constant on either side of the gap."""
        return not any((*self.above, *self.below))

    @cached_property
    def even(self) -> bool:
        """Whether f(-x) = f(x)."""
        return not self.step and self.above == tuple(-c for c in self.below)

    @cached_property
    def chooses(self) -> bool:
        """Whether every value is 0, an operand, or an operand's opposite."""
        return not self.step and all(sum(map(abs, row)) <= 1 for row in (self.above, self.below))

    @cached_property
    def selects(self) -> bool:
        """Whether every value is 0 or an operand."""
        return self.chooses and min(*self.above, *self.below) >= 0


def combined(row: Sequence[int], operands: Sequence[Any]) -> Any:
    """`row.operands`.  An operand with the coefficient 0 does not count, even if it is infinite."""
    terms = [
        x if c == 1 else -x if c == -1 else c * x for c, x in zip(row, operands, strict=True) if c
    ]
    return sum(terms[1:], terms[0]) if terms else 0


def decided(holds: Callable[..., bool], fails: Callable[..., bool]) -> Callable[..., Any]:
    """On balls: 1 if the comparison surely holds, 0 if it surely fails, else a ball around both."""

    def value(x: Any, y: Any) -> Any:
        one, zero = type(x)(1), type(x)(0)
        return one if holds(x, y) else zero if fails(x, y) else one.union(zero)

    return value


def rational(value: Callable[..., Fraction | int]) -> Callable[..., Any]:
    """The value if all operands are rational and it exists; else NaN."""

    def exact(*operands: Any) -> Any:
        if any(isinstance(operand, float) for operand in operands):
            return math.nan
        try:
            return Fraction(value(*operands))
        except ZeroDivisionError:
            return math.nan

    return exact


def unchanged(value: Callable[[Any], int]) -> Callable[[Any], Any]:
    """The value if the operand is rational.  An infinity stays as it is."""
    return lambda x: x if isinstance(x, float) else Fraction(value(x))


@dataclass(frozen=True)
class Function:
    """A function of the notation.

    In spellings, `{0}`, `{1}` and `{2}` are the operands; a text without a parenthesis is the name
    of what is called with them.  Where there is none, the function's name stands for it.
    """

    name: str
    about: str
    """What the function is, in sentences."""
    real: Callable[..., Any]
    """The function on float64 arrays of NumPy, with a relative error of at most 4 units in the last
    place."""
    arity: int = 1

    definition: str = ""
    """A formula for the function in the operands x and y.  It holds for real numbers.  A comparison
    uses it if the user asks for it (`ta.equality.laws`)."""
    derivative: tuple[str, ...] = ()
    """For each operand, the derivative by it: a formula in the operands x and y, whose value at a
    kink is torch's.  Nothing where the notation has no formula; conditions need none."""
    tangent: str = ""
    adjoint: str = ""
    """Of a function that is not analytic, for a complex operand x: the tangent of its value for the
    tangent g of x, and what it passes back to x from the cotangent g of its value."""
    pieces: Pieces | None = None
    """The two linear pieces of a function that is linear on either side of a gap.  Such a function
    is exact on rational numbers, and `real` takes integers as well."""
    reducer: str = ""
    """The reducer of the set {a, b} that gives the function: `max` for `maximum(a, b)`."""
    exact: Callable[..., Any] | None = None
    """The exact value at rational or infinite operands, if it is rational or infinite too; else
    NaN."""
    picks: bool = False
    """Whether f(c, a, b) = a where c is not 0, else b, whatever the other operand is: true of
    `choose`."""
    truth: bool = False
    """Whether the function is a condition: its values are 0 and 1, and its element type is bool."""
    whole: bool = False
    """Whether the value is an integer if all operands are.  Functions with `pieces` need not say
    so."""
    digits: bool = False
    """Whether it is about the binary digits of integers.  Then its operands are integers or bools,
    and are computed as such beside numbers of any other type."""
    part: bool = False
    """Whether it is a part of a complex number, or the conjugate.  Of a real number, `exact` is the
    number itself, or 0."""
    symmetric: bool = False
    """Whether f(a, b) = f(b, a), for every a and b."""

    at_zero: int | None = None
    """f(0), where that is 0 or 1."""
    domain: Interval | None = None
    """The interval in which the function is finite; None if it is finite at every number."""
    divides: bool = False
    """Whether the function lacks a value if the second operand is 0, and only then."""
    imaginary: bool = False
    """Whether it is the imaginary unit, so that values computed from it are complex."""
    of_reals: bool = False
    """Whether it is computed for real operands alone, though it needs no order."""
    partial: bool = False
    """Whether numbers may have no value for a reason that `domain` and `divides` do not state."""
    range: tuple[int, int] | None = None
    """Bounds: no value lies below the first or above the second.  None if there are no bounds."""
    beside_nan: bool = False
    """Whether one operand may decide the value although another is NaN, as an infinity does in
    hypot."""
    always_finite: bool = False
    """Whether the value is a number even if the operand is infinite or NaN."""
    turns: tuple[float, ...] = ()
    """Numbers other than 0 and the ends of the domain where the values nearest to 0 on either side
    of 0 change their sign, or become 0 for a while, rounded."""
    steps: bool = False
    """Whether the function is constant between jumps, as floor is: it is 0 at some numbers in
    general position."""

    ball: Callable[..., Any] | None = None
    """The function on a ball of Arb: a ball that holds the values at all finite numbers of the
    operand, or NaN.  It confirms counterexamples (`ta.equality.balls`).  Functions with `pieces`
    need none."""

    complex_ball: Callable[..., Any] | None = None
    """The function on a ball of complex numbers, in the operations of python-flint's `acb`, with
    the principal value.  A difference of complex numbers is confirmed with it."""

    work: int = USUAL
    """The cost, for predicted times, in additions in registers."""

    infix: str = ""
    """The operator between the two operands, in the notation."""
    latex: str = ""
    """The name, or a form in which `{0}` and so on are the operands."""
    torch: str = ""
    """`F` is `torch.nn.functional`.  A name that begins with `torch.` takes `out=`."""
    torch_stage: str = ""
    """The torch call for a stage, where `torch` loses digits, takes no `out=`, or has other values
    at infinities and NaN; otherwise empty."""
    triton: str = ""
    """A form that compiles and that Triton's interpreter runs; a NaN passes through.  `{zero}` and
    `{one}` are literals of the type computed in."""
    triton_float32: str = ""
    """The form in float32, if another one is needed to keep all digits."""
    triton_whole: str = ""
    """The form for integers, if another one is needed."""
    triton_helper: Helper | None = None
    """The function `_name` that `triton` calls."""
    triton_needs: tuple[str, ...] = ()
    """Other functions whose helpers this one calls."""

    def __post_init__(self) -> None:
        usual = {
            "latex": rf"\operatorname{{{self.name}}}",
            "torch": f"torch.{self.name}",
            "triton": f"tl.{self.name}({{0}})",
        }
        for spelling, text in usual.items():
            if not getattr(self, spelling):
                object.__setattr__(self, spelling, text)

    def torch_call(self, *operands: str) -> str:
        """The call as a line of torch."""
        text = self.torch
        if not self.arity:
            return text
        given = ", ".join(operands[: self.arity])
        return text.format(*operands) if "(" in text else f"{text}({given})"

    @cached_property
    def on_rationals(self) -> Callable[..., Any] | None:
        """The value at rational or infinite operands, if it is known there."""
        return self.exact or self.pieces

    @cached_property
    def ordered(self) -> bool:
        """Whether the value depends on the order of real numbers, so that it has no complex
        operands: comparisons, pieces without a complex meaning, jumps, remainders."""
        pieces = self.pieces is not None and self.complex_ball is None
        compares = self.truth and self.arity == 2 and not self.symmetric
        return pieces or compares or self.steps or (self.divides and self.whole)

    @cached_property
    def keeps_integers(self) -> bool:
        """Whether the value is an integer if all operands are."""
        return self.whole or self.truth or self.picks or self.pieces is not None

    @cached_property
    def constant(self) -> float | complex | None:
        """The value of a function without operands, rounded."""
        return None if self.arity else 1j if self.imaginary else float(self.real())

    @cached_property
    def finite_at_numbers(self) -> bool:
        """Whether the value is a number for all numbers as operands."""
        total = self.domain is None and not self.divides and not self.partial
        return total and self.constant == self.constant

    @cached_property
    def hides(self) -> tuple[bool, ...]:
        """For each operand, whether the value is some number where the operand is NaN, and another
        one where it is a number: `x < 0` and `finite(x)`, but not `hypot(x, inf)`."""
        found = []
        for place in range(self.arity):
            values: dict[tuple[float, ...], list[complex]] = {}
            for operands in product((math.nan, *TRIED), repeat=self.arity):
                others = (*operands[:place], *operands[place + 1 :])
                with np.errstate(all="ignore"):
                    value = complex(self.real(*map(np.float64, operands)))
                values.setdefault(others, []).append(value)
            found.append(any(of[0] == of[0] and _differ(of) for of in values.values()))
        return tuple(found)

    @cached_property
    def compares(self) -> bool:
        """Whether the function is continuous and its value follows from the sign of a number."""
        return self.pieces is not None and self.pieces.continuous

    @cached_property
    def bounded(self) -> bool:
        """Whether the value cannot overflow for finite operands: no value exceeds all operands, or
        a fixed number."""
        chooses = self.pieces is not None and self.pieces.chooses
        return chooses or self.range is not None


@dataclass(frozen=True)
class Reduction:
    """A reducer of the notation.  It is associative and commutative.

    `order` is 1 for the greatest number, -1 for the least number, and 0 for the sum and the
    product, the operations of the ring, whose laws the algebra is built on.
    """

    name: str
    about: str
    identity: Fraction | float
    """The value of a reduction over an empty range."""
    order: Literal[-1, 0, 1]
    ufunc: np.ufunc
    latex: str
    torch: str
    """The torch function of two tensors, which takes `out=`."""
    torch_reduce: str
    """The reduction of the tensor `x` over its last dimensions `axes`; `dtype` is the type to
    compute in."""
    torch_repeat: str
    """The reduction of `n` copies of the tensor `x`."""
    torch_scatter: str
    """The reduction, as `Tensor.scatter_reduce_` calls it."""
    triton: str
    """The reduction of two values; if one of them is NaN, it is NaN."""
    opposite: str = ""
    """For max and min: the reducer r with -r(a) = this(-a)."""
    spellings: tuple[str, ...] = ()
    """Its spellings in a scope's binder, besides its name.  The first is printed."""


def _differ(values: Sequence[complex]) -> bool:
    """Whether some number among them is another one than the first."""
    return any(value == value != values[0] for value in values)
