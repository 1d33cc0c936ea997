"""From a kernel's source to machine code: through `lowering`, or through numba if the source has a
construct that `lowering` does not support."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from numba import cfunc, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from einderive.eops.cpu_kernels.compiling.late import LIBRARY, late_bodies
from einderive.eops.cpu_kernels.compiling.stored import Library
from einderive.eops.cpu_kernels.lowering.function import Module
from einderive.eops.cpu_kernels.lowering.sources import Source
from einderive.eops.cpu_kernels.lowering.values import Unknown
from einderive.eops.cpu_kernels.words.machine import DATA


def made_of(source: str, space: Mapping[str, Any], name: str) -> Library:
    """The machine code of the source's one function, `kernel(data)`, under this name; the names in
    it mean what `space` says."""
    text = source.replace("def kernel(", f"def {name}(", 1)
    try:
        return written(text, space)
    except Unknown:
        return by_numba(text, space, name)


def written(text: str, space: Mapping[str, Any]) -> Library:
    """The code of the kernel of this text as `lowering` writes it.  Unknown for what it cannot."""
    with global_compiler_lock:
        (tree,) = ast.parse(text).body  # CPython 3.11 counts the depth of all threads' trees as one
        assert isinstance(tree, ast.FunctionDef)
        library = LIBRARY(cpu_target.target_context.codegen(), tree.name)
        module = library.create_ir_module(tree.name)
        made = Module(module).kernel(Source(tree, {"max": max, "min": min, **space}), DATA)
        library.enable_object_caching()
        library.add_ir_module(module)
        library.finalize()
    return Library(library, made.name)


def by_numba(text: str, space: Mapping[str, Any], name: str) -> Library:
    """The code that numba makes of the whole text."""
    known = dict(space)
    exec(compile(text, "<einderive kernel>", "exec"), known)
    with late_bodies():
        made = cfunc(types.void(DATA), error_model="numpy")(known[name])
    return Library(made._library, made._wrapper_name)
