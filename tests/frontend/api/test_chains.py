"""Chains of many elementwise statements: derived, shown, saved, read back and checked."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import einderive as ed
from einderive.derivations.search.graph import TOO_LONG
from einderive.ta.ir.subst import stages
from einderive.ta.printing.written import MOST_DEPTH, MOST_LENGTH, written
from tests.amount import CAMPAIGN, first
from tests.work import at_most

BODIES = {
    "x^2 + x": "{p}[i]*{p}[i] + {p}[i]",
    "relu(x) + x": "relu({p}[i]) + {p}[i]",
    "relu(x + x^2)": "relu({p}[i] + {p}[i]*{p}[i])",
    "x*exp(x) + 1": "exp({p}[i])*{p}[i] + 1",
    "2*x + 1": "2*{p}[i] + 1",
}
COUNT = 24


def chain(body: str, count: int) -> str:
    return "\n".join(f"Y{n + 1}[i] = {body.format(p=f'Y{n}' if n else 'X')}" for n in range(count))


@cache
def derived(name: str, target: str) -> ed.Derivation:
    few = ed.Budget(states=400)
    return ed.derive(chain(BODIES[name], COUNT), X=(1000,), target=target, budget=few, most=4)


EACH = [("2*x + 1", "cuda:90"), ("x^2 + x", "cpu")]
EACH = first(1, [*EACH, *((name, "cuda:90") for name in BODIES if name != "2*x + 1")])


@pytest.mark.parametrize(("name", "target"), EACH)
def test_it_is_saved_read_back_shown_and_checked(name: str, target: str, tmp_path: Path) -> None:
    derivation = derived(name, target)
    _saved_read_back_shown_and_checked(derivation, tmp_path)


@CAMPAIGN
@pytest.mark.parametrize(("name", "target"), EACH)
def test_that_is_little_work(name: str, target: str, tmp_path: Path) -> None:
    derivation = derived(name, target)
    with at_most(100_000_000):
        _saved_read_back_shown_and_checked(derivation, tmp_path)


def _saved_read_back_shown_and_checked(derivation: ed.Derivation, folder: Path) -> None:
    path = folder / "chain.json"
    derivation.save(path)
    loaded = ed.load(path)
    derivation.to_html(folder / "chain.html")
    for text in (str(derivation), str(derivation.program), path.read_text(encoding="utf-8")):
        assert len(text) < 1_000_000
    assert [c.roots for c in loaded.candidates] == [c.roots for c in derivation.candidates]
    for candidate in range(len(derivation.candidates)):
        for each in (derivation, loaded):
            report = each.check(candidate)
            assert report, str(report)


@pytest.mark.parametrize("name", first(1, [name for name in BODIES if name != "2*x + 1"]))
def test_statements_are_fused_as_far_as_the_text_stays_short(name: str) -> None:
    derivation = derived(name, "cuda:90")
    counts = [len(stages(*plan.roots)) for plan in derivation.candidates]
    assert min(counts) <= COUNT // 5
    assert min(counts) > 1
    for plan in derivation.candidates:
        for stage in stages(*plan.roots):
            length, depth = written(stage.body)
            assert length <= MOST_LENGTH
            assert depth <= MOST_DEPTH
    assert derivation.stats.pruned[TOO_LONG] > 0


def test_what_is_given_is_derived_however_long_it_is() -> None:
    body = " + ".join(f"A[i+{k}]*{k + 2}" for k in range(MOST_LENGTH))
    derivation = ed.derive(f"Y[i] = {body} where i in 0:50", A=(400,), budget=ed.Budget(states=3))
    assert derivation.check()


@pytest.mark.parametrize("name", first(2, sorted(BODIES, key=len)))
def test_only_equal_chains_are_shown_to_be_equal(name: str) -> None:
    body = BODIES[name]
    text = chain(body, COUNT)
    ninth = f"Y9[i] = {body.format(p='Y8')}"
    assert ninth in text
    copied = text.replace(ninth, f"Z[i] = Y8[i]\nY9[i] = {body.format(p='Z')}")
    verdict = ed.equivalent(text, copied, X=(9,))
    assert verdict.kind in ("evaluated", "proved"), verdict
    assert not ed.equivalent(text, text.replace(ninth, f"{ninth} + X[i]"), X=(9,))
