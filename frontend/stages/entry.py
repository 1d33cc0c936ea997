"""One stage of array code from a public source, as a formula and as lines of torch and of JAX.

    stage("gelu, tanh", ELEMENTWISE, "Y[i,j] = gelu_tanh(X[i,j])",
          torch="F.gelu(X, approximate='tanh')", jax="nn.gelu(X)", X=real("n", "m"), **ODD)

A keyword is an operand or a size; a size has three extents, for about 400, 40,000 and 4,000,000
elements.  A line may have several lines of Python, the last of which is the result.  It sees the
operands by their names, and `torch` and `F`, or `jax`, `jnp`, `lax` and `nn` (jax.nn).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import cleandoc
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import torch
from torch.nn import functional

from einderive.frontend.formulas.written import Operand

ELEMENTWISE: Final = "elementwise"
BROADCAST: Final = "broadcasts"
ROWS: Final = "over rows"
COLUMNS: Final = "over columns"
WHOLE: Final = "over all"
NORMALISED: Final = "normalised"
SEVERAL: Final = "several reductions"
STENCIL: Final = "stencils"
WINDOW: Final = "windows"
LAYOUT: Final = "layouts"
HALF: Final = "half types"
CHOICE: Final = "conditions, integers"
KINDS: Final = (
    *(ELEMENTWISE, BROADCAST, ROWS, COLUMNS, WHOLE, NORMALISED),
    *(SEVERAL, STENCIL, WINDOW, LAYOUT, HALF, CHOICE),
)

ELEMENTS: Final = (400, 40_000, 4_000_000)
"""The largest operand or result has about so many elements, or the loops so many steps."""
Extents: TypeAlias = tuple[int, int, int]
Sizes: TypeAlias = Mapping[str, Any]
"""Extents by the names of sizes, as keywords of `stage`."""
LINE: Final[Sizes] = {"n": (400, 40_000, 4_000_000)}
ODD_LINE: Final[Sizes] = {"n": (397, 40_009, 4_000_037)}
SQUARE: Final[Sizes] = {"n": (20, 200, 2000), "m": (20, 200, 2000)}
ODD: Final[Sizes] = {"n": (19, 191, 1999), "m": (21, 211, 2003)}
WIDE: Final[Sizes] = {"n": (4, 32, 128), "m": (100, 1250, 31250)}
TALL: Final[Sizes] = {"n": (100, 1250, 62500), "m": (4, 32, 64)}
CUBE: Final[Sizes] = {"n": (7, 34, 159)}

Layout: TypeAlias = Literal["dense", "transposed", "every other"]
Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """An operand: its values, and how it lies in memory.  `transposed`: its last dimension has the
    largest stride; `every other`: between two elements of its last dimension lies a third."""

    operand: Operand
    layout: Layout = "dense"

    def tensor(self, values: Array, dtype: str) -> torch.Tensor:
        """The values in the layout; those with a type of their own keep it."""
        found = torch.from_numpy(values)
        if found.dtype.is_floating_point:
            found = found.to(getattr(torch, dtype))
        if self.layout == "transposed":
            backwards = tuple(reversed(range(found.ndim)))
            return found.permute(backwards).contiguous().permute(backwards)
        if self.layout == "every other":
            wide = torch.zeros((*found.shape[:-1], 2 * found.shape[-1]), dtype=found.dtype)
            wide[..., ::2] = found
            return wide[..., ::2]
        return found


def transposed(operand: Operand) -> Given:
    return Given(operand, "transposed")


def every_other(operand: Operand) -> Given:
    return Given(operand, "every other")


@dataclass(frozen=True, slots=True)
class Stage:
    """`torch_line` and `jax_line` are texts; the latter is empty where JAX has no such line.
    `given` names the sizes that the formula itself names; `results` are shapes that nothing else
    gives.  `dtype` is the type of all floating operands.  `bound`: a program that moves each
    element once does little else, so its limit is the bandwidth of memory."""

    name: str
    kind: str
    source: str
    text: str
    torch_line: str
    jax_line: str
    operands: Mapping[str, Given]
    sizes: Mapping[str, Extents]
    results: Mapping[str, Operand]
    given: tuple[str, ...]
    dtype: str
    bound: bool

    def at(self, elements: int) -> Mapping[str, int]:
        """The sizes at one of ELEMENTS."""
        place = ELEMENTS.index(elements)
        return {name: extents[place] for name, extents in self.sizes.items()}

    def values(self, elements: int) -> Mapping[str, Array]:
        """The operands as dense arrays, floating ones in float32 or float64."""
        generator, sizes = np.random.default_rng(3), self.at(elements)
        dtype = "float64" if self.dtype == "float64" else "float32"
        return {
            name: given.operand.values(generator, sizes, dtype)
            for name, given in self.operands.items()
        }

    def tensors(self, values: Mapping[str, Array]) -> Mapping[str, torch.Tensor]:
        """The operands as torch's tensors, in their types and layouts."""
        return {
            name: given.tensor(values[name], self.dtype) for name, given in self.operands.items()
        }

    def beside(self, elements: int) -> Mapping[str, Any]:
        """What a call of `compile` states besides the operands."""
        sizes = self.at(elements)
        shapes = {name: of.shape(sizes) for name, of in self.results.items()}
        return {**shapes, **{name: sizes[name] for name in self.given}}

    def by_torch(self, elements: int) -> Callable[..., Any]:
        """The line of torch as a function of the operands, in their order."""
        space = {"torch": torch, "F": functional, **self.at(elements)}
        return line_as_function(self.torch_line, tuple(self.operands), space)


def line_as_function(
    line: str, names: tuple[str, ...], space: Mapping[str, Any]
) -> Callable[..., Any]:
    """A function of operands with these names that gives the value of the line's last statement."""
    module = ast.parse(f"def line({', '.join(names)}):\n    pass")
    function, body = module.body[0], ast.parse(line).body
    last = body[-1]
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(last, ast.Expr)
    function.body = [*body[:-1], ast.Return(last.value)]
    found = dict(space)
    exec(compile(ast.fix_missing_locations(module), "<line>", "exec"), found)
    return found["line"]  # type: ignore[no-any-return]


def stage(
    name: str,
    kind: str,
    text: str,
    *,
    source: str,
    torch: str,
    jax: str,
    given: str = "",
    dtype: str = "float32",
    bound: bool = True,
    **described: Operand | Given | Extents,
) -> Stage:
    """The stage as its keywords say."""
    operands, results, sizes = dict[str, Given](), dict[str, Operand](), dict[str, Extents]()
    for key, of in described.items():
        if isinstance(of, tuple):
            sizes[key] = of
        elif isinstance(of, Given):
            operands[key] = of
        elif of.draw or of.below:
            operands[key] = Given(of)
        else:
            results[key] = of
    lines = cleandoc(text), cleandoc(torch), cleandoc(jax)
    return Stage(
        *(name, kind, source, *lines, operands, sizes, results, tuple(given.split()), dtype, bound)
    )


def in_type(dtype: str, like: Stage) -> Stage:
    """The same stage in another floating type, as one of the half types."""
    return replace(like, name=f"{like.name}, {dtype}", kind=HALF, dtype=dtype)
