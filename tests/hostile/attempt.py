"""Running one malformed input of the golden texts: what is raised, as its class and its message."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

import einderive as ed
from einderive.frontend import arguments
from einderive.frontend.cli.main import main
from einderive.ta.errors import EinderiveError
from einderive.ta.notation.parse import parse
from tests.hostile.corpus import Case

Fields = Mapping[str, str]


def message(case: Case) -> str:
    """The error's class and text.  Whatever is no error of ours, or no error, says so."""
    try:
        return _ATTEMPTS[case.kind](case.fields) or "no error"
    except EinderiveError as error:
        said = re.sub(r"[0-9.]+ [A-Z]i?B are free", "... are free", str(error))  # by machine
        return f"{type(error).__name__}\n{said}"
    except Exception as problem:
        return f"not an error of ours: {type(problem).__name__}: {problem}"


def _formula(fields: Fields) -> None:
    words = fields.get("shapes", "").split()
    shapes = arguments.shapes(words)
    ranges = arguments.ranges(fields["ranges"].split()) if "ranges" in fields else {}
    parse(fields["formula"], shapes, ranges=ranges)


def _call(fields: Fields) -> None:
    eval(fields["call"], {"ed": ed, "np": np, "torch": torch})


def _einsum(fields: Fields) -> None:
    sizes = [word.split("x") if word != "()" else [] for word in fields["operands"].split()]
    ed.einsum(fields["subscripts"], *(np.ones([int(size) for size in shape]) for shape in sizes))


def _operand(fields: Fields) -> None:
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
    vector = np.arange(3, dtype=np.float32)
    eval(fields["call"], {"f": product(), "A": matrix, "x": vector, "np": np, "torch": torch})


@lru_cache(maxsize=1)
def product() -> ed.CompiledFunction:
    return ed.compile("Y[i] = A[i,k]*x[k]", A=(4, 3), x=(3,), target="cpu", seconds=0.01)


@lru_cache(maxsize=1)
def record() -> str:
    """A valid record of one candidate that has steps."""
    budget = ed.Budget(states=60)
    text = "Y[i,j] = (A[i,k]-B[j,k])^2"
    derivation = ed.derive(text, A=(4, 3), B=(5, 3), budget=budget, target="cpu")
    data = derivation.data()
    data["candidates"] = [next(c for c in data["candidates"] if c["steps"])]
    return json.dumps(data)


def changed(data: Any, path: str, value: str) -> Any:
    """The data with the part at `a/0/b` replaced by a JSON value, left out where that is empty."""
    *above, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    part = data
    for key in above:
        part = part[key]
    if value:
        part[last] = json.loads(value)
    else:
        del part[last]
    return data


def _record(fields: Fields) -> None:
    with _folder():
        if "file" in fields:
            Path("d.json").write_bytes(fields["file"].encode("latin-1"))
        elif "replace" in fields:
            old, new = fields["replace"].split(" -> ")
            assert old in record()
            Path("d.json").write_text(record().replace(old, new, 1), encoding="utf-8")
        elif "first" in fields:
            Path("d.json").write_text(record()[: int(fields["first"])], encoding="utf-8")
        else:
            path, _, value = fields["change"].partition(" = ")
            data = changed(json.loads(record()), path, value)
            Path("d.json").write_text(json.dumps(data), encoding="utf-8")
        ed.load("d.json")


def _command(fields: Fields) -> str:
    errors, output = io.StringIO(), io.StringIO()
    with _folder(), contextlib.redirect_stderr(errors), contextlib.redirect_stdout(output):
        Path("d.json").write_text(record(), encoding="utf-8")
        code = main(shlex.split(fields["line"]))
    return f"exit code {code}\n{errors.getvalue().rstrip()}"


@contextlib.contextmanager
def _folder() -> Iterator[None]:
    """An empty folder to work in."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


_ATTEMPTS: dict[str, Callable[[Fields], str | None]] = {
    "formula": _formula,
    "call": _call,
    "einsum": _einsum,
    "operand": _operand,
    "record": _record,
    "command": _command,
}
