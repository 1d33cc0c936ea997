"""A Triton kernel compiled for a target, such as `cuda:90`, without a GPU.

function, element types of its pointers, numbers, blocks and warps -> PTX or GCN, binary, metadata
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from einderive.ta.errors import BuildError

POINTER: Final = {
    "bool": "*i1",
    "uint8": "*u8",
    "bfloat16": "*bf16",
    **{f"int{bits}": f"*i{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"*fp{bits}" for bits in (16, 32, 64)},
}
"""Triton's names of pointers to element types."""
OUTPUT: Final = {"cuda": ("ptx", "cubin"), "hip": ("amdgcn", "hsaco")}
"""The names of a back end's assembly text and binary."""
ALIGNED: Final = 16
"""Triton knows of addresses and integers whether they are multiples of this."""


@dataclass(frozen=True)
class Compiled:
    """What a target's compiler made of a kernel: Triton's own program, assembly text (PTX or AMD
    GCN), the binary, and the compiler's record (shared memory in bytes, warps, ...)."""

    target: str
    program: str
    assembly: str
    binary: bytes
    metadata: Mapping[str, Any]


def compiled_for(
    target: str,
    function: Any,
    dtypes: Sequence[str],
    blocks: Sequence[tuple[str, int]],
    options: Mapping[str, object],
    numbers: Sequence[int] = (),
) -> Compiled:
    """The kernel for a target, its first arguments pointers to elements of `dtypes`, aligned to 16
    bytes as torch's are, then integers such as `numbers`, and then the sizes `blocks`.  Of the
    integers it is known what Triton knows at a launch.  It takes tenths of a second to seconds.

    Raises BuildError where the target is no GPU, or Triton compiles nothing here."""
    backend, _, architecture = target.partition(":")
    if backend not in OUTPUT or not architecture:
        raise BuildError(f"{target} is no GPU that Triton compiles for, such as cuda:90")
    try:
        from triton import compile as compile_source  # not on every platform
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
        from triton.runtime.jit import JITFunction
    except ImportError as error:
        raise BuildError(f"Triton cannot be imported: {error}") from error
    if not isinstance(function, JITFunction):
        raise BuildError("under TRITON_INTERPRET=1, Triton compiles nothing; unset it")
    names = function.arg_names[: len(dtypes)]
    signature = {name: POINTER[dtype] for name, dtype in zip(names, dtypes, strict=True)}
    aligned = {(i,): [["tt.divisibility", ALIGNED]] for i in range(len(names))}
    constants: dict[tuple[int], int] = {}
    for place, value in enumerate(numbers, len(names)):
        argument = function.params[place]
        known = not argument.do_not_specialize
        signature[argument.name] = "i32" if -(2**31) <= value < 2**31 else "i64"
        if known and value == 1:
            signature[argument.name], constants[place,] = "constexpr", 1
        elif known and value % ALIGNED == 0:
            aligned[place,] = [["tt.divisibility", ALIGNED]]
    signature |= {block: "constexpr" for block, _ in blocks}
    first = len(names) + len(numbers)
    constants |= {(first + i,): size for i, (_, size) in enumerate(blocks)}
    warp = 64 if architecture.startswith("gfx9") else 32
    given = int(architecture) if architecture.isdecimal() else architecture
    made = compile_source(
        ASTSource(function, signature, constants, aligned),
        target=GPUTarget(backend, given, warp),
        options=dict(options),
    )
    return as_compiled(target, made)


def as_compiled(target: str, made: Any) -> Compiled:
    """What Triton's compiler gave for the target."""
    text, binary = (made.asm[name] for name in OUTPUT[target.partition(":")[0]])
    program, metadata = str(made.asm["ttir"]), made.metadata._asdict()
    return Compiled(target, program, str(text), bytes(binary), metadata)
