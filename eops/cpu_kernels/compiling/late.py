"""Bodies of functions on vectors are put into kernels after loops are vectorised.

numba compiles a kernel's library and optimises it as a whole.  In the library that `late_bodies`
lets it make, functions marked LATE become part of their callers after that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from einderive.eops.cpu_kernels.avx512.registers import LATE
from einderive.eops.cpu_kernels.compiling.streaming import STREAMED, streamed

ATTRIBUTES: Final = re.compile(rf'^attributes #\d+ = .*"{LATE}".*$', re.MULTILINE)
KERNEL: Final = "kernel_"
"""The names of kernels begin so.  Functions that they call are libraries of their own."""


def _optimize(library: Any) -> None:
    """As numba does, and then the bodies."""
    JITCodeLibrary._optimize_final_module(library)
    text = str(library._final_module)
    streams = STREAMED in library.name
    if KERNEL not in library.name or not (streams or LATE in text):
        return
    text = streamed(text, library._codegen._tm_features) if streams else text
    text = ATTRIBUTES.sub(lambda found: found[0].replace("noinline", "alwaysinline"), text)
    name, library._final_module = library._final_module.name, binding.parse_assembly(text)
    library._final_module.name = name
    passes: Any = binding.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_instruction_combine_pass()
    passes.add_new_gvn_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(library._final_module, library._codegen._pass_builder())


LIBRARY: Final[Any] = type("Library", (JITCodeLibrary,), {"_optimize_final_module": _optimize})


@contextmanager
def late_bodies() -> Iterator[None]:
    """Within, numba compiles kernels so."""
    codegen = cpu_target.target_context.codegen()
    with global_compiler_lock:
        known, codegen._library_class = codegen._library_class, LIBRARY
        try:
            yield
        finally:
            codegen._library_class = known
