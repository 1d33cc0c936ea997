"""A stage against the definition of the operator that is said to compute it.

The definition is a formula in the notation, `C[b,m,n] = A[b,m,k] * B[b,k,n]`.  A binding says which
iterators of the stage play each of its indices and which reads are its operands.  The formula is
written out with these iterators, parsed, and its tensors are replaced by the operands:

    stage  =  coefficient * {the formula, with  A[b,m,k] = {the first operand}  and so on}

and that is an equality of two scopes like any other.  How the binding was found does not matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from einderive.derivations.checker.compare import not_equal
from einderive.derivations.checker.families import Families
from einderive.derivations.checker.formal import NotShown, Term, undecided, variables_of, within
from einderive.derivations.checker.translate import Translation
from einderive.ta.errors import EinderiveError
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Apply, Condition, Mul, Node, Number, Reducer, Scope, Select
from einderive.ta.ir.operator import Binding, Window
from einderive.ta.ir.program import inline_statements
from einderive.ta.ir.subst import accesses, nested_scopes, stages, substitute, walk
from einderive.ta.notation.parse import parse

UNSHIFTED = "Y[b,k] = exp(X[b,k]) / sum[j](exp(X[b,j]))"
"""Softmax without the shift by its maximum: the same numbers, since exp(a-m) = exp(a)/exp(m)."""
ATTENTION = "O[b,i,e] = sum[j](exp(X[b,i,j]) / sum[t](exp(X[b,i,t])) * V[b,j,e])"
"""With X[b,i,j] = scale * S[d] Q[b,i,d]*K[b,j,d], up to what does not depend on j."""

ROLES = {"concat": "bi", "softmax": "bk", "repaired": "bk", "attention": "bijed"}
"""The roles of operators whose definition is not read as a formula."""
PLAIN = ("view", "pad_slice", "elementwise", "concat", "softmax", "repaired")

_READ = re.compile(r"\b([A-Z]\w*)\[([^\]]*)\]")
_REDUCED = re.compile(r"\b(sum|max|min|prod)\[([^\]]*)\]")
_INDICES = re.compile(r"\[([^\]]*)\]")
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
    problem = _misfit(stage, operator.name, binding)
    if problem is not None:
        return problem
    plain = operator.name in PLAIN
    if plain and binding.coefficient != 1:
        return f"{operator.name} has no factor"
    if binding.windows and (plain or operator.name == "attention"):
        return f"{operator.name} has no windows"
    try:
        match operator.name:
            case "view" | "pad_slice" | "elementwise":
                return _as_written(stage, operator.name, binding)
            case "repaired":
                return _computed(stage, binding)
            case "concat":
                return _concatenation(stage, binding)
            case "softmax":
                return _softmax(stage, operator.definition, binding)
            case "attention":
                return _attention(stage, binding)
        return _formula(stage, operator, binding)
    except (EinderiveError, NotShown, LookupError, ValueError) as error:
        return f"the definition does not fit: {error}"


def _misfit(stage: Scope, name: str, binding: Binding) -> str | None:
    """Is the binding one of this stage?  In an attention's, d and the first two operands are
    those of its logits' sum."""
    inner = name == "attention"
    held = [i for role, found in binding.roles.items() if role != "d" for i in found]
    if binding.scope is not stage:
        return "the binding is of another scope"
    if name in ROLES and set(binding.roles) != set(ROLES[name]):
        return "the roles are not the indices of the definition"
    read = {
        i for operand in binding.operands for row in operand.rows for i in affine.iterators(row)
    }
    # an iterator of one value that stands in no operand plays no role
    idle = [i for i, extent in enumerate(stage.extents) if extent == 1 and i not in (*held, *read)]
    if name in ROLES or name in PLAIN:
        idle = []
    if sorted([*held, *idle]) != list(range(len(stage.domain))):
        return "the roles do not hold each iterator once"
    if not set(accesses(stage.body)).issuperset(binding.operands[2 if inner else 0 :]):
        return "an operand is not read by the stage"
    return None


def _formula(stage: Scope, operator: Defined, binding: Binding) -> str | None:
    """An operator whose definition says all."""
    if stage.sums and stage.reducer not in operator.reducers:
        return f"{operator.name} does not reduce by {stage.reducer}"
    reducer: str = stage.reducer
    coefficient = binding.coefficient
    if coefficient < 0:
        reducer = REDUCERS[reducer].opposite or reducer
    left, right = re.sub(r"\{\w+\}", "", operator.definition).split("=", 1)
    names = {name for part in _INDICES.findall(left + right) for name in _NAME.findall(part)}
    if set(binding.roles) != names:
        return "the roles are not the indices of the definition"
    windows = iter(binding.windows)
    operands: dict[str, Operand] = {}
    for number, (name, text) in enumerate(_READ.findall(right)):
        operands[name] = _operand(stage, binding, number, text, windows)
    if len(operands) != len(binding.operands):
        return "the definition has another number of operands"
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
    names = _NAME.findall(left.partition("[")[2])
    return [i for name in names for i in binding.roles.get(name, ())]


def _index(iterator: int) -> str:
    return f"i{iterator}"


def _reduction(names: str, reducer: str, binding: Binding) -> str:
    indices = [_index(i) for name in _NAME.findall(names) for i in binding.roles.get(name, ())]
    return f"{reducer}[{','.join(indices)}]"


def _operand(
    stage: Scope, binding: Binding, number: int, text: str, windows: Iterator[Window]
) -> Operand:
    """The operand of this number over the iterators that the definition gives it, counted from 0,
    and its indices in the formula."""
    indices: list[str] = []
    ranges: list[Range] = []
    at: dict[int, Row] = {}
    read = binding.operands[number]
    rows = list(read.rows)
    for part in text.split(","):
        names = _NAME.findall(part)
        if len(names) == 1:
            for i in binding.roles.get(names[0], ()):
                at[i] = affine.shift(affine.iterator(len(ranges)), stage.domain[i].lo)
                ranges.append(_from_0(stage.extents[i]))
                indices.append(_index(i))
        else:
            window = next(windows, None)
            if window is None or window.operand != number or window.dimension < 0:
                raise NotShown("the binding has other windows than the definition")
            steps = ((window.loop, window.stride), (window.reduction, window.dilation))
            if tuple(binding.roles.get(name) for name in names) != tuple((i,) for i, _ in steps):
                raise NotShown("a window's iterators do not play the definition's indices")
            slide = Row(0, tuple(sorted(steps)))
            low, high = affine.bounds(slide, stage.domain)
            rest = affine.add(rows[window.dimension], slide, -window.unit)
            position = affine.shift(affine.iterator(len(stage.domain) + len(ranges)), low)
            rows[window.dimension] = affine.add(rest, position, window.unit)
            at[len(stage.domain) + len(ranges)] = affine.iterator(len(ranges))
            ranges.append(_from_0(high - low + 1))
            start = sum(a * stage.domain[i].lo for i, a in steps) - low
            indices.append(" + ".join([*(f"{a}*{_index(i)}" for i, a in steps), str(start)]))
    access = expr.access(read.source, [affine.substitute(row, at) for row in rows], read.fill)
    return Operand(make_scope(ranges, (), access), ",".join(indices))


def _from_0(extent: int) -> Range:
    return Range(0, extent)


def _instance(formula: str, tensors: Mapping[str, Scope]) -> Scope:
    """The formula with scopes for its tensors."""
    shapes = {name: scope.shape for name, scope in tensors.items()}
    program = parse(formula, shapes, dict.fromkeys(shapes, "float32"))
    return inline_statements(program.statements[0].scope, tensors)


def _compared(stage: Scope, root: Scope, loops: Sequence[int], coefficient: Number) -> str | None:
    """The stage against `coefficient * root`, whose dimensions are these loops counted from 0."""
    rows = [affine.shift(affine.iterator(i), -stage.domain[i].lo) for i in loops]
    body = expr.mul(expr.const(coefficient), expr.access(root, rows))
    return not_equal(stage, make_scope(stage.loops, (), body))


def _as_written(stage: Scope, name: str, binding: Binding) -> str | None:
    """A stage without a reduction that is computed as its body says."""
    if binding.roles != {"b": tuple(range(len(stage.loops)))}:
        return "the roles do not hold the loops in their order"
    if name != "elementwise" and (stage.body,) != binding.operands:
        return f"{name} is a single read"
    if name == "elementwise" and accesses(stage.body) != binding.operands:
        return "the operands are not the reads of the body"
    return None


def _computed(stage: Scope, binding: Binding) -> str | None:
    """A sum that is computed as its body says, by whatever steps the operator takes within."""
    first = len(stage.loops)
    roles = {"b": tuple(range(first)), "k": tuple(range(first, len(stage.domain)))}
    if binding.roles != roles or stage.reducer != "sum":
        return "the roles do not hold the loops and the sums in their order"
    if accesses(stage.body) != binding.operands:
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
                if [i for i, _ in row.terms] != [loop]:
                    return "the choice is not between ranges of the loop"
                a = row.coefficient(loop)
                borders.add(-(row.const // a) if a > 0 else row.const // -a + 1)
    cuts = sorted(borders)
    body: Node = binding.operands[-1]
    for cut, operand in zip(cuts[-2:0:-1], binding.operands[-2::-1], strict=True):
        inside = affine.shift(affine.scale(affine.iterator(loop), -1), cut - 1)
        body = expr.select([Condition(">=", inside)], operand, body)
    return not_equal(stage, make_scope(stage.loops, (), body))


def _softmax(stage: Scope, definition: str, binding: Binding) -> str | None:
    """The logits X are what is under the exponential in the stage, with or without the maximum
    that is subtracted there; the operands are all that they read."""
    logits = _exponent(stage)
    order = [*binding.roles["b"], *binding.roles["k"]]
    left_out = set(accesses(logits)) - set(binding.operands)
    formula = UNSHIFTED
    if left_out:  # the maximum that the definition subtracts again
        logits, formula = expr.add(logits, *left_out), definition
    if Counter(accesses(logits)) != Counter(binding.operands):
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


def _factors(stage: Scope) -> tuple[Node, ...]:
    return stage.body.factors if isinstance(stage.body, Mul) else ()


def _exponent(stage: Scope) -> Node:
    """The operand of the only function among the factors; ValueError without one."""
    (function,) = (factor for factor in _factors(stage) if isinstance(factor, Apply))
    return function.args[0]


def _over(stage: Scope, node: Node, order: Sequence[int]) -> Scope:
    """The expression as a tensor over the stage's iterators in this order, counted from 0."""
    at = {i: affine.shift(affine.iterator(p), stage.domain[i].lo) for p, i in enumerate(order)}
    return make_scope([(0, stage.extents[i]) for i in order], (), substitute(node, at))


def _attention(stage: Scope, binding: Binding) -> str | None:
    """The weights P are the read of a softmax; its logits X are, up to what does not depend on j,
    scale times the sum over d of the first two operands' product."""
    query, key, value = binding.operands
    (weights,) = (f for f in _factors(stage) if isinstance(f, Access) and f is not value)
    if not isinstance(weights.source, Scope):
        return "the weights are no softmax"
    order = [i for name in "bij" for i in binding.roles[name]]
    x = _over(stage, substitute(_exponent(weights.source), list(weights.rows)), order)
    v = _operand(stage, binding, 2, "b,j,e", iter(()))
    text = _spelled(ATTENTION, binding, "bije")
    loops = [i for name in "bie" for i in binding.roles[name]]
    problem = _compared(stage, _instance(text, {"X": x, "V": v.scope}), loops, Fraction(1))
    if problem is not None:
        return problem
    both = expr.mul(query, key)
    (product,) = (each for each in stages(x) if expr.split_coefficient(each.body)[1] is both)
    first = len(stage.domain)
    if binding.roles["d"] != tuple(range(first, first + len(product.sums))):
        return "the roles do not hold the iterators of the logits' sum"
    families = Families(x.loops)
    terms = Translation(families, {product}).scope(x, list(map(affine.iterator, range(len(order)))))
    j = len(order) - 1
    (score,) = (term for term in terms if j in variables_of(term))
    factor, _ = expr.split_coefficient(product.body)
    (read,) = score.atoms
    if product.reducer != "sum" or score != Term(score.coefficient, atoms=(read,)):
        return "the logits are not a sum of products of the first two operands"
    if read.leaf != families.source(product) or undecided(
        within(read.rows, product.ranges), families.box
    ):
        return "the logits are a sum of products at some places only"
    if score.coefficient * factor != binding.coefficient:
        return "the logits have another factor"
    at = [*read.rows, *(affine.constant(0) for _ in product.sums)]
    images = set(range(len(binding.roles["b"]), j))
    if j in _held(query, at) or not images.isdisjoint(_held(key, at)):
        return "the first two operands hold each other's index"
    return None


def _held(read: Access, at: Sequence[Row]) -> set[int]:
    """The iterators in the rows of the read, with these rows for the iterators of its scope."""
    return {i for row in read.rows for i in affine.iterators(affine.substitute(row, at))}
