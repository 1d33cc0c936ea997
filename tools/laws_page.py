"""The page of laws of functions, and of the pairs from handbooks that they leave undecided."""

from __future__ import annotations

from einderive.frontend.identities import EQUAL, FAMILIES, UNDECIDED, UNEQUAL
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import ANALYTIC

LAWS_REMARK = """\
This page is generated from the files of `ta/laws` by `python -m tools.docs_pages`.
[](adding-a-law.md) explains how to add one. Each law holds for all real numbers that satisfy its
condition, wherever both sides have a value. SymPy proves each law in `tests/ta/laws`. `equivalent`
may use all laws, and the definitions of [](functions.md). Its verdict names those that it used.

**Unasked.** Every search uses the laws that can only help, from left to right: the right side costs
less, loses no digit, and is a number wherever the left side is one. The search has to know that the
condition of the law holds: from the form of a term, as for exp(a) > 0, or from a line
`assume A > 0`.

**By name.** You switch on the other laws by name: `derive(..., laws=["log-product"])`,
`compile(..., laws=["log-product"])`, `--law log-product`. An equation may stand for the name. A
search uses these laws in both directions.

**Keeps NaN** says whether NaN and infinities stay where they are: *always*, *for finite numbers*
(if every letter stands for a finite number), or, in an empty cell, not always. Infinities that come
from overflow do not count. `nan="strict"` takes only steps that keep NaN and infinities. Of a
comparison, which is 0 or 1 for NaN too, and within its operands, a law is refused whose two sides
may have no value at different places (x/x at x = 0).

In an equation, m and n stand for whole numbers of the text, p and q for any of its numbers, and
every other letter for a term.

**Complex numbers.** A search uses a law on complex numbers only if it has no condition and its
functions are {analytic}. Laws of these functions hold for all complex numbers, since they hold for
all real ones. Of a law for complex numbers, as `conj(conj(x)) = x`, the letters stand for complex
numbers, and its proof is about the real and the imaginary part of each. `equivalent` uses no other
laws where complex numbers occur.

**Sums.** In the closed forms of sums, k runs over the range from m to n-1, for all m and n,
and F stands for a function of the index. The proof of such a law is by induction on n. A search
that finds the left side replaces it by the right one, for the range that the formula has. It uses
laws of sums in this direction only."""
KEPT = {"never": "", "finite": "for finite numbers", "always": "always"}
PAIRS_REMARK = """\
`frontend/identities` has {count} pairs of equal formulas from textbooks and handbooks, and {others}
near misses. The lists were made before any work on them. `equivalent` decides {equal} of the equal
pairs and {unequal} of the near misses, and no verdict is wrong
(`python -m pytest -m '' tests/frontend/identities`). It leaves these undecided:"""


def laws_page() -> str:
    """All laws of functions, and the pairs of formulas that they leave undecided."""
    analytic = ", ".join(f"`{name}`" for name in sorted(ANALYTIC))
    lines = ["# Laws", "", LAWS_REMARK.format(analytic=analytic), ""]
    lines += ["| law | equation | for | used | keeps NaN | in floating point |", "|---" * 6 + "|"]
    for law in REAL_LAWS.values():
        equations = ", ".join(f"`{equation}`" for equation in law.equations)
        usable = law.applies or law.closes
        domain = f"`{law.domain}`" if law.domain else "complex numbers" * law.parts
        used = "unasked" if law.helps else "by name" if usable else "by `equivalent`"
        kept = KEPT[law.keeps]
        lines.append(
            f"| `{law.name}` | {equations} | {domain} | {used} | {kept} | {law.floating} |"
        )
    equal, unequal = (
        sum(str(pair) not in UNDECIDED for pair in listed) for listed in (EQUAL, UNEQUAL)
    )
    pairs = PAIRS_REMARK.format(count=len(EQUAL), others=len(UNEQUAL), equal=equal, unequal=unequal)
    lines += ["", "## Pairs from handbooks", "", pairs, ""]
    lines += ["| family | equal | near misses |", "|---|---|---|"]
    for family in FAMILIES:
        decided = (
            f"{sum(str(pair) not in UNDECIDED for pair in listed)} of {len(listed)}"
            for listed in (family.equal, family.unequal)
        )
        lines.append(f"| {family.name} | {' | '.join(decided)} |")
    left = [str(pair) for pair in (*EQUAL, *UNEQUAL) if str(pair) in UNDECIDED]
    return "\n".join([*lines, "", "```text", *(left or ["none"]), "```"]) + "\n"
