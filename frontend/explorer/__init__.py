"""The derivation explorer: view models of derivations and measurements, and the page that shows
them.

Not here: the terminal's reports (`frontend.report`).
May be imported by `frontend.api`, `frontend.cli` and `frontend.workbench`.
"""
