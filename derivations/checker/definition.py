"""A stage against the definition of the operator that is said to compute it.

The definition is a formula in the notation, `C[b,m,n] = A[b,m,k] * B[b,k,n]`.  A binding says which
iterators of the stage play each of its indices and which reads are its operands.  The formula is
written out with these iterators, parsed, and its tensors are replaced by the operands:

    stage  =  coefficient * {the formula, with  A[b,m,k] = {the first operand}  and so on}

and that is an equality of two scopes like any other.  How the binding was found does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from derivations.checker.axioms import OPPOSITE
from derivations.checker.compare import not_equal
from derivations.checker.families import Families
from derivations.checker.formal import Atom, NotShown, variables_of
from derivations.checker.translate import Translation
from ta import affine, expr
from ta.affine import Range, Row
from ta.canon import scope as make_scope
from ta.errors import EinderiveError
from ta.node import Access, Apply, Condition, Mul, Node, Number, Power, Reducer, Scope, Select
from ta.operator import Binding, Window
from ta.parse import parse
from ta.program import inline_statements
from ta.subst import accesses, nested_scopes, substitute, walk

UNSHIFTED = "Y[b,k] = exp(X[b,k]) / sum[j](exp(X[b,j]))"
"""Softmax without the shift by its maximum: the same numbers, since exp(a-m) = exp(a)/exp(m)."""
ATTENTION = "O[b,i,e] = sum[j](exp(X[b,i,j]) / sum[t](exp(X[b,i,t])) * V[b,j,e])"
"""With X[b,i,j] = scale * S[d] Q[b,i,d]*K[b,j,d], up to what does not depend on j."""

_LEFT = re.compile(r"\w+\[([^\]]*)\]")
_READ = re.compile(r"\b([A-Z]\w*)\[([^\]]*)\]")
_REDUCED = re.compile(r"\b(sum|max|min|prod)\[([^\]]*)\]")
_NAME = re.compile(r"[a-z]\w*")


class Defined(Protocol):
    """What is asked of an operator."""

    @property
    def name(self) -> str: ...
    @property
    def definition(self) -> str: ...
    @property
    def reducers(self) -> tuple[Reducer, ...]: ...


class Claim(NamedTuple):
    """A scope of a program is computed as one stage, by an operator as bound, or, without one, as
    it is written; `whole`: together with all that it reads.  `problem` says why a record's claim
    is about no stage of the program."""

    scope: Scope
    operator: Defined | None = None
    binding: Binding | None = None
    whole: bool = False
    problem: str = ""

    @property
    def needs(self) -> tuple[Scope, ...]:
        """The scopes whose values the stage reads."""
        if self.binding is None:
            return () if self.whole else nested_scopes(self.scope)
        return tuple(a.source for a in self.binding.operands if isinstance(a.source, Scope))


class Operand(NamedTuple):
    """A tensor of the definition: `scope` is what it holds, counted from 0."""

    scope: Scope
    indices: str


def not_an_instance(stage: Scope, operator: Defined, binding: Binding) -> str | None:
    """Why it is not shown that the stage is the operator's definition; None where it is."""
    if stage.empty:
        return "an iterator has an empty range"
    problem = _misfit(stage, binding)
    if problem is not None:
        return problem
    plain = operator.name in ("view", "pad_slice", "elementwise", "concat", "softmax")
    if plain and binding.coefficient != 1:
        return f"{operator.name} has no factor"
    try:
        match operator.name:
            case "view" | "pad_slice" | "elementwise":
                return _as_written(stage, operator.name, binding)
            case "concat":
                return _concatenation(stage, binding)
            case "softmax":
                return _softmax(stage, operator.definition, binding)
            case "attention":
                return _attention(stage, binding)
        return _formula(stage, operator, binding)
    except (EinderiveError, NotShown, LookupError, ValueError) as error:
        return f"the definition does not fit: {error}"


def _misfit(stage: Scope, binding: Binding) -> str | None:
    """Is the binding one of this stage?"""
    held = [i for name, role in binding.roles.items() if name != "d" for i in role]
    if binding.scope is not stage:
        return "the binding is of another scope"
    if len(set(held)) != len(held):
        return "an iterator plays two roles"
    if any(not 0 <= i < len(stage.domain) for i in held):
        return "a role is played by an iterator that is not there"
    for window in binding.windows:
        fits = 0 <= window.operand < len(binding.operands)
        if not fits or not 0 <= window.dimension < len(binding.operands[window.operand].rows):
            return "a window is in a dimension that is not there"
    return None


def _formula(stage: Scope, operator: Defined, binding: Binding) -> str | None:
    """An operator whose definition says all."""
    if stage.sums and stage.reducer not in operator.reducers:
        return f"{operator.name} does not reduce by {stage.reducer}"
    reducer: str = stage.reducer
    coefficient = binding.coefficient
    if coefficient < 0:
        reducer = OPPOSITE.get(reducer, reducer)
    left, right = re.sub(r"\{\w+\}", "", operator.definition).split("=", 1)
    windows = iter(binding.windows)
    operands: dict[str, Operand] = {}
    for (name, text), read in zip(_READ.findall(right), binding.operands, strict=True):
        operands[name] = _operand(stage, binding, read, text, windows)
    if next(windows, None) is not None:
        return "the binding has more windows than the definition"
    output = ",".join(_index(i) for i in _output(left, binding))
    right = _READ.sub(lambda m: f"{m[1]}[{operands[m[1]].indices}]", right)
    right = _REDUCED.sub(lambda m: _reduction(m[2], reducer, binding), right)
    held = sorted(i for role in binding.roles.values() for i in role)
    where = ", ".join(f"{_index(i)} in 0:{stage.extents[i]}" for i in held)
    formula = f"Y[{output}] = {right}" + (f" where {where}" if where else "")
    root = _instance(formula, {name: found.scope for name, found in operands.items()})
    return _compared(stage, root, _output(left, binding), coefficient)


def _output(left: str, binding: Binding) -> list[int]:
    """The stage's loops in the order of the definition's output."""
    found = _LEFT.search(left)
    names = _NAME.findall(found[1]) if found else []
    return [i for name in names for i in binding.roles.get(name, ())]


def _index(iterator: int) -> str:
    return f"i{iterator}"


def _reduction(names: str, reducer: str, binding: Binding) -> str:
    indices = [_index(i) for name in _NAME.findall(names) for i in binding.roles.get(name, ())]
    return f"{reducer}[{','.join(indices)}]" if indices else ""


def _operand(
    stage: Scope, binding: Binding, read: Access, text: str, windows: Iterator[Window]
) -> Operand:
    """The operand over the iterators that the definition gives it, counted from 0, and its indices
    in the formula."""
    indices: list[str] = []
    ranges: list[Range] = []
    at: dict[int, Row] = {}
    rows = list(read.rows)
    for part in text.split(","):
        names = _NAME.findall(part)
        if len(names) == 1:
            for i in binding.roles.get(names[0], ()):
                at[i] = affine.shift(affine.iterator(len(ranges)), stage.domain[i].lo)
                ranges.append(Range(0, stage.extents[i]))
                indices.append(_index(i))
        elif len(names) == 2:
            window = next(windows, None)
            if window is None:
                raise NotShown("the binding has fewer windows than the definition")
            steps = ((window.loop, window.stride), (window.reduction, window.dilation))
            if tuple(binding.roles.get(name) for name in names) != tuple((i,) for i, _ in steps):
                raise NotShown("a window's iterators do not play the definition's indices")
            slide = Row(0, tuple(sorted(steps)))
            low, high = affine.bounds(slide, stage.domain)
            rest = affine.add(rows[window.dimension], slide, -window.unit)
            position = affine.shift(affine.iterator(len(stage.domain) + len(ranges)), low)
            rows[window.dimension] = affine.add(rest, position, window.unit)
            at[len(stage.domain) + len(ranges)] = affine.iterator(len(ranges))
            ranges.append(Range(0, high - low + 1))
            start = sum(a * stage.domain[i].lo for i, a in steps) - low
            indices.append(" + ".join([*(f"{a}*{_index(i)}" for i, a in steps), str(start)]))
    for i, extent in enumerate(stage.extents):
        if extent == 1:
            at.setdefault(i, affine.constant(stage.domain[i].lo))
    used = set().union(*map(affine.iterators, rows))
    if not used <= set(at):
        raise NotShown("an operand depends on an iterator that its indices do not hold")
    access = expr.access(read.source, [affine.substitute(row, at) for row in rows], read.fill)
    return Operand(make_scope(ranges, (), access), ",".join(indices))


def _instance(formula: str, tensors: Mapping[str, Scope]) -> Scope:
    """The formula with scopes for its tensors."""
    shapes = {name: scope.shape for name, scope in tensors.items()}
    program = parse(formula, shapes, dict.fromkeys(shapes, "float32"))
    return inline_statements(program.statements[0].scope, tensors)


def _compared(stage: Scope, root: Scope, loops: Sequence[int], coefficient: Number) -> str | None:
    """The stage against `coefficient * root`, whose dimensions are these loops counted from 0."""
    rows = [affine.shift(affine.iterator(i), -stage.domain[i].lo) for i in loops]
    if any(i >= len(stage.loops) for i in loops):
        return "a reduction iterator plays the part of a loop"
    body = expr.mul(expr.const(coefficient), expr.access(root, rows))
    return not_equal(stage, make_scope(stage.loops, (), body))


def _as_written(stage: Scope, name: str, binding: Binding) -> str | None:
    """A stage without a reduction that is computed as its body says."""
    if stage.sums:
        return f"{name} does not reduce"
    if name != "elementwise" and (stage.body,) != binding.operands:
        return f"{name} is a single read"
    if name == "elementwise" and set(accesses(stage.body)) != set(binding.operands):
        return "the operands are not the reads of the body"
    return None


def _concatenation(stage: Scope, binding: Binding) -> str | None:
    """`Y[b,i] = where(i < n, A[b,i], B[b,i-n])` for parts cut at the borders in the conditions."""
    (loop,) = binding.roles["i"]
    bound = stage.domain[loop]
    borders = {bound.lo, bound.hi}
    for node in walk(stage.body):
        if isinstance(node, Select):
            for _, row in node.conditions:
                if row.floors or [i for i, _ in row.terms] != [loop]:
                    return "the choice is not between ranges of the loop"
                a = row.coefficient(loop)
                borders.add(-(row.const // a) if a > 0 else row.const // -a + 1)
    cuts = sorted(c for c in borders if bound.lo <= c <= bound.hi)
    if len(cuts) != len(binding.operands) + 1 or stage.sums:
        return "the parts are not as many as the operands"
    body: Node = binding.operands[-1]
    for cut, operand in zip(cuts[-2:0:-1], binding.operands[-2::-1], strict=True):
        inside = affine.shift(affine.scale(affine.iterator(loop), -1), cut - 1)
        body = expr.select([Condition(">=", inside)], operand, body)
    return not_equal(stage, make_scope(stage.loops, (), body))


def _softmax(stage: Scope, definition: str, binding: Binding) -> str | None:
    """The logits X are what is under the exponential in the stage, with or without the maximum
    that is subtracted there; the operands are all that they read."""
    logits = _exponent(stage)
    if logits is None:
        return "nothing is divided by a sum of exponentials"
    order = [*binding.roles["b"], *binding.roles["k"]]
    if sorted(order) != list(range(len(stage.loops))) or len(binding.roles["k"]) != 1:
        return "the roles do not hold every loop"
    read = set(accesses(logits))
    left_out = read - set(binding.operands)
    formula = UNSHIFTED
    if left_out:  # the maximum that the definition subtracts again
        logits, formula = expr.add(logits, *left_out), definition
    if len(left_out) > 1 or set(accesses(logits)) != set(binding.operands):
        return "the operands are not what the logits read"
    x = _over(stage, logits, order)
    return _compared(
        stage, _instance(_spelled(formula, binding, "b"), {"X": x}), order, Fraction(1)
    )


def _spelled(formula: str, binding: Binding, names: str) -> str:
    """The formula with the indices of these names written out as the iterators of their roles."""
    for name in names:
        indices = ",".join(_index(i) for i in binding.roles[name])
        formula = re.sub(rf"\b{name}\b", indices, formula)
    return re.sub(r"(?<=\[),+|,+(?=\])", "", re.sub(",+", ",", formula))


def _exponent(stage: Scope) -> Node | None:
    factors = stage.body.factors if isinstance(stage.body, Mul) else ()
    if stage.sums or not any(isinstance(f, Power) and f.exponent == -1 for f in factors):
        return None
    found = [f.args[0] for f in factors if isinstance(f, Apply) and f.function == "exp"]
    return found[0] if len(found) == 1 else None


def _over(stage: Scope, node: Node, order: Sequence[int]) -> Scope:
    """The expression as a tensor over the stage's iterators in this order, counted from 0."""
    at = {i: affine.shift(affine.iterator(p), stage.domain[i].lo) for p, i in enumerate(order)}
    if node.free & ~sum(1 << i for i in at):
        raise NotShown("an operand depends on an iterator that its indices do not hold")
    return make_scope([(0, stage.extents[i]) for i in order], (), substitute(node, at))


def _attention(stage: Scope, binding: Binding) -> str | None:
    """The weights P are the read of a softmax; its logits X are a scaled product of Q and K."""
    factors = stage.body.factors if isinstance(stage.body, Mul) else ()
    query, key, value = binding.operands
    weights = [f for f in factors if isinstance(f, Access) and f is not value] or [value]
    source = weights[0].source
    logits = _exponent(source) if isinstance(source, Scope) else None
    if logits is None or len(binding.roles["j"]) != 1:
        return "the weights are not divided by a sum of exponentials"
    order = [i for name in "bij" for i in binding.roles[name]]
    x = _over(stage, substitute(logits, list(weights[0].rows)), order)
    v = _operand(stage, binding, value, "b,j,e", iter(()))
    text = _spelled(ATTENTION, binding, "bije")
    loops = [i for name in "bie" for i in binding.roles[name]]
    problem = _compared(stage, _instance(text, {"X": x, "V": v.scope}), loops, Fraction(1))
    if problem is not None:
        return problem
    families = Families(x.loops)
    kept = {query.source, key.source}
    terms = Translation(families, kept).scope(x, [affine.iterator(i) for i in range(len(order))])
    over = len(order) - 1
    scores = [term for term in terms if over in variables_of(term)]
    leaves = tuple(map(families.source, (query.source, key.source)))
    if len(scores) != 1 or scores[0].leaves != tuple(sorted(leaves)):
        return "the logits are not a product of the first two operands"
    if scores[0].coefficient != binding.coefficient:
        return "the logits have another factor"
    images = range(len(binding.roles["b"]), over)
    for one, other in (scores[0].atoms, scores[0].atoms[::-1]):
        apart = over not in _held(one) and _held(other).isdisjoint(images)
        if (one.leaf, other.leaf) == leaves and apart:
            return None
    return "the first two operands hold each other's index"


def _held(atom: Atom) -> set[int]:
    return {i for row in atom.rows for i in affine.iterators(row)}
