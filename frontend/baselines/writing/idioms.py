"""Functions of numbers that torch has in one call: a table of formulas.

    x*sigmoid(x)    F.silu(x)

A formula matches wherever the algebra has it, whatever the names and the order of operands: a name
stands for any expression, a capital letter for a read, `c` for any number, numbers for themselves
(to six digits: who writes the constant of tanh's GELU rounds it somewhere).  Further formulas are
those of functions and definitions, with options as they are by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, permutations, starmap
from typing import NamedTuple

from einderive.ta.definitions import DEFINITIONS
from einderive.ta.definitions.data import Definition
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import expr
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Number, Power
from einderive.ta.ir.subst import walk
from einderive.ta.listing import beside
from einderive.ta.notation.parse import parse

MOST_OPERANDS = 5
CLOSE = 1e-6
COMPLEX = {"real", "imag", "conj"}
"""Functions that the formulas, whose operands are real, do not need."""
CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
LETTER = re.compile(r"\b[A-Za-z]\b")


class Idiom(NamedTuple):
    """`formula` in names of operands; `text` with these in braces."""

    formula: str
    text: str
    operands: tuple[str, ...] = ("x", "y", "c")


def _defined(known: Definition) -> Idiom:
    """The idiom of a function of `ta.definitions`."""
    operands = tuple(name for name, default in known.operands.items() if not default)
    text = re.sub(
        "|".join(rf"\b{name}\b" for name in known.operands),
        lambda found: known.operands[found[0]] or f"{{{found[0]}}}",
        known.torch,
    )
    return Idiom(f"{known.name}({', '.join(operands)})", text, operands)


def _functions() -> Iterator[Idiom]:
    """The idioms of functions, those that say more first: log(1+exp(x)) is no log(1+x) alone."""
    defined = [each for each in FUNCTIONS.values() if each.definition]
    for each in sorted(defined, key=lambda one: -len(one.definition)):
        yield Idiom(each.definition, each.torch_call("{x}", "{y}"))


TABLE = beside(__name__)
IDIOMS: tuple[Idiom, ...] = (
    *starmap(Idiom, TABLE["first"].items()),
    *_functions(),
    *(_defined(d) for d in DEFINITIONS.values() if d.torch and not d.binder and not d.folds),
    *starmap(Idiom, TABLE["last"].items()),
)


@cache
def _read(idiom: Idiom) -> Node:
    shapes = {name: () for name in idiom.operands if re.search(rf"\b{name}\b", idiom.formula)}
    return parse(f"Result = {idiom.formula}", shapes, "float32", {}).roots()[0].body


def ways(node: Node, *formulas: str) -> Iterator[Mapping[str, Node]]:
    """What the names stand for, in every way to read the expression as one of the formulas, whose
    names are letters."""
    for formula in formulas:
        if named(formula) <= _applied(node):
            names = tuple(dict.fromkeys(LETTER.findall(formula)))
            yield from _matches(_read(Idiom(formula, "", names)), node, {})


class Found(NamedTuple):
    """An idiom, and the expressions that stand for its names."""

    text: str
    places: Mapping[str, Node]


def find(node: Node) -> Found | None:
    """The first idiom that the expression as a whole is."""
    for formula, text in _by_kind(_applied(node)).get(_kind(node), ()):
        for places in _matches(formula, node, {}):
            if _tensors(places):
                return Found(text, places)
    return None


def within(node: Add | Mul) -> tuple[Node, Node] | None:
    """Some terms of a sum, or factors of a product, that together are an idiom, and the others."""
    make, parts = (expr.add, node.terms) if isinstance(node, Add) else (expr.mul, node.factors)
    if not 2 < len(parts) <= MOST_OPERANDS:
        return None
    for size in range(len(parts) - 1, 1, -1):
        for chosen in combinations(parts, size):
            part = make(*chosen)
            if find(part) is not None:
                return part, make(*(each for each in parts if each not in chosen))
    return None


def _tensors(places: Mapping[str, Node]) -> bool:
    """Whether numbers stand in the places of c and of lerp's share w only.  A c is from 0 to 1: a
    leaky ReLU is the larger of x and c*x for these only."""
    numbers = ((name, node.value) for name, node in places.items() if isinstance(node, Const))
    return all(name == "w" or (name == "c" and 0 <= value <= 1) for name, value in numbers)


@lru_cache(maxsize=4096)
def _applied(node: Node) -> frozenset[str]:
    """The functions in an expression."""
    return frozenset(each.function for each in walk(node) if isinstance(each, Apply))


@lru_cache(maxsize=256)
def _by_kind(applied: frozenset[str]) -> Mapping[tuple[object, ...], list[tuple[Node, str]]]:
    """The idioms that apply no other functions, by their outermost operation.  Only these are read,
    as a formula takes a millisecond to read."""
    found: dict[tuple[object, ...], list[tuple[Node, str]]] = {}
    for idiom in IDIOMS:
        if named(idiom.formula) <= applied:
            formula = _read(idiom)
            found.setdefault(_kind(formula), []).append((formula, idiom.text))
    return found


@cache
def named(formula: str) -> frozenset[str]:
    """Functions that the text of a formula applies, itself or in the definitions that it uses.  The
    expression may have more: those of which conditions are made."""
    found: set[str] = set()
    for name in CALL.findall(formula):
        definition = DEFINITIONS.get((name, False))
        if definition is not None:
            found |= named(definition.equation.partition(" = ")[2])
        elif name in FUNCTIONS and name not in COMPLEX:
            found.add(name)
    return frozenset(found)


def _kind(node: Node) -> tuple[object, ...]:
    if isinstance(node, Apply):
        return Apply, node.function
    return (type(node),)


Places = Mapping[str, Node]


def _matches(formula: Node, node: Node, places: Places) -> Iterator[Places]:
    """Every way to read the expression as the formula, what stands in the places so far given."""
    if isinstance(formula, Access):
        name = formula.source.label
        kind = Access if name.isupper() else Const if name == "c" else Node
        if not isinstance(node, kind):
            return
        known = places.get(name)
        if known is None:
            yield {**places, name: node}
        elif known is node:
            yield places
    elif type(formula) is not type(node):
        return
    elif isinstance(formula, Const) and isinstance(node, Const):
        if _close(formula.value, node.value):
            yield places
    elif isinstance(formula, Power) and isinstance(node, Power):
        if formula.exponent == node.exponent:
            yield from _matches(formula.base, node.base, places)
    elif isinstance(formula, Apply) and isinstance(node, Apply):
        if formula.function == node.function:
            called = FUNCTIONS[node.function]
            any_order = called.symmetric or bool(called.reducer)
            yield from _all(formula.args, node.args, places, any_order)
    elif isinstance(formula, Mul) and isinstance(node, Mul):
        yield from _all(formula.factors, node.factors, places, True)
    elif isinstance(formula, Add) and isinstance(node, Add):
        yield from _all(formula.terms, node.terms, places, True)


def _all(
    formulas: tuple[Node, ...], nodes: tuple[Node, ...], places: Places, any_order: bool
) -> Iterator[Places]:
    if len(formulas) != len(nodes) or len(nodes) > MOST_OPERANDS:
        return
    for order in permutations(nodes) if any_order else (nodes,):
        found: list[Places] = [places]
        for formula, node in zip(formulas, order, strict=True):
            found = [more for each in found for more in _matches(formula, node, each)]
        yield from found


def _close(a: Number, b: Number) -> bool:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a == b or abs(a - b) <= CLOSE * abs(a)
    return a == b
