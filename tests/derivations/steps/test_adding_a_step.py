"""A new kind of step is one file in the folder of steps: derived, recorded, read, checked, judged.

The file and its rule are those of docs/adding-a-step.md; the search is given that rule alone.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from einderive.derivations import steps
from einderive.derivations.matching.cost import CPU
from einderive.derivations.record.trace import read_step, read_witness, step_data
from einderive.derivations.record.verify import check
from einderive.derivations.search.explore import Budget
from einderive.derivations.search.run import search
from einderive.derivations.steps.kernel import Witness, apply, kinds
from einderive.eops.library import OPERATORS
from einderive.ta.errors import RecordError, RuleRefused
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.notation.parse import parse
from tests.derivations.seeds import corrupt, read
from tests.oracle import equal

PAGE = Path(__file__).parents[3] / "docs" / "adding-a-step.md"
FILE, RULE = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
KNOWN = {
    *(
        "ByLaw",
        "Centre",
        "ContractPairs",
        "Distribute",
        "Expand",
        "Exponential",
        "Factor",
        "FoldByLaw",
        "Fuse",
        "Merge",
    ),
    *("Materialise", "Pull", "ReadPart", "ReindexLoops", "ReindexSums", "Scale", "SplitRange"),
    *("ExponentialShift", "ProvisionalMean", "SplitSum", "SumByLaw"),
}
FORMULA = "Y[i,j] = sum[k](A[i,k%32]*B[k%32,j]) where k in 0:64"
SHAPES: dict[str, tuple[int, ...]] = {"A": (64, 32), "B": (32, 64)}


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What the page's rule defines, while its first block is a file among those of the folder."""
    (tmp_path / "halve.py").write_text(FILE, encoding="utf-8")
    monkeypatch.setattr(steps, "__path__", [*steps.__path__, str(tmp_path)])
    kinds.cache_clear()
    module = ModuleType("rule")
    module.__dict__.update(vars(sys.modules[kinds()["Halve"].__module__]))
    exec(compile(RULE, str(PAGE), "exec"), module.__dict__)
    yield module
    kinds.cache_clear()
    del sys.modules[f"{steps.__name__}.halve"]
    del steps.__dict__["halve"]


def test_the_kinds_are_those_of_the_folder() -> None:
    assert set(kinds()) == KNOWN
    assert list(kinds()) == sorted(kinds(), key=lambda name: kinds()[name].__module__)
    homes = [kind.__module__ for kind in kinds().values()]
    assert len(set(homes)) == len(homes)


def test_a_kind_is_added_by_one_file(added: Any) -> None:
    assert set(kinds()) == KNOWN | {"Halve"}


def test_the_search_derives_by_it_and_the_checker_checks_the_record(added: Any) -> None:
    program = parse(FORMULA, SHAPES)
    roots, tensors = program.roots(), {tensor.name: tensor for tensor in program.inputs}
    result = search(roots, (added.HALVE,), OPERATORS, CPU, Budget(states=50))
    plan = result.plans[0]
    assert [type(step.witness).__name__ for step in plan.steps] == ["Halve"]
    assert plan.seconds < result.unchanged.seconds
    text = json.dumps([step_data(step, {}) for step in plan.steps])
    assert '"witness": {"kind": "Halve", "index": 0}' in text
    (step,) = [read_step(data, tensors) for data in json.loads(text)]
    assert (step,) == plan.steps
    assert check(roots, (step,), plan.roots)
    loops, sums, body = step.after.loops, step.after.sums, step.after.body
    wrong = make_scope(loops, sums, expr.mul(expr.const(2), body))
    assert not check(roots, (replace(step, after=wrong),), (wrong,))


def test_a_reader_without_the_file_knows_no_such_kind() -> None:
    with pytest.raises(RecordError, match="unknown kind"):
        read_witness({"kind": "Halve", "index": 0}, {})


def test_what_it_answers_is_asked_for(added: Any) -> None:
    def step(text: str) -> Any:
        (found,) = added.HALVE.steps(read(text, A=(6,), B=(6,)))
        assert equal(found.before, found.after) is None
        return found

    assert step("{S[k:0:6] A[k]*B[k]}").exactness("reassociates") == "reassociates"
    assert step("{S[k:0:6] A[k] - B[k]}").exactness("reassociates") == "cancels"
    assert step("{S[k:0:6] finite(A[k])}").keeps_nonfinite()
    assert not step("{S[k:0:6] A[k]*B[k]}").keeps_nonfinite()
    assert step("{S[k:0:6] A[k]}").witness.words(read("{S[k:0:6] A[k]}", A=(6,))) == "Halve index 0"


def test_what_does_not_hold_is_refused(added: Any) -> None:
    """Its own conditions, and the kernel's for all kinds."""
    for text, reason in (
        ("{S[k:0:5] A[k]}", "no half"),
        ("{max[k:0:6] A[k]}", "no such sum"),
        ("{S[k:0:0] A[k]}", "empty range"),
    ):
        with pytest.raises(RuleRefused, match=reason):
            apply(read(text, A=(6,)), added.Halve(0))


def test_it_is_corrupted_like_any_other(added: Any) -> None:
    witness: Witness = added.Halve(0)
    assert {corrupt(witness, Random(seed)) for seed in range(9)} == {
        added.Halve(-1),
        added.Halve(1),
    }
