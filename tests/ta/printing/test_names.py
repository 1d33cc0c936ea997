"""Iterators keep the names of the text where these say what they are."""

import pytest

from einderive.ta.notation.parse import parse
from einderive.ta.printing.show import show_program


@pytest.mark.parametrize(
    "text",
    [
        "Y[h,w] = I[h+r-2,w+s-2] where h in 0:9, w in 0:9, r in 0:5, s in 0:5",
        "Y[t] = max[lag](I[2*t-lag,0]) where t in 0:4, lag in 0:3",
        "Y[h] = sum[r](I[h+r,0])/3 where h in 0:7, r in 0:3",
    ],
)
def test_names_of_windows_are_kept(text: str) -> None:
    program = parse(text, {"I": (9, 9)})
    assert show_program(program) == text
    assert show_program(parse(str(program), {"I": (9, 9)})) == text


def test_a_name_that_is_taken_is_given_once() -> None:
    program = parse("Y[h] = I[h+r,s]*I[h+s,r] where h in 0:5, r in 0:4, s in 0:4", {"I": (9, 9)})
    again = parse(str(program), {"I": (9, 9)})
    assert again.roots() == program.roots()
