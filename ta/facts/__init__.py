"""Facts about values: kinds, zeros, infinities, signs, sets of integers, centred tensors.

Not here: identities (`derivations.steps`).
May be imported by every room except `ta.ir`.
"""
