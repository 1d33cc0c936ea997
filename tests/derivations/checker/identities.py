"""Equalities of scopes, true and false, each for a condition in the checker that it depends on.

`A`, `B` have 9 entries, `T` 80, `U` 200, `C` and `D` 9 x 9, `K` 3.  A sum over `LONG` takes entries
of `U` so often that its terms are not written out one by one.
"""

from __future__ import annotations

SHAPES = {"A": (9,), "B": (9,), "C": (9, 9), "D": (9, 9), "K": (3,), "T": (80,), "U": (200,)}
LONG = "S[k:0:97,l:0:98]"


def _several(name: str, count: int) -> str:
    return " + ".join(f"{name}[{k}]" for k in range(count))


def _steps(text: str, count: int) -> str:
    return " + ".join(text.format(c=c) for c in range(1, count))


_ROWS_14 = _steps("{c}*T[{c}]", 15)
_ROWS_20 = _steps("{c}*T[{c}]", 21)
_MANY = f"({_several('T', 27)})*({_several('U', 19)})"


TRUE: dict[str, tuple[str, str]] = {
    # functions
    "exp of a multiple": ("{L[i:0:9] exp(4*A[i])}", "{L[i:0:9] exp(A[i])^4}"),
    "exp of 0": ("{L[i:0:9] exp(A[i] - {L[i:0:9] A[i]}[i])}", "{L[i:0:9] 1}"),
    "abs of a sum": ("{L[i:0:9] abs(2*B[i] - 2*A[i])}", "{L[i:0:9] 2*abs(A[i] - B[i])}"),
    "relu of a sum": ("{L[i:0:9] relu(6*B[i] - 3*A[i])}", "{L[i:0:9] 3*relu(2*B[i] - A[i])}"),
    "an exp before a sum that divides": (
        "{L[i:0:9] exp(A[i])/{L[i:0:9] S[k:0:9] exp(A[i] + C[i,k])}[i]}",
        "{L[i:0:9] 1/{L[i:0:9] S[k:0:9] exp(C[i,k])}[i]}",
    ),
    "an exp twice before a sum of two": (
        "{L[i:0:9] exp(A[i])^3/{L[i:0:9] exp(A[i])^2*(exp(C[i,0]) + 2*exp(B[i]))}[i]}",
        "{L[i:0:9] exp(A[i])/{L[i:0:9] exp(C[i,0]) + 2*exp(B[i])}[i]}",
    ),
    # functions of numbers, and choices with one value
    "comparison of numbers": (
        "{L[i:0:9] B[i]*(A[i] - {L[i:0:9] A[i]}[i] < 1)}", "{L[i:0:9] B[i]}",
    ),
    "comparison that no numbers satisfy": (
        "{L[i:0:9] B[i]*(3 + A[i] - {L[i:0:9] A[i]}[i] == 2)}", "{L[i:0:9] 0}",
    ),
    "a function of an infinity": (
        "{L[i:0:10] floor(A{fill=inf}[i-1])}",
        "{L[i:0:10] {L[i:0:9] floor(A[i])}{fill=inf}[i-1]}",
    ),
    "a function of an infinity that is no number": (
        "{L[i:0:10] remainder(A{fill=inf}[i-1], 2)}",
        "{L[i:0:10] remainder({L[i:0:10] A{fill=inf}[i-1]}[i], 2)}",
    ),
    "what is read leaves a choice of two": (
        "{S[i:0:9,j:0:9] where(A[i] < B[j], A[i]*B[j], exp(A[i])*C[i,j])}",
        "{S[i:0:9] (A[i]*{L[i:0:9] S[j:0:9] B[j]*(A[i] < B[j])}[i]"
        " + {L[i:0:9] S[j:0:9] C[i,j]*where(A[i] < B[j], 0, exp(A[i]))}[i])}",
    ),
    "unequal, renamed": (
        "{S[i:0:9,j:0:9] B[j]*(A[i] != A[j])}",
        "{S[i:0:9,j:0:9] {L[i:0:9,j:0:9] B[i]*(A[i] != A[j])}[i,j]}",
    ),
    "an iterator that is one number": (
        "{L[i:0:9] A[i]*{L[j:0:9] j*tanh(B[j])}[3]}", "{L[i:0:9] 3*A[i]*tanh(B[3])}",
    ),
    "equality of a vector and a matrix": (
        "{S[i:0:9,j:0:9,k:0:9] B[j]*(C[i,j] == A[k])}",
        "{S[i:0:9,k:0:9] {L[i:0:9,k:0:9] S[j:0:9] B[j]*(A[k] == C[i,j])}[i,k]}",
    ),
    "choice by a number": (
        "{L[i:0:9] where(A[i] + 2 - {L[i:0:9] A[i]}[i], exp(B[i]), A[i])}", "{L[i:0:9] exp(B[i])}",
    ),
    "choice by 0": (
        "{L[i:0:9] where(A[i] - {L[i:0:9] A[i]}[i], B[i], exp(A[i]))}", "{L[i:0:9] exp(A[i])}",
    ),
    "choice of one value": (
        "{L[i:0:9] where(A[i], (A[i] + B[i])^2, A[i]^2 + 2*A[i]*B[i] + B[i]^2)}",
        "{L[i:0:9] (A[i] + B[i])^2}",
    ),
    # prod
    "prod of a power": ("{prod[k:0:9] A[k]^2}", "{{prod[k:0:9] A[k]}[]^2}"),
    "prod of a power of a sum": (
        "{prod[k:0:3] {L[k:0:3] S[l:0:9] C[k,l]}[k]}",
        "{prod[k:0:3] {L[k:0:3] S[l:2:11] C[k,l-2]}[k]}",
    ),
    "prod of a factor": (
        "{prod[k:0:3] (2*A[k] + 2*B[k])}", "{8*{prod[k:0:3] (A[k] + B[k])}[]}",
    ),
    "prod of powers where": (
        "{prod[k:0:3] where(k < 2, A[k], 0)^2 * where(k < 2, B[k], 0)^2}",
        "{prod[k:0:3] where(k < 2, A[k]*B[k], 0)^2}",
    ),
    # where the order of operands does not matter, the names of iterators do not either
    "equal, renamed": (
        "{S[i:0:9,j:0:9] B[j]*(A[i] == A[j])}",
        "{S[i:0:9,j:0:9] {L[i:0:9,j:0:9] B[i]*(A[i] == A[j])}[i,j]}",
    ),
    "equal in a function, renamed": (
        "{{S[i:0:9,j:0:9] where(A[i], where(A[j], 0, (B[j] == B[i])/2 + (B[j] < B[i])), 0)}[]"
        "/{S[k:0:9] A[k] != 0}[]}",
        "{S[i:0:9,j:0:9] where(A[j], where(A[i], 0, (B[j] == B[i])/2 + (B[i] < B[j])), 0)"
        "/{S[k:0:9] A[k] != 0}[]}",
    ),
    "hypot of rows, renamed": (
        "{S[i:0:9,j:0:9,k:0:3] A[i]*B[j]*hypot(C[i,k], C[j,k])}",
        "{S[i:0:9,j:0:9,k:0:3] A[i]*{L[j:0:9,i:0:9,k:0:3] B[j]*hypot(C[i,k], C[j,k])}[j,i,k]}",
    ),
    "prod of many 1": ("{prod[k:0:80] exp(T[k] - {L[k:0:80] T[k]}[k])}", "{1}"),
    "prod of many factors 1": ("{prod[k:0:80] T[k]^2}", "{{prod[k:0:80] T[k]}[]^2}"),
    # leaves that are functions
    "written alike, for all that is shown": (
        f"{{L[i:0:3] tanh({{L[i:0:3] {LONG} U[i+k+l]}}[i])}}",
        f"{{L[i:0:3] tanh({{L[i:0:4] {LONG} U[i+k+l]}}[i])}}",
    ),
    "written alike in part": (
        f"{{L[i:0:3] tanh({{L[i:0:3] {LONG} U[i+k+l]}}[i] + {{L[i:0:3] S[k:0:9] C[i,k]}}[i])}}",
        f"{{L[i:0:3] tanh({{L[i:0:4] {LONG} U[i+k+l]}}[i]"
        " + {L[i:0:3] S[p:0:3,q:0:3] C[i,3*p+q]}[i])}",
    ),
    "functions of equal sums": (
        "{S[j:0:9] tanh({L[j:0:9] S[k:0:9] C[j,k]}[j])}",
        "{S[j:0:9] tanh({L[j:0:9] S[p:0:3,q:0:3] C[j,3*p+q]}[j])}",
    ),
    "functions of sums that are equal in the loops": (
        "{L[i:0:9] tanh({S[k:0:9] A[k]}[])}",
        "{L[i:0:9] tanh({L[i:0:9] S[k:0:9] where(2*k + i - 2*(i//2) >= 0, A[k], 0)}[i])}",
    ),
    "a function of terms that cancel": (
        "{L[i:0:9] tanh(A[i] + B[i] - {L[i:0:9] B[i]}[i])}", "{L[i:0:9] tanh(A[i])}",
    ),
    "a function where two places are one": (
        "{L[i:0:9] S[j:0:9] where(j == i, tanh(A[i] + 2*A[j]*A[j]), 0)}",
        "{L[i:0:9] tanh(A[i] + 2*{L[i:0:9] A[i]}[i]*A[i])}",
    ),
    "a function of 16 rows": (
        f"{{L[i:0:9] S[j:0:9] where(j == i, tanh({_ROWS_14} + T[i] + U[j]), 0)}}",
        f"{{L[i:0:9] tanh({_ROWS_14} + T[i] + U[i])}}",
    ),
    "a function of 20 rows": (
        f"{{L[i:0:9] tanh({_ROWS_20} + T[i])}}",
        f"{{L[i:0:9] tanh({{L[i:0:9] {_ROWS_20}}}[i] + T[i])}}",
    ),
    "a function of a sum over a quotient": (
        "{S[i:0:4] tanh({L[i:0:4] S[k:0:4] A[i+k//2]}[i])}",
        "{S[p:0:2,q:0:2] tanh({L[i:0:5] S[k:0:4] A[i+k//2]}[2*p+q])}",
    ),
    "a function within a sum, beside another": (
        "{L[i:0:9] tanh(2*A[i]) + {S[j:0:9] tanh(3*A[j])}[]}",
        "{L[i:0:9] tanh(2*A[i]) + {S[p:0:3,q:0:3] tanh(3*A[3*p+q])}[]}",
    ),
    "a function at a quotient": (
        "{L[i:0:9] S[j:0:5] where(j == i//2, tanh(A[j]), 0)}", "{L[i:0:9] tanh(A[i//2])}",
    ),
    "a function of sums that cancel": (
        "{L[i:0:9] tanh({S[k:0:9] A[k]}[] - {L[i:0:9] S[k:0:9] A[k]}[i])}", "{L[i:0:9] 0}",
    ),
    "a short sum that takes entries several times": (
        "{L[i:0:3] S[k:0:2,l:0:3] A[i+k+l]}", "{L[i:0:3] A[i] + 2*A[i+1] + 2*A[i+2] + A[i+3]}",
    ),
    "a function at one place": ("{S[j:0:9] where(j == 3, tanh(A[j]), 0)}", "{tanh(A[3])}"),
    "prod with several 0": (
        "{prod[k:0:9] where(k < 5, A[k], 0)}", "{prod[k:0:6] where(k < 5, A[k], 0)}",
    ),
    "prod with several -inf": (
        "{prod[k:0:9] (where(k < 5, A[k], 0) + where(k >= 5, -inf, 0))}",
        "{prod[k:0:9] (where(k < 5, A[4-k], 0) + where(k >= 5, -inf, 0))}",
    ),
    "max of what occurs twice": (
        "{maximum({max[k:0:9] A[k]}[], {max[k:0:3] A[k]}[])}", "{max[k:0:9] A[k]}",
    ),
    "a quotient by a sum": (
        "{L[i:0:9] B[i]/(A[i] + K[0])}", "{L[i:0:9] B[i]/{L[i:0:9] (A[i] + K[0])}[i]}",
    ),
    "a quotient by a product": (
        "{L[i:0:9] 1/{L[i:0:9] 2*A[i]*B[i]}[i]}", "{L[i:0:9] 1/2/A[i]/B[i]}",
    ),
    "a function of a sum over a part": (
        "{L[i:0:9] tanh({L[i:0:9] S[k:0:9] where(k >= i, A[k], 0)}[i])}",
        "{L[i:0:9] tanh({L[i:0:9] S[k:0:9] where(8 - k >= i, A[8-k], 0)}[i])}",
    ),
    "a function of a sum that reads outside": (
        "{L[i:0:9] tanh({L[i:0:9] S[k:0:9] A[i+k]}[i])}",
        "{L[i:0:9] tanh({L[i:0:9] S[k:0:9] A[i+8-k]}[i])}",
    ),
    "a function where": (
        "{L[i:0:9] tanh(where(i >= 5, A[i], 0))}", "{L[i:0:9] where(i >= 5, tanh(A[i]), 0)}",
    ),
    # max, min and prod of nested scopes
    "max of what does not depend on the iterator": (
        "{L[i:0:9] max[k:0:9] {L[i:0:9,k:0:9] A[i]}[i,k]}", "{L[i:0:9] A[i]}",
    ),
    "max of nested maxima": (
        "{max[k:0:9] {L[k:0:9] maximum(A[k], B[k])}[k]}",
        "{maximum({max[k:0:9] A[k]}[], {max[k:0:9] B[k]}[])}",
    ),
    "max of a nested multiple": (
        "{max[k:0:9] {L[k:0:9] -2*A[k]}[k]}", "{-2*{min[k:0:9] A[k]}[]}",
    ),
    "prod without 1": (
        "{prod[k:0:9] (where(k < 3, A[k], 0) + where(k >= 3, 1, 0))}", "{prod[k:0:3] A[k]}",
    ),
    "prod where": (
        "{prod[k:0:9] where(k < 3, A[k]*B[k], 1)}",
        "{{prod[k:0:3] A[k]}[]*{prod[k:0:3] B[k]}[]}",
    ),
    "prod of products of sums": (
        "{prod[k:0:3] (A[k] + B[k])*(A[k] + 2*C[k,0])}",
        "{{prod[k:0:3] (A[k] + B[k])}[]*{prod[k:0:3] (A[k] + 2*C[k,0])}[]}",
    ),
    "prod of a function of a multiple": (
        "{prod[k:0:3] abs(3*A[k])}", "{27*{prod[k:0:3] abs(A[k])}[]}",
    ),
    "prod of 64 equal factors": ("{prod[k:0:64] {L[k:0:64] A[0]}[k]}", "{A[0]^64}"),
    "prod with several inf": (
        "{prod[k:0:9] where(k < 5, A[k], inf)}", "{prod[k:0:6] where(k < 5, A[k], inf)}",
    ),
    # sums and products over nothing
    "a sum of nothing": ("{S[k:0:0] A[k]}", "{0}"),
    "a sum of nothing that the iterator takes part in": ("{S[k:0:0] (A[k] + B[0])}", "{0}"),
    "a product of nothing": ("{prod[k:0:0] A[k]}", "{1}"),
    # stages that are not looked into
    "a stage of many terms": (
        f"{{L[i:0:9] {{{_MANY}}}[]*(A[i] + B[i])}}",
        f"{{L[i:0:9] {{{_MANY}}}[]*A[i] + {{{_MANY}}}[]*B[i]}}",
    ),
    "a stage of many terms in a max": (
        f"{{L[i:0:9] A[i] + maximum({{L[i:0:9] ({_MANY})*A[i]}}[i], B[i])}}",
        f"{{L[i:0:9] {{L[i:0:9] A[i]}}[i] + maximum(B[i], {{L[i:0:9] ({_MANY})*A[i]}}[i])}}",
    ),
    # conditions
    "steps": (
        f"{{L[i:0:9] tanh({_steps('{c}*where(i >= {c}, A[i-{c}], 0)', 8)})}}",
        f"{{L[i:0:9] tanh({_steps('{c}*A[i-{c}]', 8)})}}",
    ),
    "96 terms of the same factors": (
        f"{{L[i:0:1] {_steps('T[i+{c}]', 49)}}}", f"{{L[i:0:1] {_steps('T[{c}]', 49)}}}",
    ),
    # infinities
    "a negative multiple of an infinity": (
        "{max[k:0:9] (-2*A{fill=inf}[k+2] - 2*B[k])}",
        "{-2*{min[k:0:9] (A{fill=inf}[k+2] + B[k])}[]}",
    ),
    "a multiple of a product with an infinity": (
        "{L[i:0:9] abs(-2*A{fill=inf}[i+2]*K[0] - 2*B[i])}",
        "{L[i:0:9] 2*abs(A{fill=inf}[i+2]*K[0] + B[i])}",
    ),
    "an infinity keeps its sign": (
        "{L[i:0:9] -2*A{fill=inf}[i+2]}", "{L[i:0:9] where(i < 7, -2*A[i+2], -inf)}",
    ),
    "a product of infinities": (
        "{L[i:0:9] A{fill=inf}[i+2]*B{fill=-inf}[i+2]}",
        "{L[i:0:9] where(i < 7, A[i+2]*B[i+2], -inf)}",
    ),
    "relu of an infinity": (
        "{L[i:0:9] relu(3*A{fill=-inf}[i+2])}", "{L[i:0:9] 3*relu(A{fill=-inf}[i+2])}",
    ),
    "relu of a positive infinity": (
        "{L[i:0:9] relu(A{fill=inf}[i+2])}", "{L[i:0:9] where(i < 7, relu(A[i+2]), inf)}",
    ),
    "relu of a negative infinity": (
        "{L[i:0:9] relu(A{fill=-inf}[i+2])}",
        "{L[i:0:9] where(i < 7, relu(A[i+2]), 0)}",
    ),
    "relu of two infinities": (
        "{L[i:0:9] relu(A{fill=inf}[i+2] + B{fill=inf}[i+2])}",
        "{L[i:0:9] where(i < 7, relu(A[i+2] + B[i+2]), inf)}",
    ),
    "abs of an infinity": (
        "{L[i:0:9] abs(A{fill=-inf}[i+2])}", "{L[i:0:9] where(i < 7, abs(A[i+2]), inf)}",
    ),
    "quotients by an infinity and by 0": (
        "{L[i:0:9] 1/{L[i:0:9] 3*A{fill=inf}[i+2]*where(i > 2, 1, 0)}[i]}",
        "{L[i:0:9] where(i > 2, where(i < 7, 1/3/A[i+2], 0), 1/A[i-3])}",
    ),
    "a sum where a factor is finite": (
        "{L[i:0:9] A{fill=inf}[i-2]*where(i >= 2, A[i] + B[i], B[i])}",
        "{L[i:0:9] where(i >= 2, A[i]*A[i-2] + B[i]*A[i-2], B[i]*inf)}",
    ),
    "several infinities": (
        "{relu({S[k:0:3] (where(k < 2, inf, 0) + inf)}[])}",
        "{relu({S[k:0:3] where(k < 2, inf, 0)}[] + inf)}",
    ),
}  # fmt: skip

FALSE: dict[str, tuple[str, str]] = {
    "less, of operands exchanged": ("{L[i:0:9] A[i] < B[i]}", "{L[i:0:9] B[i] < A[i]}"),
    "what is not 0 for its value": ("{L[i:0:9] A[i] != 0}", "{L[i:0:9] A[i]}"),
    "twice a comparison for its truth": (
        "{L[i:0:9] (2*(A[i] < B[i])) != 0}", "{L[i:0:9] 2*(A[i] < B[i])}",
    ),
    "two comparisons for their truth": (
        "{L[i:0:9] ((A[i] < B[i]) + (B[i] < C[i,0])) != 0}",
        "{L[i:0:9] (A[i] < B[i]) + (B[i] < C[i,0])}",
    ),
    "choice for its first value": (
        "{L[i:0:9] where(A[i] < B[i], B[i], C[i,0])}", "{L[i:0:9] B[i]}",
    ),
    "choice for its second value": (
        "{L[i:0:9] where(A[i] < B[i], B[i], C[i,0])}", "{L[i:0:9] C[i,0]}",
    ),
    "choice by 0 for its first value": (
        "{L[i:0:9] where(A[i] - {L[i:0:9] A[i]}[i], B[i], A[i])}", "{L[i:0:9] B[i]}",
    ),
    "choice by 2 for its second value": (
        "{L[i:0:9] where(A[i] + 2 - {L[i:0:9] A[i]}[i], B[i], A[i])}", "{L[i:0:9] A[i]}",
    ),
    "less, renamed": (
        "{S[i:0:9,j:0:9] B[j]*(A[i] < A[j])}",
        "{S[i:0:9,j:0:9] {L[i:0:9,j:0:9] B[i]*(A[i] < A[j])}[i,j]}",
    ),
    "hypot of other rows": (
        "{S[i:0:9,j:0:9,k:0:3] A[i]*B[j]*hypot(C[i,k], C[j,k])}",
        "{S[i:0:9,j:0:9,k:0:3] A[i]*{L[j:0:9,i:0:9,k:0:3] B[j]*hypot(C[i,k], C[i,j])}[j,i,k]}",
    ),
    "sign of a multiple": ("{L[i:0:9] sign(3*A[i])}", "{L[i:0:9] 3*sign(A[i])}"),
    "sign of an infinity": (
        "{L[i:0:9] sign(A{fill=inf}[i+2])}",
        "{L[i:0:9] where(i < 7, sign(A[i+2]), 0)}",
    ),
    "relu of a negative multiple": ("{L[i:0:9] relu(-3*A[i])}", "{L[i:0:9] 3*relu(A[i])}"),
    "a function that keeps no factor": ("{L[i:0:9] tanh(2*A[i])}", "{L[i:0:9] 2*tanh(A[i])}"),
    "exp of a half": ("{L[i:0:9] exp(A[i]/2)}", "{L[i:0:9] 1}"),
    "exp of three halves": ("{L[i:0:9] exp(3/2*A[i])}", "{L[i:0:9] exp(A[i])}"),
    "an exp before one of two terms": (
        "{L[i:0:9] exp(A[i])/{L[i:0:9] exp(A[i]) + B[i]}[i]}", "{L[i:0:9] 1/(1 + B[i])}",
    ),
    "an exp of what is summed": (
        "{L[i:0:9] exp(A[0])/{L[i:0:9] S[k:0:9] exp(A[k] + C[i,k])}[i]}",
        "{L[i:0:9] 1/{L[i:0:9] S[k:0:9] exp(C[i,k])}[i]}",
    ),
    "an exp more often than before the sum": (
        "{L[i:0:9] exp(A[i])^2/{L[i:0:9] S[k:0:9] exp(A[i] + C[i,k])}[i]}",
        "{L[i:0:9] 1/{L[i:0:9] S[k:0:9] exp(C[i,k])}[i]}",
    ),
    "prod of conditions": ("{prod[k:0:3] where(k < 2, 1, 0)^2}", "{1}"),
    "prod of a factor, once": (
        "{prod[k:0:3] (2*A[k] + 2*B[k])}", "{2*{prod[k:0:3] (A[k] + B[k])}[]}",
    ),
    "prod of a function of a multiple": (
        "{prod[k:0:3] abs(3*A[k])}", "{prod[k:0:3] abs(A[k])}",
    ),
    # leaves that are functions
    "functions of multiples": ("{L[i:0:9] tanh(2*A[i])}", "{L[i:0:9] tanh(A[i])}"),
    "prod of a function of 0": (
        "{prod[k:0:9] where(k < 5, A[k], sigmoid(0))}",
        "{prod[k:0:8] where(k < 5, A[k], sigmoid(0))}",
    ),
    "prod of a sum": (
        "{prod[k:0:9] where(k < 5, A[k], A[0] + B[0])}",
        "{prod[k:0:8] where(k < 5, A[k], A[0] + B[0])}",
    ),
    "functions of which nothing is shown": (
        f"{{L[i:0:3] tanh({{L[i:0:3] {LONG} U[i+k+l]}}[i])}}",
        f"{{L[i:0:3] tanh({{L[i:0:3] {LONG} U[i+k+l+1]}}[i])}}",
    ),
    "functions of other ranges of which nothing is shown": (
        f"{{L[i:0:3] tanh({{L[i:0:3] {LONG} U[i+k+l]}}[i])}}",
        f"{{L[i:0:3] tanh({{L[i:0:3] {LONG.replace('98', '99')} U[i+k+l]}}[i])}}",
    ),
    "a function at another place": (
        "{L[i:0:3] tanh({L[i:0:3] S[k:0:3] A[i+k]}[i])}", "{L[i:0:3] tanh({S[k:0:3] A[k]}[])}",
    ),
    "a function at a quotient of another iterator": (
        "{L[i:0:6,j:0:6] tanh({L[i:0:6] S[k:0:3] A[(i+k)//2]}[i])}",
        "{L[i:0:6,j:0:6] tanh({L[j:0:6] S[k:0:3] A[(j+k)//2]}[j])}",
    ),
    "a function at another quotient": (
        "{L[i:0:6] tanh({L[i:0:6] S[k:0:3] A[i//2+k]}[i])}", "{L[i:0:6] tanh({S[k:0:3] A[k]}[])}",
    ),
    # infinities
    "relu of a negative infinity": (
        "{L[i:0:9] relu(A{fill=-inf}[i+2])}", "{L[i:0:9] where(i < 7, relu(A[i+2]), inf)}",
    ),
    "relu of a positive infinity": (
        "{L[i:0:9] relu(A{fill=inf}[i+2])}", "{L[i:0:9] relu(A[i+2])}",
    ),
    "the other infinity": ("{max[k:0:9] A{fill=inf}[k+2]}", "{max[k:0:9] A{fill=-inf}[k+2]}"),
    "an infinity turned round": (
        "{L[i:0:9] -2*A{fill=inf}[i+2]}", "{L[i:0:9] where(i < 7, -2*A[i+2], inf)}",
    ),
    "a product of infinities turned round": (
        "{L[i:0:9] A{fill=inf}[i+2]*B{fill=-inf}[i+2]}",
        "{L[i:0:9] where(i < 7, A[i+2]*B[i+2], inf)}",
    ),
    "a product of two negative infinities": (
        "{L[i:0:9] A{fill=-inf}[i+2]*B{fill=-inf}[i+2]}",
        "{L[i:0:9] where(i < 7, A[i+2]*B[i+2], -inf)}",
    ),
    # conditions
    "what is above a number": (
        "{L[i:0:9] where(i == 3, A[i], B[i])}",
        "{L[i:0:9] where(i == 3, A[i], where(i < 3, B[i], 0))}",
    ),
    "what is above 0": (
        "{L[i:0:9] where(i == 0, A[i], B[i])}", "{L[i:0:9] A[i] + where(i >= 1, B[i], 0)}",
    ),
    "what is 1": (
        "{L[i:0:2] where(i == 0, A[i], B[i])}", "{L[i:0:2] A[i] + where(i >= 1, B[i], 0)}",
    ),
    # products of the same entries
    "the other way round": ("{L[i:0:9,j:0:9] C[i,j]}", "{L[i:0:9,j:0:9] C[j,i]}"),
    "one factor the other way round": (
        "{S[k:0:9,l:0:9] C[k,l]*D[k,l]}", "{S[k:0:9,l:0:9] C[k,l]*D[l,k]}",
    ),
    "max of a part of a part": (
        "{maximum({max[k:0:3] A[k]}[], {max[k:5:9] A[k]}[])}", "{max[k:5:9] A[k]}",
    ),
    "max of another part": (
        "{maximum({max[k:0:3] A[k]}[], {max[k:5:9] A[k]}[])}", "{max[k:0:3] A[k]}",
    ),
    "a function of a sum over more": (
        "{L[i:0:9] tanh({L[i:0:9] S[k:0:9] where(k >= i, A[k], 0)}[i])}",
        "{L[i:0:9] tanh({S[k:0:9] A[k]}[])}",
    ),
    "max of a product": ("{max[k:0:9] A[k]*B[k]}", "{max[k:0:9] A[k]*T[k]}"),
    "max of a function": ("{max[k:0:9] tanh(A[k])}", "{max[k:0:9] A[k]}"),
    "min of a maximum": (
        "{min[k:0:9] maximum(A[k], B[k])}",
        "{minimum({min[k:0:9] A[k]}[], {min[k:0:9] B[k]}[])}",
    ),
    "max of nested sums": (
        "{max[k:0:3] {L[k:0:3] S[l:0:9] C[k,l]}[k]}", "{max[k:0:3,l:0:9] C[k,l]}",
    ),
    "max without a fill": ("{max[k:0:9] {L[j:0:4] A[j]}{fill=inf}[k]}", "{max[k:0:4] A[k]}"),
    "prod of a sum, twice": (
        "{prod[k:0:2] {L[k:0:2] S[l:0:9] B[l]}[k]}", "{S[l:0:9] B[l]^2}",
    ),
    "prod of what is only there where a condition holds": (
        "{L[i:0:9] prod[k:0:3] where(i < 5, B[i], C[i,k])}",
        "{L[i:0:9] B[i]^3*{L[i:0:9] prod[k:0:3] where(i < 5, 1, C[i,k])}[i]}",
    ),
    "max of nothing, or of a fill": (
        "{L[i:0:9] maximum({L[i:0:9] max[m:0:0] A[i]}[i], {L[j:0:3] max[m:0:0] A[j]}{fill=5}[i])}",
        "{L[i:0:9] 5}",
    ),
    "a sum of nothing": ("{S[k:0:0] (A[k] + inf)}", "{inf}"),
    "max of nothing": ("{L[i:0:9] max[k:0:0] A[i]}", "{L[i:0:9] A[i]}"),
}  # fmt: skip

BEYOND: dict[str, tuple[str, str]] = {
    # where the product or the quotient has no value, the choice may have one
    "what may be infinite leaves a choice": (
        "{L[i:0:9] where(A[i] < B[i], {L[i:0:9] A{fill=inf}[i-1]}[i], 0)}",
        "{L[i:0:9] (A[i] < B[i])*{L[i:0:9] A{fill=inf}[i-1]}[i]}",
    ),
    "a quotient leaves a choice": (
        "{L[i:0:9] where(A[i] < B[i], 1/relu(B[i] - A[i]), 0)}",
        "{L[i:0:9] (A[i] < B[i])/relu(B[i] - A[i])}",
    ),
    "tanh before a sum that divides": (
        "{L[i:0:9] tanh(A[i])/{L[i:0:9] tanh(A[i])*(B[i] + exp(B[i]))}[i]}",
        "{L[i:0:9] 1/{L[i:0:9] B[i] + exp(B[i])}[i]}",
    ),
    "a function of terms in another order": (
        f"{{L[i:0:9] tanh({_steps('where(i >= {c}, A[i-{c}], 0)', 8)})}}",
        f"{{L[i:0:9] tanh({_steps('A[i-{c}]', 8)})}}",
    ),
    "a function of 17 rows": (
        f"{{L[i:0:9] S[j:0:9] where(j == i, tanh({_ROWS_14} + 30*T[40] + T[i] + U[j]), 0)}}",
        f"{{L[i:0:9] tanh({_ROWS_14} + 30*T[40] + T[i] + U[i])}}",
    ),
    "exp of a large multiple": ("{L[i:0:9] exp(5*A[i])}", "{L[i:0:9] exp(A[i])^5}"),
    "97 terms of the same factors": (
        f"{{L[i:0:1] {_steps('T[i+{c}]', 48)} + T[i] + T[2*i]}}",
        f"{{L[i:0:1] {_steps('T[{c}]', 48)} + 2*T[0]}}",
    ),
    "prod of 65 equal factors": ("{prod[k:0:65] {L[k:0:65] A[0]}[k]}", "{A[0]^65}"),
    "a long sum in another order": (
        "{S[k:0:97,l:0:98] U[k+l]}",
        "{S[k:0:97,l:1:99] U[k+l-1]}",
    ),
    "a product of 27 and 19 terms": (
        f"{{({_several('T', 27)})*({_several('U', 19)})}}",
        f"{{({_several('T', 27)})*{{{_several('U', 19)}}}[]}}",
    ),
}
"""True, and beyond a limit of the checker: not shown."""
