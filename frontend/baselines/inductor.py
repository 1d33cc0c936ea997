"""A plain program compiled by torch's own compiler, Inductor, as one more plain program.

    inductor(rival).call  =  torch.compile(rival.call)

Inductor needs a C++ compiler for a CPU, and Triton for a GPU.  Where it fails, now or in a later
process, the plain program itself is called.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Final

import torch

from einderive.eops.opaque import opaque
from einderive.frontend.baselines.rival import Rival

WORD: Final = "torch.compile"
COMPILERS: Final = ("g++", "clang++", "c++")


def available(device: str) -> bool:
    """Whether Inductor can make kernels here, as far as is known without asking it."""
    if device == "cuda":
        return find_spec("triton") is not None
    return any(map(shutil.which, filter(None, (os.environ.get("CXX"), *COMPILERS))))


class Guarded:
    """A function compiled by Inductor at its first call.  `failure` says why the function itself is
    called instead."""

    def __init__(self, plain: Callable[..., Any]) -> None:
        self._plain, self.failure = plain, ""
        self._compiled: Callable[..., Any] = torch.compile(plain, dynamic=False, fullgraph=True)

    def __call__(self, *tensors: torch.Tensor) -> Any:
        if not self.failure:
            try:
                return self._compiled(*tensors)
            except Exception as problem:  # of the compiler, or of the program, which raises it too
                self.failure = str(problem).partition("\n")[0][:160] or type(problem).__name__
        return self._plain(*tensors)


def inductor(rival: Rival) -> tuple[Rival, Guarded]:
    """The same program, whose first call compiles it, and its guard."""
    guarded = Guarded(rival.call)
    call = opaque(lambda *tensors: guarded(*tensors))
    return replace(rival, words=(WORD, *rival.words), call=call, elements=0), guarded


def original(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words of the plain program that was compiled; None if `words` are those of a program that
    Inductor did not compile."""
    return words[1:] if words[:1] == (WORD,) else None
