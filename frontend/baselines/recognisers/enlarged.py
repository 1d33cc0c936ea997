"""Images made larger: every element repeated, or channels laid out beside each other.

X[b,c,h//2,w//3]                            F.interpolate(X, scale_factor=(2, 3), mode="nearest")
X[b, 4*c + 2*(h%2) + w%2, h//2, w//2]       F.pixel_shuffle(X, 2)
"""

from __future__ import annotations

import numpy as np

from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.ir import affine
from einderive.ta.ir.node import Access, Scope

MOST_SPATIAL, MOST_LEADING = 3, 2


def recognise(scope: Scope, writer: Writer) -> Written | None:
    body = scope.body
    if scope.sums or scope.empty or not isinstance(body, Access):
        return None
    if len(body.rows) != len(scope.loops):
        return None
    if (shuffle := _shuffle(body, scope)) is not None:
        return Written(f"F.pixel_shuffle({writer.name(body.source)}, {shuffle})", "pixel_shuffle")
    times = [_times(body, d, scope) for d in range(len(scope.loops))]
    if None in times:
        return None
    leading = next((d for d, n in enumerate(times) if n != 1), len(times))
    factors = tuple(n for n in times[leading:] if n is not None)
    if not 1 <= len(factors) <= MOST_SPATIAL or leading > MOST_LEADING:
        return None
    added = MOST_LEADING - leading
    text = writer.name(body.source) + (f"[{', '.join(['None'] * added)}]" if added else "")
    scale = str(factors[0]) if len(set(factors)) == 1 else str(factors)
    text = f"F.interpolate({text}, scale_factor={scale}, mode='nearest')"
    if added:
        text += f"[{', '.join('0' * added)}]"
    return Written(text, "interpolate")


def _shuffle(read: Access, scope: Scope) -> int | None:
    """n, where each n*n channels are one with n times as many rows and columns."""
    rank = len(scope.loops)
    if rank < 3 or any(bound.lo for bound in (*scope.loops, *read.source.ranges)):
        return None
    *batch, c, h, w = map(affine.iterator, range(rank))
    n = scope.loops[-1].extent // max(1, read.source.ranges[-1].extent)
    if n < 2:
        return None
    channel = affine.scale(c, n * n)
    channel = affine.add(channel, affine.scale(affine.modulo(h, n), n))
    channel = affine.add(channel, affine.modulo(w, n))
    rows = (*batch, channel, affine.floordiv(h, n), affine.floordiv(w, n))
    *leading, channels, height, width = scope.shape
    shape = (*leading, channels * n * n, height // n, width // n)
    whole = height % n == width % n == 0 and read.source.shape == shape
    return n if whole and read.rows == rows else None


def _times(read: Access, d: int, scope: Scope) -> int | None:
    """n, where dimension d is read whole, at its own iterator divided by n, as torch computes it:
    in float32, which is exact for all positions here or None."""
    bound, loop, i = read.source.ranges[d], scope.loops[d], affine.iterator(d)
    n, rest = divmod(loop.extent, bound.extent)
    if rest or bound.lo or loop.lo or read.rows[d] != affine.floordiv(i, n):
        return None
    positions = np.arange(loop.extent)
    scaled = np.floor(positions.astype(np.float32) * (np.float32(1) / np.float32(n)))
    return n if np.array_equal(scaled, positions // n) else None


ENLARGED = Recogniser(recognise)
