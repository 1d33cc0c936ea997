"""Deriving and compiling: from a text or a program to equal, faster programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from derivations.cost import MACHINES
from derivations.graph import Budget, Graph, Progress
from derivations.rule import Rule
from derivations.rules import JOINT_RULES, RULES
from derivations.search import search
from eops.library import OPERATORS
from frontend.accuracy import Accuracy, Nan, allowed, checked
from frontend.compiled import CompiledFunction, compile_derivation
from frontend.derivation import Derivation
from frontend.interruption import Interruption
from ta.errors import NameUnknownError, TextError
from ta.laws import law_names
from ta.parse import parse as parse_text
from ta.program import Program
from ta.show import show_program

Dtypes: TypeAlias = Mapping[str, Any] | Any
"""A name as in `ta.dtypes`, or a type of NumPy or torch; for all tensors, or by tensor."""
TARGETS = {"cuda": "cuda:90"}
"""Short names: `cuda` is the profile that its own device comes nearest to; see `target_of`."""


def parse(
    text: str,
    /,
    *,
    dtypes: Dtypes = "float32",
    ranges: Mapping[str, tuple[int, int]] | None = None,
    **shapes: Sequence[int],
) -> Program:
    """The program of a formula: `parse("Y[i] = A[i,k]*x[k]", A=(64, 32), x=(32,))`.

    Shapes are given by tensor name; `ranges` gives iterators' half-open ranges where no tensor
    does.  `dtypes` is one element type, or one for each tensor that is not float32; types of NumPy
    and torch stand for their names.  Raises FormulaSyntaxError, RangeError or NameUnknownError."""
    if not isinstance(text, str):
        raise TextError(f"a formula is a text, not {text!r}", next_step='write "Y[i] = 2*A[i]"')
    return parse_text(text, shapes, _names(dtypes), ranges or {})


def _names(dtypes: Any) -> Any:
    """Element types by their names; what is none is left for the parser to refuse."""
    if isinstance(dtypes, Mapping):
        return {tensor: _names(dtype) for tensor, dtype in dtypes.items()}
    if isinstance(dtypes, type | np.dtype):
        try:
            return np.dtype(dtypes).name
        except TypeError:
            return dtypes
    name = str(dtypes)
    return name.removeprefix("torch.") if name.startswith("torch.") else dtypes


def derive(
    formula: str | Program,
    /,
    *,
    target: str = "cpu",
    budget: Budget | float | None = None,
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    progress: Progress | None = None,
    most: int = 16,
    weights: Sequence[str] = (),
    laws: Sequence[str] = (),
    accuracy: Accuracy = "normwise",
    nan: Nan = "ignore",
    **shapes: Sequence[int],
) -> Derivation:
    """Equal programs for a formula, the one predicted to be fastest on `target` first.

    `weights` names the tensors that stay the same from call to call: whatever reads only these is
    computed once, when they are first seen.

    `laws` names identities of functions that hold for numbers but can overflow in floating point,
    and that are used only if asked for: "exp-sum", exp(a+b) = exp(a)*exp(b).

    `accuracy="componentwise"` leaves out steps that can cancel and judges each output entry by
    itself; the default, `"normwise"`, judges by the largest entry, as torch.cdist's product form
    asks for.  `nan="strict"` takes only steps that keep NaN and infinity where the formula has
    them, and `compile` checks it; the default, `"ignore"`, promises nothing for such inputs.

    `budget`: a Budget, or seconds; the default is a number of states, so that the result does not
    depend on the machine's pace.  Nothing is measured here: `Derivation.compile` does that."""
    if most < 1:
        raise TextError(
            f"most is how many programs to give, not {most!r:.80}", next_step="for example most=16"
        )
    checked(accuracy, nan)
    limits = _limits(budget)
    if not isinstance(formula, Program):
        types = "float32" if dtypes is None else dtypes
        program = parse(formula, dtypes=types, ranges=ranges, **cast(Any, shapes))
    elif shapes or ranges or dtypes is not None:
        raise TextError(
            "shapes, ranges and dtypes belong to a text; a parsed program has its own",
            next_step="give them to parse(), or pass the text",
        )
    else:
        program = formula
    machine = MACHINES[target_of(target)]
    constants = constant_names(program, weights)
    rules = _rules(laws)
    with Interruption() as interruption:

        def watch(graph: Graph, expanded: int, waiting: int) -> None:
            interruption.check()
            if progress is not None:
                progress(graph, expanded, waiting)

        result = search(
            program.roots(),
            rules,
            OPERATORS,
            machine,
            limits,
            watch,
            most,
            JOINT_RULES,
            constants,
            allowed(accuracy, nan),
        )
    return Derivation(
        program,
        machine.name,
        result.plans,
        result.unchanged,
        result.statistics,
        tuple(weights),
        accuracy=accuracy,
        nan=nan,
    )


def _rules(laws: Sequence[str]) -> tuple[Rule, ...]:
    """The rules that rest on no law of a function, and those that rest on the given ones."""
    known = law_names(laws)
    used = {law for rule in RULES for law in rule.laws}
    for law in sorted(known - used):
        raise NameUnknownError(
            f"no rule rests on the law {law!r}",
            next_step=f"laws that rules use: {', '.join(sorted(used))}",
        )
    return tuple(rule for rule in RULES if known.issuperset(rule.laws))


def constant_names(program: Program, weights: Sequence[str]) -> frozenset[str]:
    """The names, each of which has to be a tensor of the program."""
    known = {tensor.name for tensor in program.inputs}
    for name in (weights,) if isinstance(weights, str) else weights:
        if name not in known:
            raise NameUnknownError(
                f"{name!r} is given as a weight but is no tensor of the formula",
                text=show_program(program),
                next_step=f"its tensors are {', '.join(sorted(known))}",
            )
    return frozenset((weights,) if isinstance(weights, str) else weights)


def _limits(budget: Budget | float | None) -> Budget:
    """The budget as such; TextError where it leaves nothing to search with."""
    if isinstance(budget, int | float):
        budget = Budget(seconds=float(budget))
    elif budget is None:
        budget = Budget()
    elif not isinstance(budget, Budget):
        raise TextError(
            f"budget is a Budget or a number of seconds, not {budget!r}",
            next_step="for example budget=2.0, or budget=Budget(states=1000)",
        )
    seconds = 1.0 if budget.seconds is None else budget.seconds
    limits = {"states": budget.states, "effort": budget.effort, "seconds": seconds}
    for name, value in limits.items():
        if not value > 0:  # also refuses NaN
            raise TextError(
                f"every limit of a budget is above 0, and {name} is {value!r:.40}",
                next_step="for example budget=2.0, or budget=Budget(states=1000)",
            )
    return budget


def target_of(name: str) -> str:
    """The machine profile's name, `cuda` resolved to the device that is there."""
    if name == "cuda":
        import torch

        if torch.cuda.is_available():
            major, minor = torch.cuda.get_device_capability()
            exact = f"cuda:{major}{minor}"
            return exact if exact in MACHINES else "cuda:90"
    name = TARGETS.get(name, name)
    if name not in MACHINES:
        raise NameUnknownError(
            f"unknown target {name!r}",
            next_step=f"use one of {', '.join((*MACHINES, *TARGETS))}",
        )
    return name


def compile(  # the public name, as in re.compile; the built-in is not used here
    formula: str | Program,
    /,
    *,
    target: str | None = None,
    budget: Budget | float | None = None,
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    progress: Progress | None = None,
    weights: Sequence[str] = (),
    laws: Sequence[str] = (),
    accuracy: Accuracy = "normwise",
    nan: Nan = "ignore",
    seconds: float = 1.0,
    **shapes: Sequence[int],
) -> CompiledFunction:
    """Derive, check, time, and hand back the fastest accepted program as a function.

    `target` defaults to the GPU where there is one; `seconds` is about how long the timing of the
    candidates may take."""
    chosen = target or default_target()
    found = derive(
        formula,
        target=chosen,
        budget=budget,
        dtypes=dtypes,
        ranges=ranges,
        progress=progress,
        weights=weights,
        laws=laws,
        accuracy=accuracy,
        nan=nan,
        **cast(Any, shapes),
    )
    return compile_derivation(found, seconds=seconds)


def default_target() -> str:
    """`cuda` where a GPU is there, else `cpu`."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def compile_program(program: Program) -> Callable[..., Any]:
    """The compiled function of a program, for callers that have no options to give."""
    return compile(program)
