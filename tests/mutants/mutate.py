"""The mutants of a module: its source with one condition left out or weakened.

    refusal     `if c: raise ...`, or a return that refuses: c holds less often
    predicate   what a function that answers yes or no returns: yes more often
    choice      any other condition (`if`, `while`, a comprehension's `if`, a named truth value),
                of which it is not known what is the careful side: both ways
    call        a check that is called for its refusals: not called
    bound       `x + 1` or `x - 1`, or a number in a Range: one off

Of an emitter, also the text that it writes (`tests.mutants.texts`); of a planner, also what it
computes (`tests.mutants.arithmetic`).
What refuses is read off the function's result: of `bool` it is False, of `str | None` any text, of
`X | None` None, of `X | Mismatch` a Mismatch.  Nothing here knows a module or a function by name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass

from tests.mutants import arithmetic, texts
from tests.mutants.weaken import Alternatives, either, less, more, shifted

Function = ast.FunctionDef
Wanted = Callable[[str], bool]


@dataclass(frozen=True)
class Mutant:
    """`function` of `module` with `after` in the place of `before`."""

    module: str
    function: str
    line: int
    kind: str
    before: str
    after: str
    tree: Callable[[], ast.Module]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Names the mutant as long as what it changes is the same text."""
        return self.module, self.function, self.before, self.after

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.before}  ->  {self.after}"


@dataclass(frozen=True)
class Site:
    """A place in a function: `parent.field`, or an element of that list."""

    function: str
    kind: str
    parent: ast.AST
    field: str
    place: int | None
    alternatives: texts.Alternatives

    def get(self) -> ast.AST:
        found = getattr(self.parent, self.field)
        node: ast.AST = found if self.place is None else found[self.place]
        return node

    def put(self, node: ast.AST) -> None:
        if self.place is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.place] = node


def mutants(
    module: str,
    source: str,
    checks: frozenset[str],
    wanted: Wanted,
    *,
    written: bool = False,
    computed: bool = False,
) -> list[Mutant]:
    """All of them, in the order of the source; no two of one function with equal texts.

    `checks`: names of functions that are called for their refusals; `wanted`: which functions;
    `written`: what they write is mutated as well; `computed`: what they compute."""
    tree = ast.parse(source)
    found: dict[tuple[str, str, str, int], Mutant] = {}
    for name, function in functions(tree):
        if not wanted(name):
            continue
        sites = list(_sites(name, function, checks))
        if written:
            sites += (Site(name, *spot) for spot in texts.spots(function))
        if computed:
            sites += (Site(name, *spot) for spot in arithmetic.spots(function))
        for site in sites:
            old = site.get()
            before, line = ast.unparse(old), getattr(old, "lineno", function.lineno)
            for new in site.alternatives(old):
                after = ast.unparse(new)
                key = name, before, after, line
                if after != before and key not in found:
                    make = _maker(tree, site, new)
                    found[key] = Mutant(module, name, line, site.kind, before, after, make)
    return list(found.values())


def control(module: str, source: str) -> Mutant:
    """The module as it is, which nothing may notice."""
    return Mutant(module, "", 0, "control", "nothing", "nothing", lambda: ast.parse(source))


def _maker(tree: ast.Module, site: Site, new: ast.AST) -> Callable[[], ast.Module]:
    def make() -> ast.Module:
        old = site.get()
        site.put(new)
        try:
            return ast.fix_missing_locations(deepcopy(tree))
        finally:
            site.put(old)

    return make


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Functions and methods with their names; a nested function belongs to the outer one."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function):
                    yield f"{node.name}.{inner.name}", inner


def _sites(name: str, function: Function, checks: frozenset[str]) -> Iterator[Site]:
    result = ast.unparse(function.returns) if function.returns else ""
    whole: set[ast.AST] = set()
    """Conditions that are weakened as one; what stands in them is no site of its own."""

    def site(kind: str, parent: ast.AST, field: str, way: Alternatives) -> Iterator[Site]:
        node = getattr(parent, field)
        whole.update(ast.walk(node))
        yield Site(name, kind, parent, field, None, way)

    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.While | ast.IfExp) and node not in whole:
            body = node.body if isinstance(node.body, list) else []
            kind, way = "choice", either
            if isinstance(node, ast.If) and refuses(body[-1], result):
                kind, way = "refusal", less
            elif isinstance(node, ast.If) and accepts(body[-1], result):
                kind, way = "predicate", more
            yield from site(kind, node, "test", way)
        elif isinstance(node, ast.Return) and node.value is not None and result == "bool":
            if not (isinstance(node.value, ast.Constant) and node.value.value is True):
                yield from site("predicate", node, "value", more)
        elif isinstance(node, ast.Return) and result == "str | None" and refuses(node, result):
            if not isinstance(node.value, ast.IfExp):
                yield Site(name, "refusal", node, "value", None, _nothing)
        elif isinstance(node, ast.Assign | ast.AugAssign) and _is_truth(node.value):
            yield from site("choice", node, "value", either)
        elif isinstance(node, ast.comprehension) and node not in whole:
            for place, condition in enumerate(node.ifs):
                whole.update(ast.walk(condition))
                yield Site(name, "choice", node, "ifs", place, either)
    for node in ast.walk(function):
        yield from _calls(name, node, checks)
        for field, value in ast.iter_fields(node):
            if _is_offset(value):
                yield Site(name, "bound", node, field, None, _one_off)
            elif isinstance(value, list):
                in_range = isinstance(node, ast.Call) and ast.unparse(node.func) == "Range"
                for place, item in enumerate(value):
                    if _is_offset(item) or (in_range and _is_number(item)):
                        yield Site(name, "bound", node, field, place, _one_off)


def _calls(name: str, node: ast.AST, checks: frozenset[str]) -> Iterator[Site]:
    for field in ("body", "orelse"):
        statements = getattr(node, field, None)
        for place, item in enumerate(statements if isinstance(statements, list) else []):
            call = item.value if isinstance(item, ast.Expr) else None
            if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] in checks:
                yield Site(name, "call", node, field, place, _left_out)


def refuses(statement: ast.stmt, result: str) -> bool:
    """Does the statement end the function with a refusal?"""
    if isinstance(statement, ast.Raise):
        return True
    if not isinstance(statement, ast.Return) or statement.value is None:
        return False
    value = statement.value
    nothing = isinstance(value, ast.Constant) and value.value is None
    if result == "bool":
        return isinstance(value, ast.Constant) and value.value is False
    if result == "str | None":
        return not nothing
    if "Mismatch" in result:
        text = ast.unparse(value)
        return text.startswith("Mismatch(") or text.isupper() or text == "empty"
    return "None" in result and nothing


def accepts(statement: ast.stmt, result: str) -> bool:
    """Does the statement end the function with a yes?"""
    if not isinstance(statement, ast.Return) or not isinstance(statement.value, ast.Constant):
        return False
    if result == "bool":
        return statement.value.value is True
    return result == "str | None" and statement.value.value is None


def _is_truth(node: ast.AST | None) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.BoolOp | ast.Compare)


def _is_number(node: object) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_offset(node: object) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub):
        return False
    return isinstance(node.right, ast.Constant) and node.right.value == 1


def _one_off(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield node.left
    else:
        yield from (shifted(node, 1), shifted(node, -1))


def _left_out(node: ast.AST) -> Iterator[ast.AST]:
    yield ast.Pass()


def _nothing(node: ast.expr) -> Iterator[ast.expr]:
    yield ast.Constant(None)
