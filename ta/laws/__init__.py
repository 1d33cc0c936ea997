"""Laws of functions of real numbers as data, one law or a family a file (`ta.laws.data`).

Not here: the proof procedure that uses them (`ta.reals`), the step that applies one.
May be imported by every room; imports none but `ta.listing`.
"""

from typing import Final

from einderive.ta.laws.data import Law
from einderive.ta.listing import listed

REAL_LAWS: Final = {found.name: found for found in listed(__name__, Law)}
