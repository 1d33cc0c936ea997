"""Functions of whole arrays, and elements at places that are data: the statement of elements.

`words.toml` says which statement stands for a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from einderive.ta.mistakes.formula import Formula, Line, results
from einderive.ta.mistakes.mistake import WORDS, Correction, Mistake, in_place

_LIBRARY = r"(?<![\w.])(?:(?:np|numpy|jnp|torch|F|(?:torch\.)?nn\.functional)\.)?"
_ITERATOR = re.compile(r"\b[a-z]\b")
_ASSIGNED = re.compile(r"\s*(?<![-+!<>=])=(?!=)")


@dataclass(frozen=True)
class _Call:
    """A call, and the statement of elements that stands for it."""

    head: str
    statement: str

    @cached_property
    def written(self) -> re.Pattern[str]:
        """The call, whose tensors may have indices."""
        words, bracket, args = self.head.rstrip(")").partition("(")
        indices = r"(?:\[[^\[\]]*\])?" * bool(bracket)

        def tensors(text: str) -> str:
            return re.sub(r"\b[A-Z]\b", lambda t: rf"\b(?P<{t[0]}>[^\W\d]\w*){indices}", text)

        if not bracket:
            return re.compile(tensors(re.escape(self.head)) + r"(?![\w\[(.])")
        _, method, words = words.rpartition("Y.")
        before = tensors("Y") + r"\." if method else _LIBRARY
        args = re.sub(r"(\w+)=", lambda option: rf"(?:(?:{option[1]}|dim)\s*=\s*)?", tensors(args))
        items = args.replace(", ", r"\s*,\s*")
        return re.compile(rf"{before}(?:{words.replace('.', '[.]')})\s*\(\s*{items}\s*\)")

    @cached_property
    def ranks(self) -> dict[str, int]:
        """How many dimensions each tensor has."""
        flat = re.sub(r"(?<=[A-Z])\[[^\[\]]*\](?=[^\[]*\])", "", self.statement)  # within others
        reads = re.findall(r"\b([A-IK-X])\[([^\[\]]*)\]", self.statement + flat)
        return {name: row.count(",") + 1 for name, row in reads}

    @property
    def left(self) -> list[str]:
        """The iterators on the left, in order."""
        return _ITERATOR.findall(self.statement.partition("=")[0])

    def corrections(self, formula: Formula) -> Iterator[Correction]:
        for found in self.written.finditer(formula.text):
            tensors = found.groupdict()
            unknown = None if "(" in self.head else 0
            if any(formula.rank(tensors[t]) not in (unknown, n) for t, n in self.ranks.items()):
                continue
            line = formula.line_at(found.start())
            whole = found[0] in (formula[line.value], formula[(line.start, line.value[1])])
            names = self._names(formula, line) | {"Y": line.name or next(results())} | tensors
            names |= {"J": next(name for name in ("J", "J1", "J2") if name not in formula.words())}
            parts = re.split(r"\b([a-zA-Z])\b", self.statement)
            text = "".join(names[part] if k % 2 else part for k, part in enumerate(parts))
            if whole:
                yield Correction(((line.start, line.value[1], text),), found.span())
            elif ";" not in text and "+=" not in text:
                out = line.left or [names[letter] for letter in self.left]
                yield in_place(line, (*found.span(), text.partition(" = ")[2]), out, found.span())

    def _names(self, formula: Formula, line: Line) -> dict[str, str]:
        """Of the iterators: those on the left of the line if they are as many, else free ones."""
        letters = dict.fromkeys(_ITERATOR.findall(self.statement))
        given = len(line.left) == len(self.left) and not {*line.left} & formula.shapes.keys()
        kept = line.left if given else ()
        names = dict(zip(self.left, kept, strict=False))
        others = [letter for letter in letters if letter not in names]
        return names | dict(zip(others, formula.fresh(len(others), line.left), strict=True))


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


MISTAKES = (
    Mistake(
        "an index of `{found}` is not an iterator alone: several elements may go to one place",
        "add them up, and give the shape of the result",
        _assigned,
    ),
    Mistake(
        "`{found}` is of whole arrays",
        "add to the elements, and give the shape of the result",
        partial(_calls, adds=True),
    ),
    Mistake("`{found}` is of whole arrays", "write the elements", partial(_calls, adds=False)),
)
