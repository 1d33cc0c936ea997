"""Building generated kernels: from a stage to a callable on tensors.

Sources live in a cache directory, one module a kernel, named by the sha256 of its text.  Triton is
imported only when a kernel is built, so everything else works where it is missing.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from weakref import WeakValueDictionary

import torch

from einderive.eops.ahead_of_time.compiled import Compiled, compiled_for
from einderive.eops.ahead_of_time.resources import spilled, spilled_here
from einderive.eops.cache_folder import cache_folder
from einderive.eops.capture import capturing
from einderive.eops.kept_files import keep_small, write_whole
from einderive.eops.triton_kernels.cost import Planned, by_prediction
from einderive.eops.triton_kernels.emit_rows import emit_rows
from einderive.eops.triton_kernels.emit_triton import emit
from einderive.eops.triton_kernels.plan import Plan, plan
from einderive.eops.triton_kernels.rows import RowPlan
from einderive.eops.triton_kernels.sizes.numbers import CLOSED, Numbers, opened
from einderive.eops.triton_kernels.tuning.blocks import Config, without_spills
from einderive.eops.triton_kernels.tuning.kept import digest, keep, kept
from einderive.ta.errors import BuildError
from einderive.ta.ir.node import Scope

FP_FUSION: Final = True
"""Whether a*b + c may become one fused operation, which rounds once instead of twice.  The option
is always passed on, since Triton's own default changes with its version."""
ALIGNMENT: Final = 16
"""Bytes: a kernel compiled for pointers at multiples of this is right for such pointers only."""
_TIMING: Final = threading.Lock()
"""Configurations are timed by one thread at a time."""


MOST_BYTES: Final = 16 << 20
"""Of sources on disk, some thousands; likewise of what Python makes of them."""
SOURCES: Final = "eop_*"
SPARED: Final = 3600.0
"""Seconds in which a source that another process has just found is surely read."""


def interpreting() -> bool:
    """Whether Triton runs kernels in its interpreter, on the CPU."""
    return os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "yes", "on", "y")


def default_cache() -> Path:
    """The folder of sources.  If nothing is kept, they live as long as the process."""
    place = cache_folder()
    return Path(_temporary().name) if place is None else place / "triton"


@cache
def _temporary() -> tempfile.TemporaryDirectory[str]:
    """Where sources are if they cannot be kept, as Triton reads a kernel's source from a file."""
    return tempfile.TemporaryDirectory(prefix="einderive-")


def write_source(source: str, directory: Path) -> Path:
    """The file with this source, written whole or not at all."""
    path = directory / f"eop_{hashlib.sha256(source.encode()).hexdigest()}.py"
    if path.is_file() and path.read_text(encoding="utf-8") == source:
        with suppress(OSError):
            os.utime(path)
        return path
    write_whole(path, source.encode())
    with suppress(OSError):
        keep_small(directory, MOST_BYTES, SOURCES, SPARED)
        keep_small(directory / "__pycache__", MOST_BYTES, SOURCES, SPARED)
    return path


@lru_cache(maxsize=1024)
def _load_module(path: Path) -> ModuleType:
    name = f"einderive_kernels.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BuildError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise BuildError(f"Triton cannot be imported: {error}") from error
    return module


@dataclass(frozen=True)
class Kernel:
    """A built stage, or several: `kernel(*sources)` gives the outputs, one alone as a tensor.

    Tensors come in the order of `plan.sources`, dense, with the sources' shapes and the plan's
    element types, all on one device.  On a GPU the plan's configurations are timed at the first
    call on each kind of device and the fastest is kept in `chosen`.  Their times are kept on disk
    (`tuning`): another process takes the fastest without a trial.
    """

    plan: Planned
    source: str
    path: Path
    function: Any
    chosen: dict[str, Config] = field(default_factory=dict)
    tried: dict[Config, float] = field(default_factory=dict)
    """Seconds of the configurations that were timed, here or by an earlier process."""
    compiled: dict[Config, Any] = field(default_factory=dict)
    """What Triton compiled for each configuration."""
    fitted: dict[Config, Config] = field(default_factory=dict)
    """What is launched on a GPU for each configuration: it on more warps, if it spills registers
    else."""
    numbers: tuple[int, ...] = ()
    """The arguments of an open kernel for its size.  What kernels of one source have tried and
    compiled, they share."""
    fastest: set[tuple[str, Config]] = field(default_factory=set)
    """The configurations that were chosen for a size, by the kind of device."""

    def __call__(self, *tensors: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """The one output, written to `out` where given.  Raises BuildError for a misfit."""
        (found,) = self.outputs(tensors, None if out is None else (out,))
        return found

    def outputs(
        self, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, ...]:
        """All outputs, written to `outs` where given.  Raises BuildError for a misfit."""
        device = self._check(tensors, outs or ())
        if outs is None:
            outs = [
                torch.empty(shape, dtype=getattr(torch, dtype), device=device)
                for shape, dtype in self.plan.outs
            ]
        if any(out.numel() for out in outs):
            self.launch(self.config(tensors, outs), tensors, outs)
        return tuple(outs)

    def launch(
        self, config: Config, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor]
    ) -> Any:
        """One run of the kernel with the given configuration.  Gives what Triton compiled."""
        if outs[0].device.type != "cuda":
            return self._run(config, tensors, outs)
        if config not in self.fitted:
            self.fitted[config] = without_spills(
                config, lambda one: self._spilled(one, tensors, outs)
            )
        made = self._run(self.fitted[config], tensors, outs)
        self.compiled[config] = made
        return made

    def _run(
        self, config: Config, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor]
    ) -> Any:
        options: dict[str, Any] = dict(config.blocks)
        options |= {"num_warps": config.num_warps, "num_stages": config.num_stages}
        grid, device = (self.plan.grid(config),), outs[0].device
        if device.type != "cuda":
            return self.function[grid](*tensors, *outs, *self.numbers, **options)
        with torch.cuda.device(device):
            options["enable_fp_fusion"] = FP_FUSION
            return self.function[grid](*tensors, *outs, *self.numbers, **options)

    def _spilled(
        self, config: Config, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor]
    ) -> int:
        """Words that a thread spills; 1 where the configuration asks for too much memory."""
        from triton.runtime.errors import OutOfResources

        try:
            return spilled_here(self._run(config, tensors, outs))
        except OutOfResources:
            return 1

    def compiled_for(self, target: str, config: Config) -> Compiled:
        """The kernel in a configuration, on more warps if it spills registers else, compiled for a
        GPU that need not be there.  Raises BuildError."""
        dtypes = (*self.plan.dtypes, *(dtype for _, dtype in self.plan.outs))

        @cache
        def compiled(one: Config) -> Compiled:
            options = {
                "num_warps": one.num_warps,
                "num_stages": one.num_stages,
                "enable_fp_fusion": FP_FUSION,
            }
            return compiled_for(target, self.function, dtypes, one.blocks, options, self.numbers)

        return compiled(without_spills(config, lambda one: spilled(compiled(one))))

    def config(self, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor]) -> Config:
        """The fastest configuration for the device that the tensors lie on: of an open kernel, one
        that was fastest for another size, where it is worth running for this size too.  Nothing is
        timed in the capture of a CUDA graph, where no one waits for the device."""
        configs, device = self.plan.configs, outs[0].device
        if device.type != "cuda" or len(configs) == 1:
            return configs[0]
        kind = _kind(device, aligned([*tensors, *outs]))
        if kind not in self.chosen:
            worth = self.plan.worth if self.fastest else ()
            before = next((one for one in worth if (kind, one) in self.fastest), None)
            if before is not None:
                self.chosen[kind] = before
                return before
            if capturing():
                return self.chosen_config()
            with _TIMING:
                if kind not in self.chosen:
                    self._choose(kind, tensors, outs)
        return self.chosen[kind]

    def _choose(
        self, kind: str, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor]
    ) -> None:
        """Choose the configuration for a kind of device by its times, kept or measured now."""
        configs = self.plan.configs
        words = [*map(str, configs)]
        shapes = [source.ranges for source in self.plan.sources]
        name = digest(self.source, shapes, self.plan.dtypes, self.plan.outs, words, kind)
        seconds = kept(name, words)
        if seconds is None:
            trial = [*map(torch.empty_like, outs)]  # the outputs show what the chosen one wrote
            seconds = tuple([self._seconds(config, tensors, trial) for config in configs])
            keep(name, dict(zip(words, seconds, strict=True)))
        self.tried.update(zip(configs, seconds, strict=True))
        self.chosen[kind] = configs[seconds.index(min(seconds))]
        if self.plan.open_beyond:
            self.fastest.add((kind, self.chosen[kind]))

    def chosen_config(self) -> Config:
        """The configuration that was fastest where the kernel ran last, or the best guess."""
        return next(iter(self.chosen.values()), self.plan.configs[0])

    def _seconds(
        self, config: Config, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor]
    ) -> float:
        """The time of one run; infinite where the configuration asks for too much memory."""
        from triton.runtime.errors import OutOfResources
        from triton.testing import do_bench

        try:
            return float(do_bench(lambda: self.launch(config, tensors, outs), 5, 20)) / 1000
        except OutOfResources:
            return float("inf")

    def _check(self, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor]) -> torch.device:
        shapes = [tuple(r.extent for r in source.ranges) for source in self.plan.sources]
        if len(tensors) != len(shapes):
            raise BuildError(f"the kernel takes {len(shapes)} tensors, not {len(tensors)}")
        wanted = [*zip(shapes, self.plan.dtypes, strict=True)]
        buffers = [*tensors, *outs]
        wanted += self.plan.outs if outs else ()
        for tensor, (shape, dtype) in zip(buffers, wanted, strict=True):
            if tensor.shape != shape or tensor.dtype != getattr(torch, dtype):
                given = f"{tuple(tensor.shape)} of {tensor.dtype}"
                raise BuildError(f"the kernel takes {shape} of {dtype}, not {given}")
            if not tensor.is_contiguous():
                raise BuildError(f"the kernel takes dense tensors, not strides {tensor.stride()}")
        devices = {tensor.device for tensor in buffers}
        default = "cpu" if interpreting() or not torch.cuda.is_available() else "cuda"
        device = devices.pop() if devices else torch.device(default)
        if devices:
            raise BuildError("the kernel's tensors lie on several devices")
        if device.type != "cuda" and not interpreting():
            raise BuildError(
                f"a Triton kernel needs a GPU, not {device}; or set TRITON_INTERPRET=1"
            )
        return device


def _kind(device: torch.device, at_multiples: bool) -> str:
    """What times depend on besides the kernel: the kind of device, and whether all tensors start at
    multiples of ALIGNMENT."""
    major, minor = torch.cuda.get_device_capability(device)
    name = f"{torch.cuda.get_device_name(device)}, {major}.{minor}"
    return name if at_multiples else f"{name}, not aligned"


def aligned(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether all tensors start at multiples of ALIGNMENT."""
    return all(tensor.data_ptr() % ALIGNMENT == 0 for tensor in tensors)


def build(
    scope: Scope,
    dtypes: Sequence[str] | None = None,
    *,
    out_dtype: str | None = None,
    formula: str = "",
    cache: Path | None = None,
    open_beyond: int = 0,
) -> Kernel:
    """The stage as a callable kernel; `dtypes` and `open_beyond` as in `plan`.  Raises
    BuildError."""
    made = by_prediction(plan(scope, dtypes, out_dtype, open_beyond=open_beyond))
    return build_stage(made, formula=formula, cache=cache)


def build_stage(made: Plan, *, formula: str = "", cache: Path | None = None) -> Kernel:
    """The planned stage, or product, as a callable kernel.  Raises BuildError."""
    source, numbers = text_of(made, formula)
    return kernel_of(made, source, cache, numbers)


def build_rows(made: RowPlan, *, formula: str = "", cache: Path | None = None) -> Kernel:
    """The group of stages as a callable kernel.  Raises BuildError."""
    source, numbers = text_of(made, formula)
    return kernel_of(made, source, cache, numbers)


def text_of(made: Planned, formula: str = "") -> tuple[str, tuple[int, ...]]:
    """The source of the planned kernel, and the numbers that it takes as arguments."""

    def write(numbers: Numbers) -> str:
        if isinstance(made, RowPlan):
            return emit_rows(made, formula, numbers=numbers)
        return emit(made, formula, upcast=interpreting(), numbers=numbers)

    return opened(write, made.open_beyond) if made.open_beyond else (write(CLOSED), ())


def kernel_of(
    made: Planned, source: str, cache: Path | None = None, numbers: tuple[int, ...] = ()
) -> Kernel:
    """The kernel of a plan with this source.  Raises BuildError."""
    try:
        path = write_source(source, (cache or default_cache()).resolve())
    except OSError:  # the disk is full, say
        path = write_source(source, Path(_temporary().name).resolve())
    kernel = Kernel(made, source, path, _load_module(path).eop, numbers=numbers)
    before = KNOWN.get(source) if made.open_beyond else None
    if before is not None:
        kernel = replace(before, plan=made, numbers=numbers, chosen={})
    KNOWN[source] = kernel
    return kernel


KNOWN: Final[WeakValueDictionary[str, Kernel]] = WeakValueDictionary()
"""The kernels that were built, by their source."""
