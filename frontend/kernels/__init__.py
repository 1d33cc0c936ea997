"""The kernels that are generated for the stages of a derivation's programs, as text for readers,
and as a part of records.

Not here: planning and writing kernels (`eops`), files that run (`frontend.export`).
May be imported by every room of `frontend`.
"""
