"""Mutants of the facts about values that change nothing."""

from __future__ import annotations

from tests.mutants.equivalent.entry import Entry

LISTED: tuple[Entry, ...] = (
    (
        "einderive.ta.facts.kinds",
        "_kinds",
        "is_position(node) and isinstance(node, ir.Access)",
        ("is_position(node)",),
        "told to the type checker: a position is a read",
    ),
    (
        "einderive.ta.facts.kinds",
        "_power",
        "exponent < 0",
        ("exponent <= 0",),
        "no such node: a power with the exponent 0 is the number 1",
    ),
    (
        "einderive.ta.facts.kinds",
        "_applied",
        "known.steps or (known.pieces is not None and known.pieces.flat)",
        ("known.steps or known.pieces is not None",),
        "no such function: those with pieces that are not flat have values of one sign",
    ),
    (
        "einderive.ta.facts.zeros",
        "zero_reads",
        "isinstance(body, Power) and body.exponent > 0",
        (
            "isinstance(body, Power) and body.exponent >= 0",
            "isinstance(body, Power) and body.exponent > 0 + 1",
        ),
        "no such node: a power with the exponent 0 or 1",
    ),
    (
        "einderive.ta.facts.zeros",
        "zero_reads",
        "isinstance(body, Apply) and len(body.args) == 1 "
        "and (FUNCTIONS[body.function].at_zero == 0)",
        ("isinstance(body, Apply) and FUNCTIONS[body.function].at_zero == 0",),
        "no such function: `at_zero` is that of one operand",
    ),
    (
        "einderive.ta.facts.kinds",
        "_power",
        "exponent < 0",
        ("exponent <= 0",),
        "no such node: a power with the exponent 0 is the number 1",
    ),
    (
        "einderive.ta.facts.zeros",
        "vanishes_outside",
        "reads and (not finite_everywhere(body))",
        ("True", "reads", "not finite_everywhere(body)"),
        "short way: over the box, no reads are none, and beside numbers alone all of them count",
    ),
    (
        "einderive.ta.facts.kinds",
        "_applied",
        "known.steps or (known.pieces is not None and known.pieces.flat)",
        ("known.steps or known.pieces is not None",),
        "no such function: of those in pieces, only sign has values of both signs",
    ),
    (
        "einderive.ta.facts.zeros",
        "zero_reads",
        "isinstance(body, Power) and body.exponent > 0",
        (
            "isinstance(body, Power) and body.exponent >= 0",
            "isinstance(body, Power) and body.exponent > 0 + 1",
        ),
        "no such node: a power with the exponent 0 or 1 is the number 1, or the base",
    ),
    (
        "einderive.ta.facts.zeros",
        "zero_reads",
        "isinstance(body, Apply) and len(body.args) == 1"
        " and (FUNCTIONS[body.function].at_zero == 0)",
        ("isinstance(body, Apply) and FUNCTIONS[body.function].at_zero == 0",),
        "no function of two operands is marked as one that keeps zero",
    ),
    (
        "einderive.ta.facts.zeros",
        "_misses",
        "not b or b % a",
        ("False", "b % a", "not b"),
        "the argument is right for every ratio but 0, which proves nothing; others are not tried",
    ),
    (
        "einderive.ta.facts.zeros",
        "_misses",
        "ratio > 0 and low >= bound.hi",
        ("ratio >= 0 and low >= bound.hi",),
        "no such ratio: b is not 0, and a divides it",
    ),
    (
        "einderive.ta.facts.zeros",
        "_misses",
        "ratio < 0 and high < bound.lo",
        ("ratio <= 0 and high < bound.lo",),
        "no such ratio: b is not 0, and a divides it",
    ),
)
