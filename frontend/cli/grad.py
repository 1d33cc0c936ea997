"""`einderive grad`."""

from __future__ import annotations

from typing import Any

import click

from einderive.frontend.cli.codes import DONE, FAILED, UNDECIDED
from einderive.frontend.cli.parameters import OPTIONS, SHAPES, examples, options, refuse_options


@click.command(short_help="Print the gradient of a formula, as a formula.", epilog=examples("grad"))
@click.argument("formula")
@SHAPES
@options("wrt ones forward dtype range check json", OPTIONS["grad"])
def grad(
    formula: str,
    shapes: tuple[str, ...],
    wrt: str | None,
    ones: bool,
    forward: bool,
    dtype: tuple[str, ...],
    over: tuple[str, ...],
    check: bool,
    as_json: bool,
) -> int:
    """Print the gradient of a formula as a program in the notation.

    The gradient by A is dA. The operand dY stands for the cotangent of the output Y. Shapes are
    given as for `derive`.

    Exit codes: 0 done; 1 a check failed; 2 the input cannot be used; 3 undecided.
    """
    from einderive.frontend import arguments

    if ones and forward:
        raise arguments.UsageError(
            "--ones is for gradients, and --forward asks for another derivative",
            next_step="leave one of them out",
        )
    extents = arguments.shapes(shapes, names=True)
    types, ranges = arguments.dtypes(dtype), arguments.ranges(over)
    from einderive.frontend.gradients.grad import grad as gradient
    from einderive.frontend.gradients.grad import jvp
    from einderive.ta.notation.parse import sizes_named, tensors_named

    named = frozenset().union(*tensors_named(formula)) - sizes_named(formula)
    tensors, sizes = arguments.without_sizes(extents, named, formula)
    names = None if wrt is None else [name.strip() for name in wrt.split(",") if name.strip()]
    given: dict[str, Any] = {**tensors, **sizes}
    refuse_options(gradient, "grad", given)
    if forward:
        found = jvp(formula, wrt=names, dtypes=types, ranges=ranges, **given)
    else:
        found = gradient(
            formula, wrt=names, cotangent=1 if ones else None, dtypes=types, ranges=ranges, **given
        )
    verdict = found.check() if check else None
    if as_json:
        from einderive.frontend.report.data import json_text

        shown = {"operands": found.operands, "results": found.results, "verdict": verdict}
        print(json_text({"program": str(found), **shown}))
    else:
        print(found)
    if verdict is None:
        return DONE
    click.echo(str(verdict), err=True)
    return DONE if verdict else UNDECIDED if verdict.kind == "undecided" else FAILED
