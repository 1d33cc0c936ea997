"""Ways in which careful users write a stage in torch: one way per file.

Each takes a scope and gives a torch expression for it, or None.  It recognises a formula by its
algebra; names and sizes have no influence.  To add one, add a file.

Not here: turning expressions into lines (`writing`).
May be imported by `frontend.baselines` alone.
"""

from einderive.frontend.baselines.writing.writer import Recogniser
from einderive.ta.listing import listed

RECOGNISERS: tuple[Recogniser, ...] = listed(
    __name__,
    Recogniser,
    first="""
        placed attention softmax normalisation batch_norm norms losses gated enlarged windows linear
        pieces distributed factored
    """,
    last="products distances nested defined",
)
"""The most specific ways first."""
