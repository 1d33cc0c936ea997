"""Every side condition of the kernel: a witness that breaks it alone, with the reason given; and
what neighbouring witnesses, which keep it, prove.

`python -m tests.mutants kernel` leaves the conditions out one by one; each has a line here or in
the tests of its module.
"""

from __future__ import annotations

import pytest

from einderive.derivations.rules import RULES
from einderive.derivations.steps import kernel
from einderive.derivations.steps.centre import Centre
from einderive.derivations.steps.contract_pairs import ContractPairs
from einderive.derivations.steps.distribute import Distribute
from einderive.derivations.steps.expand import Expand
from einderive.derivations.steps.exponential import Exponential
from einderive.derivations.steps.factor import Factor
from einderive.derivations.steps.fuse import Fuse
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.materialise import Materialise
from einderive.derivations.steps.merge import Merge
from einderive.derivations.steps.pull import Pull
from einderive.derivations.steps.read_part import ReadPart
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.derivations.steps.scale import Scale
from einderive.derivations.steps.split_range import SplitRange
from einderive.derivations.steps.split_sum import SplitSum
from einderive.ta.equality.compare import compare
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Scope
from einderive.ta.printing.show import show
from tests.derivations.seeds import read
from tests.fuzz.judge import Judge
from tests.oracle import equal

SHAPES: dict[str, tuple[int, ...]] = {
    "A": (6,),
    "B": (6,),
    "C": (3, 5),
    "K": (3,),
    "M": (4, 3),
    "N": (4, 3),
    "U": (1,),
}


def scope_of(text: str) -> Scope:
    return read(text, **SHAPES)


def x(position: int, factor: int = 1, plus: int = 0) -> Row:
    return affine.shift(affine.scale(affine.iterator(position), factor), plus)


I0, I1 = x(0), x(1)
FOUR = "{L[i:0:4] S[j:0:3,k:0:5] 2*M[i,j]*C[j,k]*A[k]*B[i]}"
THREE = "{L[i:0:4] S[j:0:3,k:0:5] M[i,j]*C[j,k]*A[k]}"
SUM = "{L[i:0:4] S[k:0:3] M[i,k]}"
EXPS = "{L[i:0:4] exp(A[i])*exp(B[i])*K[1]}"
EXP_OF_SUM = "{L[i:0:4] exp(A[i] + B[i])}"
MAPPED = "{L[i:0:4] exp(A[i])}"
SQUARED = "{L[i:0:4,j:0:4] S[k:0:3] (M[i,k] - N[j,k])^2}"
MEAN = "{L[k:0:3] finite({L[k:0:3] S[i:0:4] M[i,k]/4}[k])}[k]"
CENTRED = [f"{{L[i:0:4,k:0:3] {name}[i,k] - {MEAN}}}[{i},k]" for name, i in ("Mi", "Nj")]
"""What SQUARED reads when it is centred."""


def mapped(low: int, high: int) -> Scope:
    """Part or more of MAPPED."""
    return scope_of(f"{{L[i:{low}:{high}] exp(A[i])}}")


REFUSED: list[tuple[str, Witness, str]] = [
    # contraction
    ("{L[i:0:4] max[j:0:3,k:0:5] M[i,j]*C[j,k]*A[k]}", ContractPairs((1, 2)), "only a sum"),
    ("{L[i:0:4,j:0:3,k:0:5] M[i,j]*C[j,k]*A[k]}", ContractPairs((1, 2)), "only a sum"),
    (THREE, ContractPairs(()), "not a list of pairs"),
    (THREE, ContractPairs((1,)), "not a list of pairs"),
    (FOUR, ContractPairs((0, 1, 2)), "not a list of pairs"),
    (THREE, ContractPairs((1, 1)), "not there"),
    (THREE, ContractPairs((-1, 1)), "not there"),
    (THREE, ContractPairs((1, -1)), "not there"),
    (THREE, ContractPairs((3, 1)), "not there"),
    (THREE, ContractPairs((1, 3)), "not there"),
    (THREE, ContractPairs((1, 2, 0, 1)), "the scope's own product"),
    (SUM, ContractPairs((0, 1)), "not there"),
    ("{L[i:0:4] S[k:0:3] M[i,k]*K[k]}", ContractPairs((0, 1)), "the scope's own product"),
    # pieces
    ("{L[i:0:4] A[i]}", SplitRange(0, 0), "does not lie inside"),
    ("{L[i:0:4] A[i]}", SplitRange(0, 4), "does not lie inside"),
    ("{L[i:0:4] A[i]}", SplitRange(0, -1), "does not lie inside"),
    ("{L[i:0:4] A[i]}", SplitRange(0, 5), "does not lie inside"),
    ("{L[i:0:4] A[i]}", SplitRange(1, 2), "no such iterator"),
    ("{L[i:0:4] A[i]}", SplitRange(-1, 2), "no such iterator"),
    ("{L[i:0:4] max[k:0:3] M[i,k]}", SplitRange(1, 1), "not max"),
    ("{L[i:0:4] prod[k:0:3] M[i,k]}", SplitRange(1, 1), "not prod"),
    # rows of a change of iterators
    (
        "{L[i:0:4,j:0:3] M[i,j]}",
        ReindexLoops((Row(0, ((0, 0), (1, 1))), I1), (I0, I1), (Range(0, 4), Range(0, 4))),
        "canonical form",
    ),
    (SUM, ReindexSums((I1,), (I1, Row(5)), (Range(0, 3), Range(0, 1))), "not inverse"),
    # parts of a producer
    (MAPPED, ReadPart(mapped(0, 4), ()), "another number of rows"),
    (MAPPED, ReadPart(mapped(0, 4), (I0, I0)), "another number of rows"),
    (MAPPED, ReadPart(mapped(0, 3), (I0,)), "outside its loops"),
    (MAPPED, ReadPart(mapped(1, 4), (I0,)), "outside its loops"),
    (MAPPED, ReadPart(mapped(0, 0), (I0,)), "empty range"),
    (MAPPED, ReadPart(mapped(0, 6), (x(0, 1, 1),)), "is not the scope"),
    (MAPPED, ReadPart(mapped(0, 6), (I1,)), "not there"),
    (MAPPED, ReadPart(mapped(0, 6), (Row(0, ((0, 2), (0, -1))),)), "canonical form"),
    (
        "{L[i:0:4] S[k:0:3] M[i,k]}",
        ReadPart(scope_of("{L[i:0:4] max[k:0:3] M[i,k]}"), (I0,)),
        "is not",
    ),
    (
        "{L[i:0:4] max[k:0:3] A[i+k]*K[k]}",
        ReadPart(scope_of("{L[i:0:4] max[k:-1:3] A[i+k]*K[k]}"), (I0,)),
        "is not the scope",
    ),
    # operands centred
    ("{L[i:0:4,j:0:0] S[k:0:3] (M[i,k] - N[j,k])^2}", Centre(1, (0, 1), (2,)), "empty range"),
    ("{L[i:0:4,j:0:4] S[k:0:0] (M[i,k] - N[j,k])^2}", Centre(1, (0, 1), (2,)), "empty range"),
    ("{L[i:0:4,j:0:4] S[k:0:3] inf*(M[i,k] - N[j,k])}", Centre(2, (0, 1), (2,)), "infinite"),
    ("{L[i:0:4,j:0:4] S[k:0:3] (M[i,k] + N[j,k])^2}", Centre(1, (0, 1), (2,)), "neither term"),
    (SQUARED, Centre(1, (0, 1), (0,)), "do not share"),
    (SQUARED, Centre(1, (0, 1), (1,)), "do not share"),
    (SQUARED, Centre(1, (0, 1), (2, 3)), "do not share"),
    (SQUARED, Centre(1, (0, 1), (-1,)), "do not share"),
    ("{L[k:0:3] S[i:0:4] (M[i,k] - K[k])^2}", Centre(1, (0, 1), (0,)), "nothing to take a mean"),
    (
        SQUARED.replace("M[i,k] -", f"M[i,k] + {CENTRED[0]} -"),
        Centre(1, (0, 2), (2,)),
        "in the sum already",
    ),
    (
        SQUARED.replace("M[i,k] -", f"M[i,k] - {CENTRED[0]} + {CENTRED[1]} -"),
        Centre(1, (2, 3), (2,)),
        "in the sum already",
    ),
    (SQUARED, Centre(0, (0, 1), (2,)), "not a sum of terms"),
    (SQUARED, Centre(-1, (0, 1), (2,)), "no such sub-term"),
    (SQUARED, Centre(6, (0, 1), (2,)), "no such sub-term"),
    (SQUARED, Centre(1, (0,), (2,)), "two terms"),
    (SQUARED, Centre(1, (0, 1, 1), (2,)), "two terms"),
    (SQUARED, Centre(1, (0, 0), (2,)), "two terms"),
    (SQUARED, Centre(1, (-1, 0), (2,)), "no such operands"),
    (SQUARED, Centre(1, (0, 2), (2,)), "no such operands"),
    # producers into their readers
    ("{L[i:0:4] exp(A[i])}", Fuse(), "no producer"),
    ("{L[i:0:4] {L[i:0:4] S[k:0:3] M[i,k]}[i]*A[i]}", Fuse(), "no producer"),
    ("{L[i:0:4] B[i]*{L[i:0:4] where(i >= 1, A[i], B[i])}[i]}", Fuse(), "no producer"),
    # functions
    ("{L[i:0:4] S[k:0:3] M[i,k] + A[i]}", Pull(), "only max and min"),
    ("{L[i:0:4] prod[k:0:3] 2*M[i,k]}", Pull(), "only max and min"),
    ("{L[i:0:4] max[k:0:3] M[i,k] + N[i,k]}", Pull(), "every term"),
    ("{L[i:0:4] max[k:0:3] M[i,k]}", Pull(), "neither a sum of terms"),
    ("{L[i:0:4] max[k:0:3] M[i,k]*N[i,k]}", Pull(), "neither a sum of terms"),
    ("{L[i:0:4] max[k:0:3] inf*exp(M[i,k])}", Pull(), "neither a sum of terms"),
    ("{L[i:0:4] max[k:0:3] M[i,k] + inf}", Pull(), "opposite"),
    ("{L[i:0:4] relu(-2*A[i])}", Scale(0), "not relu or abs"),
    ("{L[i:0:4] relu(A[i])}", Scale(0), "not relu or abs"),
    ("{L[i:0:4] exp(2*A[i])}", Scale(0), "not relu or abs"),
    ("{L[i:0:4] abs(inf*A[i])}", Scale(0), "not relu or abs"),
    ("{L[i:0:4] relu(2*A[i])}", Scale(-1), "no such sub-term"),
    ("{L[i:0:4] relu(2*A[i])}", Scale(4), "no such sub-term"),
    ("{L[i:0:4] relu(-A[i]/2)}", Scale(0), "not relu or abs"),
    ("{L[i:0:4] relu(2)}", Scale(0), "not relu or abs"),
    ("{L[i:0:4] sign(2*A[i])}", Scale(0), "not relu or abs"),
    ("{L[i:0:4] maximum(2*A[i], B[i])}", Scale(0), "not relu or abs"),
    (EXP_OF_SUM, Exponential(-1, (0,)), "no such sub-term"),
    (EXP_OF_SUM, Exponential(4, (0,)), "no such sub-term"),
    ("{L[i:0:4] exp(A{fill=inf}[i+3] + B[i])}", Exponential(0, (0,)), "infinite"),
    ("{L[i:0:4] inf*exp(A[i] + B[i])}", Exponential(2, (0,)), "infinite"),
    (EXP_OF_SUM, Exponential(0, ()), "need a term"),
    (EXP_OF_SUM, Exponential(0, (0, 1)), "need a term"),
    (EXP_OF_SUM, Exponential(0, (0, 2)), "need a term"),
    (EXP_OF_SUM, Exponential(1, (0,)), "neither exp"),
    ("{L[i:0:4] exp(A[i])}", Exponential(0, (0,)), "neither exp"),
    ("{L[i:0:4] tanh(A[i] + B[i])}", Exponential(0, (0,)), "neither exp"),
    (EXPS, Exponential(0, (0, 1, 2)), "not several exps"),
    (EXPS, Exponential(0, (0, 1, 5)), "not several exps"),
    ("{L[i:0:4] exp(A[i])*exp(B[i])}", Exponential(0, (0, 1, 5)), "not several exps"),
    (EXPS, Exponential(0, (1,)), "not several exps"),
    (EXPS, Exponential(0, ()), "not several exps"),
    # restructuring
    (SUM, SplitSum(()), "at least one"),
    (SUM, SplitSum((1,)), "at least one"),
    (SUM, SplitSum((-1,)), "at least one"),
    (SUM, SplitSum((0,)), "nothing would stay outside"),
    ("{L[i:0:4] max[k:0:3] A[i]*M[i,k]}", SplitSum((0,)), "nothing would stay outside"),
    ("{L[i:0:4] {L[i:0:4] A[i]}[i]}", Merge(1), "no such read"),
    ("{L[i:0:4] {L[i:0:4] A[i]}[i]}", Merge(-1), "no such read"),
    ("{L[i:0:4] S[k:0:3] M[i,k]*K[k]}", Materialise(1), "plain read"),
    (MAPPED, Materialise(0), "nothing would be left"),
    ("{L[i:0:4] S[k:0:3] M[i,k]*K[k]}", Distribute(), "only a sum over terms"),
    ("{L[i:0:4] prod[k:0:3] 2*M[i,k]*K[k]}", Distribute(), "raised to the power"),
    ("{L[i:0:4] max[k:0:3] minimum(M[i,k], K[k])}", Distribute(), "only a sum over terms"),
    ("{L[i:0:4] S[k:0:3] maximum(M[i,k], K[k])}", Distribute(), "only a sum over terms"),
    ("{L[i:0:4] max[k:0:3] M[i,k] + K[k]}", Distribute(), "only a sum over terms"),
    ("{L[i:0:4,k:0:3] M[i,k] + K[k]}", Distribute(), "only a sum over terms"),
    ("{L[i:0:4] A[i]}", Expand(), "nothing to multiply"),
    ("{L[i:0:4] (A[i] + B[i])^-2}", Expand(), "nothing to multiply"),
    ("{L[i:0:4] A[i]*B[i] + A[i]*A[i+1]}", Factor(2), "no such factor"),
    ("{L[i:0:4] A[i]*B[i] + A[i]*A[i+1]}", Factor(-1), "no such factor"),
    ("{L[i:0:4] 2*A[i] + 2*B[i]*A[i+1]}", Factor(0), "not every term"),
    ("{L[i:0:4] where(0 < B[i], log(A[i])*B[i], 0)}", Factor(1), "may hide where the factor"),
]
"""Scope, witness, part of the reason."""


@pytest.mark.parametrize(("text", "witness", "reason"), REFUSED)
def test_refused(text: str, witness: Witness, reason: str) -> None:
    with pytest.raises(RuleRefused) as refused:
        kernel.apply(scope_of(text), witness)
    assert reason in str(refused.value)


PROVED: list[tuple[str, Witness, str]] = [
    (
        FOUR,
        ContractPairs((0, 1)),
        "{L[i:0:4] S[j:0:5,k:0:3] 2*{L[i:0:4,j:0:5] A[j]*B[i]}[i,j]*C[k,j]*M[i,k]}",
    ),
    (
        FOUR,
        ContractPairs((2, 3, 0, 1)),
        "{L[i:0:4] S[j:0:5] 2*{L[i:0:4,j:0:5] A[j]*B[i]}[i,j]"
        "*{L[i:0:4,j:0:5] S[k:0:3] C[k,j]*M[i,k]}[i,j]}",
    ),
    (
        THREE,
        ContractPairs((1, 2)),
        "{L[i:0:4] S[j:0:5] A[j]*{L[i:0:4,j:0:5] S[k:0:3] C[k,j]*M[i,k]}[i,j]}",
    ),
    (
        "{L[i:0:4] S[j:0:3] 5*M[i,j]*K[j]*A[i]}",
        ContractPairs((0, 2)),
        "{L[i:0:4] S[j:0:3] 5*{L[i:0:4,j:0:3] A[i]*M[i,j]}[i,j]*K[j]}",
    ),
    (
        "{L[i:0:4] A[i]}",
        SplitRange(0, 1),
        "{L[i:0:4] where(i >= 1, {L[i:1:4] A[i]}[i], {L[i:0:1] A[i]}[i])}",
    ),
    (
        "{L[i:0:4] S[k:0:3] M[i,k]}",
        SplitRange(1, 1),
        "{L[i:0:4] {L[i:0:4] S[j:1:3] M[i,j]}[i] + {L[i:0:4] M[i,0]}[i]}",
    ),
    (
        "{L[i:0:4] max[k:0:3] M[i,k]}",
        SplitRange(0, 1),
        "{L[i:0:4] where(i >= 1, {L[i:1:4] max[j:0:3] M[i,j]}[i],"
        " {L[i:0:1] max[j:0:3] M[i,j]}[i])}",
    ),
    (
        "{L[i:0:4] max[k:0:3] M[i,k]}",
        ReindexLoops((x(0, 1, 1),), (x(0, 1, -1),), (Range(-1, 3),)),
        "{L[i:0:4] {L[j:-1:3] max[k:0:3] M[j+1,k]}[i-1]}",
    ),
    (
        SUM,
        ReindexSums((I1,), (I1, Row(0)), (Range(0, 3), Range(0, 1))),
        "{L[i:0:4] S[j:0:3] M[i,j]}",
    ),
    (MAPPED, ReadPart(mapped(0, 6), (I0,)), "{L[i:0:4] {L[i:0:6] exp(A[i])}[i]}"),
    (
        "{L[i:0:4] max[k:1:3] M[i,k]}",
        ReadPart(scope_of("{L[i:0:4] max[k:0:2] M[i,k+1]}"), (I0,)),
        "{L[i:0:4] {L[i:0:4] max[j:0:2] M[i,j+1]}[i]}",
    ),
    (
        "{L[i:0:4] S[k:0:3] A[i+k]*K[k]}",
        ReadPart(scope_of("{L[i:0:4] S[k:-2:5] A[i+k]*K[k]}"), (I0,)),
        "{L[i:0:4] {L[i:0:4] S[j:-2:5] A[i+j]*K[j]}[i]}",
    ),
    (
        "{L[i:0:4] S[k:0:1] A[i+k]*U[k]}",
        ReadPart(scope_of("{L[i:0:4] S[k:-1:2] A[i+k]*U[k]}"), (I0,)),
        "{L[i:0:4] {L[i:0:4] S[j:-1:2] A[i+j]*U[j]}[i]}",
    ),
    (
        "{L[i:0:4] S[k:-1:4] A[i+k]*K[k]}",
        ReadPart(scope_of("{L[i:0:4] S[k:0:3] A[i+k]*K[k]}"), (I0,)),
        "{L[i:0:4] {L[i:0:4] S[j:0:3] A[i+j]*K[j]}[i]}",
    ),
    (
        "{L[i:0:4] S[k:0:3] A[i+k]*K[k]}",
        ReadPart(scope_of("{L[i:0:6] S[k:2:5] A[i+k-2]*K[k-2]}"), (I0,)),
        "{L[i:0:4] {L[i:0:6] S[j:2:5] A[i+j-2]*K[j-2]}[i]}",
    ),
    (
        "{L[i:0:4] S[k:0:12] A[k]*B[k-6]*K[i]}",
        ReadPart(scope_of("{L[i:0:4] S[k:0:12] A[k]*B[k-6]*K[i]}"), (I0,)),
        "{L[i:0:4] {L[i:0:4] S[j:0:12] A[j]*B[j-6]*K[i]}[i]}",
    ),
    (
        "{L[i:0:4] max[k:0:3] M[i,k] + A[i] + 1}",
        Pull(),
        "{L[i:0:4] A[i] + {L[i:0:4] max[j:0:3] M[i,j]}[i] + 1}",
    ),
    (
        "{L[i:0:4] exp(A[i])*exp(B[i])*K[1]*K[2]}",
        Exponential(0, (2, 3)),
        "{L[i:0:4] K[2]*K[1]*exp(A[i] + B[i])}",
    ),
    (
        "{L[i:0:4] exp(A[i] + B[i] + K[1])}",
        Exponential(0, (0, 1)),
        "{L[i:0:4] exp(A[i] + B[i])*exp(K[1])}",
    ),
    (
        "{L[i:0:4] max[k:0:3] M[i,k]/2}",
        Pull(),
        "{L[i:0:4] {L[i:0:4] max[j:0:3] M[i,j]}[i]/2}",
    ),
    ("{L[i:0:4] max[k:0:3] -2*M[i,k]}", Pull(), "{L[i:0:4] -2*{L[i:0:4] min[j:0:3] M[i,j]}[i]}"),
    ("{L[i:0:4] min[k:0:3] 2*M[i,k]}", Pull(), "{L[i:0:4] 2*{L[i:0:4] min[j:0:3] M[i,j]}[i]}"),
    (
        "{L[i:0:4] {L[i:0:6] {L[i:0:6] exp(A[i])}[i]^2 + 1}[i]"
        "*{L[i:0:4] S[k:0:3] {L[i:0:4,k:0:3] M[i,k]*B[i]}[i,k]}[i]}",
        Fuse(),
        "{L[i:0:4] {L[i:0:4] S[j:0:3] B[i]*M[i,j]}[i]*(exp(A[i])^2 + 1)}",
    ),
    (
        "{L[i:0:4] B[i]*{L[i:0:4] S[k:0:3] {L[i:0:4,k:0:3] exp(M[i,k])}[i,k]}[i]}",
        Fuse(),
        "{L[i:0:4] B[i]*{L[i:0:4] S[j:0:3] exp(M[i,j])}[i]}",
    ),
    (
        "{L[i:0:6] {L[i:0:4] exp(A[i])}[i] + {L[i:0:6] exp(B[i])}[i]}",
        Fuse(),
        "{L[i:0:6] {L[i:0:4] exp(A[i])}[i] + exp(B[i])}",
    ),
    (  # a condition stays where it is, unless it is decided in its reader
        "{L[i:0:4] {L[i:0:4] where(i >= 1, A[i], B[i])}[i] + {L[i:0:4] exp(A[i])}[i]"
        " + {L[i:0:6] where(i >= 2, A[i], B[i])}[i+2]}",
        Fuse(),
        "{L[i:0:4] {L[i:0:4] where(i >= 1, A[i], B[i])}[i] + A[i+2] + exp(A[i])}",
    ),
    (
        SQUARED,
        Centre(1, (0, 1), (2, 2)),
        "{L[i:0:4,j:0:4] S[k:0:3] ({L[i:0:4,k:0:3] -MEAN + M[i,k]}[i,k]"
        " - {L[j:0:4,k:0:3] -MEAN + N[j,k]}[j,k])^2}".replace(
            "MEAN", MEAN.replace("i:", "l:").replace("M[i", "M[l")
        ),
    ),
    (
        "{L[i:0:4] S[k:0:3] (M[i,k] - K[k] + A[i])^2}",
        Centre(1, (2, 1), (1,)),
        "{L[i:0:4] S[j:0:3] (A[i] - {L[j:0:3] K[j] - MEAN}[j]"
        " + {L[i:0:4,j:0:3] -MEAN + M[i,j]}[i,j])^2}".replace(
            "MEAN", "{L[j:0:3] finite({L[j:0:3] S[k:0:4] M[k,j]/4}[j])}[j]"
        ),
    ),
    ("{L[i:0:4] abs(-3*A[i])}", Scale(0), "{L[i:0:4] 3*abs(A[i])}"),
]
"""Scope, witness, and the scope that it proves equal."""


@pytest.mark.parametrize(("text", "witness", "after"), PROVED)
def test_proved(text: str, witness: Witness, after: str) -> None:
    found = kernel.apply(scope_of(text), witness)
    if isinstance(witness, Exponential):
        assert compare([scope_of(text)], [found], exp_sum=True).equal
    else:
        assert equal(scope_of(text), found) is None
    assert show(found) == after


def test_a_product_of_many_terms_is_multiplied_out_up_to_the_limit() -> None:
    five = "(" + " + ".join(f"B[i+{k}]" for k in range(5)) + ")"
    reads = [f"A[i+{k}]" for k in range(6)]
    reads += [f"{name}[i,{k}]" for name in "MN" for k in range(3)]
    power = scope_of("{L[i:0:4] (A[i] + B[i])^6}")
    assert kernel.apply(power, Expand()) is not power  # 64 terms
    with pytest.raises(RuleRefused, match="more than 64 terms"):
        kernel.apply(scope_of(f"{{L[i:0:4] {five}*({' + '.join(reads)} + K[0])}}"), Expand())


BESIDE_ZERO: list[tuple[str, dict[str, tuple[int, ...]]]] = [
    (
        "{L[h:0:6] S[r:0:3] {L[i:0:4] B[i]/C[i]}[h-r]*K[r]}",
        {"B": (4,), "C": (4,), "K": (3,)},
    ),
    ("{L[h:0:4] S[r:0:3] A[h+r]*B[r]/C[r]}", {"A": (6,), "B": (3,), "C": (3,)}),
    ("{L[h:0:4] S[r:0:3] A[h+r]*B[r]*log(C[r])}", {"A": (6,), "B": (3,), "C": (3,)}),
    ("{L[h:0:4] S[r:0:3] A[h+r]*B[r]*C{fill=inf}[r]}", {"A": (6,), "B": (3,), "C": (3,)}),
    (
        "{L[i:0:3] S[j:0:3] C[2*i+j+1,j]*D{fill=inf}[i-2*j+2]}",
        {"C": (7, 3), "D": (5,)},
    ),
]
"""A range that grows brings in points where one factor is 0 and another 1/0, log 0 or inf."""


@pytest.mark.parametrize(("text", "shapes"), BESIDE_ZERO)
def test_what_is_finite_stays_finite(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    scope, judge = read(text, **shapes), Judge()
    steps = [step for rule in RULES for step in rule.steps(scope)]
    assert len(steps) > 3
    for step in steps:
        assert judge.spoils(scope, step.after) is None, show(step.after)
