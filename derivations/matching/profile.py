"""Profiles of machines as plain data, and those that come with the package.

{"name": "cpu", "origin": "measured", "call_seconds": 1e-5, "fused": false,
 "bandwidth": {"dense": {"axes": [[4096.0, 1e6]], "values": [1e10, 5e9]}},
 "rates": {"vector": {"axes": [], "values": [1e9]}}, "launches": {"matmul": 6e-5}, ...}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Any

from einderive.derivations.matching.machine import Machine, Table

FILE = "profiles.json"


def to_data(machine: Machine) -> dict[str, Any]:
    """The profile as `from_data` reads it back."""
    data: dict[str, Any] = json.loads(json.dumps(asdict(machine)))
    return data


def from_data(data: Mapping[str, Any]) -> Machine:
    """Raises LookupError, TypeError or ValueError where the data are no profile."""
    return Machine(
        name=str(data["name"]),
        title=str(data["title"]),
        origin=str(data["origin"]),
        fused=bool(data["fused"]),
        call_seconds=_figure(data["call_seconds"]),
        bandwidth=_tables(data["bandwidth"], "dense"),
        rates=_tables(data["rates"], "vector"),
        launches=_figures(data["launches"]),
        functions=_figures(data["functions"]),
        row_seconds=_figure(data.get("row_seconds", 0.0)),
        miss_seconds=_figure(data.get("miss_seconds", 0.0)),
    )


def _tables(data: Mapping[str, Any], needed: str) -> dict[str, Table]:
    found = {}
    for name, table in data.items():
        axes = tuple(tuple(map(_figure, axis)) for axis in table["axes"])
        found[name] = Table(axes, tuple(map(_figure, table["values"])))
    if needed not in found:
        raise ValueError(f"a profile says what {needed} is")
    return found


def _figures(data: Mapping[str, Any]) -> dict[str, float]:
    return {name: _figure(value) for name, value in data.items()}


def _figure(value: Any) -> float:
    found = float(value)
    if not (isfinite(found) and found >= 0):
        raise ValueError("a figure of a profile is finite and not negative")
    return found


@cache
def shipped() -> Mapping[str, Machine]:
    """The profiles that come with the package, by name."""
    text = files("einderive.derivations.matching").joinpath(FILE).read_text(encoding="utf-8")
    machines = [from_data(data) for data in json.loads(text)]
    return {machine.name: machine for machine in machines}
