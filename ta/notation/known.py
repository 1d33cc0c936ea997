"""Names that the statements read so far have defined: tensors, inputs, iterators."""

from __future__ import annotations

from collections.abc import Mapping, Set

from einderive.ta.given.complex_values import is_real
from einderive.ta.given.whole_values import BOOL, INTEGER, whole_kind
from einderive.ta.ir import expr
from einderive.ta.ir.names import RESERVED
from einderive.ta.ir.node import ANY, Bounds, Scope, Tensor
from einderive.ta.notation.lowering import unknown_tensor
from einderive.ta.refusals import refused
from einderive.ta.syntax.tree import Name


class Known:
    """The names that the statements read so far have defined."""

    def __init__(
        self,
        shapes: dict[str, tuple[int, ...]],
        dtypes: Mapping[str, str] | str,
        targets: list[str],
        words: Set[str],
        bounds: Mapping[str, Bounds],
    ) -> None:
        self.shapes, self.dtypes, self.words, self.bounds = shapes, dtypes, words, bounds
        self.pending = list(targets)
        self.inputs: dict[str, Tensor] = {}
        self.defined: dict[str, Scope] = {}
        self.hints: dict[tuple[str, int], str] = {}
        self.iterators: set[str] = set()
        self.names = frozenset(shapes) | frozenset(targets)

    @property
    def scalars(self) -> set[str]:
        """The tensors without dimensions."""
        given = {name for name, shape in self.shapes.items() if shape == ()}
        return given | {name for name, scope in self.defined.items() if not scope.loops}

    def tensor(self, name: Name, rank: int) -> Tensor:
        """The tensor of this name, an input or an earlier statement."""
        if name.name in self.defined:
            scope = self.defined[name.name]
            if any(loop.lo for loop in scope.loops):
                ranges = [f"{lo}:{hi}" for lo, hi in scope.loops]
                raise refused("ranges-not-from-0", name.span, name=name.name, ranges=ranges)
            return expr.tensor(name.name, scope.shape, _of_values(scope))
        if name.name in self.pending:
            raise refused("read-before-defined", name.span, name=name.name)
        if name.name not in self.inputs:
            if name.name in RESERVED:
                raise refused("word-as-tensor", name.span, name=name.name)
            if name.name not in self.shapes:
                raise unknown_tensor(name, rank, {**self.shapes, **self.defined})
            given = self.dtypes
            dtype = given if isinstance(given, str) else given.get(name.name, "float32")
            shape, bounds = self.shapes[name.name], self.bounds.get(name.name, ANY)
            self.inputs[name.name] = expr.tensor(name.name, shape, dtype, bounds)
        return self.inputs[name.name]


def _of_values(scope: Scope) -> str:
    """A type that the scope's values have: what stands in a later statement may depend on whether
    they are integers, real or complex."""
    if not is_real(scope):
        return "complex64"
    return {BOOL: "bool", INTEGER: "int64"}.get(whole_kind(scope), "float32")
