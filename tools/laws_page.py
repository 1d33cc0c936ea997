"""The page of laws of functions, and of the pairs from handbooks that they leave undecided."""

from __future__ import annotations

from einderive.frontend.identities import EQUAL, FAMILIES, UNDECIDED, UNEQUAL
from einderive.ta.laws import REAL_LAWS

LAWS_REMARK = """\
This page is generated from the files of `ta/laws` by `python -m tools.docs_pages`. Each law holds
for all real numbers that satisfy the condition, wherever both sides have a value. SymPy proves each
in `tests/ta/laws`. `equivalent` may use all of them, and the definitions of [](functions.md); it
names those that it used.

A search uses those that can only help, from left to right: the right side costs less, loses no
digit, and is a number wherever the left side is one. What such a law requires has to be known: from
the form of a term, as exp(a) > 0 is, or by a line `assume A > 0`. You switch on the others by name,
and then they are read in both directions: `derive(..., laws=["log-product"])`,
`compile(..., laws=["log-product"])`, `--law log-product`; an equation stands for its name. NaN and
infinities stay where they are *always*, *for finite numbers*, or not surely; `nan="strict"` takes
only steps that keep them. Overflow does not count there.

In an equation, m and n are whole numbers of the text, p and q any of its numbers, and every other
letter is a term."""
KEPT = {"never": "", "finite": "for finite numbers", "always": "always"}
PAIRS_REMARK = """\
`frontend/identities` has {count} pairs of equal formulas from textbooks and handbooks, and {others}
near misses. The lists were made before any work on them. `equivalent` decides all but these:"""


def laws_page() -> str:
    """All laws of functions, and the pairs of formulas that they leave undecided."""
    lines = ["# Laws", "", LAWS_REMARK, ""]
    lines += ["| law | equation | for | used | keeps NaN | in floating point |", "|---" * 6 + "|"]
    for law in REAL_LAWS.values():
        equations = ", ".join(f"`{equation}`" for equation in law.equations)
        domain = law.domain and f"`{law.domain}`"
        used = "unasked" if law.helps else "by name" if law.applies else "by `equivalent`"
        kept = KEPT[law.keeps]
        lines.append(
            f"| `{law.name}` | {equations} | {domain} | {used} | {kept} | {law.floating} |"
        )
    pairs = PAIRS_REMARK.format(count=len(EQUAL), others=len(UNEQUAL))
    lines += ["", "## Pairs from handbooks", "", pairs, ""]
    lines += ["| family | equal | near misses |", "|---|---|---|"]
    for name, family in FAMILIES.items():
        decided = (
            f"{sum(str(pair) not in UNDECIDED for pair in listed)} of {len(listed)}"
            for listed in (family.EQUAL, family.UNEQUAL)
        )
        lines.append(f"| {name} | {' | '.join(decided)} |")
    left = [str(pair) for pair in (*EQUAL, *UNEQUAL) if str(pair) in UNDECIDED]
    return "\n".join([*lines, "", "```text", *(left or ["none"]), "```"]) + "\n"
