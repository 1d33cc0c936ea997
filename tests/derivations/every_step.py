"""Witnesses on scopes given as text: what they give, proved by the interpreter, or why not."""

from __future__ import annotations

import pytest

from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Witness
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope
from einderive.ta.printing.show import show
from tests.derivations.seeds import read
from tests.oracle import equal

SHAPES: dict[str, tuple[int, ...]] = {"A": (6,), "B": (6,), "K": (3,), "M": (4, 3), "N": (4, 3)}


def scope_of(text: str) -> Scope:
    return read(text, **SHAPES)


def proved(text: str, witness: Witness) -> str:
    """What the witness gives, judged by the interpreter."""
    scope = scope_of(text)
    after = kernel.apply(scope, witness)
    assert after.loops == scope.loops
    assert equal(scope, after) is None
    return show(after)


def refusal(text: str, witness: Witness) -> str:
    with pytest.raises(RuleRefused) as refused:
        kernel.apply(scope_of(text), witness)
    return str(refused.value)


def outcome(text: str, witness: Witness) -> str:
    """What the witness gives, or why it is refused."""
    try:
        return proved(text, witness)
    except RuleRefused as refused:
        return str(refused)
