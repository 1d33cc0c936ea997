"""What a kernel keeps in windows: of which stages, how much, and which loop each moves along."""

from __future__ import annotations

from random import Random

import pytest

from einderive.eops.loops.arrange import dense, plans
from einderive.eops.loops.group import Group
from einderive.eops.loops.plan import Plan
from einderive.eops.loops.windows import with_windows
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.interpreted import check
from tests.eops.loops.programs import data

Shapes = dict[str, tuple[int, ...]]

FORMULAS: dict[str, tuple[str, Shapes]] = {
    "all that is read of the window lies beyond its stage": (
        "T[i,j] = exp(X[i,j]); U[k,j] = T[k+3,j]*T[k+2,j] where k in 0:5; "
        "Y[i,j] = U[i+2,j]*X[i,j] where i in 0:3",
        {"X": (4, 3)},
    ),
}


@pytest.mark.parametrize(("text", "shapes"), FORMULAS.values(), ids=FORMULAS)
def test_every_plan_is_right(text: str, shapes: Shapes) -> None:
    group = grouped(text, shapes)
    inputs = data(group.outputs, Random(text))
    for number in range(4):
        assert check(group, inputs, Random(f"{number} {text}"))


def grouped(text: str, shapes: Shapes) -> Group:
    roots = parse(text, shapes, "float32").roots()
    return Group(tuple(stages(*roots)), roots)


def kept_in_windows(text: str, shapes: Shapes) -> list[Plan]:
    group = grouped(text, shapes)
    found = [made for made in plans(group, dense(group)) if made.windows]
    assert found
    return found


def test_a_window_is_filled_with_elements_of_its_stage_only() -> None:
    """The sum's other steps read the fill."""
    text = "T[i,j] = exp(X[i,j]); Y[k] = sum[j](T[k,j]*T[k-1,j]) where j in 0:12"
    for made in kept_in_windows(text, {"X": (9, 9)}):
        (filling, *others) = map(made.points, made.phases)
        assert filling <= 9 * 10
        assert max(others) == 9 * 12


def test_a_row_is_kept_where_no_other_one_is_read() -> None:
    text = "T[i,j] = exp(X[i,j]); Y[k] = sum[j](T[k,j]*T[k,j+1])"
    made = kept_in_windows(text, {"X": (9, 9)})
    assert any(one.along is None and one.windows[0].size(one.block) == 10 for one in made)


def test_a_window_is_a_block_beside_what_lies_in_it_as_a_whole() -> None:
    text = "T[i,k] = exp(X[i,k]); Y[i] = sum[k](T[i-1,k]*T[i+1,k+1]) where i in 0:9"
    columns = [made for made in kept_in_windows(text, {"X": (9, 7)}) if made.inner is not None]
    assert columns
    assert all(made.windows[0].beside for made in columns)


def test_no_window_is_kept_of_what_nobody_needs() -> None:
    """The stage that reads another one at two places is itself neither read nor written."""
    text = "T[i] = exp(X[i]); D[i] = T[i-1]*T[i+1] where i in 0:9; Y[i] = X[i]^2"
    roots = parse(text, {"X": (9,)}, "float32").roots()
    group = Group(tuple(stages(*roots)), roots[1:])
    assert list(with_windows(group))
    assert all(not made.windows for made in plans(group, dense(group)))


CHOSEN: dict[str, tuple[str, list[str]]] = {
    "none": ("T[i] = exp(X[i]); Y[i] = T[i]^2", []),
    "none of what is written": ("out T[i] = exp(X[i]); Y[i] = T[i-1]*T[i+1]", []),
    "one that is read beside": ("T[i] = exp(X[i]); Y[i] = T[i] + T[i-1]", ["T"]),
    "one that is read in two orders": (
        "T[i,j] = exp(X[i]*X[j]); Y[i,j] = T[i,j] + T[j,i]",
        ["T"],
    ),
    "a short sum": ("T[i] = sum[k](X[i+k]) where k in 0:3; Y[i] = T[i] + T[i-1]", ["T"]),
    "no long sum": ("T[i] = sum[k](X[i+k]) where k in 0:40; Y[i] = T[i] + T[i-1]", []),
    "all, or one that takes long": (
        "T[i] = exp(X[i]); U[i] = X[i] + 2; Y[i] = T[i]*T[i-1] + U[i]*U[i+1]",
        ["TU", "T"],
    ),
    "what is read beside, or what it reads": (
        "T[i] = exp(X[i]); U[i] = T[i] + X[i]^2; Y[i] = U[i]*U[i+1]",
        ["U", "T"],
    ),
    "what is read beside, or what it reads through another one": (
        "T[i] = exp(X[i]); V[i] = T[i] - X[i]; U[i] = V[i] + X[i]^2; Y[i] = U[i]*U[i+1]",
        ["U", "T"],
    ),
}


@pytest.mark.parametrize(("text", "windows"), CHOSEN.values(), ids=CHOSEN)
def test_the_stages_of_which_windows_are_kept(text: str, windows: list[str]) -> None:
    given = {"X": (9,)}, "float32", {"i": (0, 9)}
    roots = parse(text, *given).roots()
    group = Group(tuple(stages(*roots)), roots)
    program = parse("out " + text.replace("out ", "").replace("; ", "; out "), *given)
    names = dict(zip(program.roots(), program.output_names, strict=True))
    found = ["".join(names[stage] for stage in one.windows) for one in with_windows(group)]
    assert found == windows
