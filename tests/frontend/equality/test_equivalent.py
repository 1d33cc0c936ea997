"""Verdicts on pairs of formulas: kinds, coverage of borders, laws, the smallest counterexample."""

import pytest

import einderive as ed
from einderive.frontend.equality.verdict import SHOWN
from tests.amount import sampled
from tests.work import at_most

PAIRS = [
    ("Y[i] = A[i]*B[i]", "Y[i] = B[i]*A[i]", "identical"),
    ("Y[i] = A[i,k]*(x[k]+y[k])", "Y[i] = A[i,k]*x[k] + A[i,k]*y[k]", "evaluated"),
    ("Y[i] = relu(2*A[i])", "Y[i] = 2*relu(A[i])", "evaluated"),
    ("Y[i] = A[i] - B[i]", "Y[i] = B[i] - A[i]", "different"),
    ("Y[i] = exp(A[i])", "Y[i] = exp(2*A[i])", "different"),
    ("Y[i] = exp(A[i]+B[i])", "Y[i] = exp(A[i])*exp(B[i])", "proved"),
    ("Y[i] = A[i]; Z[i] = 2*A[i]", "Z[i] = 2*A[i]; Y[i] = A[i]", "identical"),
    ("Y[i] = A[i]; Z[i] = 2*A[i]", "Y[i] = 2*A[i]; Z[i] = A[i]", "different"),
    ("Y[i] = A[i]", "Y[i] = A[i]; Z[i] = A[i]", "different"),
    ("Y[i] = A[i]", "Y[i] = A[i] where i in 0:3", "different"),
    ("Y[i] = A{fill=-inf}[i-1] where i in 0:4", "Y[i] = A[i-1] where i in 0:4", "different"),
    ("Y = A[i]", "Z = 1*A[i]", "identical"),
    ("Y = 2", "Y = 3", "different"),
    ("Y[i] = A[i]", "Y[i] = A[i] + sum[k](x[k])*0", "identical"),
    ("Y[i] = A[i+4] where i in 0:0", "Y[i] = 2*A[i] where i in 0:0", "evaluated"),
]


@pytest.mark.parametrize(("left", "right", "kind"), PAIRS)
def test_verdict(left: str, right: str, kind: str) -> None:
    shapes = {"A": (4, 3) if "A[i,k]" in left else (4,), "B": (4,), "x": (3,), "y": (3,)}
    used = {name: extents for name, extents in shapes.items() if f"{name}[" in left + right}
    verdict = ed.equivalent(left, right, **used)
    assert verdict.kind == kind, verdict
    assert bool(verdict) == (kind in SHOWN)
    assert str(verdict).startswith(f"{kind}: ")


CONV = "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:6, w in 0:5"
IMAGE = {"A": (2, 8, 6, 5), "K": (8, 8, 3, 3)}
BAND = "Y[b,m,w] = A[b,m,k]*B[b,m+2*(w-2),k] where w in 0:5"
CHUNKED = (
    "T[b,p,u,v,t] = A[b,2*(3*u+v)+p,k]*B[b,2*(3*u+t-2)+p,k] where u in 0:{u}, p in 0:2, "
    "v in 0:3, t in 0:7; Y[b,m,w] = T[b,m%2,m//6,m//2%3,m//2%3+w] where m in 0:12, w in 0:5"
)
SEQUENCE = {"A": (2, 12, 40), "B": (2, 12, 40)}
WRONG = {
    "a pad that is off by one": (CONV, CONV.replace("w+s-1", "w+s"), IMAGE),
    "a kernel transposed": (CONV, CONV.replace("K[f,c,r,s]", "K[f,c,s,r]"), IMAGE),
    "channels swapped": (CONV, CONV.replace("K[f,c,r,s]", "K[c,f,r,s]"), IMAGE),
    "a last row that is lost": (
        CONV,
        "T[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:5, w in 0:5;"
        "Y[n,f,h,w] = T[n,f,h,w] where h in 0:6, w in 0:5",
        IMAGE,
    ),
    "two layouts in one pass, wrong where they meet": (
        "Y[n,h,w] = A[n,h,w+s-1]*K[s] where w in 0:8",
        "T[n,h,u,v] = A[n,h,4*u+v+s-1]*K[s]*where(v+s-1 >= 0 and v+s-1 < 4, 1, 0)"
        " where u in 0:2, v in 0:4; Y[n,h,w] = T[n,h,w//4,w%4] where w in 0:8",
        {"A": (3, 5, 8), "K": (3,)},
    ),
    "a pad of another value": (
        "Y[i] = max[r](A{fill=-inf}[i+r-1]) where i in 0:9, r in 0:3",
        "Y[i] = max[r](A[i+r-1]) where i in 0:9, r in 0:3",
        {"A": (9,)},
    ),
    "groups that are read over their ends": (
        "Y[g,f,x] = A[4*g+c,x]*K[g,f,c] where c in 0:4",
        "Y[g,f,x] = A[4*f+c,x]*K[g,f,c] where c in 0:4",
        {"A": (12, 3), "K": (3, 3, 4)},
    ),
    "groups in another order": (
        "Y[o,x] = A[o//2*3+c,x]*K[o,c] where c in 0:3",
        "Y[o,x] = A[o%2*3+c,x]*K[o,c] where c in 0:3",
        {"A": (6, 3), "K": (4, 3)},
    ),
    "a square transposed": ("Y[i,j] = A[i,j]", "Y[i,j] = A[j,i]", {"A": (512, 512)}),
    "a band whose windows stop at a chunk's end": (
        BAND,
        CHUNKED.format(u=2).replace("t-2)+p,k]", "t-2)+p,k]*where(3*u+t-2 < 3*u+3, 1, 0)"),
        SEQUENCE,
    ),
    "a band without its last chunk": (BAND, CHUNKED.format(u=1), SEQUENCE),
    "one corner of a huge tensor": (
        "Y[i,j] = A[i,j]",
        "Y[i,j] = where(i == 99999 and j == 99999, 0, A[i,j])",
        {"A": (100000, 100000)},
    ),
    "a divisor for another extent": (
        "Y[i] = A[i,k]/48",
        "Y[i] = A[i,k]/49",
        {"A": (7, 49)},
    ),
    "one operand too few in a max": (
        "Y[i] = max[k](A[i,k])",
        "Y[i] = max[k](A[i,k]) where k in 0:31",
        {"A": (6, 32)},
    ),
    "a threshold beyond small numbers": ("Y[i] = relu(A[i]-5000)", "Y[i] = 0*A[i]", {"A": (6,)}),
}


@sampled(4)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs_are_different(name: str) -> None:
    left, right, shapes = WRONG[name]
    verdict = ed.equivalent(left, right, **shapes)
    assert verdict.kind == "different", verdict
    assert not verdict
    assert verdict.counterexample is not None
    assert verdict.counterexample.left != verdict.counterexample.right


@pytest.mark.parametrize(
    ("left", "right", "shapes"),
    [
        (BAND, CHUNKED.format(u=2), SEQUENCE),
        (
            CONV,
            "T[n,h,w,r,s,f] = A[n,c,h,w]*K[f,c,r,s];"
            "Y[n,f,h,w] = T[n,h+r-1,w+s-1,r,s,f] where h in 0:6, w in 0:5",
            {"A": (256, 512, 6, 5), "K": (1024, 512, 3, 3)},
        ),
        (
            "Y[b,i,e] = Q[b,i,d]*K[b,j,d]*V[b,j,e]",
            "T[b,d,e] = K[b,j,d]*V[b,j,e]; Y[b,i,e] = Q[b,i,d]*T[b,d,e]",
            {"Q": (64, 4096, 128), "K": (64, 4096, 128), "V": (64, 4096, 128)},
        ),
        (
            "Y[i,j] = (A[i,k]-B[j,k])^2",
            "Y[i,j] = A[i,k]^2 - 2*A[i,k]*B[j,k] + B[j,k]^2",
            {"A": (8192, 512), "B": (8192, 512)},
        ),
    ],
)
def test_equal_programs_of_any_size_in_a_second(
    left: str, right: str, shapes: dict[str, tuple[int, ...]]
) -> None:
    with at_most(2_000_000):
        verdict = ed.equivalent(left, right, **shapes)
    assert verdict.kind == "evaluated", verdict


def test_a_counterexample_is_small_and_readable() -> None:
    verdict = ed.equivalent(
        "Y[i,j] = A[i,k]*B[k,j] + A[i,0]", "Y[i,j] = A[i,k]*B[k,j]", A=(60, 70), B=(70, 80)
    )
    assert str(verdict) == (
        "different: Y[0,0] is 1 on the left, 0 on the right, for A (1,1), B (1,1), "
        "where A[0,0]=1 and all other entries are 0"
    )
    found = verdict.counterexample
    assert found is not None
    assert (found.shapes, found.output, found.point) == ({"A": (1, 1), "B": (1, 1)}, "Y", (0, 0))
    assert (found.left, found.right, found.entries) == (1, 0, (("A", (0, 0), 1),))


def test_a_counterexample_holds_when_it_is_tried() -> None:
    import torch

    left, right = "Y[h] = A[2*h+r-1]*K[r]", "Y[h] = A[2*h+r]*K[r]"
    clause = " where h in 0:7"
    verdict = ed.equivalent(left + clause, right + clause, A=(14,), K=(4,))
    found = verdict.counterexample
    assert found is not None
    assert found.entries is not None
    data = {name: torch.zeros(shape) for name, shape in found.shapes.items()}
    for name, at, value in found.entries:
        data[name][at] = float(value)
    padded = torch.nn.functional.pad(data["A"], (1, 20))
    for offset, expected in ((0, found.left), (1, found.right)):
        h = found.point[0]
        windows = [padded[2 * h + r + offset] for r in range(len(data["K"]))]
        assert float(torch.stack(windows) @ data["K"]) == float(expected)


def test_the_difference_stays_where_only_large_sizes_have_one() -> None:
    verdict = ed.equivalent("Y[i] = A[i]*2", "Y[i] = A[i]+A[i%5]", A=(40,))
    assert verdict.counterexample is not None
    assert verdict.counterexample.shapes == {"A": (6,)}
    assert verdict.counterexample.point == (5,)


def test_differences_of_functions_are_shown_in_plain_numbers() -> None:
    verdict = ed.equivalent("Y[i] = exp(A[i])", "Y[i] = exp(A[i]+B[i])", A=(4,), B=(4,))
    assert str(verdict) == (
        "different: Y[0] is 1 on the left, 2.718281828 on the right, for A (1), B (1), "
        "where B[0]=1 and all other entries are 0"
    )


def test_what_is_too_large_to_evaluate_is_proved_or_different() -> None:
    shapes = {"A": (9000,), "K": (9000,)}
    text = "Y[i] = A[i+r]*K[r] where i in 0:9000"
    verdict = ed.equivalent(text, "Y[i] = (A[i+r]+K[r])*K[r]-K[r]^2 where i in 0:9000", **shapes)
    assert verdict.kind == "proved"
    assert "sampled positions" in str(verdict)
    wrong = ed.equivalent(text, text.replace("0:9000", "0:9000, r in 1:9000"), **shapes)
    assert wrong.kind == "different"
    softmax = "Y[i,j] = exp(A[i,j])/sum[k](exp(A[i,k]))"
    large = {"A": (4000, 3000)}
    assert ed.equivalent(softmax, softmax.replace("/sum", "/2/sum"), **large).kind == "different"
    split = "T[i,j] = exp(A[i,j]); Z[i] = T[i,j]; Y[i,j] = T[i,j]/Z[i]"
    assert ed.equivalent(softmax, split, **large).kind == "evaluated"  # one row stands for all


def test_laws_are_used_only_by_name() -> None:
    softmax = "Y[i,k] = exp(A[i,k])/sum[l](exp(A[i,l]))"
    stable = "M[i] = max[j](A[i,j]); Y[i,k] = exp(A[i,k]-M[i])/sum[l](exp(A[i,l]-M[i]))"
    shapes = {"A": (64, 33)}
    without = ed.equivalent(softmax, stable, laws=(), **shapes)
    assert without.kind == "undecided"
    assert "exp-sum" in str(without)
    for law in ("exp-sum", "exp(a+b) = exp(a)*exp(b)"):
        verdict = ed.equivalent(softmax, stable, laws=[law], **shapes)
        assert verdict.kind == "evaluated"
        assert "by exp(a+b) = exp(a)*exp(b)" in str(verdict)
    wrong = stable.replace("exp(A[i,l]-M[i])", "exp(A[i,l])")
    assert ed.equivalent(softmax, wrong, laws=["exp-sum"], **shapes).kind == "different"
    with pytest.raises(ed.EinderiveError, match="there is no law 'exp-prod'"):
        ed.equivalent(softmax, stable, laws=["exp-prod"], **shapes)


def test_definitions_by_name() -> None:
    pair = ("Y[i] = silu(A[i])", "Y[i] = A[i]/(1+exp(-A[i]))")
    assert ed.equivalent(*pair, A=(9,), laws=()).kind == "undecided"
    assert ed.equivalent(*pair, A=(9,)).kind == "proved"
    assert ed.equivalent(*pair, A=(9,), laws=["silu", "sigmoid"])
    tanh = ("Y[i] = tanh(A[i])", "Y[i] = 1 - 2/(exp(2*A[i])+1)")
    assert ed.equivalent(*tanh, A=(9,), laws=["tanh", "exp-sum"])
    assert not ed.equivalent(*tanh, A=(9,), laws=["tanh"])


def test_bad_input_is_one_clear_error() -> None:
    with pytest.raises(ed.EinderiveError, match="a shape is given for B, which neither side uses"):
        ed.equivalent("Y[i] = A[i]", "Y[i] = 2*A[i]", A=(3,), B=(4,))
    left = ed.parse("Y[i] = A[i]", A=(3,))
    right = ed.parse("Y[i] = A[i] where i in 0:3", A=(5,))
    with pytest.raises(ed.EinderiveError, match="A has two shapes"):
        ed.equivalent(left, right)
    with pytest.raises(ed.EinderiveError, match="a parsed program has fixed shapes"):
        ed.equivalent(left, left, generic=True)
    assert ed.equivalent(left, "Y[i] = 1*A[i]", A=(3,)).kind == "identical"


MULTIPLIED_OUT = "*".join(f"relu({prime}*A[i]*A[i])" for prime in (17, 19, 23, 29, 31, 41))
BOTH_SIGNS = "where(s < 1, A[k], -A[k])"
NOT_EQUAL = [
    (
        f"Y = max[k,s]({BOTH_SIGNS}) where s in 0:2",
        f"Y = sum[k](max[s]({BOTH_SIGNS})) where s in 0:2",
    ),
    (
        f"Y = min[k,s]({BOTH_SIGNS}) where s in 0:2",
        f"Y = sum[k](min[s]({BOTH_SIGNS})) where s in 0:2",
    ),
    (
        f"Y = exp(max[k,s]({BOTH_SIGNS})) where s in 0:2",
        f"Y = exp(sum[k](max[s]({BOTH_SIGNS}))) where s in 0:2",
    ),
    (
        "Y = max[i,j](A[i]-A[j])",
        "Y = sum[i](max[j,s](where(s < 1, where(i < j, A[i]-A[j], 0), where(i < j, A[j]-A[i], 0))))"
        " where s in 0:2",
    ),
    (f"Y[i] = {MULTIPLIED_OUT}", "Y[i] = 0*A[i]"),
    *((f"Y[i] = abs({c}*A[i])", f"Y[i] = -{c}*abs(A[i])") for c in (43, 59, 83, 97)),
]


@sampled(4)
@pytest.mark.parametrize(("left", "right"), NOT_EQUAL)
@pytest.mark.parametrize("laws", [(), ("exp-sum",)])
def test_order_and_signs_make_nothing_else_equal(
    left: str, right: str, laws: tuple[str, ...]
) -> None:
    verdict = ed.equivalent(left, right, A=(3,), laws=laws)
    assert verdict.kind == "different", verdict
    found = verdict.counterexample
    assert found is not None
    assert found.left != found.right


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        (
            "1000000*sqrt(10^12*A[i]^2+1)-10^12*A[i]",
            "10^6/(sqrt(10^12*A[i]^2+1)+10^6*A[i])",
            "sqrt",
        ),
        ("A[i]/abs(A[i])*sign(A[i])", "1", "order"),
        ("1/(A[i]-A[i])", "5", "Y[0] has none on one side at least: a divisor there is 0"),
        ("B[i]/A[i-1]", "where(i >= 1, B[i]/A[i-1], 0)", "Y[0] has none on one side at least"),
        ("A[i]/0", "0*A[i]", "a divisor there is 0 for all entries"),
        (
            "A{fill=inf}[i-1]*(B[i]+A[i])",
            "A{fill=inf}[i-1]*B[i]+A{fill=inf}[i-1]*A[i]",
            "an infinite number meets an entry",
        ),
    ],
)
def test_what_has_no_value_is_neither_equal_nor_different(
    left: str, right: str, reason: str
) -> None:
    used = {name: (4,) for name in "AB" if f"{name}[" in left + right}
    clause = " where i in 0:4"
    sides = f"Y[i] = {left}{clause}", f"Y[i] = {right}{clause}"
    verdict = ed.equivalent(*sides, laws=(), **used)
    assert verdict.kind == "undecided", verdict
    assert reason in str(verdict)
    by_laws = ed.equivalent(*sides, **used)
    assert by_laws.kind == ("proved" if reason in ("sqrt", "order") else "undecided"), by_laws


@pytest.mark.parametrize(("inside", "kind"), [("i-1", "undecided"), ("i", "proved")])
def test_a_function_outside_of_its_domain_is_seen_at_any_size(inside: str, kind: str) -> None:
    size = 10_000_000
    clause = f" where i in 0:{size}"
    left = f"Y[i] = log(A[{inside}])*(B[i]+C[i+1]){clause}"
    right = f"Y[i] = log(A[{inside}])*B[i]+C[i+1]*log(A[{inside}]){clause}"
    verdict = ed.equivalent(left, right, A=(size,), B=(size,), C=(size,))
    assert verdict.kind == kind, verdict
    assert ("Y[0] has none" in str(verdict)) == (kind == "undecided")


OUTSIDE = (
    "log(A[i-1])",
    "rsqrt(A[i-1])",
    "log1p(A[i-1]-1)",
    "sqrt(A[i-1]-1)",
    "sqrt(A[i-1]-1/2)",
    "log(2*A[i-1]-A{fill=3}[i-1])",
)
INSIDE = (
    "log(A[i]*C[i])",
    "rsqrt(A[i])",
    "log1p(A[i-1]-1/2)",
    "sqrt(A[i])",
    "sqrt(A[i-1])",
    "log(A{fill=3}[i-1])",
    "log(A[i]-7)",
)
BESIDE = ("", "+maximum(B[i],A{fill=-inf}[i-1])", "+C[i]*A{fill=-inf}[i-1]")


@sampled(6)
@pytest.mark.parametrize("function", [*OUTSIDE, *INSIDE])
@pytest.mark.parametrize("more", BESIDE)
def test_a_function_outside_of_its_domain_has_no_value(function: str, more: str) -> None:
    """An infinity beside it changes nothing: formal sums, which count it as finite, do not help."""
    clause = " where i in 0:4"
    left = f"Y[i] = {function}*(B[i]+C[i]){more}{clause}"
    right = f"Y[i] = {function}*B[i]+C[i]*{function}{more}{clause}"
    verdict = ed.equivalent(left, right, A=(4,), B=(4,), C=(4,))
    if function in INSIDE:
        assert verdict.kind == ("proved" if more == BESIDE[2] else "evaluated"), verdict
    else:
        assert verdict.kind == "undecided", verdict
        assert "Y[0] has none on one side at least: a function" in str(verdict)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Y[i]=maximum(B[i],log(A[i-1]))", "Y[i]=B[i]+log(A[i-1])-minimum(B[i],log(A[i-1]))"),
        ("T[i]=log(A[i-1])+B[i]; Y[i]=T[i]-log(A[i-1])", "Y[i]=B[i]"),
        (
            "T[i]=sqrt(A[i-1]-1)*B[i] where i in 0:4; Y[i]=T[i]-sqrt(A[i-1]-1)*B[i]",
            "Y[i]=0*B[i]",
        ),
        (
            "Y[i]=maximum(maximum(B[i],A[i]),log(A[i-1]))",
            "Y[i]=maximum(B[i],maximum(A[i],log(A[i-1])))",
        ),
    ],
)
def test_what_cancels_or_is_not_chosen_has_no_value(left: str, right: str) -> None:
    clause = " where i in 0:4"
    verdict = ed.equivalent(left + clause, right + clause, A=(4,), B=(4,))
    assert verdict.kind == "undecided", verdict
    assert "Y[0] has none" in str(verdict)


def test_a_verdict_names_the_laws_that_it_used() -> None:
    laws = ["exp-sum", "silu", "sigmoid", "tanh"]
    same = ed.equivalent("Y[i] = A[i]", "Y[i] = 1*A[i]", A=(3,), laws=laws)
    assert str(same) == "identical: both are the same canonical expression"
    shown = ed.equivalent(
        "Y[i] = silu(A[i])", "Y[i] = A[i]*sigmoid(A[i])+0*A[i]", A=(3,), laws=laws
    )
    assert "silu(x)" in str(shown)
    assert "tanh" not in str(shown)
