"""What careful users write in torch for a formula: one file for each way to write a stage.

`RECOGNISERS` are those ways, the usual ones first.  Each takes a scope and gives a torch expression
for it, or None.  Recognisers know formulas by the algebra: names and sizes have no say.

Not here: how expressions become lines (`writing`).  May be imported by `frontend.baselines` alone.
"""

from einderive.frontend.baselines.recognisers import (
    attention,
    batch_norm,
    distances,
    distributed,
    enlarged,
    gated,
    linear,
    losses,
    normalisation,
    norms,
    pieces,
    products,
    softmax,
    windows,
)
from einderive.frontend.baselines.writing.writer import Recogniser

RECOGNISERS: tuple[Recogniser, ...] = (
    attention.recognise,
    softmax.recognise,
    normalisation.recognise,
    batch_norm.recognise,
    norms.recognise,
    losses.recognise,
    gated.recognise,
    enlarged.recognise,
    windows.convolution,
    windows.transposed,
    windows.pooling,
    linear.recognise,
    pieces.recognise,
    distributed.recognise,
    products.flat_dot,
    products.pairs,
    products.einsum,
    products.left_to_right,
    distances.recognise,
)
LITERAL: frozenset[Recogniser] = frozenset(
    (products.pairs, products.einsum, products.left_to_right)
)
"""Those that take each statement by itself."""

__all__ = ["LITERAL", "RECOGNISERS"]
