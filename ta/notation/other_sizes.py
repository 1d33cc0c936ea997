"""The same formula for tensors of other shapes, where shapes have names of sizes.

Y[b,o] = X[b,i]*W[o,i],  X=("b", 64), W=(32, 64)      X of 20 x 64  ->  b = 20
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from einderive.ta.ir.program import Program
from einderive.ta.refusals import misgiven
from einderive.ta.syntax.reader import complete_errors

Values = tuple[tuple[str, int], ...]
Shape = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class OtherSizes:
    """What `Program.at_shapes` holds.  `make` reads the text with values of the names; `given` are
    those that no shape has."""

    make: Callable[[Values], Program]
    text: str
    named: Mapping[str, Shape]
    given: Mapping[str, int]

    def __call__(self, shapes: Mapping[str, tuple[int, ...]], /) -> Program | None:
        found = sizes_in(self.named, shapes)
        if found is None:
            return None
        with complete_errors(self.text):
            return self.make(tuple({**self.given, **found}.items()))


def sizes_in(
    named: Mapping[str, Shape], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, int] | None:
    """The values of the sizes' names for which the tensors have these shapes.  None where a shape
    differs in more.  OperandError where a name would have two values."""
    found: dict[str, int] = {}
    first: dict[str, str] = {}
    for tensor, shape in named.items():
        if tensor not in shapes:
            continue
        if len(shapes[tensor]) != len(shape):
            return None
        for size, extent in zip(shape, shapes[tensor], strict=True):
            if not isinstance(size, str):
                if size != extent:
                    return None
            elif found.setdefault(size, extent) != extent:
                places = f"{found[size]} in {first[size]} and {extent} in {tensor}"
                raise misgiven("sizes-disagree", size=size, places=places)
            else:
                first.setdefault(size, tensor)
    return found
