"""Broadcast and reduce: the body over all iterators at once, then the reduction.

Y[i,j] = (A[i,k]-B[j,k])^2      ((A[:, None] - B) ** 2).sum(-1)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from einderive.frontend.baselines.writing import views
from einderive.frontend.baselines.writing.kinds import Kind
from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.writer import NotWritten, Writer, Written, grouped
from einderive.ta.exact.fields import rounded
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.affine import bits
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Number, Scope

REDUCED = "broadcast and reduce"
ONE = Fraction(1)


def write(scope: Scope, writer: Writer) -> Written:
    """Any stage whose ranges are not empty."""
    if scope.empty:
        raise NotWritten("an empty range")
    if isinstance(scope.body, Access):
        return _of_one_read(scope, scope.body, writer)
    coefficient, core = split_coefficient(scope.body)
    pulled = bool(scope.sums) and scope.reducer == "sum"
    if pulled and isinstance(core, Access):
        return _of_one_read(scope, core, writer, coefficient)
    body = core if pulled else scope.body
    held = bits(body.free)
    kind = writer.kinds.of(body)
    if pulled and not _whole(coefficient):
        kind = Kind.FLOAT
    text = Scalars(scope.domain, range(len(scope.domain)), writer, kind).text(body)
    if scope.sums:
        if len(scope.domain) > len(held):
            raise NotWritten("an iterator that does not occur")
        return Written(_reduced(text, scope, coefficient if pulled else ONE, kind), REDUCED)
    if len(scope.loops) > len(held):
        return Written(f"({text}).expand({views.size_words(scope.shape)})", "elementwise", True)
    return Written(text, "elementwise")


def _of_one_read(
    scope: Scope, access: Access, writer: Writer, coefficient: Number = ONE
) -> Written:
    """A view, or a reduction of one, in the order of the source's dimensions."""
    loops = len(scope.loops)
    kind = writer.kinds.of(access) if _whole(coefficient) else Kind.FLOAT
    as_it_is = kind is writer.kinds.of(access.source)
    found = views.view(access, scope.domain, writer, None if as_it_is else kind)
    missing = [i for i in range(len(scope.domain)) if i not in found.dims]
    if not scope.sums:
        text = views.aligned(found, range(loops))
        if missing:
            return Written(f"{text}.expand({views.size_words(scope.shape)})", "view", True)
        return Written(text, "view", found.shares)
    if missing:
        raise NotWritten("an iterator that does not occur")
    if found.text.endswith(".diagonal()") and not loops and scope.reducer == "sum":
        whole = found.text.removesuffix(".diagonal()")
        if whole == writer.operand(access.source, None):
            return Written(scaled(f"torch.trace({whole})", coefficient, kind), REDUCED)
    axes = [d for d, i in enumerate(found.dims) if i >= loops]
    kept = tuple(i for i in found.dims if i < loops)
    if scope.reducer == "prod" and len(axes) > 1:
        raise NotWritten("a product over several dimensions of a view")
    text, after = _over(found.text, scope, axes, coefficient)
    text = views.permuted(views.View(text, kept), range(loops))
    return Written(scaled(text, after, kind), REDUCED)


def _reduced(text: str, scope: Scope, coefficient: Number, kind: Kind) -> str:
    """The reduction of a tensor that has the sums as its last dimensions."""
    count = len(scope.sums)
    text = grouped(text)
    if scope.reducer == "prod" and count > 1:
        return f"{text}.flatten({-count}).prod(-1)"
    return scaled(*_over(text, scope, range(-count, 0), coefficient), kind)


def _over(text: str, scope: Scope, axes: Sequence[int], coefficient: Number) -> tuple[str, Number]:
    """The reduction over these dimensions, and the factor that is left to apply."""
    dims = views.axis_words(axes)
    if REDUCERS[scope.reducer].order:
        return f"{text}.a{scope.reducer}({dims})", ONE
    where = dims if scope.loops or scope.reducer == "prod" else ""
    if coefficient == Fraction(1, prod(bound.extent for bound in scope.sums)):
        return f"{text}.mean({where})", ONE
    return f"{text}.{scope.reducer}({where})", coefficient


def scaled(text: str, coefficient: Number, kind: Kind = Kind.FLOAT) -> str:
    """The expression of that kind, which needs no parentheses, times a number."""
    if coefficient == 1:
        return text
    if kind is not Kind.FLOAT and isinstance(coefficient, Fraction):
        return f"{coefficient.numerator} * {text}"
    if isinstance(coefficient, Fraction) and abs(coefficient.numerator) == 1:
        sign = "-" if coefficient < 0 else ""
        divisor = coefficient.denominator
        return f"{sign}{text} / {divisor}" if divisor > 1 else f"{sign}{text}"
    return f"{rounded(coefficient)!r} * {text}"


def _whole(coefficient: Number) -> bool:
    """Whether whole numbers stay such."""
    return isinstance(coefficient, Fraction) and coefficient.denominator == 1
