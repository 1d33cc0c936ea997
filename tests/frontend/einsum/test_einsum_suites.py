"""NumPy's own einsum suite and opt_einsum's, as a list of calls: all results agree, all calls that
both refuse are refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import opt_einsum
import pytest

import einderive as ed
from einderive.ta.errors import EinderiveError

LINES = (Path(__file__).parent / "einsum_suites.txt").read_text(encoding="utf-8").splitlines()
CASES = [tuple(line.split(" | ")) for line in LINES if line and not line.startswith("#")]
COUNTS = {
    ("numpy", "ok"): 712,
    ("numpy", "invalid"): 26,
    ("numpy", "opt_einsum"): 1,
    ("opt_einsum", "ok"): 1093,
    ("opt_einsum", "invalid"): 14,
    ("opt_einsum", "opt_einsum"): 72,
}


def arguments(subscripts: str, shapes: str) -> tuple[Any, ...]:
    """The call's arguments: integers as float64, so that every order of sums gives the same."""
    sizes = [
        () if word == "()" else tuple(int(n) for n in word.split("x")) for word in shapes.split()
    ]
    operands = [(np.arange(math.prod(s), dtype=float).reshape(s) % 7) - 3 for s in sizes]
    if not subscripts.startswith("["):
        return (subscripts, *operands)
    inputs, _, output = subscripts.partition(" -> ")
    lists = [sublist(word) for word in inputs.split()]
    flat = [item for pair in zip(operands, lists, strict=True) for item in pair]
    return (*flat, sublist(output)) if output else tuple(flat)


def sublist(word: str) -> list[Any]:
    return [Ellipsis if item == "..." else int(item) for item in word[1:-1].split(",") if item]


def of(suite: str, verdict: str) -> list[tuple[str, str]]:
    return [(case[2], case[3]) for case in CASES if case[:2] == (suite, verdict)]


def test_the_list_is_whole() -> None:
    found = {key: len(of(*key)) for key in COUNTS}
    assert found == COUNTS
    assert sum(found.values()) == len(CASES) == len(set(CASES))


@pytest.mark.parametrize("suite", ["numpy", "opt_einsum"])
def test_all_results_agree(suite: str) -> None:
    for subscripts, shapes in of(suite, "ok"):
        call = arguments(subscripts, shapes)
        wanted = np.einsum(*call, optimize=True)
        found = ed.einsum(*call)
        assert np.shape(found) == np.shape(wanted), (subscripts, shapes)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"{subscripts} | {shapes}")


@pytest.mark.parametrize("suite", ["numpy", "opt_einsum"])
def test_labels_beyond_numpys_agree(suite: str) -> None:
    """Other letters than A-Z and a-z, and integers above 51."""
    for subscripts, shapes in of(suite, "opt_einsum"):
        call = arguments(subscripts, shapes)
        wanted = opt_einsum.contract(*call)
        found = ed.einsum(*call)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"{subscripts} | {shapes}")


@pytest.mark.parametrize("suite", ["numpy", "opt_einsum"])
def test_all_invalid_calls_are_refused(suite: str) -> None:
    for subscripts, shapes in of(suite, "invalid"):
        with pytest.raises(EinderiveError):
            print(subscripts, shapes, ed.einsum(*arguments(subscripts, shapes)))
