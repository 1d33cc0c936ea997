"""The Python and the command lines of the documentation and the README run as they stand."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from einderive.frontend.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
PAGES = {path.name: path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDED = re.compile(r"# ((?:ta|derivations|eops|frontend)/[\w/]+\.py)\n")
"""How a block begins that is a file of the project, to be added to it."""
COMMAND = re.compile(r"^\$ einderive ((?:.*\\\n)*.*)$", re.MULTILINE)


def pages(pattern: re.Pattern[str]) -> list[str]:
    return [name for name, path in PAGES.items() if pattern.search(path.read_text("utf-8"))]


def test_the_guides_have_code_and_the_quickstart_commands() -> None:
    kinds = ("a-rule", "an-operator", "a-function", "a-definition", "a-baseline", "a-back-end")
    guides = {f"adding-{kind}.md" for kind in kinds}
    assert guides | {"quickstart.md"} <= set(pages(PYTHON))
    assert {"README.md", "quickstart.md"} <= set(pages(COMMAND))


@pytest.mark.parametrize("page", pages(PYTHON))
def test_python_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGES[page].read_text("utf-8")
    added = {found[1]: block for block in PYTHON.findall(text) if (found := ADDED.match(block))}
    if added:
        run_with(
            added,
            [block for block in PYTHON.findall(text) if block not in added.values()],
            tmp_path,
        )
        return
    names: dict[str, object] = {"__name__": page}
    for found in PYTHON.finditer(text):
        line = text.count("\n", 0, found.start(1))
        exec(compile("\n" * line + found[1], str(PAGES[page]), "exec"), names)


def run_with(added: Mapping[str, str], blocks: Sequence[str], folder: Path) -> None:
    """Run the blocks in a copy of the source tree that has these files besides."""
    for top in ("einderive", "ta", "derivations", "eops", "frontend"):
        shutil.copytree(ROOT / top, folder / top)
    for path, text in added.items():
        assert not (folder / path).exists(), f"{path} is there already"
        (folder / path).write_text(text, "utf-8")
    command = [sys.executable, "-c", "\n".join(blocks)]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_a_file_is_added_to_a_copy(tmp_path: Path) -> None:
    """Neither does this tree know what a page adds, nor does the copy without the file."""
    text = PAGES["adding-a-function.md"].read_text("utf-8")
    used = [block for block in PYTHON.findall(text) if not ADDED.match(block)]
    with pytest.raises(AssertionError, match="versin is not a function"):
        run_with({}, used, tmp_path)


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
