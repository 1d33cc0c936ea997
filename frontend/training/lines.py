"""A plain line under torch's autograd, as a way to record a call.

    line(operands)  =  the formula's outputs, on the graph that torch makes of the line's operators

Such a line stands beside the derived gradient as a plain program stands beside derived ones, and is
judged alike: its outputs as a program for the formula, its gradients as a program for the gradient.
Both have to pass on random and on hard inputs.  At ties, kinks and zeros, where random inputs never
lie, it has to give what the derived gradient gives: torch's derivative of `max_pool2d`, for one,
goes to one of several equal entries, and that of `amax` to all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch

from einderive.frontend.accuracy.accept import accepted
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.digits import WRONG
from einderive.frontend.accuracy.hard_cases import LEAST_SAFE, HardCases
from einderive.frontend.accuracy.levels import Accuracy
from einderive.frontend.autograd.part import Part
from einderive.frontend.baselines.rival import Rival
from einderive.frontend.running.results import owned
from einderive.frontend.trial.hard import expected_of
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program

Tensors = Sequence[torch.Tensor]
Inputs = Mapping[Tensor, torch.Tensor]
Run = Callable[[Inputs], tuple[torch.Tensor, ...]]

CLOSE: Final = 1e-3
"""Gradients at ties differ by less, beside the largest entry, or by some units in the last place,
where the conventions are the same; else by a whole share."""
UNITS: Final = 64
NOISY: Final = 8.0
SHARE: Final = 0.1
"""Two gradients differ by at most this many times the rounding of one; above this part of the
largest entry, that says nothing."""
SMALL: Final = 2.0**-5
NARROW: Final = (torch.float32, torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Line:
    """The plain program `rival` of a formula, which reads all of its inputs in their order.
    Results are in the formula's types and in memory of their own."""

    program: Program
    rival: Rival
    copied: bool = False
    """Results are copied: the backward pass reads them, and a caller may change its own."""

    def __post_init__(self) -> None:
        types = output_types(self.program)
        object.__setattr__(self, "_one", types[0] if len(types) == 1 else None)
        object.__setattr__(self, "_types", types)

    def __call__(self, *operands: torch.Tensor) -> Any:
        """The output, or a tuple of several."""
        return self.first(*operands)[0]

    def first(self, *operands: torch.Tensor) -> tuple[Any, Callable[..., Any]]:
        """The output, or a tuple of several, and the call of operands of the same layouts: where
        one result is handed on as it is, the plain program itself.  Whether it is depends on the
        layouts alone, since a plain program does the same for all values."""
        own: Any = vars(self)
        call = own["rival"].call
        given = call(*operands)
        one = isinstance(given, torch.Tensor)
        if one and given.dtype is own["_one"] and not own["copied"]:
            if not given._is_view() and not any(given is operand for operand in operands):
                return given, call
            (result,) = owned([given], operands)
            return result, call if result is given else self
        given = (given,) if one else given
        found = [y.to(dtype) for y, dtype in zip(given, own["_types"], strict=True)]
        results = owned([y.clone() for y in found] if own["copied"] else found, operands)
        return results[0] if len(results) == 1 else results, self

    def outputs(self, inputs: Inputs) -> tuple[torch.Tensor, ...]:
        """As a program for the formula."""
        found = self(*(inputs[tensor] for tensor in self.program.inputs))
        return found if isinstance(found, tuple) else (found,)

    def gradients(self, part: Part, given: Inputs) -> Run:
        """As a program for the gradient; `given` are values for operands that it does not read."""
        return lambda inputs: self._gradients(part, {**given, **inputs})

    def _gradients(self, part: Part, inputs: Inputs) -> tuple[torch.Tensor, ...]:
        wrt = {self.program.inputs[place] for place in part.results}
        with torch.enable_grad():
            operands = [
                inputs[tensor].detach().requires_grad_(tensor in wrt)
                for tensor in self.program.inputs
            ]
            found = self(*operands)
            outputs = found if isinstance(found, tuple) else (found,)
        seeds = {
            place: inputs[tensor]
            for place, tensor in zip(part.outputs, part.seeds, strict=True)
            if outputs[place].requires_grad
        }
        leaves = [operands[place] for place in part.results]
        slopes: Sequence[torch.Tensor | None] = torch.autograd.grad(
            [outputs[place] for place in seeds], leaves, [*seeds.values()], allow_unused=True
        )
        return tuple(
            torch.zeros_like(leaf) if slope is None else slope
            for leaf, slope in zip(leaves, slopes, strict=True)
        )


def wrong(
    line: Line,
    part: Part,
    device: str,
    accuracy: Accuracy,
    error: float = 0.0,
    *,
    hard: bool = False,
) -> str:
    """Why the line's outputs or gradients are not accepted, on random inputs or on hard ones too;
    nothing where they are.

    Hard inputs ask of the gradients what they ask of all programs: at most one digit more is lost
    than the gradient's formula loses as written, in the same types.  So `F.conv2d`, whose backward
    pass adds up the gradients by weights and bias with 1.6 digits less on some processors, may not
    be recorded there for large pictures."""
    standard = expected_of(line.program, device, accuracy)
    inputs = standard[0].inputs
    other = float(getattr(part.function, "error", 0.0)) if part.left else 0.0
    runs: tuple[tuple[str, Program, Run, float], ...] = (
        ("outputs", line.program, line.outputs, error),
        ("gradients", part.program, line.gradients(part, inputs), other),
    )
    for what, program, run, known in runs:
        own = program is line.program
        expected, base = standard if own else expected_of(program, device, accuracy)
        off = expected.error_of(run)
        bar = max(min(base, WRONG), known)
        if not accepted(off, bar, expected.epsilon):
            return f"its {what} have the error {off:.1e}, those of others {bar:.1e}"
        if hard:
            given: Any = HardCases(program, device, accuracy)
            failed = [each for each in given.errors(run, LEAST_SAFE) if not each.accepted]
            if failed:
                return f"its {what}: {failed[0].refusal}"
    return ""


def refusal(line: Line, part: Part, device: str, accuracy: Accuracy, error: float = 0.0) -> str:
    """Why the line may not be recorded; nothing where it may.  `error` is that of the program which
    computes the outputs otherwise: no more digits are asked of the line than it has itself."""
    found = wrong(line, part, device, accuracy, error, hard=True)
    if found:
        return found
    inputs = expected_of(line.program, device, accuracy)[0].inputs
    decided = [_alike(line, part, values) for values in _with_ties(line.program, part, inputs)]
    if False in decided:
        return "its gradients at ties, kinks or zeros are others"
    if True not in decided:
        return "its gradients at ties, kinks and zeros are noise"
    return ""


def _with_ties(program: Program, part: Part, drawn: Inputs) -> Iterator[Inputs]:
    """Small whole numbers, of which many are equal, with rows of zeros; the same as small parts of
    1, where sums of many products stay small; and ones.  Masks have a row that leaves out all, and
    one that leaves out none."""
    generator = torch.Generator().manual_seed(11)
    tensors = dict.fromkeys((*program.inputs, *part.program.inputs))
    mixed, ones = dict[Tensor, torch.Tensor](), dict[Tensor, torch.Tensor]()
    for tensor in tensors:
        dtype = getattr(torch, tensor.dtype)
        if dtype is torch.bool:
            mixed[tensor], ones[tensor] = _masked(drawn[tensor]), torch.ones_like(drawn[tensor])
            continue
        if not dtype.is_floating_point:
            mixed[tensor] = ones[tensor] = drawn[tensor]
            continue
        device = next(iter(drawn.values())).device
        found = torch.randint(-1, 3, tensor.shape, generator=generator).to(dtype).to(device)
        seed = tensor in part.seeds
        if found.numel() and found.ndim and not seed:
            found[0] = 0
            found[..., -1] = found[..., 0]
        mixed[tensor] = found
        ones[tensor] = found if seed else torch.ones_like(found)
    small = {
        tensor: value * SMALL if value.is_floating_point() and tensor not in part.seeds else value
        for tensor, value in mixed.items()
    }
    return iter((mixed, small, ones))


def _masked(drawn: torch.Tensor) -> torch.Tensor:
    """The truths, in the first row of which none is true, and in the last one all are."""
    found = drawn.clone()
    if found.numel() and found.ndim:
        found[-1], found[0] = True, False
    return found


def _alike(line: Line, part: Part, values: Inputs) -> bool | None:
    """Whether gradients are those of the derived program, wherever these are finite.  None where
    rounding hides it: saturated softmaxes, say, leave differences of equal numbers."""
    found = line.gradients(part, values)(values)
    with torch.no_grad():
        expected = part(*(values[tensor] for tensor in part.program.inputs))
    decided: bool | None = True
    for one, other, noise in zip(found, expected, _noise(line, part, values, found), strict=True):
        finite = other.isfinite()
        wide = torch.complex128 if other.is_complex() else torch.float64
        one, other = one[finite].to(wide), other[finite].to(wide)
        if not other.numel():
            continue
        unit, scale = UNITS * torch.finfo(expected[0].dtype).eps, float(other.abs().max())
        bound = max(CLOSE, unit) * scale + unit + NOISY * noise
        if not bool(((one - other).abs() <= bound).all()):
            return False
        if NOISY * noise > SHARE * scale + unit:
            decided = None
    return decided


def _noise(line: Line, part: Part, values: Inputs, found: Tensors) -> list[float]:
    """What rounding adds to each of the gradients that the line gives: their distances from those
    that it gives in twice the digits, or 0 where it does not compute in these."""
    more = {
        tensor: value.double() if value.dtype in NARROW else value
        for tensor, value in values.items()
    }
    none = [0.0] * len(found)
    if all(more[tensor] is value for tensor, value in values.items()):
        return none
    try:
        known = line.gradients(part, more)(more)
    except (RuntimeError, TypeError):  # a line with constants of its own
        return none
    pairs = zip(found, known, strict=True)
    distances = [(one.to(other.dtype) - other).abs() for one, other in pairs]
    return [
        float(each[each.isfinite()].amax()) if each.isfinite().any() else 0.0 for each in distances
    ]
