"""Functions of whole arrays, and elements at places that are data: the statement of elements.

`words.toml` says which statement stands for a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod

from einderive.ta.mistakes.formula import Edit, Formula, Line, Span, indexed, results
from einderive.ta.mistakes.mistake import WORDS, Correction, in_place

_LIBRARY = r"(?<![\w.])(?:(?:np|numpy|jnp|torch|F|(?:torch\.)?nn\.functional)\.)?"
_ITERATOR = re.compile(r"\b[a-z]\b")
_ASSIGNED = re.compile(r"\s*(?<![-+!<>=])=(?!=)")
_NAMES = r"(?:\s*\[(?P<names>\s*\w+\s*(?:,\s*\w+\s*)*)\])?"
_TUPLE = r"\s*[(\[]?(?P<new>[-\d,\s]*)[)\]]?\s*,?\s*\)"
_RESHAPED = (
    re.compile(rf"{_LIBRARY}(?:reshape|ravel)\(\s*(?P<x>\w+)(?P<t>\.T)?\s*,?{_TUPLE}{_NAMES}"),
    re.compile(
        rf"\b(?P<x>[^\W\d]\w*)(?P<t>\.T)?\.(?:reshape|view|ravel|flatten)\({_TUPLE}{_NAMES}"
    ),
)
_ROLLED = re.compile(
    rf"{_LIBRARY}roll\(\s*(?P<x>[^\W\d]\w*)\s*(?:\[(?P<own>[\w,\s]*)\])?\s*,"
    r"\s*(?:(?:shift|shifts)\s*=\s*)?(?P<shift>-?\d+)\s*"
    rf"(?:,\s*(?:(?:axis|dims?)\s*=\s*)?(?P<axis>-?\d+)\s*)?\){_NAMES}"
)
_IDENTITY = re.compile(rf"{_LIBRARY}(?:eye|identity)\(\s*(?P<n>\d+)\s*\){_NAMES}")


_PLACED = re.compile(r"\{([^{}]*)\}")
_ARGUMENT = re.compile(r"\{(\w)\}|(\w+)=|\b([A-Z])\b|(, )|([(\[])|([)\]])")


@dataclass(frozen=True)
class _Call:
    """A call, and the statement of elements that stands for it.

    `{n}` in the call is a number.  In the statement, braces hold a sum of products of such numbers
    and of sizes: `{A0*n-1}`, where A0 is the size of A's first dimension."""

    head: str
    statement: str

    @cached_property
    def written(self) -> re.Pattern[str]:
        """The call, whose tensors may have indices."""
        words, bracket, args = self.head.partition("(")
        if not bracket:
            named = re.sub(r"\b[A-Z]\b", lambda t: rf"\b(?P<{t[0]}>[^\W\d]\w*)", self._escaped)
            return re.compile(named + r"(?![\w\[(.])")
        _, method, words = words.rpartition("Y.")
        before = r"\b(?P<Y>[^\W\d]\w*)(?:\[[^\[\]]*\])?\." if method else _LIBRARY
        items = _ARGUMENT.sub(_argument, args.removesuffix(")"))
        return re.compile(rf"{before}(?:{words.replace('.', '[.]')})\s*\(\s*{items}\s*\)")

    @property
    def _escaped(self) -> str:
        return re.escape(self.head)

    @cached_property
    def plain(self) -> str:
        """The statement, with 0 for numbers and sizes."""
        return _PLACED.sub("0", self.statement)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """How many dimensions each tensor has."""
        flat = re.sub(r"(?<=[A-Z])\[[^\[\]]*\](?=[^\[]*\])", "", self.plain)  # within others
        reads = re.findall(r"\b([A-IK-X])\[([^\[\]]*)\]", self.plain + flat)
        return {name: row.count(",") + 1 for name, row in reads}

    @property
    def left(self) -> list[str]:
        """The iterators on the left, in order."""
        return _ITERATOR.findall(self.plain.partition("=")[0])

    def corrections(self, formula: Formula) -> Iterator[Correction]:
        for found in self.written.finditer(formula.text):
            given = found.groupdict()
            tensors = {name: word for name, word in given.items() if name.isupper()}
            unknown = None if "(" in self.head else 0
            if any(formula.rank(tensors[t]) not in (unknown, n) for t, n in self.ranks.items()):
                continue
            numbers = {name: int(word) for name, word in given.items() if name.islower()}
            for name, word in tensors.items():
                shape = formula.shapes.get(word, ())
                numbers |= {f"{name}{axis}": size for axis, size in enumerate(shape)}
            if any(word not in numbers for word in re.findall(r"[A-Za-z]\w*", self._placed)):
                continue
            line = formula.line_at(found.start())
            whole = found[0] in (formula[line.value], formula[(line.start, line.value[1])])
            names = self._names(formula, line) | {"Y": line.name or next(results())} | tensors
            names |= {"J": next(name for name in ("J", "J1", "J2") if name not in formula.words())}
            parts = re.split(r"\b([a-zA-Z])\b", _filled(self.statement, numbers))
            text = "".join(names[part] if k % 2 else part for k, part in enumerate(parts))
            text, _, bounds = text.partition(" where ")
            correction: Correction | None = None
            if whole:
                correction = Correction(((line.start, line.value[1], text),), found.span())
            elif ";" not in text and "+=" not in text:
                out = line.left or [names[letter] for letter in self.left]
                value = text.partition(" = ")[2]
                value = f"({value})" if _is_sum(value) else value
                correction = in_place(line, (*found.span(), value), out, found.span())
            if correction is None:
                continue
            if bounds:
                stated = re.findall(r"(\w+) in \d+:(\d+)", bounds)
                over, sizes = [name for name, _ in stated], [int(size) for _, size in stated]
                if whole or _fits(formula, line, found.span(), over, sizes):
                    yield Correction((*correction.edits, line.stating(bounds)), found.span())
                continue
            yield correction
            shape = formula.shapes.get(tensors.get("A", ""), ())
            if "A[i,i]" in self.statement and len({*shape}) > 1:
                bound = line.stating(f"{names['i']} in 0:{min(shape)}")
                yield Correction((*correction.edits, bound), found.span())

    @property
    def _placed(self) -> str:
        return " ".join(_PLACED.findall(self.statement))

    def _names(self, formula: Formula, line: Line) -> dict[str, str]:
        """Of the iterators: those on the left of the line if they are as many, else free ones."""
        letters = dict.fromkeys(_ITERATOR.findall(self.plain))
        given = len(line.left) == len(self.left) and not {*line.left} & formula.shapes.keys()
        kept = line.left if given else ()
        names = dict(zip(self.left, kept, strict=False))
        others = [letter for letter in letters if letter not in names]
        return names | dict(zip(others, formula.fresh(len(others), line.left), strict=True))


def _argument(found: re.Match[str]) -> str:
    """A part of a call as a regular expression."""
    number, option, tensor, comma, opening, _ = found.groups()
    if number:
        return rf"(?P<{number}>-?\d+)"
    if option:
        return rf"(?:(?:{option}|dim)\s*=\s*)?"
    if tensor:
        return rf"\b(?P<{tensor}>[^\W\d]\w*)(?:\[[^\[\]]*\])?"
    return r"\s*,\s*" if comma else r"[(\[]\s*" if opening else r"\s*,?\s*[)\]]"


def _number(text: str, known: Mapping[str, int]) -> int:
    """The value of `A0*n-1`."""
    return sum(
        (-1 if sign == "-" else 1) * prod(int(known.get(f, f)) for f in term.split("*"))
        for sign, term in re.findall(r"([-+]?)([^-+]+)", text)
    )


def _filled(statement: str, known: Mapping[str, int]) -> str:
    """The statement with numbers in the place of its braces."""
    text = _PLACED.sub(lambda each: str(_number(each[1], known)), statement)
    return text.replace("+-", "-").replace("+0]", "]").replace("-0]", "]")


def _is_sum(value: str) -> bool:
    """Whether an operator of lower rank than a product stands outside of all brackets."""
    while (inner := re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", value)) != value:
        value = inner
    return re.search(r" [-+=<]+ ", value) is not None


_CALLS = [_Call(h, text) for text, heads in WORDS["arrays"].items() for h in heads.split(" / ")]
CALLED = frozenset(word for call in _CALLS for word in re.findall(r"\w{2,}", call.head))
"""The functions among them."""


def _calls(formula: Formula, *, adds: bool) -> Iterator[Correction]:
    for call in _CALLS:
        if adds is bool(re.search("[-+]=", call.statement)):
            yield from call.corrections(formula)


def _assigned(formula: Formula) -> Iterator[Correction]:
    """`Y[I[n]] = A[n]`, `Y[i+1] = A[i]`."""
    for line in formula.lines():
        start = line.target[1]
        found = _ASSIGNED.match(formula.text, start)
        if found and re.search(r"\[.*[\[+*-]", formula[line.target]):
            yield Correction(((start, found.end(), " +="),), line.target)


def _named(formula: Formula, line: Line, names: str | None, rank: int) -> list[str]:
    """The names of this many indices: those that are written, those on the left, or free ones."""
    if names is not None:
        return [name.strip() for name in names.split(",")]
    left = [name for name in line.left if name.isidentifier()]
    return left if len(left) == rank else list(formula.fresh(rank))


def _with_ranges(
    line: Line, edit: Edit, names: list[str], sizes: list[int], place: Span
) -> Iterator[Correction]:
    """The edit, with the ranges of its names where the line does not give them."""
    free = [(name, size) for name, size in zip(names, sizes, strict=True) if name.isidentifier()]
    out = line.left if len(line.left) >= len(free) else [name for name, _ in free]
    found = in_place(line, edit, out, place)
    yield found
    bounds = ", ".join(f"{name} in 0:{size}" for name, size in free)
    yield Correction((*found.edits, line.stating(bounds)), place)


def _reshaped(formula: Formula) -> Iterator[Correction]:
    """`x.reshape(3, 4)` as `x[4*i+j]`: the elements are numbered row by row."""
    for found in (match for each in _RESHAPED for match in each.finditer(formula.text)):
        shape = formula.shapes.get(found["x"])
        shape = shape[::-1] if shape and found["t"] else shape
        sizes = [int(size) for size in re.findall(r"-?\d+", found["new"])] or [-1]
        known = prod(size for size in sizes if size != -1)
        if shape is None or sizes.count(-1) > 1 or min(sizes) < -1 or not known:
            continue
        sizes = [prod(shape) // known if size == -1 else size for size in sizes]
        line = formula.line_at(found.start())
        names = _named(formula, line, found["names"], len(sizes))
        if prod(sizes) != prod(shape) or len(names) != len(sizes):
            continue
        end = found.end() if found["names"] is None else found.start("names") - 1
        place = found.start(), end
        number = "+".join(map(_scaled, names, _strides(sizes)))
        rows = _rows(number, shape)[:: -1 if found["t"] else 1]
        yield from _with_ranges(
            line, (*found.span(), indexed(found["x"], rows)), names, sizes, place
        )


def _rows(number: str, shape: Sequence[int]) -> list[str]:
    """The indices of the element with this number."""
    whole = f"({number})" if "+" in number or "*" in number else number
    return [
        (f"{whole}//{step}" if step > 1 else whole if axis else number)
        + (f"%{shape[axis]}" if axis else "")
        for axis, step in enumerate(_strides(shape))
    ]


def _strides(shape: Sequence[int]) -> list[int]:
    """How far apart neighbours along each dimension are."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _scaled(name: str, step: int) -> str:
    return name if step == 1 else f"{step}*{name}"


def _rolled(formula: Formula) -> Iterator[Correction]:
    """`np.roll(x, 1)` as `x[(i-1)%12]`."""
    for found in _ROLLED.finditer(formula.text):
        shape = formula.shapes.get(found["x"], ())
        axis = int(found["axis"] or 0)
        if not shape or not -len(shape) <= axis < len(shape):
            continue
        line = formula.line_at(found.start())
        names = _named(formula, line, found["names"] or found["own"], len(shape))
        if len(names) != len(shape):
            continue
        shift, size, rows = int(found["shift"]), shape[axis], list(names)
        if found["axis"] is None and len(shape) > 1:  # the elements in a row
            number = "+".join(map(_scaled, names, _strides(shape)))
            rows = _rows(f"({number}{-shift:+d})%{prod(shape)}", shape)
        else:
            moved = f"({rows[axis]}{-shift:+d})" if shift else rows[axis]
            rows[axis] = f"{moved}%{size}"
        edit = (*found.span(), indexed(found["x"], rows))
        if _fits(formula, line, found.span(), names, shape):
            yield from _with_ranges(line, edit, names, list(shape), found.span())


def _fits(
    formula: Formula, line: Line, span: Span, names: Sequence[str], sizes: Sequence[int]
) -> bool:
    """Whether what else the line reads has these sizes: without indices in its last dimensions,
    and where one of the names is an index alone."""
    extents = dict(zip(names, sizes, strict=True))
    for read in re.finditer(r"\b([^\W\d]\w*)\b(?:\s*\[([^\[\]]*)\])?(?![\w.(])", formula.text):
        shape = formula.shapes.get(read[1], ())
        if not line.value[0] <= read.start() < line.value[1] or span[0] <= read.start() < span[1]:
            continue
        if read[2] is None:
            own: Iterable[str] = names[len(names) - len(shape) :]
            if len(shape) > len(names):
                return False
            shape = shape[-len(names) :]
        else:
            own = (index.strip() for index in read[2].split(","))
        pairs = zip(own, shape, strict=False)
        if any(extents.get(index, size) not in (size, 1) for index, size in pairs):
            return False
    return True


def _identities(formula: Formula) -> Iterator[Correction]:
    """`np.eye(3)` as `where(i == j, 1, 0)`."""
    for found in _IDENTITY.finditer(formula.text):
        line, size = formula.line_at(found.start()), int(found["n"])
        names = _named(formula, line, found["names"], 2)
        if len(names) == 2:
            edit = (*found.span(), f"where({names[0]} == {names[1]}, 1, 0)")
            if not _fits(formula, line, found.span(), names, [size] * 2):
                continue
            yield from _with_ranges(line, edit, names, [size] * 2, found.span())


_added = partial(_calls, adds=True)
_called = partial(_calls, adds=False)
