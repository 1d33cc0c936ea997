"""The Python and the command lines of the documentation and the README run as they stand."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from einderive.derivations.search.strategy import Budget
from einderive.frontend.api import optimize
from einderive.frontend.cli.main import main
from tests.amount import first
from tests.prepared import python

ROOT = Path(__file__).resolve().parent.parent
PAGES = {path.name: path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATES = 300
DATA = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDED = re.compile(r"# ((?:ta|derivations|eops|frontend)/[\w/]+\.(?:py|toml))\n")
"""How a block begins that is a file of the project, to be added to it."""
COMMAND = re.compile(r"^\$ einderive ((?:.*\\\n)*.*)$", re.MULTILINE)


def pages(pattern: re.Pattern[str]) -> list[str]:
    return [name for name, path in PAGES.items() if pattern.search(path.read_text("utf-8"))]


def sized(text: str, small: bool) -> str:
    """With smaller sizes, which run in less time."""
    return re.sub(r"\b(2048|512)\b", "64", text) if small else text


def whole_and_small(pattern: re.Pattern[str]) -> list[Any]:
    """Pages at small sizes, without the guides, which run together; in campaigns all as they
    stand."""
    texts = {page: PAGES[page].read_text("utf-8") for page in pages(pattern)}
    guides = {page for page, text in texts.items() if ADDED.search(text)}
    small = [(page, True) for page in texts if page not in guides]
    whole = [
        (page, False) for page in texts if page in guides or sized(texts[page], True) != texts[page]
    ]
    return first(len(small), [*small, *whole])


def test_the_guides_have_code_and_the_quickstart_commands() -> None:
    guides = {name for name in PAGES if name.startswith("adding-")}
    assert len(guides) == 8
    assert guides | {"quickstart.md"} <= set(pages(PYTHON))
    assert {"README.md", "quickstart.md"} <= set(pages(COMMAND))


@pytest.fixture
def short_derivations(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No search sees more than STATES states, where the page is run at small sizes."""
    given = optimize.limits

    def limits(budget: Budget | float | None) -> Budget:
        found = given(budget)
        return replace(found, states=min(STATES, found.states))

    if request.node.callspec.params["small"]:
        monkeypatch.setattr(optimize, "limits", limits)


@pytest.mark.usefixtures("short_derivations")
@pytest.mark.parametrize(("page", "small"), whole_and_small(PYTHON))
def test_python_blocks_run(
    page: str, small: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    added, blocks = parts(page)
    if added:
        run_with(added, [blocks], tmp_path)
        return
    names: dict[str, object] = {"__name__": page}
    text = sized(PAGES[page].read_text("utf-8"), small)
    for found in PYTHON.finditer(text):
        line = text.count("\n", 0, found.start(1))
        exec(compile("\n" * line + found[1], str(PAGES[page]), "exec"), names)


def parts(page: str) -> tuple[dict[str, str], str]:
    """The files that a page adds, and its other blocks as one program."""
    text = PAGES[page].read_text("utf-8")
    blocks = PYTHON.findall(text)
    files = (*blocks, *DATA.findall(text))
    added = {found[1]: block for block in files if (found := ADDED.match(block))}
    return added, "\n".join(block for block in blocks if block not in added.values())


def test_all_that_the_guides_add_runs_side_by_side(tmp_path: Path) -> None:
    guides = [parts(page) for page in pages(PYTHON) if parts(page)[0]]
    paths = [path for added, _ in guides for path in added]
    assert len(guides) == len({path.rpartition(".")[0] for path in paths}) == 7
    assert len(paths) == len(set(paths))
    run_with(
        {path: text for added, _ in guides for path, text in added.items()},
        [blocks for _, blocks in guides],
        tmp_path,
    )


def run_with(added: Mapping[str, str], programs: Sequence[str], folder: Path) -> None:
    """Run the programs, each with names of its own, in a copy of the source tree that has these
    files besides."""
    for top in ("einderive", "ta", "derivations", "eops", "frontend"):
        shutil.copytree(ROOT / top, folder / top)
    for path, text in added.items():
        assert not (folder / path).exists(), f"{path} is there already"
        (folder / path).write_text(text, "utf-8")
    code = f"for program in {list(programs)!r}: exec(program, {{}})"
    done = python("-c", code, cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)})
    assert done.returncode == 0, done.stderr


def test_a_file_is_added_to_a_copy(tmp_path: Path) -> None:
    """Neither does this tree know what a page adds, nor does the copy without the file."""
    text = PAGES["adding-a-function.md"].read_text("utf-8")
    used = [block for block in PYTHON.findall(text) if not ADDED.match(block)]
    with pytest.raises(AssertionError, match="versin is not a function"):
        run_with({}, ["\n".join(used)], tmp_path)


@pytest.mark.usefixtures("short_derivations")
@pytest.mark.parametrize(("page", "small"), whole_and_small(COMMAND))
def test_commands_run(
    page: str,
    small: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for found in COMMAND.finditer(sized(PAGES[page].read_text("utf-8"), small)):
        line = found[1].replace("\\\n", " ")
        assert main(shlex.split(line, comments=True)) == 0, f"{line}\n{capsys.readouterr().err}"
