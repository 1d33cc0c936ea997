"""Block sizes worth trying, best guess first, by a roofline of one multiprocessor.

The figures below only order the choices; on a device the launcher times them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

UNITS: Final = 128
"""Multiprocessors of a large GPU: fewer programs than this leave some idle."""
FLOPS_PER_UNIT: Final = 180e9
"""Multiply-adds of float32 outside tensor cores, in operations a second."""
BYTES_PER_UNIT: Final = 40e9
"""From the second-level cache, in bytes a second."""
WARP_BYTES: Final = 16 * 64
"""Bytes that a warp reads at once, of 64 threads as on AMD's.  A warp of 32 threads reads them in
two instructions."""
LAUNCHED_PROGRAM_SECONDS: Final = 1e-6
KEPT: Final = 4
FEWEST_TERMS: Final = 1024
"""Of a reduction that is worth thousands of lanes."""
LINE_BYTES: Final = 128
"""Of memory, which are read together."""
LANES_A_WARP: Final = 512
"""Elements of a tile for each warp."""
MOST_WARPS: Final = 16


@dataclass(frozen=True, slots=True)
class Config:
    """Values of the kernel's block constants, with the launch's warps and pipeline stages."""

    blocks: tuple[tuple[str, int], ...]
    num_warps: int
    num_stages: int = 2

    def block(self, name: str) -> int:
        return dict(self.blocks)[name]


def power_of_two(value: int) -> int:
    """The least power of two that is not below `value`."""
    return 1 << max(0, value - 1).bit_length()


def loop_configs(outputs: int, element_bytes: int) -> tuple[Config, ...]:
    """Blocks of outputs: large ones amortise index arithmetic while every unit has work.  Of a
    block, each of a warp's threads takes 16 bytes or more, which it then reads at once."""
    largest = power_of_two(outputs)
    sizes = sorted({min(size, largest) for size in (128, 256, 512, 1024)})
    busy = [size for size in sizes if outputs >= 2 * UNITS * size] or sizes[:1]
    order = [busy[-1], *(size for size in reversed(sizes) if size != busy[-1])]
    warps = [max(1, size * element_bytes // WARP_BYTES) for size in order]
    return tuple(Config((("BLOCK", s),), min(w, 8)) for s, w in zip(order, warps, strict=True))


def flat_configs(outputs: int, reduction: int, least: int) -> tuple[Config, ...]:
    """Outputs times reduction, about 1024 lanes, or 4096 for long reductions: the fewer the
    outputs, the more along the sum, but `least` outputs or all of them."""
    across, along = power_of_two(outputs), power_of_two(reduction)
    least = min(least, across)
    shapes = {(1024 // lanes, lanes) for lanes in (8, 32, 128, 512, 1024, 1024 // least)}
    if reduction >= FEWEST_TERMS:  # few outputs are as much work for each unit
        shapes |= {(block, 4096 // block) for block in {32, 64, least} - {1}}
    shapes = {(min(b, across), min(r, along)) for b, r in shapes if b >= least}

    def wasted(shape: tuple[int, int]) -> tuple[float, int]:
        programs = -(-outputs // shape[0])
        rounds = -(-programs // UNITS) * -(-reduction // shape[1])
        return (rounds * shape[0] * shape[1] + 64 * rounds, shape[1])

    order = sorted(shapes, key=wasted)
    return tuple(
        Config((("BLOCK", block), ("BLOCK_R", lanes)), max(2, min(8, block * lanes // 256)))
        for block, lanes in order
    )


def tile_configs(rows: int, columns: int, turned: bool) -> tuple[Config, ...]:
    """Tiles of two loops: whole lines of memory along both where operands are turned, else many
    along the columns."""
    sides = [(64, 64), (32, 64), (64, 32), (32, 32)]
    if not turned:
        sides = [(8, 256), (8, 128), (4, 256), (16, 128)]
    tiles = dict.fromkeys(
        (min(q, power_of_two(rows)), min(p, power_of_two(columns))) for q, p in sides
    )
    return tuple(
        Config((("BLOCK_Q", q), ("BLOCK_P", p)), max(1, q * p // LANES_A_WARP)) for q, p in tiles
    )


def dot_configs(
    batch: int, m: int, n: int, k: int, element_bytes: int, *, near: float = 0.0
) -> tuple[Config, ...]:
    """Tiles by predicted time: rounds over the units times the slower of arithmetic and traffic.
    The first few, and all that are predicted to take at most `near` times the first one's time."""

    def limit(size: int, extent: int) -> int:
        return max(16, min(size, power_of_two(extent)))

    depth = 32 if element_bytes >= 4 else 64
    tiles = {
        (limit(rows, m), limit(columns, n), limit(depth, k))
        for rows, columns in product((16, 32, 64, 128), repeat=2)
    }

    def seconds(tile: tuple[int, int, int]) -> tuple[float, tuple[int, int, int]]:
        rows, columns, deep = tile
        programs = batch * -(-m // rows) * -(-n // columns)
        padded_k = -(-k // deep) * deep
        arithmetic = 2 * rows * columns * padded_k / FLOPS_PER_UNIT
        traffic = element_bytes * (rows + columns) * padded_k / BYTES_PER_UNIT
        rounds = -(-programs // UNITS)
        return (rounds * (max(arithmetic, traffic) + LAUNCHED_PROGRAM_SECONDS), tile)

    def config(tile: tuple[int, int, int]) -> Config:
        warps = 8 if tile[0] * tile[1] >= 128 * 64 else 4
        return Config(tuple(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True)), warps, 3)

    order = sorted(tiles, key=seconds)
    enough, _ = seconds(order[0])
    worth = [tile for tile in order[KEPT:] if seconds(tile)[0] <= near * enough]
    return tuple(map(config, order[:KEPT] + worth))


def without_spills(config: Config, spilled: Callable[[Config], int]) -> Config:
    """The same blocks on as many warps as it takes that no thread spills registers: the more there
    are, the fewer values each of them holds.  The configuration itself if no number does."""
    warps = config.num_warps
    while warps <= MOST_WARPS:
        found = replace(config, num_warps=warps)
        if not spilled(found):
            return found
        warps *= 2
    return config
