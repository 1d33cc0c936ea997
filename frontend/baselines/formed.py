"""The ways to write a stage that form every product of it, one by one: for nan="strict".

    Y[i,j] = A[i,k]*B[k,j]           A @ B: every A[i,k]*B[k,j] is a term of it
    Y[i] = sum[k,l](A[i,k]*B[l])     A.sum(1) * B.sum(): NaN where the sum over l is 0 and A has an
                                     infinity, or no NaN where one product alone is 0 * infinity

Two factors that share all summed iterators are multiplied before anything is added.  All other
stages are broadcast and reduced: library operators may leave out products with zeros beside their
operands, and a path over three factors sums two before it meets the third.
"""

from __future__ import annotations

from einderive.frontend.baselines.recognisers import placed, products
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.frontend.products import is_masked
from einderive.ta.ir.affine import bits
from einderive.ta.ir.node import Scope


def _forms(scope: Scope) -> bool:
    found = products.factors_of(scope)
    if found is None or len(found[1]) != 2 or is_masked(scope.body):
        return False
    left, right = found[1]
    loops = len(scope.loops)
    return {i for i in bits(left.free) if i >= loops} == {i for i in bits(right.free) if i >= loops}


def pairs(scope: Scope, writer: Writer) -> Written | None:
    return products.pairs(scope, writer) if _forms(scope) else None


def einsum(scope: Scope, writer: Writer) -> Written | None:
    return products.einsum(scope, writer) if _forms(scope) else None


FORMED = (placed.PLACED, Recogniser(pairs, literal=True), Recogniser(einsum, literal=True))
