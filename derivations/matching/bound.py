"""A lower bound of the predicted time of any program for given outputs.

    bound = call + (bytes of the outputs + bytes of the inputs that matter) / bandwidth

Where an output is a product of reads of different sources, or a reduction of one, and every read
stays inside its source, each element that is read changes the output for some values of the others:
whatever a program does, it reads that element and writes the output.  Where terms are added, masked
or read as padding nothing is claimed, since they might cancel or not count.  A search whose best
program is at the bound is over.
"""

from __future__ import annotations

from collections.abc import Sequence

from einderive.derivations.matching.cost import is_free_view
from einderive.derivations.matching.machine import Machine
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir import affine
from einderive.ta.ir.dtypes import BYTES
from einderive.ta.ir.node import Access, Const, Mul, Scope, Tensor
from einderive.ta.ir.subst import accesses


def lower_bound(
    roots: Sequence[Scope], machine: Machine, item: int, weights: frozenset[str] = frozenset()
) -> float:
    """A number of seconds below which no program for the roots is predicted to run; 0 if nothing is
    known.

    `weights` are tensors that are read once for all calls.  `item` is the bytes of an element of an
    output.
    """
    outputs = [root for root in dict.fromkeys(roots) if not is_free_view(root)]
    read_by = ({tensor.name for tensor in input_tensors(root)} for root in outputs)
    if not outputs or (weights and any(names <= weights for names in read_by)):
        return 0.0
    read: dict[Tensor, int] = {}
    for root in outputs:
        if _counts_throughout(root):
            _count(root, read)
    moved = sum(root.size for root in outputs) * item
    moved += sum(
        elements * BYTES[tensor.dtype]
        for tensor, elements in read.items()
        if tensor.name not in weights
    )
    return machine.least_call + moved / machine.bytes_a_second(moved)


def _counts_throughout(scope: Scope) -> bool:
    """Whether the scope is a product of reads of different sources that stay inside these, each of
    which is a tensor or such a scope again."""
    factors = scope.body.factors if isinstance(scope.body, Mul) else (scope.body,)
    reads = [factor for factor in factors if isinstance(factor, Access)]
    numbers = [factor for factor in factors if isinstance(factor, Const)]
    if scope.empty or not reads or len(reads) + len(numbers) < len(factors):
        return False
    if len({read.source for read in reads}) < len(reads):
        return False
    for read in reads:
        if not affine.within(read.rows, read.source.ranges, scope.domain):
            return False
        if isinstance(read.source, Scope) and not _counts_throughout(read.source):
            return False
    return True


def _count(scope: Scope, read: dict[Tensor, int]) -> None:
    """Adds the elements of each tensor that the scope, all of which is needed, reads."""
    for access in accesses(scope.body):
        rows = [row.lone for row in access.rows]
        if None in rows or len(set(rows)) < len(rows):
            continue  # elements may be skipped or read more than once
        elements = affine.volume(scope.extents, access.free)
        if isinstance(access.source, Tensor):
            read[access.source] = max(read.get(access.source, 0), elements)
        elif elements == access.source.size:
            _count(access.source, read)
