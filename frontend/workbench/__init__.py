"""The workbench: a page on this machine alone, on which a person types a formula, derives and
compiles it, and looks through records.

Not here: what a page about one derivation shows (`frontend.explorer`).
May be imported by `frontend.cli`.
"""
