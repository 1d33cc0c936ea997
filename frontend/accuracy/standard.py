"""The standard that programs are judged by: the error of the formula as written, in its own types.

    base = max|w - r| / max|r|      w as written in these types, r the same in float64

Where the formula as written is much work, some rows of its outputs are computed, or pieces of rows;
products of many factors are contracted pair by pair where nobody would sum all their terms
(`accuracy.sampled_reference.evaluable`); where even that is too much, a bound stands in its place.
"""

from __future__ import annotations

from math import prod, sqrt

import torch

from einderive.eops.torch_views.stage import lower_all
from einderive.frontend.accuracy.accept import Reference, error, in_numbers
from einderive.frontend.accuracy.rows import pieces
from einderive.frontend.accuracy.sampled_reference import equally_cheap, evaluable, joined, seconds
from einderive.frontend.accuracy.written import written
from einderive.ta.exact.direct import computed_points
from einderive.ta.ir.node import Scope
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages

FULL_SECONDS = 0.2
"""The formula as written is computed in full where that is predicted to take no longer."""
PIECES_WORK = 1 << 20
MOST_WORK = 1 << 25


def standard_error(program: Program, expected: Reference) -> float:
    """The error of the formula as written on the reference's random inputs; 0 for integers."""
    roots = program.roots()
    if expected.exact:
        return 0.0
    if not in_part(program, expected):
        return expected.error_of(written(roots, expected.types))
    if any(value.is_complex() for value in expected.inputs.values()):
        return bound(roots, expected.epsilon)
    parts = pieces(roots, PIECES_WORK)
    scopes = evaluable([piece.scope for piece in parts])
    if not parts or computed_points(*scopes) > MOST_WORK:
        return bound(roots, expected.epsilon)
    wide = {tensor: value.to(torch.float64) for tensor, value in expected.inputs.items()}
    wanted = [in_numbers(lower_all(equally_cheap(scope))(wide)) for scope in scopes]
    found = written(scopes)(expected.inputs)
    return error(joined(found, parts), joined(wanted, parts))


def in_part(program: Program, expected: Reference) -> bool:
    """Whether the error of the formula as written is that of a part of its outputs: then it is
    likely less than the largest one of all."""
    full = not expected.parts and seconds(program.roots()) <= FULL_SECONDS
    return not expected.exact and not full


def bound(roots: tuple[Scope, ...], epsilon: float) -> float:
    """The expected rounding errors of the sums together: eps/2 times the root of the number of
    terms, stage after stage (N. J. Higham, Accuracy and Stability, section 2.8)."""
    terms = sum(prod(r.extent for r in equally_cheap(stage).sums) for stage in stages(*roots))
    return epsilon / 2 * sqrt(max(1, terms))
