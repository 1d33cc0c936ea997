"""Names and texts are data: no name changes what a kernel, a page or a file does."""

from __future__ import annotations

import ast
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.eops.triton_kernels.build import write_source
from einderive.eops.triton_kernels.emit_triton import emit
from einderive.eops.triton_kernels.plan import plan
from einderive.frontend.baselines.rival import rivals
from einderive.ta.errors import EinderiveError, RecordError
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import rebuild
from einderive.ta.printing.latex import latex
from tests.amount import sampled
from tests.eops.compiled import compiled
from tests.hostile.attempt import record

NAMES = (
    "__import__", "exec", "lambda", "None", "True", "self", "print", "tl", "triton", "torch", "np",
    "range", "float", "a0", "a1", "out", "BLOCK", "BLOCK_M", "zero", "pid", "index", "live", "acc",
    "result", "eop", "T1", "T2", "op0", "v0", "s0", "r0", "i0", "_", "__", "_0", "L", "Σ", "S",
    "x" * 199, "é", "Ω", "变量", "__class__", "globals", "coding", "nan", "e1", "in_", "Y1",
    "target", "weights", "accuracy", "seconds",
)  # fmt: skip


@sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_any_name_computes_the_same(name: str) -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    other = np.arange(4, dtype=np.float32)
    text = f"Y[i] = {name}[i,k]*x_[k] + exp(-{name}[i,0])"
    program = ed.parse(text, **{name: (3, 4), "x_": (4,)})  # derive() has options of these names
    compiled = ed.compile(program, target="cpu", seconds=0.005)
    found = compiled(**{name: values, "x_": other})
    np.testing.assert_allclose(found, values @ other + np.exp(-values[:, 0]), rtol=1e-5)
    assert ed.parse(str(compiled.derivation.source), **{name: (3, 4), "x_": (4,)})


@sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_no_name_changes_a_kernel(name: str) -> None:
    text = "Y[i] = sum[k](tanh({0}[i,k] - 2))"  # one read: names order commutative operands
    named, plain = (ed.parse(text.format(n), **{n: (4, 4)}).roots()[0] for n in (name, "A"))
    source = emit(plan(named), formula=text.format(name))
    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(emit(plan(plain))))


@sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_any_name_as_an_output_and_an_iterator(name: str, tmp_path: Path) -> None:
    if name in ("L", "S", "Σ"):
        pytest.skip("opens a binder where an iterator stands")
    text = f"{name}[q] = 2*X[q]; Z[{name}2] = {name}[{name}2]"
    derivation = ed.derive(text, X=(3,), target="cpu", budget=ed.Budget(states=9))
    derivation.save(tmp_path / "d.json")
    assert ed.load(tmp_path / "d.json").source.roots() == derivation.source.roots()
    assert latex(derivation.source)
    assert str(derivation)


@pytest.mark.parametrize(
    "name", ["ﬁ", "ｘ", "ℌ", "x²", "①", "٣", "x y", "x\n", "x;y", "A'", "\u202ex"]
)
def test_what_python_would_not_take_as_it_stands_is_no_name(name: str) -> None:
    with pytest.raises(EinderiveError):
        ed.parse(f"Y[i] = {name}[i]", **{name: (3,)})


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</pre></code><style>*{display:none}</style>",
    "x\n'''\nimport os\r\"\"\"\u2028os.system('x')",
    "coding: utf-7 +ACc-",
    "\\input{/etc/passwd}",
)


def renamed(program: Program, name: str) -> Program:
    """The program with its input under another name, as a caller who builds nodes could have it."""
    from einderive.ta.ir import expr
    from einderive.ta.ir.canon import scope
    from einderive.ta.ir.node import Access, Node

    tensor = expr.tensor(name, program.inputs[0].shape, program.inputs[0].dtype)

    def redirect(access: Access) -> Node:
        return expr.access(tensor, access.rows, access.fill)

    root = program.statements[0].scope
    moved = scope(root.loops, root.sums, rebuild(root.body, redirect), root.reducer)
    statement = Statement("Y", moved, program.statements[0].loop_names)
    return Program((tensor,), (statement,), MappingProxyType({}))


class Tags(HTMLParser):
    """The tags and the attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: set[tuple[str, str]] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {(tag, name) for name, _ in attrs} or {(tag, "")}


@pytest.mark.parametrize("name", HOSTILE)
def test_pages_and_kernels_hold_names_as_text(name: str, tmp_path: Path) -> None:
    plain = ed.derive("Y[i] = A[i,k]", A=(3, 4), target="cpu", budget=ed.Budget(states=9))
    program = renamed(plain.source, name)
    hostile = ed.derive(program, target="cpu", budget=ed.Budget(states=9))
    pages = []
    for number, derivation in enumerate((plain, hostile)):
        derivation.to_html(tmp_path / f"{number}.html")
        pages.append(Tags((tmp_path / f"{number}.html").read_text(encoding="utf-8")))
    assert pages[0].seen == pages[1].seen
    source = emit(plan(program.roots()[0]), formula=name)
    path = write_source(source, tmp_path)
    assert ast.dump(ast.parse(path.read_bytes())) == ast.dump(
        ast.parse(emit(plan(plain.source.roots()[0])))
    )


def test_rules_of_a_record_are_escaped(tmp_path: Path) -> None:
    data = json.loads(record())
    data["candidates"][0]["steps"][0]["rule"] = HOSTILE[0]
    data["statistics"] |= {"stopped": HOSTILE[1], "pruned": {HOSTILE[2]: 3}}
    (tmp_path / "d.json").write_text(json.dumps(data), encoding="utf-8")
    ed.load(tmp_path / "d.json").to_html(tmp_path / "d.html")
    page = (tmp_path / "d.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1  # its own
    assert "img" not in {tag for tag, _ in Tags(page).seen}
    assert page.count("<style>") == 1


def test_a_record_cannot_send_commands_to_a_terminal(tmp_path: Path) -> None:
    for place in ("rule", "stopped"):
        data = json.loads(record())
        if place == "rule":
            data["candidates"][0]["steps"][0]["rule"] = "split\x1b[2J"
        else:
            data["statistics"]["stopped"] = "done\x1b]0;title\x07"
        (tmp_path / "d.json").write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(RecordError, match="cannot be shown") as caught:
            ed.load(tmp_path / "d.json")
        assert "\x1b" not in str(caught.value)


def test_no_module_of_ours_executes_text() -> None:
    root = Path(__file__).resolve().parents[2]
    called = re.compile(r"(?<![\w.])(eval|exec|__import__)\(|\bpickle\.|\bmarshal\b|\byaml\b")
    sources = [
        p for name in ("ta", "derivations", "eops", "frontend") for p in (root / name).rglob("*.py")
    ]
    for path in (
        "frontend/call/source.py",  # calls on v0, v1, ... with arguments c0, c1, ...: see below
        "frontend/call/written.py",  # such calls, as this user's sealed store has kept them
        "frontend/baselines/writing/writer.py",  # torch on plain names: see below
        "eops/torch_views/steps.py",  # the spellings in the files of ta/functions, as they stand
        "ta/functions/helper.py",  # likewise the texts in these files
        "eops/cpu_kernels/words/texts.py",  # likewise
        "eops/cpu_kernels/words/simple_elements.py",  # the values in the table beside it
        "eops/cpu_kernels/words/polynomials.py",  # a polynomial in c0, c1, ...: their number
        "eops/cpu_kernels/compiling/made.py",  # loops over v0, i0, p0, ... and numbers: see below
        "eops/cpu_kernels/calls/launch.py",  # a call on v0, v1, ... with sizes and numbers
        "frontend/formulas/lines.py",  # the lines of the files beside it, as they stand
        "frontend/formulas/operands.py",  # likewise their extents
    ):
        sources.remove(root / path)
    assert len(sources) > 50
    assert not [str(path) for path in sources if called.search(path.read_text(encoding="utf-8"))]


def test_the_source_of_a_call_holds_no_text_of_the_formula() -> None:
    """Names of tensors, iterators and functions stay outside: torch's keywords, and numbers."""
    text = "Strange[inner] = exp(Tensor1[inner,other])*fill2[other]"
    f = ed.compile(text, Tensor1=(3, 4), fill2=(4,), target="cpu", seconds=0.01)
    f(torch.ones(3, 4), torch.ones(4))
    (flat,) = f._caller.asked
    words = set(re.findall(r"[A-Za-z_]\w*", flat.__doc__ or ""))
    numbered = {word for word in words if re.fullmatch(r"[vc]\d+", word)}
    known = """def call operands if else autocast or transformation is not None return MISS try and
        type dtype shape layout stride requires_grad is_neg is_nested except ValueError RuntimeError
        AttributeError as_strided del storage_offset True False out alpha dim device size
        _current_level"""
    assert words <= numbered | {*known.split()}
    assert len(numbered) > 3


def test_the_source_of_compiled_loops_holds_no_text_of_the_formula() -> None:
    """Names of tensors and iterators stay outside: numbered ones, keywords, and functions."""
    for reducer in ("sum", "max", "prod"):
        text = f"""Strange[inner] = {reducer}[other](
            where(other > inner, exp(Tensor1[inner,other]), -inf)*fill2{{fill=0.5}}[other+1])"""
        (scope,) = ed.parse(text, Tensor1=(3, 4), fill2=(4,)).roots()
        kernel = compiled(scope)
        words = set(re.findall(r"[A-Za-z_]\w*", kernel.source))
        numbered = {
            word
            for word in words
            if re.fullmatch(r"([vuxyipotr]|key|part|address|result|short)\d+|n\d+[wb]?", word)
        }
        assert len(numbered) > 5
        known = """def kernel data for in range if else min max start stop side begin end low high w
            rest inf load store chosen wide_vectors thread threads this_thread all_threads
            float32 float64
            exp_float32 maximum_float32
            least_key_float32 max_key_float32 of_max_key_float32 sum_in_any_order
            product_in_any_order settled"""
        assert words <= numbered | {*known.split()}, words


@pytest.mark.parametrize(
    "name", ["torch", "F", "inf", "lambda", "None", "é", "t_0", "c_1", "a'", "𝑥"]
)
def test_a_plain_program_has_no_name_that_its_text_uses(name: str) -> None:
    """A tensor's name stands in it as it is only if it is a plain identifier of no other use."""
    try:
        program = ed.parse(f"Y[i] = sum[k](exp({name}[i,k]*b[k]))", **{name: (3, 4), "b": (4,)})
    except ed.EinderiveError:
        return
    found = rivals(program, "cpu")
    assert found
    for rival in found:
        head, *_ = rival.text.splitlines()
        first, second = re.fullmatch(r"def baseline\((.*)\):", head).group(1).split(", ")
        assert {"b"} < {first, second} <= {"b", "x_0", "x_1"}
        assert torch.equal(rival.call(torch.zeros(3, 4), torch.zeros(4)), torch.full((3,), 4.0))
