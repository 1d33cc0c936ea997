"""Products: without `*`, with `@`, einsum's strings, and sums within functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from einderive.ta.ir.names import KEYWORDS
from einderive.ta.mistakes.formula import Edit, Formula, Span, indexed, results, top_places
from einderive.ta.mistakes.mistake import Correction, in_place, together

_CHAIN = re.compile(r"\b[^\W\d]\w*(?:\.m?T\b)?(?:\s*@\s*[^\W\d]\w*(?:\.m?T\b)?)+(?!\s*[\[(])")
_EINSUM = re.compile(r"\b(?:\w+\.)?einsum\s*\(\s*([\"'`])([^\"'`]*)\1\s*,([^()\n]*)\)")
_TOKEN = re.compile(r"[0-9.]+(?:[eE][+-]?[0-9]+)?(?:j\b)?|\w+|\S|\n")
_OF_PYTHON = "assume if then else elif for is lambda with"
_NO_VALUES = KEYWORDS - {"inf"} | {*_OF_PYTHON.split()}
_UNREDUCED = re.compile(r"the iterator (\w+) is not on the left and occurs only in(?:side|\b).*")
_BRACKET = re.compile(r"\(")
_MARKED = r"\s*(?:\.?'|\^\s*(?:T\b|\{\s*T\s*\}|\{?\\top\b\}?)|ᵀ)"
_FACTOR = rf"\b[^\W\d]\w*?(?:{_MARKED}|\b)(?!\s*(?:[\[('ᵀ]|\.(?![*/^])))"
_FACTORS = re.compile(rf"{_FACTOR}(?:(?:\s*[*@]\s*|\s+){_FACTOR})*")
_MARK = re.compile(r"(\w+?)\s*(\.?'|\^.*|ᵀ)")
_OUTER = re.compile(r"\b([^\W\d]\w*)\s*⊗\s*([^\W\d]\w*)\b(?!\s*[\[(])")
_SUBSCRIPTS = re.compile(r"\s*(?:\w+\s*=\s*)?([\"'`]?)([a-zA-Z.,\s]+->[a-zA-Z.\s]*)\1\s*")


def _matrix_products(formula: Formula) -> Iterator[Correction]:
    for found in _CHAIN.finditer(formula.text):
        line = formula.line_at(found.start())
        factors = [part.strip() for part in found[0].split("@")]
        product, out = _chain(formula, factors, line.left)
        yield in_place(line, (found.start(), found.end(), product), out)


def _transposes(formula: Formula) -> Iterator[Correction]:
    """`A'`, `A' * C`, `A^T C` and `x^T A x` of whole arrays."""
    for found in _FACTORS.finditer(formula.text):
        parts = list(re.finditer(_FACTOR, found[0]))
        marks = [_MARK.fullmatch(part[0].strip()) for part in parts]
        names = [mark[1] if mark else part[0] for mark, part in zip(marks, parts, strict=True)]
        ranks = list(map(formula.rank, names))
        first = next((part for mark, part in zip(marks, parts, strict=True) if mark), None)
        if first is None or not {*ranks} <= {1, 2} or "T" in formula.shapes:
            continue
        turned = [
            name + ".T" * (mark is not None and rank == 2)
            for name, mark, rank in zip(names, marks, ranks, strict=True)
        ]
        line = formula.line_at(found.start())
        product, out = _chain(formula, turned, line.left)
        place = found.start() + first.start(), found.start() + first.end()
        yield in_place(line, (*found.span(), product), out, place)


def _outer_products(formula: Formula) -> Iterator[Correction]:
    """`x ⊗ y` of whole vectors."""
    for found in _OUTER.finditer(formula.text):
        if formula.rank(found[1]) == formula.rank(found[2]) == 1:
            line = formula.line_at(found.start())
            out = line.left if len(line.left) == 2 else formula.fresh(2)
            new = f"{found[1]}[{out[0]}]*{found[2]}[{out[1]}]"
            yield in_place(line, (*found.span(), new), out)


def _chain(
    formula: Formula, factors: Sequence[str], left: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """`A @ B @ x` with indices, and the indices of the result."""
    names = [factor.partition(".")[0] for factor in factors]
    ranks = [formula.rank(name) for name in names]
    first, last = ranks[0] != 1, ranks[-1] != 1
    left = [name for name in left if name != "..."]
    kept = list(left[-first - last :]) if len(left) >= first + last else []
    fresh = iter(formula.fresh(len(factors) + 2, left))
    out = kept or [next(fresh) for _ in range(first + last)]
    inner = [next(fresh) for _ in factors[1:]]
    ends = [*out[:first], *inner, *(out[-1:] if last else [])]
    texts, batched = [], False
    for factor, name, rank in zip(factors, names, ranks, strict=True):
        own = [ends[0]] if rank == 1 else ends[:2]
        ends = ends[1:] if rank != 1 else ends
        own = own[::-1] if factor != name else own
        batch = ["..."] if (rank or 0) > 2 else []
        batched |= bool(batch)
        texts.append(f"{name}[{','.join(batch + own)}]")
    return "*".join(texts), (*(["..."] if batched else []), *out)


def _einsum_calls(formula: Formula) -> Iterator[Correction]:
    for found in _EINSUM.finditer(formula.text):
        names = [name.strip() for name in found[3].split(",") if name.strip()]
        written = _subscripts(found[2], names)
        if written:
            product, out = written
            line = formula.line_at(found.start())
            yield in_place(line, (found.start(), found.end(), product), out)


def _einsum_strings(formula: Formula) -> Iterator[Correction]:
    found = _SUBSCRIPTS.fullmatch(formula.text)
    if found is not None:
        count = found[2].partition("->")[0].count(",") + 1
        names = list(formula.shapes)[:count]
        names += [name for name in "ABCDEFGH" if name not in names][: count - len(names)]
        written = _subscripts(found[2], names)
        if written:
            result = next(name for name in results() if name not in names)
            product, out = written
            text = f"{indexed(result, out)} = {product}"
            yield Correction(((0, len(formula.text), text),), found.span(2), new=" ".join(names))


def _subscripts(text: str, names: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """`ij,jk->ik` as a product of these tensors, and the indices of the result."""
    operands, arrow, result = "".join(text.split()).partition("->")
    parts = operands.split(",")
    if len(parts) != len(names):
        return None
    letters = [re.findall(r"\.\.\.|[a-zA-Z]", part) for part in parts]
    once = [name for own in letters for name in own]
    out = (
        re.findall(r"\.\.\.|[a-zA-Z]", result)
        if arrow
        else sorted(name for name in set(once) if once.count(name) == 1 or name == "...")
    )
    reads = map(indexed, names, letters)
    return "*".join(reads), tuple(out)


def _side_by_side(formula: Formula) -> Iterator[Correction]:
    """Factors without an operator between them."""
    places: list[Span] = []
    before: re.Match[str] | None = None
    for token in _TOKEN.finditer(formula.text):
        if (
            before is not None
            and _ends_a_value(before)
            and (_is_value(token[0]) or (token[0] == "(" and not before[0][0].isidentifier()))
            and not (before[0] == "]" and token[0] == "(" and not _closes_a_read(formula, before))
        ):
            places.append((before.end(), token.start()))
        before = token
    yield from together([(start, end, "*") for start, end in places])


def _is_value(token: str) -> bool:
    return token[0].isalnum() and token not in _NO_VALUES


def _ends_a_value(token: re.Match[str]) -> bool:
    return _is_value(token[0]) or token[0] in "])"


def _closes_a_read(formula: Formula, bracket: re.Match[str]) -> bool:
    """Whether `]` closes the indices of a known tensor."""
    opening = formula.text.rfind("[", 0, bracket.start())
    name = re.search(r"\w+\s*$", formula.text[: max(opening, 0)])
    return name is not None and name[0].strip() in formula.shapes


def _sums_within(formula: Formula) -> Iterator[Correction]:
    """`relu(A[i,k]*x[k] + c[i])` as `relu(sum[k](A[i,k]*x[k]) + c[i])`, `exp(A[i,k])` as
    `sum[k](exp(A[i,k]))`, and `x[i]/y[k]` as `x[i]/sum[k](y[k])`."""
    found = _UNREDUCED.fullmatch(formula.error.message)
    if found is None or formula.error.span is None:
        return
    name, place = found[1], formula.error.span[0]
    read = re.compile(rf"\b[^\W\d]\w*\s*\[[^\[\]]*\b{name}\b[^\[\]]*\]")
    whole = next((r.span() for r in read.finditer(formula.text) if place < r.end()), None)
    groups = [span for _, span in formula.bracketed(_BRACKET) if span[0] <= place < span[1]]
    calls = [call for call in formula.calls() if call.span[0] <= place < call.span[1]]
    if any(formula[arg] == name for call in calls for arg in call.args):
        return  # `min(k, A[i,k])`: a reducer with its iterator
    if calls:
        call = min(calls, key=lambda call: call.span[0])
        whole, groups = call.span, [*call.args]
    places = [term for group in groups for term in _terms(formula, group)]
    terms = [term for term in places if read.search(formula[term])]
    if terms and all(len(read.findall(formula[term])) > 1 for term in terms):
        yield Correction(tuple(_summed(formula, name, term) for term in terms))
    if whole is not None:
        yield Correction((_summed(formula, name, whole),))


def _summed(formula: Formula, name: str, place: Span) -> Edit:
    return *place, f"sum[{name}]({formula[place]})"


def _terms(formula: Formula, place: Span) -> Iterator[Span]:
    """The terms of a sum, without their signs and the spaces around."""
    signs = [at for at in top_places(formula.text, place) if formula.text[at] in "+-"]
    for before, after in pairwise([place[0] - 1, *signs, place[1]]):
        part = formula.text[before + 1 : after]
        start = before + 1 + len(part) - len(part.lstrip())
        yield start, start + len(part.strip())
