"""Whether a CUDA graph is being captured: calls are noted down then, and run at each replay.

What is computed once and kept, chosen by a clock, or decided from the data on the host, has no
place in a capture: the replays would read memory that is not theirs, or repeat what was decided for
the data of the capture.
"""

from __future__ import annotations

import torch


def capturing() -> bool:
    """Whether the work of the current stream goes into a CUDA graph."""
    known: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return known and torch.cuda.is_current_stream_capturing()
