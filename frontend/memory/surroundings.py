"""What a derivation and a measurement depend on besides the formula and the options.

    software()           this package, to the last change of a file, and the Python that runs it
    machine(device)      processor or GPU, threads, torch with its settings, compilers of kernels

Where any of it differs, what was remembered is of something else, and is not found.
"""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import torch

from einderive.frontend.version import __version__

PROCESSOR = Path("/proc/cpuinfo")
TOLD = ("model name", "flags", "Features", "CPU part", "CPU implementer")
"""Lines of `PROCESSOR` that say what a core is."""
COMPILERS = ("numba", "llvmlite", "triton")
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Variables that say how many threads libraries take."""


@cache
def software() -> dict[str, str]:
    """The versions on which a derivation depends; those of the record and of the rules stand in
    the files."""
    return {
        "einderive": __version__,
        "files": _files(),
        "python": platform.python_version(),
    }


def machine(device: str) -> dict[str, str]:
    """What times and digits on `cpu` or `cuda` depend on."""
    precision = {
        "float32 products": torch.get_float32_matmul_precision(),
        "default type": str(torch.get_default_dtype()),
        "deterministic": str(torch.are_deterministic_algorithms_enabled()),
        "mkldnn": str(torch.backends.mkldnn.enabled),
    }
    found = {
        **{name: _version(name) for name in COMPILERS},
        "torch": torch.__version__,
        "processor": _processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": str(os.cpu_count()),
        "threads": str(torch.get_num_threads()),
        **{name: os.environ.get(name, "") for name in THREADS},
    }
    if device == "cuda":
        products = torch.backends.cuda.matmul
        precision |= {
            "tf32": f"{products.allow_tf32}, {torch.backends.cudnn.allow_tf32}",
            "float16 sums": str(products.allow_fp16_reduced_precision_reduction),
            "bfloat16 sums": str(products.allow_bf16_reduced_precision_reduction),
            "cudnn": f"{torch.backends.cudnn.enabled}, {torch.backends.cudnn.benchmark}",
        }
        found |= {"GPU": torch.cuda.get_device_name(), "CUDA": str(torch.version.cuda)}
        found["capability"] = str(torch.cuda.get_device_capability())
    return found | precision


@cache
def _files() -> str:
    """A digest of the names, sizes and times of this package's files: a change in a source tree
    counts as a new version."""
    found = hashlib.sha256()
    for top in ("ta", "derivations", "eops", "frontend"):
        spec = find_spec(f"einderive.{top}")  # which loads no module
        for folder in (spec and spec.submodule_search_locations) or ():
            found.update(repr(sorted(_listed(folder))).encode())
    return found.hexdigest()[:32]


def _listed(folder: str) -> list[tuple[str, int, int]]:
    found = []
    pending = [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                else:
                    status = entry.stat()
                    found.append((entry.path, status.st_size, status.st_mtime_ns))
    return found


@cache
def _processor() -> str:
    """The first core's name and instructions."""
    try:
        with open(PROCESSOR, encoding="utf-8", errors="replace") as file:
            first = file.read(1 << 14).split("\n\n")[0]
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    lines = [line for line in first.splitlines() if line.split("\t")[0].strip() in TOLD]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
