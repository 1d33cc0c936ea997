"""Generated kernels as files beside the module that calls them.

A Triton kernel is its source.  Compiled loops are LLVM's text, which llvmlite compiles for the
processor that it finds; beside it lies the Python source that numba compiled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.resources import files
from inspect import getsource
from typing import Any

import torch

from einderive.eops.opaque import kernel_of
from einderive.frontend.call.record import Call, Ref
from einderive.frontend.call.simplify import Simple
from einderive.ta.errors import BuildError


def template(name: str) -> str:
    """The text of a file that is written, with names in braces."""
    return (files(__package__) / f"{name}.txt").read_text("utf-8")


@dataclass
class Kernels:
    """The files of a program's kernels, by name, and the lines that bind the kernels to names."""

    simple: Simple
    prefix: str
    files: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    imports: dict[str, None] = field(default_factory=dict)

    def call(self, call: Call) -> str:
        """The text of a call of a generated kernel."""
        tensors = [self._like(arg.number) for arg in call.args if isinstance(arg, Ref)]
        kernel = kernel_of(call.function, tensors)
        if kernel is None:
            raise BuildError("the program decides from the data, or keeps results: no file does")
        name = f"kernel{len(self.lines)}"
        if hasattr(kernel, "code"):
            self._loops(name, kernel)
        else:
            self._triton(name, kernel)
        arguments = ", ".join(f"v{arg.number}" for arg in call.args)
        return f"{name}({arguments}){'' if call.spread else '[0]'}"

    def _like(self, number: int) -> torch.Tensor:
        """A tensor of the same layout as one of the recording."""
        layout = self.simple.values[number].layout
        shape, strides, dtype = layout.shape, layout.strides, layout.dtype
        return torch.empty_strided(shape, strides, dtype=dtype, device=layout.device)

    def _loops(self, name: str, kernel: Any) -> None:
        from einderive.eops.cpu_kernels.calls import threads as threads_module
        from einderive.eops.cpu_kernels.calls.linked import ALONE

        library = kernel.portable().owner
        text = _without_python(str(library._get_module_for_linking()))
        file, threads = f"{self.prefix}_{name}.ll", f"{self.prefix}_threads"
        self.files[file] = text
        self.files[f"{self.prefix}_{name}.py.txt"] = kernel.shown
        self.files[f"{threads}.py"] = getsource(threads_module)
        alone = ", ".join(f'"{name}": NUMBER(lambda: {one()})' for name, one in ALONE.items())
        self.files[f"{self.prefix}_loops.py"] = template("loops").format(
            threads=threads, alone=alone
        )
        self.imports[f"from {self.prefix}_loops import loops"] = None
        results = ", ".join(f"({shape}, {dtype})" for shape, dtype in kernel.outs)
        self.lines.append(
            f"{name} = loops({file!r}, {kernel.threads}, [{results}], {kernel.team}, "
            f"{list(kernel.numbers)})"
        )

    def _triton(self, name: str, kernel: Any) -> None:
        module = f"{self.prefix}_{name}"
        self.files[f"{module}.py"] = kernel.source
        self.imports[f"import {module}"] = None
        chosen = kernel.chosen_config()
        config = kernel.fitted.get(chosen, chosen)
        options = [f"{block}={size}" for block, size in config.blocks]
        options += [f"num_warps={config.num_warps}", f"num_stages={config.num_stages}"]
        results = ", ".join(f"({shape}, torch.{dtype})" for shape, dtype in kernel.plan.outs)
        grid = kernel.plan.grid(config)
        arguments = ", ".join([*map(str, kernel.numbers), *options])
        text = template("triton").format(
            name=name, module=module, results=results, grid=grid, arguments=arguments
        )
        self.lines += text.splitlines()


def _without_python(text: str) -> str:
    """LLVM's text with `run`, in the place of numba's wrapper of the kernel if there is one.  Numba
    wraps what it compiles from a text: what the wrapper does with errors needs Python and numba,
    and the kernel raises none."""
    text = text.replace("define linkonce_odr", "define")
    text, wrappers = re.subn(r"(?ms)^define [^\n]*@cfunc\..*?^}\n", "", text)
    symbols = re.findall(r"(?m)^define [^\n]*@(\w+)\(", text)
    if wrappers > 1 or len(symbols) != 1:
        raise BuildError("compiled loops cannot be read back")
    return text + template("run_without_errors" if wrappers else "run").format(symbol=symbols[0])
