"""einderive: tensor formulas derived into faster equal programs, step by step, checked, measured.

import einderive as ed

ed.einsum("bij,bjk->bik", a, b)
d = ed.derive("Y[i] = A[i,k]*x[k]", A=(64, 32), x=(32,))
f = d.compile()
y = f(A=a, x=x)
"""

from typing import TYPE_CHECKING

from frontend.lazy import lazily
from frontend.version import __version__

if TYPE_CHECKING:
    from derivations.explore import Budget
    from derivations.progress import Progress
    from derivations.verify import Report
    from frontend.compiled import CompiledFunction
    from frontend.derivation import Derivation
    from frontend.einsum import einsum
    from frontend.equivalent import equivalent
    from frontend.evaluate import evaluate
    from frontend.optimize import compile, derive, parse
    from frontend.record import load
    from frontend.verdict import Verdict
    from ta.errors import EinderiveError
    from ta.program import Program
else:
    __getattr__, __dir__ = lazily(
        globals(),
        {
            "Budget": "derivations.explore",
            "CompiledFunction": "frontend.compiled",
            "Derivation": "frontend.derivation",
            "EinderiveError": "ta.errors",
            "Program": "ta.program",
            "Progress": "derivations.progress",
            "Report": "derivations.verify",
            "Verdict": "frontend.verdict",
            "compile": "frontend.optimize",
            "derive": "frontend.optimize",
            "einsum": "frontend.einsum",
            "equivalent": "frontend.equivalent",
            "evaluate": "frontend.evaluate",
            "load": "frontend.record",
            "parse": "frontend.optimize",
        },
    )

__all__ = [
    "Budget",
    "CompiledFunction",
    "Derivation",
    "EinderiveError",
    "Program",
    "Progress",
    "Report",
    "Verdict",
    "__version__",
    "compile",
    "derive",
    "einsum",
    "equivalent",
    "evaluate",
    "load",
    "parse",
]
