"""Kernels' texts as instructions of LLVM: the same results as by numba, and nothing left to it."""

from __future__ import annotations

import ctypes
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.eops.cpu_kernels import build as building
from einderive.eops.cpu_kernels.build import build
from einderive.eops.cpu_kernels.compiling import made as compiling
from einderive.eops.cpu_kernels.compiling.made import by_numba, written
from einderive.eops.cpu_kernels.compiling.stored import Library
from einderive.eops.cpu_kernels.lowering.values import Unknown
from einderive.eops.cpu_kernels.words import machine
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.ta.ir.subst import stages
from tests.amount import sampled

TEXTS = {
    "elementwise": "Y[i,j] = tanh(X[i,j])*0.3 + X[i,j]/7",
    "softmax": "Y[i,j] = softmax[j](X[i,j])",
    "one total": "Y[] = sum[i,j](X[i,j]^2)",
    "columns": "Y[j] = sum[i](abs(X[i,j]))",
    "places": "Y[i] = argmax[j](X[i,j])",
    "border": "Y[i,j] = X[i-1,j] + X[i,j-1] - 4*X[i,j] + X[i+1,j] where i in 0:7, j in 0:33",
    "window": "Z[i,j] = X[i,j]^2; Y[i,j] = Z[i,j-1]*Z[i-1,j+1] where i in 0:7, j in 0:33",
    "divided": "Y[i,j] = X[i//2,(j+5)%33] where i in 0:14, j in 0:33",
    "masked": "Y[i,j] = where(j <= i, sin(X[i,j]), -inf)",
    "gathered": "Y[i] = sum[j](X[i,j]*(j == i//2))",
}
SIZES = {"X": (7, 33)}


def lowered(text: str, space: dict[str, Any], name: str) -> Library:
    """By the room alone."""
    assert f"def {name}(" in text
    return written(text, space)


def kernel_of(text: str, monkeypatch: pytest.MonkeyPatch, make: Any, dtype: str) -> Any:
    """The kernel of the text, whose code `make` compiled."""
    monkeypatch.setenv("EINDERIVE_CACHE", "off")
    building.built.cache_clear()
    building.compiled_code.cache_clear()
    used = list[str]()

    def own(source: str, space: dict[str, Any], name: str) -> Library:
        used.append(name)
        name = f"{name}_{make.__name__}"
        found: Library = make(source.replace("def kernel(", f"def {name}(", 1), space, name)
        return found

    monkeypatch.setattr(building, "made_of", own)
    roots = ed.parse(text, **SIZES).roots()
    group = Group(stages(*roots), roots)
    kernel = build(group, dense(group), alike(group, dtype))
    assert used
    return kernel


@sampled(28)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TEXTS)
def test_the_same_results_as_by_numba(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(7, 33, dtype=getattr(torch, dtype))
    x[2, 3], x[5, 30], x[6, 0] = torch.nan, torch.inf, -0.0
    (own,) = kernel_of(TEXTS[name], monkeypatch, lowered, dtype)(x)
    (theirs,) = kernel_of(TEXTS[name], monkeypatch, by_numba, dtype)(x)
    torch.testing.assert_close(own, theirs, rtol=1e-6, atol=1e-6, equal_nan=True)


def run(make: Any, body: str, numbers: list[int], space: dict[str, Any]) -> list[int]:
    """What the lines leave in `data`, which begins with these numbers and 40 zeros."""
    name = f"kernel_{make.__name__}_{abs(hash((body, tuple(space))))}"
    lines = "\n".join("    " + line for line in body.splitlines())
    words = {word: getattr(machine, word) for word in ("load", "store", "chosen")}
    found = make(f"def {name}(data):\n{lines}\n", {**words, **space}, name)
    data = (ctypes.c_int64 * (len(numbers) + 40))(*numbers)
    address = found.library.get_pointer_to_function(found.symbol)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(data))
    return list(data)


def test_integers_as_in_python() -> None:
    """Quotients round down, also of negative numbers, and with numbers of the text."""
    terms = ["a + b", "a - 3", "a * b", "a // b", "a % b", "a // 5", "a % 7", "-a", "min(a, b)"]
    terms += ["max(a, b)", "a if a < b else b", "chosen(a == b, 1, 2)", "-7 // 2 + a", "a % -4"]
    body = ["a = load(data, 0)", "b = load(data, 1)"]
    body += [f"store(data, {k}, int64({term}))" for k, term in enumerate(terms, 2)]
    random = Random(3)
    for _ in range(8):
        a, b = random.randrange(-50, 50), random.choice([-7, -1, 1, 2, 9])
        space = {"a": a, "b": b, "chosen": lambda held, one, other: one if held else other}
        expected = [eval(term, space) for term in terms]
        found = run(lowered, "\n".join(body), [a, b], {"int64": np.int64})
        assert found[2 : 2 + len(terms)] == expected, (a, b)


def test_loops_and_names() -> None:
    """Loops that do not run, steps, names that change in a loop, names of an earlier loop."""
    body = """
total, last = 0, -1
for i in range(load(data, 0), load(data, 1), 3):
    for j in range(i):
        total = total + j
        if 1 <= j < 4:
            last = j
    total, last = total + last, total
for i in range(5, 2):
    total = 1000
store(data, 2, total)
store(data, 3, last)
""".strip()
    for ends in ([0, 10], [4, 5], [3, 3], [9, -2]):
        memory = [*ends, 0, 0]
        exec(body, {"load": list.__getitem__, "store": list.__setitem__, "data": memory})
        assert run(lowered, body, ends, {})[:4] == memory


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n    x = 1",
        "x = open(1)",
        "x = load(data, 0) ** 2",
        "for i in range(9, 0, -1):\n    store(data, i, i)",
    ],
)
def test_other_texts_are_left_to_numba(body: str) -> None:
    with pytest.raises(Unknown):
        run(lowered, body, [0, 0], {"float32": np.float32})


def test_numba_compiles_what_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> Library:
        raise Unknown("nothing")

    monkeypatch.setenv("EINDERIVE_CACHE", str(tmp_path))
    monkeypatch.setattr(compiling, "written", nothing)
    building.built.cache_clear()
    building.compiled_code.cache_clear()
    roots = ed.parse("Y[i] = X[i]*5 + 11", X=(40,)).roots()
    group = Group(stages(*roots), roots)
    x = torch.randn(40)
    (found,) = build(group, dense(group), alike(group, "float32"))(x)
    torch.testing.assert_close(found, x * 5 + 11)
    assert list((tmp_path / "kernels").iterdir())
