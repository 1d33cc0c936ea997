"""The peers of `einderive bench kernels`: torch eager, torch.compile (Inductor) and jax.jit.

A peer is a function without arguments that computes a stage's line on its operands and waits for
the result, which is in fresh memory.  A peer that is missing says why.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final, TypeAlias

import numpy as np
import torch

from einderive.frontend.formulas.lines import line_as_function
from einderive.frontend.stages.entry import Stage

Peer: TypeAlias = Callable[[], object]
EAGER, INDUCTOR, JAX = "torch", "Inductor", "JAX"
PEERS: Final = (EAGER, INDUCTOR, JAX)
COMPILERS: Final = ("g++", "clang++", "c++")


@cache
def missing() -> Mapping[str, str]:
    """The peers that cannot run here, and why."""
    found = {}
    if not any(map(shutil.which, COMPILERS)):
        found[INDUCTOR] = "torch.compile needs a C++ compiler, and there is none"
    if _jax() is None:
        found[JAX] = "JAX is not installed (extra `bench`)"
    return found


@cache
def _jax() -> Any:
    try:
        found = importlib.import_module("jax")
    except ImportError:
        return None
    found.config.update("jax_platforms", "cpu")  # it would take most of a GPU's memory
    found.config.update("jax_enable_x64", True)  # the operands' own types count
    return found


def jax_line(
    stage: Stage, elements: int, values: Mapping[str, np.ndarray[Any, Any]]
) -> Peer | None:
    """jax.jit of the stage's line; None where it has none.  JAX's arrays have no strides: it is
    given what lies in memory, and the view of it is part of what is compiled."""
    jax = _jax()
    if jax is None or not stage.jax_line:
        return None
    space = {
        "jax": jax,
        "jnp": importlib.import_module("jax.numpy"),
        "lax": jax.lax,
        "nn": jax.nn,
        **stage.at(elements),
    }
    written = line_as_function(stage.jax_line, tuple(stage.operands), space)
    given, operands = [*stage.operands.values()], []
    for one, value in zip(given, values.values(), strict=True):
        array = space["jnp"].asarray(one.in_memory(value))
        floating = np.issubdtype(value.dtype, np.floating)
        operands.append(array.astype(stage.dtype) if floating else array)

    def on_views(*memory: Any) -> Any:
        return written(*(one.seen(each) for one, each in zip(given, memory, strict=True)))

    line = jax.jit(on_views)
    return lambda: jax.block_until_ready(line(*operands))


def peers(
    stage: Stage, elements: int, values: Mapping[str, np.ndarray[Any, Any]], wanted: tuple[str, ...]
) -> dict[str, Peer]:
    """The peers that can compute the stage, compiled; those that refuse it are left out."""
    operands = [*stage.tensors(values).values()]
    line = stage.by_torch(elements)
    found: dict[str, Peer] = {}
    if EAGER in wanted:
        found[EAGER] = partial(line, *operands)
    if INDUCTOR in wanted and INDUCTOR not in missing():
        torch._dynamo.reset()
        compiled = torch.compile(line, fullgraph=True, dynamic=False)
        found[INDUCTOR] = partial(compiled, *operands)
    jitted = jax_line(stage, elements, values) if JAX in wanted else None
    if jitted is not None:
        found[JAX] = jitted
    return {name: peer for name, peer in found.items() if _runs(peer)}


def _runs(peer: Peer) -> bool:
    """Whether a first call, which compiles, succeeds."""
    try:
        with torch.no_grad():
            peer()
    except Exception:  # each peer has errors of its own
        return False
    return True
