"""Sums over an index that have a closed form, found by comparing forms.

    S[k] A[i]*(2*k + j)      is  a + b*k  for  a = A[i]*j,  b = 2*A[i]
    S[k] A[i,k+1] - A[i,k]   is  F[k+1] - F[k]  for  F = A[i]

Nothing here has to be trusted: a step writes the law out for these terms (`steps.sum_by_law`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from einderive.derivations.instances import Laws
from einderive.derivations.steps.sum_by_law import SumByLaw
from einderive.ta.facts.closed import Closed, closed_of
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Node, Scope
from einderive.ta.ir.positions import INDEX, is_position
from einderive.ta.ir.subst import accesses, factors_of, substitute, terms_of, walk
from einderive.ta.laws import REAL_LAWS

FACTORS = "abcd"
"""The letters of a law that are factors free of the index."""
MOST_TERMS = 12
ONE, ZERO = expr.const(1), expr.const(0)


def closed_sums(scope: Scope, laws: Laws) -> Iterator[SumByLaw]:
    """Every iterator over which these laws give a closed form of the sum."""
    body = scope.body
    if scope.reducer != "sum" or not 0 < len(terms_of(body)) <= MOST_TERMS:
        return
    for number, side in enumerate(scope.sums):
        at = len(scope.loops) + number
        reads = [read for read in accesses(body) if read.free >> at & 1]
        if not all(map(is_position, reads)) and not isinstance(body, Add):
            continue
        for name in laws.names:
            for equation in range(len(REAL_LAWS[name].equations) if REAL_LAWS[name].closes else 0):
                closed = closed_of(name, equation, side)
                if closed is None:
                    continue
                ways: Iterator[list[Node]] | Sequence[list[Node]]
                if any(letter.shape for letter in closed.letters):
                    ways = _differences(body, at)
                else:
                    ways = _combinations(closed, body, at) if all(map(is_position, reads)) else ()
                for parts in ways:
                    yield SumByLaw(name, equation, number, _scopes(scope, at, parts, closed))


def _scopes(scope: Scope, at: int, parts: Sequence[Node], closed: Closed) -> tuple[Scope, ...]:
    """The terms over the other iterators; a function of the index has one more, the last."""
    count = len(scope.domain)
    others = (*scope.domain[:at], *scope.domain[at + 1 :])
    rows = [affine.iterator(i - (i > at)) for i in range(count)]
    rows[at] = affine.iterator(count - 1)
    side = scope.domain[at]
    return tuple(
        make_scope(
            (*others, *((Range(side.lo, side.hi + 1),) if letter.shape else ())),
            (),
            substitute(part, rows),
        )
        for letter, part in zip(closed.letters, parts, strict=True)
    )


def _differences(body: Node, at: int) -> Iterator[list[Node]]:
    """f with body = f(k+1) - f(k), if the terms come in such pairs."""
    left, found = list(terms_of(body)), list[Node]()
    if len(left) % 2:
        return
    following = [affine.iterator(i) for i in range(at)] + [affine.shift(affine.iterator(at), 1)]
    following += [affine.iterator(i) for i in range(at + 1, body.free.bit_length())]
    while left:
        for term in left:
            function = expr.mul(expr.const(-1), term)
            after = substitute(function, following)
            if after is not function and after in left:
                left = [other for other in left if other not in (term, after)]
                found.append(function)
                break
        else:
            return
    yield [expr.add(*found)]


def _combinations(closed: Closed, body: Node, at: int) -> Iterator[list[Node]]:
    """The terms for the letters with which the body is the term of the law."""
    index = expr.position(affine.iterator(at))
    bases = {
        node.args[0]: None
        for node in walk(body)
        if isinstance(node, Apply)
        and node.function == "pow"
        and node.args[1] is index
        and not node.args[0].free >> at & 1
    }
    powers = any(letter.name not in FACTORS for letter in closed.letters)
    for base in bases if powers else [ONE]:
        forms = _forms(closed, base, at)
        values: dict[str, Node] = dict.fromkeys(forms, ZERO)
        places = {form: letter for letter, form in forms.items()}
        for factor, form in (split for term in terms_of(body) for split in _split(term, at)):
            letter = places.get(form)
            if letter is None:
                break
            values[letter] = expr.add(values[letter], factor)
        else:
            yield [values.get(letter.name, base) for letter in closed.letters]


def _forms(closed: Closed, base: Node, at: int) -> Mapping[str, Node]:
    """What each factor stands before: a + b*x^k gives 1 and x^k."""
    found = {}
    for term in terms_of(closed.term):
        factors = [_put(factor, base, at) for factor in factors_of(term)]
        (letter,) = (f for f in factors if isinstance(f, str))
        found[letter] = expr.mul(*(f for f in factors if not isinstance(f, str)))
    return found


def _put(factor: Node, base: Node, at: int) -> Node | str:
    """A factor of the law's term, with the base for its other letter; of a letter that stands for a
    factor, the name."""
    if isinstance(factor, Access) and factor.source is not INDEX:
        name = factor.source.name if not isinstance(factor.source, Scope) else ""
        return name if name in FACTORS else base
    if isinstance(factor, Apply):
        return expr.apply(factor.function, base, expr.position(affine.iterator(at)))
    return substitute(factor, [affine.iterator(at)])


def _split(term: Node, at: int) -> Iterator[tuple[Node, Node]]:
    """Factors free of the iterator, and what each stands before: of c*(i+2*k), these are c*i and 1,
    and 2*c and k."""
    alone = [factor for factor in factors_of(term) if not factor.free >> at & 1]
    others = [factor for factor in factors_of(term) if factor.free >> at & 1]
    if len(others) == 1 and isinstance(others[0], Access):
        (row,) = others[0].rows
        slope = row.coefficient(at)
        rest = affine.add(row, affine.iterator(at), -slope)
        if not affine.mask(rest) >> at & 1:
            yield expr.mul(*alone, expr.const(slope)), expr.position(affine.iterator(at))
            yield expr.mul(*alone, expr.position(rest)), ONE
            return
    yield expr.mul(*alone), expr.mul(*others)
