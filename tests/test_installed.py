"""einderive as its users have it: from a wheel or an editable installation, in an environment of
its own that has a package `ta` as well, used from another folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.amount import CAMPAIGN
from tests.test_layers import ALLOWED, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = ("einderive", *ALLOWED, "pyproject.toml", "README.md", "LICENSE")
DATA = {
    "einderive/py.typed",
    "einderive/ta/syntax/grammar.lark",
    "einderive/ta/functions/sin.toml",
    "einderive/derivations/rules/centre.toml",
    "einderive/frontend/api/record-3.schema.json",
    "einderive/frontend/formulas/arrays.toml",
    "einderive/frontend/stages/polybench.toml",
    "einderive/frontend/explorer/page.html",
    "einderive/frontend/export/program.txt",
    "einderive/frontend/workbench/workbench.html",
}
"""Files that are no Python."""
OTHER = "the package of this name from PyPI"
USED = f"""
import einderive as ed, einderive.ta, ta, torch

assert ta.WHOSE == {OTHER!r}
a, b = torch.randn(4, 3), torch.randn(3, 5)
assert torch.allclose(ed.einsum("ij,jk->ik", a, b), a @ b, atol=1e-5)
d = ed.derive("Y[i,j] = A[i,k]*B[k,j]", A=a, B=b)
assert d.check(), d.check()
assert "<math" in d._repr_html_()
assert torch.allclose(d.compile(seconds=0.01)(a, b), a @ b, atol=1e-5)
assert ed.compile("Y[i] = 2*A[i]", A=(3,), seconds=0.01)([1.0, 2.0, 3.0]).tolist() == [2, 4, 6]
print(ed.__file__, einderive.ta.__file__)
"""
FOUND = f"""
import einderive as ed, einderive.ta, ta

assert ta.WHOSE == {OTHER!r}
assert ed.parse("Y[i,j] = A[i,k]*B[k,j]", A=(4, 3), B=(3, 5)).roots()
print(ed.__file__, einderive.ta.__file__)
"""
TYPED = """
import einderive as ed

d = ed.derive("Y[i] = A[i,k]*x[k]", A=(4, 3), x=(3,))
reveal_type(ed.derive)
reveal_type(ed.compile)
reveal_type(ed.einsum)
reveal_type(ed.evaluate)
reveal_type(ed.equivalent)
reveal_type(ed.parse)
reveal_type(ed.load)
reveal_type(d.compile)
reveal_type(d.check)
reveal_type([found.ok for found in d.check().findings])
reveal_type([step.rule for step in d.steps])
reveal_type(d.compile().ratio)
ed.derive(3)
"""
REVEALED = (
    "-> einderive.frontend.api.compiled.Derivation",
    "seconds: float | None =, output: Any =,",
    "order: Literal['K'] | Literal['A']",
    "def (str, *, out: Any =, **given: Any) -> Any",
    "-> einderive.frontend.equality.verdict.Verdict",
    "-> einderive.ta.ir.program.Program",
    "-> einderive.frontend.api.compiled.Derivation",
    "baseline: (def (*Any, **Any) -> Any) | None =",
    "candidate: int =) -> einderive.derivations.record.verify.Report",
    "list[bool]",
    "list[str]",
    '"float"',
)
"""What mypy says of each line of TYPED in part."""


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a command that succeeds, without this environment's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    settings = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_DEPS": "1"}
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=kept | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def sources(folder: Path) -> Path:
    """A copy of what is tracked and belongs to the distribution."""
    listed = run("git", "ls-files", "-z", *SOURCES, cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        target = folder / "sources" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    return folder / "sources"


def environment(folder: Path) -> Path:
    """An environment with all that this one has but einderive, and with another package `ta`."""
    venv.create(folder / "env", symlinks=True)
    purelib = Path(sysconfig.get_path("purelib"))
    site = folder / "env" / purelib.relative_to(sys.prefix)
    needed = folder / "needed"  # links: a .pth file in a folder that a .pth file names is not read
    needed.mkdir()
    for path in purelib.iterdir():
        if "einderive" not in path.name:
            (needed / path.name).symlink_to(path)
    (site / "needed.pth").write_text(f"{needed}\n")
    (site / "ta").mkdir()
    (site / "ta" / "__init__.py").write_text(f"WHOSE = {OTHER!r}\n")
    (site / "ta-0.11.0.dist-info").mkdir()
    (site / "ta-0.11.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: ta\nVersion: 0.11.0\n"
    )
    return folder / "env" / "bin" / "python"


def install(python: Path, *what: str | Path) -> None:
    run(sys.executable, "-m", "pip", "--python", python, "install", *what, cwd=python.parent)


def installed_from_a_wheel(folder: Path) -> Path:
    """The Python of an environment with einderive."""
    built = ("-m", "pip", "wheel", "--no-build-isolation", "-w", folder, sources(folder))
    run(sys.executable, *built, cwd=folder)
    python = environment(folder)
    install(python, *folder.glob("*.whl"))
    return python


def is_used(python: Path, folder: Path, at: Path, program: str = USED) -> None:
    """From an empty folder: the library, the module and the command are found, and work."""
    folder.mkdir()
    found = run(python, "-c", program, cwd=folder).split()
    assert [Path(name).is_relative_to(at) for name in found] == [True, True]
    version = f"einderive {PROJECT['project']['version']}\n"
    assert run(python, "-m", "einderive", "--version", cwd=folder) == version
    assert run(python.with_name("einderive"), "--version", cwd=folder) == version


def test_from_a_wheel(tmp_path: Path) -> None:
    python = installed_from_a_wheel(tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as file:
        names = set(file.namelist())
    assert {name.split("/")[0].split("-")[0] for name in names} == {"einderive"}
    assert names >= DATA
    is_used(python, tmp_path / "away", tmp_path / "env")


@CAMPAIGN
def test_mypy_sees_the_types(tmp_path: Path) -> None:
    """Libraries that einderive rests on are left out, for to read torch takes mypy minutes; so are
    the operators, whose types no public signature has."""
    python, folder = installed_from_a_wheel(tmp_path), tmp_path
    (folder / "user.py").write_text(TYPED)
    (folder / "mypy.ini").write_text(
        "[mypy]\nstrict = true\n"
        "[mypy-torch.*,numpy.*,sympy.*,einderive.eops.*]\nfollow_imports = skip\n"
    )
    options = ("--config-file", folder / "mypy.ini", "--cache-dir", folder / "cache")
    command = [sys.executable, "-m", "mypy", "--python-executable", python, *options, "user.py"]
    done = subprocess.run(
        [*map(str, command)], cwd=folder, capture_output=True, text=True, check=False
    )
    *notes, error, last = done.stdout.splitlines()
    assert len(notes) == len(REVEALED), done.stdout
    for note, expected in zip(notes, REVEALED, strict=True):
        assert "Revealed type is" in note
        assert expected in note
    assert "incompatible type" in error
    assert last.startswith("Found 1 error in 1 file")


SEEN = (
    "-> Derivation",
    "seconds: float | None = None, output: Any",
    "order: Literal['K', 'A', ",
    "-> Any",
    "-> Verdict",
    "-> Program",
    "-> Derivation",
    "-> CompiledFunction",
    "-> Report",
    '"list[bool]"',
    '"list[str]"',
    '"float"',
)
"""What pyright says of each line of TYPED in part."""


@CAMPAIGN
def test_pyright_sees_the_types(tmp_path: Path) -> None:
    """By basedpyright, which brings a node of its own."""
    if find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed: pip install einderive[pyright]")
    python = installed_from_a_wheel(tmp_path)
    user = tmp_path / "away"
    user.mkdir()
    (user / "user.py").write_text(TYPED)
    (user / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    options = ("--outputjson", "--pythonpath", python, "-p", user)
    command = [sys.executable, "-m", "basedpyright", *options]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    notes = [each["message"] for each in found if each["severity"] == "information"]
    (error,) = (each["message"] for each in found if each["severity"] == "error")
    assert len(notes) == len(SEEN), done.stdout
    for note, expected in zip(notes, SEEN, strict=True):
        assert expected in note
    assert 'Argument of type "Literal[3]"' in error


@CAMPAIGN
def test_from_an_editable_installation(tmp_path: Path) -> None:
    python = environment(tmp_path)
    install(python, "--no-build-isolation", "-e", sources(tmp_path))
    is_used(python, tmp_path / "away", tmp_path / "sources", FOUND)


@pytest.mark.parametrize("name", ALLOWED)
def test_a_folder_is_no_package_by_itself(name: str) -> None:
    command = [sys.executable, "-c", f"import {name}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == f"ImportError: {name} is a folder of einderive: write `import einderive.{name}`"


def test_every_folder_is_installed() -> None:
    folders = {
        path.parent.relative_to(ROOT) for top in ALLOWED for path in (ROOT / top).rglob("*.py")
    }
    packages = {".".join(("einderive", *folder.parts)) for folder in folders}
    setuptools = PROJECT["tool"]["setuptools"]
    assert sorted(setuptools["packages"]) == sorted({"einderive", *packages})
    assert setuptools["package-dir"] == {f"einderive.{top}": top for top in ALLOWED}
