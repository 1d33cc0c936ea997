"""The way to record calls that a race chose at one size, put together for another one.

There is no race: what was fastest at the first size is taken.  A plain line is written again, and
its outputs and gradients are compared with float64 on random inputs, as those of all programs are.
What is kept for the backward pass are the same values of the formula; the programs that compute and
read them are made by the same choices, and judged (`frontend.sizes`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from einderive.frontend.autograd.kin import Way
from einderive.frontend.training.asked import Asked
from einderive.frontend.training.by_results import by_results
from einderive.frontend.training.lines import Line, wrong
from einderive.frontend.training.proposing import ANY_BYTES
from einderive.frontend.training.saving import Saving, saving

_NUMBER: Final = re.compile(r"\d+")


def at_another_size(way: Way | None, asked: Asked) -> Way | None:
    """The way for this formula, which differs in sizes alone from the one that `way` was chosen
    for.  LookupError where there is none, or where its results are not accepted."""
    related, part, outcome = asked.related, asked.part, asked.outcome
    made: Way | None
    if isinstance(way, Line):
        alike = (line for line in asked.lines if _outline(line) == _outline(way))
        accuracy = outcome.derivation.accuracy
        lines = (replace(line, copied=way.copied) for line in alike)
        made = next((n for n in lines if not wrong(n, part, outcome.device, accuracy)), None)
    elif not isinstance(way, Saving):
        return None
    elif way.reads_results:
        made = by_results(related, part, ANY_BYTES)
    else:
        made = saving(related, part, ANY_BYTES, like=way)
    if made is None:
        raise LookupError
    return made


def _outline(line: Line) -> object:
    """What a line is without its sizes."""
    return line.rival.words, _NUMBER.sub("_", line.rival.text)
