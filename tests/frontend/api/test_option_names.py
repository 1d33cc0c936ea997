"""Tensors with the name of an option are refused as what they are, and work where they can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import einderive as ed
from einderive.frontend.api.option_names import option_names
from einderive.frontend.cli.main import main
from einderive.ta.errors import EinderiveError, NameUnknownError

Call = Callable[..., Any]
Capture = pytest.CaptureFixture[str]
FUNCTIONS: tuple[Call, ...] = (ed.parse, ed.derive, ed.compile, ed.equivalent)


def called(function: Call, text: str, **shapes: Any) -> Any:
    sides = (text, text) if function is ed.equivalent else (text,)
    return function(*sides, **shapes)


@pytest.mark.parametrize(
    ("function", "name"), [(each, name) for each in FUNCTIONS for name in option_names(each)]
)
def test_an_options_name_as_a_tensor(function: Call, name: str) -> None:
    for shapes in ({name: (3,)}, {}):
        with pytest.raises(NameUnknownError) as caught:
            called(function, f"Y[i] = 2*{name}[i]", **shapes)
        error = caught.value
        assert error.message.startswith(f"{name} is an option of {function.__name__}, so that")
        assert error.span is not None
        assert error.text[slice(*error.span)] == name
        assert "next: choose another name for the tensor" in str(error)


def test_the_options_are_all_keywords() -> None:
    assert option_names(ed.parse) == ("dtypes", "ranges", "outputs")
    assert {"weights", "nan", "target", "most"} <= set(option_names(ed.derive))
    assert {"seconds", "weights"} <= set(option_names(ed.compile))
    known = {"dtypes", "ranges", "laws", "generic", "seconds"}
    assert set(option_names(ed.equivalent)) == known


def test_what_is_parsed_may_have_any_other_name() -> None:
    shapes: dict[str, Any] = {"weights": (3,), "nan": (3,)}
    program = ed.parse("Y[i] = 2*weights[i] + nan[i]", **shapes)
    assert ed.derive(program, target="cpu", budget=ed.Budget(states=9)).check()
    with pytest.raises(NameUnknownError, match=r"or pass parse\(text, \.\.\.\)"):
        ed.derive("Y[i] = 2*weights[i] + nan[i]", **shapes)


@pytest.mark.parametrize(
    "text",
    [
        "weights[i] = 2*A[i]; Y[i] = weights[i]",
        "nan[i] = 2*A[i]",
        "Y[most] = 2*A[most]",
        "Y[target] = sum[budget](A[budget] + A[target])",
    ],
)
def test_statements_and_iterators_may_have_an_options_name(text: str) -> None:
    assert ed.derive(text, target="cpu", budget=ed.Budget(states=9), A=(3,)).check()


def test_a_longer_name_is_another_one() -> None:
    assert ed.derive("Y[i] = 2*weights1[i]", budget=ed.Budget(states=9), weights1=(3,)).check()
    with pytest.raises(NameUnknownError, match="the tensor weight has no shape"):
        ed.derive("Y[i] = 2*weight[i]")


def test_options_themselves_are_taken_as_before() -> None:
    size: Any = (3,)
    with pytest.raises(EinderiveError, match="nan cannot be"):
        ed.derive("Y[i] = 2*A[i]", A=(3,), nan=size)
    with pytest.raises(EinderiveError, match="the text ends where"):
        ed.derive("Y[i] = 2*weights[", weights=size)


@pytest.mark.parametrize("name", sorted({*option_names(ed.compile), *option_names(ed.equivalent)}))
def test_the_command_line_has_its_own_words(name: str, capsys: Capture) -> None:
    line = ["derive", f"Y[i] = 2*{name}[i]", f"{name}=3", "--states", "9"]
    assert main(line) == 0, capsys.readouterr().err
    text = f"Y[i] = 2*{name}[i]"
    code = main(["equivalent", text, text, f"{name}=3"])
    err = capsys.readouterr().err
    if name in option_names(ed.equivalent):
        assert code == 2
        assert f"{name} is a word of `einderive equivalent`" in err
        assert "next: choose another name" in err
    else:
        assert (code, err) == (0, "")
