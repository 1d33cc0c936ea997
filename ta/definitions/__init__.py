"""Words of the notation that are defined by a formula, one per file (`ta.definitions.data`).

Not here: functions and reducers with values of their own (`ta.functions`), and the code that
replaces a word by its formula (`ta.notation.definitions`).
May be imported by every room; imports none.
"""

from typing import Final

from einderive.ta.definitions.data import Definition
from einderive.ta.listing import tables

DEFINITIONS: Final = {
    (word.name, bool(word.binder)): word for word in (Definition(**t) for t in tables(__name__))
}
"""The definitions, by name and by whether iterators follow the name: `max(a, b)` and `max[k](...)`
are two words."""
