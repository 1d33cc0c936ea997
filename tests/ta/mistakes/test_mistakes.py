"""What people write first: each mistake gets its hint, and the proposed line is read and computes
what NumPy's line does."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einderive.ta.errors import TextError
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.program import Program
from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.repair import MISTAKES
from einderive.ta.notation.parse import parse
from einderive.ta.syntax.layout import joined
from tests.amount import examples, sampled

rng = np.random.default_rng(3)
DATA = {
    "A": rng.uniform(0.5, 2, (3, 4)),
    "B": rng.uniform(0.5, 2, (4, 5)),
    "C": rng.uniform(0.5, 2, (3, 4)),
    "G": rng.uniform(-2, 2, (2, 3, 4)),
    "x": rng.uniform(0.5, 2, (3,)),
    "y": rng.uniform(0.5, 2, (4,)),
    "v": rng.uniform(0.5, 2, (12,)),
    "K": rng.uniform(0.5, 2, (3,)),
    "M": rng.uniform(0.5, 2, (3, 3)),
    "sort_of_v": np.zeros(12),
    "median_of_v": np.zeros(()),
    "inv_of_M": np.zeros((3, 3)),
}
A, B, C, G, x, y, v, K, M = (DATA[name] for name in "ABCGxyvKM")
tri = np.tri(3)

Row = tuple[str, str, str, Callable[[], Any]]
REDUCERS: list[Row] = [
    ("m = sum(A)", "over which iterators", "m = sum[i,j](A[i,j])", lambda: A.sum()),
    ("Y[i] = sum(A)", "over which", "Y[i] = sum[j](A[i,j])", lambda: A.sum(1)),
    ("Y[i] = sum(A, axis=1)", "over which", "Y[i] = sum[j](A[i,j])", lambda: A.sum(1)),
    ("Y = max(A, axis=0)", "over which", "Y[i] = max[j](A[j,i])", lambda: A.max(0)),
    ("Y = A.sum(axis=0)", "whole arrays", "Y[i] = sum[j](A[j,i])", lambda: A.sum(0)),
    ("Y[i] = sum(A[i,k])", "over which", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("Y[i] = sum(A[i,k], k)", "over which", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("Y[i] = min(k, A[i,k])", "over which", "Y[i] = min[k](A[i,k])", lambda: A.min(1)),
    ("m = mean(A)", "over which", "m = mean[i,j](A[i,j])", lambda: A.mean()),
    ("m = mean(x[i])", "over which", "m = mean[i](x[i])", lambda: x.mean()),
    ("Y[i,j] = softmax(A, axis=1)", "over which", "Y[i,j] = softmax[j](A[i,j])",
     lambda: np.exp(A) / np.exp(A).sum(1, keepdims=True)),
    ("Y[i] = sum_k A[i,k]*y[k]", "how a reducer", "Y[i] = sum[k](A[i,k]*y[k])", lambda: A @ y),
    ("Y[i] = sum_k(A[i,k]*y[k])", "how a reducer", "Y[i] = sum[k](A[i,k]*y[k])", lambda: A @ y),
    ("Y[i] = sum_{k}(A[i,k])", "how a reducer", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("Y[i] = max_k(A[i,k])", "how a reducer", "Y[i] = max[k](A[i,k])", lambda: A.max(1)),
    ("Y[i] = sum[k] A[i,k]", "how a reducer", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("Y[i] = sum[k:0:2](A[i,k])", "without their ranges",
     "Y[i] = sum[k](A[i,k]) where k in 0:2", lambda: A[:, :2].sum(1)),
    ("m = sum(x[i] for i in range(2))", "over which", "m = sum[i](x[i]) where i in 0:2",
     lambda: x[:2].sum()),
    ("Y = cumsum(x)", "no running", "Y[i] = sum[j](where(j <= i, x[j], 0))",
     lambda: np.cumsum(x)),
    ("Y[i] = cumsum[k](x[k])", "no running",
     "Y[i] = sum[k](where(k <= i, x[k], 0))", lambda: np.cumsum(x)),
    ("Y[i] = cumprod(x)", "no running",
     "Y[i] = prod[j](where(j <= i, x[j], 1))", lambda: np.cumprod(x)),
    ("Y = sort(v)", "not part of the notation", "Y[i] = sort_of_v[i]", lambda: np.zeros(12)),
    ("Y[i,k] = exp(A[i,k])/sum(exp(A[i,k]))", "over which", "Y[i,k] = softmax[k](A[i,k])",
     lambda: np.exp(A) / np.exp(A).sum(1, keepdims=True)),
    ("Y[i] = softmax(A[i,k])", "over which", "Y[i,k] = softmax[k](A[i,k])",
     lambda: np.exp(A) / np.exp(A).sum(1, keepdims=True)),
    ("Y = argmax(A)", "over which", "Y[i] = argmax[j](A[i,j])", lambda: A.argmax(1)),
    ("Y[i] = sum(A[i,k], axis=1)", "over which", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("Y[i] = max(x[i])", "over which", "Y = max[i](x[i])", lambda: x.max()),
    ("Y[i] = x[i]/sum(x[i])", "over which", "Y[i] = x[i]/sum[j](x[j])", lambda: x / x.sum()),
    ("Y[i] = sum(A[i,:])", "whole arrays", "Y[i] = sum[j](A[i,j])", lambda: A.sum(1)),
    ("Y[k] = sum[k](A[i,k])", "already bound", "Y[k] = sum[i](A[i,k])", lambda: A.sum(0)),
    ("Y[i] = sum[i](A[i,k])", "already bound", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("Y[i] = x[i]*sum[i](x[i])", "already bound", "Y[i] = x[i]*sum[j](x[j])", lambda: x * x.sum()),
    ("Y[i] = sum[k < i](A[i,k])", "is a condition", "Y[i] = sum[k](where(k < i, A[i,k], 0))",
     lambda: np.tril(A, -1).sum(1)),
    ("Y[i] = max[k != i](A[i,k])", "is a condition",
     "Y[i] = max[k](where(k != i, A[i,k], -inf))",
     lambda: np.where(np.eye(3, 4) == 1, -np.inf, A).max(1)),
    ("Y[i] = sum[k](A[i,k]) where k != i", "is a condition",
     "Y[i] = sum[k](where(k != i, A[i,k], 0))", lambda: (A * (1 - np.eye(3, 4))).sum(1)),
    ("Y[i] = 2*sum[k](A[i,k]) + x[i] where k != i", "is a condition",
     "Y[i] = 2*sum[k](where(k != i, A[i,k], 0)) + x[i]",
     lambda: 2 * (A * (1 - np.eye(3, 4))).sum(1) + x),
    ("Y[i] = A[i,k]*y[k] where k > i, i in 0:2", "is a condition",
     "Y[i] = sum[k](where(k > i, A[i,k]*y[k], 0)) where i in 0:2", lambda: np.triu(A, 1)[:2] @ y),
    ("Y = trace(M)", "is of whole arrays", "Y = sum[i](M[i,i])", lambda: np.trace(M)),
    ("Y = diag(M)", "is of whole arrays", "Y[i] = M[i,i]", lambda: np.diag(M)),
    ("Y = transpose(A)", "is of whole arrays", "Y[i,j] = A[j,i]", lambda: A.T),
    ("m = median(v)", "not part of the notation", "m = median_of_v", lambda: 0),
    ("m = var(A, ddof=1)", "over which", "m = var[i,j](A[i,j], ddof=1)", lambda: A.var(ddof=1)),
    ("Y = np.std(A, axis=1, ddof=1)", "whole arrays", "Y[i] = std[j](A[i,j], ddof=1)",
     lambda: A.std(1, ddof=1)),
    ("Y[i] = var(A[i,k], correction=1)", "over which", "Y[i] = var[k](A[i,k], ddof=1)",
     lambda: A.var(1, ddof=1)),
    ("Y = np.linalg.inv(M)", "belongs to Python", "Y[i,j] = inv_of_M[i,j]",
     lambda: np.zeros((3, 3))),
    ("Y = inv(M)", "not part of the notation", "Y[i,j] = inv_of_M[i,j]", lambda: np.zeros((3, 3))),
    ("m = linalg.norm(x)", "whole arrays", "m = norm[i](x[i])", lambda: np.linalg.norm(x)),
    ("Y[i] = sum(k)(A[i,k])", "square brackets", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("Y[i] = sum[k]{A[i,k]}", "square brackets", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("Y[i] = average[k](A[i,k])", "another name", "Y[i] = mean[k](A[i,k])", lambda: A.mean(1)),
    ("Y[i] = avg[k](A[i,k])", "another name", "Y[i] = mean[k](A[i,k])", lambda: A.mean(1)),
    ("Y[i] = softmax[k](A[i,k])", "not on the left", "Y[i,k] = softmax[k](A[i,k])",
     lambda: np.exp(A) / np.exp(A).sum(1, keepdims=True)),
    ("m = norm(x, 1)", "whole arrays", "m = sum[i](abs(x[i]))", lambda: abs(x).sum()),
    ("m = np.linalg.norm(x, 2)", "belongs", "m = norm[i](x[i])", lambda: np.linalg.norm(x)),
    ("Y = max(x, 1)", "0 indices", "Y[i] = max(x[i], 1)", lambda: np.maximum(x, 1)),
    ("Y = A.max(1)", "whole arrays", "Y[i] = max[j](A[i,j])", lambda: A.max(1)),
    ("Y = np.max(A, 1)", "whole arrays", "Y[i] = max[j](A[i,j])", lambda: A.max(1)),
    ("m = median[i](v[i])", "not part of the notation", "m = median_of_v", lambda: 0),
]  # fmt: skip
PRODUCTS: list[Row] = [
    ("Y = A' * C", "transpose of", "Y[i,j] = A[k,i]*C[k,j]", lambda: A.T @ C),
    ("Y = A * C'", "transpose of", "Y[i,j] = A[i,k]*C[j,k]", lambda: A @ C.T),
    ("Y = A^T C", "transpose of", "Y[i,j] = A[k,i]*C[k,j]", lambda: A.T @ C),
    ("Y = A^{T}*C", "transpose of", "Y[i,j] = A[k,i]*C[k,j]", lambda: A.T @ C),
    ("m = x^T M x", "transpose of", "m = x[i]*M[i,j]*x[j]", lambda: x @ M @ x),
    ("Y = A'", "transpose of", "Y[i,j] = A[j,i]", lambda: A.T),
    ("Y = Aᵀ", "transpose of", "Y[i,j] = A[j,i]", lambda: A.T),
    ("Y = A' .* C'", "transpose of", "Y[i,j] = A[j,i] * C[j,i]", lambda: A.T * C.T),
    ("Y = x ⊗ y", "outer product", "Y[i,j] = x[i]*y[j]", lambda: np.outer(x, y)),
    ("Y[i,j] = x[i] ⊗ y[j]", "with `*`", "Y[i,j] = x[i]*y[j]", lambda: np.outer(x, y)),
    ("Y = A ∘ C", "with `*`", "Y[i,j] = A[i,j]*C[i,j]", lambda: A * C),
    ("Y[i] = x[i] ./ K[i]", "on elements", "Y[i] = x[i] / K[i]", lambda: x / K),
    ("Y = A @ B", "matrix product", "Y[i,j] = A[i,k]*B[k,j]", lambda: A @ B),
    ("Y[p,q] = A @ B", "matrix product", "Y[p,q] = A[p,i]*B[i,q]", lambda: A @ B),
    ("Y = A @ y", "matrix product", "Y[i] = A[i,j]*y[j]", lambda: A @ y),
    ("Y = x @ A @ B", "matrix product", "Y[i] = x[j]*A[j,k]*B[k,i]", lambda: x @ A @ B),
    ("Y = A @ C.T", "matrix product", "Y[i,j] = A[i,k]*C[j,k]", lambda: A @ C.T),
    ("Y = A.T @ C", "matrix product", "Y[i,j] = A[k,i]*C[k,j]", lambda: A.T @ C),
    ("Y = G @ B", "matrix product", "Y[...,i,j] = G[...,i,k]*B[k,j]", lambda: G @ B),
    ("m = x @ x", "matrix product", "m = x[i]*x[i]", lambda: x @ x),
    ("Y[i,j] = A[i,k] @ B[k,j]", "`@`", "Y[i,j] = A[i,k]*B[k,j]", lambda: A @ B),
    ("Y = np.matmul(A, B)", "is of whole arrays", "Y[i,j] = A[i,k]*B[k,j]", lambda: A @ B),
    ("Y = outer(x, y)", "is of whole arrays", "Y[i,j] = x[i]*y[j]", lambda: np.outer(x, y)),
    ("ij,jk->ik", "string for einsum", "Y[i,k] = A[i,j]*B[j,k]", lambda: A @ B),
    ("Y = einsum('ij,j->i', A, y)", "einsum", "Y[i] = A[i,j]*y[j]", lambda: A @ y),
    ('Y[i,k] = np.einsum("ij,jk", A, B)', "einsum", "Y[i,k] = A[i,j]*B[j,k]", lambda: A @ B),
    ("Y[i] = 2x[i]", "found `x`", "Y[i] = 2*x[i]", lambda: 2 * x),
    ("Y[i] = A[i,k] y[k]", "found `y`", "Y[i] = A[i,k]*y[k]", lambda: A @ y),
    ("Y[i] = 2(x[i] + 1)", "found `(`", "Y[i] = 2*(x[i] + 1)", lambda: 2 * (x + 1)),
    ("Y[i] = relu(A[i,k]*y[k] + x[i])", "occurs only inside relu",
     "Y[i] = relu(sum[k](A[i,k]*y[k]) + x[i])", lambda: np.maximum(A @ y + x, 0)),
    ("Y[i] = tanh(x[i] - A[i,k]*y[k])/2", "occurs only inside tanh",
     "Y[i] = tanh(x[i] - sum[k](A[i,k]*y[k]))/2", lambda: np.tanh(x - A @ y) / 2),
    ("Y[i] = exp(A[i,k])", "occurs only inside exp", "Y[i] = sum[k](exp(A[i,k]))",
     lambda: np.exp(A).sum(1)),
    ("Y[i] = sqrt(abs(A[i,k]))", "occurs only inside", "Y[i] = sum[k](sqrt(abs(A[i,k])))",
     lambda: np.sqrt(abs(A)).sum(1)),
    ("Y[i] = x[i]/y[k]", "occurs only in a denominator", "Y[i] = x[i]/sum[k](y[k])",
     lambda: x / y.sum()),
]  # fmt: skip
ARRAYS: list[Row] = [
    ("Y[i,j] = A[i][j]", "one pair of brackets", "Y[i,j] = A[i,j]", lambda: A),
    ("Y[i][j] = A[i,j]", "one pair of brackets", "Y[i,j] = A[i,j]", lambda: A),
    ("Y = A[:,0]", "a slice", "Y[i] = A[i,0]", lambda: A[:, 0]),
    ("Y[p] = A[:,p]", "a slice", "Y[p,i] = A[i,p]", lambda: A.T),
    ("Y = v[1:] - v[:-1]", "a slice", "Y[i] = v[i+1] - v[i] where i in 0:11", lambda: np.diff(v)),
    ("Y[i] = v[2:8:3]", "a slice", "Y[i] = v[3*i+2] where i in 0:2", lambda: v[2:8:3]),
    ("Y[i] = v[::-1]", "a slice", "Y[i] = v[11-i] where i in 0:12", lambda: v[::-1]),
    ("Y[:] = x[:]", "a slice", "Y[i] = x[i]", lambda: x),
    ("Y = A[1:,:2]", "a slice", "Y[i,j] = A[i+1,j] where i in 0:2, j in 0:2", lambda: A[1:, :2]),
    ("Y[i,j] = A.T", "transpose", "Y[i,j] = A[j,i]", lambda: A.T),
    ("Y[p,q] = A.T[p,q]", "transpose", "Y[p,q] = A[q,p]", lambda: A.T),
    ("Y[i] = np.exp(x[i])", "belongs to Python", "Y[i] = exp(x[i])", lambda: np.exp(x)),
    ("Y = torch.exp(x)", "whole arrays", "Y[i] = exp(x[i])", lambda: np.exp(x)),
    ("Y = np.sum(A)", "whole arrays", "Y = sum[i,j](A[i,j])", lambda: A.sum()),
    ("Y = torch.nn.functional.relu(x)", "whole arrays", "Y[i] = relu(x[i])", lambda: x),
    ("Y = x.exp()", "whole arrays", "Y[i] = exp(x[i])", lambda: np.exp(x)),
    ("Y = A + C", "0 indices", "Y[i,j] = A[i,j] + C[i,j]", lambda: A + C),
    ("Y = A + y", "0 indices", "Y[i,j] = A[i,j] + y[j]", lambda: A + y),
    ("Y[i,j] = A*C", "0 indices", "Y[i,j] = A[i,j]*C[i,j]", lambda: A * C),
    ("Y[i] = A(i,k)*y(k)", "square brackets", "Y[i] = A[i,k]*y[k]", lambda: A @ y),
    ("Y[i] = exp[x[i]]", "round brackets", "Y[i] = exp(x[i])", lambda: np.exp(x)),
    ("Y[i] = [x[i]+1]*2", "round brackets", "Y[i] = (x[i]+1)*2", lambda: 2 * x + 2),
    ("Y[i] = x[i]/x.shape[0]", "a size", "Y[i] = x[i]/3", lambda: x / 3),
    ("Y[i,j] = A[i,j] if i > j else 0", "Python", "Y[i,j] = where(i > j, A[i,j], 0)",
     lambda: np.tril(A, -1)),
    ("Y[i,j] = i > j ? A[i,j] : 0", "of C", "Y[i,j] = where(i > j, A[i,j], 0)",
     lambda: np.tril(A, -1)),
    ("Y[i,j] = if i > j then A[i,j] else 0", "other languages",
     "Y[i,j] = where(i > j, A[i,j], 0)", lambda: np.tril(A, -1)),
    ("Y[i,j] = if i > j: A[i,j] else 0", "other languages",
     "Y[i,j] = where(i > j, A[i,j], 0)", lambda: np.tril(A, -1)),
    ("Y[i] = where x[i] > 1, x[i], 0", "in brackets", "Y[i] = where(x[i] > 1, x[i], 0)",
     lambda: np.where(x > 1, x, 0)),
    ("Y[i] = x[i] where x[i] > 1", "is a condition", "Y[i] = where(x[i] > 1, x[i], 0)",
     lambda: np.where(x > 1, x, 0)),
    ("Y = A.T", "transpose", "Y[i,j] = A[j,i]", lambda: A.T),
    ("Y[i] = x[i]/len(x)", "a size", "Y[i] = x[i]/3", lambda: x / 3),
    ("Y[i;j] = A[i,j]", "by commas", "Y[i,j] = A[i,j]", lambda: A),
    ("Y[i j] = A[i j]", "by commas", "Y[i,j] = A[i,j]", lambda: A),
    ("Y[i,] = x[i,]", "by commas", "Y[i] = x[i]", lambda: x),
    ("Y{i} = x{i}", "square brackets", "Y[i] = x[i]", lambda: x),
    ("Y[i = x[i]", "found `=`", "Y[i] = x[i]", lambda: x),
    ("Y[i] = x[i", "text ends", "Y[i] = x[i]", lambda: x),
    ("Y[i,j] = where(i > j, A[i,j])", "two values", "Y[i,j] = where(i > j, A[i,j], 0)",
     lambda: np.tril(A, -1)),
]  # fmt: skip
LAYOUTS: list[Row] = [
    ("Y[i] = sum(v[i:i+3])", "a window", "Y[i] = sum[j](v[i+j]) where j in 0:3, i in 0:10",
     lambda: np.convolve(v, np.ones(3), "valid")),
    ("Y[i] = v[i:i+3]", "a window", "Y[i,j] = v[i+j] where j in 0:3, i in 0:10",
     lambda: np.lib.stride_tricks.sliding_window_view(v, 3)),
    ("Y[i] = max[k](v[2*i:2*i+2])", "a window",
     "Y[i] = max[k](v[2*i+k]) where k in 0:2, i in 0:6", lambda: v.reshape(6, 2).max(1)),
    ("Y[t] = sum[k](K[k]*v[t-1:t+2])", "a window",
     "Y[t] = sum[k](K[k]*v[t+k-1]) where k in 0:3, t in 0:12",
     lambda: np.correlate(v, K, "same")),
    ("Y = v.reshape(3,4)", "another shape", "Y[i,j] = v[4*i+j] where i in 0:3, j in 0:4",
     lambda: v.reshape(3, 4)),
    ("Y[p,q] = 2*np.reshape(v, (-1, 4))", "another shape",
     "Y[p,q] = 2*v[4*p+q] where p in 0:3, q in 0:4", lambda: 2 * v.reshape(3, 4)),
    ("Y[i] = v.view(3,4)[i,0]", "another shape", "Y[i] = v[4*i+0] where i in 0:3", lambda: v[::4]),
    ("Y = A.ravel()", "another shape", "Y[i] = A[i//4,i%4] where i in 0:12", lambda: A.ravel()),
    ("Y = G.reshape(4,6)", "another shape",
     "Y[i,j] = G[(6*i+j)//12,(6*i+j)//4%3,(6*i+j)%4] where i in 0:4, j in 0:6",
     lambda: G.reshape(4, 6)),
    ("Y = np.roll(v, 1)", "whole arrays", "Y[i] = v[(i-1)%12] where i in 0:12",
     lambda: np.roll(v, 1)),
    ("Y[i] = v[i] - roll(v, -2)[i]", "whole arrays", "Y[i] = v[i] - v[(i+2)%12]",
     lambda: v - np.roll(v, -2)),
    ("Y = torch.roll(A, 1, dims=1)", "whole arrays",
     "Y[i,j] = A[i,(j-1)%4] where i in 0:3, j in 0:4", lambda: np.roll(A, 1, 1)),
    ("Y = np.eye(3)", "whole arrays", "Y[i,j] = where(i == j, 1, 0) where i in 0:3, j in 0:3",
     lambda: np.eye(3)),
    ("Y = M - 2*np.eye(3)", "whole arrays", "Y[i,j] = M[i,j] - 2*where(i == j, 1, 0)",
     lambda: M - 2 * np.eye(3)),
    ("Y = trace(A)", "whole arrays", "Y = sum[i](A[i,i]) where i in 0:3", lambda: np.trace(A)),
    ("Y = 2*np.trace(A)", "whole arrays", "Y = 2*sum[i](A[i,i]) where i in 0:3",
     lambda: 2 * np.trace(A)),
    ("Y[i] = A[i,None]", "adds a dimension", "Y[i,j] = A[i,j]", lambda: A),
    ("Y = x[:,None]*y[None,:]", "adds a dimension", "Y[i,j] = x[i]*y[j]",
     lambda: x[:, None] * y),
    ("Y[i,j] = x[i,np.newaxis] + y[j]", "adds a dimension", "Y[i,j] = x[i] + y[j]",
     lambda: x[:, None] + y),
    ("Y = x[:,None]*A", "adds a dimension", "Y[i,j] = x[i]*A[i,j]", lambda: x[:, None] * A),
    ("Y[i] = A[i]", "1 index", "Y[i,j] = A[i,j]", lambda: A),
    ("Y = argmax(A[i])", "over which", "Y[i] = argmax[j](A[i,j])", lambda: A.argmax(1)),
    ("Y[i] = max(A[i])", "over which", "Y[i] = max[j](A[i,j])", lambda: A.max(1)),
    ("Y[i] = softmax(A[i])", "over which", "Y[i,j] = softmax[j](A[i,j])",
     lambda: np.exp(A) / np.exp(A).sum(1, keepdims=True)),
    ("Y = A.T.reshape(-1)", "another shape", "Y[i] = A[i%3,i//3] where i in 0:12",
     lambda: A.T.reshape(-1)),
    ("Y = np.roll(A, 1)", "whole arrays",
     "Y[i,j] = A[((4*i+j-1)%12)//4,((4*i+j-1)%12)%4] where i in 0:3, j in 0:4",
     lambda: np.roll(A, 1)),
    ("Y[i] = A[i,Ellipsis]", "same place", "Y[i,j] = A[i,j]", lambda: A),
    ("Y = A[...,0]", "same place", "Y[i] = A[i,0]", lambda: A[:, 0]),
    ("Y_i = A_ij*y_j", "in its name", "Y[i] = A[i,j]*y[j]", lambda: A @ y),
    ("Y[i] = lambda i: x[i]", "a function in Python", "Y[i] = x[i]", lambda: x),
    ("Y[i] = (lambda z: z^2 + z)(x[i])", "a function in Python",
     "Y[i] = ((x[i])^2 + (x[i]))", lambda: x**2 + x),
]  # fmt: skip
CALLS: list[Row] = [
    ("Y = np.flip(x)", "whole", "Y[i] = x[2-i] where i in 0:3", lambda: np.flip(x)),
    ("Y = np.flip(A, axis=1)", "whole", "Y[i,j] = A[i,3-j] where j in 0:4",
     lambda: np.flip(A, 1)),
    ("Y = np.tile(x, 2)", "whole", "Y[i] = x[i%3] where i in 0:6", lambda: np.tile(x, 2)),
    ("Y = np.repeat(x, 2)", "whole", "Y[i] = x[i//2] where i in 0:6", lambda: np.repeat(x, 2)),
    ("Y = np.repeat(A, 2, axis=1)", "whole", "Y[i,j] = A[i,j//2] where j in 0:8",
     lambda: np.repeat(A, 2, 1)),
    ("Y = 2*np.diff(x)", "whole", "Y[i] = 2*(x[i+1] - x[i]) where i in 0:2",
     lambda: 2 * np.diff(x)),
    ("Y = np.diff(A, axis=0)", "whole", "Y[i,j] = A[i+1,j] - A[i,j] where i in 0:2",
     lambda: np.diff(A, axis=0)),
    ("Y = np.convolve(v, K)", "whole", "Y[i] = v[i-j]*K[j] where i in 0:14",
     lambda: np.convolve(v, K)),
    ("Y = np.correlate(v, K)", "whole", "Y[i] = v[i+j]*K[j] where i in 0:10",
     lambda: np.correlate(v, K)),
    ("Y = np.pad(A, 1)", "whole", "Y[i,j] = A[i-1,j-1] where i in 0:5, j in 0:6",
     lambda: np.pad(A, 1)),
    ("Y = F.pad(x, (1, 2))", "whole", "Y[i] = x[i-1] where i in 0:6", lambda: np.pad(x, (1, 2))),
    ("Y = np.concatenate([x, y])", "whole",
     "Y[i] = where(i < 3, x[i], y[i-3]) where i in 0:7", lambda: np.concatenate([x, y])),
    ("Y = torch.cat([A, C], dim=1)", "whole",
     "Y[i,j] = where(j < 4, A[i,j], C[i,j-4]) where j in 0:8",
     lambda: np.concatenate([A, C], 1)),
    ("Y = np.stack([A, C])", "whole",
     "Y[i,j,k] = where(i == 0, A[j,k], C[j,k]) where i in 0:2", lambda: np.stack([A, C])),
    ("Y = np.linspace(1, 3, 5)", "whole", "Y[i] = 1+2*i/4 where i in 0:5",
     lambda: np.linspace(1, 3, 5)),
    ("Y = np.kron(A, B)", "whole",
     "Y[i,j] = A[i//4,j//5]*B[i%4,j%5] where i in 0:12, j in 0:20", lambda: np.kron(A, B)),
    ("Y = np.triu(M, 1)", "whole", "Y[i,j] = where(i+1 <= j, M[i,j], 0)",
     lambda: np.triu(M, 1)),
    ("Y = np.tril(M, -1)", "whole", "Y[i,j] = where(j <= i-1, M[i,j], 0)",
     lambda: np.tril(M, -1)),
    ("Y = np.diag(x)", "whole", "Y[i,j] = where(i == j, x[i], 0) where j in 0:3",
     lambda: np.diag(x)),
    ("Y = F.linear(A, C, x)", "whole", "Y[i,j] = A[i,k]*C[j,k] + x[j]", lambda: A @ C.T + x),
    ("Y = x.unsqueeze(-1)", "a method", "Y[i,j] = x[i] where j in 0:1", lambda: x[:, None]),
    ("Y = G.transpose(1, 2)", "a method", "Y[i,j,k] = G[i,k,j]", lambda: G.transpose(0, 2, 1)),
    ("Y = np.trapz(y)", "whole", "Y = sum[i](y[i] + y[i+1])/2 where i in 0:3",
     lambda: (y[1:] + y[:-1]).sum() / 2),
]  # fmt: skip
WHOLE: list[Row] = [
    ("Y = A - A.mean(0)", "whole", "Y[i,j] = A[i,j] - mean[k](A[k,j])", lambda: A - A.mean(0)),
    ("Y = x/x.sum()", "whole", "Y[i] = x[i]/sum[j](x[j])", lambda: x / x.sum()),
    ("Y = A.sum(0)*y", "whole", "Y[i] = sum[j](A[j,i])*y[i]", lambda: A.sum(0) * y),
    ("Y = np.mean((A - C)**2)", "whole", "Y = mean[i,j]((A[i,j] - C[i,j])^2)",
     lambda: np.mean((A - C) ** 2)),
    ("Y = np.exp(A - A.max(axis=1, keepdims=True))", "whole",
     "Y[i,j] = exp(A[i,j] - max[k](A[i,k]))", lambda: np.exp(A - A.max(1, keepdims=True))),
    ("Y = np.maximum(A @ B + 1, 2)", "whole",
     "Y[i,j] = maximum(sum[k](A[i,k]*B[k,j]) + 1, 2)", lambda: np.maximum(A @ B + 1, 2)),
    ("Y = np.sqrt(((A[:, None, :] - C[None, :, :])**2).sum(-1))", "whole",
     "Y[i,j] = sqrt(sum[k]((A[i,k] - C[j,k])^2))",
     lambda: np.sqrt(((A[:, None] - C[None]) ** 2).sum(-1))),
    ("Y = np.where(A > 1, A, -0.1*A)", "whole", "Y[i,j] = where(A[i,j] > 1, A[i,j], -0.1*A[i,j])",
     lambda: np.where(A > 1, A, -0.1 * A)),
    ("Y = np.arctan2(x, M) - 2/(x/M)", "whole", "Y[i,j] = atan2(x[j], M[i,j]) - 2/(x[j]/M[i,j])",
     lambda: np.arctan2(x, M) - 2 / (x / M)),
    ("Y = A / A.sum(1)[:, None]", "whole", "Y[i,j] = A[i,j]/sum[k](A[i,k])",
     lambda: A / A.sum(1)[:, None]),
    ("Y = (A - A[:, 0][:, np.newaxis]).T.max(0)", "whole",
     "Y[i] = max[j](A[i,j] - A[i,0])", lambda: (A - A[:, :1]).max(1)),
    ("Y[i] = exp(x[i])/sum(exp(x))", "whole", "Y[i] = exp(x[i])/sum[j](exp(x[j]))",
     lambda: np.exp(x) / np.exp(x).sum()),
    ("Y[i] = softmax(x)[i]", "whole", "Y[i] = softmax[i](x[i])",
     lambda: np.exp(x) / np.exp(x).sum()),
    ("Y = F.softmax(A + y, dim=-1) @ y", "whole",
     "Y[i] = sum[j](softmax[j](A[i,j] + y[j])*y[j])",
     lambda: np.exp(A + y) / np.exp(A + y).sum(1, keepdims=True) @ y),
    ("Y = np.linalg.norm(A - C, axis=1)", "whole", "Y[i] = norm[j](A[i,j] - C[i,j])",
     lambda: np.linalg.norm(A - C, axis=1)),
    ("Y = torch.std(x)", "whole", "Y = std[i](x[i], ddof=1)", lambda: x.std(ddof=1)),
    ("Y = -(x - 1)**2/(2*M.T)", "whole", "Y[i,j] = -(x[j] - 1)^2/(2*M[j,i])",
     lambda: -((x - 1) ** 2) / (2 * M.T)),
    ("m = x.mean(); s = x.std(); Y = (x - m)/s", "whole",
     "m = mean[i](x[i]); s = std[i](x[i]); Y[i] = (x[i] - m)/s",
     lambda: (x - x.mean()) / x.std()),
]  # fmt: skip
RANGES: list[Row] = [
    ("Y[t] = sum[q](x[q]) where q in 0:t+1", "depends on an iterator",
     "Y[t] = sum[q](where(q <= t, x[q], 0))", lambda: tri @ x),
    ("Y[t] = sum[q](x[q]) where q in t+1:3", "depends on an iterator",
     "Y[t] = sum[q](where(q > t, x[q], 0))", lambda: (1 - tri) @ x),
    ("Y[t] = sum[q](x[q]) where q in 0..t", "how a range",
     "Y[t] = sum[q](where(q <= t, x[q], 0))", lambda: tri @ x),
    ("Y[t] = v[t] where t in 0:10:2", "every value", "Y[t] = v[2*t] where t in 0:5",
     lambda: v[0:10:2]),
    ("Y[t] = v[t] + v[t-1] where t in 1:11:3", "every value",
     "Y[t] = v[3*t+1] + v[3*t+1-1] where t in 0:4", lambda: v[1:11:3] + v[0:10:3]),
    ("Y[t] = sum[q](x[q]) where q in 0:t", "depends on an iterator",
     "Y[t] = sum[q](where(q < t, x[q], 0))", lambda: np.tri(3, 3, -1) @ x),
    ("Y[t] = sum[q](x[q]) - 2*x[t] where q in 0:t", "depends on an iterator",
     "Y[t] = sum[q](where(q < t, x[q], 0)) - 2*x[t]", lambda: np.tri(3, 3, -1) @ x - 2 * x),
    ("Y[t] = x[t]/(1 + max[q](x[q])) where q in 1:t+1", "depends on an iterator",
     "Y[t] = x[t]/(1 + max[q](where(q >= 1 and q <= t, x[q], -inf)))",
     lambda: x / (1 + np.array([-np.inf, x[1], x[1:].max()]))),
    ("Y[t] = x[t] - mean[q](x[q]) where q in 0:t+1", "depends on an iterator",
     "Y[t] = x[t] - (sum[q](where(q <= t, x[q], 0))/(t+1))",
     lambda: x - np.cumsum(x) / np.arange(1, 4)),
    ("Y[t] = A[t,q]*y[q] where q in t:4", "depends on an iterator",
     "Y[t] = sum[q](where(q >= t, A[t,q]*y[q], 0))", lambda: np.triu(A) @ y),
    ("Y[h] = v[h+r]*K[r]", "no range", "Y[h] = v[h+r]*K[r] where h in 0:10",
     lambda: np.correlate(v, K, "valid")),
    ("Y[h] = v[h+r-1]*K[r]", "no range", "Y[h] = v[h+r-1]*K[r] where h in 0:12",
     lambda: np.correlate(v, K, "same")),
    ("Y[h] = v[2*h]", "no range", "Y[h] = v[2*h] where h in 0:6", lambda: v[::2]),
    ("Y[h] = v[h-1] + v[h+1]", "no range", "Y[h] = v[h-1] + v[h+1] where h in 0:12",
     lambda: np.convolve(v, [1, 0, 1])[1:-1]),
    ("Y[i,j] = A[i+1,j] + A[i+1,j+1]", "no range",
     "Y[i,j] = A[i+1,j] + A[i+1,j+1] where i in 0:2",
     lambda: A[1:] + np.pad(A[1:, 1:], ((0, 0), (0, 1)))),
    ("Y[i,j] = A[i-1,j-1]", "no range", "Y[i,j] = A[i-1,j-1] where i in 0:3, j in 0:4",
     lambda: np.pad(A, ((1, 0), (1, 0)))[:-1, :-1]),
    ("Y[i] = x[(i+1)%3] - x[(i+2)%3]", "no range",
     "Y[i] = x[(i+1)%3] - x[(i+2)%3] where i in 0:3", lambda: np.roll(x, -1) - np.roll(x, -2)),
    ("m = sum[i](v[i]); t = m/size(i)", "no range",
     "m = sum[i](v[i]); t = m/size(i) where i in 0:12", lambda: v.mean()),
    ("Y[i] = x[i] for i in 0:2", "as Python does", "Y[i] = x[i] where i in 0:2", lambda: x[:2]),
    ("Y[i] = x[i] for i in range(2)", "as Python", "Y[i] = x[i] where i in 0:2", lambda: x[:2]),
    ("for i in range(3): Y[i] = x[i]", "a loop of Python", "Y[i] = x[i]", lambda: x),
    ("Y[i] = x[i] where i in 2", "how a range", "Y[i] = x[i] where i in 0:2", lambda: x[:2]),
    ("Y[i] = x[i] where i in range(1,3)", "how a range", "Y[i] = x[i] where i in 1:3",
     lambda: x[1:]),
    ("Y[i] = x[i] where i in [0,2)", "how a range", "Y[i] = x[i] where i in 0:2", lambda: x[:2]),
    ("Y[i] = x[i] where 0 <= i < 2", "how a range", "Y[i] = x[i] where i in 0:2", lambda: x[:2]),
    ("Y[i] = x[i], i in 0:2", "how a range", "Y[i] = x[i] where i in 0:2", lambda: x[:2]),
    ("Y[i,j] = A[i,j] where i in 0:2 and j in 0:3", "how a range",
     "Y[i,j] = A[i,j] where i in 0:2, j in 0:3", lambda: A[:2, :3]),
]  # fmt: skip
MASKS_AND_LISTS: list[Row] = [
    ("Y[i] = x[x>1]", "depends on the data", "Y[i] = where(x[i] > 1, x[i], 0)",
     lambda: np.where(x > 1, x, 0)),
    ("Y = sum(x[x>1])", "depends on the data", "Y = sum[i](where(x[i] > 1, x[i], 0))",
     lambda: x[x > 1].sum()),
    ("Y = max[k](x[K<1])", "depends on the data", "Y = max[k](where(K[k] < 1, x[k], -inf))",
     lambda: x[K < 1].max(initial=-np.inf)),
    ("Y = mean(v[v >= 1])", "depends on the data",
     "Y = sum[i](where(v[i] >= 1, v[i], 0))/count[i](v[i] >= 1)", lambda: v[v >= 1].mean()),
    ("Y = sum(A[A > C])", "depends on the data",
     "Y = sum[i, j](where(A[i,j] > C[i,j], A[i,j], 0))", lambda: A[A > C].sum()),
    ("Y = [x, K]", "is a list", "Y[n,i] = where(n == 0, x[i], K[i]) where n in 0:2",
     lambda: np.array([x, K])),
    ("Y[i] = [x[i], K[i]]", "is a list", "Y[n,i] = where(n == 0, x[i], K[i]) where n in 0:2",
     lambda: np.array([x, K])),
    ("Y = [1, 2, 3]", "is a list",
     "Y[n] = where(n == 0, 1, where(n == 1, 2, 3)) where n in 0:3", lambda: np.arange(1, 4)),
    ("Y[i] = 1,5*x[i]", "decimal mark", "Y[i] = 1.5*x[i]", lambda: 1.5 * x),
    ("Y[i] = exp(0,25*x[i])", "decimal mark", "Y[i] = exp(0.25*x[i])", lambda: np.exp(x / 4)),
    ("Y[i] = x[i] <> K[i]", "`<>` is written", "Y[i] = x[i] != K[i]", lambda: x != K),
]  # fmt: skip
FUNCTIONS: list[Row] = [
    ("Y[i] = lg(x[i])", "another name", "Y[i] = log10(x[i])", lambda: np.log10(x)),
    ("Y[i] = sigma(x[i])", "another name", "Y[i] = sigmoid(x[i])", lambda: 1 / (1 + np.exp(-x))),
    ("Y[i] = if(x[i] > 1, x[i], 0)", "another name", "Y[i] = where(x[i] > 1, x[i], 0)",
     lambda: np.where(x > 1, x, 0)),
    ("Y[i] = where(x[i] > 1; x[i]; 0)", "by commas", "Y[i] = where(x[i] > 1, x[i], 0)",
     lambda: np.where(x > 1, x, 0)),
    ("Y[i] = x[i] is nan", "a NaN is found", "Y[i] = isnan(x[i])", lambda: np.isnan(x)),
    ("Y[i] = x[i] is not nan", "a NaN is found", "Y[i] = not isnan(x[i])", lambda: ~np.isnan(x)),
    ("Y[i] = NaN*x[i]", "otherwise", "Y[i] = nan*x[i]", lambda: np.nan * x),
    ("Y[i] = log(x[i], 2)", "another name", "Y[i] = log(x[i])/log(2)", lambda: np.log2(x)),
    ("Y[i] = arctan2(x[i], 2)", "another name", "Y[i] = atan2(x[i], 2)",
     lambda: np.arctan2(x, 2)),
    ("Y[i] = softplus(x[i], beta=2)", "another name", "Y[i] = (softplus(x[i]*2)/2)",
     lambda: np.log1p(np.exp(2 * x)) / 2),
    ("Y[i] = leaky_relu(-x[i], negative_slope=0.1)", "another name",
     "Y[i] = leaky_relu(-x[i], 0.1)", lambda: -x / 10),
    ("Y[i] = gelu(x[i]*0, approximate='tanh')", "of its own", "Y[i] = gelu_tanh(x[i]*0)",
     lambda: 0 * x),
    ("Y[i] = var[k](A[i,k], correction=1)", "otherwise", "Y[i] = var[k](A[i,k], ddof=1)",
     lambda: A.var(1, ddof=1)),
    ("Y[i] = mean[k](A[i,k], axis=1)", "otherwise", "Y[i] = mean[k](A[i,k])",
     lambda: A.mean(1)),
    ("Y[i] = var(A, unbiased=True)", "over which", "Y[i] = var[j](A[i,j], ddof=1)",
     lambda: A.var(1, ddof=1)),
    ("Y[i] = sin^2(x[i])", "behind its operand", "Y[i] = sin(x[i])^2", lambda: np.sin(x) ** 2),
    ("Y[i] = sin²(x[i])", "behind its operand", "Y[i] = sin(x[i])²", lambda: np.sin(x) ** 2),
    ("Y[i] = x[i].astype(np.float64)", "an element type", "Y[i] = x[i]", lambda: x),
    ("Y[i] = 2*x[i].astype(int)", "an element type", "Y[i] = 2*trunc(x[i])",
     lambda: 2 * np.trunc(x)),
    ("Y[i] = x[i] if i < 2", "a choice of Python", "Y[i] = where(i < 2, x[i], 0)",
     lambda: x * [1, 1, 0]),
    ("Y[i] = sum([x[j] for j in range(i)]) + x[i]", "no list",
     "Y[i] = sum[j](where(j < i, x[j], 0)) + x[i]", lambda: np.cumsum(x)),
    ("Y[i] = 2*x[i]; return Y", "without `return`", "Y[i] = 2*x[i]", lambda: 2 * x),
    ("Y[i] = mod(x[i], 0.5)", "another name", "Y[i] = x[i]%0.5", lambda: x % 0.5),
    ("Y[i] = clamp(x[i], max=1)", "another name", "Y[i] = minimum(x[i], 1)",
     lambda: np.minimum(x, 1)),
    ("Y[i] = clamp(x[i], min=0.7, max=1)", "another name", "Y[i] = clip(x[i], 0.7, 1)",
     lambda: np.clip(x, 0.7, 1)),
    ("Y[i] = clip(x[i], 1)", "another name", "Y[i] = maximum(x[i], 1)",
     lambda: np.maximum(x, 1)),
    ("Y[i] = round(x[i], 1)", "another name", "Y[i] = (round(x[i]*10^1)/10^1)",
     lambda: np.round(x, 1)),
    ("Y[i] = i & 1 where i in 0:3", "digits are functions",
     "Y[i] = bitwise_and(i, 1) where i in 0:3", lambda: np.arange(3) & 1),
    ("Y[i] = x[i]*(i << 2) where i in 0:3", "digits are functions",
     "Y[i] = x[i]*(bitwise_left_shift(i, 2)) where i in 0:3", lambda: x * (np.arange(3) << 2)),
    ("Y[i] = ~i where i in 0:3", "digits are functions",
     "Y[i] = bitwise_invert(i) where i in 0:3", lambda: ~np.arange(3)),
    ("Y[i] = x[i].real + 1", "attribute", "Y[i] = real(x[i]) + 1", lambda: x + 1),
    ("Y = A.real*C", "attribute", "Y[i,j] = real(A[i,j])*C[i,j]", lambda: A * C),
    ("Y[i] = logical_xor(x[i] > 1, x[i] < 2)", "another name",
     "Y[i] = (((x[i] > 1) != 0) != ((x[i] < 2) != 0))", lambda: (x > 1) ^ (x < 2)),
    ("Y[i] = logical_and(x[i] > 1, x[i] < 2)", "another name", "Y[i] = (x[i] > 1 and x[i] < 2)",
     lambda: (x > 1) & (x < 2)),
    ("Y[i,j] = A[i,j]*kron(i, j)", "another name", "Y[i,j] = A[i,j]*(i == j)",
     lambda: A * np.eye(3, 4)),
    ("m = ||x||", "a norm", "m = norm[i](x[i])", lambda: np.linalg.norm(x)),
    ("Y[i] = x[i] + v[i mod 2]", "written `%`", "Y[i] = x[i] + v[i%2]", lambda: x + v[[0, 1, 0]]),
    ("Y[i] = x[i] + v[mod(i, 2)]", "another name", "Y[i] = x[i] + v[i%2]",
     lambda: x + v[[0, 1, 0]]),
    ("Y[i] = ln(x[i])", "another name", "Y[i] = log(x[i])", lambda: np.log(x)),
    ("Y[i] = arctan(x[i])", "another name", "Y[i] = atan(x[i])", lambda: np.arctan(x)),
    ("Y[i] = power(x[i], 2)", "another name", "Y[i] = x[i]^2", lambda: x**2),
    ("Y[i] = |x[i] - 1|", "absolute value", "Y[i] = abs(x[i] - 1)", lambda: abs(x - 1)),
    ("Y[i] = tanh x[i]", "round brackets", "Y[i] = tanh(x[i])", lambda: np.tanh(x)),
    ("Y[i] = Exp(x[i])", "is not a function", "Y[i] = exp(x[i])", lambda: np.exp(x)),
    ("Y[i] = epx(x[i])", "is not a function", "Y[i] = exp(x[i])", lambda: np.exp(x)),
    ("Y[i] = x[i]^2^3", "found `^`", "Y[i] = x[i]^8", lambda: x**8),
    ("Y[i,j] = where(i > 0 & j > 0, A[i,j], 0)", "`and`, `or` and `not`",
     "Y[i,j] = where(i > 0 and j > 0, A[i,j], 0)", lambda: np.pad(A[1:, 1:], ((1, 0), (1, 0)))),
    ("Y[i,j] = where(i > 0 && j > 0, A[i,j], 0)", "`and`, `or` and `not`",
     "Y[i,j] = where(i > 0 and j > 0, A[i,j], 0)", lambda: np.pad(A[1:, 1:], ((1, 0), (1, 0)))),
    ("Y[i,j] = where(i < j || i > j, A[i,j], 0)", "`and`, `or` and `not`",
     "Y[i,j] = where(i < j or i > j, A[i,j], 0)", lambda: A * (1 - np.eye(3, 4))),
    ("Y[i,j] = where(!(i == j), A[i,j], 0)", "`and`, `or` and `not`",
     "Y[i,j] = where(not (i == j), A[i,j], 0)", lambda: A * (1 - np.eye(3, 4))),
    ("Y[i,j] = where(~(i == j), A[i,j], 0)", "`and`, `or` and `not`",
     "Y[i,j] = where(not (i == j), A[i,j], 0)", lambda: A * (1 - np.eye(3, 4))),
]  # fmt: skip
TEXTS: list[Row] = [
    ("Y[i] = ∑ₖ A[i,k]", "with letters", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("assume x > 0 and y > 0; Y[i,j] = log(x[i]*y[j])", "side by side",
     "assume x > 0, y > 0; Y[i,j] = log(x[i]*y[j])", lambda: np.log(np.outer(x, y))),
    (r"Y_{ij} = \sum_{k} A_{ik} B_{kj}", "LaTeX", "Y[i,j] = sum[k](A[i,k]*B[k,j])",
     lambda: A @ B),
    (r"Y_i = \frac{x_i}{\sum_k x_k}", "LaTeX", "Y[i] = (x[i])/(sum[k](x[k]))",
     lambda: x / x.sum()),
    (r"Y_i = \exp\left(-x_i^2\right)", "LaTeX", "Y[i] = exp(-x[i]^2)", lambda: np.exp(-(x**2))),
    ("Y[i] = ∑_k A[i,k]", "LaTeX", "Y[i] = sum[k](A[i,k])", lambda: A.sum(1)),
    ("A[i,k]*y[k]", "no left side", "Y[i] = A[i,k]*y[k]", lambda: A @ y),
    ("return x[i] + 1", "no left side", "Y[i] = x[i] + 1", lambda: x + 1),
    ("Y[i] = 2*x[i]; out Y", "stands before a statement", "out Y[i] = 2*x[i]", lambda: 2 * x),
    ("x[i]; where i in 0:2", "belongs to the statement", "Y[i] = x[i] where i in 0:2",
     lambda: x[:2]),
    ("Y[i] 2*x[i]", "`=` is expected", "Y[i] = 2*x[i]", lambda: 2 * x),
    ("let Y[i] = 2*x[i]", "without a word before", "Y[i] = 2*x[i]", lambda: 2 * x),
    ("def Y(i): return 2*x(i)", "is written with `=`", "Y[i] = 2*x[i]", lambda: 2 * x),
    ("Y[i] = 2*x[i] +", "end of a line", "Y[i] = 2*x[i]", lambda: 2 * x),
    ("Y[i] = *x[i]", "found `*`", "Y[i] = x[i]", lambda: x),
    ("Y[i] = 2*x[i] /* twice */", "comment", "Y[i] = 2*x[i]", lambda: 2 * x),
    ("Y[i] = 2*x[i] // twice as much", "comment", "Y[i] = 2*x[i]", lambda: 2 * x),
    ("assume x[i] > 0; Y[i] = log(x[i])", "said of a tensor", "assume x > 0; Y[i] = log(x[i])",
     lambda: np.log(x)),
    ("Y[i] = log(x[i]) assume x > 0", "line of its own", "Y[i] = log(x[i]); assume x > 0",
     lambda: np.log(x)),
    ("Y[i] = log(x[i]), assuming x > 0", "line of its own", "Y[i] = log(x[i]); assume x > 0",
     lambda: np.log(x)),
    ("assume x > 0 Y[i] = log(x[i])", "line of its own", "assume x > 0; Y[i] = log(x[i])",
     lambda: np.log(x)),
    ("Y[i] == x[i]", "written with `=`", "Y[i] = x[i]", lambda: x),
    ("Y[i] := x[i]", "written with `=`", "Y[i] = x[i]", lambda: x),
    ("Y[i] = \u0445[i]", "looks like", "Y[i] = x[i]", lambda: x),
    ("Y[i] = x[i] ⋅ 2", "looks like", "Y[i] = x[i] * 2", lambda: x * 2),
    ("Y[i] = x[i] – 1", "looks like", "Y[i] = x[i] - 1", lambda: x - 1),
    ("Y[i] = x[i]（2）".replace("（2）", "＋1"), "looks like", "Y[i] = x[i]+1", lambda: x + 1),
    ("Y[i] = x\u200b[i]", "U+200B", "Y[i] = x[i]", lambda: x),
    ("Y[i] = √x[i]", "with letters", "Y[i] = sqrt(x[i])", lambda: np.sqrt(x)),
    ("Y[i] = √(x[i])*∞", "with letters", "Y[i] = sqrt(x[i])*inf", lambda: x * np.inf),
    ("Y[i] = π*x[i]", "constant", "Y[i] = pi*x[i]", lambda: np.pi * x),
    ("Y[i] = 'x'[i]", "quotation marks", "Y[i] = x[i]", lambda: x),
    ("Y[i] = x[i],", "does not end", "Y[i] = x[i]", lambda: x),
    ("Y[i] = (x[i]+1", "text ends", "Y[i] = (x[i]+1)", lambda: x + 1),
    ("Y[i] = x[i])", "found `)`", "Y[i] = x[i]", lambda: x),
]  # fmt: skip
norm_cdf = np.vectorize(lambda value: (1 + math.erf(value / 2**0.5)) / 2)
falling = np.array([[0.9 ** (i - j) if j <= i else 0 for j in range(3)] for i in range(3)])
VALUES: list[Row] = [
    ("Y[i] = (A[i,k]*y[k])[i]", "only a tensor is read", "Y[i] = (A[i,k]*y[k])", lambda: A @ y),
    ("Y[i,j] = exp(M[i,j])[j,i]", "only a tensor is read",
     "Z[i,j] = exp(M[i,j]); Y[i,j] = Z[j,i]", lambda: np.exp(M).T),
    ("Y[i] = softmax[k](A[i,k])[i,2]", "only a tensor is read",
     "Z[i,k] = softmax[k](A[i,k]); Y[i] = Z[i,2]",
     lambda: (np.exp(A) / np.exp(A).sum(1, keepdims=True))[:, 2]),
    ("Y[i] = sort(v)[i]", "not part of the notation", "Y[i] = sort_of_v[i]",
     lambda: np.zeros(12)),
    ("Y[i] = 2*Z[i]; Z[i] = x[i]", "before it is defined", "Z[i] = x[i]; Y[i] = 2*Z[i]",
     lambda: 2 * x),
    ("Y[t] = Y[t-1] + x[t]", "its own result", "Y[t] = sum[i](where(i <= t, x[i], 0))",
     lambda: np.cumsum(x)),
    ("Y[t] = x[t] + 0.9*Y[t-1]", "its own result",
     "Y[t] = sum[i](where(i <= t, 0.9^(t-i)*(x[i]), 0))", lambda: falling @ x),
    ("Y[i] = norm[k](A[i,k], ord=1)", "sum of squares", "Y[i] = sum[k](abs(A[i,k]))",
     lambda: abs(A).sum(1)),
    ("Y[i] = norm[k](A[i,k], p=inf)", "sum of squares", "Y[i] = max[k](abs(A[i,k]))",
     lambda: abs(A).max(1)),
    ("Y = count(A > 1)", "whole arrays", "Y = count[i,j](A[i,j] > 1)", lambda: (A > 1).sum()),
    ("Y[i,j] = A[i,size(j)-1-j]", "no range", "Y[i,j] = A[i,size(j)-1-j] where j in 0:4",
     lambda: A[:, ::-1]),
    ("Y[i] = v[len(v)-1-i]", "asks for a size", "Y[i] = v[12-1-i] where i in 0:12",
     lambda: v[::-1]),
    ("Y[i] = v[10-3*i]", "no range", "Y[i] = v[10-3*i] where i in 0:4", lambda: v[10::-3]),
    ("Y[i] = normcdf(x[i])", "another name", "Y[i] = ((1 + erf(x[i]/sqrt(2)))/2)",
     lambda: norm_cdf(x)),
    ("Y[i] = comb(5, i) where i in 0:6", "another name",
     "Y[i] = exp(lgamma(5 + 1) - lgamma(i + 1) - lgamma(5 - i + 1)) where i in 0:6",
     lambda: [math.comb(5, i) for i in range(6)]),
    ("Y = cross(x, K)", "whole arrays",
     "Y[i] = x[(i+1)%3]*K[(i+2)%3] - x[(i+2)%3]*K[(i+1)%3] where i in 0:3",
     lambda: np.cross(x, K)),
    ("Y = conv(x, K)", "whole arrays", "Y[i] = x[i-j]*K[j] where i in 0:5",
     lambda: np.convolve(x, K)),
]  # fmt: skip
ROWS = [*REDUCERS, *PRODUCTS, *ARRAYS, *LAYOUTS, *CALLS, *WHOLE, *RANGES, *FUNCTIONS, *TEXTS]
ROWS += [*MASKS_AND_LISTS, *VALUES]

ROOTS: list[tuple[str, str, Callable[[], Any]]] = [
    ("Y[i] = x[i]^-0.5", "Y[i] = rsqrt(x[i])", lambda: x**-0.5),
    ("Y[i] = x[i]**0.5", "Y[i] = sqrt(x[i])", lambda: x**0.5),
    ("Y[i] = (x[i]+1)^(1/2)", "Y[i] = sqrt(x[i]+1)", lambda: (x + 1) ** 0.5),
    ("Y[i] = x[i]^1.5", "Y[i] = x[i]*sqrt(x[i])", lambda: x**1.5),
    ("Y[i] = 2^x[i]", "Y[i] = exp(x[i]*log(2))", lambda: 2**x),
]  # fmt: skip


def shapes_of(text: str) -> dict[str, tuple[int, ...]]:
    words = re.findall(r"(?<![^\W_])[A-Za-z](?![^\W_])|\w+_of_\w+", text)
    if text == "ij,jk->ik":
        words = ["A", "B"]
    return {name: DATA[name].shape for name in DATA if name in words}


def read_or_error(text: str, shapes: Mapping[str, tuple[int, ...]]) -> Program | TextError:
    try:
        return parse(text, shapes)
    except TextError as error:
        return error


def shapes_given(proposed: str) -> dict[str, tuple[int, ...]]:
    return {name: s for name, s in shapes_of(proposed).items() if "_of_" not in name}


@sampled(4)
@pytest.mark.parametrize(
    ("wrong", "said", "proposed", "expected"),
    ROWS,
    ids=lambda value: value[:60] if isinstance(value, str) else "value",
)
def test_hint(wrong: str, said: str, proposed: str, expected: Callable[[], Any]) -> None:
    shapes = shapes_of(proposed)
    with pytest.raises(TextError) as caught:
        parse(wrong, shapes_of(wrong.replace("x_", "x ")) | shapes_given(proposed))
    error = caught.value
    assert said in error.message
    assert error.next_step.endswith(f" `{proposed}`"), error
    assert error.span is not None
    assert 0 <= error.span[0] < error.span[1]
    (root,) = parse(proposed, shapes).roots()
    values = {name: value for name, value in DATA.items() if name in shapes}
    found = evaluate(root, values, RealField())
    wanted = np.asarray(expected(), dtype=float)
    np.testing.assert_allclose(np.asarray(found, dtype=float).reshape(wanted.shape), wanted)


@pytest.mark.parametrize(("text", "proposed", "expected"), ROOTS)
def test_powers_are_read_or_proposed(text: str, proposed: str, expected: Callable[[], Any]) -> None:
    """Where the notation has powers of this kind, no hint fires."""
    shapes = shapes_of(text)
    program = read_or_error(text, shapes)
    if isinstance(program, TextError):
        assert program.next_step.endswith(f": `{proposed}`")
        program = parse(proposed, shapes)
    (root,) = program.roots()
    found = evaluate(root, {"x": x}, RealField())
    np.testing.assert_allclose(np.asarray(found, dtype=float), expected())


N, R = np.array([3, 0, 2]), np.array([[1, 0, 2, 2], [3, 1, 0, 0], [0, 1, 2, 3]])
PLACES: list[tuple[str, str, Callable[[], Any]]] = [
    ("Y = np.take(y, N)", "Y[i] = y[N[i]]", lambda: y[N]),
    ("Y[n] = 2*take(y, N[n])", "Y[n] = 2*y[N[n]]", lambda: 2 * y[N]),
    ("Y = torch.index_select(A, 1, N)", "Y[i,j] = A[i,N[j]]", lambda: A[:, N]),
    ("Y = B.index_select(0, N)", "Y[i,j] = B[N[i],j]", lambda: B[N]),
    ("Y = F.embedding(N, B)", "Y[i,j] = B[N[i],j]", lambda: B[N]),
    ("Y = torch.gather(A, 1, R)", "Y[i,j] = A[i,R[i,j]]", lambda: np.take_along_axis(A, R, 1)),
    ("Y = B[N]", "Y[i,j] = B[N[i],j]", lambda: B[N]),
    ("Y = np.bincount(N)", "Y[N[i]] += 1", lambda: np.bincount(N, minlength=4)),
    ("Y = bincount(N, weights=x)", "Y[N[i]] += x[i]", lambda: np.bincount(N, x, 4)),
    ("Y = np.histogram(v)", "J[i] = floor(v[i]); Y[J[i]] += 1",
     lambda: np.histogram(v, [0, 1, 2, 3, 4])[0]),
    ("np.add.at(Y, N, x)", "Y[N[i]] += x[i]", lambda: np.bincount(N, x, 4)),
    ("Y.index_add_(0, N, M)", "Y[N[i],j] += M[i,j]", lambda: np.eye(4)[N].T @ M),
    ("np.subtract.at(Y, N, x)", "Y[N[i]] -= x[i]", lambda: -np.bincount(N, x, 4)),
    ("Y[N] += x", "Y[N[i]] += x[i]", lambda: np.bincount(N, x, 4)),
    ("Y = cumsum(x[i])", "Y[i] = sum[j](where(j <= i, x[j], 0))", lambda: np.cumsum(x)),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "proposed", "expected"), PLACES)
def test_elements_at_places(wrong: str, proposed: str, expected: Callable[[], Any]) -> None:
    """With the shape of what is added to given or not, the same line is proposed."""
    values = {n: value for n, value in {**DATA, "N": N, "R": R}.items() if f"{n}[" in proposed}
    shapes = {name: value.shape for name, value in values.items()}
    types = {name: "int64" if name in "NR" else "float64" for name in shapes}
    result = {"Y": expected().shape} if "=" in proposed.replace(" = ", "") else {}
    for given_too in ({}, result):
        with pytest.raises(TextError) as caught:
            parse(wrong, shapes | given_too, types)
        assert caught.value.next_step.endswith(f": `{proposed}`"), caught.value
    (root,) = parse(proposed, shapes | result, types).roots()
    found = np.asarray(evaluate(root, values, RealField()), dtype=float)
    np.testing.assert_allclose(found, expected())


@pytest.mark.parametrize(
    ("wrong", "proposed"),
    [
        ("Y[i] = 1i*x[i]", "Y[i] = 1j*x[i]"),
        ("Y = exp(2.5i*s)", "Y = exp(2.5j*s)"),
        ("Y[i] = x[2i]", "Y[i] = x[2*i] where i in 0:2"),
        ("Y[i] = x[i] + 2i", "Y[i] = x[i] + 2*i"),
    ],
)
def test_a_number_before_i(wrong: str, proposed: str) -> None:
    """Where an index is called i, only 1i can be meant as the imaginary unit."""
    shapes = {"x": (3,)} if "x" in wrong.replace("exp", "") else {"s": ()}
    with pytest.raises(TextError) as caught:
        parse(wrong, shapes)
    assert caught.value.next_step.endswith(f": `{proposed}`")
    assert ("imaginary" in caught.value.message) is ("j" in proposed)
    parse(proposed, shapes, ranges={"i": (0, 3)} if "x[i]" in proposed else {})


WITHOUT_VALUES = ("Y[i] = 1i*x[i]", "Y[i] = grad(x)")


def test_a_gradient_is_no_function_of_the_notation() -> None:
    with pytest.raises(TextError, match="`grad` is not part of the notation") as caught:
        parse("Y[i] = grad(x)", {"x": (3,)})
    assert "einderive.grad(text" in caught.value.next_step
    assert caught.value.next_step.endswith(": `Y[i] = grad_of_x[i]`")
    assert caught.value.span == (7, 11)


def test_several_mistakes_at_once() -> None:
    text = "Y[i] := np.exp(A[i][k]) y(k) for i in range(2)  # all wrong"
    with pytest.raises(TextError) as caught:
        parse(text, {"A": (3, 4), "y": (4,)})
    assert caught.value.next_step.endswith("`Y[i] = exp(A[i,k])*y[k] where i in 0:2`")


def test_an_assumption_alone_is_no_product() -> None:
    with pytest.raises(TextError, match="the text has no statement") as caught:
        parse("assume x > 0", {"x": (3,)})
    assert "*`" not in caught.value.next_step
    assert "next line" in caught.value.next_step


def test_only_the_wrong_statement_is_proposed() -> None:
    text = "T[i] = 2*x[i]   # right\nY[i] = T(i) + 1\nZ[i] = Y[i]"
    with pytest.raises(TextError) as caught:
        parse(text, {"x": (3,)})
    assert caught.value.next_step.endswith(": `Y[i] = T[i] + 1`")
    assert caught.value.span == (text.index("T(i)"), text.index(" + 1"))


def test_without_shapes_the_line_is_proposed_all_the_same() -> None:
    with pytest.raises(TextError) as caught:
        parse("Y[i] = W[i][k]*z[k]")
    assert caught.value.next_step.endswith(": `Y[i] = W[i,k]*z[k]`")


@pytest.mark.parametrize(
    ("wrong", "proposed"),
    [
        ("ij,jk->ik", "Y[i,k] = A[i,j]*B[j,k]"),
        ("Y = 'ij,jk->ik'", "Y[i,k] = A[i,j]*B[j,k]"),
        ("Y[i] = \\sum_j A_{ij}", "Y[i] = sum[j](A[i,j])"),
        ("c_i = \\sum_j A_{ij} y_j", "c[i] = sum[j](A[i,j]*y[j])"),
        ("Y = lambda*s", "Y = lambda_*s"),
    ],
)
@pytest.mark.parametrize("given", [False, True])
def test_tensors_that_are_not_given_have_names_all_the_same(
    wrong: str, proposed: str, given: bool
) -> None:
    data = DATA | {"s": np.zeros(())}
    shapes = {
        name: data[name].shape for name in "AByscY" if name in data and f"{name}[" in proposed
    }
    shapes |= {"s": ()} if "*s" in proposed else {}
    with pytest.raises(TextError) as caught:
        parse(wrong, shapes if given else {})
    if given or "lambda" not in wrong:
        assert caught.value.next_step.endswith(f": `{proposed}`")


def test_random_numbers_are_an_input() -> None:
    with pytest.raises(TextError) as caught:
        parse("Y[i] = x[i] + rand()", {"x": (3,)})
    assert caught.value.next_step.endswith(": `Y[i] = x[i] + rand_values[i]`")


def test_a_tensor_with_the_name_of_a_function_elsewhere_is_a_tensor() -> None:
    with pytest.raises(TextError) as caught:
        parse("Y[i] = Phi(i)", {"Phi": (4,)})
    assert caught.value.next_step.endswith(": `Y[i] = Phi[i]`")


@pytest.mark.parametrize("text", ["Y[t] = Y[t-1]*x[t]", "Y[t] = Y[t-2] + x[t]"])
def test_another_recurrence_is_named(text: str) -> None:
    with pytest.raises(TextError) as caught:
        parse(text, {"x": (3,)})
    assert caught.value.next_step.endswith("there are no recurrences")


def test_words_of_numpy_are_no_iterators() -> None:
    for word in ("None", "Ellipsis", "True"):
        with pytest.raises(TextError, match=r"a word of Python and cannot be an iterator|adds a"):
            parse(f"Y[i] = sum[{word}](A[i,{word}])", {"A": (3, 4)})


OTHERS = [
    "Y[i] = x[i] \\\n + 1", "Y[i] = 1_000*x[i]", "Y[i] = x[i]*e\u0301", "Y[i] = $x[i]$",
    "Y[i] = x[i]*Inf", "Y[i] = PI*x[i]", "Y[i] = e^x[i]", "Z[i] = x[i] +\nY[i] = Z[i]",
    "Y[i] = x[i] where i < 3", "Y[i] = x[i] where i = 0:3", "Y[i] = x[i] where i in 0..2",
    "Y[i] = x[i] where i in [0:2]", "Y[i,j] = A[i,j] where i in 0:2 where j in 0:2",
    "Y[i] = x[i] i in 0:2", "Y[i], Z[i] = x[i], 2*x[i]", "Y[i] = 2j*x[i]",
    "Y[i] = where(True, x[i], False)", "Y[i] = lambda*x[i]",
]  # fmt: skip


def test_every_recogniser_is_met() -> None:
    shapes = {name: value.shape for name, value in DATA.items()}
    unmet = list(MISTAKES)
    for wrong in (*(row[0] for row in (*ROWS, *ROOTS, *PLACES)), *OTHERS, *WITHOUT_VALUES):
        try:
            parse(wrong, shapes_of(wrong))
        except TextError as error:
            formula = Formula(joined(wrong), shapes, error)
            unmet = [mistake for mistake in unmet if not list(mistake.find(formula))]
    assert not [(mistake.said, mistake.advice) for mistake in unmet]


def test_no_hint_fires_on_what_is_read() -> None:
    """A text that is read has no error, whatever the recognisers find in it."""
    for _, _, proposed, _ in ROWS:
        parse(proposed, shapes_of(proposed))


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_what_is_proposed_is_read(data: st.DataObject) -> None:
    """Mistakes spliced into each other: whatever line is proposed, the parser reads it."""
    one, two = (data.draw(st.sampled_from([row[0] for row in ROWS])) for _ in range(2))
    cut, start = data.draw(st.integers(0, len(one))), data.draw(st.integers(0, len(two)))
    text = one[:cut] + two[start:]
    shapes = {name: DATA[name].shape for name in "ABxyvK" if name in text}
    error = read_or_error(text, shapes)
    if isinstance(error, TextError):
        assert error.next_step
        found = re.search(r": `([^`]*)`\Z", error.next_step)
        if found and " = " in found[1] and "= ..." not in found[1]:
            problem = read_or_error(found[1], shapes)
            assert not isinstance(problem, TextError) or "shape" in problem.message


def test_outputs_are_marked_where_they_stand() -> None:
    with pytest.raises(TextError, match="`out` stands before a statement") as caught:
        parse("Y[i] = 2*x[i]; m = sum[i](Y[i])/3\nout Y", {"x": (3,)})
    proposed = "out Y[i] = 2*x[i]; m = sum[i](Y[i])/3"
    assert caught.value.next_step.endswith(f"`{proposed}`")
    assert [output.name for output in parse(proposed, {"x": (3,)}).outputs] == ["Y", "m"]


def test_an_imaginary_number_is_one_word() -> None:
    with pytest.raises(TextError) as caught:
        parse("y = abs(sum[i](exp(1j*A[i,k]*x[i])))", {"A": (3, 4), "x": (3,)})
    assert "sum[k](abs(sum[i](exp(1j*" in caught.value.next_step
