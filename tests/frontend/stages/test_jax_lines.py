"""Every line of JAX computes its stage, where JAX is installed."""

from __future__ import annotations

import pytest

from einderive.frontend.bench.kernels.rivals import jax_line
from einderive.frontend.stages import ELEMENTS, STAGES, Stage
from tests.frontend.stages.test_stages import check

pytest.importorskip("jax")


@pytest.mark.campaign
@pytest.mark.parametrize(
    "stage", [stage for stage in STAGES if stage.jax_line], ids=lambda stage: stage.name
)
def test_the_jax_line_is_the_formula(stage: Stage) -> None:
    line = jax_line(stage, ELEMENTS[0], stage.values(ELEMENTS[0]))
    assert line is not None
    check(stage, line, [])
