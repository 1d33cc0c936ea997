"""Programs over several steps, and the shorter and smaller chains that fail as a given one does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from einderive.derivations.rule import Rule
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Witness
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope
from einderive.ta.ir.sources import replace_sources
from einderive.ta.ir.subst import stages
from tests.fuzz.explore import Failure, Move, difference, raised
from tests.fuzz.judge import Judge
from tests.fuzz.variants import variants


def states(start: Scope, moves: Sequence[Move]) -> Iterator[Scope]:
    """The program after each move; RuleRefused where the kernel refuses one."""
    current = start
    for move in moves:
        after = kernel.apply(move.scope, move.witness, exact=move.mode == "exact")
        current = replace_sources(current, {move.scope: after})
        yield current


def fails(chain: Failure) -> Failure | None:
    """The chain up to the first program that differs from the start, or that raises; None where all
    of them are equal, a step is refused or stands in no program."""
    judge, current = Judge(), chain.start
    following = states(chain.start, chain.moves)
    for number, move in enumerate(chain.moves):
        if move.scope not in stages(current):
            return None
        try:
            current = next(following)
        except RuleRefused:
            return None
        except Exception as error:
            shows = raised(error)
        else:
            shows = difference(judge, chain.start, current, chain.laws)
        if shows:
            moves = chain.moves[: number + 1]
            return replace(chain, rule=move.rule, moves=moves, shows=shows)
    return None


def shorter(chain: Failure) -> Iterator[Failure]:
    """The chain from a later program on, from the last one first, and without one of its moves."""
    programs = [chain.start, *islice(states(chain.start, chain.moves), len(chain.moves) - 1)]
    for number in range(len(programs) - 1, 0, -1):
        yield replace(chain, start=programs[number], moves=chain.moves[number:])
    if len(chain.moves) > 1:
        for number in range(len(chain.moves)):
            moves = (*chain.moves[:number], *chain.moves[number + 1 :])
            yield replace(chain, moves=moves)


def smaller(chain: Failure, rule: Rule | None) -> Iterator[Failure]:
    """A chain of one move on programs with less in them: by the same witness or by any that the
    rule proposes, on any scope there."""
    (move,) = chain.moves
    for start in variants(chain.start):
        for scope in stages(start):
            for witness in _witnesses(scope, move, rule):
                moved = replace(move, scope=scope, witness=witness)
                yield replace(chain, start=start, moves=(moved,))


def _witnesses(scope: Scope, move: Move, rule: Rule | None) -> Iterator[Witness]:
    yield move.witness
    if rule is not None:
        yield from rule.propose(scope)
