"""Derivations and measurements as text, HTML and lines on a terminal.

Not here: the notation's printer (`ta.printing`).
May be imported by `frontend.api`, `frontend.explorer`, `frontend.cli` and `frontend.bench`.
"""
