"""`python -m tools.kernel_errors` prints how exact the functions of CPU kernels are.

    error = |found - exact| / the distance of the numbers of the type about exact

The largest one over many operands, in float32 and float64, of kernels for this processor, of those
for processors without AVX-512 and of torch.  Results beyond the numbers count as the next power
of two, and subnormal ones in the least of them.  float32 is measured against the function in
float64, float64 against balls of Arb.  `eops/cpu_kernels/functions.toml` states the bounds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import flint
import numpy as np
import torch
from numba import cfunc, types
from numpy.typing import NDArray

from einderive.eops.cpu_kernels.compiling.late import late_bodies
from einderive.eops.cpu_kernels.functions import ERRORS, functions, near_by
from einderive.eops.cpu_kernels.words import machine
from einderive.ta.functions import FUNCTIONS
from tools.function_digits import by_torch

NEAR: Final = ", near"
"""Behind a name: its form for operands that are near."""
MOST_NEAR: Final = 2.0**28
BEYOND: Final = 2.0**128
"""The power of two behind the numbers of float32."""
AROUND: Final = 64
"""Numbers on either side of those from which on results are subnormal, 0 or infinite."""
COUNTS: Final = {"float32": 2_000_000, "float64": 40_000}
"""Operands of each function."""
BITS_OF_BALLS: Final = 160
BITS_FOR_ANGLES: Final = 1300

Numbers = NDArray[Any]


def applied(name: str, *given: Numbers, plain: bool = False) -> Numbers:
    """By a kernel of these operands, compiled as all kernels are; `plain` as it is for processors
    without AVX-512."""
    found = np.empty_like(given[0])
    addresses = [array.ctypes.data for array in (*given, found)]
    run = loop(name, given[0].dtype.name, len(given), plain).ctypes
    run((ctypes.c_int64 * (len(addresses) + 1))(*addresses, found.size))
    return found


@cache
def loop(name: str, dtype: str, count: int, plain: bool) -> Any:
    """A loop over operands and the result; how many numbers there are stands behind these."""
    names = "xyz"[:count]
    reads = ", ".join(f"load({each}, i)" for each in names)
    lines = [f"    {each} = at(data, {k})" for k, each in enumerate((*names, "out"))]
    lines += [f"    for i in range(data[{count + 1}]):"]
    text = "\n".join(
        [
            "def kernel_(data):",
            "    wide_vectors()",
            *lines,
            f"        store(out, i, real(function({reads})))",
        ]
    )
    known = (near_by if name.endswith(NEAR) else functions)(dtype, not plain)
    of = known[name.removesuffix(NEAR)]
    space: dict[str, Any] = {"at": machine.pointer(dtype), "function": of}
    space |= {"real": getattr(np, dtype)}
    space |= {word: getattr(machine, word) for word in ("load", "store", "wide_vectors")}
    exec(text, space)
    with late_bodies():
        return cfunc(types.void(machine.DATA), error_model="numpy")(space["kernel_"])


def errors(name: str, found: Numbers, *given: Numbers) -> Numbers:
    """Of each result, in units in the last place; infinite where only one of both is NaN."""
    exact, apart = (_by_real if found.itemsize == 4 else _by_balls)(name, found, *given)
    limits = np.finfo(found.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.clip(np.abs(exact), float(limits.tiny), float(limits.max)).astype(found.dtype)
        units = apart / np.spacing(size).astype(np.float64)
    unlike = np.isnan(exact) != np.isnan(found)
    return np.where(unlike, np.inf, np.where(np.isnan(exact), 0.0, units))


def _by_real(name: str, found: Numbers, *given: Numbers) -> tuple[Numbers, Numbers]:
    """The exact results of float32, and how far the found ones are from them."""
    with np.errstate(all="ignore"):
        exact = np.asarray(FUNCTIONS[name].real(*(x.astype(np.float64) for x in given)))
    exact = np.clip(exact, -BEYOND, BEYOND)
    return exact, np.abs(np.clip(found.astype(np.float64), -BEYOND, BEYOND) - exact)


def _by_balls(name: str, found: Numbers, *given: Numbers) -> tuple[Numbers, Numbers]:
    """Likewise of float64; where no ball encloses a result, the found one counts as exact."""
    ball, limit = FUNCTIONS[name].ball, flint.arb(2) ** 1024
    assert ball is not None
    far = max(float(np.max(np.abs(x), initial=0.0)) for x in given) > 2.0**60
    flint.ctx.prec = BITS_FOR_ANGLES if far else BITS_OF_BALLS
    exact, apart = found.copy(), np.zeros(found.size)
    rows = zip(*(x.tolist() for x in (found, *given)), strict=True)
    for place, (value, *at) in enumerate(rows):
        held = ball(*map(flint.arb, at))
        if held.is_finite():
            middle = held.mid()
            middle = limit if middle > limit else -limit if middle < -limit else middle
            number = flint.arb(value) if abs(value) < np.inf else limit if value > 0 else -limit
            exact[place] = float(middle)
            apart[place] = np.nan if value != value else float(abs(number - middle).mid())
    return exact, apart


def sample(name: str, dtype: str, count: int) -> tuple[Numbers, ...]:
    """Operands in the domain: numbers of the type by their bits, so of all sizes, and others by
    their size, those next to where results begin to be subnormal, 0 or infinite among them."""
    near, bare = name.endswith(NEAR), name.removesuffix(NEAR)
    random, known = np.random.default_rng(11), FUNCTIONS[bare]
    if known.arity == 2:
        return _pairs(bare, dtype, count, random)
    part = count // 5
    found = np.concatenate(
        [
            _by_bits(dtype, part) * random.choice([-1, 1], part),
            random.uniform(-12, 12, part),
            2.0 ** random.uniform(-30, 10, part) * random.choice([-1, 1], part),
            1 + random.normal(0, 1e-3, part // 2),
            random.uniform(-1, 1, part),
            random.uniform(-1100, 1100, part // 2),
            random.uniform(-(2**17), 2**17, part // 4),
        ]
    ).astype(dtype)
    found = np.concatenate([found, _edges(bare, found)])
    if near:
        found = found[np.abs(found) < MOST_NEAR]
    return (_inside(bare, found),)


def _by_bits(dtype: str, count: int) -> Numbers:
    """Numbers above 0 of the type, evenly by their bits."""
    whole = np.int32 if dtype == "float32" else np.int64
    top = int(np.dtype(dtype).type(np.finfo(dtype).max).view(whole))
    steps = np.random.default_rng(12).random(count)
    return ((np.arange(count) + steps) / count * top).astype(whole).view(dtype)


def _inside(name: str, x: Numbers) -> Numbers:
    domain = FUNCTIONS[name].domain
    if domain is None:
        return x
    inside = (x >= domain.least) & (x <= domain.greatest)
    ends = np.isin(x, domain.ends) & (not domain.included)
    return x[inside & ~ends]


def _edges(name: str, x: Numbers) -> Numbers:
    """Numbers between which the results change from normal to subnormal ones, 0 or infinity, and
    those around them."""
    whole = np.int32 if x.itemsize == 4 else np.int64
    top, tiny = np.iinfo(whole).max, np.finfo(x.dtype).tiny

    def of_order(keys: Any) -> Any:
        return np.where(keys < 0, keys ^ top, keys).astype(whole).view(x.dtype)

    def states(keys: Any) -> Any:
        with np.errstate(all="ignore"):
            y = np.asarray(FUNCTIONS[name].real(of_order(keys).astype(np.float64))).astype(x.dtype)
            return np.isfinite(y) + 2 * (np.abs(y) >= tiny) + 4 * (y == 0)

    held: Any = x.view(whole)
    bits = np.sort(np.where(held < 0, held ^ top, held))
    here = np.flatnonzero(np.diff(states(bits)))
    low, high = bits[here].astype(object), bits[here + 1].astype(object)
    before = states(bits[here])
    for _ in range(x.itemsize * 8):
        middle = (low + high) // 2
        same = states(middle.astype(whole)) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    around = np.add.outer(low, np.arange(-AROUND, AROUND + 1)).ravel()
    found: Numbers = of_order(around.astype(whole))
    return found[np.isfinite(found)]


def _pairs(name: str, dtype: str, count: int, random: np.random.Generator) -> tuple[Numbers, ...]:
    """Of powers, up to the least and the largest; otherwise numbers of like and unlike sizes."""
    half = count // 2
    limits = np.finfo(dtype)
    if name == "pow":
        x = np.concatenate([_by_bits(dtype, half), 1 + random.uniform(-0.03, 0.03, half)])
        sizes = random.uniform(limits.minexp - limits.nmant - 3, limits.maxexp + 1, 2 * half)
        ends = random.choice([limits.maxexp, limits.minexp, limits.minexp - limits.nmant], half)
        sizes[:half][::2] = (ends - 10.0 ** random.uniform(-7, 0, half))[::2]
        x = x.astype(dtype)
        with np.errstate(all="ignore"):
            y = (random.permutation(sizes) / np.log2(x.astype(np.float64))).astype(dtype)
        usual = np.isfinite(y)
        return x[usual], y[usual]
    x = _by_bits(dtype, half) * random.choice([-1, 1], half).astype(dtype)
    with np.errstate(all="ignore"):
        powers = random.uniform(-30, 30, half) * random.choice([1, 1 / 15], half)
        near = (x * 2.0**powers).astype(dtype)
    y = np.where(np.isfinite(near), near, x) * random.choice([-1, 1], half).astype(dtype)
    return np.append(x, random.permutation(x)), np.append(y, random.permutation(y))


def stated(name: str, dtype: str) -> float:
    """The bound that holds with AVX-512 and without."""
    bare, single = name.removesuffix(NEAR), dtype == "float32"
    kinds = ("near", "near_vectors") if name.endswith(NEAR) else ("plain", "vectors")
    return max(ERRORS[kind][bare][not single] for kind in kinds if bare in ERRORS[kind])


def row(name: str, dtype: str, count: int) -> Iterator[str]:
    """The largest errors: for this processor, without AVX-512, the bound, and of torch."""
    given = sample(name, dtype, count)
    bare = name.removesuffix(NEAR)

    def largest(found: Numbers) -> str:
        return f"{np.max(errors(bare, found, *given)):,.2f}"

    for plain in (False, True):
        yield largest(applied(name, *given, plain=plain))
    yield f"{stated(name, dtype):.2f}"
    by_name = bare == name
    yield (
        largest(by_torch(FUNCTIONS[bare])(*map(torch.from_numpy, given)).numpy()) if by_name else ""
    )


def names() -> list[str]:
    """The functions whose results are rounded, and the forms for operands that are near."""
    return [*ERRORS["plain"], *(f"{name}{NEAR}" for name in ERRORS["near"])]


def main() -> None:
    kinds = ("", "without AVX-512", "at most", "torch")
    heads = [f"{dtype} {kind}".strip() for dtype in COUNTS for kind in kinds]
    print(f"| function | {' | '.join(heads)} |")
    print("|---" * (len(heads) + 1) + "|")
    for name in names():
        cells = [cell for dtype, count in COUNTS.items() for cell in row(name, dtype, count)]
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
