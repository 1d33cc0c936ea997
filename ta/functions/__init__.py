"""The functions and reducers of the notation as data, one per file (`ta.functions.data`).

Not here: the code that reads, evaluates, prints or compiles them.
May be imported by every room; imports none.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from einderive.ta.functions.data import Function, Reduction
from einderive.ta.functions.stated import function, reduction
from einderive.ta.listing import frozen, stems, table

_CODED: Final = {module.name for module in iter_modules(__path__)}


def _of_file(name: str) -> Function | Reduction:
    """What a TOML file states, with the code of the Python file of its name, if there is one."""
    if name in _CODED:
        found: Function = import_module(f"{__name__}.{name}").FUNCTION
        return found
    given = frozen(table(__name__, f"{name}.toml"))
    return (reduction if "ufunc" in given else function)(name, given)


_ALL: Final = [_of_file(name) for name in stems(__name__)]
FUNCTIONS: Final = {found.name: found for found in _ALL if isinstance(found, Function)}
REDUCERS: Final = {found.name: found for found in _ALL if isinstance(found, Reduction)}
