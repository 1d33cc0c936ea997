"""Tiles of operands that are read across their memory, turned in the processor's registers first.

Not here: which loops a tile is of (`eops.loops`).
May be imported by `eops.cpu_kernels`.
"""
