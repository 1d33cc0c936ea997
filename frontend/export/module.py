"""The files of a program that runs by itself, and the module that calls it and checks it.

    write(program, run, ...)  ->  out/program.py, its kernels, `python out/program.py` checks itself

The module holds the calls that a run makes on dense operands, and the same formula in float64, as
written, as the reference that `main` compares with.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from inspect import getsource
from keyword import iskeyword
from pathlib import Path
from typing import Final

import torch

from einderive.eops.dtypes import FLOATS
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.inputs.drawn import random_inputs
from einderive.frontend.accuracy.written import as_written
from einderive.frontend.call.caller import Run
from einderive.frontend.call.element_types import with_types
from einderive.frontend.call.record import Trace, Unrecordable, record
from einderive.frontend.call.simplify import simplified
from einderive.frontend.export.calls import statements
from einderive.frontend.export.error import error
from einderive.frontend.export.kernels import Kernels, template
from einderive.frontend.files import write_whole
from einderive.frontend.running.settings import undisturbed
from einderive.frontend.version import __version__
from einderive.ta.errors import BuildError
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program
from einderive.ta.printing.show import show_program

MODULE: Final = "program"
TAKEN: Final = frozenset({"torch", "sys", "program", "reference", "operands", "main", "loops"})
WIDER: Final = 10.0
"""The check in the module allows this many times the error that was found when it was written."""

FIND: Final = """
sys.path.insert(0, str(Path(__file__).parent))  # its kernels lie beside it
"""


def write(
    program: Program, run: Run, device: str, folder: str | os.PathLike[str], label: str
) -> tuple[Path, ...]:
    """The files, written to the folder: the module first.  Raises BuildError for a program that
    cannot be written, and OutputError."""
    found = files(program, run, device, label)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, content in found.items():
        write_whole(place / name, content)
    return tuple(place / name for name in found)


@undisturbed()
def files(program: Program, run: Run, device: str, label: str) -> dict[str, str]:
    """The texts of the files by name, the module first.  Raises BuildError for a program that
    cannot be written."""
    inputs = random_inputs(program.inputs, device)
    given = [inputs[tensor].contiguous() for tensor in program.inputs]
    trace = _recorded(program, run, given)
    simple = simplified(trace)
    kernels = Kernels(simple, MODULE)
    body = [*statements(simple, kernels.call)]
    wide = {t.name: "float64" if t.dtype in FLOATS else t.dtype for t in program.inputs}
    exact = with_types(program, wide)
    plain = as_written(exact, output_types(exact))
    doubled = [x.double() if x.is_floating_point() else x for x in given]
    written = simplified(_recorded(exact, plain, doubled))
    names = _names(program.inputs)
    text = template("program").format(
        comments="\n".join(_comments(program)),
        version=__version__,
        needs="".join(f" and {name}" for name in _needs(kernels)),
        module=MODULE,
        imports="\n".join([FIND, *kernels.imports, ""] if kernels.imports else [""]),
        shapes=[tensor.shape for tensor in program.inputs],
        types="[" + ", ".join(f"torch.{tensor.dtype}" for tensor in program.inputs) + "]",
        allowed=_allowed(program, run, plain, given, doubled, exact),
        kernels="\n".join(["", *kernels.lines, ""] if kernels.lines else [""]),
        parameters=", ".join(names),
        given=", ".join(names),
        label=label,
        numbers=", ".join(f"v{number}" for number in range(len(names))),
        body="\n".join("    " + line for line in body),
        reference="\n".join("    " + line for line in statements(written, _refused)),
        device=device,
        error=getsource(error),
        operands=", ".join(map(_operand, program.inputs)),
    )
    return {f"{MODULE}.py": text, **kernels.files}


def _recorded(program: Program, run: Run, given: Sequence[torch.Tensor]) -> Trace:
    def call(tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        return run(dict(zip(program.inputs, tensors, strict=True)))

    call(given)  # kernels are built at the first run
    try:
        return record(call, given)[0]
    except Unrecordable:
        raise BuildError("the program's calls depend on the data: no file holds them") from None


def _allowed(
    program: Program,
    run: Run,
    plain: Run,
    given: Sequence[torch.Tensor],
    doubled: Sequence[torch.Tensor],
    exact: Program,
) -> list[float]:
    found = run(dict(zip(program.inputs, given, strict=True)))
    expected = plain(dict(zip(exact.inputs, doubled, strict=True)))
    allowed = []
    for y, z in zip(found, expected, strict=True):
        epsilon = torch.finfo(y.dtype).eps if y.is_floating_point() else 0.0
        allowed.append(WIDER * max(error(y, z), epsilon))
    return allowed


def _refused(call: object) -> str:
    raise BuildError("the formula as written holds a call that no file holds")


def _needs(kernels: Kernels) -> list[str]:
    found = []
    if any(name.endswith(".ll") for name in kernels.files):
        found.append("numba (its llvmlite)")
    if any("import triton" in text for text in kernels.files.values()):
        found.append("triton")
    return found


def _names(inputs: Sequence[Tensor]) -> list[str]:
    """Parameters: the tensors' own names where Python takes these."""
    found = []
    for number, tensor in enumerate(inputs):
        name = tensor.name
        fits = name.isascii() and name.isidentifier() and not iskeyword(name) and name not in TAKEN
        found.append(name if fits else f"operand{number}")
    return found


def _comments(program: Program) -> list[str]:
    lines = show_program(program).splitlines()
    lines += [f"{t.name}: {t.dtype}, {t.shape}" for t in program.inputs]
    return ["# " + line.encode("unicode_escape").decode("ascii") for line in lines]


def _operand(tensor: Tensor) -> str:
    kind = f"dtype=torch.{tensor.dtype}, device=device"
    if tensor.dtype == "bool":
        return f"torch.randint(0, 2, {tensor.shape}, {kind})"
    if tensor.dtype in FLOATS:
        return f"torch.randn({tensor.shape}, {kind})"
    least = 0 if tensor.dtype.startswith("u") else -8
    return f"torch.randint({least}, 8, {tensor.shape}, {kind})"
