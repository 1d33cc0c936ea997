"""What becomes of the templates of an emitter, and of its own arithmetic."""

from __future__ import annotations

import pytest

from tests.mutants.mutate import Mutant, mutants
from tests.mutants.targets import families, mutants_of
from tests.mutants.texts import CHANGES


def made(*body: str) -> list[Mutant]:
    source = "def f(x, text):\n" + "".join(f"    {line}\n" for line in body)
    return mutants("m", source, frozenset(), lambda name: True, written=True)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return f'b = i < {x}'", {"b = i <= {x}", "b = i < ({x} + 1)", "b = i < ({x} - 1)"}),
        ("return f'if {x} & b:'", {"if {x} | b:"}),
        ("return f'v = load(p, mask={x})'", {"v = load(p, mask=True)"}),
        ("return 'store(out, mask=live)'", {"store(out, mask=True)"}),
        ("return f'i = w % {x} * 3'", {"i = w // {x} * 3", "i = w % {x} + 3"}),
        ("return f'max({x}, y)'", {"min({x}, y)", "max(({x} + 1), y)", "max(({x} - 1), y)"}),
        ("return f't = t + {x}'", {"t = t - {x}"}),
        ("return f'hi = {x} + 1'", {"hi = {x}"}),
        ("return [f't = {x}', 'u']", {"pass"}),
        ("return x * 3", {"x"}),
        ("return affine.shift(x, 3)", {"x"}),
        ("text.add('a', 'b')", {"pass"}),
        ("raise ValueError(f'{x} < 3')", set()),
        ("assert x, 'a < b'", set()),
        ("return 'plain'", set()),
    ],
)  # fmt: skip
def test_changes(body: str, expected: set[str]) -> None:
    found = {mutant.after.removeprefix("f").strip("'\"") for mutant in made(body)}
    assert found == expected


def test_a_docstring_is_not_mutated() -> None:
    assert made('"""i < 3."""', "return 3") == []


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("cpu-text", "einderive.eops.cpu_kernels.windows"),
        ("triton-text", "einderive.eops.triton_kernels.emit_loops"),
    ],
)
def test_an_emitter_has_mutants_of_each_kind(name: str, module: str) -> None:
    (family,) = (each for each in families() if each.name == name)
    found = {mutant.kind for mutant in mutants_of(family, module)}
    assert module in family.modules
    assert found >= CHANGES.keys() - ({"stride"} if name == "cpu-text" else set())
