"""Building, checking and timing candidates, and the function that comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from derivations.extract import Plan
from frontend.accept import Reference, accepted, error, reference
from frontend.baseline import baseline
from frontend.derivation import Derivation
from frontend.execute import Executable, executable
from frontend.timing import race, timed
from ta.errors import EinderiveError, OperandError
from ta.node import Tensor
from ta.program import Program
from ta.show import show_program

TRIED = 4
"""So many of the candidates predicted fastest are built and timed."""
MARGIN = 0.97
"""A candidate replaces the baseline when it takes at most this part of the baseline's time."""
HOPELESS_PREDICTION = 30.0
"""Candidates predicted to take this many times the best one's time are not built."""
HOPELESS = 4.0
"""A rival that takes this many times the fastest one's time on its first runs is not timed on."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One program as it was tried; `verdict` is `baseline`, `accepted` or why it was refused."""

    label: str
    plan: Plan | None
    words: tuple[str, ...]
    seconds: float
    error: float
    verdict: str


@dataclass(frozen=True)
class CompiledFunction:
    """The chosen program: call it with arrays by name, or by position in order of appearance.

    `trials` are all programs that were tried, the baseline first; `chosen` is one of them."""

    derivation: Derivation
    run: Executable
    trials: tuple[Trial, ...]
    chosen: Trial
    device: str

    @property
    def baseline(self) -> Trial:
        return self.trials[0]

    @property
    def ratio(self) -> float:
        """Baseline seconds over chosen seconds."""
        return self.baseline.seconds / self.chosen.seconds

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs for the given arrays, as the kind of array that came in: one output alone,
        several as a tuple.  Raises OperandError."""
        inputs, numpy = bind(self.derivation.source, args, named, self.device)
        outputs = self.run(inputs)
        values = tuple(y.cpu().numpy() if numpy else y for y in outputs)
        return values[0] if len(values) == 1 else values

    def __str__(self) -> str:
        from frontend.report import compiled_text

        return compiled_text(self)


def bind(
    program: Program, args: Sequence[Any], named: Mapping[str, Any], device: str
) -> tuple[dict[Tensor, torch.Tensor], bool]:
    """Operands by tensor, checked; and whether they were NumPy arrays."""
    text = show_program(program)
    names = [tensor.name for tensor in program.inputs]
    signature = ", ".join(f"{t.name}: {_shape(t.shape)} {t.dtype}" for t in program.inputs)
    if len(args) > len(names):
        raise OperandError(
            f"{len(args)} operands for a formula of {len(names)} tensors",
            text=text,
            sizes=signature,
            next_step=f"call it as f({', '.join(names)})",
        )
    given = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name in given or name not in names:
            what = "is given twice" if name in given else "is not a tensor of the formula"
            raise OperandError(
                f"the operand {name} {what}",
                text=text,
                sizes=signature,
                next_step=f"call it as f({', '.join(names)})",
            )
        given[name] = value
    found: dict[Tensor, torch.Tensor] = {}
    numpy = False
    for tensor in program.inputs:
        if tensor.name not in given:
            raise OperandError(
                f"the operand {tensor.name} is missing",
                text=text,
                span=_span(text, tensor.name),
                sizes=signature,
                next_step=f"pass {tensor.name}=..., of shape {_shape(tensor.shape)}",
            )
        found[tensor], from_numpy = _operand(tensor, given[tensor.name], text, device)
        numpy |= from_numpy
    return found, numpy


def _operand(tensor: Tensor, value: Any, text: str, device: str) -> tuple[torch.Tensor, bool]:
    numpy = not isinstance(value, torch.Tensor)
    if numpy:
        array = np.asarray(value)
        shape, dtype = array.shape, str(array.dtype)
    else:
        shape, dtype = tuple(value.shape), str(value.dtype).removeprefix("torch.")
    span = _span(text, tensor.name)
    if shape != tensor.shape:
        raise OperandError(
            f"{tensor.name} has shape {_shape(shape)}, the formula was compiled for "
            f"{_shape(tensor.shape)}",
            text=text,
            span=span,
            sizes=f"{tensor.name} is {_shape(shape)} here",
            next_step=f"pass a {_shape(tensor.shape)} array, or compile for {_shape(shape)}",
        )
    if dtype != tensor.dtype:
        raise OperandError(
            f"{tensor.name} has elements of type {dtype}, the formula was compiled for "
            f"{tensor.dtype}",
            text=text,
            span=span,
            sizes=f"{tensor.name} is {_shape(shape)} {dtype}",
            next_step=f"convert it, or compile with dtypes={{{tensor.name!r}: {dtype!r}}}",
        )
    if numpy:
        writable = array if array.flags.writeable and min(array.strides, default=0) >= 0 else None
        return torch.from_numpy(array.copy() if writable is None else writable).to(device), True
    if value.device.type != device:
        raise OperandError(
            f"{tensor.name} lies on {value.device}, the program was compiled for {device}",
            text=text,
            span=span,
            next_step=f"move it with .to({device!r}), or compile with target={value.device.type!r}",
        )
    return value.detach(), False


def _span(text: str, name: str) -> tuple[int, int] | None:
    at = text.find(name + "[")
    return (at, at + len(name)) if at >= 0 else None


def _shape(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) if shape else "scalar"


def compile_derivation(
    derivation: Derivation, *, seconds: float = 1.0, tried: int = TRIED
) -> CompiledFunction:
    """Build the best candidates and the baseline, refuse what is inaccurate, race the rest.

    The baseline stays unless a candidate takes at most 97 % of its time."""
    device = "cpu" if derivation.target == "cpu" else "cuda"
    if device == "cuda" and not torch.cuda.is_available():
        raise OperandError(
            f"{derivation.target} programs cannot run here: torch sees no CUDA device",
            next_step="derive with target='cpu' to run, or stop at derive() to read the program",
        )
    program = derivation.source
    expected = reference(program, device)
    stages, words = baseline(program)
    direct = Executable(
        program.roots(),
        tuple(scope for scope, _ in stages),
        tuple(run for _, run in stages),
        tuple(words),
    )
    base = error(direct(expected.inputs), expected.outputs)
    rivals: list[tuple[Trial, Executable | None]] = [
        (Trial("baseline", None, tuple(words), float("inf"), base, "baseline"), direct)
    ]
    for number, plan in worth_trying(derivation, tuple(words), tried):
        rivals.append(_try(f"candidate {number}", plan, device, expected, base))
    return _choose(derivation, rivals, expected, device, seconds)


def worth_trying(
    derivation: Derivation, baseline_words: tuple[str, ...], tried: int
) -> list[tuple[int, Plan]]:
    """Candidates with their numbers, without the baseline itself and what is predicted to take
    many times longer than the best one."""
    best = derivation.candidates[0].seconds
    found = []
    for number, plan in enumerate(derivation.candidates, 1):
        operators = tuple(stage.operator or "" for stage in plan.stages)
        same = plan.roots == derivation.source.roots() and operators == baseline_words
        if not same and plan.seconds <= HOPELESS_PREDICTION * best:
            found.append((number, plan))
    return found[:tried]


def _try(
    label: str, plan: Plan, device: str, expected: Reference, base: float
) -> tuple[Trial, Executable | None]:
    infinite = float("inf")
    try:
        built = executable(plan, device)
        off = error(built(expected.inputs), expected.outputs)
    except (EinderiveError, RuntimeError, MemoryError, NotImplementedError) as problem:
        verdict = f"not built: {str(problem).splitlines()[0]}"
        return Trial(label, plan, (), infinite, infinite, verdict), None
    if not accepted(off, base, expected.epsilon):
        verdict = f"refused: error {off:.1e}, the baseline's is {base:.1e}"
        return Trial(label, plan, built.words, infinite, off, verdict), None
    return Trial(label, plan, built.words, infinite, off, "accepted"), built


def _choose(
    derivation: Derivation,
    rivals: list[tuple[Trial, Executable | None]],
    expected: Reference,
    device: str,
    seconds: float,
) -> CompiledFunction:
    cuda = device == "cuda"
    running = [(p, built) for p, (_, built) in enumerate(rivals) if built is not None]
    calls = {p: partial(built, expected.inputs) for p, built in running}
    first = {p: min(timed(call, cuda) for _ in range(2)) for p, call in calls.items()}
    fastest = min(first.values())
    racing = [p for p in calls if p == 0 or first[p] <= HOPELESS * fastest]
    medians = race([calls[p] for p in racing], seconds=seconds, cuda=cuda)
    measured = first | dict(zip(racing, medians, strict=True))
    trials = tuple(
        Trial(t.label, t.plan, t.words, measured.get(p, t.seconds), t.error, t.verdict)
        for p, (t, _) in enumerate(rivals)
    )
    best = min(measured, key=lambda p: measured[p])
    if measured[best] > MARGIN * measured[0]:
        best = 0
    built = rivals[best][1]
    assert built is not None
    return CompiledFunction(derivation, built, trials, trials[best], device)
