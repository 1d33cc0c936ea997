"""The workbench: a page on this machine only, on which a person types a formula, derives and
compiles it, and looks through records.

Not here: the contents of a page about one derivation (`frontend.explorer`).
May be imported by `frontend.cli`.
"""
