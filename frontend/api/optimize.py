"""Deriving and compiling: from a formula to programs that are equal and faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from numbers import Integral, Real
from time import perf_counter
from typing import Any, TypeAlias, cast

import numpy as np
import torch

from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.rules import JOINT_RULES
from einderive.derivations.search.graph import INTERRUPTED
from einderive.derivations.search.progress import Progress
from einderive.derivations.search.run import search
from einderive.derivations.search.strategy import Budget
from einderive.frontend.accuracy.levels import Accuracy, Nan, allowed, checked
from einderive.frontend.api.compiled import CompiledFunction, Derivation
from einderive.frontend.api.examples import examples
from einderive.frontend.api.laws import law_names, rules_with
from einderive.frontend.api.option_names import refuse_option_names
from einderive.frontend.api.remembered import Request, recall, recall_derivation
from einderive.frontend.api.remembered import remember as keep
from einderive.frontend.interruption import Interruption
from einderive.frontend.machine.stored import profile_of
from einderive.frontend.memory.kept import keeps
from einderive.frontend.strict import operators_for
from einderive.ta.equality.laws import names_given
from einderive.ta.errors import NameUnknownError, TextError, shown
from einderive.ta.ir.dtypes import checked_dtype
from einderive.ta.ir.names import close_matches
from einderive.ta.ir.program import Program
from einderive.ta.notation.parse import parse as parse_text
from einderive.ta.printing.show import show_program

Dtypes: TypeAlias = Mapping[str, Any] | Any
"""A name as in `ta.ir.dtypes`, or a type of NumPy or torch; for all tensors, or by tensor."""
Shape: TypeAlias = Sequence[int] | Any
"""The extents of a tensor, or an array that has them."""
TARGETS = {"cuda": "cuda:90"}
"""Short names: `cuda` is the profile that its own device comes nearest to; see `target_of`."""
SEARCH = Budget(seconds=0.5)
"""The budget of `compile`, which should end in seconds."""
TELL_SECONDS = 0.1
"""`progress` is called at most so often, and at the end."""
PARSED = ", or pass parse(text, ...) in place of the text"


def parse(
    text: str,
    /,
    *,
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    outputs: Sequence[str] | None = None,
    **shapes: Shape | int,
) -> Program:
    """Read a formula: `parse("Y[i] = A[i,k]*x[k]", A=(64, 32), x=(32,))`.

    - Give the shape of each tensor by its name.  An array gives its shape and its element type.
    - `dtypes` is one element type for all tensors, or a mapping from names of tensors to types; the
      default is float32.  Types of NumPy and torch may stand for their names.
    - `ranges` gives half-open ranges of iterators, such as `{"h": (0, 7)}`, where the shapes give
      none.
    - A size may be a name, in a shape, `A=("n", 64)`, and in the text, `where h in 0:n-2`.  Its
      value is given by the name, `n=100`, or found where an index of a known size stands in its
      place.
    - `outputs` names the statements that are outputs; the default is those that no other statement
      reads, and those with `out` before them.

    Returns the Program.  Raises FormulaSyntaxError, RangeError or NameUnknownError."""
    if not isinstance(text, str):
        raise TextError(
            f"a formula is a text, not {shown(text)}", next_step='write "Y[i] = 2*A[i]"'
        )
    refuse_option_names(parse, text)
    return parse_given(text, shapes, dtypes, ranges, outputs)


def parse_given(
    text: str,
    shapes: Mapping[str, Shape | int],
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    outputs: Sequence[str] | None = None,
) -> Program:
    """`parse` with the shapes and sizes as a mapping, in which a name may be that of an option."""
    numbers = {name: size for name, size in shapes.items() if _is_size(size)}
    given = examples({name: shape for name, shape in shapes.items() if name not in numbers})
    types = given.dtypes if dtypes is None else dtypes
    if isinstance(types, Mapping):
        types = {**given.dtypes, **types}
    bounds = {} if ranges is None else ranges
    sizes = cast(Mapping[str, int], numbers)
    return parse_text(text, given.shapes, _names(types), bounds, sizes, outputs)


def _is_size(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _names(dtypes: Any) -> Any:
    """Element types by their names; what is none is left for the parser to refuse."""
    if isinstance(dtypes, Mapping):
        return {tensor: _names(dtype) for tensor, dtype in dtypes.items()}
    if isinstance(dtypes, type | np.dtype):
        try:
            return np.dtype(dtypes).name
        except TypeError:
            return dtypes
    if isinstance(dtypes, torch.dtype | str):
        return str(dtypes).removeprefix("torch.")
    return dtypes


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
    """Derive programs that are equal to a formula, in the order of their predicted times.

    The formula is a text with the shapes of its tensors, as for `parse`, or a parsed Program.  The
    predictions are for `target`.  Nothing is measured here: `Derivation.compile` measures.

    - `budget` is a Budget or a number of seconds.  The default is a number of states, so that the
      result is the same on every machine.  `most` is the largest number of programs to return.
    - `weights` names the tensors that stay the same from call to call: `weights=["K"]`, or
      `weights="K"` for a single one.  A stage that reads only weights is computed once, when they
      are first seen.
    - `laws` allows identities of functions that hold for numbers but can overflow or lose digits
      in floating point: "exp-sum" is exp(a+b) = exp(a)*exp(b).  docs/laws.md lists them, and those
      that need no word since they can only help.
    - `progress` is called about ten times a second with a Progress.  `progress=print` shows it.
    - `accuracy` says how exact a program has to be before `compile` accepts it:

      `"normwise"` (the default): it loses at most one decimal digit against the formula as written,
      in the same types, on random and on hard inputs (data with an offset, clusters, nearly equal
      operands, ...).  The error is the largest error over the largest entry, of the whole output
      and of each row.

      `"fast"`: the same on random inputs only.  On hard inputs a program may lose all digits, as
      the product form of torch.cdist does; the loss is measured and reported.

      `"componentwise"`: each entry is judged by itself, and steps that can cancel are left out.

    - `nan="strict"` takes only steps that keep NaN and infinity where the formula has them, and
      `compile` checks this.  The default, `"ignore"`, promises nothing for inputs with NaN or
      infinity.

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
    program = _program(formula, shapes, dtypes, ranges, outputs)
    machine = profile_of(target_of(target))
    constants = constant_names(program, weights)
    rules = rules_with(laws)
    with Interruption() as interruption:
        told, latest = -inf, None

        def watch(so_far: Callable[[], Progress]) -> None:
            nonlocal told, latest
            interruption.check()
            latest = so_far
            if progress is not None and perf_counter() - told >= TELL_SECONDS:
                progress(so_far())
                told = perf_counter()

        result = search(
            program.roots(),
            rules,
            [
                op
                for op in operators_for(nan, machine.name)
                if not (op.repairs and accuracy == "componentwise")
            ],
            machine,
            most_effort,
            watch,
            int(most),
            JOINT_RULES,
            frozenset(constants),
            allowed(accuracy, nan),
        )
        if progress and latest and result.statistics.stopped != INTERRUPTED:
            progress(latest())
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


def _program(
    formula: str | Program,
    shapes: Mapping[str, Shape | int],
    dtypes: Dtypes | None,
    ranges: Mapping[str, tuple[int, int]] | None,
    outputs: Sequence[str] | None,
) -> Program:
    """The formula as a program.  TextError where there are options beside a parsed one."""
    if not isinstance(formula, Program):
        return parse(formula, dtypes=dtypes, ranges=ranges, outputs=outputs, **cast(Any, shapes))
    if shapes or not all(option is None for option in (ranges, dtypes, outputs)):
        raise TextError(
            "shapes, ranges, dtypes and outputs belong to a text; a parsed program has its own",
            next_step="give them to parse(), or pass the text",
        )
    return formula


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


def compile(  # the public name, as in re.compile; the built-in is not used here
    formula: str | Program,
    /,
    *,
    target: str | None = None,
    budget: Budget | float | None = None,
    dtypes: Dtypes | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    progress: Callable[[Progress], object] | None = None,
    weights: Iterable[str] | str = (),
    laws: Iterable[str] | str = (),
    accuracy: Accuracy = "normwise",
    nan: Nan = "ignore",
    seconds: float = 1.0,
    output: Any = None,
    baseline: Callable[..., Any] | None = None,
    outputs: Sequence[str] | None = None,
    check_assumptions: bool = True,
    remember: bool = True,
    **shapes: Shape | int,
) -> CompiledFunction:
    """Derive, check and time programs, and return the fastest accepted one as a function.

    The function is a program that `Derivation.check` shows to be equal to the formula, or a plain
    program of torch.  All options of `derive` hold here too, except `most`; further:

    - An array in place of a shape gives its shape, element type and device: `compile(text, A=a)`.
    - `target` is by default the device of these arrays.  Without arrays it is the GPU, if there is
      one, else the CPU.
    - `budget` is by default 0.5 seconds, or a number of states if that ends the search earlier.
    - `seconds` is about how long the timing of the candidates may take.
    - `output` is an element type to which all results are converted.
    - `baseline` is a function of torch tensors that you would call instead.  It is timed and judged
      beside the other programs.
    - `check_assumptions`: where the program rests on an assumption of the formula (`assume A > 0`),
      each call checks it, in one pass over the tensor.  With False it does not.
    - `remember`: what was compiled before, in any process, is taken from memory, with no search and
      no timing (see docs/memory.md).  With False it is neither recalled nor kept; nor is it with a
      `baseline` of your own.

    Raises what `derive` raises, and BuildError where no program gives right results."""
    refuse_option_names(compile, formula, PARSED)
    chosen = examples(shapes).target or default_target() if target is None else target
    converted = None if output is None else getattr(torch, checked_dtype(_names(output)))
    program = _program(formula, shapes, dtypes, ranges, outputs)
    request = Request(
        program,
        target_of(chosen),
        constant_names(program, weights),
        law_names(laws),
        accuracy,
        nan,
        limits(SEARCH if budget is None else budget),
        seconds,
        check_assumptions,
    )
    remembering = remember and baseline is None and keeps()  # a function is no key
    compiled = recall(request) if remembering else None
    if compiled is None:
        known = recall_derivation(request) if remembering else None
        if known is not None:
            found = known.derivation
        else:
            derived = derive(
                program,
                target=chosen,
                budget=request.budget,
                progress=progress,
                weights=weights,
                laws=laws,
                accuracy=accuracy,
                nan=nan,
            )
            found = replace(derived, graph=None)  # what was explored is large
        compiled = found.compile(
            seconds=seconds, baseline=baseline, check_assumptions=check_assumptions
        )
        if remembering:
            keep(request, compiled, "" if known is None else known.digest)
    options = {"budget": budget, "laws": request.laws, "seconds": seconds, "remember": remember}
    options["check_assumptions"] = check_assumptions
    return replace(compiled, output=converted, options=options)


def default_target() -> str:
    """`cuda` where a GPU is there, else `cpu`."""
    return "cuda" if torch.cuda.is_available() else "cpu"
