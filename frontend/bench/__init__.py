"""Benchmarks and the demo, side by side in one run.

Not here: the timer (`frontend.timed.timing`).
May be imported by `frontend.cli` and its own rooms.
"""
