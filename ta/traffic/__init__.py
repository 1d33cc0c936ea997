"""How computations go through memory: inner loops, jumps, cache lines, windows read tap by tap.

Not here: how fast a machine does so (`derivations.matching`).
May be imported by every room except `ta.ir`.
"""
