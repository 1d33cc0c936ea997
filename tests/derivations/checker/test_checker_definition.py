"""Stages against the definitions of their operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from einderive.derivations.checker import not_an_instance
from einderive.derivations.matching.match import match
from einderive.derivations.search.graph import Stage
from einderive.eops.library import OPERATORS, by_name
from einderive.ta.ir import affine, expr
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.subst import accesses
from einderive.ta.notation.parse import parse
from einderive.ta.printing.show import show
from tests.amount import sampled
from tests.derivations.small import FORMULAS, MACHINES, searched

Shapes = dict[str, tuple[int, ...]]

WRITTEN: dict[str, tuple[str, Shapes]] = {
    "softmax": (
        "Y[i,j,t] = exp(3*X[i,t,j]+B[j])/sum[k](exp(3*X[i,t,k]+B[k]))",
        {"X": (3, 2, 4), "B": (4,)},
    ),
    "attention": (
        "S[b,i,j] = Q[b,i,d]*K[b,j,d]/4; M[b,i] = max[j](S[b,i,j]);"
        "P[b,i,j] = exp(S[b,i,j]-M[b,i])/sum[u](exp(S[b,i,u]-M[b,i]));"
        "O[b,i,e] = P[b,i,j]*V[b,j,e]",
        {"Q": (2, 3, 4), "K": (2, 5, 4), "V": (2, 5, 6)},
    ),
    "max_pool2d": (
        "Y[c,h,w] = max[r,s](A{fill=-inf}[c,2*h+r-1,w+2*s]) where h in 0:4, w in 0:3, r in 0:3,"
        "s in 0:3",
        {"A": (2, 8, 7)},
    ),
    "avg_pool1d": ("Y[h] = sum[r](A[3*h+r]/3) where h in 0:4, r in 0:3", {"A": (12,)}),
    "conv_transpose1d": (
        "Y[f,h] = A[c,i]*K[c,f,h+1-2*i] where h in 0:9",
        {"A": (2, 4), "K": (2, 3, 3)},
    ),
    "concat": (
        "Y[i,j] = where(j < 3, A[i,j], B[i,j-3]) where j in 0:8",
        {"A": (2, 3), "B": (2, 5)},
    ),
    "pad_slice": ("Y[i] = A[i-2] where i in 0:9", {"A": (4,)}),
    "reduction": ("Y[i] = max[k](-2*A[i,k])", {"A": (3, 4)}),
    "gather": (
        "Y[d,n,b] = sum[v](where(v == I[n,b], E[v,d,b], 0)) where v in -2:3",
        {"I": (4, 2), "E": (4, 3, 2)},
    ),
    "scatter": (
        "Y[d,b,v] = sum[n,m](where(v == I[n,b,m], A[m,d,n], 0)) where v in 1:4",
        {"I": (4, 2, 3), "A": (3, 2, 4)},
    ),
    "fft_real": ("Y[k,b] = sum[n](3*A[n,b]*cos(pi*k*n/3)) where k in 0:4", {"A": (6, 2)}),
    "fft_imaginary": ("Y[b,k] = sum[n](A[b,n]*sin(pi*k*n/3)) where k in 0:4", {"A": (2, 6)}),
    "fft": ("Y[k,b] = sum[n](3*A[n,b]*exp(-pi*1j*k*n/3)) where k in 0:4", {"A": (6, 2)}),
    "ifft": ("Y[b,k] = sum[n](A[b,n]*exp(pi*1j*k*n/3)) where k in 0:6", {"A": (2, 6)}),
    "argmin": ("Y[b,a] = argmin[n](A[n,b,a]) where b in 1:3", {"A": (4, 3, 2)}),
    "argmax": ("Y[b] = argmax[n](A[b,n])", {"A": (3, 4)}),
    "bincount": ("Y[v,b] = sum[n](v == I[n,b]) where v in -1:3", {"I": (4, 2)}),
}


@cache
def bound(name: str) -> Binding:
    text, shapes = WRITTEN[name]
    found = match(by_name(name), parse(text, shapes).roots()[0])
    assert isinstance(found, Binding), found
    return found


@cache
def stages_found() -> dict[Scope, Stage]:
    plans = (p for name in FORMULAS for machine in MACHINES for p in searched(name, machine).plans)
    return {s.scope: s for plan in plans for s in plan.stages if s.binding is not None}


def test_the_stages_of_searches_are_instances() -> None:
    names: Counter[str] = Counter()
    for stage in stages_found().values():
        assert stage.operator is not None
        assert stage.binding is not None
        operator = by_name(stage.operator)
        reason = not_an_instance(stage.scope, operator, stage.binding)
        assert reason is None, (operator.name, show(stage.scope), reason)
        names[operator.name] += 1
    assert len(names) >= 8


@pytest.mark.parametrize("name", WRITTEN)
def test_stages_as_they_are_written_are_instances(name: str) -> None:
    binding = bound(name)
    assert not_an_instance(binding.scope, by_name(name), binding) is None


@pytest.mark.parametrize("reducer", ["sum", "max"])
def test_a_negative_factor_turns_an_extreme_and_leaves_a_sum(reducer: str) -> None:
    operator = by_name("reduction")
    stage = parse(f"Y[i] = {reducer}[k](-2*A[i,k])", {"A": (3, 4)}).roots()[0]
    binding = match(operator, stage)
    assert isinstance(binding, Binding), binding
    assert binding.coefficient == -2
    assert not_an_instance(stage, operator, binding) is None
    other = "min" if reducer == "sum" else "sum"
    narrowed = replace(operator, reducers=(other,))
    assert not_an_instance(stage, narrowed, binding) is not None


def test_every_operator_is_met_in_one_number_of_dimensions() -> None:
    met = {str(stage.operator) for stage in stages_found().values()} | set(WRITTEN)
    kinds = {operator.name.rstrip("123d") for operator in OPERATORS} - {"view"}
    assert kinds == {name.rstrip("123d") for name in met}


Change = Callable[[Binding, Random], Binding]


def another_factor(binding: Binding, random: Random) -> Binding:
    return replace(binding, coefficient=binding.coefficient * random.choice((2, -1)))


def another_row(binding: Binding, random: Random) -> Binding:
    reads = list(binding.operands)
    place = random.randrange(len(reads))
    read = reads[place]
    rows = list(read.rows)
    if rows:
        row = random.randrange(len(rows))
        rows[row] = affine.shift(rows[row], random.choice((-1, 1)))
    reads[place] = expr.access(read.source, rows, read.fill)  # type: ignore[call-overload]
    return replace(binding, operands=tuple(reads))


def another_order(binding: Binding, random: Random) -> Binding:
    return replace(binding, operands=binding.operands[1:] + binding.operands[:1])


def another_fill(binding: Binding, random: Random) -> Binding:
    """Of an operand that is read outside of its source."""
    read = binding.operands[0]
    if affine.within(read.rows, read.source.ranges, binding.scope.domain):
        return binding
    first = expr.access(read.source, read.rows, read.fill + 1)
    return replace(binding, operands=(first, *binding.operands[1:]))  # type: ignore[arg-type]


def another_role(binding: Binding, random: Random) -> Binding:
    one, other = random.sample(sorted(binding.roles), 2)
    swapped = {one: binding.roles[other], other: binding.roles[one]}
    return replace(binding, roles={**binding.roles, **swapped})


def a_lost_iterator(binding: Binding, random: Random) -> Binding:
    name = random.choice([name for name, held in binding.roles.items() if held])
    return replace(binding, roles={**binding.roles, name: binding.roles[name][1:]})


def another_window(binding: Binding, random: Random) -> Binding:
    if not binding.windows:
        return binding
    first, *rest = binding.windows
    name = random.choice(("unit", "stride", "dilation", "dimension", "operand"))
    return replace(binding, windows=(replace(first, **{name: getattr(first, name) + 1}), *rest))


CHANGES: tuple[Change, ...] = (
    another_factor, another_row, another_order, another_role, a_lost_iterator, another_window,
    another_fill,
)  # fmt: skip


@sampled(4)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change.__name__))
def test_changed_bindings_are_refused(change: Change) -> None:
    """Most of them; some give an equal program: swapped operands of a product, say."""
    random = Random(change.__name__)
    refused: Counter[bool] = Counter()
    bindings = [stage.binding for stage in stages_found().values() if stage.binding is not None]
    for binding in [*bindings, *map(bound, WRITTEN)]:
        name = next(
            (str(s.operator) for s in stages_found().values() if s.binding is binding), None
        )
        operator = by_name(name or next(n for n in WRITTEN if bound(n) is binding))
        if (
            operator.name in ("elementwise", "pad_slice", "softmax")
            and change is not another_factor
        ):
            continue  # of these the stage itself says all
        changed = change(binding, random)
        if changed != binding:
            refused[not_an_instance(binding.scope, operator, changed) is not None] += 1
    assert refused[True] >= 4
    assert refused[False] <= 0.25 * refused.total(), refused


def test_a_window_of_a_false_stride_is_refused() -> None:
    binding = bound("max_pool2d")
    first, second = binding.windows
    for wrong in (replace(first, stride=3), replace(first, dilation=2), replace(first, unit=2)):
        changed = replace(binding, windows=(wrong, second))
        assert not_an_instance(binding.scope, by_name("max_pool2d"), changed) is not None


def test_what_only_looks_like_a_softmax_is_refused() -> None:
    text = "M[i] = max[j](X[i,j]); Y[i,j] = exp(X[i,j] - M[i])/sum[k](exp(2*X[i,k] - M[i]))"
    (scope,) = parse(text, {"X": (3, 4)}).roots()
    forged = Binding(scope, (), {"b": (0,), "k": (1,)})
    assert not_an_instance(scope, by_name("softmax"), forged) is not None
    over_rows = replace(bound("softmax"), roles={"b": (1, 2), "k": (0,)})
    assert not_an_instance(over_rows.scope, by_name("softmax"), over_rows) is not None


def test_a_softmax_with_other_operands_is_refused() -> None:
    for text in (
        "M[i] = max[j](X[i,j]); Y[i,j] = exp(X[i,j] - M[i])/sum[k](exp(X[i,k] - M[i]))",
        "Y[i,j] = exp(X[i,j])/sum[k](exp(X[i,k]))",
    ):
        (scope,) = parse(text, {"X": (3, 4)}).roots()
        binding = by_name("softmax").recognise(scope)
        assert isinstance(binding, Binding)
        assert not_an_instance(scope, by_name("softmax"), binding) is None
        (read,) = binding.operands
        moved = expr.access(read.source, [affine.shift(row, 1) for row in read.rows])
        others = [access for access in accesses(scope.body) if access is not read]
        for operands in ((), (moved,), (read, moved), (read, *others)):
            changed = replace(binding, operands=operands)
            assert not_an_instance(scope, by_name("softmax"), changed) is not None


def test_attention_with_other_operands_is_refused() -> None:
    binding = bound("attention")
    query, key, value = binding.operands
    operator = by_name("attention")
    for operands in ((query, value, key), (key, query, value), (value, key, query)):
        changed = replace(binding, operands=operands)
        assert not_an_instance(binding.scope, operator, changed) is not None
    doubled = replace(binding, coefficient=2 * binding.coefficient)
    assert not_an_instance(binding.scope, operator, doubled) is not None


def test_a_binding_of_another_scope_is_refused() -> None:
    one, other = bound("reduction"), bound("avg_pool1d")
    assert not_an_instance(other.scope, by_name("reduction"), one) is not None
