"""The program that an einsum call stands for: one statement, a sum of products of reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from types import MappingProxyType

from einderive.frontend.einsum.subscripts import EinsumSpec
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope
from einderive.ta.ir.program import Program, Statement

OUTPUT_NAME = "Y"
SHORT_NAMES = "ABCDEFGHIJK"
"""Names of the tensors of a program; L, S and Y mean something else there."""


def to_program(spec: EinsumSpec, dtypes: Sequence[str]) -> Program:
    """`Y[output] = S[others] A[..]*B[..]*...`, the operands named A, B, ... (op0, ... for many).

    `dtypes` are NumPy's names of the operands' element types.  A broadcast dimension is read at 0.
    """
    sizes = spec.sizes
    order = (*spec.output, *(label for label in sizes if label not in spec.output))
    position = {label: number for number, label in enumerate(order)}
    shown = _iterator_names(order)
    many = len(spec.operands) > len(SHORT_NAMES)
    tensors = tuple(
        expr.tensor(f"op{number}" if many else SHORT_NAMES[number], shape, dtype)
        for number, (shape, dtype) in enumerate(zip(spec.shapes, dtypes, strict=True))
    )
    factors = []
    hints: dict[tuple[str, int], str] = {}
    for tensor, labels in zip(tensors, spec.operands, strict=True):
        rows = []
        for dimension, label in enumerate(labels):
            if tensor.shape[dimension] == sizes[label]:
                rows.append(affine.iterator(position[label]))
                hints[tensor.name, dimension] = shown[label]
            else:
                rows.append(affine.ZERO)
        factors.append(expr.access(tensor, rows))
    ranges = [Range(0, sizes[label]) for label in order]
    loops = len(spec.output)
    root = scope(ranges[:loops], ranges[loops:], expr.mul(*factors))
    names = tuple(shown[label] for label in spec.output)
    return Program(tensors, (Statement(OUTPUT_NAME, root, names),), MappingProxyType(hints))


def _iterator_names(labels: Sequence[str]) -> dict[str, str]:
    """label -> iterator name: itself, its small letter where that is free, else i0, i1, ...

    Capital letters name tensors and S, L and Y mean something else in the notation.
    """
    names = {label: label for label in labels if label.isascii() and label.islower()}
    spare = (f"i{number}" for number in count())
    for label in labels:
        if label not in names:
            small = label.lower()
            free = small.isascii() and small not in names.values()
            names[label] = small if free else next(spare)
    return names
