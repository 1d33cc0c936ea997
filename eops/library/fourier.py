"""Discrete Fourier transforms: `torch.fft.fft`.

Y[b,k] = sum[n](A[b,n]*exp(-2*pi*1j*k*n/N))        with cos, the real part; with sin, minus the
                                                   imaginary one; with exp(2*pi*1j*k*n/N), the
                                                   inverse without a factor

N is the extent of n, which begins at 0.  The result has a period of N, so k may have any range.  A
NaN or an infinity reaches every element of the sum.  The transform leaves out products with a wave
that is exactly 0 (the sine of 0, the cosine of pi/2), so that these elements may stay numbers; an
infinity may become NaN.  The error is about eps*log2(N) times the root of the sum of squares.

Source: J. Cooley and J. Tukey, An algorithm for the machine calculation of complex Fourier series,
1965.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import log2

import torch

from einderive.eops.library import arrange
from einderive.eops.library.gather import NOT_HELD, all_held
from einderive.eops.library.operators import operator
from einderive.eops.library.plain import refuse_empty, view_refusal
from einderive.eops.library.traffic import operand_bytes, output_bytes
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.types import HALVES, stage_types
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import bits
from einderive.ta.ir.node import Access, Apply, Scope
from einderive.ta.ir.operator import Binding, Launch, Mismatch, Work
from einderive.ta.ir.positions import is_data
from einderive.ta.ir.subst import factors_of

NO_WAVE = Mismatch("body", "no product of a read and a wave of whole periods", (), 100.0)


def recognise(function: str, sign: int, scope: Scope) -> Binding | Mismatch:
    """The binding for a body `c * A[b,n] * f(sign*2*pi*k*n/N)`; of exp, with `1j` besides."""
    if len(scope.sums) != 1 or scope.reducer != "sum" or scope.sums[0].lo:
        return NO_WAVE
    waves = [f for f in factors_of(scope.body) if isinstance(f, Apply) and f.function == function]
    if not waves:
        return NO_WAVE  # at once: few sums have any, and this is asked of every sum
    coefficient, core = expr.split_coefficient(scope.body)
    reads: list[Access] = [f for f in factors_of(core) if is_data(f)]
    if len(factors_of(core)) != 2 or not reads:
        return NO_WAVE
    if (empty := refuse_empty(scope)) is not None:
        return empty
    (wave,), (read,), n = waves, reads, len(scope.loops)
    unit = expr.const(Fraction(sign * 2, scope.sums[0].hi))
    around = [expr.apply("pi"), expr.position(affine.iterator(n))]
    around += [expr.apply("1j")] if function == "exp" else []
    for k in range(n):
        if wave.args[0] is expr.mul(unit, expr.position(affine.iterator(k)), *around):
            roles = {"b": bits(read.free & ~(1 << n)), "k": (k,), "n": (n,)}
            if k in roles["b"] or not read.free >> n & 1:
                return NO_WAVE
            if not all_held(scope, roles):
                return NOT_HELD
            return Binding(scope, (read,), roles, coefficient=coefficient)
    return NO_WAVE


def _waves(rows: torch.Tensor, binding: Binding) -> torch.Tensor:
    """The transforms of rows of real numbers at the places of k."""
    side, length = binding.scope.domain[binding.roles["k"][0]], rows.shape[-1]
    if side.lo >= 0 and side.hi <= length // 2 + 1:
        half: torch.Tensor = torch.fft.rfft(rows)
        return half[..., side.lo : side.hi]
    return _periodic(torch.fft.fft(rows), binding)


def _periodic(found: torch.Tensor, binding: Binding) -> torch.Tensor:
    side, length = binding.scope.domain[binding.roles["k"][0]], found.shape[-1]
    if side.lo >= 0 and side.hi <= length:
        return found[..., side.lo : side.hi]
    return found[..., torch.arange(side.lo, side.hi, device=found.device) % length]


def _launch_real(part: Callable[[torch.Tensor], torch.Tensor], binding: Binding) -> Launch:
    scope, (b, k, n) = binding.scope, (binding.roles[role] for role in "bkn")
    operand = _reading(binding)

    def call(buffers: Buffers, dtype: torch.dtype) -> torch.Tensor:
        wide = torch.float32 if dtype in HALVES else dtype
        rows = arrange.merged(operand(buffers, wide), (b, n))
        found = part(_waves(rows, binding)).contiguous()
        return arrange.restored(arrange.scaled(found, binding.coefficient).to(dtype), (b, k), scope)

    return arrange.library_call(scope, call)


def _launch_complex(transform: Callable[[torch.Tensor], torch.Tensor], binding: Binding) -> Launch:
    scope, (b, k, n) = binding.scope, (binding.roles[role] for role in "bkn")
    operand, (read,) = _reading(binding), binding.operands
    written = lower(scope)

    @torch.no_grad()
    def launch(buffers: Buffers) -> torch.Tensor:
        given = buffers[read.source].dtype
        if not (given.is_floating_point or given.is_complex):
            return written(buffers)
        rows = arrange.merged(operand(buffers, stage_types(scope, [given]).result), (b, n))
        found = _periodic(transform(rows), binding).clone()
        return arrange.restored(arrange.scaled(found, binding.coefficient), (b, k), scope)

    return launch


_real = partial(_launch_real, lambda found: found.real)
_imaginary = partial(_launch_real, lambda found: found.imag.neg())
_forward = partial(_launch_complex, torch.fft.fft)
_inverse = partial(_launch_complex, partial(torch.fft.ifft, norm="forward"))


def _reading(binding: Binding) -> arrange.Reading:
    (read,) = binding.operands
    bounds = dict(enumerate(binding.scope.domain))
    return arrange.reading(read, read.rows, (*binding.roles["b"], *binding.roles["n"]), bounds)


def _work(binding: Binding) -> Work:
    bounds = dict(enumerate(binding.scope.domain))
    (read,), length = binding.operands, binding.extent("n")
    size = binding.extent("b") * length
    moved = operand_bytes(read, read.rows, bounds)[0] + 4.0 * output_bytes(binding.scope)
    shape = (binding.extent("b"), length)
    return Work(2.5 * size * log2(length + 1), moved, 2, "fourier", shape=shape)


FOURIER = tuple(
    operator(
        name,
        work=_work,
        launch=launch,
        recognise=partial(recognise, function, sign),
        constraint=view_refusal,
    )
    for name, function, sign, launch in (
        ("fft_real", "cos", 1, _real),
        ("fft_imaginary", "sin", 1, _imaginary),
        ("fft", "exp", -1, _forward),
        ("ifft", "exp", 1, _inverse),
    )
)
