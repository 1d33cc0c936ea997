"""A formula as a function with derivatives, without search and timing: what it computes is the
formula as written, and so are its gradients, tangents and batches."""

from __future__ import annotations

from typing import Any

import einderive as ed
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.written import as_written
from einderive.frontend.autograd.node import Recorder
from einderive.frontend.autograd.related import Related
from einderive.frontend.call.caller import Caller


def light(formula: str | ed.Program, /, dtypes: Any = "float64", **shapes: Any) -> Caller:
    program = formula
    if not isinstance(program, ed.Program):
        program = ed.parse(program, dtypes=dtypes, **shapes)
    run = as_written(program, output_types(program))
    related = Related(program, lambda *operands: caller(*operands), light)
    caller = Caller(program, run, "cpu", record=Recorder(related, None))
    return caller
