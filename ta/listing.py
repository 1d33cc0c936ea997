"""What the files of a folder define: a rule, an operator, ... is added by adding its file."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

Kind = TypeVar("Kind")


def listed(package: str, kind: type[Kind], first: str = "", last: str = "") -> tuple[Kind, ...]:
    """The values of a class that the files of a package define, alone or in tuples.

    The order is that of the files: those that `first` names, all others by their names, those that
    `last` names; within a file that of its definitions.  A value belongs to one file, so a file
    that needs one of another file imports that file.  ValueError where two files hold the same
    value, or where a file that is named is missing."""
    there = [module.name for module in iter_modules(sys.modules[package].__path__)]
    ahead, behind = first.split(), last.split()
    if missing := {*ahead, *behind} - {*there}:
        raise ValueError(f"{package} has no file {', '.join(sorted(missing))}")
    between = sorted({*there} - {*ahead, *behind})
    found: dict[int, Kind] = {}
    for name in (*ahead, *between, *behind):
        held = vars(import_module(f"{package}.{name}")).values()
        items = (item for each in held for item in (each if isinstance(each, tuple) else (each,)))
        own = {id(item): item for item in items if isinstance(item, kind)}
        if own.keys() & found.keys():
            raise ValueError(f"{package}.{name} imports a value of another file")
        found |= own
    return tuple(found.values())
