"""Random indices reach the dimension that they pick from."""

import torch

from einderive.frontend.accuracy.inputs.drawn import random_inputs
from einderive.frontend.api.formula import parse
from einderive.frontend.assumptions.indices import reach_of
from einderive.ta.ir.affine import Range


def test_gathers_scatters_and_other_integers() -> None:
    gather = parse("Y[n,b] = E[I[n],b] + K[n]", E=(300, 2), I=(4000,), K=(4000,), dtypes=TYPES)
    scatter = parse("Y[I[n]] += A[n]", A=(4000,), I=(4000,), Y=(50,), dtypes=WHOLE)
    for program, size in ((gather, 300), (scatter, 50)):
        reach = reach_of(program)
        assert {tensor.name: bound for tensor, bound in reach.items()} == {"I": Range(0, size)}
        values = random_inputs(program.inputs, "cpu", reach=reach)
        named = {tensor.name: value for tensor, value in values.items()}
        inside = named["I"][(named["I"] >= 0) & (named["I"] < size)]
        assert len(inside.unique()) > 0.9 * size
        assert {-1, size} < {*named["I"].tolist()}
        assert len(inside) > 0.9 * 4000
        if "K" in named:
            assert {*named["K"].tolist()} == {*range(-8, 8)}


def test_a_narrow_type_and_an_assumption_are_kept() -> None:
    program = parse("assume I >= 3; Y[n] = E[I[n]]", E=(300,), I=(999,), dtypes={"I": "int8"})
    (values,) = (
        v for t, v in random_inputs(program.inputs, "cpu", reach=reach_of(program)).items()
        if t.name == "I"
    )  # fmt: skip
    assert values.dtype is torch.int8
    assert values.min() >= 3
    assert values.max() > 100


WHOLE = {"I": "int64"}
TYPES = {**WHOLE, "K": "int64"}
