"""Laws of functions of real numbers as data, one law or family per file (`ta.laws.data`).

Not here: the proof procedure that uses them (`ta.reals`), the step that applies one.
May be imported by every room; imports none but `ta.listing`.
"""

from typing import Final

from einderive.ta.laws.data import Law
from einderive.ta.listing import tables

REAL_LAWS: Final = {
    law.name: law for family in tables(__name__) for law in map(Law.read, family["laws"])
}
