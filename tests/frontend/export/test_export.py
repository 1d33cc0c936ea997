"""Exported programs run by themselves, and tell when they are wrong."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.opaque import opaque
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.cli.main import main
from einderive.frontend.export.module import write
from einderive.frontend.running.execute import executable
from einderive.ta.errors import BuildError
from tests.prepared import python

CHAIN = "Y[i,j] = gelu_tanh(X[i,j]+B[j])*0.3; out M[i] = max[j](X[i,j])"
Capture = pytest.CaptureFixture[str]


def alone(folder: Path, new: bool = False) -> subprocess.CompletedProcess[str]:
    """The module in a process that does not find einderive: no paths of the user's, another
    folder.  The process has loaded torch, or is new."""
    program = "import importlib.util as u, runpy, sys\n"
    program += "sys.modules['einderive'] = None\n"
    program += f"runpy.run_path({str(folder / 'program.py')!r}, run_name='__main__')"
    if not new:
        return python("-I", "-c", program, cwd="/")
    return subprocess.run(
        [sys.executable, "-I", "-c", program], cwd="/", capture_output=True, text=True, check=False
    )


def as_given(text: str, **shapes: Any) -> tuple[ed.Derivation, Any]:
    """The formula's own program, its stages as compiled loops."""
    found = ed.derive(text, budget=0.01, **shapes)
    sized = bool(found.source.sizes)
    return found, executable(found.unchanged, "cpu", compiled=True, open_sizes=sized)


@pytest.mark.compiled
def test_compiled_loops_run_by_themselves(tmp_path: Path) -> None:
    """Also those that take their sizes as arguments."""
    found, run = as_given(CHAIN, X=("n", 20), B=(20,), n=30)
    assert any("compiled loops" in word for word in run.words)
    files = write(found.source, run, "cpu", tmp_path, "as given")
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert any(file.suffix == ".ll" for file in files)
    (source,) = tmp_path.glob("*.py.txt")
    (function,) = ast.parse(source.read_text()).body
    assert isinstance(function, ast.FunctionDef)
    assert "max[j:0:20] " in (ast.get_docstring(function) or "")
    done = alone(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("right\n")
    assert re.search(r"= loops\(.*, \[\d+.*\]\)", files[0].read_text())  # the sizes
    assert "gelu" in files[0].read_text() or "sigmoid" in files[0].read_text()


@pytest.mark.compiled
def test_a_narrow_product_runs_by_itself(tmp_path: Path) -> None:
    found, run = as_given("Y[i,j] = relu(sum[k](A[i,k]*B[k,j]))", A=(300, 60), B=(60, 6))
    assert "eOperator (narrow product)" in run.words
    files = write(found.source, run, "cpu", tmp_path, "as given")
    assert sum(file.suffix == ".ll" for file in files) == 2
    done = alone(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("right\n")


@pytest.mark.compiled
def test_a_wrong_kernel_is_noticed_by_the_module_itself(tmp_path: Path) -> None:
    found, run = as_given(CHAIN, X=(30, 20), B=(20,))
    program = write(found.source, run, "cpu", tmp_path, "as given")[0]
    text = program.read_text()
    calls = [line for line in text.splitlines() if "kernel0(" in line]
    assert len(calls) == 1
    program.write_text(text.replace(calls[0], "    v0 = v0*1.001\n" + calls[0]))
    done = alone(tmp_path)
    assert done.returncode == 1, done.stdout
    assert "WRONG" in done.stdout


def compiled(text: str, **shapes: Any) -> CompiledFunction:
    return ed.compile(text, budget=0.2, seconds=0.1, **shapes)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            "S[b,i,j] = Q[b,i,d]*K[b,j,d]/8; Y[b,i,e] = softmax[j](S[b,i,j])*V[b,j,e]",
            {"Q": (2, 6, 4), "K": (2, 5, 4), "V": (2, 5, 4)},
        ),
        (
            "Y[i] = sum[j](N[i,j]) + i; C[i] = count[j](N[i,j] > 0)",
            {"N": (9, 8), "dtypes": "int32"},
        ),
    ],
)
def test_programs_of_torch_run_by_themselves(
    text: str, options: dict[str, Any], tmp_path: Path
) -> None:
    f = compiled(text, **options)
    f.export(tmp_path)
    done = alone(tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout


def test_the_module_refuses_operands_of_another_shape(tmp_path: Path) -> None:
    (path, *_) = compiled("Y[i] = 2*X[i]", X=(5,)).export(tmp_path)
    space: dict[str, Any] = {"__name__": "exported", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), space)
    assert torch.equal(space["program"](torch.ones(5)), torch.full((5,), 2.0))
    with pytest.raises(TypeError, match="operand"):
        space["program"](torch.ones(6))
    with pytest.raises(TypeError, match="operand"):
        space["program"](torch.ones(5).double())


def test_names_of_tensors_do_not_become_code(tmp_path: Path) -> None:
    f = compiled("Y[i] = α[i] + torch[i] + lambda_[i]", α=(3,), torch=(3,), lambda_=(3,))
    (path, *_) = f.export(tmp_path)
    text = path.read_text()
    tree = ast.parse(text)
    names = {
        node.name: [a.arg for a in node.args.args]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    assert len(set(names["program"])) == 3
    assert "torch" not in names["program"]
    assert text.isascii()
    assert alone(tmp_path).returncode == 0


def test_what_decides_from_data_is_refused(tmp_path: Path) -> None:
    program = ed.parse("Y[i] = 2*X[i]", X=(3,))

    @opaque
    def twice(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    with pytest.raises(BuildError, match="decides from the data"):
        write(program, lambda inputs: [twice(*inputs.values())], "cpu", tmp_path, "by hand")
    assert not list(tmp_path.iterdir())


def test_the_command_writes_what_runs(tmp_path: Path, capsys: Capture) -> None:
    record, folder = tmp_path / "d.json", tmp_path / "out"
    assert main(["derive", "Y[i,j] = A[i,k]*B[k,j]", "A=4,5", "B=5,6", "--save", str(record)]) == 0
    capsys.readouterr()
    assert main(["export", str(record), "--dir", str(folder), "--seconds", "0.05"]) == 0
    assert "wrote" in capsys.readouterr().out
    assert alone(folder, new=True).returncode == 0
