"""What a kernel keeps in windows: of which stages, how much, and which loop each moves along."""

from __future__ import annotations

import pytest

from einderive.eops.loops.arrange import dense, plans
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.plan import Plan
from einderive.eops.loops.sizes import SIZES
from einderive.eops.loops.windows import with_windows
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.programs import Shapes, grouped, require_right

FORMULAS: dict[str, tuple[str, Shapes]] = {
    "all that is read of the window lies beyond its stage": (
        "T[i,j] = exp(X[i,j]); U[k,j] = T[k+3,j]*T[k+2,j] where k in 0:5; "
        "Y[i,j] = U[i+2,j]*X[i,j] where i in 0:3",
        {"X": (4, 3)},
    ),
    "one of two reads does not move along": (
        "T[i,j] = exp(X[i,j]); Y[i,j] = T[i-1,j]*T[2,j] where i in 0:9",
        {"X": (9, 4)},
    ),
    "a window read at several steps of a loop whose passes make totals": (
        "T[i,k] = exp(X[i,k]); Y[i] = sum[k](T[i-1,k]*T[i+1,k]) where i in 0:9",
        {"X": (9, 5)},
    ),
    "a window read at several steps of a loop beside that of the columns": (
        "T[i,k,j] = exp(X[i,k,j]); Y[i,j] = sum[k](T[i-1,k,j]*T[i+1,k,j]) where i in 0:9",
        {"X": (9, 5, 7)},
    ),
    "both dimensions are read at several steps of the loop that the window moves along": (
        "T[i,j] = exp(X[i,j]); Y[i,k] = T[i-1,i]*T[i,i+1]*W[i,k] where i in 0:9",
        {"X": (9, 9), "W": (9, 5)},
    ),
    "a window of single elements": (
        "T[i] = exp(X[i]); Y[i,j] = T[i-1]*T[i+1]*W[j] where i in 0:9",
        {"X": (9,), "W": (5,)},
    ),
    "a window of one element beside a block": (
        "T[j] = exp(X[j]); Y[j] = T[j-1] + T[j+1]*W[j] where j in 0:9",
        {"X": (1,), "W": (9,)},
    ),
    "a window of two columns": (
        "T[i,k] = exp(X[i,k]); Y[i] = sum[k](T[i-1,k]*T[i+1,1-k]) where i in 0:9",
        {"X": (9, 2)},
    ),
    "a window of one column whose loop has a step only": (
        "T[i,k] = exp(X[i,k]); out Y[i] = X[i,0]^2; Z[i,k] = T[i-1,k]*T[i+1,k] where i in 0:9",
        {"X": (9, 1)},
    ),
    "a loop of one step beside a window whose index begins elsewhere": (
        "T[j,m] = exp(X[j,m]); Y[i,j] = T[j,0]*T[j,1]*W[i,j] where i in 0:1, j in 2:9",
        {"X": (9, 2), "W": (1, 9)},
    ),
    "a window that no block is beside, filled from another one": (
        "T[i] = exp(X[i]); U[i] = T[i-1]*T[i]*T[i+1]; Y[i,j] = U[i-1]*U[i+1]*W[j] where i in 0:9",
        {"X": (9,), "W": (5,)},
    ),
}


@pytest.mark.parametrize(("text", "shapes"), FORMULAS.values(), ids=FORMULAS)
def test_every_plan_is_right(text: str, shapes: Shapes) -> None:
    require_right(text, shapes)


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


def test_a_block_beside_all_that_another_loop_reads_is_kept_for_sums() -> None:
    """The other loop's steps, which make totals, need not all be gone through in one piece."""
    text = "T[i] = exp(X[i]); Y[i,j] = sum[k](T[i+j+k]) where i in 0:5, j in 0:7, k in 0:4"
    made = kept_in_windows(text, {"X": (20,)})
    assert any(one.inner is not None and one.along is None for one in made)


def test_no_window_moves_by_two() -> None:
    text = "T[i,j] = exp(X[i,j]); Y[i,j] = T[2*i,j]*T[2*i+1,j] where i in 0:9"
    group = grouped(text, {"X": (18, 9)})
    assert list(with_windows(group))
    assert all(made.along != 0 for made in plans(group, dense(group)) if made.windows)


def test_windows_are_of_so_many_bytes_at_most() -> None:
    """A window of 9 columns and one on each side: 44 bytes of float32."""
    group = grouped("T[i] = exp(X[i]); Y[i] = T[i-1]*T[i+1] where i in 0:9", {"X": (9,)})
    for most, kept in ((44, True), (43, False)):
        sizes = SIZES._replace(window=most)
        assert (
            any(
                one.inner is not None and one.windows
                for one in plans(group, dense(group), sizes=sizes)
            )
            == kept
        )


@pytest.mark.parametrize(("long", "block"), [(39, 39), (40, 20)])
def test_the_inner_loop_beside_a_window_is_not_turned(long: int, block: int) -> None:
    """It is cut as other loops are, where the plan without a window has shorter blocks."""
    group = grouped(
        f"T[i,j] = exp(X[i,j]); Y[i,j] = T[i,j-1]*T[i,j+1]*W[j,i] where j in 0:{long}",
        {"X": (40, long), "W": (long, 40)},
    )
    sizes = SIZES._replace(block=20, turned_block=5)
    columns = [one for one in plans(group, dense(group), sizes=sizes) if one.inner == 1]
    assert {one.block for one in columns if one.windows} == {block}
    assert {one.block for one in columns if not one.windows} == {5}


def test_the_last_loop_that_fills_a_window_goes_along_the_block_or_the_memory() -> None:
    text = "T[i,j,k] = exp(X[i,k,j]); Y[i] = sum[j,k](T[i-1,j,k]*T[i+1,j,k]) where i in 0:9"
    made = kept_in_windows(text, {"X": (9, 7, 8)})
    assert {True, False} == {one.inner is None for one in made}
    for one in made:
        (window,), last = one.windows, one.phases[0].loops[-1]
        assert last == (window.rows[1].lone if one.inner is None else window.inner)


def test_no_loop_fills_a_dimension_of_one_index() -> None:
    text = "T[i,j,k] = exp(X[i,j]*W[j,k]); Y[i] = sum[j](T[i-1,j,0]*T[i+1,j,0]) where i in 0:9"
    for made in kept_in_windows(text, {"X": (9, 8), "W": (8, 1)}):
        assert len(made.phases[0].loops) == (1 if made.inner is None else 2)


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
