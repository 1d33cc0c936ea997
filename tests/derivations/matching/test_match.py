"""Iterators are classified by where they stand, whatever they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest

from einderive.derivations.matching.match import Held, distance, iterator_table, match
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Mismatch, Operator, Window, Work, read_pattern
from einderive.ta.notation.parse import parse


def operator(name: str, definition: str, reducer: str = "sum") -> Operator:
    return Operator(
        name,
        definition,
        work=lambda binding: Work(0, 0),
        launch=lambda binding: lambda buffers: None,
        reducers=(reducer,),  # type: ignore[arg-type]  # one of the four
    )


MATMUL = operator("matmul", "C[b,m,n] = A[b,m,k] * B[b,k,n]")
CONV1 = operator("conv1d", "Y[n,g,f,h] = A[n,g,c,{stride}*h+{dilation}*r-{padding}] * K[g,f,c,r]")
CONV2 = operator("conv2d", "Y[n,g,f,h,w] = A[n,g,c,{s}*h+{d}*r-{p},{s}*w+{d}*s-{p}] * K[g,f,c,r,s]")
TRANSPOSED = operator("transposed", "Y[n,f,h] = A[n,i,c] * K[f,c,h+{padding}-{stride}*i]")
POOL = operator("pool", "Y[b,h] = max[r](A[b,{stride}*h+{dilation}*r-{padding}])", "max")

UNKNOWN = Mismatch("body", "unknown", (), 100.0)

Ranges = Mapping[str, tuple[int, int]]
INFERRED: Ranges = MappingProxyType({})


def scope_of(text: str, shapes: Mapping[str, Sequence[int]], ranges: Ranges = INFERRED) -> Scope:
    (root,) = parse(text, shapes, ranges=ranges).roots()
    return root


def bound(known: Operator, scope: Scope) -> Binding:
    found = match(known, scope)
    assert isinstance(found, Binding), found
    assert distance(found) == 0
    return found


def kinds(known: Operator, scope: Scope) -> set[str]:
    found = match(known, scope)
    assert isinstance(found, tuple)
    assert distance(found) == sum(mismatch.weight for mismatch in found) > 0
    return {mismatch.kind for mismatch in found}


def test_pattern_of_a_definition() -> None:
    pattern = read_pattern("Y[n,f,h] = A[n,c,{stride}*h+r] * K[f,c,r]")
    assert pattern.operands == ("A", "K")
    assert pattern.output == ("n", "f", "h")
    assert pattern.pairs == ((0, "h", "r"),)
    assert pattern.signatures == {
        "n": (True, (0,)),
        "c": (False, (0, 1)),
        "h": (True, (0,)),
        "r": (False, (0, 1)),
        "f": (True, (1,)),
    }


def test_matmul_in_any_layout() -> None:
    scope = scope_of("Z[q,p] = W[u,q]*X[p,u]", {"W": (4, 2), "X": (3, 4)})
    found = bound(MATMUL, scope)
    (m,), (n,) = found.roles["m"], found.roles["n"]
    assert {m, n} == {0, 1}
    assert found.operands[0].free >> m & 1
    assert found.operands[1].free >> n & 1
    assert found.roles["k"] == (2,)
    assert found.roles["b"] == ()


def test_matmul_with_fused_roles() -> None:
    scope = scope_of(
        "Y[a,i,b,j] = 3*X[a,i,k,b,l]*W[l,j,b,k]", {"X": (2, 3, 4, 5, 6), "W": (6, 7, 5, 4)}
    )
    found = bound(MATMUL, scope)
    assert found.coefficient == 3
    assert found.roles["b"] == (2,)
    assert {found.roles["m"], found.roles["n"]} == {(0, 1), (3,)}
    assert found.roles["k"] == (4, 5)
    assert found.extent("k") == 24


def test_square_is_a_product_of_two_reads() -> None:
    found = match(MATMUL, scope_of("Y[i] = A[i,k]*A[i,k]", {"A": (3, 4)}))
    assert isinstance(found, Binding)
    assert found.roles["b"] == (0,)


def test_convolution_in_nhwc_with_other_names() -> None:
    scope = scope_of(
        "O[b,y,x,o] = F[u,v,o,t]*I[b,2*y+u-1,x+3*v-3,t]",
        {"F": (3, 3, 5, 4), "I": (2, 9, 8, 4)},
        {"y": (0, 5), "x": (0, 8)},
    )
    found = bound(CONV2, scope)
    assert [read.source.name for read in found.operands] == ["I", "F"]  # type: ignore[union-attr]
    assert (found.roles["n"], found.roles["f"], found.roles["g"]) == ((0,), (3,), ())
    assert (found.roles["h"], found.roles["w"]) == ((1,), (2,))
    assert len(found.roles["c"]) == 1
    steps = [(w.dimension, w.unit, w.stride, w.dilation) for w in found.windows]
    assert steps == [(1, 1, 2, 1), (2, 1, 1, 3)]


def test_grouped_convolution() -> None:
    scope = scope_of(
        "Y[n,g,f,h] = A[n,g,c,h+r]*K[g,f,c,r]",
        {"A": (2, 3, 4, 9), "K": (3, 5, 4, 3)},
        {"h": (0, 7)},
    )
    found = bound(CONV1, scope)
    assert [found.roles[role] for role in "ngfh"] == [(0,), (1,), (2,), (3,)]


def test_depthwise_convolution_has_no_f_and_c() -> None:
    scope = scope_of("Y[g,h] = A[g,h+r]*K[g,r]", {"A": (3, 9), "K": (3, 3)}, {"h": (0, 7)})
    found = bound(CONV1, scope)
    assert found.roles["f"] == found.roles["c"] == ()
    assert found.extent("f") == 1


def test_dilated_convolution_by_phases() -> None:
    """The row 4*(q+r-1)+p is a window of unit 4; the phase p is played by n."""
    scope = scope_of(
        "Y[f,q,p] = A[c,4*(q+r-1)+p]*K[f,c,r]",
        {"A": (3, 20), "K": (2, 3, 3)},
        {"q": (0, 5), "p": (0, 4)},
    )
    found = bound(CONV1, scope)
    (window,) = found.windows
    assert (window.unit, window.stride, window.dilation) == (4, 1, 1)
    assert found.roles["n"] == (2,)
    assert found.roles["h"] == (1,)


def test_window_in_the_second_operand() -> None:
    scope = scope_of(
        "Y[n,f,h] = A[n,i,c]*K[f,c,h+1-2*i]", {"A": (2, 5, 3), "K": (4, 3, 4)}, {"h": (0, 10)}
    )
    found = bound(TRANSPOSED, scope)
    (window,) = found.windows
    assert window == Window(1, 2, 2, window.reduction, 1, 1, -2)
    assert found.roles["i"] == (window.reduction,)


def test_pooling_with_another_reducer() -> None:
    shapes, ranges = {"A": (3, 9)}, {"h": (0, 4), "r": (0, 3)}
    found = bound(POOL, scope_of("Y[b,h] = max[r](A[b,2*h+r])", shapes, ranges))
    assert found.roles["b"] == (0,)
    assert kinds(POOL, scope_of("Y[b,h] = sum[r](A[b,2*h+r])", shapes, ranges)) == {"reducer"}


def test_a_loop_of_one_needs_no_role() -> None:
    found = bound(
        MATMUL, scope_of("Y[e,i,j] = A[i,k]*B[k,j]", {"A": (2, 3), "B": (3, 4)}, {"e": (0, 1)})
    )
    assert found.roles["b"] == ()


@pytest.mark.parametrize(
    ("known", "text", "shapes", "ranges", "expected"),
    [
        (MATMUL, "Y[i] = A[i,k]", {"A": (2, 3)}, {}, {"body"}),
        (MATMUL, "Y[i,j] = A[i,k]*exp(B[k,j])", {"A": (2, 3), "B": (3, 4)}, {}, {"body"}),
        (MATMUL, "Y[i] = sum[k,l](A[i,k]*B[k,l])", {"A": (2, 3), "B": (3, 4)}, {}, {"iterators"}),
        (MATMUL, "Y[e,i] = A[i,k]*B[k]", {"A": (2, 3), "B": (3,)}, {"e": (0, 2)}, {"iterators"}),
        (MATMUL, "Y[i] = max[k](A[i,k]*B[k])", {"A": (2, 3), "B": (3,)}, {}, {"reducer"}),
        (CONV1, "Y[f,h] = A[c,h]*K[f,c]", {"A": (3, 5), "K": (2, 3)}, {}, {"iterators"}),
        (
            CONV1,
            "Y[f,h] = A[c,r-h]*K[f,c,r]",
            {"A": (3, 5), "K": (2, 3, 3)},
            {"h": (0, 3)},
            {"iterators"},
        ),
        (
            CONV1,
            "Y[f,h] = A[c,(h+r)//2]*K[f,c,r]",
            {"A": (3, 5), "K": (2, 3, 3)},
            {"h": (0, 8)},
            {"iterators"},
        ),
        (
            CONV2,
            "Y[f,h,w] = A[c,h+r,w+r]*K[f,c,r]",
            {"A": (3, 5, 6), "K": (2, 3, 3)},
            {"h": (0, 3), "w": (0, 4)},
            {"iterators"},
        ),
        (
            CONV2,
            "Y[f,h] = A[c,h+r,h+s]*K[f,c,r,s]",
            {"A": (3, 5, 6), "K": (2, 3, 3, 3)},
            {"h": (0, 3)},
            {"iterators"},
        ),
    ],
)
def test_mismatches(
    known: Operator,
    text: str,
    shapes: Mapping[str, Sequence[int]],
    ranges: Ranges,
    expected: set[str],
) -> None:
    assert expected <= kinds(known, scope_of(text, shapes, ranges))


def test_the_constraint_decides_last() -> None:
    refusing = Operator(
        "never",
        MATMUL.definition,
        work=MATMUL.work,
        launch=MATMUL.launch,
        constraint=lambda binding: f"not {binding.extent('m')} rows",
    )
    found = match(refusing, scope_of("Y[i] = A[i,k]*B[k]", {"A": (2, 3), "B": (3,)}))
    assert isinstance(found, tuple)
    assert [mismatch.kind for mismatch in found] == ["constraint"]
    assert found[0].detail in ("not 2 rows", "not 1 rows")


def test_recognise_replaces_the_table() -> None:
    refusal = Mismatch("body", "never", ())
    known = Operator(
        "odd", "Y[b] = f(A[b])", MATMUL.work, MATMUL.launch, recognise=lambda s: refusal
    )
    assert match(known, scope_of("Y[i] = A[i]", {"A": (2,)})) == (refusal,)


def test_the_iterators_beside_an_operator() -> None:
    """Each with the operands that hold it and the roles that it can play there."""
    product = scope_of("Z[q,p] = W[u,q]*X[p,u]", {"W": (4, 2), "X": (3, 4)})
    assert iterator_table(MATMUL, product) == (
        Held((0,), ("m",)),
        Held((1,), ("n",)),
        Held((0, 1), ("k",)),
    )
    summed = scope_of("Z[q] = W[u,q]*X[p,u]", {"W": (4, 2), "X": (3, 4)})
    assert {held.roles for held in iterator_table(MATMUL, summed)} == {("m",), (), ("k",)}


def test_an_iterator_of_a_window_plays_its_role_alone() -> None:
    scope = scope_of("Y[b,t] = max[r](A[b,2*t+r])", {"A": (2, 9)}, {"t": (0, 4), "r": (0, 3)})
    assert iterator_table(POOL, scope) == (
        Held((0,), ("b",)),
        Held((0,), ("h",)),
        Held((0,), ("r",)),
    )


def test_no_iterators_beside_another_product_or_an_operator_that_recognises() -> None:
    three = scope_of("Z[i] = A[i,k]*B[k]*C[k]", {"A": (2, 3), "B": (3,), "C": (3,)})
    assert iterator_table(MATMUL, three) == ()
    two = scope_of("Z[i,j] = A[i,k]*B[k,j]", {"A": (2, 3), "B": (3, 2)})
    assert iterator_table(replace(MATMUL, recognise=lambda scope: UNKNOWN), two) == ()
