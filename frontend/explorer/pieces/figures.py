"""Figures of a page: amounts with thin spaces before their units."""

from __future__ import annotations


def amount(number: float) -> str:
    """`1.23 M`; thin spaces stand before the units."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}\u202f{unit}"
    return f"{number:.3g}" if number else "0"
