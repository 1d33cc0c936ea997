"""`make gpu` without a GPU: every step runs, on small sizes and in Triton's interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from einderive.frontend.bench.run import CASES
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN
from tests.prepared import interpreted
from tools.gpu.cases import case_of, eager_of
from tools.gpu.goals import SMALL, Run, Setting
from tools.gpu.report import BEGIN, bench_report, report, written


@CAMPAIGN
def test_every_step_runs_in_the_interpreter() -> None:
    text = interpreted("-m", "tools.gpu", "report")
    lines = text.splitlines()
    for what in ("tests collected", "transposed operand, float32", "convolution 3x3, float32"):
        assert what in text, what
    for number in CASES:
        mine = [line.split() for line in lines if line.startswith(f"{number} ")]
        assert {line[1] for line in mine} == {"torch:", "reference's", "candidate", "as"}
        assert any(line[1:4] == ["as", "given,", "compiled:"] for line in mine)
    assert text.count("reference's program: matmul + eOperator") == 3  # of the four cases
    measured = text.partition("### memory")[2].splitlines()
    softmax = next(line for line in measured if line.startswith("row softmax"))
    assert softmax.split()[3] == "1"  # kernel
    assert "gated gelu, float32" in text


WRITING = """
import sys
from pathlib import Path
from tools.gpu.goals import SMALL
from tools.gpu.report import bench_report
from tools.gpu.steps import STEPS

place, *names = sys.argv[1:]
bench_report(Path(place), SMALL, {name: STEPS[name] for name in names})
"""


def test_a_step_that_ran_is_written_to_the_page(tmp_path: Path) -> None:
    place = tmp_path / "gpu.md"
    place.write_text(f"# GPU\n\nBefore.\n\n{BEGIN}\n\nThe last one.\n")
    told = interpreted("-c", WRITING, place, "products")
    assert told.startswith(f"written to {place}\n")
    page = place.read_text()
    assert page.startswith(f"# GPU\n\nBefore.\n\n{BEGIN}\n\nTriton's interpreter, ")
    assert "The last one." not in page
    assert "failed" not in page
    (step,) = page.split("\n### ")[1:]
    assert step.startswith("products\n")
    for product in ("product", "transposed operand", "convolution 3x3"):
        assert f"{product}, float32" in step


def test_a_step_that_fails_does_not_lose_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(run: Run) -> None:
        raise RuntimeError("no such kernel")

    def holds(run: Run) -> None:
        print("measured")
        run.judge("one", "all", "all", True)
        run.judge_error("right", "float32", 1e-6)
        run.judge_error("wrong", "float32", float("nan"))

    steps = {"first": fails, "second": holds}
    text, table, good = report(SMALL, steps)
    assert not good
    assert "measured" in text
    assert [line.split()[0] for line in table.splitlines()[1:]] == ["first", "one", "wrong"]
    place = tmp_path / "gpu.md"
    place.write_text("# GPU\n\nBefore.\n")
    for _ in range(2):
        assert bench_report(place, SMALL, steps) == 1
        page = place.read_text()
        assert page.startswith("# GPU\n\nBefore.\n\n" + BEGIN)
        assert page.count(BEGIN) == 1
        assert capsys.readouterr().out.endswith(table + "\n")  # the short table comes last


def test_the_last_report_is_replaced() -> None:
    page = "# GPU\n\nText.\n"
    once = written(page, BEGIN + "\n\none\n")
    assert written(once, BEGIN + "\n\ntwo\n") == f"# GPU\n\nText.\n\n{BEGIN}\n\ntwo\n"


def test_nothing_is_begun_when_the_time_is_over() -> None:
    run = Run(Setting(seconds=1e-9))
    assert not run.before(1.0)
    assert Run(Setting()).before(0.1)


@pytest.mark.parametrize("number", CASES)
def test_small_cases_are_the_same_in_torch(number: int) -> None:
    """By the shapes of what both give."""
    case, _ = case_of(number, small=True)
    (root,) = parse(case.text, case.shapes, "float32").roots()
    ones = [torch.ones(shape) for shape in case.shapes.values()]
    for _, eager, operands in eager_of(number, ones, small=True):
        found = eager(*operands)
        assert tuple(found.shape) == root.shape
        assert found.numel() < 1000
