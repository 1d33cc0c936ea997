"""Deriving: from a formula to programs that are equal and predicted to be faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from time import perf_counter
from typing import cast

import torch

from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.rules import JOINT_RULES
from einderive.derivations.rules.contraction_order import thorough
from einderive.derivations.search.graph import INTERRUPTED
from einderive.derivations.search.progress import Progress
from einderive.derivations.search.run import search
from einderive.derivations.search.strategy import Budget
from einderive.frontend.accuracy.levels import Accuracy, Nan, allowed, checked
from einderive.frontend.api.compiled import Derivation
from einderive.frontend.api.formula import PARSED, Dtypes, Shape, program_of
from einderive.frontend.api.laws import rules_with
from einderive.frontend.api.option_names import refuse_option_names
from einderive.frontend.interruption import Interruption
from einderive.frontend.machine.stored import profile_of
from einderive.frontend.strict import operators_for
from einderive.ta.equality.laws import names_given
from einderive.ta.errors import NameUnknownError, TextError, shown
from einderive.ta.ir.names import close_matches
from einderive.ta.ir.program import Program
from einderive.ta.printing.show import show_program

TARGETS = {"cuda": "cuda:90"}
"""Short names: `cuda` is the profile that its own device comes nearest to; see `target_of`."""
THOROUGH_SECONDS = 5.0
"""A search of this many seconds may look for contraction orders for some of them (`thorough`)."""
TELL_SECONDS = 0.1
"""`progress` is called at most so often, and at the end."""


def derive(
    formula: str | Program,
    /,
    *,
    target: str = "cpu",
    budget: Budget | float | None = None,
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    progress: Callable[[Progress], object] | None = None,
    most: int = 16,
    weights: Iterable[str] | str = (),
    laws: Iterable[str] | str = (),
    accuracy: Accuracy = "normwise",
    nan: Nan = "ignore",
    outputs: Sequence[str] | None = None,
    **shapes: Shape | int,
) -> Derivation:
    """Derive programs that are equal to a formula, in the order of their predicted times:
    `derive("Y[i] = A[i,k]*x[k]", A=(64, 32), x=(32,))`.

    The formula is a text with the shapes of its tensors, as for `parse`, or a parsed Program.  The
    predictions are for `target`.  Nothing is measured here: `Derivation.compile` measures.

    - `budget` is a Budget or a number of seconds.  The default is a number of states, so that the
      result is the same on every machine.  `most` is the largest number of programs to return.
    - `weights` names the tensors that stay the same from call to call: `weights=["K"]`, or
      `weights="K"` for a single one.  A stage that reads only weights is computed once, at the
      first call with these weights.
    - `laws` allows identities of functions that hold for numbers but can overflow or lose digits
      in floating point: "exp-sum" is exp(a+b) = exp(a)*exp(b).  docs/laws.md lists them, and the
      laws that every search uses.
    - `progress` is a function that is called about ten times a second with a Progress.
      `progress=print` prints it.
    - `accuracy` is the condition on errors under which `compile` accepts a program:

      `"normwise"` (the default): the program loses at most one decimal digit against the formula as
      written, in the same types, on random and on hard inputs (data with an offset, clusters,
      nearly equal operands, ...).  The error is the largest error divided by the largest entry, of
      the whole output and of each row.

      `"fast"`: the same on random inputs only.  On hard inputs a program may lose all digits, as
      the product form of torch.cdist does; the loss is measured and reported.

      `"componentwise"`: the condition holds for the error of each entry, and steps that can cancel
      are left out.

    - `nan="strict"` uses only steps that keep NaN and infinity where the formula has them, and
      `compile` checks this.  With the default, `"ignore"`, nothing is guaranteed for inputs with
      NaN or infinity.

    Raises FormulaSyntaxError, RangeError, NameUnknownError, or TextError for a wrong option."""
    refuse_option_names(derive, formula, PARSED)
    if not isinstance(most, Integral) or most < 1:
        raise TextError(
            f"most is how many programs to give, not {shown(most)}", next_step="for example most=16"
        )
    if progress is not None and (not callable(progress) or isinstance(progress, type)):
        raise TextError(
            f"progress is a function, not {shown(progress)}",
            next_step="pass one of a Progress, such as print, or leave it out",
        )
    checked(accuracy, nan)
    most_effort = limits(budget)
    program = program_of(formula, shapes, dtypes, ranges, outputs)
    machine = profile_of(target_of(target))
    constants = constant_names(program, weights)
    rules, operators = rules_with(laws), operators_for(nan, machine.name)
    if most_effort.seconds is not None and most_effort.seconds >= THOROUGH_SECONDS:
        rules = thorough(rules)
    with Interruption() as interruption:
        watch = _Watch(interruption, progress)
        result = search(
            program.roots(),
            rules,
            [op for op in operators if not (op.repairs and accuracy == "componentwise")],
            machine,
            most_effort,
            watch,
            int(most),
            JOINT_RULES,
            frozenset(constants),
            allowed(accuracy, nan),
        )
        if result.statistics.stopped != INTERRUPTED:
            watch.tell()
    return Derivation(
        program,
        machine.name,
        result.plans,
        result.unchanged,
        result.statistics,
        constants,
        accuracy=accuracy,
        nan=nan,
        graph=result.graph,
    )


@dataclass
class _Watch:
    """Tells how far a search is, about ten times a second, and asks for an interruption."""

    interruption: Interruption
    progress: Callable[[Progress], object] | None
    told: float = -inf
    latest: Callable[[], Progress] | None = None

    def __call__(self, so_far: Callable[[], Progress]) -> None:
        self.interruption.check()
        self.latest = so_far
        if perf_counter() - self.told >= TELL_SECONDS:
            self.tell()
            self.told = perf_counter()

    def tell(self) -> None:
        if self.progress is not None and self.latest is not None:
            self.progress(self.latest())


def constant_names(program: Program, weights: Iterable[str] | str) -> tuple[str, ...]:
    """The given names, once each, in the order of the program's tensors.

    NameUnknownError where a name is no tensor of the program."""
    known = [tensor.name for tensor in program.inputs]
    try:
        given, wrong = names_given(weights, "weights"), ""
    except NameUnknownError as error:
        given, wrong = (), error.message
    near = ""
    for name in given:
        if name not in known:
            wrong = f"{name!r:.80} is given as a weight but is not a tensor of the formula"
            near = close_matches(name, known)
            break
    if wrong:
        raise NameUnknownError(
            wrong,
            text=show_program(program),
            next_step=f"{near + ' ' if near else ''}its tensors are {', '.join(known) or 'none'}",
        )
    return tuple(name for name in known if name in given)


def limits(budget: Budget | float | None) -> Budget:
    """The budget as a Budget; TextError where a limit is not above 0."""
    example = "for example budget=2.0, or budget=Budget(states=1000)"
    if budget is None:
        budget = Budget()
    elif isinstance(budget, Real):
        budget = Budget(seconds=cast(float, budget))
    elif not isinstance(budget, Budget):
        raise TextError(
            f"budget is a Budget or a number of seconds, not {shown(budget)}", next_step=example
        )
    seconds = 1.0 if budget.seconds is None else budget.seconds
    limits = {"states": budget.states, "effort": budget.effort, "seconds": seconds}
    for name, value in limits.items():
        if not isinstance(value, Real) or not value > 0:  # also refuses NaN
            raise TextError(
                f"every limit of a budget must be above 0, and {name} is {shown(value, 40)}",
                next_step=example,
            )
    if not isinstance(budget.converging_effort, Real) or not budget.converging_effort >= 0:
        raise TextError(
            f"converging_effort is a number, not {shown(budget.converging_effort, 40)}",
            next_step="leave it out, or give one of 0 or more",
        )
    if not isinstance(budget.keep_duplicates, bool):
        raise TextError(
            f"keep_duplicates is True or False, not {shown(budget.keep_duplicates, 40)}",
            next_step="leave it out",
        )
    return budget


def target_of(name: object) -> str:
    """The machine profile's name, `cuda` resolved to the device that is there."""
    if isinstance(name, str) and name == "cuda" and torch.cuda.is_available():
        exact = "cuda:" + "".join(map(str, torch.cuda.get_device_capability()))
        return exact if exact in MACHINES else "cuda:90"
    name = TARGETS.get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in MACHINES:
        raise NameUnknownError(
            f"unknown target {shown(name)}",
            next_step=f"use one of {', '.join((*MACHINES, *TARGETS))}; cuda is any GPU",
        )
    return name


def default_target() -> str:
    """`cuda` where a GPU is there, else `cpu`."""
    return "cuda" if torch.cuda.is_available() else "cpu"
