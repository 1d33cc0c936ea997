"""How to repeat a derivation: one command, a few lines of Python, the versions, the record."""

from __future__ import annotations

import json
import platform
import shlex
from importlib.metadata import PackageNotFoundError, version
from keyword import iskeyword

from einderive.frontend.derived import Derived
from einderive.frontend.explorer.models import Reproduction
from einderive.frontend.version import __version__
from einderive.ta.ir.node import Tensor
from einderive.ta.printing.show import show_program

DEFAULT = "float32"
LIBRARIES = ("torch", "numpy", "triton", "numba")


def reproduction(derivation: Derived) -> Reproduction:
    """What repeats the derivation.  Budget and laws are not among a record's fields."""
    record = json.dumps(derivation.data(), ensure_ascii=False, separators=(",", ":"))
    return Reproduction(_command(derivation), _python(derivation), tuple(_versions()), record)


def _command(derivation: Derived) -> str:
    source = derivation.source
    words = [show_program(source)]
    words += [f"{tensor.name}={','.join(map(str, tensor.shape))}" for tensor in source.inputs]
    for tensor in source.inputs:
        if tensor.dtype != DEFAULT:
            words += ["--dtype", f"{tensor.name}={tensor.dtype}"]
    if derivation.target != "cpu":
        words += ["--target", derivation.target]
    if derivation.weights:
        words += ["--weights", ",".join(derivation.weights)]
    if derivation.accuracy != "normwise":
        words += ["--accuracy", derivation.accuracy]
    if derivation.nan != "ignore":
        words += ["--nan", derivation.nan]
    return f"einderive derive {shlex.join([*words, '--run'])}"


def _python(derivation: Derived) -> str:
    source = derivation.source
    shapes = [f"{tensor.name}={tensor.shape!r}" for tensor in source.inputs]
    if any(map(iskeyword, (tensor.name for tensor in source.inputs))):
        shapes = [f"**{ ({tensor.name: tensor.shape for tensor in source.inputs})!r}"]
    dtypes = {t.name: t.dtype for t in source.inputs if t.dtype != DEFAULT}
    options = [f"dtypes={dtypes!r}"] * bool(dtypes)
    options += [f"target={derivation.target!r}"] * (derivation.target != "cpu")
    options += [f"weights={list(derivation.weights)!r}"] * bool(derivation.weights)
    options += [f"accuracy={derivation.accuracy!r}"] * (derivation.accuracy != "normwise")
    options += [f"nan={derivation.nan!r}"] * (derivation.nan != "ignore")
    options += [", ".join(shapes)] * bool(shapes)
    text = show_program(source)
    quoted = f'"""\n{text}\n"""' if "\n" in text else json.dumps(text, ensure_ascii=False)
    names = ", ".join(f"{tensor.name}={tensor.name}" for tensor in source.inputs if _plain(tensor))
    lines = ["import einderive as ed", "", "d = ed.derive(", f"    {quoted},"]
    lines += [f"    {option}," for option in options]
    lines += [")", "print(d.check())", "f = d.compile()", f"result = f({names})"]
    return "\n".join(lines)


def _plain(tensor: Tensor) -> bool:
    return tensor.name.isidentifier()


def _versions() -> list[tuple[str, str]]:
    found = [("einderive", __version__), ("Python", platform.python_version())]
    for name in LIBRARIES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return [*found, ("machine", f"{platform.system()} {platform.machine()}")]
