"""One stage of array code from a public source, as a formula and as lines of torch and of JAX.

They stand in the files `*.toml` of this folder, one for each source:

    ["gelu, tanh"]
    kind = "elementwise"
    of = "X (n, m)"
    sizes = "odd"
    text = "Y[i,j] = gelu_tanh(X[i,j])"
    torch = "F.gelu(X, approximate='tanh')"
    jax = "nn.gelu(X, approximate=True)"

`of` lists the operands, and shapes of results that nothing else gives (`formulas.operands`); an
operand may lie `transposed` in memory, or as `every other` element.  A size has three extents, for
about 400, 40,000 and 4,000,000 elements; usual ones have a name.  A line may have several lines of
Python, the last of which is the result.  It sees the operands by their names, and `torch` and `F`,
or `jax`, `jnp`, `lax` and `nn` (jax.nn); `line` is the line of both.  `half`: the stage stands in
the list once more, in that type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from re import findall
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
import torch
from torch.nn import functional

from einderive.frontend.formulas.catalogue import entries
from einderive.frontend.formulas.lines import line_as_function
from einderive.frontend.formulas.operands import Array, Operand, operands
from einderive.ta.listing import beside

HALF: Final = "half types"
KINDS: Final = (
    *("elementwise", "broadcasts", "over rows", "over columns", "over all", "normalised"),
    *("several reductions", "stencils", "windows", "layouts", HALF, "conditions, integers"),
)

ELEMENTS: Final = (400, 40_000, 4_000_000)
"""The largest operand or result has about this many elements, or the loops this many steps."""
LARGER: Final = 16_000_000
"""Here the extents that grow from size to size are two times those at 4,000,000 elements, or four
times a single one; stages of three or four such extents have more elements, up to 67,000,000."""
Extents: TypeAlias = tuple[int, int, int]
SIZES: Final[Mapping[str, Mapping[str, Extents]]] = beside(__name__)["sizes"]
Layout: TypeAlias = Literal["dense", "transposed", "every other"]
LAYOUTS: Final[tuple[Layout, ...]] = get_args(Layout)


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

    def in_memory(self, values: Array) -> Array:
        """A dense array of all that lies in memory, in its order."""
        if self.layout == "transposed":
            return np.ascontiguousarray(values.T)
        return np.repeat(values, 2, axis=-1) if self.layout == "every other" else values

    def seen(self, memory: Any) -> Any:
        """The operand as a view of `in_memory`, by a library that has arrays without strides."""
        if self.layout == "transposed":
            return memory.T
        return memory[..., ::2] if self.layout == "every other" else memory


def given_operand(text: str) -> tuple[str, Given]:
    """`A (n, m) transposed`: an operand in words with its layout."""
    layout = next((layout for layout in LAYOUTS if text.endswith(f" {layout}")), LAYOUTS[0])
    ((name, operand),) = operands(text.removesuffix(f" {layout}")).items()
    return name, Given(operand, layout)


@dataclass(frozen=True, slots=True)
class Stage:
    """`torch_line` and `jax_line` are texts; the latter is empty where JAX has no such line.
    `given` names the sizes that the formula itself names; `results` are shapes that nothing else
    gives.  `dtype` is the type of all floating operands.  `bound`: a program that moves each
    element once does little else, so its limit is the bandwidth of memory.  `offset` is added to
    all entries that are normally distributed."""

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
    dtype: str = "float32"
    bound: bool = True
    offset: float = 0.0

    @property
    def normal(self) -> tuple[str, ...]:
        """The operands with normally distributed entries."""
        return tuple(name for name, of in self.operands.items() if of.operand.draw == "normal")

    def changed(self, dtype: str | None = None, offset: float = 0.0) -> Stage | None:
        """The stage in another type, if its operands are of float32, and with an offset, if it
        has operands that take one.  Otherwise None."""
        floating = (of.operand.draw not in ("", "truth") for of in self.operands.values())
        if dtype and (self.dtype != "float32" or not any(floating)):
            return None
        if offset and not self.normal:
            return None
        told = (self.name, dtype, f"about {offset}".removesuffix(".0") if offset else "")
        return replace(
            self, name=", ".join(filter(None, told)), dtype=dtype or self.dtype, offset=offset
        )

    def at(self, elements: int) -> Mapping[str, int]:
        """The sizes at one of ELEMENTS or at LARGER."""
        if elements != LARGER:
            place = ELEMENTS.index(elements)
            return {name: extents[place] for name, extents in self.sizes.items()}
        growing = {name for name, extents in self.sizes.items() if extents[0] != extents[-1]}
        most = max(map(partial(_dimensions, growing), self.operands.values()))
        factor = 4 if most == len(growing) == 1 else 2
        return {
            name: extents[-1] * (factor if name in growing else 1)
            for name, extents in self.sizes.items()
        }

    def values(self, elements: int) -> Mapping[str, Array]:
        """The operands as dense arrays, floating ones in float32 or float64."""
        generator, sizes = np.random.default_rng(3), self.at(elements)
        dtype = "float64" if self.dtype == "float64" else "float32"
        found = {
            name: given.operand.values(generator, sizes, dtype)
            for name, given in self.operands.items()
        }
        moved = {name: found[name] + found[name].dtype.type(self.offset) for name in self.normal}
        return {**found, **moved}

    def tensors(self, values: Mapping[str, Array]) -> Mapping[str, torch.Tensor]:
        """The operands as torch's tensors, in their types and layouts."""
        return {
            name: given.tensor(values[name], self.dtype) for name, given in self.operands.items()
        }

    def beside(self, elements: int) -> Mapping[str, Any]:
        """The arguments of `compile` besides the operands."""
        sizes = self.at(elements)
        shapes = {name: of.shape(sizes) for name, of in self.results.items()}
        return {**shapes, **{name: sizes[name] for name in self.given}}

    def by_torch(self, elements: int) -> Callable[..., Any]:
        """The line of torch as a function of the operands, in their order."""
        space = {"torch": torch, "F": functional, **self.at(elements)}
        return line_as_function(self.torch_line, self.operands, space)


def _dimensions(growing: Set[str], given: Given) -> int:
    """How many extents of the operand hold one of the names."""
    return sum(not growing.isdisjoint(findall(r"\w+", one)) for one in given.operand.extents)


def stages(source: str) -> tuple[Stage, ...]:
    """The stages of one of the files, then those of them that it asks for in a half type."""
    stated = entries(__package__, source)
    half = {entry["name"]: entry.pop("half") for entry in stated if "half" in entry}
    found = [stage(**entry) for entry in stated]
    again = [
        replace(one, name=f"{one.name}, {half[one.name]}", kind=HALF, dtype=half[one.name])
        for one in found
        if one.name in half
    ]
    return (*found, *again)


def stage(
    *,
    of: str,
    sizes: str | Mapping[str, Sequence[int]],
    line: str = "",
    torch: str = "",
    jax: str = "",
    given: str = "",
    **stated: Any,
) -> Stage:
    """The stage as its entry says."""
    tensors = dict(map(given_operand, of.split("; ")))
    extents = SIZES[sizes] if isinstance(sizes, str) else sizes
    return Stage(
        **stated,
        torch_line=torch or line,
        jax_line=jax or line,
        operands={name: of for name, of in tensors.items() if not of.operand.is_result},
        sizes={name: (few, some, many) for name, (few, some, many) in extents.items()},
        results={name: of.operand for name, of in tensors.items() if of.operand.is_result},
        given=tuple(given.split()),
    )
