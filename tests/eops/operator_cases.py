"""Operators' cases by hand: what is recognised, what is refused, and what is bound all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from einderive.ta.exact.fields import ComplexField, RealField
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.notation.parse import parse

Case = tuple[str, Mapping[str, Sequence[int]], Mapping[str, tuple[int, int]]]
SOFTMAX = "exp(X[a,b,c]-max[j](X[{m}]))/sum[j](exp(X[{j}]-max[i](X[{i}])))"
ATTENTION = (
    "S[b,i,j]=(1/8)*(Q[b,i,d]*K[b,j,d]); "
    "P[b,i,j]=exp(S[b,i,j]-max[l](S[b,i,l]))/sum[l](exp(S[b,i,l]-max[t](S[b,i,t]))); "
)
FOURIER = {"k": (1, 12), "n": (0, 8)}
QKV = {"Q": (2, 5, 3), "K": (2, 6, 3), "V": (2, 6, 4)}

RECOGNISED: dict[str, list[Case]] = {
    "view": [
        ("Y[i,j] = A[j,i]", {"A": (4, 5)}, {}),
        ("Y[i,r] = A[2*i+r]", {"A": (9,)}, {"i": (0, 3), "r": (0, 4)}),
        ("Y[i] = A[5-2*i,i]", {"A": (6, 3)}, {"i": (0, 3)}),
        ("Y[i,j] = A[i]", {"A": (4,)}, {"j": (2, 5)}),
    ],
    "pad_slice": [
        ("Y[i] = A[i-2]", {"A": (5,)}, {"i": (0, 11)}),
        ("Y[i,j] = A{fill=-inf}[j+1,2*i-1]", {"A": (4, 6)}, {"i": (0, 4), "j": (0, 4)}),
    ],
    "concat": [
        ("Y[b,i] = where(i < 3, A[b,i], B[i-3,b])", {"A": (2, 3), "B": (4, 2)}, {"i": (0, 7)}),
        (
            "Y[i] = where(i < 3, A[i], where(i >= 5, C[2*i-10], B[i-3]))",
            {"A": (3,), "B": (2,), "C": (7,)},
            {"i": (0, 9)},
        ),
        ("Y[i] = where(2*i <= 5, A[i], A[i-4])", {"A": (3,)}, {"i": (0, 7)}),
    ],
    "softmax": [
        (f"Y[a,b,c] = {SOFTMAX.format(m='a,b,j', j='a,b,j', i='a,b,i')}", {"X": (2, 3, 5)}, {}),
        (f"Y[a,b,c] = {SOFTMAX.format(m='a,j,c', j='a,j,c', i='a,i,c')}", {"X": (2, 3, 1)}, {}),
        ("Y[a,b] = exp(3*X[b,a])/sum[j](exp(3*X[j,a]))", {"X": (4, 5)}, {}),
        ("Y[a,b] = exp(X[b])/sum[j](exp(X[j]))", {"X": (4,)}, {"a": (0, 3)}),
        (
            "Y[a,b] = exp(where(b<=a, X[a,b], -5))/sum[j](exp(where(j<=a, X[a,j], -5)))",
            {"X": (4, 4)},
            {},
        ),
    ],
    "attention": [
        (ATTENTION + "O[b,i,e] = P[b,i,j]*V[b,j,e]", QKV, {}),
        (ATTENTION + "O[e,i,b] = P[b,i,j]*V[b,j,e]", QKV, {}),
        (
            "S[g,u,i,j]=Q[g,u,i,d]*K[j,g,d]; "
            "P[g,u,i,j]=exp(S[g,u,i,j])/sum[l](exp(S[g,u,i,l])); "
            "O[u,g,i,e] = P[g,u,i,j]*V[j,g,e]",
            {"Q": (2, 3, 4, 5), "K": (6, 2, 5), "V": (6, 2, 3)},
            {},
        ),
    ],
    "repaired": [
        ("Y[i,j] = sum[k]((A[i,k]-B[j,k])^2)", {"A": (4, 3), "B": (5, 3)}, {}),
        (
            "Y[b,j,i] = sum[k](2*W[k]^2*(3*A[i,b,k]-B[b,j,k]/2)^4)",
            {"A": (4, 2, 3), "B": (2, 5, 3), "W": (3,)},
            {},
        ),
        ("Y[i,l,j] = sum[k]((A[i,k]-B[j,k])*P[k,l])", {"A": (4, 3), "B": (5, 3), "P": (3, 2)}, {}),
        (
            "Y[i,j] = sum[k,l]((A[i,k]-B[j,k])*M[k,l]*(A[i,l]-B[j,l]))",
            {"A": (4, 3), "B": (5, 3), "M": (3, 3)},
            {},
        ),
        ("Y[i,j] = sum[k](-(A[k,i]-B[j])^2)", {"A": (3, 6), "B": (4,)}, {}),
        ("Y[k] = sum[i]((A[i,k]-M[k])^3*W[i]/7)", {"A": (8, 3), "M": (3,), "W": (8,)}, {}),
    ],
    "reduction": [
        ("Y[i] = sum[k](A[k,i])", {"A": (4, 3)}, {}),
        ("Y[i] = max[k,l](-2*A[k,i,l])", {"A": (4, 3, 5)}, {}),
        ("Y[i,j] = min[k](A[k,2,i]/3)", {"A": (4, 3, 5)}, {"j": (0, 2)}),
        ("Y[i] = prod[k,l](A[k,i,l])", {"A": (2, 3, 2)}, {}),
        ("Y[] = sum[k](A[k]/5)", {"A": (5,)}, {}),
    ],
    "gather": [
        ("Y[n,d] = E[I[n],d]", {"E": (6, 4), "I": (5,)}, {}),
        ("Y[d,c,n,m] = E[c,I[m,n],2*d]", {"E": (3, 6, 4), "I": (5, 2)}, {"d": (0, 2)}),
        ("Y[k,i] = E[I[i,k],k]", {"E": (6, 4), "I": (5, 4)}, {}),
        ("Y[n,d] = sum[v](where(v == I[n], E[v,d], 0))", {"E": (6, 4), "I": (5,)}, {"v": (2, 9)}),
        ("Y[n,a] = E[I[n]]", {"E": (6,), "I": (5,)}, {"a": (3, 4)}),
    ],
    "scatter": [
        ("Y[I[n],d] += A[n,d]", {"A": (7, 3), "I": (7,), "Y": (5, 3)}, {}),
        ("Y[d,b,I[b,n]] += A[n,b+1,d]", {"A": (7, 4, 3), "I": (3, 7), "Y": (3, 3, 5)}, {}),
        ("Y[c,I[n,m]] += A[m,c]", {"A": (7, 3), "I": (4, 7), "Y": (3, 5)}, {}),
        (
            "Y[v] = sum[n](where(I[n] == v, A[n+1], 0))",
            {"A": (7,), "I": (7,)},
            {"v": (-1, 4), "n": (1, 6)},
        ),
    ],
    "fft_real": [
        ("Y[k] = sum[n](A[n]*cos(2*pi*k*n/12))", {"A": (12,)}, {"k": (0, 12)}),
        ("Y[b,k] = sum[n](3*A[n,b]*cos(2*pi*k*n/9))", {"A": (9, 4)}, {"k": (-3, 14)}),
        ("Y[k,b,c] = sum[n](A[c,n-1,b]*cos(pi*k*n/4))", {"A": (3, 7, 2)}, FOURIER),
    ],
    "fft_imaginary": [
        ("Y[k] = sum[n](A[n]*sin(2*pi*k*n/12))", {"A": (12,)}, {"k": (0, 7)}),
        ("Y[k,b,c] = sum[n](-A[c,n,b]*sin(pi*k*n/4))", {"A": (3, 8, 2)}, FOURIER),
    ],
    "fft": [
        ("Y[k] = sum[n](A[n]*exp(-2*pi*1j*k*n/12))", {"A": (12,)}, {"k": (0, 12)}),
        ("Y[k,b] = sum[n](2*A[n-2,b]*exp(-pi*1j*k*n/4))", {"A": (5, 2)}, FOURIER),
    ],
    "ifft": [
        ("Y[k] = sum[n](A[n]*exp(2*pi*1j*k*n/12))", {"A": (12,)}, {"k": (0, 12)}),
        ("Y[k,b] = sum[n](A[b,n]*exp(pi*1j*k*n/4))", {"A": (3, 8)}, FOURIER),
    ],
    "bincount": [
        ("Y[I[n]] += 1", {"I": (9,), "Y": (5,)}, {}),
        ("Y[I[a,b,n],b] += 1", {"I": (2, 3, 9), "Y": (5, 3)}, {}),
        ("Y[v] = sum[n](v == I[n])", {"I": (9,)}, {"v": (-1, 3)}),
    ],
    "argmin": [
        ("Y[i] = argmin[k](A[i,k])", {"A": (4, 5)}, {}),
        ("Y[i,j] = argmin[k](A[j,k,i])", {"A": (4, 5, 2)}, {}),
        ("Y = argmin[k](A[k])", {"A": (5,)}, {}),
        ("Y[i,j] = argmin[k](A[k,j])", {"A": (5, 3)}, {"i": (0, 2)}),
        ("Y[i] = argmin[k](A[k,i])", {"A": (5, 7)}, {"i": (2, 6), "k": (0, 3)}),
    ],
    "argmax": [
        ("Y[i] = argmax[k](A[i,k])", {"A": (4, 5)}, {}),
        ("Y[j,i] = argmax[k](A[j,k,i])", {"A": (4, 5, 2)}, {}),
    ],
    "elementwise": [
        ("Y[i,j] = exp(A[i,j])*B[j]/2 - 3*A[i,j]", {"A": (3, 4), "B": (4,)}, {}),
        ("Y[i,j] = where(i <= j, A[j,i], 0)", {"A": (4, 3)}, {}),
        ("Y[i] = -A[i,1]", {"A": (3, 2)}, {}),
    ],
}

CONV = {"A": (2, 3, 9), "K": (4, 3, 3)}
# Near misses.
REFUSED: list[tuple[str, Case]] = [
    ("view", ("Y[i] = A[i+1]", {"A": (5,)}, {"i": (0, 5)})),
    ("view", ("Y[i] = A[i//2]", {"A": (3,)}, {"i": (0, 6)})),
    ("view", ("Y[i] = 2*A[i]", {"A": (3,)}, {})),
    ("pad_slice", ("Y[i] = A[i]", {"A": (3,)}, {})),
    ("concat", ("Y[i,j] = where(i < j, A[i,j], B[i,j])", {"A": (3, 3), "B": (3, 3)}, {})),
    ("concat", ("Y[i] = where(i < 2, 2*A[i], B[i])", {"A": (3,), "B": (3,)}, {})),
    ("softmax", ("Y[a,b] = exp(X[a,b])/sum[j](exp(X[a,j]+1))", {"X": (3, 4)}, {})),
    ("softmax", ("Y[a,b] = exp(X[a,b])/sum[j](exp(X[j,a]))", {"X": (4, 4)}, {})),
    ("softmax", ("Y[a,b] = exp(X[a,b])/max[j](exp(X[a,j]))", {"X": (3, 4)}, {})),
    (
        "softmax",
        ("Y[a,b] = exp(X[a,b]-max[j](X[a,j]))/sum[j](exp(X[a,j]))", {"X": (3, 4)}, {}),
    ),
    (
        "softmax",
        ("Y[a,b] = exp(X[a,b])/sum[j](exp(X[a,j]))", {"X": (3, 4)}, {"j": (0, 3), "b": (0, 4)}),
    ),
    (
        "attention",
        (ATTENTION + "O[b,i,e] = P[b,j,i]*V[b,j,e]", {**QKV, "K": (2, 5, 3), "V": (2, 5, 4)}, {}),
    ),
    ("attention", (ATTENTION + "O[b,i,e] = P[b,i,j+1]*V[b,j,e]", QKV, {})),
    (
        "attention",
        (ATTENTION + "O[b,i,e] = P[b,i,q]*V[b,q,e]", QKV, {"q": (0, 5)}),
    ),
    (
        "repaired",
        ("Y[i] = sum[k]((A[i+k]-B[k])^2)", {"A": (9,), "B": (3,)}, {"i": (0, 7)}),
    ),
    ("repaired", ("Y[i] = sum[k]((A[i,k]+B[k])^2)", {"A": (9, 3), "B": (3,)}, {})),
    ("repaired", ("Y[i] = sum[k]((A[i,k]-B[i,k])^2)", {"A": (9, 3), "B": (9, 3)}, {})),
    ("repaired", ("Y[i] = max[k]((A[i,k]-B[k])^2)", {"A": (9, 3), "B": (3,)}, {})),
    ("repaired", ("Y[i] = sum[k](A[i,k]-B[k])", {"A": (9, 3), "B": (3,)}, {})),
    ("reduction", ("Y[i] = sum[k](A[i+k])", {"A": (5,)}, {"i": (0, 3), "k": (0, 3)})),
    ("reduction", ("Y[] = sum[k](A[k,k])", {"A": (3, 3)}, {})),
    ("reduction", ("Y[] = sum[k](A[k]*B[k])", {"A": (3,), "B": (3,)}, {})),
    ("gather", ("Y[n] = E[I[n]+1]", {"E": (6,), "I": (5,)}, {})),
    ("gather", ("Y[n] = 2*E[I[n]]", {"E": (6,), "I": (5,)}, {})),
    ("gather", ("Y[n] = sum[v](where(I[n] == 2*v, E[v], 0))", {"E": (6,), "I": (5,)}, {})),
    ("gather", ("Y[n] = max[v](where(I[n] == v, E[v], -inf))", {"E": (6,), "I": (5,)}, {})),
    ("gather", ("Y[n,a] = E[I[n]]", {"E": (6,), "I": (5,)}, {"a": (0, 2)})),
    ("gather", ("Y[n] = E[I[n],I[n]]", {"E": (6, 6), "I": (5,)}, {})),
    ("scatter", ("Y[I[n]] += 2*A[n]", {"A": (5,), "I": (5,), "Y": (4,)}, {})),
    ("scatter", ("Y[I[n]] += A[n]^2", {"A": (5,), "I": (5,), "Y": (4,)}, {})),
    ("scatter", ("Y[i+j] += A[i,j]", {"A": (3, 2), "Y": (4,)}, {})),
    ("gather", ("Y[n] = sum[v](where((n == v) == 1, E[v], 0))", {"E": (6,)}, {"n": (0, 3)})),
    ("bincount", ("Y[i+j] += 1", {"Y": (4,)}, {"i": (0, 2), "j": (0, 3)})),
    ("scatter", ("Y[I[n],n] += A[n]", {"A": (5,), "I": (5,), "Y": (4, 5)}, {})),
    ("scatter", ("Y[v] = sum[n](where(I[n] == v, A[v], 0))", {"A": (4,), "I": (5,)}, {})),
    ("argmin", ("Y[i] = argmax[k](A[i,k])", {"A": (4, 5)}, {})),
    ("argmin", ("Y[i] = argmin[k](A[i,k])", {"A": (4, 5)}, {"k": (1, 5)})),
    ("argmin", ("Y[i] = argmin[k](A[i+k])", {"A": (6,)}, {"i": (0, 4), "k": (0, 3)})),
    ("argmin", ("Y[i] = argmin[k](A[i,k]^2)", {"A": (4, 5)}, {})),
    ("argmax", ("Y[i] = max[k](where(A[i,k] == max[j](A[i,j]), k, -1))", {"A": (4, 5)}, {})),
    (
        "argmax",
        ("Y[i] = min[k](where(A[i,k] == max[j](B[i,j]), k, 9))", {"A": (4, 5), "B": (4, 5)}, {}),
    ),
    ("bincount", ("Y[I[n]] += 2", {"I": (5,), "Y": (4,)}, {})),
    ("bincount", ("Y[v] = sum[n](I[n] <= v)", {"I": (5,)}, {"v": (0, 4)})),
    ("fft_real", ("Y[k] = sum[n](A[n]*cos(2*pi*k*n/11))", {"A": (12,)}, {"k": (0, 12)})),
    ("fft_real", ("Y[k] = sum[n](A[n]*cos(2*k*n/12))", {"A": (12,)}, {"k": (0, 12)})),
    ("fft_real", ("Y[k] = sum[n](A[n]*cos(2*pi*k*(n+1)/12))", {"A": (12,)}, {"k": (0, 12)})),
    ("fft_real", ("Y[k] = sum[n](A[n]*sin(2*pi*k*n/12))", {"A": (12,)}, {"k": (0, 12)})),
    ("fft_real", ("Y[k] = sum[n](A[n]^2*cos(2*pi*k*n/12))", {"A": (12,)}, {"k": (0, 12)})),
    ("fft_real", ("Y[k] = sum[n](A[n,k]*cos(2*pi*k*n/12))", {"A": (12, 12)}, {"k": (0, 12)})),
    (
        "fft_real",
        ("Y[k,j] = sum[n](A[n]*cos(2*pi*k*n/12))", {"A": (12,)}, {"k": (0, 9), "j": (0, 2)}),
    ),
    ("fft_real", ("Y[k] = max[n](A[n]*cos(2*pi*k*n/12))", {"A": (12,)}, {"k": (0, 12)})),
    ("fft_real", ("Y[k] = sum[n](A[n]*cos(pi*k*n/6))", {"A": (13,)}, {"k": (0, 9), "n": (1, 13)})),
    ("fft_imaginary", ("Y[k] = sum[n](A[n]*sin(-2*pi*k*n/12))", {"A": (12,)}, {"k": (0, 12)})),
    ("fft", ("Y[k] = sum[n](A[n]*exp(2*pi*1j*k*n/12))", {"A": (12,)}, {"k": (0, 12)})),
    ("fft", ("Y[k] = sum[n](A[n]*exp(-2*pi*k*n/12))", {"A": (12,)}, {"k": (0, 12)})),
    ("ifft", ("Y[k] = sum[n](A[n]*exp(-2*pi*1j*k*n/12))", {"A": (12,)}, {"k": (0, 12)})),
    ("elementwise", ("Y[i] = exp(A[i+1])", {"A": (3,)}, {"i": (0, 3)})),
    ("elementwise", ("Y[i] = exp(A[i,i])", {"A": (3, 3)}, {})),
    ("elementwise", ("Y[i] = A[i]", {"A": (3,)}, {})),
    ("matmul", ("Y[i,j] = A[i]*B[j]", {"A": (3,), "B": (4,)}, {})),
    ("matmul", ("Y[i,j] = A[i,k]*B[i,j,k]*C[k]", {"A": (3, 2), "B": (3, 4, 2), "C": (2,)}, {})),
    ("matmul", ("Y[i,j] = max[k](A[i,k]*B[k,j])", {"A": (3, 2), "B": (2, 4)}, {})),
    ("conv1d", ("Y[n,f,h] = A[n,c,r-h]*K[f,c,r]", CONV, {"h": (0, 3)})),
    ("conv1d", ("Y[n,f,h] = A[n,c,h]*K[f,c,r]", CONV, {})),
    ("conv2d", ("Y[n,f,h] = A[n,c,h+r]*K[f,c,r]", CONV, {"h": (0, 7)})),
    ("conv1d", ("Y[n,f,h] = max[c,r](A[n,c,h+r]*K[f,c,r])", CONV, {"h": (0, 7)})),
    ("conv_transpose1d", ("Y[n,f,h] = A[n,c,h+r]*K[f,c,r]", CONV, {"h": (0, 7)})),
    (
        "conv_transpose1d",
        ("Y[n,f,h] = A[n,c,i]*K[f,c,2*h-3*i]", {"A": (2, 3, 4), "K": (4, 3, 9)}, {"h": (0, 7)}),
    ),
    ("avg_pool1d", ("Y[h] = sum[r](A[h+2*r])", {"A": (9,)}, {"h": (0, 5), "r": (0, 3)})),
    ("avg_pool1d", ("Y[h] = max[r](A[h+r])", {"A": (9,)}, {"h": (0, 5), "r": (0, 3)})),
    ("max_pool1d", ("Y[h] = min[r](A[h+r])", {"A": (9,)}, {"h": (0, 5), "r": (0, 3)})),
    ("max_pool1d", ("Y[h] = max[r](-A[h+r])", {"A": (9,)}, {"h": (0, 5), "r": (0, 3)})),
]

# Bound, though the library's own parameters do not cover them as they stand.
UNUSUAL: list[tuple[str, Case]] = [
    ("conv1d", ("Y[n,f,h] = A[n,c,h+r-4]*K[f,c,r+1]", CONV, {"h": (0, 9), "r": (0, 3)})),
    ("conv1d", ("Y[n,f,h] = A{fill=2}[n,c,h+r-1]*K[f,c,r]", CONV, {"h": (0, 9)})),
    (
        "conv1d",
        ("Y[n,f,h] = A[n,c,h+r-1]*K{fill=1}[f,c,r+1]", CONV, {"h": (0, 9), "r": (0, 3)}),
    ),
    ("conv1d", ("Y[f,n,h,p] = A[n,c,4*(h+r-1)+p]*K[f,c,r]", CONV, {"h": (0, 4), "p": (0, 4)})),
    (
        "conv_transpose1d",
        (
            "Y[n,f,h] = A[n,c,i]*K{fill=1}[f,c,h+1-2*i]",
            {"A": (2, 3, 4), "K": (4, 3, 3)},
            {"h": (-2, 9)},
        ),
    ),
    (
        "conv_transpose1d",
        (
            "Y[n,f,h] = A[n,c,i]*K[f,c,h-1-4*i]",
            {"A": (2, 3, 2), "K": (4, 3, 2)},
            {"h": (-6, 15)},
        ),
    ),
    (
        "conv_transpose1d",
        ("Y[f,h] = A[l,c]*K[f,c,2*h-4*l+1]", {"A": (3, 4), "K": (5, 4, 1)}, {"h": (0, 3)}),
    ),
    (
        "conv_transpose2d",
        (
            "Y[f,h,w] = A[l,m]*K[3*h-9*l+13,f,3*w-3*m+1]",
            {"A": (2, 3), "K": (17, 2, 6)},
            {"h": (-1, 2), "w": (1, 3)},
        ),
    ),
    (
        "conv_transpose2d",
        (
            "Y[f,h,w] = A[l,m]*K{fill=2}[3*h-9*l+1,f,3*w-3*m+1]",
            {"A": (2, 3), "K": (1, 2, 6)},
            {"h": (-1, 2), "w": (1, 3)},
        ),
    ),
    (
        "conv_transpose2d",
        (
            "Y[f,h,w] = A[l,m]*K[3*h-9*l+1,f,3*w-3*m+1]",
            {"A": (2, 3), "K": (1, 2, 6)},
            {"h": (-1, 2), "w": (1, 3)},
        ),
    ),
    ("max_pool1d", ("Y[h] = max[r](A[h+r-1])", {"A": (5,)}, {"h": (0, 5), "r": (0, 3)})),
    (
        "max_pool1d",
        ("Y[h] = max[r](A{fill=-inf}[h+r-4])", {"A": (5,)}, {"h": (0, 13), "r": (0, 3)}),
    ),
    (
        "avg_pool1d",
        ("Y[h] = sum[r](A{fill=1}[h+r-1])", {"A": (5,)}, {"h": (0, 5), "r": (0, 3)}),
    ),
    ("avg_pool1d", ("Y[h] = sum[r](A[h-r+1])", {"A": (5,)}, {"h": (0, 5), "r": (0, 3)})),
    ("matmul", ("Y[i,j] = A[i,i+k]*A[j,k+1]", {"A": (4, 5)}, {"k": (0, 3)})),
    ("matmul", ("Y[i,j] = A[i,k]*A[j,k]", {"A": (4, 5)}, {})),
    ("matmul", ("Y[i] = A[i,k]*x[k]", {"A": (4, 5), "x": (5,)}, {})),
]


def scope_of(case: Case) -> Scope:
    text, shapes, ranges = case
    dtypes = {name: "int64" if name == "I" else "float64" for name in shapes}
    (root,) = parse(text, shapes, dtypes, ranges).roots()
    return root


def random_values(tensors: Sequence[Tensor], generator: np.random.Generator) -> dict[str, Any]:
    """Numbers for each tensor; those of whole numbers hold some around 0 to 5, as indices do."""
    return {
        t.name: generator.integers(-1, 7, t.shape)
        if t.dtype == "int64"
        else generator.standard_normal(t.shape)
        for t in tensors
    }


def field_of(scope: Scope) -> RealField:
    """The numbers in which the interpreter gives what the scope means."""
    return ComplexField() if may_be_complex(scope) else RealField()
