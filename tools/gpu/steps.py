"""The steps of `make gpu`.

    tests       pytest -m gpu
    memory      stages bound by memory: share of a copy's bandwidth, and beside torch
    products    generated kernels with a contraction beside torch.matmul at equal shapes
    cases       cases 1, 4, 6 and 7 end to end, beside eager and max-autotune

Each prints its tables and adds to the goals.  It begins nothing new when its share of the time is
over.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import torch

import einderive as ed
from einderive.derivations.search.extract import Plan
from einderive.frontend.accuracy.accept import Reference, reference
from einderive.frontend.bench.run import CASES
from einderive.frontend.bench.suite import counted
from einderive.frontend.call.caller import Caller
from einderive.frontend.report.terminal import table_text
from einderive.frontend.running.execute import Executable, executable
from einderive.frontend.timed.trial import AS_GIVEN
from einderive.frontend.trial.compiling import apart
from einderive.frontend.trial.trying import worth_trying
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.subst import stages
from tools.gpu.cases import case_of, eager_of
from tools.gpu.goals import LEAST_BANDWIDTH, LEAST_OF_TORCH, LEAST_PRODUCT, Run
from tools.gpu.kernels import KERNELS, KernelCase
from tools.gpu.times import ProductsInTF32, call_seconds, gpu_seconds

EVERYBODYS: Final = ("sum of two", "row softmax")
"""These are compared with torch's own kernels."""
MEMORY, PRODUCTS, PROGRAMS, TUNING = 0.6, 0.7, 0.9, 0.8
"""The shares of the time after which no other item of a step is begun."""
TESTS: Final = 0.4


def run_tests(run: Run) -> None:
    """The tests with the mark, in a process of their own.  JAX would take most of the GPU's memory
    for itself."""
    command = [sys.executable, "-m", "pytest", *run.setting.tests]
    limit = TESTS * run.setting.seconds
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, check=False, env=environment
        )
        last = (done.stdout.strip().splitlines() or ["nothing was run"])[-1].strip("= ")
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        print("\n".join([*failed, last]))
        holds = done.returncode == 0
    except subprocess.TimeoutExpired:
        last, holds = f"not done after {limit:.0f} s", False
        print(last)
    run.judge("tests", "all pass", last, holds)


def run_memory(run: Run) -> None:
    """The kernels of `gpu.kernels`, the stages over the same rows as one."""
    rows, shares = list[tuple[str, ...]](), list[float]()
    pairs = [(case, dtype) for case in KERNELS for dtype in run.setting.dtypes]
    for case, dtype in pairs:
        if not run.before(MEMORY):
            print(f"no time is left for {len(pairs) - len(rows)} kernels")
            break
        run.begins(f"{case.name}, {dtype}")
        row, share = _memory(run, case.at(run.setting.edge), dtype)
        rows.append(row)
        shares.append(share)
    heads = ("formula", "kernels", "ms", "GB/s", "of the copy", "torch ms", "of torch", "error")
    more = ("best ms", "best program") if run.setting.thorough else ()
    print(table_text((*heads, *more), heads[:1], rows))
    good = sum(share >= LEAST_BANDWIDTH for share in shares)
    least = f", least {min(shares):.0%}" if shares else ""
    text = f"{good} of {len(pairs)} kernels{least}"
    run.judge("bandwidth", f"{LEAST_BANDWIDTH:.0%} of a copy", text, good == len(pairs))


def _memory(run: Run, case: KernelCase, dtype: str) -> tuple[tuple[str, ...], float]:
    device, name = run.setting.device, f"{case.name}, {dtype}"
    options: Any = case.shapes
    budget = ed.Budget(states=200 if run.setting.thorough else 1)
    found = ed.derive(case.text, target="cuda", dtypes=dtype, budget=budget, **options)
    expected = reference(found.source, device)
    inputs = expected.inputs
    kernels = as_kernels(found.unchanged)
    outputs = kernels(inputs)
    moved = sum(x.nbytes for x in (*inputs.values(), *outputs))
    del outputs
    error = expected.error_of(kernels)
    del expected
    half = torch.empty(max(1, moved // 2), dtype=torch.uint8, device=device).random_()
    own, copy = gpu_seconds(partial(kernels, inputs)), gpu_seconds(half.clone)
    theirs = gpu_seconds(partial(case.torch, *inputs.values()))
    if case.name in EVERYBODYS:
        ratio = theirs / own
        wanted = f"{LEAST_OF_TORCH:.0%} of torch"
        run.judge(name, wanted, f"{ratio:.0%}", ratio >= LEAST_OF_TORCH)
    run.judge_error(name, dtype, error)
    cells = (f"{own * 1e3:.3f}", f"{moved / own / 1e9:.0f}", f"{copy / own:.0%}")
    rest: tuple[str, ...] = (f"{theirs * 1e3:.3f}", f"{theirs / own:.2f}", f"{error:.0e}")
    if run.setting.thorough:
        built = (executable(plan, "cuda") for _, plan in worth_trying(found, set(), 4))
        programs = ((gpu_seconds(partial(one, inputs)), counted(one.words)) for one in built)
        best, words = min(programs)
        rest = (*rest, f"{best * 1e3:.3f}", words)
    return (name, str(len(kernels.words)), *cells, *rest), copy / own


def as_kernels(plan: Plan) -> Executable:
    """The program as generated kernels alone; without a GPU, Triton's interpreter runs them."""
    first = plan.stages[0]._replace(operator=None, binding=None)
    bare = tuple(first._replace(scope=scope) for scope in stages(*plan.roots))
    return executable(Plan(plan.roots, (), bare, 0.0), "cuda")


class Product(NamedTuple):
    """A contraction of operands with these shapes, as many multiplications as a product of
    m x k by k x n."""

    name: str
    text: str
    shapes: Mapping[str, tuple[int, ...]]
    m: int
    n: int
    k: int


def products(n: int) -> tuple[Product, ...]:
    """Products of n x n, and a convolution with this many products of pixels and channels."""
    square = {"A": (n, n), "B": (n, n)}
    edge, channels = max(4, round(n**0.5)), max(16, n // 16)
    pixels = {"A": (1, edge, edge, channels), "K": (3, 3, channels, channels)}
    convolution = "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:{0}, w in 0:{0}"
    return (
        Product("product", "Y[i,j] = A[i,k]*B[k,j]", square, n, n, n),
        Product("transposed operand", "Y[i,j] = A[k,i]*B[k,j]", square, n, n, n),
        Product(
            "convolution 3x3",
            convolution.format(edge),
            pixels,
            edge * edge,
            channels,
            9 * channels,
        ),
    )


def run_products(run: Run) -> None:
    """Kernels with `tl.dot` beside torch.matmul."""
    rows, ratios = list[tuple[str, ...]](), list[float]()
    device = run.setting.device
    pairs = [(p, dtype) for p in products(run.setting.product) for dtype in run.setting.dtypes]
    for one, dtype in pairs:
        if not run.before(PRODUCTS):
            print(f"no time is left for {len(pairs) - len(rows)} products")
            break
        run.begins(f"{one.name}, {dtype}")
        options: Any = one.shapes
        found = ed.derive(one.text, dtypes=dtype, budget=ed.Budget(states=1), **options)
        expected = reference(found.source, device)
        inputs = expected.inputs
        kernels = as_kernels(found.unchanged)
        error = expected.error_of(kernels)
        del expected
        run.judge_error(f"{one.name}, {dtype}", dtype, error)
        left, right = (
            torch.randn(shape, device=device).to(getattr(torch, dtype))
            for shape in ((one.m, one.k), (one.k, one.n))
        )
        own, theirs = (
            gpu_seconds(partial(kernels, inputs)),
            gpu_seconds(partial(torch.matmul, left, right)),
        )
        ratios.append(theirs / own)
        times = (f"{own * 1e3:.3f}", f"{theirs * 1e3:.3f}", f"{theirs / own:.2f}")
        rows.append((f"{one.name}, {dtype}", f"{one.m}, {one.n}, {one.k}", *times, f"{error:.0e}"))
    heads = ("product", "m, n, k", "kernel ms", "torch.matmul ms", "of torch", "error")
    print(table_text(heads, heads[:2], rows))
    good = sum(ratio >= LEAST_PRODUCT for ratio in ratios)
    least = f", least {min(ratios):.0%}" if ratios else ""
    text = f"{good} of {len(pairs)} products{least}"
    run.judge("products", f"{LEAST_PRODUCT:.0%} of matmul", text, good == len(pairs))


def run_cases(run: Run) -> None:
    """The cases end to end: eager, the reference system's program, the candidates predicted
    fastest, the formula as given in generated kernels, and max-autotune.  A thorough run has TF32
    as well, for products and convolutions."""
    rows: list[tuple[str, ...]] = []
    for number in CASES:
        if not run.before(PROGRAMS):
            print(f"no time is left for case {number} and those after it")
            run.judge(f"case {number}", "measured", "no time was left", False)
            break
        rows += _case(run, number)
    heads = ("case", "program", "GPU ms", "call ms", "error")
    more = ("TF32 GPU ms", "call ms", "error") if run.setting.thorough else ()
    print(table_text((*heads, *more), heads[:2], rows))


def _case(run: Run, number: int) -> Iterator[tuple[str, ...]]:
    run.begins(f"case {number}")
    setting, (case, theirs) = run.setting, case_of(number, run.setting.small)
    options: Any = case.shapes
    found = ed.derive(case.text, target="cuda", ranges=case.ranges, budget=1.0, **options)
    expected = reference(found.source, setting.device)
    one = ed.Budget(states=1)
    by_hand = ed.derive(theirs, target="cuda", ranges=case.ranges, budget=one, **options)
    eager = [*eager_of(number, [*expected.inputs.values()], setting.small)]
    programs: list[tuple[str, Callable[[], Any]]] = [
        (f"torch: {label}", partial(line, *operands))
        for label, line, operands in eager[: None if setting.thorough else 1]
    ]
    ours = [(f"candidate {n}", p) for n, p in worth_trying(found, set(), setting.candidates)]
    given = apart(found.unchanged)
    ours.append((AS_GIVEN, given))
    for name, plan in [("reference's program", by_hand.unchanged), *ours]:
        source = by_hand.source if plan is by_hand.unchanged else found.source
        built = executable(plan, "cuda", expected.types, compiled=plan is given)
        read = (expected.inputs[tensor] for tensor in source.inputs)
        whole = partial(Caller(source, built, setting.device), *read)
        alone = partial(built, expected.inputs)  # also in Triton's interpreter
        words = f"{name}: {counted(built.words)}"
        programs.append((words, whole if setting.thorough else alone))
    if setting.autotune and run.before(TUNING):
        _, line, operands = eager[0]
        tuned = torch.compile(line, mode="max-autotune-no-cudagraphs", dynamic=False)
        programs.append(("torch.compile, max-autotune", partial(tuned, *operands)))
    fastest: dict[str, float] = {}
    for name, call in programs:
        run.begins(f"case {number}, {name}")
        try:
            seconds, error, cells = _measured(call, expected)
            more: tuple[str, ...] = ()
            if setting.thorough:
                with ProductsInTF32(True):
                    *_, more = _measured(call, expected)
        except Exception as problem:  # one program that fails must not lose the others
            run.judge(f"case {number}", name, f"failed: {problem!s:.60}", False)
            yield str(number), name, "failed", *[""] * (5 if setting.thorough else 2)
            continue
        run.judge_error(f"case {number}, {name}", "float32", error)
        kind = name.split()[0].partition(".")[0].rstrip(":")
        kind = "candidate" if name.startswith(AS_GIVEN) else kind
        fastest[kind] = min(seconds, fastest.get(kind, seconds))
        yield str(number), name, *cells, *more
    if {"torch", "candidate"} <= fastest.keys():
        ratio = fastest["torch"] / fastest["candidate"]
        run.judge(f"case {number}", "as fast as torch", f"{ratio:.2f} times", ratio >= 1)
    if setting.thorough and setting.device == "cuda":
        chosen = found.compile().chosen
        print(f"case {number}: {chosen.label} is chosen, {counted(chosen.words)}")


def _measured(call: Callable[[], Any], expected: Reference) -> tuple[float, float, tuple[str, ...]]:
    """The GPU's seconds, the error, and these and the time of a call as text."""
    result = call()
    outputs = result if isinstance(result, tuple) else (result,)
    error = expected.error_of(partial(_handed_on, outputs))
    del result, outputs
    seconds = gpu_seconds(call)
    cells = (f"{seconds * 1e3:.4f}", f"{call_seconds(call) * 1e3:.4f}", f"{error:.0e}")
    return seconds, error, cells


def _handed_on(
    outputs: Sequence[torch.Tensor], inputs: Mapping[Tensor, torch.Tensor]
) -> Sequence[torch.Tensor]:
    """Outputs that were computed before, for `Reference.error_of`."""
    return outputs


STEPS: Final[Mapping[str, Callable[[Run], None]]] = {
    "tests": run_tests,
    "memory": run_memory,
    "products": run_products,
    "cases": run_cases,
}
