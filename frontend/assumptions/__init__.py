"""Assumptions of a formula about its inputs, `assume A > 0`: data that satisfy them, checks of
operands; and the integers that are indices of a dimension.

Not here: facts about values (`ta.facts`), the assumptions that the steps used
(`derivations.record.assumptions`).
May be imported by every room of `frontend`.
"""
