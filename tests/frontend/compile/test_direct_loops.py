"""Compiled loops that were chosen before, in a process that loads neither numba nor the parser."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

import einderive as ed
from einderive.eops.cache_folder import VARIABLE
from einderive.eops.cpu_kernels.build import built, compiled_code
from einderive.eops.cpu_kernels.calls.linked import linked
from einderive.frontend.compile.direct import CHOICE, Direct
from einderive.frontend.memory.kept import store
from einderive.frontend.trial import choose
from tests.frontend.compile.test_direct import TEXT as OTHER
from tests.frontend.compile.test_direct import is_direct
from tests.frontend.races import candidates_win

ROOT = Path(__file__).parents[3]
TEXT = "Y[i,j] = (X[i,j]*w[j] + X[i,j])/(1 + w[j]*w[j]) - X[i,j]"
SHAPES = {"X": (40, 30), "w": (30,)}
SLOW = (
    *("lark", "sympy", "islpy", "flint", "numba", "jinja2"),
    *("einderive.derivations.", "einderive.eops.", "einderive.ta."),
)
"""Modules that a call with dense operands does without, but for those of `calls`."""
OPTIONS: dict[str, Any] = {"seconds": 0.01, "budget": 0.01}

pytestmark = pytest.mark.compiled


def again() -> Any:
    return ed.compile(TEXT, **SHAPES, **OPTIONS)


def torch_alone() -> Any:
    return ed.compile(OTHER, A=(9, 4), B=(8, 4), **OPTIONS)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of this module's own, in which loops were chosen."""
    place = tmp_path_factory.mktemp("memory")
    built.cache_clear()  # what another test compiled may lie in no folder
    compiled_code.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(place))
        with pytest.MonkeyPatch.context() as first:
            candidates_win(first)
            first.setattr(choose, "worth_trying", lambda *_: ())  # no candidates beside the loops
            assert "eOperator (compiled loops)" in again().chosen.words
            first.setattr(choose, "worth_compiling", lambda *_: ())  # calls of torch alone
            torch_alone()
        yield place


def operands() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(40, 30), torch.randn(30)


def file(folder: Path) -> Path:
    """The file of the kernel."""
    (line,) = again()._written.constants
    return folder / "kernels" / line.split("'")[1]


def wanted(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (x * w + x) / (1 + w * w) - x


def close(found: Any, x: torch.Tensor, w: torch.Tensor) -> None:
    torch.testing.assert_close(torch.as_tensor(found), wanted(x, w))


def test_dense_operands_need_nothing_else() -> None:
    function, (x, w) = again(), operands()
    assert any("loops(" in line for line in function._written.constants)
    for _ in range(2):
        close(function(x, w), x, w)
        found = function(x.numpy(), w.numpy())
        assert type(found) is np.ndarray
        close(found, x, w)
    assert is_direct(function)
    close(function(x.T.contiguous().T, w), x, w)
    assert not is_direct(function)


def test_a_lazy_negation_and_a_mode_are_seen() -> None:
    function, (x, w) = again(), operands()
    close(function(x, w), x, w)
    negated = torch._neg_view(x)
    close(function(negated, w), -x, w)

    class Mode(TorchFunctionMode):
        seen = 0

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            Mode.seen += 1
            return func(*args, **kwargs or {})

    function = again()
    close(function(x, w), x, w)
    assert is_direct(function)
    with Mode():
        found = function(x, w)
    close(found, x, w)
    assert Mode.seen


@pytest.mark.parametrize("damage", ["gone", "another", "cut"])
def test_without_the_file_the_whole_function_answers(folder: Path, damage: str) -> None:
    path = file(folder)
    data, (x, w) = path.read_bytes(), operands()
    linked.cache_clear()
    try:
        if damage == "gone":
            path.unlink()
        else:
            path.write_bytes(data[:-1] if damage == "cut" else data.replace(b'"needs"', b'"Needs"'))
        function = again()
        assert type(function) is Direct
        close(function(x, w), x, w)
        assert not is_direct(function)
    finally:
        path.write_bytes(data)


def test_a_kernel_that_needs_what_is_not_there_is_left_alone(folder: Path) -> None:
    """LLVM would end the process."""
    path = file(folder)
    (kept,) = (each for each in store().every() if each.kind == CHOICE and "loops(" in each.text)
    data, (x, w) = path.read_bytes(), operands()
    head, _, body = data.partition(b"\n")
    said = json.loads(head)
    said["needs"].append("a_function_that_nobody_has")
    path.write_bytes(json.dumps(said).encode() + b"\n" + body)
    digests = [hashlib.sha256(each).hexdigest() for each in (data, path.read_bytes())]
    assert digests[0] in kept.text
    store().put(kept.kind, kept.key, kept.text.replace(*digests), kept.about)
    try:
        function = again()
        close(function(x, w), x, w)
        assert not is_direct(function)
    finally:
        path.write_bytes(data)
        store().put(kept.kind, kept.key, kept.text, kept.about)


def test_another_process_loads_little() -> None:
    """Neither for calls of torch alone, nor for loops after it."""
    lines = [
        "import einderive as ed, sys, torch",
        f"torch.set_num_threads({torch.get_num_threads()})",
        f"f = ed.compile({OTHER!r}, A=(9, 4), B=(8, 4), **{OPTIONS!r})",
        "print(f.remembered is not None, float(f(torch.ones(9, 4), torch.zeros(8, 4))[2, 0]))",
        f"print(*[name for name in sys.modules if name.startswith({SLOW!r})])",
        f"f = ed.compile({TEXT!r}, **{SHAPES!r}, **{OPTIONS!r})",
        "print(float(f(torch.full((40, 30), 2.0), torch.arange(30.0))[3, 1]), '_whole' in vars(f))",
        f"print(*[name for name in sys.modules if name.startswith({SLOW!r})])",
    ]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    said = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    torch_alone, *loaded = said.stdout.splitlines()
    assert torch_alone.startswith("True 1.3678"), said
    first, result, last = loaded
    assert first == "einderive.eops.cache_folder"
    assert result == "0.0 False"
    room = "einderive.eops.cpu_kernels"
    needed = (first, f"{room}.calls", "einderive.eops.result_memory")
    assert [name for name in last.split() if not name.startswith(needed)] == [room]
