"""Idioms are found by the functions that their texts apply, before they are read."""

from __future__ import annotations

from einderive.frontend.baselines.writing.idioms import (
    IDIOMS,
    _applied,
    _by_kind,
    _read,
    find,
    named,
)
from einderive.ta.notation.parse import parse


def test_an_expression_applies_what_its_text_applies() -> None:
    """Else an idiom would not be looked at where it matches."""
    for idiom in IDIOMS:
        assert named(idiom.formula) <= _applied(_read(idiom)), idiom


def test_only_those_that_may_match_are_read() -> None:
    _read.cache_clear()
    _by_kind.cache_clear()
    (scope,) = parse("Y[i] = A[i]^2", {"A": (3,)}, "float32").roots()
    found = find(scope.body)
    assert found is not None
    assert found.text == "torch.square({x})"
    assert _read.cache_info().currsize < len(IDIOMS) // 4
