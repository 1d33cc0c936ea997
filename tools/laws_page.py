"""The page of laws of functions, and of the pairs from handbooks that they leave undecided."""

from __future__ import annotations

from einderive.frontend.identities import EQUAL, FAMILIES, UNDECIDED, UNEQUAL
from einderive.ta.laws import REAL_LAWS

LAWS_REMARK = """\
This page is generated from the files of `ta/laws` by `python -m tools.docs_pages`. Each law holds
for all real numbers that satisfy the condition, wherever both sides have a value. SymPy proves each
in `tests/ta/laws`. `equivalent` may use all of them, and the definitions of [](functions.md); it
names those that it used."""
PAIRS_REMARK = """\
`frontend/identities` has {count} pairs of equal formulas from textbooks and handbooks, and {others}
near misses. The lists were made before any work on them. `equivalent` decides all but these:"""


def laws_page() -> str:
    """All laws of functions, and the pairs of formulas that they leave undecided."""
    lines = ["# Laws", "", LAWS_REMARK, ""]
    lines += ["| law | equation | for | in floating point |", "|---|---|---|---|"]
    for law in REAL_LAWS.values():
        equations = ", ".join(f"`{equation}`" for equation in law.equations)
        domain = law.domain and f"`{law.domain}`"
        lines.append(f"| `{law.name}` | {equations} | {domain} | {law.floating} |")
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
