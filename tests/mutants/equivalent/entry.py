"""What a list of mutants that change nothing holds."""

from __future__ import annotations

from typing import TypeAlias

Entry: TypeAlias = tuple[str, str, str, tuple[str, ...], str]
"""Module, function, the condition as it is, the conditions of the mutants, the reason."""
