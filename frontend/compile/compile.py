"""Compiling: from a formula to the fastest of the programs that are equal to it.

    compile(...)  =  what such a call gave before, in any process
                     or what was chosen for such a formula before
                     or the fastest program of a derivation, raced now

The first needs no formula to be read, so the modules that derive and race are loaded after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from einderive.frontend.compile.direct import key_of, known
from einderive.frontend.compile.options import Options
from einderive.frontend.memory.kept import keeps

if TYPE_CHECKING:
    from einderive.derivations.search.progress import Progress
    from einderive.derivations.search.strategy import Budget
    from einderive.frontend.accuracy.levels import Accuracy, Nan
    from einderive.frontend.api.compiled import CompiledFunction
    from einderive.frontend.api.formula import Dtypes, Shape
    from einderive.frontend.limits.asked import Memory
    from einderive.frontend.trial.effort import Given
    from einderive.ta.ir.program import Program


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
    effort: Given = "normal",
    seconds: float | None = None,
    output: Any = None,
    baseline: Callable[..., Any] | None = None,
    outputs: Sequence[str] | None = None,
    check_assumptions: bool = True,
    memory: Memory = None,
    deterministic: bool = False,
    remember: bool = True,
    grad: bool | Iterable[str] = False,
    **shapes: Shape | int,
) -> CompiledFunction:
    """Derive, check and time programs, and return the fastest accepted one as a function:
    `f = compile("Y[i] = A[i,k]*x[k]", A=(64, 32), x=(32,))`, then `y = f(a, x)`.

    The function is a program that `Derivation.check` shows to be equal to the formula, or a plain
    program of torch.  All options of `derive` hold here too, except `most`; further:

    - An array in place of a shape gives its shape, element type and device: `compile(text, A=a)`.
    - `target` is by default the device of these arrays.  Without arrays it is the GPU, if there is
      one, else the CPU.
    - `effort` is the time for all of this: "instant" (the program that is stored, or predicted to
      be the fastest; checked, but not timed), "normal" (about 3 seconds), "high" (about a minute),
      or a number of seconds.  docs/effort.md explains each.
    - `budget` is for the search only, and `seconds` for the timing of the candidates only.  Where
      they are left out, the effort determines them.
    - `output` is an element type to which all results are converted.
    - `baseline` is a function of torch tensors that you would call instead.  It is timed and
      checked as the other programs are.
    - `check_assumptions`: if the program uses an assumption of the formula (`assume A > 0`), each
      call checks it, in one pass over the tensor.  False switches this off.
    - `memory` is a limit for the temporaries of a call, in bytes or as "2GB".  Programs that need
      more are left out.
    - `deterministic=True` uses only programs that give the same bits at every call.
    - `grad` names the operands by which gradients are compiled too; True means all floating-point
      operands.
    - `remember`: a call that was made before, in any process, returns the stored program, with no
      search and no timing (docs/memory.md).  With False, or with a `baseline`, the result is
      neither read from the disk nor stored.

    Raises what `derive` raises, and BuildError if no program gives right results within `memory`
    and `deterministic`."""
    options = Options(
        target=target,
        budget=budget,
        dtypes=dtypes,
        ranges=ranges,
        weights=weights,
        laws=laws,
        accuracy=accuracy,
        nan=nan,
        effort=effort,
        seconds=seconds,
        output=output,
        outputs=outputs,
        check_assumptions=check_assumptions,
        memory=memory,
        deterministic=deterministic,
    )
    remembering = remember and baseline is None and keeps()
    key = key_of(formula, shapes, options) if remembering else None

    def whole() -> CompiledFunction:
        from einderive.frontend.api.formula import PARSED
        from einderive.frontend.api.option_names import refuse_option_names
        from einderive.frontend.compile.anew import compiled

        refuse_option_names(compile, formula, PARSED)
        return compiled(formula, shapes, options, progress, baseline, remember, key)

    found = None if key is None else known(key, whole)
    function = whole() if found is None else found
    return function.with_gradient(None if grad is True else grad) if grad else function
