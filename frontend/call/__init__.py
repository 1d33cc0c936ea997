"""The public call: operands in, results out, with nothing decided on the way.

Lives here: recording what a program asks of torch (`record`), making less of it (`simplify`),
writing it as one flat Python function (`source`) behind a guard (`guard`), and choosing among such
functions by the operands (`caller`).  Not here: which program is run, and what operands mean.
May be imported by the rest of `frontend`.
"""

from einderive.frontend.call.caller import Caller
from einderive.frontend.call.guard import MISS
from einderive.frontend.call.out import into

__all__ = ["MISS", "Caller", "into"]
