"""The classes `Derivation` and `CompiledFunction`: a derivation, and the function compiled from
it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

import torch

from einderive.frontend.autograd.kin import Flags, Kin, Way
from einderive.frontend.autograd.node import Recorder
from einderive.frontend.autograd.related import Related
from einderive.frontend.call.caller import Caller, Resize, Retype, Run
from einderive.frontend.call.guard import MISS
from einderive.frontend.call.layouts import Layout
from einderive.frontend.call.misfits import handed_on, operand_order, refuse_layout
from einderive.frontend.call.out import into
from einderive.frontend.call.simplify import Simple
from einderive.frontend.call.traced import Order, Words, traced_call
from einderive.frontend.derived import Derived
from einderive.frontend.files import opened, write_whole
from einderive.frontend.limits.asked import Memory, limits_of
from einderive.frontend.measurements.data import race_data
from einderive.frontend.measurements.recorded import RecordedRace
from einderive.frontend.sizes.family import Family
from einderive.frontend.timed.trial import Watch
from einderive.frontend.trial.effort import Given, effort_of
from einderive.frontend.trial.outcome import Outcome
from einderive.ta.ir.program import Program
from einderive.ta.printing.show import show_program
from einderive.ta.uncopied import Uncopied

ROOM: Final = "einderive.frontend.compile"
COMPILE, REBUILT, OPERATOR = f"{ROOM}.compile", f"{ROOM}.rebuilt", f"{ROOM}.formula_operator"
NAMED: Final = f"{ROOM}.torch_operator"
TRAINING: Final = "einderive.frontend.training.choose"
OTHER_SIZES: Final = "einderive.frontend.api.other_sizes"
"""They are loaded at the first gradient, traced call or other size: some build on this file, others
load all rules."""


@dataclass(frozen=True, eq=False, repr=False)
class Derivation(Derived):
    """A formula, equal programs for it, and the steps to each: the result of `derive` and `load`.

    - `print(d)` shows the steps; a notebook shows them as mathematics.
    - `d.explore()` opens a page with everything about the derivation.
    - `d.check()` verifies the steps again, with the independent checker.
    - `d.compile()` builds and times the programs, and returns the fastest one as a function.
    - `d.save(path)` writes the derivation as JSON, and `einderive.load(path)` reads it.
    """

    recorded_race: RecordedRace | None = field(default=None, repr=False)
    """The race that its record holds: what was measured, where and when."""

    def data(self, search: bool = False, kernels: bool = False) -> dict[str, Any]:
        found, race = super().data(search, kernels), self.recorded_race
        return found if race is None else found | {"measured": race_data(race, self.candidates)}

    def compile(
        self,
        *,
        effort: Given = "normal",
        seconds: float | None = None,
        tried: int | None = None,
        baseline: Callable[..., Any] | None = None,
        progress: Callable[[str], object] | None = None,
        watch: Watch | None = None,
        check_assumptions: bool = True,
        memory: Memory = None,
        deterministic: bool = False,
        remember: bool = True,
    ) -> CompiledFunction:
        """Build, check and time the best candidates and the plain programs; return the fastest
        accepted one as a function.

        - `effort` is "instant", "normal", "high" or a number of seconds (docs/effort.md).
        - `seconds` is about the longest time for the timing, and `tried` the number of candidates
          to build.  Where they are left out, the effort determines them.
        - `baseline` is a function of torch tensors that you would call instead; it is timed too.
        - `progress` is a function that is called with a text, which states the present work.
        - `watch` is a function that is called with all trials after each round of a race.
        - `check_assumptions=False`: calls do not check the assumptions that the program uses.
        - `memory` is a limit for the temporaries of a call, in bytes or as "2GB"; programs that
          need more are left out.  `deterministic=True` uses only programs that give the same bits
          at every call.
        - `remember=False`: times of single stages are neither read from the disk nor stored."""
        from einderive.frontend.memory.kept import store
        from einderive.frontend.trial.choose import choose  # builds only when asked for

        outcome = choose(
            self,
            effort=effort_of(effort),
            seconds=seconds,
            tried=tried,
            baseline=baseline,
            progress=progress,
            watch=watch,
            check_assumptions=check_assumptions,
            kept=store() if remember else None,
            limits=limits_of(memory, deterministic),
        )
        options = {
            "effort": effort,
            "seconds": seconds,
            "check_assumptions": check_assumptions,
            "memory": memory,
            "deterministic": deterministic,
        }
        return CompiledFunction(**vars(outcome), options=options)

    def __str__(self) -> str:
        from einderive.frontend.report.derivation import derivation_text

        return derivation_text(self)

    def _repr_html_(self) -> str:
        from einderive.frontend.explorer.whole import element

        return element(self, self.recorded_race)

    def to_html(self, path: str | os.PathLike[str], *, beside: Derivation | None = None) -> None:
        """Write the derivation as one self-contained HTML page: the explorer.  With `beside`, the
        page has both derivations side by side."""
        if beside is not None:
            from einderive.frontend.explorer.comparison.page import comparison_page

            write_whole(path, comparison_page(self, beside))
            return
        from einderive.frontend.explorer.whole import whole_page

        write_whole(path, whole_page(self, self.recorded_race))

    def explore(self, other: Derivation | None = None) -> Path:
        """Open the explorer in a browser, and return the path of its page, a temporary file.

        With another derivation, the page has both side by side: steps, programs, costs, data."""
        return opened(partial(self.to_html, beside=other))


@dataclass(frozen=True, eq=False)
class CompiledFunction(Outcome, Uncopied):
    """The chosen program as a function of arrays.

    Call it by name, `f(A=a, x=x)`, or by position, in the order in which the formula first reads
    the tensors.  `print(f)` shows which programs were tried, and which one was chosen."""

    __name__: ClassVar[str] = "compiled_function"  # torch.vmap shows it, or else traces the repr
    derivation: Derivation
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """The options of `compile`, besides those that the derivation has."""
    kin: Any = field(default_factory=Kin, repr=False)
    """What it shares with functions of its formula at other sizes: `frontend.autograd.kin.Kin`."""

    def __post_init__(self) -> None:
        _ = self._caller  # torch.compile cannot trace a property's first use

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """The outputs for the given arrays: a single output by itself, several as a tuple.

        - NumPy arrays give NumPy arrays, and torch tensors give torch tensors.  Each result has
          memory of its own.
        - Lists and numbers take the formula's element type.  If all operands are lists or numbers,
          the results are NumPy arrays; for bfloat16, which NumPy lacks, they are tensors.
        - Operands of other floating types are computed in the type to which they promote.
        - Where shapes have named sizes, operands may have other sizes (docs/sizes.md).
        - `out=` is an array for the result, or a tuple of arrays for several outputs.  If the
          formula has a tensor named `out`, the name means that tensor.
        - Where an operand requires gradients, the call adds a node to torch's graph.  `torch.func`
          may differentiate the function and map it (docs/pytorch.md).

        Raises OperandError for an operand of a wrong shape or type, and AssumptionError for one
        that violates an assumption that the program uses."""
        caller = self._caller
        if not named:
            for flat in caller.asked:  # as `Caller` does: a function call less on the way
                found = flat(*args)
                if found is not MISS:
                    return found if flat is caller.asked[0] else caller.first(flat, found)
        if "out" in named and all(t.name != "out" for t in self.derivation.source.inputs):
            out = named.pop("out")
            return into(self.derivation.source, out, caller(*args, **named))
        return caller.unasked(args, named)

    def as_torch_op(self, name: str, /) -> Callable[..., Any]:
        """The function as one operator of torch, `torch.ops.einderive.<name>`.

        A compiled function may be called under `torch.compile` and `torch.export` as it is.  This
        operator gives it a name of its own in traced code.  A name such as `"mine::scores"`
        contains the namespace too.

        - Operands are tensors of the formula's shapes and types, by position or by name.
        - Results are contiguous, and have memory of their own.
        - It has gradients, and `torch.func` may transform it.
        - For a CUDA graph, call it once before the capture: kernels are built at the first call.

        Raises TextError if another function has the name."""
        made: Callable[..., Any] = import_module(NAMED).torch_operator(self, name)
        return made

    def export(self, folder: str | os.PathLike[str], /) -> tuple[Path, ...]:
        """Write the chosen program as Python that runs without einderive, and return its files.

        `program.py` has the calls of torch, and the generated kernels are files beside it.  It
        needs torch, and triton or numba for such kernels.  `python program.py` compares it with
        the formula in float64.

        - Operands have the shapes and types of the formula; they are made contiguous first.
        - Compiled loops run on processors of this machine's family only.

        Raises BuildError for a program whose calls depend on the data or that keeps results of
        weights, and OutputError where a file cannot be written."""
        from einderive.frontend.export.module import write

        label = f"{self.chosen.label}: {', '.join(self.chosen.words)}"
        return write(self.derivation.source, self._converted(self.run), self.device, folder, label)

    def recorded(self, /, *operands: torch.Tensor) -> Simple:
        """The calls of torch that a call with such tensors makes."""
        return self._caller.recorded(operands)

    @cached_property
    def _caller(self) -> Caller:
        resize = None if self.formula.at_shapes is None else self._resized
        return self._called(self._relatives, self.run, self._retyped, resize)

    @property
    def formula(self) -> Program:
        """The formula that the function computes."""
        return self.derivation.source

    @property
    def searches(self) -> int:
        """The number of sizes for which a search was made."""
        return self._sizes.searches

    @cached_property
    def _sizes(self) -> Family[CompiledFunction]:
        return Family(self, CompiledFunction._remade, self._searched)

    def _resized(self, shapes: Mapping[str, tuple[int, ...]]) -> Caller | None:
        found = self._sizes.at(shapes)
        return None if found is None else found._caller

    def _searched(self, program: Program) -> CompiledFunction:
        """The formula compiled for other sizes, with the same options."""
        compiler: Callable[..., CompiledFunction] = import_module(COMPILE).compile
        found = compiler(program, **self._options)
        return replace(found, kin=self.kin)

    def _remade(self, program: Program) -> CompiledFunction | None:
        """The function of a formula that differs from this one in sizes alone, by the same choices
        and without a search; None where they do not hold there."""
        if program is self.formula:
            return self
        outcome = import_module(OTHER_SIZES).outcome_at(self, program, self.options)
        if outcome is None:
            return None
        return CompiledFunction(**vars(outcome), options=self.options, kin=self.kin)

    @cached_property
    def _relatives(self) -> Related:
        return self._related(self.formula, self.run)

    def _related(self, program: Program, run: Run) -> Related:
        """The functions derived from the formula, or from the formula in other types."""

        def compiled(program: Program) -> CompiledFunction:
            compiler: Callable[..., CompiledFunction] = import_module(COMPILE).compile
            return compiler(program, **{**self._options, "weights": (), "output": None})

        def choose(related: Related, flags: Flags) -> Way | None:
            found: Way | None = import_module(TRAINING).choose(self, related, flags, self.options)
            return found

        call = Caller(program, run, self.device, linked=self.linked)
        return Related(program, call, compiled, choose, self.kin)

    def _called(
        self,
        related: Related,
        run: Run,
        retype: Retype | None = None,
        resize: Resize | None = None,
    ) -> Caller:
        """The call, which leaves a node on torch's graph where torch asks for one."""
        return Caller(
            related.program,
            self._converted(run),
            self.device,
            retype,
            Recorder(related, self.output),
            self._traced,
            resize=resize,
            linked=self.linked,
        )

    def with_gradient(self, wrt: Iterable[str] | None = None) -> CompiledFunction:
        """Compile the gradient by these operands, and return the function itself.

        The default is all floating-point operands.  Without this call, the gradient is compiled at
        the first backward pass that needs it."""
        self._relatives.compile_gradient(wrt)
        return self

    def _traced(self, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        return traced_call(self, args, named)

    def __reduce_ex__(self, protocol: object) -> Any:
        """What a pickle holds: the text of the function, from which it is built anew."""
        return import_module(REBUILT).function_of, (self.text,)

    def _operator_text(self, layout: Layout = ()) -> str:
        """The text that stands in traced code for the function of such operands."""
        import_module(OPERATOR)
        shapes = zip(self.formula.inputs, layout, strict=False)
        with handed_on():
            other = self._sizes.at({t.name: size for t, (size, *_) in shapes}) if layout else None
            function = self if other is None else other
            if layout:
                refuse_layout(function.formula, layout, self.device)
        text: str = import_module(REBUILT).known(function.text, function)
        return text

    def _operand_order(self, words: Words) -> Order:
        with handed_on():
            return operand_order(self.formula, words)

    # As torch.compiler.assume_constant_result does, which would load the whole tracer.
    _operator_text.__dict__["_dynamo_marked_constant"] = True
    _operand_order.__dict__["_dynamo_marked_constant"] = True

    @cached_property
    def text(self) -> str:
        """The formula and the options of `compile` as JSON, which stand for it in other places."""
        text: str = import_module(REBUILT).written(self.derivation.source, self._options)
        return text

    @property
    def _options(self) -> dict[str, Any]:
        """All options of `compile` that give this function."""
        found = self.derivation
        about = {"target": found.target, "accuracy": found.accuracy, "nan": found.nan}
        return {**self.options, **about, "weights": found.weights, "output": self.output}

    def _converted(self, run: Run) -> Run:
        output = self.output
        return run if output is None else lambda inputs: [y.to(output) for y in run(inputs)]

    def _retyped(self, types: Mapping[str, str]) -> Caller:
        from einderive.frontend.accuracy.written import as_written
        from einderive.frontend.call.element_types import specialised  # only where types differ

        source, accuracy = self.derivation.source, self.derivation.accuracy
        program, run = specialised(source, self.run, types, self.device, accuracy, as_written)
        return self._called(self._related(program, run), run)

    def _repr_html_(self) -> str:
        from einderive.frontend.explorer.whole import element

        return element(self.derivation, self)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write derivation and measurements as one self-contained HTML page: the explorer."""
        from einderive.frontend.explorer.whole import whole_page
        from einderive.frontend.measurements.stages import race_of

        race = race_of(self)
        kept = replace(self.derivation, recorded_race=race)
        write_whole(path, whole_page(kept, self, race.stages))

    def explore(self) -> Path:
        """Open the explorer in a browser, and return the path of its page, a temporary file."""
        return opened(self.to_html)

    def save(
        self, path: str | os.PathLike[str], *, search: bool = False, kernels: bool = False
    ) -> None:
        """Write the record as `Derivation.save` does, with the race: all times, the machine, the
        date."""
        from einderive.frontend.measurements.stages import race_of

        kept = replace(self.derivation, recorded_race=race_of(self))
        kept.save(path, search=search, kernels=kernels)

    def __str__(self) -> str:
        from einderive.frontend.report.measured import compiled_text

        return compiled_text(self)

    def __repr__(self) -> str:
        formula = show_program(self.derivation.source)
        return f"<CompiledFunction of {formula!r}, {self.chosen.label} chosen>"
