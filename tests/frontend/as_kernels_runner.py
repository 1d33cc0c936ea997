"""Formulas as given in generated kernels alone.

As a script, with TRITON_INTERPRET=1 set before Triton is imported, it derives formulas for a GPU,
runs each as it is given with kernels also where operators compute its stages, and prints one JSON
object a formula: the words of both forms, and the largest difference from float64.
"""

from __future__ import annotations

import json
from typing import Any

import einderive as ed
from einderive.eops.triton_kernels.build import interpreting
from einderive.frontend.accuracy.accept import reference
from einderive.frontend.running.execute import executable
from einderive.frontend.trial.compiling import apart

FORMULAS: dict[str, tuple[str, dict[str, Any]]] = {
    "product": ("Y[i,j] = A[i,k]*B[k,j]", {"A": (18, 20), "B": (20, 17)}),
    "few channels": (
        "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:5, w in 0:6",
        {"A": (1, 5, 6, 4), "K": (3, 3, 2, 4)},
    ),
    "softmax": (
        "M[i] = max[j](A[i,j]); E[i,j] = exp(A[i,j] - M[i]); S[i] = sum[j](E[i,j]); "
        "Y[i,j] = E[i,j]/S[i]",
        {"A": (7, 30)},
    ),
    "a view, then a product": (
        "out T[j,i] = A[i,j]; out Y[j,k] = T[j,i]*B[i,k]",
        {"A": (16, 18), "B": (16, 17)},
    ),
    "sums of rows, then a table": (
        "S[i] = sum[k](A[i,k]); Y[i] = 2*S[I[i]]",
        {"A": (6, 40), "I": (9,)},
    ),
}


def main() -> None:
    assert interpreting()
    for name, (text, shapes) in FORMULAS.items():
        dtypes = {"I": "int64"} if "I" in shapes else {}
        one = ed.Budget(states=1)
        found = ed.derive(text, target="cuda:90", dtypes=dtypes, budget=one, **shapes)
        expected = reference(found.source, "cpu")
        given = apart(found.unchanged)
        asked = executable(given, "cuda", expected.types, compiled=True)
        print(
            json.dumps(
                {
                    "formula": name,
                    "operators": [stage.operator for stage in found.unchanged.stages],
                    "words": asked.words,
                    "error": expected.error_of(asked),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
