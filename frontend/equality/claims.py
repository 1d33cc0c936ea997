"""What a verdict claims, in words: the chance of an error, the laws, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from einderive.frontend.equality.equation import Pair
from einderive.ta.equality.compare import Outcome
from einderive.ta.equality.laws import EXP_SUM, LAWS, apply_definitions
from einderive.ta.equality.partial_values import divides, has_infinity, partial
from einderive.ta.equality.sign_bounds import opaque_functions
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Scope


def evaluated(outcome: Outcome, sizes: Sequence[tuple[int, int]], laws: Iterable[str]) -> str:
    """The equality that was shown, the way, and the chance of an error."""
    chance = "(degree/2^31)^2"
    if outcome.signs:
        chance += f" + {outcome.missed:.0e}"
    made = ", ".join(f"{extent} as {small}" for extent, small in sizes)
    reduced = f"; extents in no index arithmetic reduced by proof ({made})" if made else ""
    return (
        f"equal at every position, {outcome.draws} random inputs modulo primes near 2^31 "
        f"(wrong with a chance of about {chance}){by(laws)}{reduced}"
    )


def no_value(left: Sequence[Scope], right: Sequence[Scope]) -> str:
    """The term in the programs that has no value at a position."""
    divisor = "a divisor there is 0"
    function = "a function there has none at its operand"
    if not partial(*left, *right):
        return f"{divisor} for all entries"
    if not divides(*left, *right) or has_infinity(*left, *right):
        return f"{function}, for all entries"
    return f"{divisor}, or {function}, for all entries"


def by(laws: Iterable[str]) -> str:
    """The laws, as the end of a claim."""
    used = [LAWS[name].equation for name in LAWS if name in set(laws)]
    return f", by {' and '.join(used)}" if used else ""


def used_laws(pair: Pair, laws: frozenset[str]) -> frozenset[str]:
    """The laws without which the programs, or what is known of their functions, were others."""
    sides = (*pair.left, *pair.right)
    written = apply_definitions(sides, laws)
    needed = {name for name in laws if apply_definitions(sides, laws - {name}) != written}
    return frozenset(needed | (laws & {EXP_SUM} if "exp" in opaque_functions(*written) else set()))


def laws_missing(functions: Sequence[str], laws: frozenset[str]) -> str:
    """The functions whose laws could make both sides equal, and the laws to allow."""
    offered = [name for name, law in LAWS.items() if law.function in functions and name not in laws]
    tried = "equal for random numbers up to rounding, but not shown"
    if any(FUNCTIONS[name].imaginary for name in functions if name in FUNCTIONS):
        tried = "not shown"
    text = f"{tried}: only laws of {', '.join(functions)} could make both sides equal"
    return f"{text}; allow them by name: {', '.join(offered)}" if offered else text


def listed(tried: Sequence[Mapping[str, int]]) -> str:
    """The first of the choices of sizes."""
    first = [f"({','.join(map(str, sizes.values()))})" for sizes in tried[:6]]
    return " ".join(first) + (" ..." if len(tried) > len(first) else "")
