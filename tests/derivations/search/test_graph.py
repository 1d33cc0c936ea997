"""The graph's stages: what one costs does not depend on what was staged before it."""

from __future__ import annotations

import pytest

from einderive.derivations.matching.cost import CPU, H100
from einderive.derivations.matching.machine import Machine
from einderive.derivations.rules import LAWLESS
from einderive.derivations.search.explore import explore
from einderive.derivations.search.extract import unchanged
from einderive.derivations.search.graph import Graph
from einderive.derivations.search.strategy import Budget
from einderive.eops.library import OPERATORS
from einderive.ta.ir.node import Access
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.derivations.small import FORMULAS, LIBRARY, MACHINES, roots

READING = {
    "sums of different stages": (
        "P[i,j] = A[i,j]*B[j,i]; Q[i,j] = exp(A[i,j]); X[i] = sum[j](P[i,j]); Y[i] = sum[j](Q[i,j])"
    ),
    "sums with and without a border": (
        "P[i,j] = A[i,j]*B[j,i]; X[i] = sum[j](P[i,j+1]) where i in 0:6, j in 0:5;"
        "Y[i] = sum[j](P[i,j+1]) where i in 0:6, j in 0:6; Z[i] = max[j](P{fill=-inf}[i,j+1])"
        " where i in 0:6, j in 0:6"
    ),
}


@sampled(4)
@pytest.mark.parametrize("name", FORMULAS)
def test_a_stage_is_what_it_is_by_itself(name: str) -> None:
    """A graph remembers how reads alike were staged; one that has staged nothing cannot."""
    graph = Graph(LAWLESS, OPERATORS, LIBRARY)
    explore(graph, roots(name), Budget(states=250))
    for scope, stage in list(graph.stages.items()):
        assert Graph(LAWLESS, OPERATORS, LIBRARY).stage(scope) == stage


@pytest.mark.parametrize("machine", [*MACHINES.values(), H100], ids=lambda machine: machine.name)
@pytest.mark.parametrize("text", READING.values(), ids=READING)
def test_reads_alike_are_told_apart_by_their_source(text: str, machine: Machine) -> None:
    program = parse(text, {"A": (6, 6), "B": (6, 6)})
    graph = Graph(LAWLESS, OPERATORS, machine)
    for root in program.roots():
        stage = graph.stage(root)
        assert isinstance(root.body, Access)
        assert stage.scope is root
        assert stage.reads == (root.body.source,)
        if stage.binding is not None:
            assert stage.binding.scope is root
            assert stage.binding.operands == (root.body,)
        assert Graph(LAWLESS, OPERATORS, machine).stage(root) == stage


def test_what_reads_no_data_is_computed_once_but_for_outputs() -> None:
    """A read of it costs nothing, whichever of two reads of one shape is asked for first."""
    text = "T[i,j] = cos(i*j); out S[i] = sum[j](T[i,j]); out R[i] = sum[j](A[i,j])"
    s, r = parse(text, {"A": (300, 300)}, ranges={"i": (0, 300), "j": (0, 300)}).roots()
    for order in ((s, r), (r, s)):
        graph = Graph(LAWLESS, OPERATORS, CPU)
        seconds = {root: graph.stage(root).seconds for root in order}
        assert seconds[s] == 0 < seconds[r]
        *_, computed, read = unchanged(graph, (s, r)).stages
        assert computed.seconds > 0
        assert read.seconds == seconds[r]


@pytest.mark.parametrize("body", ["sin({})*2", "{}"], ids=["computed", "views"])
def test_a_long_chain_of_stages_is_costed(body: str) -> None:
    count, start = 600, "B0[i] = A[i] + 1"
    lines = [f"B{k}[i] = {body.format(f'B{k - 1}[9-i]')}" for k in range(1, count)]
    last = parse("; ".join([start, *lines]), {"A": (10,)}, ranges={"i": (0, 10)}).roots()
    assert len(unchanged(Graph(LAWLESS, OPERATORS, CPU), last).stages) == count
