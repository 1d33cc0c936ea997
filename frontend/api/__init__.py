"""The functions that a user calls: derive, compile, evaluate, load; operands and options.

Not here: trying programs (`frontend.trial`), the flat call (`frontend.call`).
May be imported by every room of `frontend`.
"""
