"""Two derivations side by side: what differs, as data, and the page that shows it.

Not here: the page about one derivation (`frontend.explorer`).
May be imported by `frontend.api`, `frontend.cli` and `frontend.workbench`.
"""
