"""The text of a definition, written out for a binding.

A definition is text in the notation, one or several statements, with placeholders:

    A[n,c,{stride}*h+{dilation}*r-{padding}]   integers of a window of the binding
    {factor} * A[b,k]                          the binding's coefficient; without it, that is 1
    reduce[k](A[b,k])                          the reducer of the stage
    where(i < {n}, A[b,i], ...)                a place where a condition of the stage on i changes;
                                               the dots: the same again for each further operand
    f(A[b,k])                                  an expression that reads the operands and nothing else

The indices at which an operand is read first are the roles, each played by any number of iterators
of the stage: those of the output by its loops, those of the last statement else by its sums.  An
operand of an earlier statement is read by a scope that the stage reads, directly or not, and what
is summed there is numbered after the iterators of the stage.

Each index is written out as the iterators that play its role, the text is parsed, and its tensors
are replaced by the operands.  For f, and for the scope of an earlier statement, all that the stage
holds are tried: if one of them makes the instance the stage, then the stage is an instance.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from einderive.derivations.checker.compare import borders
from einderive.derivations.checker.formal import NotShown, undecided, within
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Node, Scope
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.subst import accesses, rebuild, stages, substitute, terms
from einderive.ta.notation.parse import parse

FACTOR, EXPRESSION = "Factor", "Expression"
"""The tensors that stand for the coefficient and for f in what is parsed."""
_PARAMETER = re.compile(r"\{\w+\}")
_EXPRESSION = re.compile(r"\bf\([A-Z]\w*\[([^\]]*)\]\)")
_REPEATED = re.compile(r"\w+\([^()]*, \.\.\.\)")
_READ = re.compile(r"\b([A-Z]\w*)\[([^\]]*)\]")
_REDUCED = re.compile(r"\b(sum|max|min|prod|reduce)\[([^\]]*)\]")
_CUT = re.compile(r"\b([a-z]\w*) < \?")
_INDICES = re.compile(r"\[([^\]]*)\]")
_INDEX = re.compile(r"(?:(\?|\d+)\*)?\b([a-z]\w*)")

Written = Mapping[str, Mapping[str, int]]
"""For each index the names that it is written out as, with the iterators that they run like."""


class Inner(NamedTuple):
    """A scope that the stage reads: its loops as rows of the stage's iterators, and its sums."""

    loops: tuple[Row, ...] = ()
    sums: tuple[Range, ...] = ()


class Value(NamedTuple):
    """What a tensor of the text is: an expression over the iterators `held`, which stand for its
    dimensions."""

    body: Node
    held: Sequence[int] = ()


class Template:
    """A definition for a binding.  `first` has the indices of each operand's first read, `runs` the
    role in whose place an index that is none stands; `earlier` is the number of operands that the
    statements before the last read."""

    def __init__(self, text: str, binding: Binding) -> None:
        self.binding, self.stage, self.roles = binding, binding.scope, binding.roles
        self.takes_factor = "{factor}" in text
        text = _PARAMETER.sub("?", text.replace("{factor}", f"{FACTOR}[]"))
        text = _repeated(_EXPRESSION.sub(rf"{EXPRESSION}[\1]", text), len(binding.operands))
        self.statements = [_sides(part) for part in text.split(";")]
        self.first: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        self.earlier = 0
        defined = {FACTOR: ""}
        for left, right in self.statements:
            self.earlier = len(self.first)
            for name, indices in _READ.findall(right):
                place = defined[name] if name in defined else self.first.setdefault(name, indices)
                for role, index in zip(_names(place), _names(indices), strict=True):
                    if role != index:
                        self.runs[index] = role
            defined.update(_READ.findall(left))
        if set(self.roles) != {name for place in self.first.values() for name in _names(place)}:
            raise NotShown("the roles are not the indices of the definition")

    def instances(self, reducer: str) -> list[Scope]:
        """What the definition is for the binding, with this reducer for `reduce`; NotShown where
        the binding does not fit it."""
        found: list[Scope] = []
        for inner in self._inner():
            domain = (*self.stage.domain, *inner.sums)
            self._require_roles(domain)
            self._require_windows()
            values = self._values(inner)
            formula = self._formula(domain, reducer)
            found += [_replaced(formula, each, domain) for each in values]
        return found

    def _inner(self) -> list[Inner]:
        """What may be the scope of the earlier statements' operands: it reads them, and is read
        within its loops only."""
        reads = set(self.binding.operands[: self.earlier])
        if not reads:
            return [Inner()]
        box = dict(enumerate(self.stage.domain))
        pending = [(self.stage, tuple(map(affine.iterator, box)))]
        places: dict[Scope, tuple[Row, ...]] = {}
        for reader, at in pending:
            for access in accesses(reader.body):
                source = access.source
                if not isinstance(source, Scope) or source in places or access.free >> len(at):
                    continue
                rows = tuple(affine.substitute(row, at) for row in access.rows)
                if not undecided(within(rows, source.ranges), box):
                    places[source] = rows
                    pending.append((source, rows))
        found = [scope for scope in places if reads.issubset(accesses(scope.body))]
        if not found:
            raise NotShown("the stage reads no scope that reads the first operands")
        return [Inner(places[scope], scope.sums) for scope in found]

    def _require_roles(self, domain: Sequence[Range]) -> None:
        """NotShown unless each iterator plays one role of its kind; one of a single value may play
        none."""
        loops, own = len(self.stage.loops), len(self.stage.domain)
        left, right = (set(_names_within(side)) for side in self.statements[-1])
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
        """NotShown unless an operand holds two indices of one dimension in the row
        `unit*(a*h + b*r) + rest` alone, a and b as the definition has them.  What is summed may run
        backwards: b may be the negative of a number of the definition."""
        windows = list(self.binding.windows)
        for number, place in enumerate(self.first.values()):
            for indices in map(_INDEX.findall, place.split(",")):
                if len(indices) < 2:
                    continue
                window = windows.pop(0) if windows else None
                if window is None or window.operand != number:
                    raise NotShown("the binding has other windows than the definition")
                steps = {window.loop: window.stride, window.reduction: window.dilation}
                for (given, index), (iterator, step) in zip(indices, steps.items(), strict=True):
                    if self.roles[index] != (iterator,):
                        raise NotShown("a window's iterators do not play the definition's indices")
                    if given != "?" and abs(step) != int(given or 1):
                        raise NotShown("a window has another step than the definition")
                rows = list(self.binding.operands[number].rows)
                slide = Row(0, tuple(sorted(steps.items())))
                if 0 <= window.dimension < len(rows):
                    rows[window.dimension] = affine.add(rows[window.dimension], slide, -window.unit)
                if any(affine.iterators(row) & set(steps) for row in rows):
                    raise NotShown("an operand holds a window's iterators outside of the window")
        if windows:
            raise NotShown("the definition has no windows like the binding's")

    def _values(self, inner: Inner) -> list[dict[str, Value]]:
        """What the tensors are: the operands, or for f one expression after the other."""
        operands, earlier = self.binding.operands, self.earlier
        if EXPRESSION in self.first:
            bodies = [[node] for node in _expressions(self.stage.body, operands)]
        else:
            if not set(accesses(self.stage.body)).issuperset(operands[earlier:]):
                raise NotShown("an operand is not read by the stage")
            own = len(self.stage.domain)
            at = [*inner.loops, *(affine.iterator(own + s) for s in range(len(inner.sums)))]
            bodies = [[*(substitute(read, at) for read in operands[:earlier]), *operands[earlier:]]]
        if len(bodies[0]) != len(self.first):
            raise NotShown("the definition has another number of operands")
        factor = Value(expr.const(self.binding.coefficient))
        found = []
        for body in bodies:
            values = [
                Value(n, self._held(p)) for n, p in zip(body, self.first.values(), strict=True)
            ]
            if not all(set(affine.bits(value.body.free)).issubset(value.held) for value in values):
                raise NotShown("an operand holds an index that the definition does not give it")
            found.append({FACTOR: factor, **dict(zip(self.first, values, strict=True))})
        return found

    def _held(self, indices: str) -> list[int]:
        return [i for name in _names(indices) for i in self.roles[name]]

    def _formula(self, domain: Sequence[Range], reducer: str) -> Scope:
        """The text with each index written out as the iterators that play it, over the stage's
        loops; the tensors are counted from 0."""
        *earlier, (left, right) = self.statements
        names = [
            name for sides in self.statements for side in sides for name in _names_within(side)
        ]
        written = {
            name: {f"{name}_{i}": i for i in self.roles[self.runs.get(name, name)]}
            for name in names
        }
        loops = {i: new for name in _names_within(left) for new, i in written[name].items()}
        output = range(len(self.stage.loops))
        written["output"] = {loops.get(i, f"idle_{i}"): i for i in output}

        def reduced(match: re.Match[str]) -> str:
            indices = [new for name in _names(match[2]) for new in written[name]]
            return f"{reducer if match[1] == 'reduce' else match[1]}[{','.join(indices)}]"

        def read(match: re.Match[str]) -> str:
            indices = [item for name in _names(match[2]) for item in written[name].items()]
            if match[1] in self.first:
                indices = [(f"{new}{-domain[i].lo:+d}", i) for new, i in indices]
            return f"{match[1]}[{','.join(new for new, _ in indices)}]"

        lines = [f"{one} = {other}" for one, other in earlier]
        lines.append(f"Output[output] = {self._cut(right, written)}")
        text = _READ.sub(read, _REDUCED.sub(reduced, ";".join(lines)))
        shapes = {
            name: tuple(domain[i].extent for i in self._held(place))
            for name, place in self.first.items()
        }
        if self.takes_factor:
            shapes[FACTOR] = ()
        ranges = {new: domain[i] for each in written.values() for new, i in each.items()}
        (root,) = parse(text, shapes, ranges=ranges).roots()
        return root

    def _cut(self, text: str, written: Written) -> str:
        """The text with the places where conditions of the stage change, in rising order."""
        for index in dict.fromkeys(_CUT.findall(text)):
            ((new, loop),) = written[index].items()
            places = sorted({at for changing, at in borders(self.stage) if changing == loop})
            if len(places) != _CUT.findall(text).count(index):
                raise NotShown("the choice is not between ranges of the loop")
            for place in places:
                text = text.replace(f"{index} < ?", f"{new} < {place}", 1)
        return text


def _repeated(text: str, count: int) -> str:
    """The text with the part that ends in dots once for each operand, the last by itself."""
    found = _REPEATED.search(text)
    read = found and _READ.search(found[0])
    if not found or not read:
        return text
    repeated = ""
    for number in reversed(range(count)):
        operand = f"{read[1]}{number}[{read[2]}]"
        again = found[0].replace(read[0], operand).replace("...", repeated)
        repeated = again if repeated else operand
    return text.replace(found[0], repeated)


def _sides(statement: str) -> tuple[str, str]:
    left, right = statement.split("=", 1)
    return left, right


def _names(indices: str) -> list[str]:
    return [name for _, name in _INDEX.findall(indices)]


def _names_within(side: str) -> list[str]:
    return [name for indices in _INDICES.findall(side) for name in _names(indices)]


def _expressions(body: Node, operands: Sequence[Access]) -> list[Node]:
    """The parts of the body, and of its sums, that read the operands and nothing else."""
    found: dict[Node, None] = {}
    for node in terms(body):
        parts = [node]
        if isinstance(node, Add):
            parts.append(expr.add(*(t for t in node.terms if {*accesses(t)}.issubset(operands))))
        found |= {part: None for part in parts if accesses(part) == tuple(operands)}
    if not found:
        raise NotShown("the operands are not the reads of the body or of a part of it")
    return list(found)


def _replaced(formula: Scope, values: Mapping[str, Value], domain: Sequence[Range]) -> Scope:
    """The formula with expressions for its tensors."""
    done: dict[Scope, Scope] = {}

    def read(access: Access) -> Node:
        if isinstance(access.source, Scope):
            return expr.access(done[access.source], access.rows, access.fill)
        body, held = values[access.source.name]
        rows = zip(held, access.rows, strict=True)
        return substitute(body, {i: affine.shift(row, domain[i].lo) for i, row in rows})

    for stage in stages(formula):
        body = rebuild(stage.body, read)
        done[stage] = make_scope(stage.loops, stage.sums, body, stage.reducer)
    return done[formula]
