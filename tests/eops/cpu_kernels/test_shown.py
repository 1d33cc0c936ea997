"""The source of compiled loops has the formula in its docstring, which is not compiled."""

from __future__ import annotations

import ast

import pytest

from einderive.eops.cpu_kernels.build import Kernel, build
from einderive.eops.cpu_kernels.told import told
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse

QUOTIENT = "out Y[i,j] = {0}[i,j]/sum[k](abs({0}[i,k]))"


def group_of(text: str, **shapes: tuple[int, ...]) -> Group:
    roots = parse(text, shapes).roots()
    return Group(stages(*roots), roots)


def kernel_of(group: Group, open_sizes: bool = False) -> Kernel:
    return build(group, dense(group), alike(group, "float32"), open_sizes)


def function_of(source: str) -> ast.FunctionDef:
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    return function


@pytest.mark.parametrize("open_sizes", [False, True])
def test_the_formula_is_the_docstring_of_what_is_compiled(open_sizes: bool) -> None:
    kernel = kernel_of(group_of(QUOTIENT.format("X"), X=(30, 40)), open_sizes)
    function = function_of(kernel.shown)
    assert ast.get_docstring(function) == (
        "s0 = {L[i:0:30] S[j:0:40] abs(X[i,j])}\n"
        "o0 = {L[i:0:30,j:0:40] X[i,j]/s0[i]}, float32\n"
        "\n"
        "p0 = X[0:30, 0:40], float32"
    )
    compiled = function_of(kernel.source)
    assert ast.get_docstring(compiled) is None
    assert list(map(ast.dump, function.body[1:])) == list(map(ast.dump, compiled.body))


def test_other_names_share_the_code() -> None:
    one, other = (
        kernel_of(group_of(QUOTIENT.format(name), **{name: (31, 40)})) for name in ("X", "Z")
    )
    assert one.code is other.code
    assert "Z[i,j]" in other.shown
    assert one.shown == other.shown.replace("Z[", "X[")


def test_stages_of_other_kernels_are_operands() -> None:
    text = "T[i] = sum[k](A[i,k]*B[k]); out Y[i] = exp(T[i])"
    roots = parse(text, {"A": (30, 40), "B": (40,)}).roots()
    kernel = kernel_of(Group(roots, roots))
    assert ast.get_docstring(function_of(kernel.shown)) == (
        "o0 = {L[i:0:30] exp(p0[i])}, float32\n\np0 = stage[0:30], float32"
    )


def test_names_of_operands_stay_within_the_docstring() -> None:
    """Also those that stages have otherwise, and letters that are not ASCII."""
    kernel = kernel_of(
        group_of("M[i] = max[j](s0[i,j]*α[j]); out Y[i] = M[i]+1", s0=(9, 8), α=(8,))
    )
    found = ast.get_docstring(function_of(kernel.shown)) or ""
    assert kernel.shown.isascii()
    assert found.startswith("s1 = {L[i:0:9] max[j:0:8] s0[i,j]*α[j]}\n")


def test_what_is_shown_without_compiling_has_it_too() -> None:
    group = group_of(QUOTIENT.format("X"), X=(30, 40))
    found = told(group, dict.fromkeys(group.operands, "float32"))
    assert found is not None
    assert found.source == kernel_of(group).shown
