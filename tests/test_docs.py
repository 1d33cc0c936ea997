"""The documentation's Python and its command lines run as they stand."""

import re
import shlex
from pathlib import Path

import pytest

from frontend.cli import main

DOCS = Path(__file__).resolve().parent.parent / "docs"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ einderive ((?:.*\\\n)*.*)$", re.MULTILINE)


def pages(pattern: re.Pattern[str]) -> list[str]:
    return [
        path.name for path in sorted(DOCS.glob("*.md")) if pattern.search(path.read_text("utf-8"))
    ]


def test_the_guides_have_code_and_the_quickstart_commands() -> None:
    assert {"adding-a-rule.md", "adding-an-operator.md", "quickstart.md"} <= set(pages(PYTHON))
    assert "quickstart.md" in pages(COMMAND)


@pytest.mark.parametrize("page", pages(PYTHON))
def test_python_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text("utf-8")
    names: dict[str, object] = {"__name__": page}
    for found in PYTHON.finditer(text):
        line = text.count("\n", 0, found.start(1))
        exec(compile("\n" * line + found[1], str(DOCS / page), "exec"), names)


@pytest.mark.parametrize("page", pages(COMMAND))
def test_commands_run(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for found in COMMAND.finditer((DOCS / page).read_text("utf-8")):
        line = found[1].replace("\\\n", " ")
        assert main(shlex.split(line)) == 0, f"{line}\n{capsys.readouterr().err}"
