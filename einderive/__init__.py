"""einderive: tensor formulas derived into faster equal programs, step by step, checked, measured.

import einderive as ed

ed.einsum("bij,bjk->bik", a, b)
d = ed.derive("Y[i] = A[i,k]*x[k]", A=(64, 32), x=(32,))
f = d.compile()
y = f(A=a, x=x)
"""

from typing import TYPE_CHECKING

from einderive import _tree  # noqa: F401  # first: it says where the packages lie
from einderive.frontend.api.lazy import lazily
from einderive.frontend.version import __version__

if TYPE_CHECKING:
    from einderive import nn
    from einderive.derivations.record.verify import Report
    from einderive.derivations.search.progress import Progress
    from einderive.derivations.search.strategy import Budget
    from einderive.frontend.api.compiled import CompiledFunction, Derivation
    from einderive.frontend.api.formula import parse
    from einderive.frontend.api.optimize import derive
    from einderive.frontend.api.record import load
    from einderive.frontend.compile.compile import compile
    from einderive.frontend.compile.evaluate import evaluate
    from einderive.frontend.einsum.call import einsum
    from einderive.frontend.equality.equivalent import equivalent
    from einderive.frontend.equality.verdict import Verdict
    from einderive.frontend.gradients.grad import Derivatives, grad, jvp
    from einderive.ta.errors import EinderiveError
    from einderive.ta.ir.program import Program
else:
    __getattr__, __dir__ = lazily(
        globals(),
        {
            "Budget": "einderive.derivations.search.strategy",
            "CompiledFunction": "einderive.frontend.api.compiled",
            "Derivation": "einderive.frontend.api.compiled",
            "Derivatives": "einderive.frontend.gradients.grad",
            "EinderiveError": "einderive.ta.errors",
            "Program": "einderive.ta.ir.program",
            "Progress": "einderive.derivations.search.progress",
            "Report": "einderive.derivations.record.verify",
            "Verdict": "einderive.frontend.equality.verdict",
            "compile": "einderive.frontend.compile.compile",
            "derive": "einderive.frontend.api.optimize",
            "einsum": "einderive.frontend.einsum.call",
            "equivalent": "einderive.frontend.equality.equivalent",
            "evaluate": "einderive.frontend.compile.evaluate",
            "grad": "einderive.frontend.gradients.grad",
            "jvp": "einderive.frontend.gradients.grad",
            "load": "einderive.frontend.api.record",
            "nn": "einderive",
            "parse": "einderive.frontend.api.formula",
        },
    )

__all__ = [
    "Budget",
    "CompiledFunction",
    "Derivation",
    "Derivatives",
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
    "grad",
    "jvp",
    "load",
    "nn",
    "parse",
]
