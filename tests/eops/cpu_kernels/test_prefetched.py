"""Lines of results are fetched by a pass that computes functions of what has been read before."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.prefetched import prefetched
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.plan import Plan
from einderive.eops.loops.sizes import SIZES
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.interpreted import Memory, run, value_of
from tests.eops.loops.programs import data

SOFTMAX = (
    "M[i] = max[j](X[i,j]); E[i,j] = exp(X[i,j] - M[i]); S[i] = sum[j](E[i,j]); "
    "out Y[i,j] = E[i,j]/S[i]"
)
LOGARITHMS = (
    "M[i] = max[j](X[i,j]); S[i] = sum[j](exp(X[i,j] - M[i])); "
    "out Y[i,j] = X[i,j] - M[i] - log(S[i])"
)
TWO_LOOPS = (
    "M[i] = max[j,k](X[i,j,k] + B[k]); E[i,j,k] = exp(X[i,j,k] + B[k] - M[i]); "
    "S[i] = sum[j,k](E[i,j,k]); out Y[i,j,k] = E[i,j,k]/S[i]"
)
FETCHED = {
    "softmax": (SOFTMAX, {"X": (40, 96)}),
    "its logarithm": (LOGARITHMS, {"X": (40, 96)}),
    "rows of two loops": (TWO_LOOPS, {"X": (5, 6, 40), "B": (40,)}),
    "rows as long as what is kept": (LOGARITHMS, {"X": (2, SIZES.kept)}),
    "two results": (f"{SOFTMAX}; out Z[i,j] = E[i,j]*S[i]", {"X": (40, 96)}),
}
NOT_FETCHED = {
    "what is read from far away": (
        "S[i] = sum[j](exp(X[i,j])); out Y[i,j] = X[i,j]/S[i]",
        {"X": (40, 96)},
    ),
    "few operations": (
        "S[i] = sum[j](X[i,j]); V[i] = sum[j]((X[i,j] - S[i])^2); out Y[i,j] = X[i,j]/V[i]",
        {"X": (40, 96)},
    ),
    "results in columns": (SOFTMAX.replace("X[i,j]", "X[j,i]"), {"X": (96, 400)}),
    "results that lie apart": (
        SOFTMAX.replace("out Y[i,j]", "out Y[j,i]"),
        {"X": (40, 96)},
    ),
    "rows that are too long": (LOGARITHMS, {"X": (2, SIZES.kept + 1)}),
    "rows that are too long in the second loop": (
        "M[i] = max[j,k](X[i,j,k]); S[i] = sum[j,k](exp(X[i,j,k] - M[i])); "
        "out Y[i,j,k] = (X[i,j,k] - log(S[i]))*B[k]",
        {"X": (2, 3, 20_000), "B": (20_000,)},
    ),
    "results of another loop": (
        "M[i] = max[j](X[i,j]); S[i] = sum[j](exp(X[i,j] - M[i])); "
        "out Y[i,k,j] = X[i,j]*S[i] + B[k,j]",
        {"X": (5, 40), "B": (6, 40)},
    ),
    "functions that are kept": (
        "M[i] = max[j](X[i,j]); E[i,j] = exp(X[i,j] - M[i]); S[i] = sum[j](E[i,j]); "
        "T[i] = sum[j]((E[i,j] - S[i])^2); out Y[i,j] = E[i,j]*T[i]",
        {"X": (5, 40)},
    ),
    "functions outside of the loop": (
        "S[i] = sum[j](X[i,j]^2); T[i] = sum[j](abs(X[i,j] - log(S[i]))); out Y[i,j] = X[i,j]*T[i]",
        {"X": (5, 40)},
    ),
    "two results over what is kept": (
        "M[i] = max[j](X[i,j]); E[i,j] = exp(X[i,j] - M[i]); F[i,j] = exp(2*X[i,j] - M[i]); "
        "S[i] = sum[j](E[i,j]*F[i,j]); out Y[i,j] = E[i,j]/S[i]; out Z[i,j] = F[i,j]*S[i]",
        {"X": (2, 10_000)},
    ),
    "a result over what is kept": (SOFTMAX, {"X": (2, 20_000)}),
}


def planned(text: str, shapes: dict[str, tuple[int, ...]], dtype: str = "float32") -> Plan:
    roots = parse(text, shapes, dtype).roots()
    group = Group(tuple(stages(*roots)), roots)
    made = plan(group, dense(group), alike(group, dtype))
    assert made is not None
    return made


@pytest.mark.parametrize("name", FETCHED)
def test_lines_are_fetched_before_they_are_written(name: str) -> None:
    made = planned(*FETCHED[name])
    found = [prefetched(made, number) for number in range(len(made.phases))]
    writing = next(number for number, phase in enumerate(made.phases) if phase.outputs)
    looped = [number for number, phase in enumerate(made.phases[:writing]) if phase.loops]
    assert found[looped[-1]] == made.phases[writing].outputs
    assert sum(map(len, found)) == len(made.phases[writing].outputs)
    lines = Emitter(made).source().splitlines()
    (first, *_) = (place for place, line in enumerate(lines) if "prefetch(o0, " in line)
    assert first < next(place for place, line in enumerate(lines) if "store(o0, " in line)
    assert lines[first - 1].strip().endswith(", 16):")  # numbers in a line


@pytest.mark.parametrize("name", NOT_FETCHED)
def test_other_lines_are_not(name: str) -> None:
    made = planned(*NOT_FETCHED[name])
    assert not any(prefetched(made, number) for number in range(len(made.phases)))
    assert "prefetch" not in Emitter(made).source()


def test_lines_are_fetched_in_blocks_of_short_totals_only() -> None:
    """float64 has none: all lines of a row at once would wait for each other."""
    made = planned(SOFTMAX, {"X": (40, 96)}, "float64")
    assert any(prefetched(made, number) for number in range(len(made.phases)))
    assert "prefetch" not in Emitter(made).source()


def test_no_lines_are_fetched_where_several_steps_are_written_as_one() -> None:
    text = SOFTMAX.replace("X[i,j]", "X[i,j//2]").replace(";", " where j in 0:192;", 2)
    lines = Emitter(planned(text, {"X": (40, 96)})).source().splitlines()
    assert any("_1 = exp_float32" in line for line in lines)  # the second of two steps
    assert not any("prefetch" in line for line in lines)


@pytest.mark.parametrize("name", [name for name in FETCHED if "kept" not in name])
def test_no_line_outside_of_a_result_is_fetched(name: str) -> None:
    """Python runs the text and checks each address; the results are right."""
    text, shapes = FETCHED[name]
    made = planned(text, shapes)
    inputs = data(made.group.outputs, Random(name))
    operands = [Memory([*value_of(source, inputs).ravel()]) for source in made.group.operands]
    assert "prefetch" in Emitter(made).source()
    for found, out in zip(run(made, operands), made.group.outputs, strict=True):
        np.testing.assert_allclose(found, value_of(out, inputs), rtol=1e-6)


def test_each_line_is_fetched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one of which a row has a single number; 16 numbers are a line."""
    fetched = list[int]()
    monkeypatch.setattr(Memory, "prefetch", lambda _, index: fetched.append(index))
    rows, columns = 6, 97
    made = planned(SOFTMAX, {"X": (rows, columns)})
    inputs = data(made.group.outputs, Random(columns))
    run(made, [Memory([*value_of(source, inputs).ravel()]) for source in made.group.operands])
    expected = [columns * i + j for i in range(rows) for j in range(0, columns, 16)]
    assert sorted(fetched) == expected
