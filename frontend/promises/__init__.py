"""What a formula promises of its inputs, `assume A > 0`: data that keep it, operands that may not.

Not here: what is known of values (`ta.facts`), which steps used it (`derivations.record.promises`).
May be imported by every room of `frontend`.
"""
