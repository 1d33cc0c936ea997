"""Which functions decide the steps of a kind: the kernel's `apply`, that of the kind, and all that
these call, over any number of calls.  What else a kind answers is no side condition."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from tests.mutants.mutate import Function, functions

Place = tuple[str, str]
"""Module and function; a method is named with its class."""


def deciding(trees: Mapping[str, ast.Module], kinds: Iterable[str]) -> frozenset[Place]:
    """The functions of these modules that decide witnesses of these kinds."""
    calls = {
        (module, name): frozenset(_named(module, tree, name, function))
        for module, tree in trees.items()
        for name, function in functions(tree)
    }
    wanted = {"apply", *(f"{kind}.apply" for kind in kinds)}
    found = {place for place in calls if place[1] in wanted}
    while True:
        further = {place for known in found for place in calls[known]} & calls.keys()
        if further <= found:
            return frozenset(found)
        found |= further


def _named(module: str, tree: ast.Module, name: str, function: Function) -> Iterator[Place]:
    """What the function names: functions, methods of its own object, methods of an object that it
    makes."""
    homes = {
        alias.asname or alias.name: str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    own = next(
        (
            [node.name, *map(ast.unparse, node.bases)]
            for node in tree.body
            if isinstance(node, ast.ClassDef) and name.startswith(f"{node.name}.")
        ),
        [],
    )
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield homes.get(node.id, module), node.id
        elif isinstance(node, ast.Attribute):
            made = node.value.func if isinstance(node.value, ast.Call) else node.value
            if isinstance(made, ast.Name):
                for each in own if made.id == "self" else [made.id]:
                    yield homes.get(each, module), f"{each}.{node.attr}"
