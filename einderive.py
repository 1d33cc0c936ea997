"""einderive: tensor formulas derived into faster equal programs, step by step, checked, measured.

import einderive as ed

ed.einsum("bij,bjk->bik", a, b)
d = ed.derive("Y[i] = A[i,k]*x[k]", A=(64, 32), x=(32,))
f = d.compile()
y = f(A=a, x=x)
"""

from typing import TYPE_CHECKING

from frontend.api.lazy import lazily
from frontend.version import __version__

if TYPE_CHECKING:
    from derivations.record.verify import Report
    from derivations.search.explore import Budget
    from derivations.search.progress import Progress
    from frontend.api.compiled import CompiledFunction, Derivation
    from frontend.api.evaluate import evaluate
    from frontend.api.optimize import compile, derive, parse
    from frontend.api.record import load
    from frontend.einsum.call import einsum
    from frontend.equality.equivalent import equivalent
    from frontend.equality.verdict import Verdict
    from ta.errors import EinderiveError
    from ta.ir.program import Program
else:
    __getattr__, __dir__ = lazily(
        globals(),
        {
            "Budget": "derivations.search.explore",
            "CompiledFunction": "frontend.api.compiled",
            "Derivation": "frontend.api.compiled",
            "EinderiveError": "ta.errors",
            "Program": "ta.ir.program",
            "Progress": "derivations.search.progress",
            "Report": "derivations.record.verify",
            "Verdict": "frontend.equality.verdict",
            "compile": "frontend.api.optimize",
            "derive": "frontend.api.optimize",
            "einsum": "frontend.einsum.call",
            "equivalent": "frontend.equality.equivalent",
            "evaluate": "frontend.api.evaluate",
            "load": "frontend.api.record",
            "parse": "frontend.api.optimize",
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
