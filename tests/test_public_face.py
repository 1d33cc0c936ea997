"""`einderive.__all__` is the public face: documented, and typed with public or documented types."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pydoc import locate
from typing import Any, get_args, get_type_hints

import pytest

import einderive
from einderive.ta import errors
from tests.amount import sampled
from tests.test_layers import ROOT

PUBLIC = {
    name: getattr(einderive, name)
    for name in einderive.__all__
    if name not in ("__version__", "nn")
} | {f"nn.{name}": getattr(einderive.nn, name) for name in einderive.nn.__all__}
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
DOCUMENTED = {name: locate(name) for name in re.findall(r"auto(?:class|function):: (\S+)", PAGE)}
EXAMPLES = {
    found[1]: found[2]
    for found in re.finditer(
        r"^\.\. auto\w+:: einderive\.([\w.]+)\n(?:   [^\n]*\n)*```\n\n```python\n(.*?)^```",
        PAGE,
        re.MULTILINE | re.DOTALL,
    )
}
"""The block that follows a public name on the page."""


def functions(thing: Any) -> Iterator[tuple[str, Any]]:
    """What is annotated in a thing: itself, and a class's public methods and properties."""
    yield "", thing
    for name in dir(thing) if inspect.isclass(thing) else ():
        if not name.startswith("_"):
            found = inspect.getattr_static(thing, name)
            for kind, part in ((property, "fget"), (cached_property, "func")):
                if isinstance(found, kind):
                    found = getattr(found, part)
            found = getattr(found, "__func__", found)
            if inspect.isfunction(found) and not found.__module__.startswith("torch."):
                yield name, found


def types_in(hint: Any) -> Iterator[type]:
    """The classes of this project in an annotation."""
    if isinstance(hint, list):  # the parameters of a Callable
        for part in hint:
            yield from types_in(part)
    for part in get_args(hint):
        yield from types_in(part)
    if inspect.isclass(hint) and hint.__module__.startswith("einderive."):
        yield hint


def only_for_types(function: Any) -> dict[str, Any]:
    """The names that the function's file imports `if TYPE_CHECKING`."""
    found: dict[str, Any] = {}
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[function.__module__]))):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(ast.unparse(ast.Module(node.body, [])), found)
    return found


def test_both_lists_are_of_things_that_exist() -> None:
    assert len(PUBLIC) > 10
    assert [name for name, found in DOCUMENTED.items() if found is None] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_each_is_on_the_page_once_with_an_example(name: str) -> None:
    assert len(re.findall(rf"auto\w+:: einderive\.{re.escape(name)}\n", PAGE)) == 1
    if name == "EinderiveError":  # its example stands above it, with those of the other errors
        assert f"ed.{name}" in PAGE
    else:
        example = EXAMPLES[name]
        used = f"ed.{name}" in example or inspect.isclass(PUBLIC[name])
        assert used
        assert re.search(r"\b(?:print|assert|assert_\w+)\b", example)


@sampled(2)
@pytest.mark.parametrize("name", PUBLIC)
def test_annotations_are_complete_and_name_documented_types(name: str) -> None:
    known = {*PUBLIC.values(), *DOCUMENTED.values()}
    for where, function in functions(PUBLIC[name]):
        hints = get_type_hints(function, localns=only_for_types(function))
        if inspect.isfunction(function):
            parameters = [word for word in inspect.signature(function).parameters if word != "self"]
            assert set(hints) == {*parameters, "return"}, where
        unknown = {found for hint in hints.values() for found in types_in(hint)} - known
        assert unknown == set(), where


@pytest.mark.parametrize(
    "thing", [*PUBLIC.values(), *DOCUMENTED.values()], ids=lambda thing: str(thing.__qualname__)
)
def test_everything_public_has_a_docstring(thing: Any) -> None:
    for name, found in functions(thing):
        text = inspect.getdoc(found) or ""
        generated = inspect.isclass(found) and text.startswith(f"{found.__name__}(")
        assert text, f"{thing}.{name}"
        assert not generated, f"{thing}: the docstring is the one that dataclass writes"


def test_every_error_is_documented() -> None:
    tree = {
        found
        for found in vars(errors).values()
        if inspect.isclass(found) and issubclass(found, einderive.EinderiveError)
    }
    assert tree <= {*PUBLIC.values(), *DOCUMENTED.values()}


def test_the_walk_over_types_finds_them() -> None:
    budget = einderive.Budget
    assert set(types_in(get_type_hints(einderive.derive)["budget"])) == {budget}
    assert set(types_in(get_type_hints(einderive.derive)["progress"])) == {einderive.Progress}
    assert "steps" in dict(functions(einderive.Derivation))
    assert "program" in dict(functions(einderive.Derivation))
