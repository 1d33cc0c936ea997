"""The text of a definition, written out for a binding.

A definition is text in the notation, one or several statements, with placeholders:

    A[n,c,{stride}*h+{dilation}*r-{padding}]    integers of a window of the binding
    {factor} * A[b,k]                           the coefficient of the binding
    reduce[k](A[b,k])                           the reducer of the stage
    where(I[n] == v, A[v], 0)                   an index as a value, which one iterator plays
    where(i < {n}, A[b,i], ...)                 where a condition of the stage on i changes; the
                                                dots: the same again for each further operand
    f(A[b,k])                                   an expression that reads the operands alone

The indices at which an operand is read first, and those of the output, are the roles, each played
by any number of iterators of the stage: those of the output by its loops, those of the last
statement else by its sums.  An operand of an earlier statement is read by a scope that the stage
reads, directly or not, and what is summed there is numbered after the iterators of the stage.

Each index is written out as the iterators that play its role, the text is parsed, and its tensors
are replaced by the operands.  For f, and for the scope of an earlier statement, all that the stage
holds are tried: if one of them makes the instance the stage, then the stage is an instance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from einderive.derivations.checker.compare import borders
from einderive.derivations.checker.formal import NotShown, undecided, within
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Add, Node, Scope, Tensor
from einderive.ta.ir.operator import Binding, Window
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.sources import rewritten
from einderive.ta.ir.subst import accesses, substitute, walk, with_children
from einderive.ta.notation.parse import parse

FACTOR, EXPRESSION = "Factor", "Expression"
"""Names of the tensors that stand for the coefficient and for f in the text that is parsed."""
_PARAMETER = re.compile(r"\{\w+\}")
_EXPRESSION = re.compile(r"\bf\(\w+\[([^\]]*)\]\)")
_REPEATED = re.compile(r"\w+\([^()]*?(\b\w+)\[([^\]]*)\], \.\.\.\)")
_CUT = re.compile(r"\b([a-z]\w*) < \?")
_INDEXED = re.compile(r"\b(\w+)\[([^\]]*)\]")
"""Tensors and reducers with their indices."""
_VALUE = re.compile(r"\b[a-z]\w*\b(?!\s*[\[(])")
"""Names without a bracket behind them."""
_INDEX = re.compile(r"(-?)(?:(\?|\d+)\*)?\b([a-z]\w*)")


Ranges = tuple[Range, ...]


class Value(NamedTuple):
    """An expression over the iterators `held`, which stand for the dimensions of a tensor."""

    body: Node
    held: Sequence[int] = ()


class Template:
    """A definition for a binding.

    - `tensors`: the indices of each operand's first read.
    - `runs`: for an index without a role of its own, the role that it runs as.
    - `earlier`: the number of operands that the statements before the last one read.
    """

    def __init__(self, text: str, binding: Binding) -> None:
        self.binding, self.stage, self.roles = binding, binding.scope, binding.roles
        self.takes_factor = "{factor}" in text
        text = _PARAMETER.sub("?", text.replace("{factor}", f"{FACTOR}[]"))
        text = _repeated(_EXPRESSION.sub(rf"{EXPRESSION}[\1]", text), len(binding.operands))
        self.statements = [part.partition("=")[::2] for part in text.split(";")]
        self.tensors: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        self.earlier = 0
        defined = {FACTOR: ""}
        for left, right in self.statements:
            self.earlier = len(self.tensors)
            for name, indices in _INDEXED.findall(right):
                if name[0].islower():
                    continue
                place = defined[name] if name in defined else self.tensors.setdefault(name, indices)
                self.runs.update(zip(_names(indices), _names(place), strict=True))
            defined.update(_INDEXED.findall(left))
        output = _indices(self.statements[-1][0])  # which no operand may have, as a scatter's
        places = (name for place in self.tensors.values() for name in _names(place))
        if set(self.roles) != {*places, *output}:
            raise NotShown("the roles are not the indices of the definition")

    def instances(self, reducer: str) -> Iterator[Scope]:
        """The scopes that the definition is for the binding, with this reducer for `reduce`.
        NotShown if the binding does not fit."""
        self._require_windows()
        formulas: dict[Ranges, Scope] = {}
        for operands, domain in self._operands():
            if domain not in formulas:
                formulas[domain] = self._formula(domain, reducer)
            yield _replaced(formulas[domain], self._values(operands), domain)

    def _operands(self) -> Iterator[tuple[Sequence[Node], Ranges]]:
        """The possible operands for the tensors, over the stage's iterators and those summed
        earlier, and the ranges of these, in at least one way."""
        reads, domain = self.binding.operands, self.stage.domain
        if EXPRESSION in self.tensors:
            yield from (([node], domain) for node in _expressions(self.stage.body, reads))
            return
        if len(reads) != len(self.tensors):
            raise NotShown("the definition has another number of operands")
        if not set(accesses(self.stage.body)).issuperset(reads[self.earlier :]):
            raise NotShown("an operand is not read by the stage")
        if not self.earlier:
            yield reads, domain
            return
        inner = [
            (scope, rows)
            for scope, rows in _scopes(self.stage)
            if set(accesses(scope.body)).issuperset(reads[: self.earlier])
        ]
        if not inner:
            raise NotShown("the stage reads no scope that reads the first operands")
        for scope, rows in inner:
            at = [
                *rows,
                *(affine.iterator(len(domain) + place) for place in range(len(scope.sums))),
            ]
            first = [substitute(read, at) for read in reads[: self.earlier]]
            yield (*first, *reads[self.earlier :]), (*domain, *scope.sums)

    def _values(self, operands: Sequence[Node]) -> Mapping[str, Value]:
        """The operands with the iterators that stand for their dimensions, and the coefficient."""
        found = {FACTOR: Value(expr.const(self.binding.coefficient))}
        for (name, place), operand in zip(self.tensors.items(), operands, strict=True):
            found[name] = Value(operand, self._held(place))
            if not set(affine.bits(operand.free)).issubset(found[name].held):
                raise NotShown("an operand holds an index that the definition does not give it")
        return found

    def _held(self, indices: str) -> list[int]:
        return [i for name in _names(indices) for i in self.roles[name]]

    def _require_roles(self, domain: Sequence[Range]) -> None:
        """NotShown unless each iterator plays one role of its kind; one of a single value may play
        none."""
        loops, own = len(self.stage.loops), len(self.stage.domain)
        left, right = (set(_indices(side)) for side in self.statements[-1])
        for name, held in self.roles.items():
            kind = range(loops) if name in left else range(loops, own)
            if name not in left | right:
                kind = range(own, len(domain))
            if not set(held).issubset(kind) or list(held) != sorted(set(held)):
                raise NotShown("the roles do not hold the loops and the sums in their order")
        every = [i for held in self.roles.values() for i in held]
        idle = [i for i in range(own) if domain[i].extent == 1 and i not in every]
        if sorted([*every, *idle]) != list(range(len(domain))):
            raise NotShown("the roles do not hold each iterator once")

    def _require_windows(self) -> None:
        """NotShown unless the binding's windows are those of the definition, in its order."""
        windows = list(self.binding.windows)
        for number, place in enumerate(self.tensors.values()):
            for indices in map(_INDEX.findall, place.split(",")):
                if len(indices) > 1 and not (
                    windows and self._slides(windows.pop(0), number, indices)
                ):
                    raise NotShown("the binding has other windows than the definition")
        if windows:
            raise NotShown("the definition has no windows like the binding's")

    def _slides(self, window: Window, number: int, indices: Sequence[tuple[str, ...]]) -> bool:
        """Whether the operand of this number holds the two indices in the row `unit*(a*h + b*r) +
        rest` alone, with the definition's numbers a and b.  All numbers are positive, except that b
        may be the negative of a number that the definition adds: a summed iterator may run
        backwards."""
        steps = {window.loop: window.stride, window.reduction: window.dilation}
        slide = Row(0, tuple(sorted(steps.items())))
        rows = list(self.binding.operands[number].rows)
        if 0 <= window.dimension < len(rows):
            rows[window.dimension] = affine.add(rows[window.dimension], slide, -window.unit)
        return (
            window.operand == number
            and window.unit > 0
            and not any(affine.iterators(row) & steps.keys() for row in rows)
            and all(
                self.roles[index] == (i,)
                and (given == "?" or abs(step) == int(given or 1))
                and (step < 0 if sign else step > 0 or (step < 0 and i == window.reduction))
                for (sign, given, index), (i, step) in zip(indices, steps.items(), strict=True)
            )
        )

    def _formula(self, domain: Sequence[Range], reducer: str) -> Scope:
        """The text with each index written out as the iterators that play it, over the stage's
        loops; the tensors are counted from 0."""
        self._require_roles(domain)
        *earlier, (left, right) = self.statements
        names = {name for sides in self.statements for side in sides for name in _indices(side)}
        played = {name: self.roles[self.runs.get(name, name)] for name in names}
        written = {name: {f"{name}_{i}": i for i in held} for name, held in played.items()}
        loops = {i: new for name in _indices(left) for new, i in written[name].items()}
        written["output"] = {loops.get(i, f"idle_{i}"): i for i in range(len(self.stage.loops))}

        def write(match: re.Match[str]) -> str:
            name, indices = match.groups()
            found = [item for index in _names(indices) for item in written[index].items()]
            if name in self.tensors:
                found = [(f"{new}{-domain[i].lo:+d}", i) for new, i in found]
            return f"{reducer if name == 'reduce' else name}[{','.join(new for new, _ in found)}]"

        cuts = _CUT.findall(right)
        changing = {i for index in cuts for i in played[index]}
        places = sorted({at for loop, at in borders(self.stage) if loop in changing})
        if len(places) != len(cuts):
            raise NotShown("the choice is not between ranges of the loop")
        right = _CUT.sub(lambda cut: f"{''.join(written[cut[1]])} < {places.pop(0)}", right)
        lines = [f"{one} = {other}" for one, other in (*earlier, ("Output[output]", right))]

        def value(match: re.Match[str]) -> str:
            """An index that stands as a value: one iterator plays it."""
            if match[0] not in played:
                return match[0]
            (found,) = written[match[0]]
            return found

        tensors = {FACTOR: "", **self.tensors} if self.takes_factor else self.tensors
        (root,) = parse(
            _VALUE.sub(value, _INDEXED.sub(write, ";".join(lines))),
            {name: [domain[i].extent for i in self._held(at)] for name, at in tensors.items()},
            ranges={new: domain[i] for each in written.values() for new, i in each.items()},
        ).roots()
        return root


def _repeated(text: str, count: int) -> str:
    """The text with the part that ends in dots once for each operand, the last by itself."""
    found = _REPEATED.search(text)
    if found is None:
        return text
    repeated = ""
    for number in reversed(range(count)):
        operand = f"{found[1]}{number}[{found[2]}]"
        again = found[0].replace(f"{found[1]}[{found[2]}]", operand).replace("...", repeated)
        repeated = again if repeated else operand
    return text.replace(found[0], repeated)


def _names(indices: str) -> list[str]:
    return [name for *_, name in _INDEX.findall(indices)]


def _indices(side: str) -> list[str]:
    return [name for _, indices in _INDEXED.findall(side) for name in _names(indices)]


def _expressions(body: Node, operands: Sequence[Access]) -> Iterable[Node]:
    """The parts of the body, and of its sums, that read the operands and nothing else."""
    parts: list[Node] = []
    for node in walk(body):
        parts.append(node)
        if isinstance(node, Add):
            parts.append(expr.add(*(t for t in node.terms if {*accesses(t)}.issubset(operands))))
    found = dict.fromkeys(part for part in parts if accesses(part) == tuple(operands))
    if not found:
        raise NotShown("the operands are not the reads of the body or of a part of it")
    return found


def _scopes(stage: Scope) -> list[tuple[Scope, tuple[Row, ...]]]:
    """The stage and the scopes that it reads, directly or not, within their loops: each once, at
    rows of the stage's iterators."""
    box = dict(enumerate(stage.domain))
    found = {stage: tuple(map(affine.iterator, box))}
    pending = [stage]
    for reader in pending:
        for access in accesses(reader.body):
            source, at = access.source, found[reader]
            if isinstance(source, Scope) and source not in found and not access.free >> len(at):
                rows = tuple(affine.substitute(row, at) for row in access.rows)
                if not undecided(within(rows, source.ranges), box):
                    found[source] = rows
                    pending.append(source)
    return list(found.items())


def _replaced(formula: Scope, values: Mapping[str, Value], domain: Sequence[Range]) -> Scope:
    """The formula with expressions for its tensors."""

    def step(node: Node, parts: tuple[Node, ...]) -> Node:
        match node:
            case Access(source=Tensor() as tensor, rows=rows) if is_input(tensor):
                body, held = values[tensor.name]
                at = zip(held, rows, strict=True)
                return substitute(body, {i: affine.shift(row, domain[i].lo) for i, row in at})
        return with_children(node, parts)

    return rewritten([formula], step)[0]
