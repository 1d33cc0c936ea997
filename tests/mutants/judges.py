"""The judges: for each family of modules, questions whose answers have to be true.

They are collected from the modules as they are; a mutant is asked the same questions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from random import Random

from tests.mutants.run import Judge
from tests.prepared import INTERPRETED


def nothing(seeds: int) -> Callable[[], Judge]:
    """No question: the tests say all."""
    return lambda: lambda first: None


def kernel(seeds: int) -> Callable[[], Judge]:
    from tests.mutants import witnesses

    pool = witnesses.collect(seeds, systematic=4, varied=4)
    if pool.faults:
        raise RuntimeError(f"without any mutant: {pool.faults[0]}")
    attempts = pool.attempts

    def judge_of() -> Judge:
        from tests.mutants.witnesses import first_fault

        def judge(first: Sequence[int]) -> tuple[int, str] | None:
            order = [*first, *(n for n in range(len(attempts)) if n not in set(first))]
            return first_fault(attempts, order)

        return judge

    return judge_of


def matcher(seeds: int) -> Callable[[], Judge]:
    import torch

    torch.set_num_threads(1)
    from tests.mutants import instances

    pool = instances.collect(seeds)
    if pool.faults:
        raise RuntimeError(f"without any mutant: {pool.faults[0]}")
    questions = pool.questions

    def judge_of() -> Judge:
        from tests.mutants.instances import first_fault

        def judge(first: Sequence[int]) -> tuple[int, str] | None:
            order = [*first, *(n for n in range(len(questions)) if n not in set(first))]
            return first_fault(questions, order)

        return judge

    return judge_of


def kernels(seeds: int) -> Callable[[], Judge]:
    from tests.eops.loops import programs
    from tests.fuzz.stencils import stencils_program

    random = [Random(f"kernels {number}") for number in range(4 * seeds)]
    pool = [programs.drawn(one) for one in random]
    pool += [stencils_program(one) for one in random[:seeds]]
    if found := programs.first_fault(pool, range(len(pool))):
        raise RuntimeError(f"without any mutant: {found[1]}: {pool[found[0]]}")

    def judge_of() -> Judge:
        from tests.eops.loops.programs import first_fault

        def judge(first: Sequence[int]) -> tuple[int, str] | None:
            return first_fault(pool, [*first, *(n for n in range(len(pool)) if n not in first)])

        return judge

    return judge_of


def triton(seeds: int) -> Callable[[], Judge]:
    """Kernels in Triton's interpreter, with every address checked: all cases of the tests, and
    random groups of stages."""
    if "triton" in sys.modules and os.environ.get(INTERPRETED) != "1":
        raise RuntimeError(f"Triton is loaded without {INTERPRETED}=1")
    os.environ[INTERPRETED] = "1"
    from tests.mutants import triton_kernels

    questions = triton_kernels.collect(seeds)

    def judge(first: Sequence[int]) -> tuple[int, str] | None:
        order = [*first, *(n for n in range(len(questions)) if n not in set(first))]
        return triton_kernels.first_fault(questions, order)

    return lambda: judge


def checker(seeds: int) -> Callable[[], Judge]:
    import torch

    torch.set_num_threads(1)
    from tests.mutants import claims, falsehoods, truths

    asked = (*truths.collect(max(1, seeds // 12)), *falsehoods.collect(max(1, seeds // 40)))
    for claim in asked:
        shows = claims.wrong(claim)
        if shows:
            raise RuntimeError(f"without any mutant: {shows}: {claim}")

    def judge(first: Sequence[int]) -> tuple[int, str] | None:
        order = [*first, *(n for n in range(len(asked)) if n not in set(first))]
        return claims.first_fault(asked, order)

    return lambda: judge
