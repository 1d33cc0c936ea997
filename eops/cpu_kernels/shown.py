"""The source of a compiled loop as a reader sees it: with the formula that it computes.

    def kernel(data):
        '''s0 = {L[i:0:30] S[j:0:40] X[i,j]}
        o0 = {L[i:0:30,j:0:40] X[i,j]/s0[i]}, float32

        p0 = X[0:30, 0:40], float32
        '''

Each stage is written once, with a name by which the stages after it read it.  The docstring is no
part of what is compiled, nor of the key of the code on disk: formulas that differ in names alone
share their code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Final

from einderive.eops.loops.drafts.bodies import Output
from einderive.eops.loops.drafts.group import Group
from einderive.eops.told import operand_line, plain
from einderive.ta.ir.node import Scope
from einderive.ta.printing.show import show, tensors_of

HEAD: Final = "def kernel(data):\n"


def shown(source: str, group: Group, types: Sequence[str], outputs: Sequence[Output]) -> str:
    """The source of the group's kernel with the formula in its docstring; `types` are those of the
    operands, and `outputs` the results in the order in which they are written."""
    parts = [_stages(group, outputs), _operands(group, types)]
    text = "\n\n    ".join("\n    ".join(map(_quoted, part)) for part in parts if part)
    return source.replace(HEAD, f'{HEAD}    """{text}\n    """\n', 1)


def _stages(group: Group, outputs: Sequence[Output]) -> list[str]:
    """The stages, producers first, each with its name; results with their types."""
    lines = []
    results = {out.scope: (f"o{k}", out.dtype) for k, out in enumerate(outputs)}
    taken = {name for stage in group.stages for name in tensors_of(stage)}
    fresh = (name for name in (f"s{k}" for k in count()) if name not in taken)
    names = {s: f"p{k}" for k, s in enumerate(group.operands) if isinstance(s, Scope)}
    for stage in group.stages:
        known = results.get(stage)
        text = show(stage, named=dict(names))
        names[stage] = next(fresh) if known is None else known[0]
        lines.append(f"{names[stage]} = {text}" + ("" if known is None else f", {known[1]}"))
    return lines


def _operands(group: Group, types: Sequence[str]) -> list[str]:
    pairs = enumerate(zip(group.operands, types, strict=True))
    return [operand_line(f"p{k}", source, dtype) for k, (source, dtype) in pairs]


def _quoted(line: str) -> str:
    """The line as a part of a docstring, which it does not end."""
    return plain(line).replace('"', '\\"')
