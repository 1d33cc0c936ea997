"""The data of a derivation on a small instance: sizes, reads before and after, the drawing."""

import json
import re
from math import prod

import pytest

from einderive import derive, parse
from einderive.derivations.search.strategy import Budget
from einderive.frontend.explorer.data import data_view
from einderive.frontend.explorer.page import page
from einderive.frontend.explorer.small import small_program
from einderive.frontend.explorer.view import view_of
from einderive.ta.printing.show import show_program
from tests.frontend.explorer.derived import windows
from tests.frontend.explorer.test_page import Balance


@pytest.mark.parametrize(
    ("text", "shapes", "small"),
    [
        (
            "Y[i,j] = A[i,k]*B[k,j]",
            {"A": (512, 64), "B": (64, 300)},
            {"A": (4, 3), "B": (3, 4), "Y": (4, 4)},
        ),
        (
            "Y[h,w] = A[h+r,w+s] where h in 0:242, w in 0:242, r in 0:15, s in 0:15",
            {"A": (256, 256)},
            {"A": (8, 8), "Y": (6, 6)},
        ),
        # A padded border stays one: A ends where h does.
        (
            "Y[h,f] = A[h+r-1,c]*K[r,c,f] where h in 0:56",
            {"A": (56, 16), "K": (3, 16, 32)},
            {"A": (6, 3), "K": (3, 3, 4), "Y": (6, 4)},
        ),
        # The shift of a window shrinks with it: h+r-1 where h+r-7 or h+r-3 was.
        (
            "Y[h] = A[h+r-3] where h in 0:512, r in 0:7",
            {"A": (512,)},
            {"A": (6,), "Y": (6,)},
        ),
        (
            "Y[h,w] = A[h+r-7,w+s-7]/225 where h in 0:512, w in 0:512, r in 0:15, s in 0:15",
            {"A": (512, 512)},
            {"A": (6, 6), "Y": (6, 6)},
        ),
        (
            "Y[i] = A[2*i] + A[2*i+1] where i in 0:128",
            {"A": (256,)},
            {"A": (12,), "Y": (6,)},
        ),
        ("Y[i] = A[i]*x", {"A": (2,), "x": ()}, {"A": (2,), "x": (), "Y": (2,)}),
        ("S[i,j] = A[i,k]*A[j,k]; Y[i] = S[i,j]", {"A": (9, 9)}, {"A": (4, 3), "Y": (4,)}),
    ],
)
def test_sizes(text: str, shapes: dict[str, tuple[int, ...]], small: dict[str, object]) -> None:
    found = small_program(parse(text, **shapes))
    assert found is not None
    known = {tensor.name: tensor.shape for tensor in found.inputs}
    known |= {statement.name: statement.scope.shape for statement in found.outputs}
    assert known == small


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("S[h,i] = Q[h,i]*K[h//4,i]", {"Q": (8, 64), "K": (2, 64)}),
        ("Y[m,w] = A[m]*B[m+4*(w-8)] where w in 0:17", {"A": (256,), "B": (256,)}),
        ("Y[a,b,c,d,e] = A[a,b,c,d,e]", {"A": (9, 9, 9, 9, 9)}),
    ],
)
def test_some_formulas_have_no_small_instance(
    text: str, shapes: dict[str, tuple[int, ...]]
) -> None:
    assert small_program(parse(text, **shapes)) is None


def test_both_sides_rest_on_the_same_elements() -> None:
    """Of a sum over windows each result rests on its window, and two passes read fewer."""
    plans = windows().candidates
    view = data_view(
        windows(), next(p for p in plans if {"split-sum", "skew"} <= {s.rule for s in p.steps})
    )
    assert view is not None
    before, after = view.programs
    assert before.shown == after.shown
    inputs = {element for element in after.rests_on if element[0] == "A"}
    assert before.rests_on == inputs < after.rests_on
    name, place = before.shown
    h, w = divmod(place, 6)
    assert before.rests_on == {("A", (h + r) * 8 + w + s) for r in range(3) for s in range(3)}
    assert name == "Y"
    counts = [int(program.counts.split()[0]) for program in view.programs]
    assert counts[0] == 36 * 9 > counts[1]


def test_the_script_gets_what_the_interpreter_found() -> None:
    found = derive("Y[i] = A[i,k]*x[k]", A=(40, 30), x=(30,), budget=Budget(states=10))
    view = data_view(found, found.candidates[0])
    assert view is not None
    data = json.loads(view.programs[0].reads)
    assert data["shapes"] == {"A": [4, 3], "x": [3], "Y": [4]}
    for i, read in enumerate(data["reads"]["Y"]):
        assert read == [["A", 3 * i + k] for k in range(3)] + [["x", k] for k in range(3)]
    for grid in view.programs[0].grids:
        assert len(grid.cells) == prod(data["shapes"][grid.name])
        assert len({(cell.x, cell.y) for cell in grid.cells}) == len(grid.cells)


def test_the_page_draws_it() -> None:
    text = page(view_of(windows(), checked=0, data=True))
    parsed = Balance(re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL))
    assert parsed.open == []
    here = [given for tag, given in parsed.seen if tag == "rect" and given.get("class") == "here"]
    assert len(here) == 2
    reads = [given for tag, given in parsed.seen if given.get("class") == "reads"]
    assert len(reads) >= 18
    labels = [given.get("aria-label") or "" for tag, given in parsed.seen if tag == "svg"]
    assert any("The elements of Y, output, 6 × 6" in label for label in labels)
    small = small_program(windows().source)
    assert small is not None
    assert all(line in parsed.text for line in show_program(small).splitlines())
