"""Every option of every public function with every oddity: it works, or one error refuses it."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.cli.main import main
from einderive.ta.errors import EinderiveError
from tests.amount import CAMPAIGN, sampled
from tests.hostile.bounds import bounded
from tests.hostile.oddities import ODDITIES

TEXT = "Y[i] = A[i,k]*x[k]"
SHAPES: dict[str, Any] = {"A": (4, 3), "x": (3,)}
BUDGET = ed.Budget(states=9)
A = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
X = np.arange(3, dtype=np.float32)
LONGEST = 3000
"""Characters of a message."""
Attempt = Callable[[Any], Any]
Line = Callable[[str], tuple[str, ...]]


@cache
def product() -> ed.CompiledFunction:
    return ed.compile(TEXT, target="cpu", seconds=0.001, budget=BUDGET, **SHAPES)


def _derived(option: str) -> Attempt:
    return lambda odd: ed.derive(TEXT, **({"budget": BUDGET} | SHAPES | {option: odd}))


def _budgeted(limit: str) -> Attempt:
    def attempt(odd: Any) -> Any:
        limits: dict[str, Any] = {"states": 9} | {limit: odd}
        return ed.derive(TEXT, budget=ed.Budget(**limits), **SHAPES)

    return attempt


def _compared(option: str) -> Attempt:
    return lambda odd: ed.equivalent(TEXT, TEXT, **(SHAPES | {option: odd}))


def _makes_no_function(odd: Any) -> Any:
    """What stands in for the deriver: a call of an odd function would raise that one's errors."""
    return (lambda program: 3) if callable(odd) else odd


def _contracted(option: str, kind: Callable[[np.ndarray], Any]) -> Attempt:
    return lambda odd: ed.einsum("ij,j", kind(A), kind(X), **{option: odd})


CALLS: dict[str, Attempt] = {
    "parse(text)": lambda odd: ed.parse(odd, A=(4, 3)),
    "parse(A=...)": lambda odd: ed.parse(TEXT, A=odd, x=(3,)),
    "parse(A=(...,))": lambda odd: ed.parse("Y[i] = A[i]", A=(odd,)),
    "parse(dtypes)": lambda odd: ed.parse(TEXT, dtypes=odd, **SHAPES),
    "parse(dtypes['A'])": lambda odd: ed.parse(TEXT, dtypes={"A": odd}, **SHAPES),
    "parse(ranges)": lambda odd: ed.parse(TEXT, ranges=odd, **SHAPES),
    "parse(ranges['i'])": lambda odd: ed.parse(TEXT, ranges={"i": odd}, **SHAPES),
    "parse(ranges['i'][1])": lambda odd: ed.parse(TEXT, ranges={"i": (0, odd)}, **SHAPES),
    "derive(formula)": lambda odd: ed.derive(odd, A=(4, 3), budget=BUDGET),
    **{
        f"derive({option})": _derived(option)
        for option in (
            *("target", "budget", "dtypes", "ranges", "progress", "most", "weights", "laws"),
            *("accuracy", "nan"),
        )
    },
    **{
        f"Budget({name})": _budgeted(name)
        for name in ("states", "effort", "seconds", "converging_effort", "keep_duplicates")
    },
    "compile(target)": lambda odd: ed.compile(TEXT, target=odd, budget=BUDGET, seconds=0, **SHAPES),
    "compile(seconds)": lambda odd: product().derivation.compile(seconds=odd, tried=0),
    "compile(tried)": lambda odd: product().derivation.compile(seconds=0, tried=odd),
    "check(candidate)": lambda odd: product().derivation.check(odd),
    "equivalent(lhs)": lambda odd: ed.equivalent(odd, TEXT, **SHAPES),
    "equivalent(A=...)": lambda odd: ed.equivalent(TEXT, "Y[i] = A[i,k]", A=odd, x=(3,)),
    **{
        f"equivalent({option})": _compared(option)
        for option in ("dtypes", "ranges", "laws", "generic")
    },
    "load(path)": ed.load,
    "f(A)": lambda odd: product()(odd, X),
    "f(x)": lambda odd: product()(torch.from_numpy(A), odd),
    "f(A, x, ...)": lambda odd: product()(A, X, odd),
    "einsum(text)": lambda odd: ed.einsum(odd, A, X),
    "einsum(a)": lambda odd: ed.einsum("ij,j", odd, X),
    "einsum(b)": lambda odd: ed.einsum("ij,j", torch.from_numpy(A), odd),
    "einsum(labels)": lambda odd: ed.einsum(A, odd, X, [1]),
    "einsum(label)": lambda odd: ed.einsum(A, [0, odd], X, [odd], [0]),
    "einsum(output)": lambda odd: ed.einsum(A, [0, 1], X, [1], odd),
    **{
        f"einsum({option}) of {name}": _contracted(option, kind)
        for option in ("out", "dtype", "order", "casting", "optimize")
        for name, kind in (("NumPy", np.asarray), ("torch", torch.from_numpy))
    },
    "einsum(derive)": lambda odd: ed.einsum("ij,j", A, X, derive=_makes_no_function(odd)),
}


@sampled(2)
@pytest.mark.parametrize("part", [3, pytest.param(1, marks=CAMPAIGN)])
@pytest.mark.parametrize("call", CALLS)
def test_an_oddity_works_or_is_refused(call: str, part: int) -> None:
    """Every third oddity each time, others for the next call; all of them in campaigns."""
    refused = 0
    tried = list(ODDITIES.items())[[*CALLS].index(call) % part :: part]
    for name, make in tried:
        if call.startswith("einsum(derive") and name == "True":
            continue  # searches
        with bounded():
            try:
                CALLS[call](make())
            except EinderiveError as error:
                said = str(error)
                refused += 1
                assert said.count("\n  next: ") == 1, (name, said)
                assert len(said) < LONGEST, (name, len(said))
                assert said.encode("utf-8"), name
            except Exception as problem:
                pytest.fail(f"{call} with {name}: {type(problem).__name__}: {problem}")
    assert refused > len(tried) / (2 if part == 1 else 3)


@pytest.mark.parametrize("method", ["save", "to_html"])
def test_an_odd_path_is_written_to_or_refused(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: dict[str, str] = {}
    for name, make in ODDITIES.items():
        path = make()
        try:
            getattr(product().derivation, method)(path)
        except EinderiveError as error:
            said[name] = str(error)
        else:
            assert os.path.getsize(path) > 100, name
    for name, message in said.items():
        assert message.count("\n  next: ") == 1, name
        assert len(message) < LONGEST, name


def test_a_file_stays_whole_where_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.json"
    path.write_text("as it was")

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(EinderiveError, match="No space left on device"):
        product().derivation.save(path)
    assert path.read_text() == "as it was"
    assert [each.name for each in tmp_path.iterdir()] == ["d.json"]


DERIVE = ("derive", "Y[i] = A[i]", "A=3", "--states", "5")
OPTIONS = (
    *(
        "--target",
        "--seconds",
        "--states",
        "--dtype",
        "--range",
        "--weights",
        "--law",
        "--accuracy",
    ),
    *("--nan", "--candidate", "--save", "--html", "--json"),
)
WORDS = (
    *("", "-", "--", "-1", "0", "nan", "1e400", "9" * 500, "1.5", "0x10", "٣", " 3 ", "=", "A="),
    *("=3", "A=3,", "A=3,,4", "A=n", "A=-3", "A=٣", "A=3;B=4", "i=0:", "i=3:0", "i=0:3:4", "/"),
    *("\x00", "\ud800", "\u202ex", "/nowhere/x", "A" * 100_000, "A,,x", " , ", "=float32", "A=A"),
)


def _with_option(option: str, *, apart: bool) -> Line:
    return lambda word: (*DERIVE, *((option, word) if apart else (f"{option}={word}",)))


LINES: dict[str, Line] = {
    "formula": lambda word: ("derive", word, "A=3"),
    "shape": lambda word: ("derive", "Y[i] = A[i]", word),
    **{option: _with_option(option, apart=True) for option in OPTIONS},
    **{f"{option}=": _with_option(option, apart=False) for option in OPTIONS},
    "check": lambda word: ("check", word),
    "run": lambda word: ("run", word),
    "rules": lambda word: ("rules", word),
    "ops": lambda word: ("ops", word),
    "equivalent": lambda word: ("equivalent", word, "Y[i] = A[i]", "A=3"),
    "shape of both": lambda word: ("equivalent", "Y[i] = A[i]", "Y[i] = 2*A[i]", word),
    "law": lambda word: ("equivalent", "Y[i] = A[i]", "Y[i] = 2*A[i]", "A=3", "--law", word),
    "case": lambda word: ("bench", "search", "--case", word),
    "command": lambda word: (word,),
}


@sampled(2)
@pytest.mark.parametrize("part", [2, pytest.param(1, marks=CAMPAIGN)])
@pytest.mark.parametrize("place", LINES)
def test_an_odd_word_on_the_command_line(
    place: str, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in WORDS[[*LINES].index(place) % part :: part]:
        errors, output = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(output):
            code = main(list(LINES[place](word)))
        said = errors.getvalue()
        assert code in (0, 1, 2), (word, said)
        assert len(said) < LONGEST, word
        assert code != 2 or (said.startswith("error: ") and said.count("\n  next: ") == 1), word
