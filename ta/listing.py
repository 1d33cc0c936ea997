"""Lists of what the files of a folder define: adding a file adds a rule, a law, and so on."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import isabstract
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def listed(package: str, kind: type[Kind], first: str = "", last: str = "") -> tuple[Kind, ...]:
    """The values of a class that the files of a package define, alone or in tuples.

    The order is that of the files: those that `first` names, all others by their names, those that
    `last` names; within a file that of its definitions.  A value belongs to one file, so a file
    that needs one of another file imports that file.  ValueError where two files hold the same
    value, or where a file that is named is missing."""
    found: dict[int, Kind] = {}
    for module in _files(package, first.split(), last.split()):
        held = vars(module).values()
        items = (item for each in held for item in (each if isinstance(each, tuple) else (each,)))
        own = {id(item): item for item in items if isinstance(item, kind)}
        if own.keys() & found.keys():
            raise ValueError(f"{module.__name__} imports a value of another file")
        found |= own
    return tuple(found.values())


def tables(package: str) -> Iterator[dict[str, Any]]:
    """The contents of the TOML files of a package, in the order of the files' names."""
    for name in stems(package):
        yield table(package, f"{name}.toml")


def stems(package: str) -> list[str]:
    """The names of the TOML files of a package without their ends, in order."""
    names = (path.name for path in files(package).iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def table(package: str, name: str) -> dict[str, Any]:
    """The contents of one TOML file of a package."""
    return tomllib.loads((files(package) / name).read_text("utf-8"))


@cache
def beside(module: str) -> Mapping[str, Any]:
    """The contents of the TOML file beside a module that has its name.  Lists become tuples."""
    package, _, name = module.rpartition(".")
    found: Mapping[str, Any] = frozen(table(package, f"{name}.toml"))
    return found


def frozen(value: Any) -> Any:
    """The value with tuples for its lists."""
    if isinstance(value, dict):
        return {key: frozen(each) for key, each in value.items()}
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def classes(package: str) -> Iterator[type]:
    """The classes that the files of a package define, in the order of the files' names.  Abstract
    classes are left out."""
    for module in _files(package):
        for value in vars(module).values():
            own = isinstance(value, type) and value.__module__ == module.__name__
            if own and not isabstract(value):
                yield value


def _files(
    package: str, ahead: Sequence[str] = (), behind: Sequence[str] = ()
) -> Iterator[ModuleType]:
    """The modules of a package: those ahead, others by their names, those behind."""
    there = {module.name for module in iter_modules(sys.modules[package].__path__)}
    if missing := {*ahead, *behind} - there:
        raise ValueError(f"{package} has no file {', '.join(sorted(missing))}")
    for name in (*ahead, *sorted(there - {*ahead, *behind}), *behind):
        yield import_module(f"{package}.{name}")
