"""The kernel: a step is a rule's name, a scope, a witness and the equal scope it proves.

Whatever proposes a witness, only `apply` turns it into an equal scope, and it refuses where a side
condition is not shown to hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from einderive.derivations.steps import (
    centre,
    contract_pairs,
    exponential,
    fuse,
    merge,
    read_part,
    reindex_loops,
    split_range,
)
from einderive.derivations.steps.centre import Centre
from einderive.derivations.steps.contract_pairs import ContractPairs
from einderive.derivations.steps.exponential import Exponential, Pull, Scale
from einderive.derivations.steps.fuse import Fuse
from einderive.derivations.steps.merge import (
    Distribute,
    Expand,
    Factor,
    Materialise,
    Merge,
    SplitSum,
)
from einderive.derivations.steps.read_part import ReadPart
from einderive.derivations.steps.reindex_loops import ReindexLoops, ReindexSums
from einderive.derivations.steps.split_range import SplitRange
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope

Witness: TypeAlias = (
    ReindexLoops
    | ReindexSums
    | ReadPart
    | SplitSum
    | Merge
    | Materialise
    | Distribute
    | Expand
    | Factor
    | SplitRange
    | ContractPairs
    | Fuse
    | Pull
    | Scale
    | Exponential
    | Centre
)

_BY_DOMAINS: dict[type[Any], Callable[[Scope, Any, bool], Scope]] = {
    ReindexLoops: reindex_loops.reindex_loops,
    ReindexSums: reindex_loops.reindex_sums,
    ReadPart: read_part.read_part,
    Merge: merge.merge,
    Fuse: fuse.fuse,
}

_BY_FORM: dict[type[Any], Callable[[Scope, Any], Scope]] = {
    SplitSum: merge.split_sum,
    Materialise: merge.materialise,
    Distribute: merge.distribute,
    Expand: merge.expand,
    Factor: merge.factor,
    SplitRange: split_range.split_range,
    ContractPairs: contract_pairs.contract_pairs,
    Pull: exponential.pull,
    Scale: exponential.scale,
    Exponential: exponential.exponential,
    Centre: centre.centre,
}

WITNESSES: dict[str, type[Any]] = {kind.__name__: kind for kind in (*_BY_DOMAINS, *_BY_FORM)}


@dataclass(frozen=True, slots=True)
class Step:
    """`before = after` as tensors, by the named rule; `witness` lets a checker redo it."""

    rule: str
    before: Scope
    after: Scope
    witness: Witness


def apply(scope: Scope, witness: Witness, *, exact: bool = True) -> Scope:
    """The scope that the witness proves equal to `scope`; RuleRefused names what does not hold.

    With `exact` off only interval reasoning takes part: it refuses more and is a thousand times
    faster, which is what the search wants."""
    kind = type(witness)
    try:
        if kind in _BY_DOMAINS:
            return _BY_DOMAINS[kind](scope, witness, exact)
        return _BY_FORM[kind](scope, witness)
    except ValueError as error:  # a constructor has no such node: say, it adds inf and -inf
        raise RuleRefused(str(error)) from error
