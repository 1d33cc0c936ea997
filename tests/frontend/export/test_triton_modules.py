"""Exported programs of Triton kernels: modules that need torch and Triton alone, run by Triton's
interpreter."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.eops.triton_rows_runner import LINEAR, through_the_back_end
from tests.prepared import interpreted

pytest.importorskip("triton")


class Case(NamedTuple):
    """A program, the kernels that it becomes at least, and how many are products of tiles."""

    text: str
    shapes: dict[str, tuple[int, ...]]
    kernels: int
    products: int
    open_sizes: bool = False


CASES = {
    "product of tiles": Case(LINEAR, {"A": (40, 50), "B": (50, 36), "b": (36,)}, 1, 1),
    "several kernels": Case(
        "S[i,j] = Q[i,k]*K[j,k]/4; P[i,j] = softmax[j](S[i,j]); Y[i,e] = P[i,j]*V[j,e]",
        {"Q": (18, 20), "K": (33, 20), "V": (33, 17)},
        3,
        2,
    ),
    "product with numbers as arguments": Case(
        LINEAR, {"A": (40, 50), "B": (50, 36), "b": (36,)}, 1, 1, True
    ),
    "rows with numbers as arguments": Case(
        "Y[i,j] = softmax[j](X[i,j] + B[j])/30", {"X": (40, 50), "B": (50,)}, 1, 0, True
    ),
    "several results": Case(
        "out C[i,j] = A[i,k]*B[k,j]; out M[i] = max[j](C[i,j]); Y[i,j] = C[i,j]-M[i]",
        {"A": (18, 20), "B": (20, 17)},
        2,
        1,
    ),
}
ALONE = """
import runpy, sys
sys.modules["einderive"] = None
try:
    runpy.run_path({path!r}, run_name="__main__")
except SystemExit as ended:
    print(ended.code)
"""


def export(folder: str) -> None:
    """Write each program to a folder of its name.  Only in a process with Triton's interpreter."""
    for name, case in CASES.items():
        _, error = through_the_back_end(
            case.text, Path(folder) / name, open_sizes=case.open_sizes, **case.shapes
        )
        print(json.dumps({"name": name, "error": error}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("exported")
    told = interpreted("-c", f"from {__name__} import export; export({str(made)!r})")
    records: list[dict[str, Any]] = [*map(json.loads, told.splitlines())]
    assert [record["name"] for record in records] == [*CASES]
    assert all(record["error"] < 1e-6 for record in records)
    return made


@pytest.mark.parametrize("name", CASES)
def test_it_runs_by_itself(name: str, folder: Path) -> None:
    path = folder / name / "program.py"
    told = interpreted("-I", "-c", ALONE.format(path=str(path)))
    assert told.splitlines()[-2:] == ["right", "0"]


@pytest.mark.parametrize("name", CASES)
def test_it_has_the_kernels_and_needs_nothing_else(name: str, folder: Path) -> None:
    kernels = sorted((folder / name).glob("program_kernel*.py"))
    texts = [path.read_text("utf-8") for path in kernels]
    assert len(texts) >= CASES[name].kernels
    assert sum("tl.dot(" in text for text in texts) == CASES[name].products
    assert all((", c0," in text) == CASES[name].open_sizes for text in texts)
    own = {path.stem for path in kernels}
    for text in (*texts, (folder / name / "program.py").read_text("utf-8")):
        tree = ast.parse(text)
        assert set(imported(tree)) - own <= {"torch", "triton", "sys", "pathlib"}


def test_a_wrong_kernel_is_noticed(folder: Path, tmp_path: Path) -> None:
    for path in (folder / "product of tiles").glob("*.py"):
        text = path.read_text("utf-8")
        (tmp_path / path.name).write_text(text.replace("tl.dot(", "1.001 * tl.dot("), "utf-8")
    told = interpreted("-I", "-c", ALONE.format(path=str(tmp_path / "program.py")))
    assert told.splitlines()[-2:] == ["WRONG", "1"]


def imported(tree: ast.AST) -> list[str]:
    """The top packages that a module imports."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(str(node.module))
    return [name.partition(".")[0] for name in found]
