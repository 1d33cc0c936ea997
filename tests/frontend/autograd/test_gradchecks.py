"""torch's own tests of derivatives on every formula: `gradcheck`, also of tangents and of batches
of gradients, `gradgradcheck`, and gradients beside those of the plain line.

Where a derivative is not defined, the lists below say why; an entry that would pass is an error.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from einderive.frontend.formulas import Formula
from tests.amount import sampled
from tests.frontend.autograd.formulas import (
    ALL,
    Tensors,
    as_tuple,
    compiled,
    line_of,
    parsed,
    requiring,
)
from tests.ta.gradients.autograd import gradients

SMALL = 60
"""Operands with more elements together are tested along a random direction (`fast_mode`)."""

WHOLE = "all operands are whole numbers or truth values"
COUNTS = "the results are counts, places or truth values"
NO_DERIVATIVE = {
    "accuracy": COUNTS,
    "area under the curve, by pairs": COUNTS,
    "argmax": COUNTS,
    "argmin, of whole numbers with ties": COUNTS,
    "any and all": COUNTS,
    "binary dilation": COUNTS,
    "confusion matrix": WHOLE,
    "count_nonzero": COUNTS,
    "degrees": WHOLE,
    "empirical distribution function": COUNTS,
    "greater": COUNTS,
    "histogram of bin numbers": WHOLE,
    "histogram of grey levels": WHOLE,
    "histogram with equal bins": COUNTS,
    "isfinite and isinf": COUNTS,
    "labels spread, one step": COUNTS,
    "local binary pattern of four neighbours": COUNTS,
    "logical operations": COUNTS,
    "momentum, a rank within each day": COUNTS,
    "moving average crossover": COUNTS,
    "nearest centre": COUNTS,
    "one-hot encoding": WHOLE,
    "paths that exist, one step": WHOLE,
    "peaks": COUNTS,
    "precision and recall": COUNTS,
    "radial distribution, a histogram of distances": COUNTS,
    "ranks": COUNTS,
    "searchsorted": COUNTS,
    "threshold at the mean": COUNTS,
    "zero crossings": COUNTS,
}
KINKS = {
    "invariant masses of pairs": "a particle beside itself has the mass 0, a root's kink",
    "median of three labels, by sorting's network": "the labels are whole numbers with ties",
}
KINKS_OF_LINES = {
    "minimum image distances in a periodic box": "torch's root at 0 gives NaN",
}
LINES = {
    **dict.fromkeys(
        (
            "frames of a signal",
            "linear interpolation to twice the rate",
            "root mean square of frames",
            "box blur",
            "grey erosion",
            "vignette",
            "median of three labels, by sorting's network",
            "partition function, its logarithm and the mean energy",
            "historical volatility of a window",
            "new centres of k-means",
            "naive Bayes, log probabilities of classes",
            "sums of groups",
            "short-time Fourier transform, its magnitude",
            "largest drawdown",
        ),
        "has no attribute",
    ),
    **dict.fromkeys(
        (
            "linalg.cross",
            "centre of mass, angular momentum",
            "Lorentz force",
            "vectors turned by quaternions",
        ),
        "a leaf Variable that requires grad is being used in an in-place operation",
    ),
    **dict.fromkeys(
        (
            "charge on a grid, nearest point",
            "sparse matrix in coordinates, times a vector",
            "means of groups, taken away",
            "azimint_naive, one bin",
        ),
        "derivative for aten::bincount is not implemented",
    ),
    "portfolio variance": "does not match previous terms",  # its cov takes the other dimension
    "covariance matrix": "Mismatch in shape",
    "correlation matrix": "Mismatch in shape",
    "autocovariance": "not close",  # its array() of a list of tensors has no gradient
    "linspace, added": "not close",  # nor has its linspace
    "batch_norm, evaluation": "is not differentiable with respect to argument 'running_mean'",
}
"""What torch or its NumPy says of lines that it does not differentiate.  The judge of their
formulas is torch's autograd of the definition."""
every_formula = pytest.mark.parametrize("formula", ALL, ids=lambda formula: formula.name)


@pytest.mark.campaign
@sampled(len(ALL))
@every_formula
def test_derivatives_are_slopes(formula: Formula) -> None:
    program, values = parsed(formula)
    function, given = compiled(program), requiring(values)
    places = [k for k, y in enumerate(as_tuple(function(*given))) if y.requires_grad]
    assert bool(places) is (formula.name not in NO_DERIVATIVE)
    if not places:
        return

    def outputs(*operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Those with derivatives: `gradcheck` takes others for the next ones."""
        found = as_tuple(function(*operands))
        return tuple(found[place] for place in places)

    fast = sum(value.numel() for value in values) > SMALL

    def check(which: Any, **options: Any) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # batches of gradients by torch's older mechanism
            return bool(which(outputs, given, fast_mode=fast, **options, raise_exception=False))

    kinks = formula.name in KINKS
    assert check(gradcheck, check_forward_ad=True, check_batched_grad=True) is not kinks
    assert check(gradgradcheck) is not kinks


@sampled(len(ALL))
@every_formula
@pytest.mark.filterwarnings("ignore")
def test_gradients_are_those_of_the_line(formula: Formula) -> None:
    if formula.name in NO_DERIVATIVE:
        return
    program, values = parsed(formula)
    function = compiled(program)
    torch.manual_seed(5)
    seeds = [
        torch.randn_like(y) if y.is_floating_point() else torch.zeros(y.shape)
        for y in as_tuple(function(*values))
    ]
    found = slopes(function, values, seeds)
    if formula.name in LINES:
        with pytest.raises((RuntimeError, AttributeError, AssertionError, ValueError)) as error:
            torch.testing.assert_close(found, slopes(line_of(formula, program), values, seeds))
        assert LINES[formula.name] in str(error.value)
        named = dict(zip((t.name for t in program.inputs), values, strict=True))
        wrt = [name for name, value in named.items() if value.is_floating_point()]
        expected = [*gradients(program, named, wrt, seeds).values()]
    else:
        expected = slopes(line_of(formula, program), values, seeds)
    if formula.name in KINKS_OF_LINES:
        assert any(slope.isnan().any() for slope in expected)
        assert not any(slope.isnan().any() for slope in found)
        return
    both = formula.name in KINKS  # there, both are NaN
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9, equal_nan=both)


def slopes(function: Any, values: Tensors, seeds: Tensors) -> list[torch.Tensor]:
    """The gradients by all operands of floating types, 0 where there is none."""
    given = requiring(values)
    outputs = as_tuple(function(*given))
    pairs = [(y, seed) for y, seed in zip(outputs, seeds, strict=True) if y.requires_grad]
    wrt = [value for value in given if value.requires_grad]
    if not pairs:
        return [torch.zeros_like(value) for value in wrt]
    heads, directions = zip(*pairs, strict=True)
    found = torch.autograd.grad(heads, wrt, directions, allow_unused=True)
    return [
        torch.zeros_like(value) if slope is None else slope
        for value, slope in zip(wrt, found, strict=True)
    ]
