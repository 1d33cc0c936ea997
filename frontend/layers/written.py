"""Writes to parameters that torch does not count, as those to `parameter.data` or to an array.

Kept results are forgotten where a parameter has other elements than at the last look.  On a CPU up
to MOST elements of each parameter are compared, spread evenly; elsewhere none are, since that would
wait for the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import torch
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.nn import Parameter

from einderive.eops.back_ends.kept_weights import forget

MOST: Final = 1 << 16
_WHOLE: Final = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Written:
    """What the parameters of one layer held at the last look."""

    def __init__(self) -> None:
        self._seen: dict[str, torch.Tensor] = {}

    def look(self, parameters: Mapping[str, torch.Tensor]) -> None:
        """Forgets what is kept where one was written to."""
        for name, parameter in parameters.items():
            if parameter.device.type != "cpu" or type(parameter) not in (torch.Tensor, Parameter):
                continue
            if is_functorch_wrapped_tensor(parameter):
                continue
            bits = _sample(parameter)
            seen = self._seen.get(name)
            if seen is None or seen.dtype is not bits.dtype or not torch.equal(seen, bits):
                self._seen[name] = bits.clone()
                forget()


def _sample(parameter: torch.Tensor) -> torch.Tensor:
    """The bits of elements: NaN equals itself, and -0.0 is not 0.0."""
    data = parameter.detach()
    bits = (torch.view_as_real(data) if data.is_complex() else data).view(
        _WHOLE[data.element_size()]
    )
    step = -(-bits.numel() // MOST)
    return bits if step <= 1 else bits.reshape(-1)[::step]
