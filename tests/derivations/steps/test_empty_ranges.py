"""The kernel states its rules for ranges with points; it refuses others, and says so."""

from __future__ import annotations

import pytest

from einderive.derivations.steps import kernel
from einderive.derivations.steps.contract_pairs import ContractPairs
from einderive.derivations.steps.distribute import Distribute
from einderive.derivations.steps.fuse import Fuse
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.materialise import Materialise
from einderive.derivations.steps.merge import Merge
from einderive.derivations.steps.pull import Pull
from einderive.derivations.steps.read_part import ReadPart
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.derivations.steps.split_range import SplitRange
from einderive.derivations.steps.split_sum import SplitSum
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.affine import Range
from tests.derivations.steps.test_conditions import I0, I1, mapped, scope_of

EMPTY: list[tuple[str, Witness]] = [
    ("{L[i:0:0] S[j:0:3,k:0:5] M[i,j]*C[j,k]*A[k]}", ContractPairs((1, 2))),
    ("{L[i:0:4] S[j:0:3,k:0:0] M[i,j]*C[j,k]*A[k]}", ContractPairs((1, 2))),
    ("{L[i:0:0,k:0:3] M[i,k]}", SplitRange(1, 1)),
    ("{L[i:0:4] S[j:0:0,k:0:3] M[i,k]*K[j]}", SplitRange(2, 1)),
    ("{L[i:0:0] exp(A[i])}", ReadPart(mapped(0, 4), (I0,))),
    ("{L[i:0:0] {L[i:0:6] exp(A[i])}[i]}", Fuse()),
    ("{L[i:0:4] {L[i:0:4] S[k:0:0] M[i,k]}[i] + {L[i:0:6] exp(B[i])}[i]}", Fuse()),
    ("{L[i:0:0] max[k:0:3] M[i,k] + A[i]}", Pull()),
    ("{L[i:0:4] max[k:0:0] M[i,k] + A[i]}", Pull()),
    ("{L[i:0:0] S[k:0:3] M[i,k]*A[i]}", SplitSum((0,))),
    ("{L[i:0:4] S[k:0:0] M[i,k]*A[i]}", SplitSum((0,))),
    ("{L[i:0:0] {L[i:0:4] A[i]}[i]}", Merge(0)),
    ("{L[i:0:4] {L[i:0:4] S[k:0:0] M[i,k]}[i]}", Merge(0)),
    ("{L[i:0:4] max[k:0:0] A[i]*M[i,k]}", Materialise(0)),
    ("{L[i:0:0] S[k:0:3] exp(M[i,k])*A[i]}", Materialise(2)),
    ("{L[i:0:0] S[k:0:3] M[i,k] + A[i]}", Distribute()),
    ("{L[i:0:4] S[k:0:0] M[i,k] + A[i]}", Distribute()),
    ("{L[i:0:0] A[i]}", ReindexLoops((I0,), (I0,), (Range(0, 4),))),
    ("{L[i:0:4] S[k:0:0] M[i,k]}", ReindexSums((I1,), (I1,), (Range(0, 3),))),
]


@pytest.mark.parametrize(("text", "witness"), EMPTY)
def test_empty_ranges_are_refused(text: str, witness: Witness) -> None:
    """Identities of reductions are stated for ranges with points."""
    with pytest.raises(RuleRefused, match="empty range"):
        kernel.apply(scope_of(text), witness)
