"""The check that the witness of a step states what the step does.

    ReindexLoops  (Φ, Ψ, D')   {L[x in X] S f(x)}      =  {L[x in X] {L[x' in D'] S f(Φ(x'))}[Ψ(x)]}
    ReindexSums   (Φ, Ψ, D')   {L[x] S[y in Y] f(x,y)} =  {L[x] S[y' in D'] f(x, Φ(x,y'))}
                               Φ(x, Ψ(x,y)) = y on X×Y,   Ψ(x, Φ(x,y')) = y' on X×D'
    ReadPart      (P, ρ)       {L[x in X] f(x)}        =  {L[x in X] P[ρ(x)]}
    ByLaw         (law, x, c, r)   ... c*left + r ...  =  ... c*right + r ...
    FoldByLaw     (law, x)         R[k] g(x(k))        =  h(R'[k] x(k))
    SumByLaw      (law, k, x)      S[k:m:n] f(k)       =  g(m, n)

The checker writes the right side down again from the witness; it has to be the step's right side.
Integer sets decide that Φ and Ψ are inverse to each other.

A law `left = right` is data (`ta.laws`), and has a proof.  The checker reads its text, and puts the
terms that the witness states in the place of its letters.  The left side has to be the term that is
replaced, the condition of the law has to follow from the signs of the terms, and no infinite number
of the text may take part.

These kinds of witnesses are known by their fields.  All others name a place in an expression.
Whether such a step holds does not depend on that place, so the checker does not read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from einderive.derivations.checker import sets
from einderive.derivations.checker.compare import not_equal
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.facts.signs import NOT_NEGATIVE, POSITIVE, least_sign, not_zero
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Condition, Const, Node, Scope, Tensor
from einderive.ta.ir.subst import fold, replace_node, substitute, walk, with_children
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import NUMBERS, WHOLE, Law
from einderive.ta.notation.parse import parse

Maps: TypeAlias = tuple[Sequence[Row], Sequence[Row], tuple[Range, ...]]


def fault(before: Scope, after: Scope, witness: Any) -> str | None:
    """The reason why the witness does not describe a step from `before` to `after`.  None if it
    does, or if it names a place only."""
    match witness:
        case object(producer=Scope() as producer, rows=rows):
            if not _speak(rows, len(before.loops)) or len(rows) != len(producer.loops):
                return "the witness has rows that do not fit the scopes"
            return _leads_to(after, expr_of(before, producer, rows))
        case object(forward=forward, backward=backward, ranges=ranges, of_sums=of_sums):
            return _fault_of_maps(before, after, (forward, backward, ranges), of_sums)
    return None


def _fault_of_maps(before: Scope, after: Scope, maps: Maps, of_sums: bool) -> str | None:
    """The reason why the maps Φ, Ψ and the box D', of the loops or of the reduction iterators, do
    not describe the step; None if they do."""
    forward, backward, ranges = maps
    if any(side.hi <= side.lo for side in (*ranges, *before.domain)):
        return "an iterator has an empty range"
    first, count = len(before.loops), len(before.sums)
    old, new, shared = (count, len(ranges), first) if of_sums else (first, len(ranges), 0)
    if len(forward) != old or len(backward) != len(ranges):
        return "the witness has another number of rows than there are iterators"
    if not _speak(forward, shared + new) or not _speak(backward, shared + old):
        return "the witness has rows that do not fit the scopes"
    if not of_sums:
        sums = [affine.iterator(new + s) for s in range(count)]
        body = substitute(before.body, [*forward, *sums])
        inner = make_scope(ranges, before.sums, body, before.reducer)
        return _leads_to(after, expr_of(before, inner, backward))
    kept = [affine.iterator(i) for i in range(first)]
    for outer, inner_rows, box in (
        (forward, backward, before.domain),
        (backward, forward, before.loops + ranges),
    ):
        if not _inverse(outer, [*kept, *inner_rows], box, first):
            return "the two maps of the witness are not inverse to each other"
    body = substitute(before.body, [*kept, *forward])
    again = make_scope(before.loops, ranges, body, before.reducer)
    return _leads_to(after, again)


def expr_of(before: Scope, source: Scope, rows: Sequence[Row]) -> Scope:
    """The read of the source at the rows, over the loops of `before`."""
    return make_scope(before.loops, (), expr.access(source, rows))


def _leads_to(after: Scope, again: Scope) -> str | None:
    return None if again is after else "the witness does not lead to the right side"


def _speak(rows: Sequence[Row], count: int) -> bool:
    """Whether the rows use the first `count` iterators only, and are in canonical form."""
    return all(
        all(0 <= i < count for i in affine.iterators(row)) and _canonical(row) for row in rows
    )


def _canonical(row: Row) -> bool:
    if not all(n > 0 and _canonical(inner) for inner, n, _ in row.floors):
        return False
    return affine.substitute(row, {i: affine.iterator(i) for i in affine.iterators(row)}) == row


def _inverse(outer: Sequence[Row], inner: Sequence[Row], box: Sequence[Range], first: int) -> bool:
    """`outer(inner(x)) = x` for the iterators from `first` on, all over the box."""
    ranges = dict(enumerate(box))
    for position, row in enumerate(outer, first):
        error = affine.add(affine.substitute(row, inner), affine.iterator(position), -1)
        for side in (error, affine.scale(error, -1)):
            positive = Condition(">=", affine.shift(side, -1))
            high = affine.bounds(positive.row, ranges)[1]
            if high >= 0 and sets.possible([positive], ranges):
                return False
    return True


def by_law(before: Scope, witness: Any) -> Scope | str:
    """`before` with the term replaced, or the reason why the witness is refused."""
    law = REAL_LAWS.get(witness.law)
    if law is None or not 0 <= witness.equation < len(law.equations) or "[" in law.text:
        return f"there is no law {witness.law!r:.80} of this number"
    terms = walk(before.body)
    if not 0 <= witness.term < len(terms):
        return "the witness names a term that is not there"
    sides = law.equations[witness.equation].split(" = ")
    old, new = sides if witness.backwards == 0 else reversed(sides)
    letters = _letters(old)
    if len(witness.parts) != len(letters) + 2:
        return "the witness does not say what each letter of the law stands for"
    if any(part.loops != before.domain or part.sums for part in witness.parts):
        return "what stands for a letter of the law is over other ranges"
    *values, factor, rest = (part.body for part in witness.parts)
    standing = dict(zip(letters, values, strict=True))
    if not {*_letters(new)} <= {*letters}:
        return "a letter of the law stands for nothing"
    for letter, value in standing.items():
        if letter in NUMBERS and not _is_number(value, whole=letter in WHOLE):
            return f"{letter} stands for a number of the text"
    left, right = (
        expr.add(expr.mul(factor, _read(side, standing, law.letters_type)), rest)
        for side in (old, new)
    )
    if (unmet := _unmet(law, standing, before.domain, left)) is not None:
        return unmet
    term = terms[witness.term]
    if left is not term:
        one, other = (make_scope(before.domain, (), side) for side in (left, term))
        if not_equal(one, other) is not None:
            return "the left side of the law is not the term that is replaced"
    body = replace_node(before.body, term, right)
    return make_scope(before.loops, before.sums, body, before.reducer)


def by_fold(before: Scope, witness: Any) -> Scope | str:
    """R[k] g(x(k)) as h(R'[k] x(k)), by a law R(g(a),g(b)) = h(R'(a,b)); or the reason why the
    witness is refused."""
    law = REAL_LAWS.get(witness.law)
    if law is None or not 0 <= witness.equation < len(law.equations):
        return f"there is no law {witness.law!r:.80} of this number"
    old, new = law.equations[witness.equation].split(" = ")
    reduced = [each for each in ("max(a,b)", "min(a,b)") if new.count(each) == 1]
    halves = old[4:-1].split("),") if old.endswith("))") else old[4:-1].split(",")
    first = halves[0] + ")" * old.endswith("))")
    if not reduced or old != f"{before.reducer}({first},{_renamed(first)})":
        return "the law says nothing of this reduction"
    letters = _letters(first)
    if len(witness.parts) != len(letters) or "a" not in letters or "b" in letters:
        return "the witness does not say what each letter of the law stands for"
    if any(part.loops != before.domain or part.sums for part in witness.parts):
        return "what stands for a letter of the law is over other ranges"
    if any(side.extent == 0 for side in before.sums):
        return "nothing is reduced"
    standing = {x: part.body for x, part in zip(letters, witness.parts, strict=True)}
    iterators = range(len(before.loops), len(before.domain))
    if any(value.free >> k & 1 for x, value in standing.items() if x != "a" for k in iterators):
        return "what leaves the reduction depends on it"
    if _read(first, standing) is not before.body:
        return "the body is not the left side of the law"
    if may_be_complex(before.body):
        return "complex numbers have no order"
    both = {**standing, "b": standing["a"]}
    if (unmet := _unmet(law, both, before.domain, before.body)) is not None:
        return unmet
    nested = make_scope(before.loops, before.sums, standing["a"], reduced[0][:3])
    read = expr.access(nested, [affine.iterator(i) for i in range(len(before.loops))])
    right = _read(new.replace(reduced[0], "a"), {**standing, "a": read})
    return make_scope(before.loops, (), right)


def by_sum(before: Scope, witness: Any) -> Scope | str:
    """S[k:m:n] f(k) as g, by a law S[k] f(k) = g(m, n); or the reason why the witness is refused.
    The law's F(k) stands for a term over the other iterators and one more, which is k."""
    law, number = REAL_LAWS.get(witness.law), witness.iterator
    if law is None or not 0 <= witness.equation < len(law.equations) or law.text[:7] != "sum[k](":
        return f"there is no law {witness.law!r:.80} of this number"
    if before.reducer != "sum" or not 0 <= number < len(before.sums):
        return "the law says nothing of this reduction"
    at, (first, end) = len(before.loops) + number, before.sums[number]
    old, new = law.equations[witness.equation].removeprefix("sum[k](").split(") = ", 1)
    others = (*before.domain[:at], *before.domain[at + 1 :])
    letters = [x for x in _letters(old) if x != "k"]
    if len(witness.parts) != len(letters):
        return "the witness does not say what each letter of the law stands for"
    for x, part in zip(letters, witness.parts, strict=True):
        if part.loops != (*others, *[Range(first, end + 1)] * x.isupper()) or part.sums:
            return "what stands for a letter of the law is over other ranges"
    standing = {x: part.body for x, part in zip(letters, witness.parts, strict=True)}
    if any(x in NUMBERS and not _is_number(each, False) for x, each in standing.items()):
        return "a letter stands for a number of the text"
    rows = [affine.iterator(i + (i >= at)) for i in range(len(others))]
    left = _summed(old, standing, rows, affine.iterator(at), {})
    if (unmet := _unmet(law, standing, others, left)) is not None:
        return unmet
    if left is not before.body:
        one, other = (make_scope(before.domain, (), side) for side in (left, before.body))
        if not_equal(one, other) is not None:
            return "the body is not the left side of the law"
    rows = [affine.iterator(i) for i in range(len(others))]
    body = _summed(new, standing, rows, None, {"m": first, "n": end})
    return make_scope(before.loops, (*before.sums[:number], *before.sums[number + 1 :]), body)


def _summed(
    text: str,
    standing: Mapping[str, Node],
    rows: Sequence[Row],
    index: Row | None,
    ends: Mapping[str, int],
) -> Node:
    """The text as a term.  Terms over `rows` stand for its letters, one of them at F[k], F[k+1],
    F[m] and F[n]; k is the index."""
    found = {x: substitute(part, rows) for x, part in standing.items() if x.islower()}
    if index is not None:
        found["k"] = expr.position(index)
    for end, value in ends.items():
        found[end] = expr.const(value)
    for x in filter(str.isupper, standing):
        for name, place in (("k+1", "u"), ("k", "v"), ("m", "u"), ("n", "v")):
            if f"{x}[{name}]" in text:
                at = affine.constant(ends[name]) if name in ends else index
                assert at is not None
                row = affine.shift(at, name.count("+1"))
                text = text.replace(f"{x}[{name}]", place)
                found[place] = substitute(standing[x], [*rows, row])
    return _read(text, found)


def _renamed(text: str) -> str:
    """The text with b for the letter a."""
    around = f" {text} "
    at = (k for k, each in enumerate(around) if each == "a")
    alone = [k for k in at if not (around[k - 1] + around[k + 1]).strip("()+-*/^, ")]
    return "".join("b" if k in alone else each for k, each in enumerate(around)).strip()


def _letters(text: str) -> list[str]:
    """What is named by one letter, in the order of the alphabet."""
    return sorted({word for word in _words(text) if len(word) == 1 and word.isalpha()})


def _words(text: str) -> list[str]:
    return "".join(each if each.isalnum() else " " for each in text).split()


def _read(text: str, standing: Mapping[str, Node], dtype: str = "float32") -> Node:
    """The text as a term, with what stands for its letters."""
    shapes = {word: () for word in _words(text) if word in standing}
    (root,) = parse(f"Y = {text}", shapes, dtype, {}).roots()

    def made(node: Node, operands: tuple[Node, ...]) -> Node:
        if isinstance(node, Access) and isinstance(node.source, Tensor):
            return standing[node.source.name]
        return with_children(node, operands)

    return fold(root.body, made)


def _is_number(value: Node, whole: bool) -> bool:
    number = value.value if isinstance(value, Const) else None
    return isinstance(number, Fraction) and (not whole or number.denominator == 1)


def _unmet(law: Law, standing: Mapping[str, Node], box: Sequence[Range], term: Node) -> str | None:
    """What the law requires of a term, or of what stands for its letters, and is not known."""
    if any(map(may_be_infinite, walk(term))):
        return "an infinite number takes part in a law of functions"
    if may_be_complex(term) and not law.of_complex_numbers:
        return "the law is about real numbers"
    for condition in law.domain.split(", ") if law.domain else ():
        if not _known(condition, standing, box):
            return f"what the law requires is not known: {condition}"
    return None


def _known(condition: str, standing: Mapping[str, Node], box: Sequence[Range]) -> bool:
    """Whether the comparison holds all over the box."""
    left, relation, right = condition.split()
    low, high = (right, left) if relation[0] == ">" else (left, right)
    apart = expr.subtract(_read(high, standing), _read(low, standing))
    if relation == "!=":
        return not_zero(apart, box)
    return least_sign(apart, box) >= (NOT_NEGATIVE if relation[-1] == "=" else POSITIVE)
