"""einderive: tensor formulas derived into faster equal programs, step by step, checked, measured.

import einderive as ed

ed.einsum("bij,bjk->bik", a, b)
d = ed.derive("Y[i] = A[i,k]*x[k]", A=(64, 32), x=(32,))
f = d.compile()
y = f(A=a, x=x)
"""

from derivations.explore import Budget
from derivations.progress import Progress
from derivations.verify import Report
from frontend.compiled import CompiledFunction
from frontend.derivation import Derivation
from frontend.einsum import einsum
from frontend.equivalent import Verdict, equivalent
from frontend.optimize import compile, derive, parse
from frontend.record import load
from frontend.version import __version__
from ta.errors import EinderiveError
from ta.program import Program

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
    "load",
    "parse",
]
