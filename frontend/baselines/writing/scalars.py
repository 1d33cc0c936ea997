"""Scalar expressions as torch expressions on broadcast tensors.

    (A[i,k] - B[j,k])^2 over (i, j, k)   ->   (A[:, None] - B) ** 2

Every read is aligned to the same order of iterators, so that operands broadcast as they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import isfinite, isinf, prod

import torch

from einderive.eops.torch_views.types import real_scalar
from einderive.frontend.baselines.writing import idioms
from einderive.frontend.baselines.writing.views import aligned, view
from einderive.frontend.baselines.writing.writer import NotWritten, Writer, grouped
from einderive.ta.exact.fields import RealField, rounded
from einderive.ta.exact.interp import evaluate_at
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Condition,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Scope,
    Select,
)
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, children, substitute, walk

SUM, PRODUCT, TIGHT = 0, 1, 2
"""What binds how: `a + b`, `a * b`, and what needs no parentheses anywhere."""

MOST_MASK = 1 << 24


class Scalars:
    """Expressions over the box `domain`, aligned to the iterators `dims`."""

    def __init__(self, domain: Sequence[Range], dims: Sequence[int], writer: Writer) -> None:
        self.domain, self.dims, self.writer = domain, tuple(dims), writer
        self._known: dict[Node, str] = {}
        self._uses: dict[Node, int] = {}

    def text(self, node: Node) -> str:
        """The expression, and lines before it for sub-terms that occur twice."""
        if not accesses(node):
            raise NotWritten("a stage of constants")
        for parent in walk(node):
            for child in children(parent):
                self._uses[child] = self._uses.get(child, 0) + 1
        return self._truth(node) if _is_truth(node) else self._written(node)[0]

    def _loose(self, node: Node, least: int) -> str:
        """In parentheses where it binds less than that."""
        text, binds = self._written(node)
        return f"({text})" if binds < least else text

    def _written(self, node: Node) -> tuple[str, int]:
        known = self._known.get(node)
        if known is not None:
            return known, TIGHT
        if _is_truth(node):
            return f"{grouped(self._truth(node))}.to({self._type()})", TIGHT
        if isinstance(node, Access):
            if node.source is INDEX:
                return self._position(node.rows[0]), TIGHT
            return self._read(node), TIGHT
        if isinstance(node, Const):
            return _number(node.value), TIGHT
        if not node.free and not accesses(node):
            return _value(node), TIGHT
        self.writer.needs(prod(self.domain[i].extent for i in affine.bits(node.free)))
        text, binds = self._operation(node)
        if self._uses.get(node, 0) > 1:
            text, binds = self.writer.line(text), TIGHT
            self._known[node] = text
        return text, binds

    def _read(self, node: Access) -> str:
        if node not in self._known:
            self._known[node] = aligned(view(node, self.domain, self.writer), self.dims)
        return self._known[node]

    def _type(self) -> str:
        """The floating type of the operands."""
        return f"torch.{self.writer.inputs[0].dtype}"

    def _truth(self, node: Node) -> str:
        """A tensor of bools: where the value is not 0."""
        if not _is_truth(node):
            return f"{self._tensor(node)} != 0"
        if isinstance(node, Access):
            return self._read(node)
        assert isinstance(node, Apply)
        known = FUNCTIONS[node.function]
        if not known.infix:
            return known.torch_call(*map(self._tensor, node.args))
        left, right = (self._loose(arg, SUM) for arg in node.args)
        return f"{left} {known.infix} {right}"

    def _choice(self, node: Apply) -> str:
        condition, *values = node.args
        texts = [self._loose(value, SUM) for value in values]
        if all(isinstance(value, Const) for value in values):
            texts[0] = f"torch.tensor({texts[0]}, dtype={self._type()})"
        return f"torch.where({self._truth(condition)}, {', '.join(texts)})"

    def _operation(self, node: Node) -> tuple[str, int]:
        if (whole := self._recognised(node)) is not None:
            return whole, TIGHT
        if not self.writer.strict and (idiom := idioms.find(node)) is not None:
            places = {
                name: f"{rounded(place.value)!r}"
                if isinstance(place, Const)
                else self._tensor(place)
                for name, place in idiom.places.items()
            }
            return idiom.text.format(**places), TIGHT
        if not self.writer.strict and isinstance(node, Add | Mul):
            binds, sign = (SUM, "+") if isinstance(node, Add) else (PRODUCT, "*")
            if (parts := idioms.within(node)) is not None:
                return f" {sign} ".join(self._loose(part, PRODUCT) for part in parts), binds
        match node:
            case Add():
                return self._add(node), SUM
            case Mul():
                return self._mul(node), PRODUCT
            case Power():
                return self._power(node)
            case Apply():
                return self._apply(node), TIGHT
            case Select():
                mask = self._mask(node.conditions)
                then, otherwise = (self._loose(n, SUM) for n in (node.then, node.otherwise))
                return f"torch.where({mask}, {then}, {otherwise})", TIGHT
        raise NotWritten("no scalar expression")

    def _is_idiom(self, node: Node) -> bool:
        return not self.writer.strict and idioms.find(node) is not None

    def _recognised(self, node: Node) -> str | None:
        """A sub-term over these iterators that is a library's operation together with what it
        reads."""
        held = affine.bits(node.free)
        if held != self.dims or not any(isinstance(r.source, Scope) for r in accesses(node)):
            return None
        places = [
            affine.iterator(held.index(i) if i in held else 0) for i in range(len(self.domain))
        ]
        scope = make_scope([self.domain[i] for i in held], (), substitute(node, places))
        if not held or scope.sums:
            return None
        found = self.writer.recognised(scope)
        if found is None:
            return None
        self.writer.words.append(found.word)
        return found.text

    def _tensor(self, node: Node) -> str:
        if not accesses(node):
            raise NotWritten("a number where a tensor is expected")
        return self._loose(node, SUM)

    def _add(self, node: Add) -> str:
        pairs: list[tuple[Number, Node]] = [
            (Fraction(1), term) if self._is_idiom(term) else _parts(term) for term in node.terms
        ]
        pairs.sort(key=lambda pair: (isinstance(pair[1], Const), pair[0] < 0))
        text = ""
        for coefficient, core in pairs:
            negative = coefficient < 0
            term = self._scaled(-coefficient if negative else coefficient, core)
            if not text:
                text = f"-{term}" if negative else term
            else:
                text += f" {'-' if negative else '+'} {term}"
        return text

    def _scaled(self, coefficient: Number, core: Node) -> str:
        if isinstance(core, Const):
            return _number(coefficient)
        if coefficient == 1:
            return self._loose(core, PRODUCT)
        if (divisor := _divisor(coefficient)) is not None:
            return f"{self._loose(core, PRODUCT)} / {divisor}"
        return f"{_number(coefficient)} * {self._loose(core, PRODUCT)}"

    def _mul(self, node: Mul) -> str:
        coefficient, core = _parts(node)
        factors = core.factors if isinstance(core, Mul) else (core,)
        below = [f for f in factors if isinstance(f, Power) and f.exponent < 0]
        above = [f for f in factors if f not in below]
        above.sort(key=lambda f: prod(self.domain[i].extent for i in affine.bits(f.free)))
        divisor = _divisor(-coefficient if coefficient < 0 else coefficient)
        parts = [self._loose(factor, PRODUCT) for factor in above]
        negative = bool(parts) and (coefficient == -1 or (divisor is not None and coefficient < 0))
        if (abs(coefficient) != 1 and divisor is None) or (coefficient == -1 and not negative):
            parts.insert(0, _number(coefficient))
        text = ("-" if negative else "") + (" * ".join(parts) or "1")
        if divisor is not None:
            text += f" / {divisor}"
        for factor in below:
            base = self._loose(factor.base, TIGHT)
            text += f" / {base}" if factor.exponent == -1 else f" / {base} ** {-factor.exponent}"
        return text

    def _power(self, node: Power) -> tuple[str, int]:
        base = self._loose(node.base, TIGHT)
        if node.exponent == -1:
            return f"1 / {base}", PRODUCT
        return f"{base} ** {node.exponent}", PRODUCT

    def _apply(self, node: Apply) -> str:
        known = FUNCTIONS[node.function]
        if known.picks:
            return self._choice(node)
        if known.reducer:
            return self._extreme(node)
        return known.torch_call(*map(self._tensor, node.args))

    def _position(self, row: Row) -> str:
        """The row's values, a constant made beforehand, over the iterators that it holds."""
        held = affine.iterators(row)
        if prod(self.domain[i].extent for i in held) > MOST_MASK:
            raise NotWritten("many values of iterators")
        found = torch.as_tensor(over(row, self.domain, self.dims))
        for i in self.dims[:-1]:
            if i in held:
                break
            found = found[0]
        return self.writer.constant(found)

    def _extreme(self, node: Apply) -> str:
        """`clamp` where a bound is a number, both bounds at once where both are."""
        bound, inner = _bound(node)
        if bound is None or inner is None:
            parts = ", ".join(self._tensor(arg) for arg in node.args)
            return f"torch.{node.function}({parts})"
        limits = [(node.function, bound)]
        if isinstance(inner, Apply) and FUNCTIONS[inner.function].reducer:
            other, below = _bound(inner)
            ordered = other is not None and (other <= bound) == (
                FUNCTIONS[inner.function].reducer == "max"
            )
            if (
                inner.function != node.function
                and ordered
                and below is not None
                and other is not None
            ):
                limits.append((inner.function, other))
                inner = below
        words = {name: REDUCERS[FUNCTIONS[name].reducer].opposite for name, _ in limits}
        given = ", ".join(f"{words[name]}={_number(value)}" for name, value in sorted(limits))
        return f"torch.clamp({self._tensor(inner)}, {given})"

    def _mask(self, conditions: Sequence[Condition]) -> str:
        """The conditions as a mask made beforehand, over the iterators that they hold."""
        held = sorted({i for c in conditions for i in affine.iterators(c.row)})
        if prod(self.domain[i].extent for i in held) > MOST_MASK:
            raise NotWritten("a large mask")
        mask = reduce(
            torch.logical_and, (condition_mask(c, self.domain, self.dims) for c in conditions)
        )
        for i in self.dims[:-1]:
            if i in held:
                break
            mask = mask[0]
        return self.writer.constant(mask)


def condition_mask(
    condition: Condition, domain: Sequence[Range], dims: Sequence[int]
) -> torch.Tensor:
    value = torch.as_tensor(over(condition.row, domain, dims))
    return value >= 0 if condition.relation == ">=" else value == 0


def over(row: Row, domain: Sequence[Range], dims: Sequence[int]) -> torch.Tensor | int:
    """The row's values, with a dimension for each of `dims`."""

    def value_of(i: int) -> torch.Tensor:
        shape = [-1 if k == i else 1 for k in dims]
        return torch.arange(*domain[i]).reshape(shape)

    found: torch.Tensor | int = affine.evaluate(row, value_of)
    return found


def _is_truth(node: Node) -> bool:
    """Whether torch has the node as a tensor of bools."""
    if isinstance(node, Apply):
        return FUNCTIONS[node.function].truth
    if isinstance(node, Access) and isinstance(node.source, Scope):
        return not node.source.sums and _is_truth(node.source.body)
    return False


def _value(node: Node) -> str:
    """What reads nothing, as a number."""
    found = float(evaluate_at(make_scope((), (), node), [[]], {}, RealField())[0])
    if not isfinite(found):
        raise NotWritten("a constant that is no number")
    return repr(found)


def _bound(node: Apply) -> tuple[Number | None, Node | None]:
    """The number and the other operand of a maximum or minimum."""
    left, right = node.args
    if isinstance(left, Const):
        return left.value, right
    return (right.value, left) if isinstance(right, Const) else (None, None)


def _parts(node: Node) -> tuple[Number, Node]:
    found: tuple[Number, Node] = split_coefficient(node)
    return found


def _divisor(coefficient: Number) -> str | None:
    """The n of a coefficient 1/n that is none of a few decimals."""
    if isinstance(coefficient, Fraction) and coefficient.numerator == 1 < coefficient.denominator:
        return str(coefficient.denominator)
    return None


def _number(value: Number) -> str:
    if isinf(rounded(value)):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, Fraction) and value.denominator == 1 and abs(value) < 1 << 31:
        return str(value.numerator)
    return repr(real_scalar(value, torch.float64))
