"""Imports between the packages go one way only, and files stay small."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import einderive

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 400

# package -> the other packages of the project it may import
ALLOWED = {
    "ta": frozenset[str](),
    "derivations": frozenset({"ta"}),
    "eops": frozenset({"ta"}),
    "frontend": frozenset({"ta", "derivations", "eops", "einderive"}),
}
PROJECT = frozenset(ALLOWED) | {"einderive"}


def imported_modules(tree: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield (line, module) for every import, relative ones resolved against `package`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *(node.module.split(".") if node.module else ())))
            if module:
                yield node.lineno, module
            else:  # `from .. import name` that leaves the package: the names are modules
                yield from ((node.lineno, alias.name) for alias in node.names)


def top_of(module: str) -> str:
    """ta of einderive.ta.ir, and einderive of its public face."""
    first, *rest = module.split(".")
    return rest[0] if first == "einderive" and rest and rest[0] in PROJECT else first


def forbidden_imports(source: str, package: tuple[str, ...]) -> list[str]:
    """List the imports in `source`, a module of `package`, that its layer does not allow."""
    layer = package[0]
    return [
        f"line {line}: {layer} imports {module}"
        for line, module in imported_modules(ast.parse(source), package)
        if (top := top_of(module)) in PROJECT and top not in ALLOWED[layer] | {layer}
    ]


def is_dunder_assignment(node: ast.stmt) -> bool:
    """Tell whether `node` only assigns `__all__` or `__version__`, annotated or not."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        return False
    return all(isinstance(t, ast.Name) and t.id in ("__all__", "__version__") for t in targets)


def lazy_exports(node: ast.If) -> tuple[set[str], set[str]]:
    """The names of `if TYPE_CHECKING: imports` and of `else: ... = lazily(globals(), {...})`."""
    imported = {a.name for n in node.body if isinstance(n, ast.ImportFrom) for a in n.names}
    (assignment,) = node.orelse
    assert isinstance(assignment, ast.Assign)
    assert isinstance(assignment.value, ast.Call)
    table = ast.literal_eval(assignment.value.args[1])
    places = {f"{n.module}.{a.name}" for n in node.body for a in n.names}  # type: ignore[attr-defined]
    assert places == {f"{module}.{name}" for name, module in table.items()}
    return imported, set(table)


def more_than_exports(source: str) -> list[str]:
    """List the statements of `source` other than docstring, imports, __all__ and __version__, and
    one table of names that are loaded when they are asked for."""
    body = ast.parse(source).body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    body = [
        node
        for node in body
        if not (
            isinstance(node, ast.If)
            and ast.unparse(node.test) == "TYPE_CHECKING"
            and len({frozenset(names) for names in lazy_exports(node)}) == 1
        )
    ]
    return [
        f"line {node.lineno}: {ast.unparse(node).splitlines()[0]}"
        for node in body
        if not isinstance(node, ast.Import | ast.ImportFrom) and not is_dunder_assignment(node)
    ]


def source_files() -> list[Path]:
    """Python files of the project outside `tests`, without environments and build outputs."""
    skipped = {"tests", "build", "dist", "_build"}
    return sorted(
        path
        for path in ROOT.rglob("*.py")
        if not any(p in skipped or p.startswith(".") for p in path.relative_to(ROOT).parts[:-1])
    )


@pytest.mark.parametrize("layer", sorted(ALLOWED))
def test_imports_go_one_way(layer: str) -> None:
    problems = [
        f"{path.relative_to(ROOT)}, {problem}"
        for path in sorted((ROOT / layer).rglob("*.py"))
        for problem in forbidden_imports(
            path.read_text(encoding="utf-8"), path.relative_to(ROOT).parent.parts
        )
    ]
    assert not problems, "\n".join(problems)


def test_public_module_only_reexports() -> None:
    source = (ROOT / "einderive" / "__init__.py").read_text(encoding="utf-8")
    assert not more_than_exports(source)


def test_every_public_name_is_there() -> None:
    for name in einderive.__all__:
        assert getattr(einderive, name) is not None
        assert name in dir(einderive)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = einderive.nothing  # type: ignore[attr-defined]


def test_files_stay_small() -> None:
    counts = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in source_files()
    }
    assert {name: count for name, count in counts.items() if count > MAX_LINES} == {}


@pytest.mark.parametrize(
    ("package", "source", "allowed"),
    [
        ("ta", "import numpy, einderive.ta.ir.node", True),
        ("ta", "from .node import Node", True),
        ("ta", "import einderive.eops", False),
        ("ta", "def f():\n    from einderive.frontend.cli.main import main", False),
        ("ta", "import einderive", False),
        ("derivations.rules", "from einderive.ta import expr\nfrom ..rule import Rule", True),
        ("derivations.rules", "from ... import eops", False),
        ("derivations", "import einderive.eops.library", False),
        ("eops.library", "from einderive.ta.ir.operator import Operator", True),
        ("eops", "from einderive.derivations.rules import split", False),
        ("frontend", "import einderive.ta, einderive.eops, einderive.derivations", True),
    ],
)
def test_the_layer_check_itself(package: str, source: str, allowed: bool) -> None:
    assert (not forbidden_imports(source, tuple(package.split(".")))) is allowed


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        ('"""Doc."""\nfrom ta import parse\n__all__ = ["parse"]\n__version__ = "1"', True),
        ("from ta import parse as p\ndef parse(): return p()", False),
        ("import ta\nta.setup()", False),
    ],
)
def test_the_export_check_itself(source: str, allowed: bool) -> None:
    assert (not more_than_exports(source)) is allowed
