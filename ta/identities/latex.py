r"""Identities as LaTeX mathematics.

    sum[i](f(i)) = sum[j](f(j+c)) where i in c:d, j in 0:d-c
    \sum_{c \le i < d} f\left(i\right) = \sum_{0 \le j < d - c} f\left(j + c\right)

A range stands below the reducer that binds its iterator.  Everything else in the clause forms a
second line.  `f(i) = where(c, 0, f(i))` is written as f(i) = 0 if c.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, TypeAlias

from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.identities.identity import Identity
from einderive.ta.printing.typeset import applied, called, grouped, indexed, named, numeral
from einderive.ta.syntax import tree
from einderive.ta.syntax.tree_builder import TreeBuilder

SIGNS = {"<": "<", ">": ">", "<=": r"\le", ">=": r"\ge", "==": "=", "!=": r"\ne"}
LONG = 60
"""Characters of an equation beyond which each side has a line of its own."""


class Level(IntEnum):
    """Binding strength of a text's outermost operation."""

    CONDITION = 0
    COMPARISON = 1
    SUM = 2
    REDUCTION = 3
    PRODUCT = 4
    ATOM = 5


Written: TypeAlias = tuple[str, Level]


def latex(identity: Identity) -> str:
    """The equation and, in a second line, the conditions of its clause."""
    syntax = _Syntax()
    sides = [syntax.transform(side) for side in (identity.left, identity.right)]
    clause = [syntax.transform(requirement) for requirement in identity.clause]
    ranges = {part.name: part for part, *_ in clause if isinstance(part, tree.Binding)}
    reductions = [
        part
        for side in sides
        for part in tree.scalars(side, into_scopes=True)
        if isinstance(part, tree.Reduction)
    ]
    bound = {name.name for reduction in reductions for name in reduction.names}
    writer = _Writer(ranges)
    stated = [writer.requirement(parts) for parts in clause if _said(parts[0], bound)]
    left, right = (writer.text(side) for side in sides)
    long = len(identity.text.partition(" where ")[0]) > LONG
    if not (stated or long):
        return f"{left} = {right}"
    lines = [f"&{left}", rf"&\quad = {right}"] if long else [f"&{left} = {right}"]
    if stated:
        conditions = r",\quad ".join(stated)
        lines.append(rf"&\text{{where }} {conditions}")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _said(part: tree.Expression | tree.Binding, bound: set[str]) -> bool:
    """Whether it belongs to the second line: no reducer shows it."""
    return not isinstance(part, tree.Binding) or part.name not in bound


class _Syntax(TreeBuilder):
    """Syntax trees of identities.  A body is a call of its name."""

    def requirement(self, children: list[Any]) -> list[Any]:
        """A range, a condition, or the two sides of an equation."""
        return children[::2]


class _Writer:
    """Writes expressions.  `ranges` holds the ranges that the clause gives."""

    def __init__(self, ranges: Mapping[str, tree.Binding]) -> None:
        self.ranges = ranges

    def requirement(self, parts: list[Any]) -> str:
        first, *other = parts
        match other:
            case []:
                return self.bounds(first) if isinstance(first, tree.Binding) else self.text(first)
            case [tree.Call(_, "where", (condition, tree.Number(_, 0), otherwise))]:
                if self.text(otherwise) == self.text(first):
                    return rf"{self.text(first)} = 0 \text{{ if }} {self.text(condition)}"
        return f"{self.text(first)} = {self.text(other[0])}"

    def text(self, expression: tree.Expression, level: Level = Level.CONDITION) -> str:
        """The expression, in parentheses if its outermost operation binds less than `level`."""
        text, own = self.written(expression)
        return grouped(text) if own < level else text

    def written(self, expression: tree.Expression) -> Written:
        match expression:
            case tree.Number(_, value):
                return numeral(value), Level.ATOM
            case tree.Name(_, name):
                return named(name), Level.ATOM
            case tree.ScopeText(_, binders, body):
                return self.scope(binders, body), Level.ATOM
            case tree.Read(_, source, None, indices):
                return indexed(self.text(source), [self.text(i) for i in indices]), Level.ATOM
            case tree.Call(_, "where", args):
                return applied("choose", [self.text(arg) for arg in args]), Level.SUM
            case tree.Call(_, function, args):
                operands = [self.text(arg) for arg in args]
                known = function in FUNCTIONS
                text = applied(function, operands) if known else called(named(function), operands)
                return text, Level.ATOM
            case tree.Reduction(_, reducer, names, body):
                limits = [
                    self.bounds(self.ranges[name]) if name in self.ranges else named(name)
                    for name in (each.name for each in names)
                ]
                return self.reduced(reducer, limits, body)
            case tree.Negate(_, operand):
                return f"-{self.text(operand, Level.REDUCTION)}", Level.SUM
            case tree.Sum(_, terms):
                signed = ((minus, self.text(term, Level.REDUCTION)) for minus, term in terms)
                text = "".join((" - " if minus else " + ") + term for minus, term in signed)
                return text.removeprefix(" + "), Level.SUM
            case tree.Product(span, ((times, tree.Negate(_, leading)), *rest)):
                return self.written(
                    tree.Negate(span, tree.Product(span, ((times, leading), *rest)))
                )
            case tree.Product(_, factors):
                return self.product(factors)
            case tree.PowerOf(_, base, exponent):
                shown = self.text(base)
                shown = shown if isinstance(base, tree.Name) else grouped(shown)
                return f"{{{shown}}}^{{{exponent}}}", Level.ATOM
            case tree.Comparison(_, operands, operators):
                first, *others = (self.text(operand, Level.SUM) for operand in operands)
                pairs = zip(operators, others, strict=True)
                return first + "".join(f" {SIGNS[o]} {x}" for o, x in pairs), Level.COMPARISON
            case tree.Logical(_, "not", (operand,)):
                return rf"\text{{not }} {self.text(operand, Level.COMPARISON)}", Level.COMPARISON
            case tree.Logical(_, operator, operands):
                parts = (self.text(operand, Level.COMPARISON) for operand in operands)
                return rf" \text{{ {operator} }} ".join(parts), Level.CONDITION
        raise TypeError(f"an identity holds a {type(expression).__name__}")

    def product(self, factors: Sequence[tuple[str, tree.Expression]]) -> Written:
        """Factors from left to right, as in Python: a/b*c is (a/b)*c."""
        (_, first), *others = factors
        text, level = self.written(first)
        for operator, factor in others:
            if operator in ("/", "//"):
                text, level = rf"\frac{{{text}}}{{{self.text(factor)}}}", Level.ATOM
                if operator == "//":
                    text = rf"\left\lfloor {text} \right\rfloor"
                continue
            left = grouped(text) if level < Level.PRODUCT else text
            if operator == "%":
                text, level = rf"{left} \bmod {self.text(factor, Level.ATOM)}", Level.SUM
            else:
                right, own = self.written(factor)
                right = grouped(right) if own < Level.REDUCTION else right
                level = Level.REDUCTION if own is Level.REDUCTION else Level.PRODUCT
                text = rf"{left}\, {right}"
        return text, level

    def scope(self, binders: Iterable[tree.Binder], body: tree.Expression) -> str:
        """`{L[x:a:b] S[t:c:d] body}`: the body with its reducer, and the ranges of the loops."""
        text, loops = self.text(body), ""
        for binder in binders:
            limits = [self.bounds(binding) for binding in binder.bindings]
            if binder.kind == "L":
                loops = rf" \;\middle|\; {_joined(limits)}"
            else:
                text, _ = self.reduced("sum" if binder.kind == "S" else binder.kind, limits, body)
        return rf"\left\{{{text}{loops}\right\}}"

    def reduced(self, reducer: str, limits: list[str], body: tree.Expression) -> Written:
        """The reducer over what its limits say.  max[k](a) + c gets parentheses, unlike a sum."""
        sums = reducer == "sum"
        others = Level.SUM if isinstance(body, tree.Reduction) else Level.ATOM
        shown = self.text(body, Level.REDUCTION if sums else others)
        sign = f"{REDUCERS[reducer].latex}_{{{_joined(limits)}}}"
        return f"{sign} {shown}", Level.REDUCTION if sums else Level.SUM

    def bounds(self, binding: tree.Binding) -> str:
        low, high = (self.text(end, Level.SUM) for end in binding.ends)
        return rf"{low} \le {named(binding.name)} < {high}"


def _joined(limits: Iterable[str]) -> str:
    return r",\, ".join(limits)
