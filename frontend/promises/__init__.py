"""Promises of a formula about its inputs, `assume A > 0`: data that keep them, checks of operands;
and which integers pick elements of a dimension.

Not here: what is known of values (`ta.facts`), which steps used it (`derivations.record.promises`).
May be imported by every room of `frontend`.
"""
