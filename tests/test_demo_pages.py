"""README, landing page and measurements show the same run of the demo."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import einderive as ed
from einderive.frontend.bench.demo import COLUMNS, measured
from einderive.frontend.bench.suite import DEMO
from einderive.frontend.report.terminal import table_text
from einderive.ta.printing.show import show_program
from tools import demo_pages

CELLS = (
    ("box filter", "3", "2365", "0.81", "avg_pool1d x2", "167.50", "9.75", "17.18", "2e-7", "2e-7"),
    ("attention", "0", "39", "0.02", "baseline: matmul x2", "2.05", "2.05", "1.00", "5e-7", "5e-7"),
    ("low rank", "4", "50", "0.01", "matmul x3", "1832.9", "1210", "1.51", "4e-7", "3e-7"),
)


def printed(when: str) -> str:
    """What a run prints, in short."""
    shown = table_text(COLUMNS, ("formula", "chosen program"), CELLS)
    return f"[1/3] box filter\n    steps: skew\n\nmeasured {when}\ntarget cpu\n{shown}\n"


def test_the_pages_show_one_run() -> None:
    output = demo_pages.OUTPUT.findall(demo_pages.FULL.read_text("utf-8"))
    assert len(output) == 1
    assert len(demo_pages.rows(output[0])) == 6
    for page in demo_pages.SHORT:
        shown = demo_pages.TABLE.findall(page.read_text("utf-8"))
        assert [text.strip() for text in shown] == [demo_pages.table(output[0]).strip()], page.name


def test_the_table_has_times_ratios_and_the_machine() -> None:
    assert demo_pages.table(printed("today on it")).splitlines() == [
        "| formula | fastest line of torch | derived | ratio |",
        "|---|---|---|---|",
        "| box filter | 168 ms | 9.75 ms | 17 |",
        "| attention | 2.05 ms | the same line | 1 |",
        "| low rank | 1830 ms | 1210 ms | 1.5 |",
        "",
        "Measured today on it.",
    ]


def test_all_pages_are_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, short = tmp_path / "cpu.md", tmp_path / "README.md"
    full.write_text("Before.\n\n```console\n$ make demo\n```\n\n```text\nold\n```\n\nAfter.\n")
    short.write_text("No place here.\n")
    monkeypatch.setattr(demo_pages, "FULL", full)
    monkeypatch.setattr(demo_pages, "SHORT", (short,))
    output = printed(measured())
    with pytest.raises(ValueError, match=r"README\.md has 0 places"):
        demo_pages.write(output)
    assert "old" in full.read_text()
    short.write_text("Before.\n<!-- demo -->\nold\n<!-- end of demo -->\nAfter.\n")
    demo_pages.write(output)
    assert demo_pages.table(output) in short.read_text()
    assert demo_pages.OUTPUT.findall(full.read_text()) == [output]
    assert [page.read_text()[-7:] for page in (full, short)] == ["After.\n"] * 2


def test_a_run_says_when_and_where() -> None:
    form = (
        r"20\d\d-\d\d-\d\d on \S.* \(\S+.*\), \d+ cores; Python 3\.\d+\S*, torch \S+, \d+ threads"
    )
    assert re.fullmatch(form, measured())


def test_the_readme_shows_the_derived_program() -> None:
    text = (demo_pages.ROOT / "README.md").read_text("utf-8")
    block = text.split("```text\n")[1].split("```")[0]
    given, _, *program = (re.split(r" {2,}", line)[0] for line in block.splitlines())
    case = next(case for case in DEMO if case.text == given)
    derivation = ed.derive(
        given, X=case.shapes["X"], W=case.shapes["W"], B=(4096, 16), A=(16, 4096)
    )
    assert show_program(derivation.staged(derivation.candidates[0])).splitlines() == program
