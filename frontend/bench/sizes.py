"""Formulas at sizes that they were not compiled for: searches, and what a new size costs.

python -m einderive.frontend.bench.sizes --formulas 20 --sizes 50
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import click
import numpy as np

Array = np.ndarray[Any, Any]


class Sized(NamedTuple):
    """A formula, its shapes with names, the sizes that it is compiled for, and the same in NumPy.
    Other sizes of `least` and more are drawn."""

    text: str
    shapes: dict[str, tuple[int | str, ...]]
    sizes: dict[str, int]
    line: Callable[..., Array]
    least: int = 1


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    result: Array = powers / powers.sum(-1, keepdims=True)
    return result


def _windows(x: Array, width: int) -> Array:
    return np.lib.stride_tricks.sliding_window_view(x, width, -1)


FORMULAS = (
    Sized("Y[i] = 2*x[i] + y[i]", {"x": ("n",), "y": ("n",)}, {"n": 64}, lambda x, y: 2 * x + y),
    Sized(
        "Y[i,o] = X[i,k]*W[o,k]", {"X": ("n", 32), "W": (16, 32)}, {"n": 64}, lambda x, w: x @ w.T
    ),
    Sized(
        "Y[i,o] = relu(sum[k](X[i,k]*W[o,k]) + c[o])",
        {"X": ("n", 32), "W": (16, 32), "c": (16,)},
        {"n": 64},
        lambda x, w, c: np.maximum(x @ w.T + c, 0),
    ),
    Sized(
        "Y[i,j] = (A[i,k]-B[j,k])^2",
        {"A": ("n", 8), "B": ("m", 8)},
        {"n": 200, "m": 100},
        lambda a, b: ((a[:, None] - b) ** 2).sum(-1),
    ),
    Sized(
        "Y[i] = min[j](sum[k]((A[i,k]-B[j,k])^2))",
        {"A": ("n", 4), "B": (50, 4)},
        {"n": 100},
        lambda a, b: ((a[:, None] - b) ** 2).sum(-1).min(1),
    ),
    Sized(
        "K[i,j] = exp(-sum[k]((A[i,k]-B[j,k])^2))",
        {"A": ("n", 4), "B": (60, 4)},
        {"n": 100},
        lambda a, b: np.exp(-((a[:, None] - b) ** 2).sum(-1)),
    ),
    Sized("Y[i,j] = softmax[j](X[i,j])", {"X": ("n", "m")}, {"n": 32, "m": 32}, _softmax),
    Sized(
        "Y[i,e] = softmax[j](sum[d](Q[i,d]*K[j,d]))*V[j,e]",
        {"Q": ("n", 16), "K": ("m", 16), "V": ("m", 16)},
        {"n": 64, "m": 64},
        lambda q, k, v: _softmax(q @ k.T) @ v,
    ),
    Sized(
        "Y[i,e] = Q[i,d]*K[j,d]*V[j,e]",
        {"Q": ("n", 16), "K": ("n", 16), "V": ("n", 16)},
        {"n": 128},
        lambda q, k, v: q @ (k.T @ v),
    ),
    Sized(
        "Y[i,j] = (X[i,j]-mean[k](X[i,k]))/sqrt(var[k](X[i,k]) + 0.001)",
        {"X": ("n", 64)},
        {"n": 32},
        lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 0.001),
    ),
    Sized(
        "C[j,k] = sum[i]((X[i,j]-mean[l](X[l,j]))*(X[i,k]-mean[l](X[l,k])))",
        {"X": ("n", 6)},
        {"n": 100},
        lambda x: (x - x.mean(0)).T @ (x - x.mean(0)),
    ),
    Sized(
        "Y[i] = x[i+1] - 2*x[i] + x[i-1]  where i in 1:n-1",
        {"x": ("n",)},
        {"n": 100},
        lambda x: x[2:] - 2 * x[1:-1] + x[:-2],
        least=3,
    ),
    Sized(
        "Y[i] = x[i+k]*w[k] where i in 0:n-6",
        {"x": ("n",), "w": (7,)},
        {"n": 100},
        lambda x, w: _windows(x, 7) @ w,
        least=8,
    ),
    Sized(
        "Y[c,i] = sum[k](X[c,i+k])/31 where i in 0:n-30, k in 0:31",
        {"X": (3, "n")},
        {"n": 200},
        lambda x: _windows(x, 31).mean(-1),
        least=32,
    ),
    Sized(
        "Y[b,o] = X[b,i]*(W[o,i] + A[r,i]*B[o,r])",
        {"X": ("n", 32), "W": (24, 32), "A": (2, 32), "B": (24, 2)},
        {"n": 40},
        lambda x, w, a, b: x @ (w + b @ a).T,
    ),
    Sized(
        "Y[i] = logsumexp[j](X[i,j])",
        {"X": ("n", "m")},
        {"n": 20, "m": 50},
        lambda x: np.log(np.exp(x).sum(1)),
    ),
    Sized(
        "s = sum[i,j]((A[i,j]-B[i,j])^2)",
        {"A": ("n", "m"), "B": ("n", "m")},
        {"n": 30, "m": 40},
        lambda a, b: np.asarray(((a - b) ** 2).sum()),
    ),
    Sized(
        "Y[i,j] = X[i,j]*mask[j,i]",
        {"X": ("n", "m"), "mask": ("m", "n")},
        {"n": 16, "m": 16},
        lambda x, m: x * m.T,
    ),
    Sized(
        "q[b] = x[b,i]*A[i,j]*x[b,j]",
        {"x": ("n", 12), "A": (12, 12)},
        {"n": 50},
        lambda x, a: ((x @ a) * x).sum(1),
    ),
    Sized(
        "Y[i,r] = X[i,j,k]*B[j,r]*C[k,r]",
        {"X": ("n", 10, 12), "B": (10, 4), "C": (12, 4)},
        {"n": 30},
        lambda x, b, c: np.einsum("ijk,jr,kr->ir", x, b, c),
    ),
)


class Result(NamedTuple):
    """How many searches there were, the seconds of first calls without one, those of the next call
    at the same size, and the largest error beside the largest entry."""

    searches: int
    new: tuple[float, ...]
    known: tuple[float, ...]
    error: float


def measured(formula: Sized, count: int, seed: int = 0, most: int = 300) -> Result:
    """The formula, compiled for its first sizes, at so many others."""
    import einderive as ed  # the package loads this room

    drawn, random = np.random.default_rng(seed), Random(f"{seed} {formula.text}")
    shapes: dict[str, Any] = {**formula.shapes, **formula.sizes}
    f = ed.compile(formula.text, target="cpu", remember=False, **shapes)
    new: list[float] = []
    known: list[float] = []
    worst, searched = 0.0, f.searches
    for _ in range(count):
        sizes = {name: random.randint(formula.least, most) for name in formula.sizes}
        given = []
        for named in formula.shapes.values():
            shape = tuple(sizes[size] if isinstance(size, str) else size for size in named)
            given.append(drawn.standard_normal(shape).astype("float32"))
        started = perf_counter()
        found = f(*given)
        first = perf_counter() - started
        f(*given)
        started = perf_counter()
        f(*given)
        known.append(perf_counter() - started)
        if f.searches == searched:
            new.append(first)
        searched = f.searches
        exact = formula.line(*(value.astype("float64") for value in given))
        off = np.abs(found - exact).max(initial=0.0)
        worst = max(worst, float(off / np.abs(exact).max(initial=1e-30)))
    return Result(f.searches - 1, tuple(new), tuple(known), worst)


@click.command()
@click.option("--formulas", default=len(FORMULAS), help="So many formulas.")
@click.option("--sizes", default=50, help="So many sizes of each.")
def main(formulas: int, sizes: int) -> None:
    """Call formulas at sizes that they were not compiled for."""
    print(f"{'formula':<52} searches  new size  known size    error")
    for formula in FORMULAS[:formulas]:
        found = measured(formula, sizes)
        new = f"{median(found.new) * 1e3:5.1f} ms" if found.new else "-"
        known = f"{median(found.known) * 1e6:7.1f} us"
        text = f"{formula.text[:52]:<52}"
        print(f"{text} {found.searches:8} {new:>9} {known:>11} {found.error:8.1e}", flush=True)


if __name__ == "__main__":
    main()
