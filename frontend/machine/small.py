"""Small instances of every library operator, and of the stages that none computes: what takes the
time there is the launch.

The formulas are in the notation, with shapes and ranges; the tensor named `I` holds indices."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from einderive.derivations.matching.cost import eoperator_work
from einderive.derivations.matching.machine import KERNEL
from einderive.derivations.matching.matcher import Matcher
from einderive.derivations.search.graph import Stage
from einderive.eops.library import by_name
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.operator import Work
from einderive.ta.ir.program import Program
from einderive.ta.notation.parse import parse

SOFTMAX = "exp(S[i,j]-max[l](S[i,l]))/sum[l](exp(S[i,l]-max[t](S[i,t])))"
TURN = "2*pi*{unit}k*n/8"


class Small(NamedTuple):
    """A formula, the shapes of its tensors, the ranges that these do not give."""

    text: str
    shapes: Mapping[str, tuple[int, ...]]
    ranges: Mapping[str, tuple[int, int]] = MappingProxyType({})


def _convolution(dimensions: int) -> Small:
    hs, rs = "xyz"[:dimensions], "rst"[:dimensions]
    rows = ",".join(f"{h}+{r}" for h, r in zip(hs, rs, strict=True))
    text = f"Y[n,f,{','.join(hs)}] = A[n,c,{rows}]*K[f,c,{','.join(rs)}]"
    shapes = {"A": (1, 2, *(4,) * dimensions), "K": (2, 2, *(3,) * dimensions)}
    return Small(text, shapes, dict.fromkeys(hs, (0, 2)))


def _transposed(dimensions: int) -> Small:
    hs, rs = "xyz"[:dimensions], "rst"[:dimensions]
    rows = ",".join(f"{h}-2*{r}" for h, r in zip(hs, rs, strict=True))
    text = f"Y[n,f,{','.join(hs)}] = A[n,c,{','.join(rs)}]*K[f,c,{rows}]"
    shapes = {"A": (1, 2, *(3,) * dimensions), "K": (2, 2, *(2,) * dimensions)}
    return Small(text, shapes, dict.fromkeys(hs, (0, 6)))


def _pool(reducer: str, dimensions: int) -> Small:
    hs, rs = "xyz"[:dimensions], "rst"[:dimensions]
    rows = ",".join(f"2*{h}+{r}" for h, r in zip(hs, rs, strict=True))
    text = f"Y[n,{','.join(hs)}] = {reducer}[{','.join(rs)}](A[n,{rows}])"
    ranges = {**dict.fromkeys(hs, (0, 2)), **dict.fromkeys(rs, (0, 2))}
    return Small(text, {"A": (2, *(4,) * dimensions)}, ranges)


def _fourier(term: str) -> Small:
    return Small(f"Y[k] = sum[n](A[n]*{term})", {"A": (8,)}, {"k": (0, 8)})


SMALL: dict[str, Small] = {
    "elementwise": Small("Y[i] = A[i]*B[i]", {"A": (8,), "B": (8,)}),
    KERNEL: Small("Y[i] = sum[k](A[i,k]*(B[i,k]+C[i]))", {"A": (4, 3), "B": (4, 3), "C": (4,)}),
    "matmul": Small("Y[i,j] = A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 2)}),
    "reduction": Small("Y[i] = sum[k](A[i,k])", {"A": (4, 3)}),
    "softmax": Small(f"Y[i,j] = {SOFTMAX}", {"S": (4, 3)}),
    "pad_slice": Small("Y[i] = A[i-2]", {"A": (5,)}, {"i": (0, 9)}),
    "concat": Small("Y[i] = where(i < 3, A[i], B[i-3])", {"A": (3,), "B": (4,)}, {"i": (0, 7)}),
    "gather": Small("Y[n,d] = E[I[n],d]", {"E": (6, 4), "I": (5,)}),
    "scatter": Small("Y[I[n],d] += A[n,d]", {"A": (7, 3), "I": (7,), "Y": (5, 3)}),
    "bincount": Small("Y[I[n]] += 1", {"I": (9,), "Y": (5,)}),
    "argmin": Small("Y[i] = argmin[k](A[i,k])", {"A": (4, 3)}),
    "argmax": Small("Y[i] = argmax[k](A[i,k])", {"A": (4, 3)}),
    "attention": Small(
        f"S[i,j] = Q[i,d]*K[j,d]; P[i,j] = {SOFTMAX}; O[i,e] = P[i,j]*V[j,e]",
        {"Q": (5, 3), "K": (6, 3), "V": (6, 4)},
    ),
    "repaired": Small("Y[i,j] = sum[k]((A[i,k]-B[j,k])^2)", {"A": (4, 3), "B": (5, 3)}),
    "fft_real": _fourier(f"cos({TURN.format(unit='')})"),
    "fft_imaginary": _fourier(f"sin({TURN.format(unit='')})"),
    "fft": _fourier(f"exp(-{TURN.format(unit='1j*')})"),
    "ifft": _fourier(f"exp({TURN.format(unit='1j*')})"),
    **{f"conv{n}d": _convolution(n) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _transposed(n) for n in (1, 2, 3)},
    **{f"avg_pool{n}d": _pool("sum", n) for n in (1, 2, 3)},
    **{f"max_pool{n}d": _pool("max", n) for n in (1, 2, 3)},
}
"""By operator; views are free and have no launch."""


class Instance(NamedTuple):
    """A stage with the tensors that it reads, and its work."""

    stage: Stage
    buffers: Mapping[Any, torch.Tensor]
    work: Work


def instance(operator: str, small: Small) -> Instance:
    """The formula as a stage that the operator computes, or no operator, on random numbers.
    LookupError where the operator does not compute it."""
    program = _program(small)
    (scope,) = program.roots()
    inputs = {tensor: _values(tensor, small) for tensor in program.inputs}
    return _instance(operator, scope, inputs)


def applied(function: str, arity: int, size: int) -> Instance:
    """A function of this many vectors, element by element."""
    names = "ABC"[:arity]
    program = _program(
        Small(f"Y[i] = {'*'.join(f'{n}[i]' for n in names)}", dict.fromkeys(names, (size,)))
    )
    inputs = {tensor: _values(tensor, SMALL["elementwise"]) for tensor in program.inputs}
    reads = [expr.access(tensor, [affine.iterator(0)]) for tensor in inputs]
    return _instance(
        "elementwise", make_scope([(0, size)], (), expr.apply(function, *reads)), inputs
    )


def _instance(operator: str, scope: Scope, inputs: Mapping[Any, torch.Tensor]) -> Instance:
    if operator == KERNEL:
        work = eoperator_work(scope, 4, fused=False)
        return Instance(Stage(scope, None, None, 1.0, (), 0.0, ""), inputs, work)
    found = by_name(operator)
    bindings, _, _ = Matcher([found]).matches(scope)
    if not bindings:
        raise LookupError(f"{operator} does not compute {scope}")
    binding = bindings[0][1]
    read = tuple(o.source for o in binding.operands if isinstance(o.source, Scope))
    stage = Stage(scope, operator, binding, 1.0, read, 0.0, operator)
    return Instance(stage, inputs, found.work(binding))


def _program(small: Small) -> Program:
    dtypes = {name: "int64" if name == "I" else "float32" for name in small.shapes}
    return parse(small.text, small.shapes, dtypes, small.ranges)


def _values(tensor: Tensor, small: Small) -> torch.Tensor:
    generator = torch.Generator().manual_seed(len(tensor.name))
    if tensor.dtype.startswith("float"):
        return torch.rand(tensor.shape, generator=generator) * 0.6 + 0.2
    most = min(min(shape) for name, shape in small.shapes.items() if name != "I")
    return torch.randint(0, most, tensor.shape, generator=generator)
