"""The Python and the command lines of the documentation and the README run as they stand."""

import re
import shlex
from pathlib import Path

import pytest

from einderive.frontend.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
PAGES = {path.name: path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ einderive ((?:.*\\\n)*.*)$", re.MULTILINE)


def pages(pattern: re.Pattern[str]) -> list[str]:
    return [name for name, path in PAGES.items() if pattern.search(path.read_text("utf-8"))]


def test_the_guides_have_code_and_the_quickstart_commands() -> None:
    assert {"adding-a-rule.md", "adding-an-operator.md", "quickstart.md"} <= set(pages(PYTHON))
    assert {"README.md", "quickstart.md"} <= set(pages(COMMAND))


@pytest.mark.parametrize("page", pages(PYTHON))
def test_python_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGES[page].read_text("utf-8")
    names: dict[str, object] = {"__name__": page}
    for found in PYTHON.finditer(text):
        line = text.count("\n", 0, found.start(1))
        exec(compile("\n" * line + found[1], str(PAGES[page]), "exec"), names)


@pytest.mark.parametrize("page", pages(COMMAND))
def test_commands_run(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for found in COMMAND.finditer(PAGES[page].read_text("utf-8")):
        line = found[1].replace("\\\n", " ")
        assert main(shlex.split(line, comments=True)) == 0, f"{line}\n{capsys.readouterr().err}"
