"""The way to record calls that a race chose at one size, put together for another one.

There is no race: what was fastest at the first size is taken.  A plain line is written again, and
its outputs and gradients are compared with float64 on random inputs, as those of all programs are.
What is kept for the backward pass are the same values of the formula; the programs that compute and
read them are made by the same choices, and judged (`frontend.sizes`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from einderive.frontend.autograd.kin import Way
from einderive.frontend.autograd.related import Part, Related
from einderive.frontend.training.by_results import by_results
from einderive.frontend.training.lines import Line, wrong
from einderive.frontend.training.proposing import ANY_BYTES
from einderive.frontend.training.saving import Saving, saving
from einderive.frontend.trial.outcome import Outcome

_NUMBER: Final = re.compile(r"\d+")


def at_another_size(
    way: Way | None, outcome: Outcome, related: Related, part: Part, lines: Sequence[Line]
) -> Way | None:
    """The way for this formula, which differs in sizes alone from the one that `way` was chosen
    for.  LookupError where there is none, or where its results are not accepted."""
    if isinstance(way, Line):
        wanted = way.rival.words, _NUMBER.sub("_", way.rival.text)
        for line in lines:
            if (line.rival.words, _NUMBER.sub("_", line.rival.text)) == wanted:
                found = Line(related.program, line.rival, way.copied)
                if not wrong(found, part, outcome.device, outcome.derivation.accuracy):
                    return found
        raise LookupError
    if isinstance(way, Saving):
        if way.reads_results:
            made = by_results(related, part, ANY_BYTES)
        else:
            made = saving(related, part, ANY_BYTES, like=way)
        if made is None:
            raise LookupError
        return made
    return None
