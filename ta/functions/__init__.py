"""The functions and reducers of the notation as data, one per file (`ta.functions.data`).

Not here: the code that reads, evaluates, prints or compiles them.
May be imported by every room; imports none.
"""

from typing import Final

from einderive.ta.functions.data import Function, Reduction
from einderive.ta.listing import listed

FUNCTIONS: Final = {found.name: found for found in listed(__name__, Function)}
REDUCERS: Final = {found.name: found for found in listed(__name__, Reduction)}
