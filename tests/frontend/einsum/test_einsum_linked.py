"""einsum called again: flat functions against NumPy's results, on other data of the same layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.call.guard import MISS
from einderive.frontend.einsum import call as module
from einderive.frontend.einsum import linked as einsum_linked
from tests.amount import sampled
from tests.frontend.einsum.test_einsum_suites import arguments, of

LIBRARIES: dict[str, Any] = {
    "numpy": np.array,
    "fortran": lambda x: np.array(x, order="F"),
    "backwards": lambda x: np.flip(np.flip(x).copy()),
    "read-only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
    "torch": lambda x: torch.from_numpy(np.array(x)),
    "torch32": lambda x: torch.from_numpy(np.array(x, dtype=np.float32)),
}


@sampled(4)
@pytest.mark.parametrize("library", LIBRARIES)
def test_calls_of_the_suites_again(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tenth call of the suites; most are answered by a flat function the second time."""
    monkeypatch.setattr(einsum_linked, "_linked", {})
    answered = total = 0
    for subscripts, shapes in [*of("numpy", "ok"), *of("opt_einsum", "ok")][::10]:
        text, *operands = arguments(subscripts, shapes)
        if not isinstance(text, str):
            continue
        ed.einsum(text, *map(LIBRARIES[library], operands))
        turned = [operand[::-1] if operand.ndim else operand for operand in operands]
        other = [LIBRARIES[library](operand) for operand in turned]
        wanted = np.einsum(text, *map(np.asarray, other), optimize=True)
        found = einsum_linked.known(text, other)
        total += 1
        answered += found is not MISS
        for result in (found, ed.einsum(text, *other)):
            if result is not MISS:
                assert np.shape(result) == np.shape(wanted), (subscripts, shapes)
                np.testing.assert_allclose(result, wanted, rtol=1e-5, err_msg=f"{text} | {shapes}")
                for operand in map(np.asarray, other):
                    assert not np.may_share_memory(np.asarray(result), operand)
    assert answered > 0.8 * total


@pytest.mark.parametrize("kind", ["f4", "f8", "c8", "c16", "i4", "u1", "?"])
def test_types_and_scalars_are_numpys(kind: str) -> None:
    generator = np.random.default_rng(2)
    a, b = (generator.integers(0, 3, (4, 4)).astype(kind) for _ in range(2))
    for text in ("ij,jk", "ij,kj->ik", "ij,ij", "ij,ij->i", "ij->ji", "ii", "ii->i", "ij,kl->iljk"):
        operands = (a, b) if "," in text else (a,)
        for _ in range(2):
            found, wanted = ed.einsum(text, *operands), np.einsum(text, *operands)
            assert type(found) is type(wanted)
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_mixed_types_promote() -> None:
    a, b = np.ones((3, 4), "f4"), np.full((4, 5), 1 + 1e-12)
    for _ in range(2):
        found = ed.einsum("ij,jk", a, b)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, 4 + 4e-12, rtol=1e-15)


def test_the_general_way_takes_what_was_not_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = torch.randn(2, 4, 4)
    ed.einsum("ij,jk", a, b)
    leaf = a.clone().requires_grad_()
    ed.einsum("ij,jk", leaf, b).sum().backward()
    torch.testing.assert_close(leaf.grad, b.sum(1).expand(4, 4))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert ed.einsum("ij,jk", a, b).dtype is torch.einsum("ij,jk", a, b).dtype
    mapped = torch.func.vmap(lambda x: ed.einsum("ij,jk", x, b))(a[None])
    torch.testing.assert_close(mapped[0], a @ b)
    with pytest.raises(ed.EinderiveError):
        ed.einsum("ij,jk", a, torch.randn(5, 4))
    monkeypatch.setattr(module, "read_einsum", None)
    torch.testing.assert_close(ed.einsum("ij,jk", a, b), a @ b)
