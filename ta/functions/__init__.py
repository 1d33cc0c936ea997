"""The functions and reducers of the notation, one a file, as data (`ta.functions.data`).

Not here: what reads, evaluates, prints or compiles them.
May be imported by every room; imports none.
"""

from typing import Final

from einderive.ta.functions.data import Function, Reduction
from einderive.ta.listing import listed

FUNCTIONS: Final = {found.name: found for found in listed(__name__, Function)}
REDUCERS: Final = {found.name: found for found in listed(__name__, Reduction)}
