"""What is known of values: kinds, zeros, infinities, sets of integers, centred tensors.

Not here: identities (`derivations.steps`).
May be imported by every room except `ta.ir`.
"""
