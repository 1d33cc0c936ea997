"""Where the loops of a kernel are cut, and how many numbers it keeps."""

from __future__ import annotations

from typing import Final, NamedTuple

from einderive.eops.loops.drafts.values import WRITTEN_OUT


class Sizes(NamedTuple):
    """Where loops are cut.

    - `block`: a long inner loop is cut into pieces of work of this many steps.
    - `tile`, `least_tile`: this many columns at most, and at least, are reduced together, so that
      their totals stay in the nearest cache; `pieces` of work there should be, at least.
    - `turned`: so many steps of a loop along which a read walks through memory, and the inner loop
      does not, are one piece of work; the inner loop is then cut into parts of `turned_block`.
    - `jam`: this many rows at once where columns are reduced.
    - `kept`: this many elements at most that a pass keeps for later ones lie on the stack; `worth`:
      this many operations at least a value takes that is kept.  `short`: an inner loop with fewer
      steps is not worth its start.  `terms`: so many terms of a sum at most are added in float32.
    - `written_out`: rows of fewer steps are written out; a vector holds one step of several rows.
      `masked`: in batches, such a row of so many steps is one vector with a mask; `written_out`
      where the processor has no masks.
    - `window`: this many bytes at most all windows have; `stretch`: this many times the steps
      before the first result are one piece of work, at least.
    - `batch`, `least_batch`: so many rows at most, and at least, are done pass by pass, where what
      they read and keep has about `batch_bytes`, and at most four times as many.
      `waits`: rows are done so where their passes wait at least as often (`eops.loops.batches`);
      to store totals and to read them again takes longer than one wait for a short function.
    - `chain`: so many operations one after the other, at most, and `chain_wide` in all, are one
      pass where functions follow one another (`eops.loops.chains`), over a block of `chain_block`
      steps; rows have at least `chain_steps`.
    - `run`: where the inner loop is shorter, steps of the own loop lie abreast in such a run.
    - `by_parts`: to divide by the parts of a divisor takes less time than to divide by it.
    - `threads` share the work; each tells the others so many totals, `exchanged`, at most."""

    block: int = 4096
    tile: int = 1024
    least_tile: int = 64
    pieces: int = 4
    turned: int = 32
    turned_block: int = 128
    jam: int = 4
    short: int = 8
    written_out: int = WRITTEN_OUT
    masked: int = 10
    terms: int = 512
    kept: int = 1 << 14
    worth: float = 16.0
    window: int = 1 << 18
    stretch: int = 16
    batch: int = 64
    least_batch: int = 16
    batch_bytes: int = 1 << 14
    waits: int = 3
    chain: float = 30.0
    chain_wide: float = 40.0
    chain_block: int = 512
    chain_steps: int = 128
    run: int = 512
    exchanged: int = 4096
    by_parts: bool = True
    threads: int = 2


SIZES: Final = Sizes()
