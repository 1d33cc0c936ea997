"""Values in an order that no size has a part in, and the same totals as before."""

from __future__ import annotations

from fractions import Fraction

import pytest

from einderive.eops.loops.arrange import dense, levels
from einderive.eops.loops.drafts.draft import Draft, drafted, merged
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.drafts.ordered import (
    LONG,
    SMALL,
    _short,
    _without_large,
    is_small,
    ordered,
)
from einderive.eops.loops.drafts.values import Choice, Constant, Load, Operation, Total, operands_of
from einderive.ta.ir.affine import Row
from tests.eops.loops.programs import grouped, require_right

SUM, GREATEST = "P[i] = sum[j](X[i,j]); ", "Q[i] = max[j](X[i,j]); "
RATIO = "Y[i] = Q[i]/(1+P[i]^2)"


def draft_of(text: str, **shapes: tuple[int, ...]) -> Draft:
    group = grouped(text, shapes)
    found = drafted(group, dense(group), alike(group, "float32"))
    assert found is not None
    return ordered(merged(found))


@pytest.mark.parametrize("text", [SUM + GREATEST + RATIO, GREATEST + SUM + RATIO])
def test_totals_keep_their_readers(text: str) -> None:
    found = draft_of(text, X=(5, 7))
    (quotient,) = (v for v in found.values if isinstance(v, Operation) and v.word == "/")
    above = found.values[quotient.args[0]]
    assert isinstance(above, Total)
    assert [one.reducer for one in found.reductions] == ["max", "sum"]
    assert found.reductions[above.reduction].reducer == "max"
    require_right(text, {"X": (5, 7)})


def test_totals_come_after_those_that_they_read() -> None:
    text = (
        "D[i] = sum[j](exp(X[i,j])); E[i] = max[j](X[i,j]/D[i]); F[i] = max[j](X[i,j]*E[i]);"
        "G[i] = sum[j](X[i,j]); Y[i] = F[i]*G[i]"
    )
    found = draft_of(text, X=(5, 7))
    known = levels(found.values, found.reductions)
    each = [known[one.value] for one in found.reductions]
    assert each == [0, 0, 1, 2]


TEXTS = {
    "stencil": "Y[i,j] = X[i-1,j]*2 + X[i+1,j]/3 + X[i,j-1]/7 + X[i,j+1]/{n} - 4*X[i,j] "
    "where i in 0:{n}, j in 0:{m}",
    "numbers": "Y[i,j] = X[i,j]*{n} + X[i,j]^2/{n} + exp(X[i,j])/3 + abs(X[i,j]*5)",
    "conditions": "Y[i,j] = where(i >= 3, X[i,j], 0) + where(j == 2, X[i,j], 0) "
    "+ where(i + j >= {n}, X[i,j], 0)",
    "words": "Y[i,j] = exp(X[i,j]) + abs(X[i,j]) + sqrt(X[i,j]) + tanh(X[i,j]) + sin(X[i,j])",
    "both ways": "Y[i,j] = X[i,j]/exp(X[i,j]) + exp(X[i,j])/X[i,j]",
    "relations": "Y[i,j] = where(i >= 3, X[i,j], 0) + where(i == 3, X[i,j], 0)",
    "quotients": "Y[i,j] = X[i//2,j] + X[i//3,j] + X[i,j//4] + X[(i+j)//{n},j]",
    "differences": "Y[i,j] = X[i,j] - exp(X[i,j]) + X[i,{m}-1-j] + maximum(X[i,j], X[0,j])",
    "moments": "M[i] = mean[k](X[i,k]); V[i] = mean[k]((X[i,k]-M[i])^2); "
    "Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i] + 1e-5)",
}


def shape_of(found: Draft) -> list[tuple[object, ...]]:
    """The values without large numbers."""
    said: list[tuple[object, ...]] = []
    for value in found.values:
        word = value.word if isinstance(value, Operation) else ""
        held = value.conditions if isinstance(value, Choice) else ()
        relations = tuple((one.relation, _without_large(one.row)) for one in held)
        number = value.value if isinstance(value, Constant) and is_small(value.value) else ""
        rows = ()
        if isinstance(value, Load):
            rows = tuple(_without_large(one.row) for one in value.checked)
            rows += (_without_large(value.offset),)
        said.append((type(value).__name__, word, relations, str(number), rows, operands_of(value)))
    return said


@pytest.mark.parametrize("name", TEXTS)
def test_the_order_is_the_same_for_all_sizes(name: str) -> None:
    shapes = [(40, 50), (37, 61), (61, 37), (90, 70), (100, 101), (33, 1000), (555, 77)]
    made = [shape_of(draft_of(TEXTS[name].format(n=n, m=m), X=(n, m))) for n, m in shapes]
    assert len(made[0]) > 3
    assert all(one == made[0] for one in made)


def test_small_numbers() -> None:
    assert is_small(SMALL)
    assert is_small(Fraction(-1, SMALL))
    assert not is_small(SMALL + 1)
    assert not is_small(-SMALL - 1)
    assert not is_small(Fraction(1, SMALL + 1))


def test_rows_without_large_numbers() -> None:
    inner = Row(-17, ((1, 16),), ())
    row = Row(0, ((0, 17), (1, -17), (2, -16)), ((inner, 17, 2),))
    assert _without_large(row) == "0 +i0 -i1 -16i2 2(- 16i1)//+"
    assert _without_large(Row(-3, (), ((Row(5, ((0, 1),), ()), 16, -17),))) == "-3 -(5 1i0)//16"


def test_long_keys_are_short() -> None:
    text = "x" * (LONG - len(str([""])))
    assert _short([text]) == str([text])
    assert len(_short([text + "x"])) == 32
