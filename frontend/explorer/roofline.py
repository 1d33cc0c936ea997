"""Stages beside the roofline of the machine.

    least seconds = max(operations / peak rate, bytes / bandwidth)

The peak is the best rate of the unit that computes the stage; the bandwidth is that of one pass
over as many bytes.  Source: Williams, Waterman, Patterson, "Roofline", CACM 2009.
"""

from __future__ import annotations

from einderive.derivations.matching.machine import FLOAT_BYTES, Machine
from einderive.frontend.explorer.models import Roof
from einderive.frontend.explorer.pieces.figures import amount
from einderive.ta.ir.operator import Work


def roof_of(work: Work, machine: Machine, item: int) -> Roof | None:
    """None for a stage that neither computes nor moves anything."""
    rates = machine.rates_of(work.unit)
    moved = work.bytes_moved + work.bytes_copied + work.bytes_in_runs
    arithmetic = work.operations / rates.most * max(1.0, item / FLOAT_BYTES)
    memory = moved / machine.bytes_a_second(moved) if moved else 0.0
    if not arithmetic and not memory:
        return None
    return Roof(max(arithmetic, memory), "arithmetic" if arithmetic > memory else "memory")


def machine_words(machine: Machine) -> str:
    """`cpu (default figures): matmul 100 G, vector 10 G operations a second; 20 G bytes a
    second`."""
    rates = ", ".join(f"{unit} {amount(table.most)}" for unit, table in machine.rates.items())
    memory = amount(machine.bandwidth["dense"].values[-1])
    name = machine.title or machine.name
    more = "; the command einderive machine measures them" if machine.origin == "default" else ""
    return (
        f"{name} ({machine.origin} figures): at most {rates} operations a second, and {memory} "
        f"bytes a second from memory{more}"
    )
