"""The torch types in which a stage computes and gives back its result.

float16 and bfloat16 are computed in float32 and rounded once, at the end.  For bool and integers,
`eops.dtypes` decides: they are computed and given back in int64, or in the type read if the stage
only chooses among elements.  A stage that leaves the integers is in torch's default float; if it
does so by a fill that is no integer, in float64.  Complex types follow torch; a stage whose values
are real though it reads complex numbers, as abs(Z[i]), is computed in the real type.  A stage that
depends on no input, `T[i] = 3`, is in int64 in a program that reads integers, and otherwise in the
inputs' floating type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import copysign, inf, isfinite
from typing import NamedTuple

import torch

from einderive.eops import comparisons
from einderive.eops.dtypes import Kinds, holds, is_integral, of_values, operand_type, whole_types
from einderive.ta.exact.fields import rounded
from einderive.ta.exact.interp import input_tensors
from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.complex_values import becomes_real
from einderive.ta.ir.affine import Range
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.node import Apply, Node, Number, Scope, Source, Tensor
from einderive.ta.ir.positions import INDEX, is_input
from einderive.ta.ir.subst import sources, walk

HALVES = (torch.float16, torch.bfloat16)


class StageTypes(NamedTuple):
    compute: torch.dtype
    result: torch.dtype


def stage_types(scope: Scope, dtypes: Sequence[torch.dtype]) -> StageTypes:
    """The types of a stage whose buffers have these types; without buffers, the default float."""
    if not dtypes and not is_imaginary(scope):
        default = torch.get_default_dtype()
        return StageTypes(default, default)
    valued = of_values(scope, dtypes)
    if is_imaginary(scope):
        common = reduce(torch.promote_types, [torch.get_default_dtype(), *valued], torch.complex64)
        common = common.to_real() if becomes_real(scope) else common
        return StageTypes(common, common)
    if all(map(is_whole, valued)):
        compute, result = whole_types(scope, [type_name(dtype) for dtype in valued])
        return StageTypes(_whole(compute), _whole(result))
    common = reduce(torch.promote_types, valued)
    if common.is_complex and becomes_real(scope):
        common = common.to_real()
    return StageTypes(torch.float32 if common in HALVES else common, common)


class Compared(NamedTuple):
    """The type in which operands are compared, and for each of them the types of a stage that
    computes it; None: it is read, or computed in the common type."""

    common: torch.dtype
    owns: tuple[StageTypes | None, ...]


def compared(
    operands: Sequence[Node],
    domain: Sequence[Range],
    read: Sequence[Sequence[torch.dtype]],
    leaving: Callable[[], StageTypes],
) -> Compared:
    """The types of a comparison whose operands are computed from elements of the types `read`; see
    `eops.comparisons`.  Complex operands are computed in the common type."""
    every = [dtype for dtypes in read for dtype in dtypes]
    if any(dtype.is_complex for dtype in every) or any(map(_is_imaginary, operands)):
        return Compared(tested_in(operands, domain, every), (None,) * len(operands))

    def left() -> Kinds:
        return Kinds(*map(type_name, leaving()))

    names = [[type_name(dtype) for dtype in dtypes] for dtypes in read]
    common, owns = comparisons.compared(operands, domain, names, left)
    return Compared(_type(common), tuple([own and StageTypes(*map(_type, own)) for own in owns]))


def tested_in(
    operands: Sequence[Node], domain: Sequence[Range], dtypes: Sequence[torch.dtype]
) -> torch.dtype:
    """The type of places, and of what is tested for 0."""
    if any(dtype.is_complex for dtype in dtypes) or any(map(_is_imaginary, operands)):
        common = reduce(torch.promote_types, dtypes, torch.complex64)
        return common.to_real() if becomes_real(*operands) else common
    return _type(operand_type(operands, domain, [type_name(dtype) for dtype in dtypes]))


def depends_on_inputs(scope: Scope) -> bool:
    """Whether the scope reads a tensor, directly or through the scopes that it reads."""
    return bool(input_tensors(scope))


def constant_types(
    scope: Scope, read: Sequence[torch.dtype], inputs: Sequence[torch.dtype]
) -> list[torch.dtype]:
    """The types of a stage that depends on no input, from the types of the scopes it reads and of
    all inputs of the program.

    An integer promotes to any floating type of its readers.  A float would take readers over
    integers to a floating type, and their digits would be lost.  A stage that is made of iterators
    as values, or of stages of integers, stays whole in every program.
    """
    if read and all(map(is_whole, read)) and is_integral(scope):
        return list(read)
    if any(map(is_whole, inputs)) and all(map(is_whole, read)) and is_integral(scope):
        return list(read) or [torch.int64]
    kept = [dtype for dtype in read if dtype.is_complex]
    return [dtype for dtype in inputs if dtype.is_floating_point] + kept or list(read)


def types_beside(
    scope: Scope, read: Sequence[torch.dtype], inputs: Sequence[torch.dtype]
) -> StageTypes:
    """`stage_types` in a program with inputs of these types."""
    if not depends_on_inputs(scope):
        read = constant_types(scope, read, inputs)
    types = stage_types(scope, read)
    floating = any(not is_whole(dtype) for dtype in inputs)
    if floating and all(map(is_whole, read)) and not is_whole(types.result):
        return leaving_integers(inputs)
    return types


def leaving_integers(inputs: Sequence[torch.dtype]) -> StageTypes:
    """The types of a stage that leaves the integers, in a program with inputs of these types."""
    floating = [dtype for dtype in inputs if not is_whole(dtype)]
    if not floating:
        default = torch.get_default_dtype()
        return StageTypes(default, default)
    common = reduce(torch.promote_types, floating)
    return StageTypes(torch.float32 if common in HALVES else common, common)


def given_types(buffers: Mapping[Source, torch.Tensor]) -> list[torch.dtype]:
    """The types of the program's inputs."""
    return [buffer.dtype for source, buffer in buffers.items() if _is_given(source)]


def types_of(scope: Scope) -> Callable[[Mapping[Source, torch.Tensor]], StageTypes]:
    """The stage's types, from its program's buffers."""
    read = sources(scope.body)

    def types(buffers: Mapping[Source, torch.Tensor]) -> StageTypes:
        found = [torch.int64 if source is INDEX else buffers[source].dtype for source in read]
        return types_beside(scope, found, given_types(buffers))

    return types


def _is_given(source: Source) -> bool:
    return isinstance(source, Tensor) and is_input(source)


def is_imaginary(scope: Scope) -> bool:
    """Whether the imaginary unit stands in its body."""
    return _is_imaginary(scope.body)


def _is_imaginary(term: Node) -> bool:
    nodes = walk(term)
    return any(isinstance(node, Apply) and FUNCTIONS[node.function].imaginary for node in nodes)


def is_whole(dtype: torch.dtype) -> bool:
    """Whether it is a type of integers or bools."""
    return not (dtype.is_floating_point or dtype.is_complex)


def real_scalar(value: Number, dtype: torch.dtype) -> float:
    """The number as a scalar of a floating or complex type.  Beyond the type's range it is an
    infinity.

    torch refuses numbers beyond the range as a fill and as a factor (`alpha`), and takes them
    elsewhere.
    """
    real, limits = rounded(value), torch.finfo(dtype)
    if abs(real) <= limits.max or not isfinite(real):
        return real
    half = limits.max / (2 - limits.eps) * limits.eps / 2  # of the spacing of the largest numbers
    return copysign(limits.max if abs(real) < limits.max + half else inf, real)


def held(buffer: torch.Tensor, fill: Number, dtype: torch.dtype) -> torch.Tensor:
    """The buffer, converted to `dtype` if its own type cannot hold the fill; to float64 if that
    cannot either, for a comparison."""
    if holds(type_name(buffer), fill):
        return buffer
    odd = not isinstance(fill, float) and not holds(type_name(dtype), fill)
    return buffer.to(torch.float64 if odd else dtype)


def _type(name: str) -> torch.dtype:
    found: torch.dtype = getattr(torch, name)
    return found


def _whole(name: str) -> torch.dtype:
    """The type that `whole_types` gives."""
    return torch.get_default_dtype() if name == "float32" else _type(name)
