"""Random groups of stages that reduce the first or a middle index, in Triton's interpreter.

As a script, with TRITON_INTERPRET=1 set before Triton is imported, `columns.py FOLDER SEED ...`
prints one JSON object a seed: the error beside what is allowed.  Each address is checked.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from random import Random
from typing import Final

from tests.eops.triton_memory import checked_addresses
from tests.eops.triton_rows_runner import Case, run

STANDARD: Final = (
    "M[{k}] = mean[i]({x}); V[{k}] = mean[i](({x}-M[{k}])^2); "
    "Y[{o}] = ({x}-M[{k}])*rsqrt(V[{k}] + 1){g}"
)
FORMS: Final = (
    "Y[{o}] = softmax[i]({x})",
    "Y[{o}] = log_softmax[i]({x})",
    STANDARD,
    "N[{k}] = sum[i]({x}^2); Y[{o}] = {x}*rsqrt(1 + N[{k}]){g}",
    "M[{k}] = max[i]({x}); out D[{k}] = sum[i](exp({x}-M[{k}])); out Y[{o}] = {x}-M[{k}]{g}",
    "S[{o}] = where(i >= j, {x}/2, -9); Y[{o}] = softmax[i](S[{o}])",
    "L[{k}] = min[i]({x}) where i in 0:{n}, j in 0:{m}; Y[{o}] = {y}-L[{k}]",
)


def drawn(seed: str) -> Case:
    """The columns have up to 40 places, or thousands, which no program holds."""
    random = Random(f"columns {seed}")
    between = random.random() < 0.5
    dtype = random.choice(["float32", "float16"])
    long = random.random() < 0.15
    n = random.randint(2100, 2300) if long else random.randint(2, 40)
    b, m = random.randint(2, 3), random.randint(17, 19) if long else random.randint(2, 40)
    lead, form = ("b," if between else ""), random.choice(FORMS)
    y = f"X[{lead}i,j]"
    x = y
    if "{n}" in form:
        x = f"X{{fill={random.randint(-1, 1)}}}[{lead}i{random.choice(['+1', '-1', ''])},j-1]"
    text = form.format(
        o=f"{lead}i,j", k=f"{lead}j", x=x, y=y, n=n, m=m, g=random.choice(["", "*G[i]"])
    )
    shapes: dict[str, tuple[int, ...]] = {"X": (b, n, m) if between else (n, m)}
    if "G[i]" in text:
        shapes["G"] = (n,)
    return Case(seed, text, shapes, dtype, 4e-6 if dtype == "float32" else 2e-3)


def main() -> None:
    assert os.environ.get("TRITON_INTERPRET") == "1"
    folder, *seeds = sys.argv[1:]
    for seed in seeds:
        case = drawn(seed)
        try:
            with checked_addresses():
                off = run(case, Path(folder)) / case.tolerance
            record = {"seed": seed, "off": off, "line": case.plan().line}
        except Exception as failure:
            record = {"seed": seed, "failure": f"{case}: {failure.__cause__ or failure!r}"}
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
