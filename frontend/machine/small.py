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
from einderive.ta.listing import beside
from einderive.ta.notation.parse import parse


class Small(NamedTuple):
    """A formula, the shapes of its tensors, the ranges that these do not give."""

    text: str
    shapes: Mapping[str, tuple[int, ...]]
    ranges: Mapping[str, tuple[int, int]] = MappingProxyType({})


SMALL: dict[str, Small] = {name: Small(**given) for name, given in beside(__name__).items()}


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
