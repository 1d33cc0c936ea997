"""Scalar expressions as torch expressions on broadcast tensors.

    (A[i,k] - B[j,k])^2 over (i, j, k)   ->   (A[:, None] - B) ** 2

Every read is aligned to the same order of iterators, so that operands broadcast as they stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from fractions import Fraction
from functools import reduce
from math import prod

import torch

from einderive.frontend.baselines.writing import constants, idioms
from einderive.frontend.baselines.writing.kinds import Kind, stays_whole
from einderive.frontend.baselines.writing.views import View, aligned, view
from einderive.frontend.baselines.writing.writer import NotWritten, Writer, is_narrow
from einderive.ta.exact.fields import rounded
from einderive.ta.facts.differences import bracketed
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine, expr
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
from einderive.ta.ir.subst import accesses, branches, children, substitute, walk

LOGIC, SUM, PRODUCT, TIGHT = 0, 1, 2, 3
"""Levels of binding: `a < b` and `a & b`, `a + b`, `a * b`, and expressions that need no
parentheses."""

NEGATIONS = {"equal": "~", "not_equal": ""}
"""The sign before a truth value that is compared with 0."""
MOST_MASK = 1 << 24


class Scalars:
    """Expressions over the box `domain`, aligned to the iterators `dims`, as tensors of a kind: all
    but what is compared, and conditions, is taken to that kind where it is read."""

    def __init__(
        self, domain: Sequence[Range], dims: Sequence[int], writer: Writer, kind: Kind = Kind.FLOAT
    ) -> None:
        self.domain, self.dims, self.writer, self.kind = domain, tuple(dims), writer, kind
        self._known: dict[Node, str] = {}
        self._uses: Counter[Node] = Counter()
        self._others: dict[Kind, Scalars] = {kind: self}

    def text(self, node: Node) -> str:
        """The expression, and lines before it for sub-terms that occur twice."""
        if not accesses(node):
            raise NotWritten("a stage of constants")
        self._uses.update(child for parent in walk(node) for child in children(parent))
        return self._written(node)[0]

    def _of(self, node: Node) -> Kind:
        return self.writer.kinds.of(node)

    def _of_kind(self, kind: Kind) -> Scalars:
        """The same expressions as tensors of another kind."""
        if kind not in self._others:
            other = Scalars(self.domain, self.dims, self.writer, kind)
            other._uses, other._others = self._uses, self._others
            self._others[kind] = other
        return self._others[kind]

    def _loose(self, node: Node, least: int) -> str:
        """The text, in parentheses if it binds less than that."""
        text, binds = self._written(node)
        return f"({text})" if binds < least else text

    def _written(self, node: Node) -> tuple[str, int]:
        known = self._known.get(node)
        if known is not None:
            return known, TIGHT
        if isinstance(node, Const):
            return constants.number(node.value, self.kind), TIGHT
        if not node.free and not accesses(node):
            return constants.number(constants.value_of(node), self.kind), TIGHT
        if isinstance(node, Access):
            if node.source is INDEX:
                return self._position(node.rows[0]), TIGHT
            return self._read(node), TIGHT
        self.writer.needs(prod(self.domain[i].extent for i in affine.bits(node.free)))
        text, binds = self._operation(node)
        if self._uses[node] > 1:
            text, binds = self.writer.line(text), TIGHT
            self._known[node] = text
        return text, binds

    def _read(self, node: Access) -> str:
        if node not in self._known:
            found = view(node, self.domain, self.writer, self.kind)
            self._known[node] = aligned(found, self.dims)
        return self._known[node]

    def _truth(self, node: Node, least: int = LOGIC) -> str:
        """A tensor of bools: where the value is not 0."""
        kind = self._of(node)
        if not node.free and not accesses(node):
            return self.writer.constant(torch.tensor(constants.value_of(node) != 0))
        if kind is Kind.TRUTH:
            return self._of_kind(kind)._loose(node, least)
        text = f"{self._of_kind(kind)._tensor(node)} != 0"
        return f"({text})" if least > LOGIC else text

    def _chosen(self, node: Node) -> tuple[str, Node, Node]:
        """The condition and the two terms of a choice; one condition for choices in one another
        that share a term."""
        condition, (then, other) = self._condition(node), branches(node)
        while True:
            if (inner := branches(then)) and inner[1] is other:
                condition, then = f"({condition} & {self._condition(then)})", inner[0]
            elif (inner := branches(other)) and inner[0] is then:
                condition, other = f"({condition} | {self._condition(other)})", inner[1]
            else:
                return condition, then, other

    def _condition(self, node: Node) -> str:
        if isinstance(node, Select):
            return self._mask(node.conditions)
        assert isinstance(node, Apply)
        return self._truth(node.args[0], TIGHT)

    def _choice(self, node: Node) -> str:
        condition, *terms = self._chosen(node)
        texts = [self._loose(term, SUM) for term in terms]
        if not any(map(accesses, terms)):
            texts[0] = f"torch.tensor({texts[0]}, dtype={self.writer.type_of(self.kind)})"
        return f"torch.where({constants.bare(condition)}, {', '.join(texts)})"

    def _logic(self, node: Node) -> tuple[str, int]:
        """A condition, as bools."""
        if branches(node):
            return self._chosen_truth(node)
        assert isinstance(node, Apply)
        known, args = FUNCTIONS[node.function], node.args
        if known.reducer:
            word = "|" if REDUCERS[known.reducer].order > 0 else "&"
            return f" {word} ".join(self._truth(arg, TIGHT) for arg in args), LOGIC
        kind = self.writer.kinds.together(args)
        if kind is Kind.TRUTH and expr.const(0) in args and node.function in NEGATIONS:
            text = self._truth(next(a for a in args if a is not expr.const(0)), TIGHT)
            return NEGATIONS[node.function] + text, TIGHT
        operands = self._of_kind(kind)
        if known.infix:
            left, right = (operands._loose(arg, SUM) for arg in args)
            return f"{left} {known.infix} {right}", LOGIC
        return known.torch_call(*map(operands._tensor, args)), TIGHT

    def _chosen_truth(self, node: Node) -> tuple[str, int]:
        condition, then, other = self._chosen(node)
        if not isinstance(then, Const) and not isinstance(other, Const):
            terms = ", ".join(self._truth(term) for term in (then, other))
            return f"torch.where({constants.bare(condition)}, {terms})", TIGHT
        if expr.const(0) is then or expr.const(1) is other:
            condition = f"~{condition}"
        if isinstance(then, Const) and isinstance(other, Const):
            return condition, TIGHT
        word, term = ("|", other) if isinstance(then, Const) else ("|", then)
        if expr.const(0) in (then, other):
            word = "&"
        return f"{condition} {word} {self._truth(term, TIGHT)}", LOGIC

    def _operation(self, node: Node) -> tuple[str, int]:
        if (whole := self._recognised(node)) is not None:
            return whole, TIGHT
        kind = self._of(node)
        beside = kind is Kind.WHOLE and self.kind is Kind.FLOAT
        if beside and stays_whole(node, self.domain, self.writer.floating):
            return self.writer.cast(self._of_kind(kind)._loose(node, SUM), self.kind), TIGHT
        if kind is Kind.TRUTH:
            if self.kind is kind:
                return self._logic(node)
            return self.writer.cast(self._truth(node), self.kind), TIGHT
        idioms_apply = self.kind is Kind.FLOAT and not self.writer.strict
        if idioms_apply and (idiom := idioms.find(node)) is not None:
            places = {
                name: f"{rounded(place.value)!r}"
                if isinstance(place, Const)
                else self._tensor(place)
                for name, place in idiom.places.items()
            }
            return idiom.text.format(**places), TIGHT
        if idioms_apply and isinstance(node, Add | Mul):
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
                return self._choice(node), TIGHT
        raise NotWritten("no scalar expression")

    def _is_idiom(self, node: Node) -> bool:
        apply = self.kind is Kind.FLOAT and not self.writer.strict
        return apply and idioms.find(node) is not None

    def _recognised(self, node: Node) -> str | None:
        """A sub-term that is a library's operation together with what it reads."""
        held = affine.bits(node.free)
        if not held or not any(isinstance(r.source, Scope) for r in accesses(node)):
            return None
        places = [
            affine.iterator(held.index(i) if i in held else 0) for i in range(len(self.domain))
        ]
        scope = make_scope([self.domain[i] for i in held], (), substitute(node, places))
        if scope.sums:
            return None
        found = self.writer.recognised(scope)
        if found is None:
            return None
        self.writer.words.append(found.word)
        text = aligned(View(found.text, held), self.dims)
        return self.writer.cast(text, self.kind) if self._of(scope) < self.kind else text

    def _tensor(self, node: Node) -> str:
        if not accesses(node):
            raise NotWritten("a number where a tensor is expected")
        return self._loose(node, SUM)

    def _add(self, node: Add) -> str:
        pairs: list[tuple[Number, Node]] = [
            (Fraction(1), term) if self._is_idiom(term) else split_coefficient(term)
            for term in bracketed(node).terms
        ]
        pairs.sort(key=lambda pair: (isinstance(pair[1], Const), pair[0] < 0))
        text, floats = "", self._is_float(pairs[0][1])
        for coefficient, core in pairs:
            negative = coefficient < 0
            whole = self._of(core) is Kind.WHOLE and coefficient == -1
            alone = floats and (coefficient == 1 or whole)
            term = (self._as_it_is(core) if alone else None) or self._scaled(
                -coefficient if negative else coefficient, core
            )
            if not text:
                text = f"-{term}" if negative else term
            else:
                text += f" {'-' if negative else '+'} {term}"
        return text

    def _scaled(self, coefficient: Number, core: Node) -> str:
        if isinstance(core, Const):
            return constants.number(coefficient, self.kind)
        if coefficient == 1:
            return self._loose(core, PRODUCT)
        if (below := constants.divisor(coefficient)) is not None:
            return f"{self._loose(core, PRODUCT)} / {below}"
        return f"{constants.number(coefficient, self.kind)} * {self._loose(core, PRODUCT)}"

    def _mul(self, node: Mul) -> str:
        coefficient, core = split_coefficient(node)
        factors = core.factors if isinstance(core, Mul) else (core,)
        below = [f for f in factors if isinstance(f, Power) and f.exponent < 0]
        above = [f for f in factors if f not in below]
        above.sort(key=lambda f: prod(self.domain[i].extent for i in affine.bits(f.free)))
        parted = constants.divisor(-coefficient if coefficient < 0 else coefficient)
        first = next((k for k, factor in enumerate(above) if self._is_float(factor)), len(above))
        early = 0 if first == 1 and coefficient == 1 else first + 1
        parts = [
            (self._as_it_is(factor) if k >= early else None) or self._loose(factor, PRODUCT)
            for k, factor in enumerate(above)
        ]
        negative = bool(parts) and (coefficient == -1 or (parted is not None and coefficient < 0))
        if (abs(coefficient) != 1 and parted is None) or (coefficient == -1 and not negative):
            parts.insert(0, constants.number(coefficient, self.kind))
        text = ("-" if negative else "") + (" * ".join(parts) or "1")
        if parted is not None:
            text += f" / {parted}"
        for factor in below:
            whole = self._as_it_is(factor.base) if first < len(above) else None
            base = whole or self._loose(factor.base, TIGHT)
            text += f" / {base}" if factor.exponent == -1 else f" / {base} ** {-factor.exponent}"
        return text

    def _is_float(self, node: Node) -> bool:
        """Whether it is a tensor of floats with dimensions, in whose type torch computes with whole
        numbers and bools."""
        return self._of(node) is Kind.FLOAT and bool(node.free) and bool(accesses(node))

    def _as_it_is(self, node: Node) -> str | None:
        """Whole numbers or bools that need no conversion beside such floats: a read, or a
        comparison."""
        kind = self._of(node)
        if self.kind is not Kind.FLOAT or kind is Kind.FLOAT or not accesses(node):
            return None
        if isinstance(node, Access) and node.source is not INDEX:
            return None if is_narrow(node.source) else self._of_kind(kind)._read(node)
        return self._truth(node, TIGHT) if kind is Kind.TRUTH and node.free else None

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
        return known.torch_call(*(self._argument(node, place) for place in range(known.arity)))

    def _argument(self, node: Apply, place: int) -> str:
        """An operand of a function: a number as such where torch takes one there."""
        arg = node.args[place]
        if accesses(arg):
            return self._loose(arg, SUM)
        if arg.free:
            raise NotWritten("a condition alone as an operand")
        if constants.takes_numbers(node.function, place):
            return self._loose(arg, SUM)
        dtype = getattr(torch, self.writer.floating)
        return self.writer.constant(torch.tensor(float(constants.value_of(arg)), dtype=dtype))

    def _position(self, row: Row) -> str:
        """The row's values, a constant made beforehand, over the iterators that it holds."""
        held = affine.iterators(row)
        if prod(self.domain[i].extent for i in held) > MOST_MASK:
            raise NotWritten("many values of iterators")
        dtype = getattr(torch, self.writer.floating if self.kind is Kind.FLOAT else "int64")
        found = torch.as_tensor(constants.over(row, self.domain, self.dims), dtype=dtype)
        return self._constant(found, held)

    def _extreme(self, node: Apply) -> str:
        """`clamp` where a bound is a number, both bounds at once where both are."""
        bound, inner = constants.bound_of(node)
        if bound is None or inner is None:
            parts = ", ".join(self._tensor(arg) for arg in node.args)
            return f"torch.{node.function}({parts})"
        limits = [(node.function, bound)]
        if isinstance(inner, Apply) and FUNCTIONS[inner.function].reducer:
            other, below = constants.bound_of(inner)
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
        given = ", ".join(
            f"{words[name]}={constants.number(value, self.kind)}" for name, value in sorted(limits)
        )
        return f"torch.clamp({self._tensor(inner)}, {given})"

    def _mask(self, conditions: Sequence[Condition]) -> str:
        """The conditions as a mask made beforehand, over the iterators that they hold."""
        held = sorted({i for c in conditions for i in affine.iterators(c.row)})
        if prod(self.domain[i].extent for i in held) > MOST_MASK:
            raise NotWritten("a large mask")
        mask = reduce(
            torch.logical_and,
            (constants.condition_mask(c, self.domain, self.dims) for c in conditions),
        )
        return self._constant(mask, held)

    def _constant(self, values: torch.Tensor, held: Container[int]) -> str:
        """The values without the first dimensions, as far as these are not held."""
        for i in self.dims[:-1]:
            if i in held:
                break
            values = values[0]
        return self.writer.constant(values)
