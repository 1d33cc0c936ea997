"""Entries of the files `*.toml` beside a package: formulas and stages as data.

A table is an entry, and its name the entry's.  The table `default`, where there is one, states what
holds for every entry of the file that does not state it itself; of its sizes, an entry takes those
that it names.
"""

from __future__ import annotations

import re
from typing import Any

from einderive.ta.listing import table

EXTENTS = re.compile(r"\(.*?\)|below \S+")
NAME = re.compile(r"[A-Za-z_]\w*")


def entries(package: str, file: str) -> list[dict[str, Any]]:
    """The entries of a file in its order, each with its name."""
    tables = table(package, f"{file}.toml")
    default = tables.pop("default", {})
    return [_entry(name, default, own) for name, own in tables.items()]


def _entry(name: str, default: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    found = {"name": name, **default, **stated}
    if "sizes" in default:
        own, extents = stated.get("sizes", {}), " ".join(EXTENTS.findall(found["of"]))
        named = {*NAME.findall(extents), *found.get("given", "").split()}
        usual = {n: of for n, of in default["sizes"].items() if n in named and n not in own}
        found["sizes"] = own | usual
    return {key: value.strip() if isinstance(value, str) else value for key, value in found.items()}
