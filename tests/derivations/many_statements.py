"""Programs of many statements.

`python -m tests.derivations.many_statements [WORD ...]`: for each whose name holds one of the
words (all without any) the CPU seconds of its derivation for `cuda:90`, of `check()` on the best
candidate, and the most that it takes on any, with what the checks say.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

import einderive as ed
from einderive.ta.notation.parse import parse

Shapes = dict[str, tuple[int, ...]]


def border(count: int) -> tuple[str, Shapes]:
    """Each statement reads the one before beyond its end."""
    names = ["X", *(f"Y{n}" for n in range(1, count + 1))]
    lines = [
        f"{new}[i] = {old}[i+1]*{old}[i] + {old}[i] where i in 0:1000"
        for old, new in pairwise(names)
    ]
    return ";".join(lines), {"X": (1000,)}


def layers(count: int) -> tuple[str, Shapes]:
    shapes: Shapes = {"H0": (64, 256)}
    lines = []
    for n in range(count):
        lines.append(f"H{n + 1}[b,j] = relu(sum[i](H{n}[b,i]*W{n}[i,j]) + B{n}[j])")
        shapes |= {f"W{n}": (256, 256), f"B{n}": (256,)}
    return ";".join(lines), shapes


def blocks(count: int) -> tuple[str, Shapes]:
    """Ten statements each: projections, attention with a softmax, a residual."""
    shapes: Shapes = {"X0": (2, 64, 128)}
    lines = []
    for n in range(count):
        for name in "QKV":
            lines.append(f"{name}{n}[b,i,d] = X{n}[b,i,c]*W{name}{n}[c,d]")
        lines += [
            f"S{n}[b,i,j] = Q{n}[b,i,d]*K{n}[b,j,d]/8",
            f"M{n}[b,i] = max[j](S{n}[b,i,j])",
            f"E{n}[b,i,j] = exp(S{n}[b,i,j] - M{n}[b,i])",
            f"Z{n}[b,i] = sum[j](E{n}[b,i,j])",
            f"P{n}[b,i,j] = E{n}[b,i,j]/Z{n}[b,i]",
            f"O{n}[b,i,d] = P{n}[b,i,j]*V{n}[b,j,d]",
            f"X{n + 1}[b,i,c] = X{n}[b,i,c] + O{n}[b,i,d]*WO{n}[d,c]",
        ]
        shapes |= {f"W{name}{n}": (128, 128) for name in "QKVO"}
    return ";".join(lines), shapes


def outputs(count: int) -> tuple[str, Shapes]:
    lines = [f"Y{n}[i,j] = exp(A[i,j]*{n + 2}) + B[i]*{n + 3}" for n in range(count)]
    return ";".join(lines), {"A": (100, 200), "B": (100,)}


def elementwise(count: int) -> tuple[str, Shapes]:
    names = ["X", *(f"Y{n}" for n in range(1, count + 1))]
    lines = [f"{n}[i] = tanh({o}[i]) + 3*{o}[i]" for o, n in pairwise(names)]
    return ";".join(lines), {"X": (1000,)}


def tree(count: int) -> tuple[str, Shapes]:
    """A tree of products with this many leaves."""
    level = [f"L{n}" for n in range(count)]
    shapes: Shapes = dict.fromkeys(level, (64, 64))
    lines: list[str] = []
    while len(level) > 1:
        above = []
        for left, right in zip(level[::2], level[1::2], strict=True):
            above.append(f"N{len(lines)}")
            lines.append(f"{above[-1]}[i,j] = {left}[i,j]*{right}[i,j] + {left}[i,j]")
        level = above
    return ";".join(lines), shapes


LONG = {
    "20 reads beyond the border": border(20),
    "3 blocks with softmax": blocks(3),
    "60 reads beyond the border": border(60),
    "40 layers": layers(40),
    "6 blocks with softmax": blocks(6),
    "60 outputs": outputs(60),
    "500 elementwise": elementwise(500),
    "a tree of 64 leaves": tree(64),
}


def found_in(text: str, shapes: Shapes) -> tuple[ed.Derivation, float]:
    """The derivation, and the CPU seconds that it took."""
    started = time.process_time()
    found = ed.derive(parse(text, shapes), target="cuda:90")
    return found, time.process_time() - started


def main(words: list[str]) -> None:
    print(f"{'program':30}derive   check    most  candidates")
    for name, (text, shapes) in LONG.items():
        if words and not any(word in name for word in words):
            continue
        found, derive = found_in(text, shapes)
        seconds, held = list[float](), 0
        for number in range(len(found.candidates)):
            started = time.process_time()
            held += bool(found.check(number))
            seconds.append(time.process_time() - started)
        verdict = "all hold" if held == len(seconds) else f"only {held} HOLD"
        check = f"{seconds[0]:8.2f}{max(seconds):8.2f}  {len(seconds)}, {verdict}"
        print(f"{name:30}{derive:6.2f}{check}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
