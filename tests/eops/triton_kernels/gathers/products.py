"""Products that read gathers, named and random ones, and their kernels in Triton's interpreter.

    expected   the exact interpreter's numbers; an index beside its range, -1 too, reads the fill

As a script, with TRITON_INTERPRET=1 set before Triton is imported, `products.py NAME ...` prints
one JSON object a case, a name of digits being the seed of a random one.  Each address is checked.
"""

from __future__ import annotations

import json
import os
import sys
from random import Random
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

import einderive as ed
from einderive.eops.loops.drafts.group import Group
from einderive.eops.triton_kernels.build import Kernel, build_stage
from einderive.eops.triton_kernels.gathers.reads import is_gather
from einderive.eops.triton_kernels.plan import Plan
from einderive.eops.triton_kernels.products import product_plan
from einderive.frontend.running.execute import executable
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.triton_memory import checked_addresses

ALLOWED: Final = {"float32": 1e-6, "bfloat16": 2e-2, "float16": 2e-3, "float64": 1e-14}
"""Relative to the largest result."""
INDICES: Final = "IJ"
"""Tensors of these names hold indices."""
BESIDE: Final = 3
"""So far beside its range may an index be."""


class Product(NamedTuple):
    """A program of a product and gathers; its indices go to `end` and some further."""

    text: str
    shapes: dict[str, tuple[int, ...]]
    dtype: str = "float32"
    index: str = "int64"
    end: int = 0

    @property
    def types(self) -> dict[str, str]:
        return {name: self.index if name in INDICES else self.dtype for name in self.shapes}

    @property
    def roots(self) -> tuple[Scope, ...]:
        return parse(self.text, self.shapes, self.types).roots()

    @property
    def group(self) -> Group:
        return Group(stages(*self.roots), self.roots)

    @property
    def plan(self) -> Plan | None:
        group = self.group
        read = [source.name for source in group.operands if isinstance(source, Tensor)]
        return product_plan(group, tuple(self.types[name] for name in read))

    @property
    def kernel(self) -> Kernel:
        found = self.plan
        assert found is not None
        assert any(map(is_gather, self.group.stages))
        return build_stage(found)


TABLE: Final = {"E": (50, 37), "I": (41,), "W": (37, 19)}
EXPERTS: Final = {"X": (50, 37), "I": (3, 19), "W": (3, 37, 21)}
PRODUCTS: Final = {
    "rows": Product("Y[i,f] = E[I[i],k]*W[k,f]", TABLE),
    "rows of halves": Product("Y[i,f] = E[I[i],k]*W[k,f]", TABLE, "float16"),
    "rows in bfloat16": Product("Y[i,f] = E[I[i],k]*W[k,f]", TABLE, "bfloat16", "int32"),
    "rows in float64": Product("Y[i,f] = E[I[i],k]*W[k,f]", TABLE, "float64", "uint8"),
    "rows by bools": Product(
        "Y[i,f] = E[I[i],k]*W[k,f]", {"E": (2, 37), "I": (41,), "W": (37, 19)}, index="bool"
    ),
    "rows of the sum": Product(
        "Y[n,f] = A[n,k]*W[I[k],f]", {"A": (33, 70), "I": (70,), "W": (50, 18)}, "float16"
    ),
    "columns": Product("Y[i,f] = E[k,I[i]]*W[k,f]", {"E": (37, 50), "I": (41,), "W": (37, 19)}),
    "experts": Product("Y[e,i,f] = X[I[e,i],k]*W[e,k,f]", EXPERTS),
    "experts of halves": Product("Y[e,i,f] = X[I[e,i],k]*W[e,k,f]", EXPERTS, "float16"),
    "one matrix a batch": Product(
        "Y[b,i,f] = E[I[b],i,k]*W[b,k,f]", {"E": (6, 17, 20), "I": (9,), "W": (9, 20, 33)}
    ),
    "both sides": Product("Y[i,j] = E[I[i],k]*E[J[j],k]", TABLE | {"J": (18,), "W": ()}),
    "one table with itself": Product("Y[i,j] = E[I[i],k]*E[I[j],k]", TABLE | {"W": ()}, "float16"),
    "elements": Product(
        "Y[i,f] = exp(E[I[i,k]])*W[k,f]", {"E": (30,), "I": (33, 20), "W": (20, 17)}
    ),
    "two indices": Product(
        "Y[i,f] = E[I[i]//2,k,J[k]%4-1]*W[k,f]",
        {"E": (20, 37, 3), "I": (41,), "J": (37,), "W": (37, 19)},
    ),
    "places beside indices": Product(
        "Y[n,h,f] = X[n,h+I[r]-1,c]*K[r,c,f] where h in 0:20",
        {"X": (2, 20, 9), "I": (5,), "K": (5, 9, 17)},
        "float16",
        end=4,
    ),
    "a fill": Product("Y[i,f] = E{fill=3}[I[i],k]*W[k,f]", TABLE),
    "a fill beyond": Product("Y[i,f] = E{fill=-2}[I[i],k+3]*W[k,f] where k in 0:37", TABLE),
    "a fill where an index hits": Product(
        "G[i,k] = sum[v](where(I[i] == v, E{fill=2}[v,k+3], 0)) where k in 0:37; "
        "out Y[i,f] = G[i,k]*W[k,f]",
        TABLE,
    ),
    "an index that only hits": Product(
        "G[i,k] = sum[u,v](where(I[i] == v, where(J[k] == u, E[v,k], 0), 0)) where u in 0:9; "
        "out Y[i,f] = G[i,k]*W[k,f]",
        TABLE | {"J": (37,)},
    ),
    "what follows": Product(
        "C[i,f] = E[I[i],k]*W[k,f]; out Y[i,f] = relu(C[i,f] + B[J[i],f])",
        TABLE | {"B": (11, 19), "J": (41,)},
    ),
    "what follows halves": Product(
        "C[i,f] = E[I[i],k]*W[k,f]; out Y[i,f] = G[i]*(C[i,f] + b[f])",
        TABLE | {"b": (19,), "G": (41,)},
        "float16",
    ),
    "what comes before": Product(
        "out Y[i,f] = E[I[i],k]*exp(U[k,f] - M[k])", TABLE | {"U": (37, 19), "M": (37,), "W": ()}
    ),
}
PRODUCTS.update(
    (name, case._replace(shapes={n: s for n, s in case.shapes.items() if n in case.text}))
    for name, case in [*PRODUCTS.items()]
)


PROGRAMS: Final = ("rows", "experts", "two indices")


def case_of(name: str) -> Product:
    return drawn(Random(f"gathers {name}")) if name.isdigit() else PRODUCTS[name]


PLACES: Final = ("{}", "{}", "{} + {q}", "{}//2", "2*{} - 5", "{} % 7 - 1")


def drawn(random: Random) -> Product:
    """A random product of a gather, or of two, with more around it by chance."""
    size = {"b": random.randint(2, 3), "i": random.randint(16, 40), "f": random.randint(16, 40)}
    size["k"] = random.randint(16, 70)
    batch = ["b"] if random.random() < 0.4 else []
    shapes: dict[str, tuple[int, ...]] = {}

    def gathered(table: str, index: str, own: list[str], needed: list[str]) -> str:
        """A read of the table by an index over `own`, and directly at the other iterators."""
        shapes[index] = tuple(size[q] for q in own)
        form = random.choice(PLACES)
        place = form.format(f"{index}[{','.join(own)}]", q=random.choice(own))
        rows = [place, *(q for q in needed if q not in own or random.random() < 0.2)]
        random.shuffle(rows)
        shapes[table] = tuple(size.get(row, random.randint(9, 40)) for row in rows)
        moved = [row if row == place or random.random() < 0.8 else f"{row} - 1" for row in rows]
        fill = "{fill=" + str(random.randint(-2, 2)) + "}" if random.random() < 0.3 else ""
        fill = "" if "{q}" in form else fill  # an iterator as a value, which is compared
        return f"{table}{fill}[{','.join(moved)}]"

    def plain(tensor: str, rows: list[str]) -> str:
        shapes[tensor] = tuple(size[q] for q in rows)
        return f"{tensor}[{','.join(rows)}]"

    left = [*batch, "i", "k"]
    own = random.choice([["i"], ["i"], ["k"], [*batch, "i"], ["i", "k"], *filter(None, [batch])])
    factors = [gathered("E", "I", own, left)]
    right = [*batch, "k", "f"]
    if random.random() < 0.3:
        factors.append(gathered("W", "J", random.choice([["k"], ["f"]]), right))
    else:
        factors.append(plain("W", right))
    if random.random() < 0.2:
        factors[0] = f"exp({factors[0]})"
    if random.random() < 0.2:
        factors.append(plain("A", random.choice([["i", "k"], ["k"]])))
    loops = ",".join([*batch, "i", "f"])
    ends = [f"{q} in 0:{size[q]}" for q in [*batch, "i", "f", "k"]]
    product = f"sum[k]({'*'.join(factors)})"
    after = random.choice(["", "", "relu({} + v[f])", "{}*d[i]"])
    if not after:
        text = f"Y[{loops}] = {product} where {', '.join(ends)}"
    else:
        if "v[f]" in after:
            shapes["v"] = (size["f"],)
        else:
            shapes["d"] = (size["i"],)
        text = f"C[{loops}] = {product} where {', '.join(ends)}; "
        text += f"out Y[{loops}] = {after.format(f'C[{loops}]')}"
    dtype = random.choice(["float32", "float16"])
    return Product(text, shapes, dtype, random.choice(["int64", "int32"]))


def values_of(case: Product, seed: int) -> dict[str, NDArray[Any]]:
    """Tensors of both signs, and indices of which some are beside every range."""
    generator = np.random.default_rng(seed)
    found: dict[str, NDArray[Any]] = {}
    largest = max((max(shape, default=1) for shape in case.shapes.values()), default=1)
    for name, shape in case.shapes.items():
        if name in INDICES:
            end = case.end or int(generator.choice([10, 25, largest]))
            low, high = (0, 2) if case.index == "bool" else (-BESIDE, end + BESIDE)
            low = 0 if case.index == "uint8" else low
            found[name] = generator.integers(low, high, shape)
        else:
            drawn = generator.uniform(0.5, 1.5, shape) * generator.choice((-1, 1), shape)
            kind = getattr(torch, case.dtype)
            found[name] = torch.tensor(drawn).to(kind).double().numpy()
    return found


def off(case: Product, seed: int = 5) -> tuple[float, str]:
    """The error beside what is allowed, in the first and the last configuration, and the source."""
    values, kernel = values_of(case, seed), case.kernel
    read = [source.name for source in case.group.operands if isinstance(source, Tensor)]
    tensors = [torch.tensor(values[name]).to(getattr(torch, case.types[name])) for name in read]
    expected, worst = evaluate(case.roots[0], values, RealField()), 0.0
    scale = np.max(np.abs(expected)) or 1.0
    for config in {kernel.plan.configs[0], kernel.plan.configs[-1]}:
        out = torch.full(expected.shape, torch.nan, dtype=getattr(torch, case.dtype))
        kernel.launch(config, tensors, [out])
        wrong = np.abs(out.double().numpy() - expected) / scale
        worst = max(worst, float(np.max(np.nan_to_num(wrong, nan=np.inf))))
    return worst / ALLOWED[case.dtype], kernel.source


def spoilt_rows() -> list[int]:
    """The rows of a result that are NaN, where rows 0 and 7 of the table are; the indices, of which
    -1 and 50 are beside it, are 7 in place 3 alone."""
    case = PRODUCTS["rows"]
    values = values_of(case, 1)
    values["E"][[0, 7]] = np.nan
    values["I"][:] = np.resize([1, -1, 6, 50, 49], 41)
    values["I"][3] = 7
    table, matrix = (torch.tensor(values[name]).float() for name in "EW")
    found = case.kernel(table, torch.tensor(values["I"]), matrix)
    spoilt: list[int] = torch.nonzero(found.isnan().all(1)).flatten().tolist()
    return spoilt if len(spoilt) == int(found.isnan().any(1).sum()) else []


def as_a_program(name: str, mixed: bool) -> tuple[tuple[str, ...], float]:
    """How the back ends compute the program on a GPU where kernels are asked for, and its error; of
    mixed types, no one kernel computes it."""
    case = PRODUCTS[name]
    given = ed.derive(case.text, dtypes=case.types, budget=0.01, **case.shapes).unchanged
    program = executable(given, "cuda", compiled=True)
    values = values_of(case, 2)
    tensors = {t: torch.tensor(values[t.name]) for t in input_tensors(*given.roots)}
    kinds = {t: torch.float64 if mixed and t.name == "W" else torch.float32 for t in tensors}
    tensors = {t: x if t.name in INDICES else x.to(kinds[t]) for t, x in tensors.items()}
    (found,) = program(tensors)
    exact = evaluate(given.roots[0], values, RealField())
    return program.words, float(np.max(np.abs(found.double().numpy() - exact)))


def main() -> None:
    assert os.environ.get("TRITON_INTERPRET") == "1"
    print(json.dumps({"name": "NaN", "rows": spoilt_rows()}))
    for name in PROGRAMS:
        for mixed in (False, True):
            words, wrong = as_a_program(name, mixed)
            print(json.dumps({"name": f"program {name} {mixed}", "words": words, "error": wrong}))
    for name in sys.argv[1:]:
        case = case_of(name)
        try:
            with checked_addresses():
                wrong, source = off(case)
            record = {"name": name, "off": wrong, "dots": source.count("tl.dot(")}
            record["stores"] = source.count("tl.store(")
        except Exception as failure:
            record = {"name": name, "failure": f"{case}: {failure.__cause__ or failure!r}"}
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
