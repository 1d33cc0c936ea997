"""Which functions of the kernel decide the steps of a rule.

A rule proposes witnesses of some kinds; a function that takes one of that kind decides it, together
with all functions of the kernel that it calls, over any number of calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache

from tests.mutants.mutate import Function, functions
from tests.mutants.targets import families, source

Place = tuple[str, str]
"""Module and function."""


@cache
def kinds_of_rules() -> Mapping[str, frozenset[str]]:
    """The kinds of the witnesses that each rule proposes on its examples."""
    from einderive.derivations.rule import Rule
    from einderive.derivations.rules import ALL_RULES
    from tests.mutants.witnesses import proposed

    found: dict[str, frozenset[str]] = {}
    for rule in ALL_RULES:
        seeds = range(len(rule.examples)) if isinstance(rule, Rule) else range(2)
        witnesses = [witness for seed in seeds for _, witness in proposed(rule, seed)]
        found[rule.name] = frozenset(type(witness).__name__ for witness in witnesses)
    return found


@cache
def _kernel() -> Mapping[Place, tuple[Function, frozenset[Place]]]:
    """Every function of the kernel, and the functions that it names."""
    (kernel,) = (family for family in families() if family.name == "kernel")
    trees = {module: ast.parse(source(module)) for module in kernel.modules}
    known = {(module, name) for module, tree in trees.items() for name, _ in functions(tree)}
    found = {}
    for module, tree in trees.items():
        imported = {
            alias.asname or alias.name: (str(node.module), alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for name, function in functions(tree):
            used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            places = {imported.get(each, (module, each)) for each in used}
            found[module, name] = function, frozenset(places & known)
    return found


def deciding(kinds: Iterable[str]) -> frozenset[Place]:
    """The functions that decide witnesses of these kinds."""
    wanted = set(kinds)
    found = {
        place
        for place, (function, _) in _kernel().items()
        for argument in function.args.args
        if argument.annotation is not None
        and not wanted.isdisjoint(ast.unparse(argument.annotation).split(" | "))
    }
    while True:
        further = {place for known in found for place in _kernel()[known][1]}
        if further <= found:
            return frozenset(found)
        found |= further
