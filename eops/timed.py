"""Which of several forms of one computation is the fastest, as measured where they run.

    C[m,n] = A[m,k] * B[k,n]   or, transposed,   C'[n,m] = B'[n,k] * A'[k,m]

If n is far below m, torch's library takes up to eight times as long for one of the two as for the
other.  Which one depends on the processor, the threads, sizes and strides: on one thread of an AMD
EPYC, 512 x 512 times 512 x 10 takes 365 us in the first form and 94 us in the second, times
512 x 16 it takes 110 us in both.  So the forms run a few times when such operands are first met,
and the choice stays for the process.  They add up the same products, in an order that may differ:
within `untimed()` nothing is measured, and the first form is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Final

import torch

ROUNDS, LEAST_ROUNDS, SECONDS = 6, 2, 0.01
"""Each form runs in this many rounds at most, and in fewer once these have taken this many
seconds."""
GAIN: Final = 0.9
SLOW, FAR_BEHIND = 1.0, 3.0
"""A form whose first run takes this many seconds, and this many times the fastest one's, is not run
again."""
MOST_KNOWN: Final = 1024

_FIXED: ContextVar[bool] = ContextVar("fixed", default=False)
_KNOWN: dict[Hashable, int] = {}


@contextmanager
def untimed() -> Iterator[None]:
    """A context in which computations have the same form in every process."""
    token = _FIXED.set(True)
    try:
        yield
    finally:
        _FIXED.reset(token)


def is_timed(*tensors: torch.Tensor) -> bool:
    """Whether forms of a computation on these may be timed: they are plain tensors of a processor,
    and no transformation or mode of torch sees what is done with them."""
    return (
        not _FIXED.get()
        and all(type(x) is torch.Tensor and x.is_cpu and not x.requires_grad for x in tensors)
        and not torch._C._len_torch_dispatch_stack()
        and torch._C._functorch.maybe_current_level() is None
        and not torch.compiler.is_compiling()
    )


def fastest(
    key: Hashable, forms: Callable[[], Sequence[Callable[[], object]]], gain: float = GAIN
) -> int:
    """The number of the fastest of the forms that `forms` gives, measured where the key has not
    been met before: the first one, unless another one takes at most the part `gain` of its
    time."""
    key = (key, torch.get_num_threads())
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = measured(forms, gain)
    return found


def measured(make: Callable[[], Sequence[Callable[[], object]]], gain: float = GAIN) -> int:
    """What `fastest` gives, which nobody remembers."""
    begun = perf_counter()
    with torch._C.DisableTorchFunction(), torch.no_grad():  # a recorder does not see these runs
        forms = make()
        firsts = [_seconds(form) for form in forms]
        bar = max(SLOW, FAR_BEHIND * min(firsts))
        least = [seconds if seconds > bar else float("inf") for seconds in firsts]
        near = [place for place, seconds in enumerate(firsts) if seconds <= bar]
        for number in range(ROUNDS):
            if number >= LEAST_ROUNDS and perf_counter() - begun > SECONDS:
                break
            for place in near:
                least[place] = min(least[place], _seconds(forms[place]))
    best = min(range(len(forms)), key=least.__getitem__)
    return best if least[best] <= gain * least[0] else 0


def _seconds(form: Callable[[], object]) -> float:
    started = perf_counter()
    form()
    return perf_counter() - started
