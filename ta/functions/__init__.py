"""The functions and reducers of the notation, one a file, as data (`ta.functions.data`).

Not here: what reads, evaluates, prints or compiles them.
May be imported by every room; imports none.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from einderive.ta.functions.data import Function, Reduction


def _found(kind: str) -> dict[str, Any]:
    """What the files of this folder hold by that name, in the order of the files' names."""
    names = sorted(file.name for file in iter_modules(__path__))
    modules = (import_module(f"{__name__}.{name}") for name in names)
    return {m.name: m for module in modules if (m := getattr(module, kind, None)) is not None}


FUNCTIONS: Final[dict[str, Function]] = _found("FUNCTION")
REDUCERS: Final[dict[str, Reduction]] = _found("REDUCER")
