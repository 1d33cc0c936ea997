"""The printer: scalar expressions, reads and scopes as text, with names for their iterators.

Nodes hold no iterator names: names come from the reader of a scope, from hints, else from a fixed
pool.  `ta.printing.show` is the public face.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import expr
from einderive.ta.ir import node as ir
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.names import Namer
from einderive.ta.ir.positions import INDEX, is_position
from einderive.ta.ir.program import Hints
from einderive.ta.ir.subst import accesses, branches, factors_of
from einderive.ta.printing.marks import SIGNS, condition_text, number, row_text

Style = Literal["scopes", "reducers", "einstein"]
"""The form of a nested reduction: `{S[k:0:8] ...}[i]`, `sum[k](...)`, or by the convention."""

NO_HINTS: Hints = MappingProxyType({})
COMPARISON, SUM, PRODUCT, POWER, ATOM = range(5)
"""Binding strength of a text."""
Shown = tuple[str, int]
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True, slots=True)
class Frame:
    """The iterators of the scope that is being shown, by position, and all names visible here.
    `implicit` tells whether the Einstein convention may sum here."""

    names: tuple[str, ...]
    ranges: tuple[Range, ...]
    visible: Set[str]
    implicit: bool = True

    def explicit(self) -> Frame:
        return Frame(self.names, self.ranges, self.visible, implicit=False)


@dataclass(eq=False)
class Printer:
    """Shows the parts of one text; a scope in `named` is shown as its name."""

    namer: Namer
    hints: Hints
    unicode: bool = False
    style: Style = "scopes"
    named: Mapping[ir.Scope, str] = field(default_factory=dict)
    _wanted: dict[tuple[ir.Scope, int], tuple[str, ...]] = field(default_factory=dict)

    def scope(self, scope: ir.Scope, inherited: Sequence[str | None], visible: Set[str]) -> str:
        """`{L[...] S[...] body}`; a loop takes the inherited name where there is one."""
        names = self.names_of(scope, inherited, visible)
        first = len(scope.loops)
        style, self.style = self.style, "scopes"  # what is inside is spelled out as well
        body, _ = self.scalar(scope.body, Frame(names, scope.domain, visible | set(names)))
        self.style = style
        spellings = REDUCERS[scope.reducer].spellings or (scope.reducer,)
        reducer = spellings[-1] if self.unicode else spellings[0]
        loops = _binder("L", names[:first], scope.loops)
        return f"{{{loops}{_binder(reducer, names[first:], scope.sums)}{body}}}"

    def names_of(
        self, scope: ir.Scope, inherited: Sequence[str | None], visible: Set[str]
    ) -> tuple[str, ...]:
        """Names for all iterators of a scope."""
        names: list[str] = []
        kept = {name for name in inherited if name is not None}
        for position, bound in enumerate(scope.domain):
            name = inherited[position] if position < len(inherited) else None
            if name is None or name in names or name in self.namer.excluded:
                hidden = kept | set(names) | visible
                name = self.namer.choose(bound, hidden, self.wanted(scope, position))
            self.namer.ranges.setdefault(name, bound)
            names.append(name)
        return tuple(names)

    def wanted(self, scope: ir.Scope, position: int) -> tuple[str, ...]:
        """The hinted names of an iterator: where it stands alone in a tensor's dimension, also
        through the scopes that are read; of a reduction's iterator also where it is a part of an
        index."""
        key = (scope, position)
        if key not in self._wanted:
            found: dict[str, None] = {}
            for access in accesses(scope.body):
                for dimension, row in enumerate(access.rows):
                    if row.lone != position:
                        if position >= len(scope.loops) and row.coefficient(position):
                            found |= dict.fromkeys(self._part(access.source, dimension))
                        continue
                    if isinstance(access.source, ir.Scope):
                        found |= dict.fromkeys(self.wanted(access.source, dimension))
                    elif (hint := self.hints.get((access.source.name, dimension))) is not None:
                        found[hint] = None
            self._wanted[key] = tuple(found)
        return self._wanted[key]

    def _part(self, source: ir.Source, dimension: int) -> Iterator[str]:
        if isinstance(source, ir.Tensor) and (source.name, ~dimension) in self.hints:
            yield self.hints[source.name, ~dimension]

    def scalar(self, node: ir.Node, frame: Frame) -> Shown:
        """A scalar expression and how tightly it binds."""
        match node:
            case ir.Const():
                return self._const(node.value)
            case ir.Access():
                return self.access(node, frame)
            case ir.Apply():
                return self._apply(node, frame.explicit())
            case ir.Power():
                return self._raised(node.base, node.exponent, frame), POWER
            case ir.Mul():
                return self._product(node, frame)
            case ir.Add():
                return self._sum(node, frame), SUM
            case ir.Select():
                return self._where(node, frame.explicit()), ATOM
        raise TypeError(f"{type(node).__name__} is not a scalar expression")

    def _apply(self, node: ir.Apply, frame: Frame) -> Shown:
        known = FUNCTIONS[node.function]
        if known.picks:
            return self._where(node, frame), ATOM
        args = [self.scalar(arg, frame) for arg in node.args]
        if known.infix and not all(map(_reads_as_index, node.args)):
            sign = SIGNS.get(known.infix, known.infix) if self.unicode else known.infix
            return f" {sign} ".join(_bracketed(arg, SUM) for arg in args), COMPARISON
        listed = f"({', '.join(text for text, _ in args)})" if args else ""
        return node.function + listed, ATOM

    def _where(self, node: ir.Node, frame: Frame) -> str:
        """`where(i < j and A[i] < B[j], a, b)`: one for choices within each other that share `b`,
        but for a select in a select, which reads back as one."""
        tests: list[str] = []
        last, otherwise = node, branches(node)[1]
        while branches(node)[1:] == (otherwise,):
            if isinstance(node, ir.Select):
                if tests and isinstance(last, ir.Select):
                    break
                tests += [condition_text(c, frame.names, self.unicode) for c in node.conditions]
            elif isinstance(node, ir.Apply):
                tests.append(self.scalar(node.args[0], frame)[0])
            last, node = node, branches(node)[0]
        texts = [self.scalar(value, frame)[0] for value in (node, otherwise)]
        return f"where({' and '.join(tests)}, {', '.join(texts)})"

    def access(self, access: ir.Access, frame: Frame) -> Shown:
        """A read of a tensor, or of a scope in one of its spellings."""
        source: ir.Source = access.source
        if source is INDEX:
            return _position(access.rows[0], frame)
        reduces = self.style != "scopes" and is_reduction(access, frame.ranges)
        if reduces and isinstance(source, ir.Scope):
            loops = tuple(frame.names[row.lone or 0] for row in access.rows)
            text = self.reduction(source, loops, frame)
            if text is not None:
                return text
        if isinstance(source, ir.Tensor) or source in self.named:
            text_of_source = source.name if isinstance(source, ir.Tensor) else self.named[source]
            if not access.rows and access.fill == 0:
                return text_of_source, ATOM
        else:
            inherited = [None if r.lone is None else frame.names[r.lone] for r in access.rows]
            text_of_source = self.scope(source, inherited, frame.visible)
        fill = f"{{fill={number(access.fill)}}}" if access.fill != 0 else ""
        rows = ",".join(row_text(row, frame.names) for row in access.rows)
        return f"{text_of_source}{fill}[{rows}]", ATOM

    def reduction(self, scope: ir.Scope, loops: tuple[str, ...], frame: Frame) -> Shown | None:
        """A scope with loops of these names as `sum[k](...)` or by the convention."""
        names = self.names_of(scope, loops, frame.visible)
        if names[: len(loops)] != loops:
            return None
        inner = Frame(names, scope.domain, frame.visible | set(names), frame.implicit)
        shown = self.scalar(scope.body, inner)
        if self.style == "einstein" and frame.implicit and implies_sum(scope):
            return shown[0], PRODUCT
        sums = ",".join(names[len(loops) :])
        return f"{scope.reducer}[{sums}]({shown[0]})", ATOM

    def _const(self, value: ir.Number) -> Shown:
        text = number(value)
        return text, SUM if value < 0 else PRODUCT if "/" in text else ATOM

    def _raised(self, base: ir.Node, exponent: int, frame: Frame) -> str:
        text = _bracketed(self.scalar(base, frame.explicit()), ATOM)
        if exponent == 1:
            return text
        return text + (str(exponent).translate(_SUPERSCRIPTS) if self.unicode else f"^{exponent}")

    def _sum(self, node: ir.Add, frame: Frame) -> str:
        text = ""
        for term in node.terms:
            if text and isinstance(term, ir.Mul) and term.factors[:-1] == (expr.const(-1),):
                text += f" - {_bracketed(self.scalar(term.factors[-1], frame), PRODUCT)}"
                continue
            shown = _bracketed(self.scalar(term, frame), SUM)
            if text and shown.startswith("-"):
                text += f" - {shown[1:]}"
            else:
                text += f" + {shown}" if text else shown
        return text

    def _product(self, node: ir.Mul, frame: Frame) -> Shown:
        """`-2*a*b/c^2/961`: what divides comes last."""
        coefficient, multiplied, divisors = as_fraction(node)
        above = [_bracketed(self.scalar(factor, frame), POWER) for factor in multiplied]
        below = [self._raised(each.base, -each.exponent, frame) for each in divisors]
        sign = "-" if coefficient < 0 else ""
        top, _, bottom = number(-coefficient if sign else coefficient).partition("/")
        if top != "1":
            above.insert(0, top)
        if bottom:
            below.insert(0, bottom)
        dot = "·" if self.unicode else "*"
        text = "/".join([dot.join(above) or "1", *below])
        return sign + text, SUM if sign else PRODUCT


def _position(row: Row, frame: Frame) -> Shown:
    """A row as a value: in brackets wherever it is no iterator and stands beside others."""
    return row_text(row, frame.names), ATOM if row.lone is not None else SUM


def _reads_as_index(node: ir.Node) -> bool:
    """Whether a comparison with the term might be read as one of indices."""
    if isinstance(node, ir.Const):
        return isinstance(node.value, Fraction) and node.value.denominator == 1
    return is_position(node)


def as_fraction(node: ir.Mul) -> tuple[ir.Number, list[ir.Node], list[ir.Power]]:
    """The coefficient, what is multiplied, and the powers that divide.  Powers of constants and of
    powers do not: `a/x^n` reads back as `a*x^-n` for other x alone."""
    coefficient, rest = expr.split_coefficient(node)
    factors = factors_of(rest)
    powers = (each for each in factors if isinstance(each, ir.Power) and each.exponent < 0)
    divisors = [each for each in powers if not isinstance(each.base, ir.Const | ir.Power)]
    return coefficient, [each for each in factors if each not in divisors], divisors


def _bracketed(shown: Shown, least: int) -> str:
    text, level = shown
    return text if level >= least else f"({text})"


def _binder(kind: str, names: Sequence[str], ranges: Sequence[Range]) -> str:
    if not names:
        return ""
    bound = (f"{name}:{lo}:{hi}" for name, (lo, hi) in zip(names, ranges, strict=True))
    return f"{kind}[{','.join(bound)}] "


def is_reduction(access: ir.Access, ranges: Sequence[Range]) -> bool:
    """Whether the access is what a reducer among iterators of these ranges becomes."""
    source = access.source
    lone = [row.lone for row in access.rows]
    positions = [position for position in lone if position is not None]
    return (
        isinstance(source, ir.Scope)
        and bool(source.sums)
        and access.fill == 0
        and len(positions) == len(lone)
        and positions == sorted(set(positions))
        and tuple(ranges[p] for p in positions) == source.loops
    )


def implies_sum(scope: ir.Scope) -> bool:
    """Whether the convention is likely to sum the body's product over the scope's sums; who uses
    this reads the text back to be sure."""
    body = scope.body
    if scope.reducer != "sum" or not isinstance(body, ir.Access | ir.Mul | ir.Power):
        return False
    factors = body.factors if isinstance(body, ir.Mul) else (body,)
    for position in range(len(scope.loops), len(scope.domain)):
        holders = [factor for factor in factors if factor.free >> position & 1]
        if not any(not isinstance(f, ir.Power) or f.exponent > 0 for f in holders):
            return False
        if len(holders) == 1 and not isinstance(holders[0], ir.Access | ir.Power):
            return False
    return True
