"""Definitions with a reduction inside another one have a line of their own."""

from __future__ import annotations

import pytest

from einderive.frontend.baselines.rival import rivals
from tests.frontend.derived import derived


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Y[i] = var[j](X[i,j])", [("var",), ("broadcast and reduce", "mean")]),
        (
            "M[i] = mean[j](X[i,j]); Y[i] = mean[j]((X[i,j]-M[i])^2)",
            [("var",), ("mean", "mean")],
        ),
        ("Y[i] = std[j](X[i,j])", [("std",), ("broadcast and reduce", "mean", "elementwise")]),
        ("Y[i] = mean[j](X[i,j])", [("mean",), ("broadcast and reduce", "elementwise")]),
    ],
)
def test_the_outer_and_the_inner_definition_are_both_tried(
    text: str, words: list[tuple[str, ...]]
) -> None:
    found = [rival.words for rival in rivals(derived(text, X=(4, 30)).source, "cpu")]
    assert found[: len(words)] == words
    assert any("broadcast and reduce" in each for each in found)
