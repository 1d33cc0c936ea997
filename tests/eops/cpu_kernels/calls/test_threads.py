"""Kernels in processes that were forked, and in several threads at once."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from einderive.eops.cpu_kernels.build import built
from einderive.eops.cpu_kernels.calls import threads
from einderive.ta.notation.parse import parse
from tests.eops.compiled import compiled

FORKED = """
import os, torch
from einderive.ta.notation.parse import parse
from tests.eops.compiled import compiled
torch.set_num_threads(2)
(scope,) = parse("Y[i] = exp(A[i])", {"A": (1 << 20,)}, "float32").roots()
kernel = compiled(scope)
data = torch.rand(1 << 20)
(expected,) = kernel(data)
child = os.fork()
if child == 0:
    os._exit(0 if (kernel(data)[0].numpy() == expected.numpy()).all() else 3)
_, status = os.waitpid(child, 0)
assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, status
assert torch.equal(kernel(data)[0], expected)
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_runs_kernels() -> None:
    root = Path(__file__).parents[4]
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment.pop("OMP_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, "-c", FORKED],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


def test_calls_from_several_threads_at_once() -> None:
    (scope,) = parse("Y[i] = 2*A[i] + 1", {"A": (1 << 19,)}, "float32").roots()
    kernel = compiled(scope)
    operands = [torch.rand(1 << 19) for _ in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(kernel, operands * 4))
    for (result,), data in zip(found, operands * 4, strict=True):
        torch.testing.assert_close(result, 2 * data + 1)


def test_without_openmp_one_thread_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "parallel", lambda: None)
    (scope,) = parse("Y[i] = 3*A[i]", {"A": (1 << 19,)}, "float32").roots()
    built.cache_clear()
    data = torch.rand(1 << 19)
    torch.testing.assert_close(compiled(scope)(data)[0], 3 * data)
    built.cache_clear()
