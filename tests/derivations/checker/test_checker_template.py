"""The checker writes out any operator's definition, and knows no operator by name."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from einderive.derivations import checker
from einderive.derivations.checker import not_an_instance
from einderive.eops.library import OPERATORS
from einderive.ta.ir.node import Reducer, Scope
from einderive.ta.ir.operator import Binding, Operator, Window, Work
from einderive.ta.ir.subst import accesses, stages
from einderive.ta.notation.parse import parse

SOURCES = sorted(Path(str(checker.__file__)).parent.glob("*.py"))
NAMES = {operator.name for operator in OPERATORS} - {"reduction"}
"""`reduction` is a word of the checker's messages as well; there is a test of its own for it."""


def texts(source: str) -> list[str]:
    """The string constants of a module that are no docstrings, and its patterns of `match`."""
    tree = ast.parse(source)
    prose = {n.value for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.name))
def test_no_operator_is_named(path: Path) -> None:
    found = texts(path.read_text(encoding="utf-8"))
    words = {word for text in found for word in re.findall(r"\w+", text)}
    assert not words & NAMES
    assert "reduction" not in found


def test_names_of_operators_are_found() -> None:
    source = '"""view"""\nmatch name:\n    case "softmax" | "concat":\n        print("a matmul")'
    assert texts(source) == ["softmax", "concat", "a matmul"]


def toy(definition: str, *reducers: Reducer, variants: tuple[str, ...] = ()) -> Operator:
    return Operator(
        name="toy",
        definition=definition,
        variants=variants,
        reducers=reducers or ("sum",),
        work=lambda binding: Work(0.0, 0.0),
        launch=lambda binding: lambda buffers: None,
    )


def scope_of(text: str, **shapes: tuple[int, ...]) -> Scope:
    (root,) = parse(text, shapes).roots()
    return root


def refused(operator: Operator, binding: Binding) -> str:
    return not_an_instance(binding.scope, operator, binding) or ""


NORM = toy("Y[b,k] = {factor} * A[b,k] / sum[j](A[b,j]^2)")
"""Rows divided by their squared norms."""
NORMED = scope_of("Y[i,j,t] = -3*X[t,i+1,j]/sum[u](X[t,i+1,u]^2) where i in -1:4", X=(4, 5, 6))
NORM_OF = Binding(NORMED, accesses(NORMED.body)[:1], {"b": (0, 2), "k": (1,)}, (), Fraction(-3))


def test_an_operator_of_ones_own_is_checked() -> None:
    assert refused(NORM, NORM_OF) == ""


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (replace(NORM_OF, roles={"b": (0, 1), "k": (2,)}), "different sums of products"),
        (replace(NORM_OF, roles={"b": (2, 0), "k": (1,)}), "in their order"),
        (replace(NORM_OF, roles={"b": (0, 1, 2), "k": ()}), "different sums of products"),
        (replace(NORM_OF, roles={"b": (0,), "k": (1,)}), "each iterator once"),
        (replace(NORM_OF, roles={"b": (0, 2), "j": (1,)}), "indices of the definition"),
        (replace(NORM_OF, coefficient=Fraction(3)), "different sums of products"),
        (replace(NORM_OF, operands=accesses(NORMED.body)[1:]), "different sums of products"),
        (replace(NORM_OF, operands=accesses(NORMED.body)), "another number of operands"),
        (replace(NORM_OF, windows=(Window(0, 0, 0, 1, 1, 1, 1),)), "no windows"),
    ],
)
def test_changed_bindings_of_it_are_refused(changed: Binding, reason: str) -> None:
    assert reason in refused(NORM, changed)


def test_a_definition_without_a_factor_has_none() -> None:
    plain = toy(NORM.definition.replace("{factor} * ", ""))
    assert refused(plain, NORM_OF) == "toy has no factor"


CORRELATE = toy("Y[b,h] = {factor} * sum[r](A[b,{stride}*h+2*r-{padding}] * K[r])")
"""Only every second element of a window is read."""
SLID = scope_of("Y[h,c] = A[c,9*h+6*r-4]*K[r] where h in 1:4", A=(2, 40), K=(5,))
SLIDES = Binding(
    SLID, accesses(SLID.body), {"b": (1,), "h": (0,), "r": (2,)}, (Window(0, 1, 0, 2, 3, 3, 2),)
)


def test_windows_of_it_are_checked() -> None:
    assert refused(CORRELATE, SLIDES) == ""
    (window,) = SLIDES.windows
    for wrong in (
        replace(window, stride=2),
        replace(window, dilation=1),
        replace(window, unit=1),
        replace(window, unit=1, stride=9, dilation=6),  # so the row is, but 2*r is given
        replace(window, dimension=0),
        replace(window, dimension=-1),
        replace(window, dimension=2),
        replace(window, operand=1),
        replace(window, loop=1),
        replace(window, reduction=0),
    ):
        assert "other windows than the definition" in refused(
            CORRELATE, replace(SLIDES, windows=(wrong,))
        )
    assert "other windows than the definition" in refused(CORRELATE, replace(SLIDES, windows=()))
    assert "no windows" in refused(CORRELATE, replace(SLIDES, windows=(window, window)))


def test_what_is_summed_may_run_backwards() -> None:
    turned = scope_of("Y[h] = A[h-2*r+8]*K[r] where h in 0:6", A=(14,), K=(5,))
    window = Window(0, 0, 0, 1, 1, 1, -2)
    roles = {"b": (), "h": (0,), "r": (1,)}
    binding = Binding(turned, accesses(turned.body), roles, (window,))
    assert refused(CORRELATE, binding) == ""
    assert refused(toy(CORRELATE.definition.replace("2*r", "r")), binding)


BARE = toy("Y[b,h] = sum[r](A[b,{stride}*h+{dilation}*r-{padding}] * K[r])")


@pytest.mark.parametrize(
    ("row", "window"),
    [
        ("4", Window(0, 1, 0, 2, 0, 3, 2)),
        ("20-2*h-r", Window(0, 1, 0, 2, -1, 2, 1)),
    ],
)
def test_windows_that_stand_still_or_run_backwards_are_refused(row: str, window: Window) -> None:
    scope = scope_of(f"Y[h,c] = A[c,{row}]*K[r] where h in 0:4", A=(2, 40), K=(5,))
    reads = sorted(accesses(scope.body), key=lambda read: read.source.name)
    roles = {"b": (1,), "h": (0,), "r": (2,)}
    binding = Binding(scope, tuple(reads), roles, (window,))
    assert "other windows than the definition" in refused(BARE, binding)


def test_an_operand_holds_only_the_indices_of_its_dimensions() -> None:
    product = toy("Y[b,k] = A[b,k] * B[k]")
    scope = scope_of("Y[i,j] = X[i,j]*Z[i,j]", X=(3, 4), Z=(3, 4))
    binding = Binding(scope, accesses(scope.body), {"b": (0,), "k": (1,)})
    assert "does not give it" in refused(product, binding)
    assert refused(toy("Y[b,k] = A[b,k] * B[b,k]"), binding) == ""


def test_loops_and_sums_do_not_change_places() -> None:
    scope = scope_of("Y[i] = sum[j](X[j,i])", X=(3, 3))
    summed = toy("Y[b] = sum[k](A[b,k])")
    binding = Binding(scope, accesses(scope.body), {"b": (0,), "k": (1,)})
    assert refused(summed, binding) == ""
    swapped = replace(binding, roles={"b": (1,), "k": (0,)})
    assert "in their order" in refused(summed, swapped)


EXTREME = toy("Y[b] = {factor} * reduce[k](A[b,k])", "max", "min")


@pytest.mark.parametrize("text", ["max[k](2*A[i,k])", "min[k](-A[i,k]/3)", "max[k](-A[i,k])"])
def test_the_reducer_is_the_stages(text: str) -> None:
    scope = scope_of(f"Y[i] = {text}", A=(3, 4))
    factor = Fraction(2) if "2" in text else Fraction(-1, 3 if "3" in text else 1)
    binding = Binding(scope, accesses(scope.body), {"b": (0,), "k": (1,)}, (), factor)
    assert refused(EXTREME, binding) == ""
    assert refused(EXTREME, replace(binding, coefficient=-factor))
    maximum = toy(EXTREME.definition, "max")
    assert (refused(maximum, binding) == "") is (text.startswith("max") is (factor > 0))


PARTS = toy("Y[b,i] = where(i < {n}, A[b,i], ...)")


def test_parts_of_a_choice() -> None:
    text = "Y[i] = where(i < 2, A[i], where(i < 5, B[i-2], A[i-5])) where i in -1:7"
    scope = scope_of(text, A=(2,), B=(3,))
    reads = accesses(scope.body)
    ordered = tuple(sorted(reads, key=lambda read: -read.rows[0].const))
    binding = Binding(scope, ordered, {"b": (), "i": (0,)})
    assert refused(PARTS, binding) == ""
    assert refused(PARTS, replace(binding, operands=ordered[::-1]))
    assert "between ranges of the loop" in refused(PARTS, replace(binding, operands=ordered[:2]))


WEIGHTED = toy("D[b,i,j] = {factor} * sum[d](Q[b,i,d] * K[b,j,d]); Y[b,i] = sum[j](D[b,i,j]^2)")
"""The squares of products are added up, of which Q and K are the operands."""
TWICE = scope_of(
    "Z[i,j] = Q[i,d]*K[j+1,d] where j in 0:4; D[b,i,j] = 2*Z[i,j] where b in 0:2;"
    "Y[i,b] = sum[j](D[b,i,j]^2)",
    Q=(3, 5), K=(5, 5),
)  # fmt: skip


def test_operands_of_an_earlier_statement() -> None:
    (product,) = (each for each in stages(TWICE) if each.sums and each is not TWICE)
    query, key = sorted(accesses(product.body), key=lambda read: read.source.shape)
    roles = {"b": (1,), "i": (0,), "j": (2,), "d": (3,)}
    binding = Binding(TWICE, (query, key), roles, (), Fraction(2))
    assert refused(WEIGHTED, binding) == ""
    for wrong in (
        replace(binding, operands=(key, query)),
        replace(binding, coefficient=Fraction(4)),
        replace(binding, roles=roles | {"d": ()}),
        replace(binding, roles=roles | {"d": (4,)}),
        replace(binding, roles=roles | {"i": (2,), "j": (0,)}),
    ):
        assert refused(WEIGHTED, wrong)
    other = scope_of("Y[i,b] = sum[j](D[b,i,j]^2)", D=(2, 3, 4))
    claimed = replace(binding, scope=other)
    assert "reads no scope" in refused(WEIGHTED, claimed)


def test_scopes_that_are_read_within_a_sum_are_not_looked_into() -> None:
    scope = scope_of(
        "D[i,j] = 2*Q[i,d]*K[j,d]; N[i,d] = sum[j](D[i,j]^2*K[d,j]); Y[i,b] = sum[d](N[i,d]^2) "
        "where b in 0:2",
        Q=(3, 4), K=(4, 4),
    )  # fmt: skip
    product = next(each for each in stages(scope) if each.sums)  # producers stand first
    reads = accesses(product.body)
    roles = {"b": (1,), "i": (0,), "j": (2,), "d": (3,)}
    assert "reads no scope" in refused(WEIGHTED, Binding(scope, reads, roles, (), Fraction(2)))


def test_an_expression_is_a_part_of_a_sum() -> None:
    """The row's maximum stands beside it."""
    shifted = toy("Y[b,k] = exp(f(A[b,k]) - max[j](f(A[b,j])))")
    text = "M[i] = max[j](2*X[i,j] + Z[i,j]); Y[i,k] = exp(2*X[i,k] + Z[i,k] - M[i])"
    scope = scope_of(text, X=(3, 4), Z=(3, 4))
    reads = tuple(read for read in accesses(scope.body) if not isinstance(read.source, Scope))
    assert refused(shifted, Binding(scope, reads, {"b": (0,), "k": (1,)})) == ""


def test_an_expression_is_one_of_the_stages() -> None:
    squares = toy("Y[b] = f(A[b])^2")
    scope = scope_of("Y[i] = exp(2*A[i] - B[i])^2", A=(3,), B=(3,))
    binding = Binding(scope, accesses(scope.body), {"b": (0,)})
    assert refused(squares, binding) == ""
    assert refused(squares, replace(binding, operands=binding.operands[:1]))
    assert "not the reads" in refused(squares, replace(binding, operands=binding.operands[::-1]))
    (other,) = (scope_of("Y[i] = exp(2*A[i] - B[i])^3", A=(3,), B=(3,)),)
    assert refused(squares, Binding(other, accesses(other.body), {"b": (0,)}))


def test_any_of_the_variants_will_do() -> None:
    scope = scope_of("Y[i] = A[i] + 1", A=(3,))
    binding = Binding(scope, accesses(scope.body), {"b": (0,)})
    either = toy("Y[b] = A[b]", variants=("Y[b] = A[b] + 1",))
    assert refused(either, binding) == ""
    assert refused(toy("Y[b] = A[b]"), binding)
