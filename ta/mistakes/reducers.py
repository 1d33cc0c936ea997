"""Reducers: the iterators stand in square brackets, and what is reduced in round ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.definitions import DEFINITIONS
from einderive.ta.functions import REDUCERS
from einderive.ta.mistakes.formula import Called, Formula, Line, indexed, top_places
from einderive.ta.mistakes.mistake import NEUTRAL, Correction, in_place, reduced_where, spelled

_ALIASES = spelled("reducers")
_WORDS = (*REDUCERS, *(name for name, reduces in DEFINITIONS if reduces))
REDUCED = {**{word: word for word in _WORDS}, **_ALIASES}
_ANY = "|".join(sorted(REDUCED, key=len, reverse=True))
_LOWERED = re.compile(
    rf"(?<![\w.])({_ANY})\s*_\s*(?:\{{\s*(\w+(?:\s*,\s*\w+)*)\s*\}}|([^\W_]+))\s*(?!\w)"
)
_ALONE = re.compile(rf"(?<![\w.])({_ANY})\s*\[([^\[\]:=]*)\]\s*(?![\s(=])")
_RANGED = re.compile(
    rf"(?<![\w.])({_ANY})\s*\[\s*(\w+)\s*(?:in|=|:)\s*(-?\w+)\s*:\s*(-?\w+)\s*\]\s*(?=\()"
)
_IN_ROUND = re.compile(
    rf"(?<![\w.])({_ANY})\s*\(\s*([^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)\s*\)\s*(?=\()"
)
_IN_CURLY = re.compile(rf"(?<![\w.])(?:{_ANY})\s*\[[^\[\]]*\]\s*\{{([^{{}}]*)\}}")
_OTHER_WORD = re.compile(rf"(?<![\w.])({'|'.join(_ALIASES)})(?=\s*\[[^\[\]]*\]\s*\()")
_DDOF = re.compile(r"(?:ddof|correction)\s*=\s*(\d+)|unbiased\s*=\s*(True|False)")
_OPTION = re.compile(r",\s*((?:correction|unbiased|axis|dim|keepdims?)\s*=\s*-?\w+)\s*(?=[,)])")
_AXIS = re.compile(r"(?:axis|dim)\s*=\s*(-?\d+)|(-?\d+)|(?:axis|dim)\s*=\s*\(([-\d,\s]*)\)")
_RUNNING = re.compile(r"\bcum(sum|prod|max|min)\s*(?:\[(\w+)\]\s*)?\(")
_NAMED_REDUCER = re.compile(rf"(?<![\w.])({_ANY})\s*\[[^\[\]]*\]\s*\(")
_KEEPS = ("softmax", "log_softmax")
_KEPT = re.compile(
    rf"the iterator (\w+) is not on the left and occurs only inside (?:{'|'.join(_KEEPS)})\["
)
_OF_TWO = ("maximum", "minimum", "max", "min")
_OF_ONE = (*_KEEPS, "argmax", "argmin")
_CONDITIONED = re.compile(rf"\b({_ANY})\s*\[([^\[\]]*[<>!=]=?[^\[\]]*)\]\s*\(")
_REDUCED = re.compile(r"\w\s*\[([^\[\]]*)\]\s*\(")
_READ = re.compile(r"([^\W\d]\w*)\s*\[([^\[\]:]+)\]")
_BOUND = re.compile(r"the iterator (\w+) is already bound here")
_LOOP = re.compile(r"(.*?)\s+for\s+(\w+)\s+in\s+range\(\s*(\w+)\s*(?:,\s*(\w+)\s*)?\)", re.DOTALL)


def _lowered(formula: Formula) -> Iterator[Correction]:
    """`sum_k(...)`, `sum_k A[i,k]*x[k]`, `sum[k] A[i,k]`."""
    for expression in (_LOWERED, _ALONE):
        for found in expression.finditer(formula.text):
            names = (found[2] or found[found.re.groups]).replace(" ", "")
            head = f"{REDUCED[found[1]]}[{names}]"
            rest = formula.text[found.end() :]
            start = len(formula.text) - len(rest.lstrip())
            if formula.text[start : start + 1] == "(":
                yield Correction(((found.start(), start, head),), found.span())
                continue
            end = _end_of_value(formula, start)
            edits = (found.start(), start, head + "("), (end, end, ")")
            yield Correction(edits, (found.start(), len(found[0].rstrip()) + found.start()))


def _end_of_value(formula: Formula, start: int) -> int:
    """Where the value ends that begins here: at the end of the brackets or of the statement."""
    end = formula.line_at(start).value[1]
    places = top_places(formula.text, (start, end))
    return next((place for place in places if formula.text[place] in ",)]}"), end)


def _other_brackets(formula: Formula) -> Iterator[Correction]:
    """`sum(k)(A[i,k])`, `sum[k]{A[i,k]}`."""
    for found in _IN_ROUND.finditer(formula.text):
        yield Correction(((*found.span(), f"{REDUCED[found[1]]}[{found[2]}]"),))
    for found in _IN_CURLY.finditer(formula.text):
        start, end = found.start(1), found.end(1)
        yield Correction(((start - 1, start, "("), (end, end + 1, ")")), (start - 1, end + 1))


def _other_words(formula: Formula) -> Iterator[Correction]:
    """`average[k](A[i,k])`, `amax[k](A[i,k])`."""
    for found in _OTHER_WORD.finditer(formula.text):
        yield Correction(((*found.span(), REDUCED[found[1]]),))


def _kept_on_the_left(formula: Formula) -> Iterator[Correction]:
    """`Y[i] = softmax[k](A[i,k])`: k is an index of the result."""
    found = _KEPT.match(formula.error.message)
    if found is not None and formula.error.span is not None:
        line = formula.line_at(formula.error.span[0])
        if line.name:
            target = f"{indexed(line.name, [*line.left, found[1]])} "
            yield Correction(((*line.target, target),), formula.error.span)


def _with_ranges(formula: Formula) -> Iterator[Correction]:
    for found in _RANGED.finditer(formula.text):
        line = formula.line_at(found.start())
        bound = f"{found[2]} in {found[3]}:{found[4]}"
        head = f"{REDUCED[found[1]]}[{found[2]}]"
        yield Correction(((found.start(), found.end(), head), line.stating(bound)))


def _under_conditions(formula: Formula) -> Iterator[Correction]:
    """`sum[k < i](A[i,k])`."""
    for found, inside in formula.bracketed(_CONDITIONED):
        line = formula.line_at(found.start())
        names = [name for name in re.findall(r"[^\W\d]\w*", found[2]) if name not in line.left]
        word = REDUCED[found[1]]
        if word in NEUTRAL and names:
            named = ",".join(dict.fromkeys(names))
            new = reduced_where(word, named, found[2].strip(), formula[inside])
            yield Correction(((found.start(), inside[1] + 1, new),), found.span(2))


def _bound_already(formula: Formula) -> Iterator[Correction]:
    """`Y[k] = sum[k](A[i,k])`: over what is not on the left, or over another iterator."""
    bound = _BOUND.match(formula.error.message)
    if bound is None or formula.error.span is None:
        return
    name, place = bound[1], formula.error.span
    for found, inside in formula.bracketed(_REDUCED):
        end = inside[1] + 1
        if not found.start(1) <= place[0] < found.end(1):
            continue
        line = formula.line_at(place[0])
        taken = {*line.left, *re.findall(r"\w+", found[1])}
        others = [each for each in formula.iterators(inside) if each not in taken]
        if others:
            yield Correction(((*place, ",".join(others)),))
        elif formula[line.value].endswith(formula.text[found.start(1) : end]):
            rest = [each for each in line.left if each != name]
            yield in_place(line, (*place, name), rest, place)
        (fresh,) = formula.fresh(1)
        same = re.finditer(rf"\b{name}\b", formula.text[found.start(1) : end])
        starts = [found.start(1) + each.start() for each in same]
        yield Correction(tuple((start, start + len(name), fresh) for start in starts))


def _softmax_by_hand(formula: Formula) -> Iterator[Correction]:
    """`exp(A[i,k])/sum(exp(A[i,k]))`."""
    for call in formula.calls("sum"):
        divided = re.search(r"\s*/\s*\Z", formula.text[: call.span[0]])
        start = formula.operand_before(divided.start()) if divided else -1
        if divided is None or start < 0 or len(call.args) != 1:
            continue
        above = formula.text[start : divided.start()]
        names = formula.iterators(call.args[0])
        if above == formula[call.args[0]] and above.startswith("exp(") and names:
            inside = above.removeprefix("exp(").removesuffix(")")
            new = f"softmax[{names[-1]}]({inside})"
            yield Correction(((start, call.span[1], new),), call.span, names[-1])


def _without_iterators(formula: Formula) -> Iterator[Correction]:
    """`sum(A)`, `max(A, axis=1)`, `sum(A[i,k], k)`, `sum(k, A[i,k])`, `sum(x[k] for k in ...)`."""
    for call in formula.calls(*REDUCED):
        if not call.args:
            continue
        line, word = formula.line_at(call.span[0]), REDUCED[call.name]
        if call.name in _OF_TWO and len(call.args) > 1 and _are_operands(formula, call):
            continue
        yield from _of_a_row(formula, call, line, word)
        loop = _LOOP.fullmatch(formula[call.args[0]])
        if loop and len(call.args) == 1:
            low, high = (loop[3], loop[4]) if loop[4] else ("0", loop[3])
            if not (low + high).isdigit() and word in NEUTRAL:
                condition = f"{loop[2]} < {high}" if low == "0" else f"{low} <= {loop[2]} < {high}"
                ends = reduced_where(word, loop[2], condition, loop[1])
                yield Correction(((*call.span, ends),), call.span)
                continue
            bound = f"{loop[2]} in {low}:{high}"
            new = f"{word}[{loop[2]}]({loop[1]})"
            yield Correction(((*call.span, new), line.stating(bound)), call.span)
            yield Correction(((*call.span, new),))
            continue
        yield from _of_elements(formula, call, line, word)
        if formula[call.args[0]] in formula.shapes:
            yield from _of_a_tensor(formula, call, line, word)


def _are_operands(formula: Formula, call: Called) -> bool:
    """`maximum(x, y)` and `max(x, 0)`, where no word says that the number is an axis."""
    if call.name in ("maximum", "minimum"):
        return True
    return all(re.fullmatch(r"-?[\d.]+", formula[arg]) for arg in call.args[1:])


def _of_elements(formula: Formula, call: Called, line: Line, word: str) -> Iterator[Correction]:
    """A reducer of an expression with indices: over those that are named, or not on the left."""
    for body, named in ((call.args[0], call.args[1:]), (call.args[-1], call.args[:-1])):
        names = [formula[name] for name in named]
        if names and all(re.fullmatch(r"[^\W\d]\w*", name) for name in names):
            yield Correction(((*call.span, f"{word}[{','.join(names)}]({formula[body]})"),))
            return
    body, own = call.args[0], formula.iterators(call.args[0])
    axes = _axes(formula, call, len(own))
    if axes is None or not own:
        return
    names = [own[axis] for axis in axes] or [name for name in own if name not in line.left]
    if word in _OF_ONE:
        names = names or [own[-1]]
        left = line.left if set(line.left) >= set(own) or word not in _KEEPS else own
        new = f"{word}[{names[-1]}]({formula[body]})"
        yield in_place(line, (*call.span, new), left, call.span)
    elif names:
        new = f"{word}[{','.join(names)}]({formula[body]}{_option(formula, call)})"
        yield Correction(((*call.span, new),))
    if not names:
        if formula[line.value] == formula[call.span]:
            rest = [name for name in line.left if name not in own]
            new = f"{word}[{','.join(own)}]({formula[body]})"
            yield in_place(line, (*call.span, new), rest, call.span)
        fresh, text = formula.fresh(len(own)), formula[body]
        for old, new in zip(own, fresh, strict=True):
            text = re.sub(rf"\b{old}\b", new, text)
        yield Correction(((*call.span, f"{word}[{','.join(fresh)}]({text})"),))


def _of_a_tensor(formula: Formula, call: Called, line: Line, word: str) -> Iterator[Correction]:
    """A reducer of a whole tensor, over all dimensions or some."""
    name = formula[call.args[0]]
    rank = formula.rank(name) or 0
    axes = _axes(formula, call, rank)
    if axes is None:
        return
    keeps = word in _KEEPS
    left = [index for index in line.left if index != "..."]
    if not axes:
        first = rank - 1 if word in _OF_ONE else len(left) if len(left) < rank else 0
        axes = tuple(range(first, rank))
    count = rank if keeps else rank - len(axes)
    kept = left if len(left) == count else list(formula.fresh(count))
    fresh = iter(formula.fresh(rank, kept))
    free = iter(kept)
    names = [next(free) if keeps or d not in axes else next(fresh) for d in range(rank)]
    over = ",".join(names[d] for d in axes)
    new = f"{word}[{over}]({name}[{','.join(names)}]{_option(formula, call)})"
    edit = (*call.span, new)
    whole = formula[line.value] == formula[call.span]
    if whole or line.left or not kept:
        yield in_place(line, edit, kept if whole else line.left, call.span)


def _of_a_row(formula: Formula, call: Called, line: Line, word: str) -> Iterator[Correction]:
    """`argmax(A[i])` of a matrix: a reducer of what has too few indices is over the others."""
    found = _READ.fullmatch(formula[call.args[0]])
    if found is None or len(call.args) > 1:
        return
    own = [name.strip() for name in found[2].split(",")]
    missing = len(formula.shapes.get(found[1], ())) - len(own)
    if missing < 1 or (missing > 1 and word in _OF_ONE):
        return
    names = formula.fresh(missing, line.left)
    read = indexed(found[1], [*own, *names])
    left = [*line.left] or [name for name in own if name.isidentifier()]
    left += [name for name in names if word in _KEEPS]
    new = f"{word}[{','.join(names)}]({read})"
    yield in_place(line, (*call.span, new), left, call.span)


def _option(formula: Formula, call: Called) -> str:
    """`, ddof=1` of a variance, with torch's word for it too."""
    if call.name not in ("var", "std"):
        return ""
    found = (_DDOF.fullmatch(formula[arg]) for arg in call.args[1:])
    return "".join(f", ddof={each[1] or int(each[2] == 'True')}" for each in found if each)


def _axes(formula: Formula, call: Called, rank: int) -> tuple[int, ...] | None:
    """The axes that the call names: none for all; None where they cannot be read."""
    found: list[int] = []
    for arg in call.args[1:]:
        written = _AXIS.fullmatch(formula[arg])
        if formula[arg] in ("keepdims=False", "keepdim=False", "axis=None"):
            continue
        whole = formula[formula.line_at(call.span[0]).value] == formula[call.span]
        if formula[arg] in ("keepdims=True", "keepdim=True") and not whole:
            continue  # what has no index of the dimension is the same along it
        if call.name in ("var", "std") and _DDOF.fullmatch(formula[arg]):
            continue
        if written is None:
            return None
        text = next(group for group in written.groups() if group is not None)
        found += [int(part) for part in text.split(",") if part.strip()]
    if any(not -rank <= axis < rank for axis in found):
        return None
    return tuple(sorted({axis % rank for axis in found}))


def _options(formula: Formula) -> Iterator[Correction]:
    """`var[k](A[i,k], correction=1)`, `mean[k](A[i,k], axis=1)`."""
    for found, inside in formula.bracketed(_NAMED_REDUCER):
        for option in _OPTION.finditer(formula.text, inside[0], inside[1] + 1):
            ddof = _DDOF.fullmatch(option[1].replace(" ", ""))
            if ddof and found[1] not in ("var", "std"):
                continue
            new = f", ddof={ddof[1] or int(ddof[2] == 'True')}" if ddof else ""
            yield Correction(((*option.span(), new),), option.span(1))


_ORDER = re.compile(r",\s*((?:ord|p)\s*=\s*(1|2|inf|np\.inf|torch\.inf))\s*(?=\))")
_NORMS = {"1": "sum[{0}](abs({1}))", "2": "norm[{0}]({1})", "inf": "max[{0}](abs({1}))"}


def _other_norms(formula: Formula) -> Iterator[Correction]:
    """`norm[k](A[i,k], ord=1)`."""
    for found, inside in formula.bracketed(re.compile(r"(?<![\w.])norm\s*\[([^\[\]]*)\]\s*\(")):
        order = _ORDER.search(formula.text, inside[0], inside[1] + 1)
        if order is not None:
            body = formula[(inside[0], order.start())]
            new = _NORMS[order[2].rpartition(".")[2]].format(found[1], body)
            yield Correction(((found.start(), inside[1] + 1, new),), order.span(1))


def _running(formula: Formula) -> Iterator[Correction]:
    """`cumsum(x)`, `cumsum[k](x[k])`: a reducer of the elements up to the one on the left."""
    for found, inside in formula.bracketed(_RUNNING):
        line = formula.line_at(found.start())
        body, *_ = formula.items(inside) or ((0, 0),)
        text, left = formula[body], list(line.left)
        if text in formula.shapes:
            rank = formula.rank(text) or 0
            left = left if len(left) == rank else list(formula.fresh(rank))
            text = f"{text}[{','.join(left)}]"
        left = left or list(formula.iterators(inside))
        if not left:
            continue
        last = found[2] if found[2] in left else left[-1]
        running = found[2] if found[2] and found[2] not in left else formula.fresh(1, left)[0]
        moved = text if running == found[2] else re.sub(rf"\b{last}\b", running, text)
        new = reduced_where(found[1], running, f"{running} <= {last}", moved)
        yield in_place(line, (found.start(), inside[1] + 1, new), left)
