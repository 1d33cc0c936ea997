"""Comments and lines: a text laid out in any way is the text on one line, errors included."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einderive as ed
from einderive.frontend.cli.main import main
from einderive.ta.errors import TextError
from einderive.ta.notation.parse import parse
from einderive.ta.syntax.layout import joined
from tests.amount import examples

SHAPES = {"A": (3, 4), "B": (3, 4), "x": (3,), "y": (4,)}

PIECES: tuple[tuple[str, ...], ...] = (  # a line may end between any two of a statement's pieces
    ("Y[i] =", "A[i,k]", "*y[k]"),
    ("Y[i] =", "-x[i]", "+", "2*", "x[i]", "^2", "/3"),
    ("Y[h] =", "x[h+", "r]", "where h in", "0:2", ", r in 0:", "2"),
    ("Y[i,k] =", "where(", "i >= k and", "k", "!= 1", ", A[i,k]", ", B[i,k]", ")"),
    ("Y[i,k] =", "where(not", "i", "<= k", "or i", "== 2", ", 1,", "B[i,k])"),
    ("Z[i]", "= x[i]; Y[i]", "= Z[i]", "·", "x[i]", "− 1", "where", "i in 0:3"),
    ("Y[h] =", "x[h//", "2", "] * x[h", "%3] where h", "in 0", ":4"),
)
BREAKS = (" ", "\n", "  # it's a [comment( = \n", "\n\n\t\n", "\r\n", "# where\n #\n", "\n# ×\n\n")


def shapes(text: str) -> dict[str, tuple[int, ...]]:
    return {name: shape for name, shape in SHAPES.items() if name + "[" in text}


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_any_layout_is_the_same_program(data: st.DataObject) -> None:
    pieces = data.draw(st.sampled_from(PIECES))
    breaks = [data.draw(st.sampled_from(BREAKS)) for _ in pieces]
    plain = " ".join(pieces)
    laid_out = "".join(a + b for a, b in zip(breaks, pieces, strict=True)) + breaks[0]
    assert parse(laid_out, shapes(plain)) == parse(plain, shapes(plain))


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.sampled_from([*"#\n([{)]}+=,:; ix", "where", "and "])).map("".join))
def test_characters_keep_their_places(text: str) -> None:
    after = joined(text)
    assert len(after) == len(text)
    ends = [place for place, letter in enumerate(text) if letter == "\n"]
    assert {place for place, letter in enumerate(after) if letter == "\n"} <= set(ends)
    for line_before, line_after in zip(text.split("\n"), _cut(after, ends), strict=True):
        kept, mark, comment = line_before.partition("#")
        assert line_after == kept + " " * len(mark + comment)
    assert joined(after) == after


def _cut(text: str, places: list[int]) -> list[str]:
    starts = [0, *(place + 1 for place in places)]
    return [text[a:b] for a, b in zip(starts, [*places, len(text)], strict=True)]


def test_statements_end_with_their_lines() -> None:
    program = parse(
        "T[i] = x[i]  # first\n# between\n\nU[i] = T[i]\n; Y[i] = U[i] # last", {"x": (3,)}
    )
    assert [statement.name for statement in program.statements] == ["T", "U", "Y"]
    assert str(program) == "T[i] = x[i]\nU[i] = T[i]\nY[i] = U[i]"


@pytest.mark.parametrize(
    ("text", "line", "caret"),
    [
        ("Y[i] = x[i] # one\n     + q[i] # two", "     + q[i] # two", "q"),
        ("Y[i] = (x[i] # ( \n + 1 # )", " + 1 # )", " "),
        ("Y[i] =  # nothing (yet", "Y[i] =  # nothing (yet", " "),
        ("Y[i] = x[i]\n # ]\n * * 2", " * * 2", "*"),
        ("Y[i] = x[i] +\nZ[i] = x[i]", "Y[i] = x[i] +", "+"),
        ("Y[i] = x[i]\n     where # clause\n  i in\n 4:2", "  i in", "i in"),
        ("Y[i] = x[i] # $ is no sign here\n  + $", "  + $", "$"),
    ],
)
def test_the_caret_is_under_the_character(text: str, line: str, caret: str) -> None:
    with pytest.raises(TextError) as caught:
        parse(text, {"x": (3,)})
    error = caught.value
    assert error.text == text
    assert error.span is not None
    start, end = error.span
    assert text[start:end].startswith(caret)
    shown = str(error).splitlines()
    place = shown.index("  " + line)
    assert shown[place + 1].strip() == "^" * len(shown[place + 1].strip())
    column = shown[place + 1].index("^") - 2
    assert start == text.index(line) + column


def test_comments_reach_every_entry(capsys: pytest.CaptureFixture[str]) -> None:
    text = "Y[h] = A[h] # A is read at k\n  where h in 0:\n  n-1 # as k"
    assert ed.equivalent(text, "Y[h] = A[h] where h in 0:n-1", A=("n",))
    with pytest.raises(TextError, match="a range is given for k"):
        ed.equivalent(text, text, A=("n",), ranges={"k": (0, 3)})
    line = ["derive", "Y[i] = A[i,k] # rows\n  *x[k] # columns", "A=3,4", "x=4", "--states", "5"]
    assert main(line) == 0
    assert "Y[i] = A[i,k]*x[k]" in capsys.readouterr().out
