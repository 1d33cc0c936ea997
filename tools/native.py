"""`python -m tools.native DIR`: the package in DIR, with the core of its search compiled to C.

The same sources: mypyc compiles typed Python modules as they are.  Nothing in this tree changes,
so no compiled file can be older than its source here; `PYTHONPATH=DIR einderive ...` uses the copy.
It takes mypy, a C compiler and a few minutes, and makes the search about 1.6 times as fast (see
docs/measurements/search.md).  Before the copy is left in place, both must have found the same.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = ("ta", "derivations", "eops", "frontend")
MODULES = (
    "einderive/ta/ir/affine.py",
    "einderive/ta/ir/box.py",
    "einderive/ta/ir/canon.py",
    "einderive/ta/ir/element.py",
    "einderive/ta/ir/expr.py",
    "einderive/ta/ir/interning.py",
    "einderive/ta/ir/subst.py",
    "einderive/ta/printing/written.py",
    "einderive/derivations/matching/cost.py",
    "einderive/derivations/matching/machine.py",
    "einderive/derivations/search/explore.py",
    "einderive/derivations/search/graph.py",
    "einderive/derivations/matching/match.py",
    "einderive/derivations/matching/matcher.py",
    "einderive/derivations/proposing.py",
    "einderive/derivations/rule.py",
    "einderive/derivations/rules/fuse.py",
    "einderive/derivations/rules/hoist.py",
    "einderive/derivations/rules/materialise.py",
    "einderive/derivations/rules/merge_stage.py",
    "einderive/derivations/rules/phase.py",
    "einderive/derivations/rules/relax.py",
    "einderive/derivations/rules/reverse.py",
    "einderive/derivations/rules/shift.py",
    "einderive/derivations/rules/skew.py",
    "einderive/derivations/rules/split_iterator.py",
    "einderive/derivations/rules/split_sum.py",
    "einderive/derivations/rules/tighten.py",
    "einderive/ta/facts/zeros.py",
    "einderive/eops/library/attention.py",
    "einderive/eops/library/conv.py",
    "einderive/eops/library/matmul.py",
    "einderive/eops/library/pad_slice.py",
    "einderive/eops/library/plain.py",
    "einderive/eops/library/reduction.py",
    "einderive/eops/library/sliding.py",
    "einderive/eops/library/softmax.py",
    "einderive/eops/library/traffic.py",
    "einderive/eops/library/view.py",
)
"""What takes most of the time of a search.  `ta/ir/node.py` stays as it is: its nodes are made
without calling their classes, which compiled classes do not allow.  So do the kinds of steps: mypyc
makes no dataclass of an abstract class."""

FINGERPRINT = """
import sys
import einderive as ed
from einderive.ta.ir import affine

found = []
for text, shapes in (
    ("Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:7, w in 0:7",
     {"A": (1, 7, 7, 64), "K": (3, 3, 64, 64)}),
    ("Y[b,m,w] = A[b,m,k]*B[b,m+4*(w-8),k] where w in 0:17", {"A": (2, 96, 16), "B": (2, 96, 16)}),
    ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (64, 32), "B": (96, 32)}),
    ("Y[c,h,w] = max[r,s](A{fill=-inf}[c,h+r-3,w+s-3]) where h in 0:20, w in 0:20, r in 0:7,"
     " s in 0:7", {"A": (4, 20, 20)}),
):
    derivation = ed.derive(text, target="cuda:90", **shapes)
    found.append(derivation.stats.states)
    for plan in derivation.candidates:
        found.append((plan.seconds, [(step.rule, str(step.after)) for step in plan.steps]))
print("compiled" if affine.__file__.endswith((".so", ".pyd")) else "python")
print(found)
"""
"""What a search found, for comparison; the first line says which core ran."""

SETTINGS = "[mypy]\nexplicit_package_bases = true\nignore_missing_imports = true\n"
"""Not those of pyproject.toml, which also says where packages lie in the source tree."""


class NativeError(Exception):
    """The compiled copy could not be made, or differs."""


def build(target: Path) -> None:
    """The compiled copy at `target`, or nothing there if something fails."""
    root = Path(__file__).resolve().parent.parent
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name) / "tree"
        folder.mkdir()
        for package in (".", *PACKAGES):  # as it is installed
            source = root / ("einderive" if package == "." else package)
            shutil.copytree(
                source,
                folder / "einderive" / package,
                ignore=shutil.ignore_patterns("*.pyc"),
                dirs_exist_ok=True,
            )
        shutil.copytree(root / "tools", folder / "tools")
        (folder / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
        print(f"compiling {len(MODULES)} modules; this takes some minutes", flush=True)
        command = [sys.executable, "-m", "mypyc", "--strict", *MODULES]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NativeError(f"mypyc failed:\n{(done.stdout + done.stderr)[-3000:]}")
        shutil.rmtree(folder / "build", ignore_errors=True)
        _compare(root, folder)
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)


def _compare(root: Path, folder: Path) -> None:
    """Both trees must find the same programs by the same steps at the same predicted times."""
    print("comparing what both find", flush=True)
    cores = {}
    for tree in (root, folder):
        environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-c", FINGERPRINT]
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise NativeError(f"a search failed:\n{done.stderr[-3000:]}")
        core, found = done.stdout.split("\n", 1)
        cores[core] = found
    if set(cores) != {"python", "compiled"} or len(set(cores.values())) != 1:
        raise NativeError("the compiled core does not find what the Python one finds")


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python -m tools.native DIR", file=sys.stderr)
        return 2
    target = Path(sys.argv[1]).resolve()
    try:
        build(target)
    except NativeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{target}: use it by PYTHONPATH={target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
