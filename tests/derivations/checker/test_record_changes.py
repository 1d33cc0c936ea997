"""A saved record changed in any one place is refused, does not check, or still says what is true.

The tests draw one change of each kind at each sort of place;
`python -m tests.derivations.checker.test_record_changes` tries every change.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.derivations.matching.match import match
from einderive.derivations.record.trace_stages import stage_data
from einderive.derivations.search.graph import Stage
from einderive.derivations.steps import kernel
from einderive.eops.library import by_name
from einderive.ta.errors import RecordError
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.subst import stages
from tests.amount import CAMPAIGN, PART, sampled
from tests.derivations.checker.record_changes import Change, changes
from tests.oracle import equal

NO_CLAIM = {
    r"statistics(/.*)?": "what the search did",
    r"candidates/#/(stages/#/)?predicted_seconds": "a prediction",
    r"rule_set": "which rules were there to propose",
    r"candidates/#/steps/#/rule": "a name; the two sides of a step are what is shown",
    r"target": "for which machine times were predicted",
    r"accuracy|nan": "which steps take part; what is stricter is checked",
    r"candidates": "each is checked alone, whatever their number (not 0) and order",
    r"input/.*": "the question: the file is trusted for it, and the answer has to fit",
}
"""Places that may change, by what a record says of them.  Not in this list: the place in an
expression that a witness names (see `names_a_place`)."""
MAPS = ("ReindexLoops", "ReindexSums", "ReadPart")
"""Kinds of witnesses that hold a change of iterators; all others name a place in an expression,
which proves nothing and is not read."""
BUDGET = ed.Budget(states=200)

SOFTMAX = """S[i,j] = Q[i,d]*K[j,d]; M[i] = max[j](S[i,j]); E[i,j] = exp(S[i,j]-M[i])
Z[i] = sum[j](E[i,j]); O[i,e] = E[i,j]/Z[i]*V[j,e]"""
ATTENTION = """S[b,i,j] = Q[b,i,d]*K[b,j,d]/4; M[b,i] = max[j](S[b,i,j])
P[b,i,j] = exp(S[b,i,j]-M[b,i])/sum[u](exp(S[b,i,u]-M[b,i])); O[b,i,e] = P[b,i,j]*V[b,j,e]"""
HEADS = {"Q": (2, 3, 4), "K": (2, 5, 4), "V": (2, 5, 6)}


def derived(text: str, target: str = "cuda:90", **options: Any) -> Callable[[], Any]:
    def make() -> Any:
        return ed.derive(text, target=target, budget=BUDGET, **options).data()

    return make


def attention() -> Any:
    """The program as given, computed by the operator that reads past all other stages."""
    derivation = ed.derive(ATTENTION, budget=ed.Budget(states=20), **HEADS)  # type: ignore[arg-type]
    data = derivation.data()
    (root,) = derivation.source.roots()
    places = {scope: place for place, scope in enumerate(stages(root))}
    binding = match(by_name("attention"), root)
    assert isinstance(binding, Binding)
    given = next(each for each in data["candidates"] if not each["steps"])
    given["stages"] = [stage_data(Stage(root, "attention", binding, 1.0, (), 0.0, ""), places)]
    return data | {"candidates": [given]}


RECORDS: dict[str, Callable[[], Any]] = {
    "contraction": derived(
        "Y[b,i,e] = Q[b,i,d]*K[b,j,d]*V[b,j,e]", Q=(2, 5, 3), K=(2, 7, 3), V=(2, 7, 4)
    ),
    "convolution": derived(
        "Y[f,h] = A[c,h+2*r-2]*K[f,c,r] where h in 0:6", A=(2, 6), K=(3, 2, 3)
    ),
    "softmax": derived(SOFTMAX, "cpu", Q=(5, 3), K=(7, 3), V=(7, 4)),
    "attention": attention,
    "weights": derived(
        "Y[i,l] = A[i,k]*W[k,j]*V[j,l]", "cpu", A=(5, 6), W=(6, 4), V=(4, 3), weights=["W", "V"]
    ),
    "joined": derived(
        "T[i,j] = A[i,k]*B[k,j]; U[i,j] = A[i,k]*C[k,j]", A=(5, 6), B=(6, 4), C=(6, 3)
    ),
    "strict": derived(
        "Y[i,l] = A[i,k]*B[k,j]*C[j,l]", "cpu", A=(5, 6), B=(6, 4), C=(4, 3),
        nan="strict", accuracy="componentwise",
    ),
}  # fmt: skip


@cache
def record(name: str) -> str:
    """The record, with few candidates that have every operator and every kind of witness in it."""
    data = RECORDS[name]()
    kept: list[Any] = []
    seen: set[tuple[str, str]] = set()
    for candidate in data["candidates"]:
        kinds = {("stage", stage["operator"]) for stage in candidate["stages"]}
        kinds |= {("step", step["witness"]["kind"]) for step in candidate["steps"]}
        if not kinds <= seen and len(kept) < 4:
            seen |= kinds
            kept.append(candidate)
    return json.dumps(data | {"candidates": kept})


def read(data: Any, only: int | None = None) -> ed.Derivation | None:
    """The record as loaded, where it is, and all of its candidates check, or one of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.json"
        path.write_text(json.dumps(data), encoding="utf-8")
        try:
            found = ed.load(path)
        except RecordError:
            return None
    numbers = range(len(found.candidates)) if only is None else [only]
    return found if all(found.check(number) for number in numbers) else None


def names_a_place(data: Any, change: Change) -> bool:
    if "witness" not in change.path:
        return False
    witness = data
    for key in change.path[: change.path.index("witness") + 1]:
        witness = witness[key]
    return witness["kind"] not in MAPS


def still_true(found: ed.Derivation, change: Change) -> str:
    """Why a changed record may check; nothing where there is no reason.

    Judged without the checker: all programs are equal when evaluated, and what was changed holds
    when it is carried out."""
    for plan in found.candidates:
        if any(map(equal, found.source.roots(), plan.roots)):
            return ""
    for place, reason in NO_CLAIM.items():
        if re.fullmatch(place, change.place):
            return reason
    if names_a_place(json.loads(json.dumps(found.data())), change):
        return "the place in an expression that a witness names"
    if change.path[:1] != ("candidates",) or len(change.path) < 3:
        return ""
    candidate = int(change.path[1])
    if "witness" in change.path:
        step = found.candidates[candidate].steps[int(change.path[3])]
        same = kernel.apply(step.before, step.witness) is step.after
        return "the same map on the box" if same else ""
    if change.place == "candidates/#/steps" and change.kind == "exchanged":
        return "two steps in either order"  # both replayed to the same program
    if {"binding", "operator"} & {*change.path}:
        claim = found.stated[candidate].claims[int(change.path[3])]
        if claim.operator is None or claim.binding is None:
            return "" if claim.whole else "any stage can be computed as it is written"
        launched = computes(claim.operator.name, claim.binding)
        return "the operator computes the stage as it is bound" if launched else ""
    return ""


def computes(name: str, binding: Binding) -> bool:
    """Whether the operator, run as bound, gives the stage's values."""
    generator = np.random.default_rng(7)
    tensors = input_tensors(binding.scope)
    values = {tensor.name: generator.standard_normal(tensor.shape) for tensor in tensors}
    buffers: dict[Any, torch.Tensor] = {t: torch.from_numpy(values[t.name]) for t in tensors}
    for scope in stages(binding.scope)[:-1]:
        buffers[scope] = torch.from_numpy(evaluate(scope, values, RealField()))
    result = by_name(name).launch(binding)(buffers)
    return np.allclose(result, evaluate(binding.scope, values, RealField()))


def passed(name: str, chosen: Iterable[Change]) -> list[tuple[Change, str]]:
    """The changes with which the record checks, and why it may."""
    data, found = json.loads(record(name)), []
    for change in chosen:
        inside = change.path[:1] == ("candidates",) and len(change.path) > 1
        derivation = read(change.applied(data), int(change.path[1]) if inside else None)
        if derivation is not None:
            found.append((change, still_true(derivation, change)))
    return found


def drawn(name: str, seed: int) -> list[Change]:
    """One change of each kind at each sort of place."""
    random, groups = Random(f"{name} {seed}"), defaultdict(list)
    for change in changes(json.loads(record(name))):
        groups[change.place, change.kind].append(change)
    return [random.choice(group) for group in groups.values()]


@sampled(4)
@pytest.mark.parametrize("name", RECORDS)
def test_a_record_checks_as_it_was_saved(name: str) -> None:
    assert read(json.loads(record(name))) is not None


@sampled(4)
@pytest.mark.parametrize("part", [10 * PART, pytest.param(1, marks=CAMPAIGN)])
@pytest.mark.parametrize("name", RECORDS)
def test_no_change_passes_that_makes_a_record_untrue(name: str, part: int, seed: int) -> None:
    """One of so many sorts of changes; which those are is another one of each record."""
    tried = drawn(name, seed)[len(name) % part :: part]
    found = passed(name, tried)
    assert [change for change, reason in found if not reason] == []
    assert len(found) < len(tried) / 3 + 3


def main() -> int:
    """Every change of every record."""
    count, reasons = 0, Counter[str]()
    for name in RECORDS:
        every = list(changes(json.loads(record(name))))
        count += len(every)
        for change, reason in passed(name, every):
            reasons[reason] += 1
            if not reason:
                print(name, change.path, change.kind, f"{change.part!r:.200}")
    print(f"{count} changes; of those that passed:")
    for reason, number in reasons.most_common():
        print(f"{number:6}  {reason or 'without a reason'}")
    return int(reasons[""] > 0)


if __name__ == "__main__":
    sys.exit(main())
